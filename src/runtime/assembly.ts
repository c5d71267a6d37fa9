/**
 * The assembly: connects the parts of an interface, alone or with a coordinator.
 */
import type { SecretPorts } from '../core/secret.ts';
import type { Validator } from '../core/content.ts';
import { parseEntityTags } from '../http/etag.ts';
import { createRouter } from '../http/router.ts';
import type { HostAttempt } from '../ports/audit-record.ts';
import type { ConfigurationStore } from '../ports/port.ts';
import { alertsOf } from '../resources/alert.ts';
import {
  adoptDocument,
  boundRoutes,
  differencesOfDocument,
  type BoundResourceRoute,
  type BoundRoute,
  type Transition,
} from '../resources/index.ts';
import type { Surroundings } from '../resources/shared/rendering.ts';
import { isSecretIn } from '../snapshot/secret-parameter.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { Admin, AdminOptions, ExecuteOptions } from './admin.ts';
import {
  assertCommand,
  assertCommandId,
  assertHostAttempt,
  assertReaderOptions,
  assertRole,
} from './host/argument.ts';
import { Audit } from './audit/audit.ts';
import { transitionAt, validatorAt, type Place } from './command/condition.ts';
import type { CommandRequest } from './command/turn.ts';
import { Writer } from './command/writer.ts';
import { beforeDeadline, PendingAnswers } from './host/waiting.ts';
import { guardTelemetry } from './host/guard.ts';
import { firstUserCreation } from './password/first-user.ts';
import { EventStreams } from './handler/event-stream.ts';
import { createGuard } from './handler/guard.ts';
import { createRequestHandler } from './handler/handler.ts';
import { createSelf } from './handler/self.ts';
import { TextCache } from './handler/text-cache.ts';
import { callerLinks } from './journal/basis.ts';
import type { Journal, OpenedJournal } from './journal/journal.ts';
import { drawLife } from './journal/life.ts';
import type { Intent } from './journal/record.ts';
import type { UnsettledCommands } from './journal/unsettled.ts';
import { defaultLimits } from './limits.ts';
import { watchersOf } from './options.ts';
import type { CompleteOptions, Ground } from './ground.ts';
import type { Parts, Running, RunningCoordinator } from './running.ts';
import { assertKnownHashes, createPasswords } from './password/passwords.ts';
import { ownCommand, parseMark } from './plan/mark.ts';
import { refuseUnsupported } from './command/support.ts';
import { createHistory, type KeptEntries } from './command/way-back.ts';
import { Drains } from './command/drains.ts';
import type { Planned } from './plan/plan.ts';
import { EventLog } from './read/event-log.ts';
import { WatchedServers } from './read/watched-servers.ts';

/** What an interface begins with. @internal */
export interface Beginning {
  readonly snapshot: Snapshot;
  readonly journal: Journal;
  readonly entries: KeptEntries;
  /** Gives the configuration that the entries have led to. By default, that is what the interface shows. */
  readonly configuration?: () => Snapshot;
  readonly coordinator?: RunningCoordinator;
}

/** What an interface with a store begins with. */
interface OpenedBeginning extends Beginning {
  readonly journal: OpenedJournal;
  /** The commands of the last process without an outcome. */
  readonly unsettled: UnsettledCommands<Intent>;
  /** What is taken over from the given document, after those commands; left out if nothing is. */
  readonly adopt?: Transition | undefined;
  /** How to bring what only the given document has into use; left out if there is no way. */
  readonly advice?: string;
}

/**
 * Connects the parts of an interface with a store, and settles the commands of the last process.
 *
 * @throws the error of the store, or of the coordinator
 * @internal
 */
export async function start(options: CompleteOptions, beginning: OpenedBeginning): Promise<Admin> {
  const { instruments, given, onDifferences } = options;
  const { journal, coordinator, unsettled, adopt, advice } = beginning;
  // Read now: `unsettled` is live, and forgets a command at its settlement.
  const recovered = unsettled.open.length + unsettled.abandoned.length;
  const { admin, writer, drains } = assemble(options, awaitingReports(options, beginning));
  try {
    await writer.recover(unsettled);
    await assertKept(journal);
    await coordinator?.begin();
    if (adopt !== undefined) await adoptGiven(adopt, writer, options);
    await assertKept(journal);
  } catch (error) {
    await admin.close();
    throw error;
  }
  journal.startRepeating();
  instruments?.opened(admin.snapshot, { recovered, unknown: admin.commands().length });
  // Only now: the commands of the last process may have changed the configuration.
  const differences = differencesOfDocument(admin.snapshot, given);
  if (differences.length > 0)
    onDifferences(differences, { advice, refusal: refusalOfDocument(options, admin.snapshot) });
  coordinator?.run();
  drains.begin();
  return admin;
}

