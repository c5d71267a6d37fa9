/**
 * `createAdmin` and `openAdmin`: check the options, and connect the parts of a running interface.
 */
import type { Context } from '../core/decision.ts';
import type { SecretPorts } from '../core/secret.ts';
import type { Version } from '../core/version.ts';
import { parseEntityTags } from '../http/etag.ts';
import { createRouter } from '../http/router.ts';
import type { HostAttempt } from '../ports/audit-record.ts';
import type { ConfigurationStore, StoredHistory } from '../ports/port.ts';
import {
  boundRoutes,
  differencesOf,
  type BoundResourceRoute,
  type BoundRoute,
  type Transition,
} from '../resources/index.ts';
import { openServices } from '../resources/service.ts';
import type { Surroundings } from '../resources/shared/rendering.ts';
import { declareSecretParameters } from '../resources/document.ts';
import { isSecretIn } from '../snapshot/secret-parameter.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { Admin, AdminOptions, ExecuteOptions } from './admin.ts';
import {
  assertCommand,
  assertCommandId,
  assertOpenOptions,
  assertOptions,
  assertHostAttempt,
  assertReadOnly,
  assertReaderOptions,
  assertRole,
} from './host/argument.ts';
import { Audit } from './audit/audit.ts';
import { transitionAt, versionAt, type Place } from './command/condition.ts';
import { beforeDeadline } from './host/deadline.ts';
import { EventLog } from './read/event-log.ts';
import type { Refusal } from './command/execution.ts';
import { guardTelemetry } from './host/guard.ts';
import type { FleetView } from './fleet-view.ts';
import { firstUserCreation } from './first-user.ts';
import { EventStreams } from './handler/event-stream.ts';
import { createGuard } from './handler/guard.ts';
import type { HandlerOptions } from './handler/arrival.ts';
import { createRequestHandler } from './handler/handler.ts';
import { toPlan } from './handler/plan.ts';
import { TextCache } from './handler/text-cache.ts';
import { isEmpty, restore } from './journal/history.ts';
import type { StoreCall } from './instrumentation/instruments.ts';
import { measured, noJournal, openJournal, type Journal } from './journal/journal.ts';
import { beginLife, drawLife } from './journal/life.ts';
import { callerLinks, OwnLog } from './journal/log.ts';
import { defaultLimits } from './limits.ts';
import { completeOptions, watchersOf, type CompleteOptions } from './options.ts';
import { assertKnownHashes, createPasswords, type Passwords } from './password/passwords.ts';
import { PendingAnswers } from './pending-answers.ts';
import { createMode, createSelf, type Mode, type SelfOptions } from './handler/self.ts';
import type { CommandRequest } from './command/turn.ts';
import { Writer, type WriterOptions } from './command/writer.ts';

/**
 * Runs the administration interface of a gateway, without a store: all changes are lost when the process ends.
 *
 * @param options - the initial state, the gateway, and options that differ from the defaults
 * @returns the running interface; close the interface before the gateway ends
 * @throws {@link InvalidDocumentError} if the snapshot has the plain text of a parameter in `secretParameters`
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
  const { admin } = assemble(complete, beginLife(complete.snapshot), noJournal);
  complete.instruments?.opened(admin.snapshot, { recovered: 0, unknown: 0 });
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
  options: AdminOptions & { readonly store: ConfigurationStore },
): Promise<Admin> {
  try {
    // Options are checked before the store is written. Once the store has content, it wins over the given snapshot.
    assertOpenOptions(options);
    const { store } = options;
    const complete = completeOptions(options);
    const { snapshot, clock, limits, instruments, onError } = complete;
    const { position, ...stored } = await loadInTime(store, complete);
    const history = restore(stored, snapshot);
    // A name can be secret in the store alone. The given document must not have the plain text of such a parameter.
    declareSecretParameters(snapshot, history.snapshot.secretParameters);
    if (store.durable && isEmpty(stored)) instruments?.storeEmpty();
    const deadlineMs = limits.storeDeadlineMs;
    const log = new OwnLog(store, history, position);
    const journal = openJournal({ log, clock, deadlineMs, instruments, onError });
    await journal.compact();
    const { admin, writer } = assemble(
      complete,
      beginLife(openServices(history.snapshot, clock.now())),
      journal,
    );
    // Read now: the history forgets a command at its settlement.
    const recovered = history.unsettled.events.length;
    await writer.recover(history.unsettled);
    if (journal.outage !== undefined) {
      await admin.close();
      throw journal.outage.error;
    }
    journal.startRepeating();
    instruments?.opened(admin.snapshot, { recovered, unknown: admin.commands().length });
    // Only now: the commands of the last process may have changed the configuration.
    complete.onDifferences(differencesOf(admin.snapshot, snapshot));
    return admin;
  } catch (error) {
    await letGo(options);
    throw error;
  }
}

/** Loads the content of the store. `onError` gets what the store has repaired. */
export async function loadInTime(
  store: ConfigurationStore,
  options: CompleteOptions,
): Promise<Omit<StoredHistory, 'repaired'>> {
  const { repaired, ...stored } = await callInTime('load', () => store.load(), options);
  if (repaired !== undefined) options.onError(new Error(repaired));
  return stored;
}

