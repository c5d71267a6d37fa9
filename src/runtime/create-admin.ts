/**
 * `createAdmin` and `openAdmin`: run the interface of one gateway.
 */
import { refused } from '../core/decision.ts';
import type { ConfigurationStore } from '../ports/port.ts';
import { declareSecretParameters } from '../resources/document.ts';
import { adoptAdditions } from '../resources/additions.ts';
import { adoptDocument, atStart, type Transition } from '../resources/index.ts';
import { withStartTimes } from '../resources/service.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { Admin, AdminOptions } from './admin.ts';
import { assemble, disposeOfPorts, start } from './assembly.ts';
import { Entries } from './journal/entries.ts';
import type { CompleteOptions } from './ground.ts';
import { isEmpty, loadState, type JournalState } from './journal/journal-state.ts';
import { journalInMemory, OwnJournal } from './journal/journal.ts';
import { beginLife } from './journal/life.ts';
import { loadInTime } from './journal/load.ts';
import { OwnLog } from './journal/log.ts';
import { assertOptions, assertUsable, completeOptions, refusalOf } from './options.ts';

/**
 * Runs the administration interface of a gateway, without a store: all changes are lost when the process ends.
 *
 * @param options - the initial state, the gateway, and options that differ from the defaults
 * @returns the running interface; close the interface before the gateway ends
 * @throws {@link InvalidDocumentError} if the snapshot has the plain text of a parameter in `secretParameters`, or what
 *   the gateway cannot have
 * @throws RangeError if the time zone is unknown, or a limit is not a whole number from 1 on
 * @throws TypeError if an option has a wrong type, or the snapshot does not come from {@link createSnapshot}
 * @throws Error if users log in with a password, and the hasher does not know the password hash of one of them
 *
 * @example
 * ```ts
 * import { createAdmin, createSnapshot } from 'gateway-admin-core';
 *
 * const admin = createAdmin({
 *   snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] }),
 *   gateway: { apply: async () => {}, inspect: async () => 'in-place' },
 * });
 * const handled = await admin.handle({ method: 'PUT', target: '/service/Sales/stop', headers: {} });
 * handled.matched && handled.response.status; // => 204
 * admin.snapshot.services.find('sales')?.state; // => 'stopped'
 * await admin.close();
 * ```
 *
 * @public
 */
export function createAdmin(options: AdminOptions): Admin {
  assertOptions(options, 'createAdmin');
  const complete = completeOptions(options);
  assertUsable(complete);
  const entries = new Entries();
  const { admin, drains } = assemble(complete, {
    snapshot: beginLife(complete.given),
    journal: journalInMemory(entries),
    entries,
  });
  complete.instruments?.opened(admin.snapshot, { recovered: 0, unknown: 0 });
  drains.begin();
  return admin;
}

/**
 * Runs the administration interface of a gateway, with a store for the configuration and the admin users. The interface
 * owns the store, and disposes of it at `close`.
 *
 * If the store has content, its configuration is used, and not the configuration of the given snapshot. If the two
 * differ, `onError` gets a {@link DifferingDocumentError}; {@link adoptDocument} takes the given one over.
 *
 * First the host is asked with `inspect` about the commands that were in flight when the last process ended. If the
 * host does not answer in time, the command stays in flight, and other commands on its resources are refused. After
 * `openAdmin` resolves, open the services and start the monitors that `admin.snapshot` shows as started. Then report
 * the sessions; the store does not contain them.
 *
 * @param options - the store, its initial state, the gateway, and options that differ from the defaults
 * @returns the running interface; close the interface before the gateway ends
 * @throws Error if the store cannot be read, does not answer in time, or contains something that this version does not
 *   understand, or the plain text of a secret parameter; also if the store fails while a command of the last process is
 *   settled
 * @throws InvalidDocumentError, RangeError and TypeError as {@link createAdmin}
 *
 * @example
 * ```ts
 * import { createMemoryStore, createSnapshot, openAdmin, stopService } from 'gateway-admin-core';
 *
 * const store = createMemoryStore();
 * const gateway = { apply: async () => {}, inspect: async () => 'in-place' as const };
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const observe = { onError: (error: unknown) => console.error(error) };
 * const before = await openAdmin({ snapshot, gateway, store, observe });
 * await before.execute((state, context) => stopService(state, 'Sales', context));
 * await before.close();
 *
 * const after = await openAdmin({ snapshot, gateway, store, observe }); // onError: the document has "started"
 * after.snapshot.services.find('sales')?.state; // => 'stopped'
 * await after.close();
 * ```
 *
 * @public
 */