/** What the host would refuse of the given document, in a sentence. */
function refusalOfDocument({ given, veto, clock }: CompleteOptions, snapshot: Snapshot): string | undefined {
  const context = { now: clock.now() };
  const decision = adoptDocument(snapshot, given, context);
  return decision.outcome === 'accepted' ? veto?.(decision, context)?.detail : undefined;
}

/**
 * Waits for the last record: nobody waits for the end of a command that has changed nothing.
 *
 * @throws the error of the store if a record was not kept
 */
async function assertKept(journal: OpenedJournal): Promise<void> {
  await journal.idle();
  if (journal.outage !== undefined) throw journal.outage.error;
}

/** Where something can drain, or drains, nothing counts as drained before everything that is open is reported. */
function awaitingReports(
  { gateway: { supports = [] } }: CompleteOptions,
  beginning: OpenedBeginning,
): OpenedBeginning {
  const { snapshot } = beginning;
  if (!supports.includes('drain') && snapshot.draining === 0) return beginning;
  return { ...beginning, snapshot: Object.freeze({ ...snapshot, sessionsIncomplete: true }) };
}

/** Takes the given document over. If that is not possible, the interface begins with what the store has. */
async function adoptGiven(
  transition: Transition,
  writer: Writer,
  { instruments, onError }: Pick<CompleteOptions, 'instruments' | 'onError'>,
): Promise<void> {
  // The host has asked for the document, so the veto and the limits of the host do not apply.
  const execution = await writer.execute({ transition, isDecided: true });
  if (execution.outcome === 'accepted') instruments?.adopted(execution.events);
  if (execution.outcome !== 'refused' && execution.outcome !== 'unknown') return;
  onError(new Error(`The given document was not adopted. ${execution.problem.detail}`));
}

/** Makes the parts of an interface, in order. @internal */
export function assemble(
  options: CompleteOptions,
  beginning: Beginning,
): { readonly admin: Admin; readonly writer: Writer; readonly drains: Drains } {
  const { snapshot, entries, coordinator } = beginning;
  if (options.authenticate !== undefined) assertKnownHashes(snapshot, options.hasher);
  const closing = new AbortController();
  const ground = groundOf(options, beginning, closing.signal, () => running);
  const writer = new Writer(ground);
  const deciding = Object.assign(ground, {
    coordinator,
    writer,
    audit: new Audit(ground, () => writer.snapshot),
    watched: new WatchedServers(ground),
    streams: new EventStreams(ground),
    texts: new TextCache(),
    entries,
    configuration: beginning.configuration ?? (() => writer.snapshot),
  });
  const parts: Parts = Object.assign(deciding, {
    passwords: createPasswords(deciding),
    drains: new Drains(deciding),
  });
  coordinator?.connect(writer, closing.signal);
  const running: Running = Object.assign(parts, { surroundings: surroundingsOf(parts) });
  return { admin: adminOf(running, closing), writer, drains: running.drains };
}

/** @param running - gives the interface when all parts are made */
function groundOf(
  options: CompleteOptions,
  { snapshot, journal, coordinator }: Beginning,
  closing: AbortSignal,
  running: () => Running,
): Ground {
  const { telemetry } = options.gateway;
  const isAuditRequired = options.auditing?.required === true;
  // The epoch of the snapshot is another text, because the host can give the epoch.
  const life = drawLife();
  return {
    ...options,
    first: snapshot,
    journal,
    coordinator,
    life,
    closing,
    log: new EventLog(options.limits.maxEventsKept, life),
    telemetry: telemetry && guardTelemetry(telemetry, options.onError),
    refuseAll: () => (isAuditRequired ? running().audit.refuseAll() : undefined) ?? coordinator?.refuseAll(),
    onChanged: (changed) => {
      const { drains, watched, writer } = running();
      drains.look(changed);
      watched.look(writer.snapshot);
    },
    onRecovered: (command, execution) => {
      running().audit.recovered(command, execution);
    },
  };
}