/** Calls the store before the start. `onError` gets a timeout too, so that the timeout is logged like other store errors. */
export async function callInTime<T>(
  name: StoreCall,
  call: () => Promise<T>,
  options: CompleteOptions,
): Promise<T> {
  const {
    clock,
    limits: { storeDeadlineMs },
    onError,
  } = options;
  const answer = await beforeDeadline(clock, storeDeadlineMs, () => measured(options, name, call));
  if (answer !== 'late') return answer;
  const error = new Error(
    `The configuration store did not answer ${name}() within ${String(storeDeadlineMs)} ms. Check that the disk or the ` +
      'database works, and start again. For a very large store, raise the limit storeDeadlineMs.',
  );
  onError(error);
  throw error;
}

/**
 * Disposes of the store and of the audit sink after a failed start. A second failure must not hide the first one, and any
 * option can be the reason for the first one.
 */
export async function letGo(
  options: Partial<AdminOptions & { readonly store: ConfigurationStore }> | null | undefined,
): Promise<void> {
  const { store, observe, clock: given, limits } = options ?? {};
  const { audit, logger, onError: hook } = observe ?? {};
  const watchers = {
    ...(logger === undefined ? {} : { logger }),
    ...(typeof hook === 'function' ? { onError: hook } : {}),
  };
  const { clock, onError } = watchersOf(watchers, typeof given?.sleep === 'function' ? given : undefined);
  const { storeDeadlineMs } = limits ?? {};
  const deadlineMs = Number.isSafeInteger(storeDeadlineMs) ? storeDeadlineMs : undefined;
  for (const port of [store, audit?.sink]) {
    if (typeof port?.[Symbol.asyncDispose] !== 'function') continue;
    await beforeDeadline(clock, deadlineMs ?? defaultLimits.storeDeadlineMs, async () =>
      port[Symbol.asyncDispose]?.(),
    ).catch(onError);
  }
}

/** A running interface, with its writer. */
interface Assembly {
  readonly admin: Admin;
  readonly writer: Writer;
  /** Aborts when the interface begins to close: no body is waited for any more. */
  readonly closing: AbortController;
}

/** What differs in a node of a fleet. */
interface Membership {
  /** Begins the id of each command. */
  readonly prefix: string;
  readonly fleet?: FleetView;
  readonly mode?: Mode;
  /** The refusal of every command for a reason outside the interface; `undefined` if commands are possible. */
  readonly refusal?: () => Refusal | undefined;
}