export async function openAdmin(
  options: AdminOptions & {
    readonly store: ConfigurationStore;
    /**
     * What is taken over from the given snapshot if the store has content: `nothing` by default; `additions` creates
     * what the store has never had, and leaves out what was deleted since, and what lists it; `all` is {@link
     * adoptDocument} with `prune`: a kind of which the document has no list stays as the store has it, and a document
     * that would leave nothing is not taken over. Each deletion is logged at level warn. The gateway is asked for
     * nothing: open what `admin.snapshot` shows. What cannot be taken over goes to `onError`.
     */
    readonly adopt?: 'nothing' | 'additions' | 'all';
  },
): Promise<Admin> {
  try {
    // Options are checked before the store is written. Once the store has content, it wins over the given snapshot.
    assertOptions(options, 'openAdmin');
    const { store } = options;
    const complete = completeOptions(options);
    const { given, clock, limits, instruments, onError } = complete;
    const { position, ...stored } = await loadInTime(store, complete);
    const loaded = loadState(stored, given);
    // A name can be secret in the store alone. The given document must not have the plain text of such a parameter.
    declareSecretParameters(given, loaded.snapshot.secretParameters);
    if (isEmpty(stored)) assertUsable(complete);
    if (store.durable && isEmpty(stored)) instruments?.storeEmpty();
    const log = new OwnLog(store, loaded, position);
    const journal = new OwnJournal({ log, clock, deadlineMs: limits.storeDeadlineMs, instruments, onError });
    // Stores the number of this life, so that no later life has it too.
    await journal.compact();
    const snapshot = beginLife(withStartTimes(loaded.snapshot, clock.now()), loaded.earlierLives);
    const { unsettled, entries } = loaded;
    const adopt = isEmpty(stored) ? undefined : takingOver(options.adopt, complete, loaded);
    const configuration = (): Snapshot => loaded.snapshot;
    return await start(complete, {
      ...{ snapshot, journal, unsettled, entries, configuration, adopt },
      advice: additions[options.adopt ?? 'nothing'],
    });
  } catch (error) {
    await disposeOfPorts(options);
    throw error;
  }
}

/** What an interface takes over from the given snapshot. */
function takingOver(
  adopt: 'nothing' | 'additions' | 'all' = 'nothing',
  { given, gateway }: CompleteOptions,
  { deleted }: JournalState,
): Transition | undefined {
  if (adopt === 'nothing') return undefined;
  return (snapshot, context) => {
    const decision =
      adopt === 'all'
        ? adoptDocument(snapshot, given, context, { prune: true })
        : adoptAdditions(snapshot, given, context, deleted);
    const refusal = decision.outcome === 'accepted' ? refusalOf(gateway, decision, context) : undefined;
    return refusal === undefined
      ? atStart(decision, snapshot)
      : refused(snapshot, refusal, decision.resources);
  };
}

/** What the option does with what only the document has. */
const additions = {
  nothing:
    "To create what the store has never had at each start, give openAdmin the option adopt: 'additions'.",
  additions:
    "The option adopt: 'additions' creates nothing that was deleted, and nothing that lists such a resource.",
  all: 'The option adopt needs a document that can be taken over as a whole.',
} as const;