/**
 * Disposes of the store and of the audit sink after a failed start. A second failure must not hide the first one, and
 * any option can be the reason for the first one.
 *
 * @internal
 */
export async function disposeOfPorts(
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

function adminOf(running: Running, closing: AbortController): Admin {
  const { limits, onError, writer, log, audit, surroundings } = running;
  const secrets = secretsOf(running);
  const pending = new PendingAnswers();
  const handle = createRequestHandler(running);
  const guard = createGuard(running);
  const close = closeOf(running, closing, pending);
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
      return writer.snapshot.interface.settings.read_only;
    },
    handle: (request) => pending.track(handle(request)),
    execute,
    plan(transition, how = {}) {
      assertCommand(transition, how);
      return writer.plan(requestOf(transition, how));
    },
    createFirstUser: async (user) =>
      execute(await firstUserCreation(user, writer.snapshot, secrets), { actor: user.name }),
    alerts: () => alertsOf(writer.snapshot, surroundings),
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

/** Checks and hashes passwords that the host sets. */
function secretsOf({ secrets, first, passwords }: Running): SecretPorts {
  const share = { standing: 'known', networks: ['the host'], name: '', attempt: '' } as const;
  return {
    ...secrets,
    isSecretParameter: isSecretIn(first),
    hash: (password) => passwords.hash(share, password),
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
      return pending.track(audit.recordHost(attempt));
    },
  });
}

/** Makes the function that closes an interface. A second call returns the promise of the first one. */
function closeOf(running: Running, closing: AbortController, pending: PendingAnswers): Admin['close'] {
  const { writer, drains, coordinator, log, audit, journal, instruments } = running;
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    drains.close();
    await writer.close();
    await coordinator?.end();
    log.close();
    await pending.given();
    await audit.close();
    await journal.close();
    instruments?.closed(writer.snapshot);
  };
  return () => (closed ??= close());
}

function surroundingsOf(parts: Parts): Surroundings {
  const { writer, coordinator, gateway, times, clock, telemetry } = parts;
  const history = createHistory({
    ...parts,
    snapshot: () => writer.snapshot,
    refuse: (decision) => refuseUnsupported(decision, gateway),
    readOn: coordinator?.readOn.bind(coordinator),
  });
  return Object.freeze({
    times,
    now: () => clock.now(),
    commands: {
      list: () => writer.commands(),
      async abandon(id: string) {
        const execution = await writer.abandon(id, callerLinks);
        return execution.outcome === 'refused' ? execution : undefined;
      },
      behind: () => writer.reconciliation.behind,
    },
    history,
    self: createSelf(parts),
    ...coordinator?.surroundings,
    ...(telemetry === undefined ? {} : { telemetry }),
  });
}

const reads = createRouter(boundRoutes.filter(isReading));

type ReadRoute = Exclude<BoundResourceRoute, { readonly kind: 'command' }>;

function isReading(route: BoundRoute): route is ReadRoute {
  return route.kind === 'item' || route.kind === 'list';
}

type Condition = NonNullable<ExecuteOptions['ifMatch']>;

function requestOf(
  transition: Transition,
  { actor, ifMatch, mark }: Omit<ExecuteOptions, 'signal'>,
): CommandRequest & { readonly planned: Planned } {
  const parsed = mark === undefined ? undefined : parseMark(mark);
  return {
    transition: ifMatch === undefined ? transition : conditional(transition, ifMatch),
    planned: {
      digits: () => ownCommand,
      validatorIn: validatorWith(ifMatch),
      ...(parsed && { mark: parsed }),
    },
    ...(actor === undefined ? {} : { actor }),
  };
}

function conditional(transition: Transition, { link, etag }: Condition): Transition {
  return transitionAt(placeAt(link), { ifMatch: parseEntityTags(etag) }, (snapshot, _thing, context) =>
    transition(snapshot, context),
  );
}

/** Gives what the tag of the resource says that a condition names; `undefined` without a condition. */
function validatorWith(
  condition: Condition | undefined,
): ((snapshot: Snapshot) => Validator | undefined) | undefined {
  if (condition === undefined) return undefined;
  const place = placeAt(condition.link);
  return (snapshot) => validatorAt(place, snapshot);
}

function placeAt(link: string): Place {
  const match = reads.match('GET', link);
  if (match.found === 'route') return match;
  throw new RangeError('The link in ifMatch must be the link of a resource, such as /services/sales');
}