/** Connects the parts of an interface. @internal */
export function assemble(
  options: CompleteOptions,
  snapshot: Snapshot,
  journal: Journal,
  { prefix, mode = createMode(), refusal = () => undefined, ...around }: Membership = {
    prefix: snapshot.epoch,
  },
): Assembly {
  if (options.authenticate !== undefined) assertKnownHashes(snapshot, options.hasher);
  const life = drawLife();
  const log = new EventLog(options.limits.maxEventsKept, life);
  const audit = new Audit({ ...options, life, revision: () => writer.snapshot.revision });
  const refuseAll = (): Refusal | undefined => audit.refuseAll() ?? refusal();
  const writer: Writer = writerOf(options, snapshot, { log, journal, audit, prefix, refuseAll });
  const passwords = passwordsOf(options, writer, mode);
  const streams = new EventStreams({ ...options, log });
  const closing = new AbortController();
  const { handle, guard } = handlerOf(options, {
    ...{ writer, journal, mode, passwords, audit, streams, refuseAll, closing: closing.signal },
    timeZone: options.timeZone,
    ...around,
  });
  const pending = new PendingAnswers();
  const close = once(async () => {
    closing.abort();
    await writer.close();
    log.close();
    await pending.given();
    await audit.close();
    await journal.close();
    options.instruments?.closed(writer.snapshot);
  });
  const share = { standing: 'known', networks: ['the host'], name: '', attempt: '' } as const;
  const secrets = {
    ...options.secrets,
    isSecretParameter: isSecretIn(snapshot),
    hash: (password: string) => passwords.hash(share, password),
  };
  const admin = adminOf(options, { writer, log, audit, mode, handle, guard, close, pending, secrets });
  return { admin, writer, closing };
}

/** The parts behind an interface. */
interface Parts {
  readonly writer: Writer;
  readonly log: EventLog;
  readonly audit: Audit;
  readonly mode: Mode;
  readonly handle: Admin['handle'];
  readonly guard: Admin['guard'];
  readonly close: () => Promise<void>;
  readonly pending: PendingAnswers;
  /** Checks and hashes passwords that the host sets. */
  readonly secrets: SecretPorts;
}

function adminOf(
  { limits, onError }: CompleteOptions,
  { writer, log, audit, mode, handle, guard, close, pending, secrets }: Parts,
): Admin {
  const execute: Admin['execute'] = async (transition, how = {}) => {
    assertCommand(transition, how);
    const { signal, ...rest } = how;
    const request = { ...requestOf(transition, rest), ...(signal === undefined ? {} : { signal }) };
    return pending.track(audit.execute(request, (command) => writer.execute(command)));
  };
  return {
    get snapshot() {
      return writer.snapshot;
    },
    limits,
    get readOnly() {
      return mode.isReadOnly;
    },
    set readOnly(readOnly) {
      assertReadOnly(readOnly);
      mode.set(readOnly);
    },
    handle: (request) => pending.track(handle(request)),
    execute,
    plan(transition, how = {}) {
      assertCommand(transition, how);
      const { snapshot } = writer;
      return toPlan(writer.preview(requestOf(transition, how)), snapshot, versionOf(how.ifMatch));
    },
    createFirstUser: async (user) =>
      execute(await firstUserCreation(user, writer.snapshot, secrets), { actor: user.name }),
    commands: () => writer.commands(),
    abandon: async (commandId) => {
      assertCommandId(commandId);
      return pending.track(audit.abandon(commandId, (id) => writer.abandon(id)));
    },
    report(report) {
      try {
        writer.report(report);
      } catch (error) {
        // The host reports from its own callbacks, where an error could end the process.
        onError(error);
      }
    },
    events(where = {}) {
      assertReaderOptions(where, 'events');
      return log.read(where);
    },
    guard: async (request, role) => {
      assertRole(role);
      return pending.track(guard(request, role));
    },
    audit: auditOf(audit, writer, pending),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function auditOf(audit: Audit, writer: Writer, pending: PendingAnswers): Admin['audit'] {
  const read: (...given: Parameters<Admin['audit']>) => ReturnType<Admin['audit']> = (where = {}) => {
    assertReaderOptions(where, 'audit');
    return audit.read(where);
  };
  return Object.assign(read, {
    record: async (attempt: HostAttempt) => {
      assertHostAttempt(attempt);
      if (writer.refuseClosed() !== undefined)
        throw new Error('The interface is closed, and keeps no more audit records');
      return pending.track(audit.record(attempt, isSecretIn(writer.snapshot)));
    },
  });
}

function passwordsOf(options: CompleteOptions, writer: Writer, mode: Readonly<Mode>): Passwords {
  return createPasswords({
    ...options,
    snapshot: () => writer.snapshot,
    execute: (command) => writer.execute(command),
    isReadOnly: () => mode.isReadOnly,
  });
}

function handlerOf(
  options: CompleteOptions,
  parts: Pick<Parts, 'writer' | 'mode' | 'audit'> &
    SelfOptions &
    Pick<WriterOptions, 'refuseAll'> & {
      readonly passwords: Passwords;
      readonly streams: EventStreams;
      readonly closing: AbortSignal;
      readonly fleet?: FleetView;
    },
): Pick<Admin, 'handle' | 'guard'> {
  const { writer, mode, passwords, audit, streams, closing, fleet } = parts;
  const complete: HandlerOptions = {
    ...options,
    snapshot: () => writer.snapshot,
    execute: (command) => writer.execute(command),
    decide: (command) => writer.preview(command),
    refuseAll: parts.refuseAll,
    refuseClosed: () => writer.refuseClosed(),
    isReadOnly: () => mode.isReadOnly,
    surroundings: surroundingsOf(options, parts),
    passwords,
    audit,
    streams,
    closing,
    texts: new TextCache(),
    ...(fleet === undefined ? {} : { fleet, readOn: (links) => writer.readOn(links) }),
  };
  return { handle: createRequestHandler(complete), guard: createGuard(complete) };
}

function writerOf(
  { gateway, clock, times, authenticate, veto, limits, instruments, onError }: CompleteOptions,
  snapshot: Snapshot,
  {
    log,
    journal,
    audit,
    prefix,
    refuseAll,
  }: Pick<Parts, 'log' | 'audit'> &
    Pick<SelfOptions, 'journal'> &
    Pick<WriterOptions, 'prefix' | 'refuseAll'>,
): Writer {
  const authentication = authenticate === undefined ? 'none' : 'required';
  return new Writer({
    snapshot,
    prefix,
    journal,
    gateway,
    clock,
    deadlineMs: limits.effectDeadlineMs,
    maxQueued: limits.maxQueued,
    maxInFlight: limits.maxInFlight,
    veto,
    contextOf: (actor) => contextOf({ now: clock.now(), times, authentication }, actor),
    publish: (revision, events) => {
      log.append(revision, events);
    },
    refuseAll,
    onRecovered: (command, execution) => {
      audit.recovered(command, execution);
    },
    instruments,
    onError,
  });
}

function surroundingsOf(
  { times, gateway: { telemetry }, onError }: CompleteOptions,
  parts: SelfOptions & { readonly writer: Writer; readonly fleet?: FleetView },
): Surroundings {
  const { writer, fleet } = parts;
  const commands = {
    list: () => writer.commands(),
    abandon: (id: string) => writer.abandon(id, callerLinks),
  };
  const self = createSelf(parts);
  return Object.freeze({
    times,
    commands,
    self,
    ...(fleet === undefined ? {} : { fleet }),
    ...(telemetry === undefined ? {} : { telemetry: guardTelemetry(telemetry, onError) }),
  });
}

/** A second call returns the promise of the first one. */
function once(close: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => (closed ??= close());
}

function contextOf(context: Context, actor: string | undefined): Context {
  return actor === undefined ? context : { ...context, actor };
}

const reads = createRouter(boundRoutes.filter(isReading));

type ReadRoute = Exclude<BoundResourceRoute, { readonly kind: 'command' }>;

function isReading(route: BoundRoute): route is ReadRoute {
  return route.kind === 'item' || route.kind === 'list';
}

type Condition = NonNullable<ExecuteOptions['ifMatch']>;

function requestOf(
  transition: Transition,
  { actor, ifMatch }: Omit<ExecuteOptions, 'signal'>,
): CommandRequest {
  const guarded = ifMatch === undefined ? transition : guard(transition, ifMatch);
  return actor === undefined ? { transition: guarded } : { transition: guarded, actor };
}

function guard(transition: Transition, { link, etag }: Condition): Transition {
  return transitionAt(placeAt(link), { ifMatch: parseEntityTags(etag) }, (snapshot, _thing, context) =>
    transition(snapshot, context),
  );
}

/** Gives the version of the resource that a condition names; `undefined` without a condition. */
function versionOf(
  condition: Condition | undefined,
): ((snapshot: Snapshot) => Version | undefined) | undefined {
  if (condition === undefined) return undefined;
  const place = placeAt(condition.link);
  return (snapshot) => versionAt(place, snapshot);
}

function placeAt(link: string): Place {
  const match = reads.match('GET', link);
  if (match.found === 'route') return match;
  throw new RangeError('The link in ifMatch must be the link of a resource, such as /services/sales');
}
