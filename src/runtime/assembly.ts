/**
 * The assembly: connects the parts of an interface, alone or with a coordinator.
 */
import type { Context } from '../core/decision.ts';
import type { SecretPorts } from '../core/secret.ts';
import type { Version } from '../core/version.ts';
import { parseEntityTags } from '../http/etag.ts';
import { createRouter } from '../http/router.ts';
import type { HostAttempt } from '../ports/audit-record.ts';
import type { ConfigurationStore } from '../ports/port.ts';
import { alertsOf } from '../resources/alert.ts';
import {
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
  assertReadOnly,
  assertReaderOptions,
  assertRole,
} from './host/argument.ts';
import { Audit } from './audit/audit.ts';
import { transitionAt, versionAt, type Place } from './command/condition.ts';
import type { Refusal } from './command/execution.ts';
import type { CommandRequest } from './command/turn.ts';
import { Writer, type WriterOptions } from './command/writer.ts';
import type { Coordinator } from './command/coordinator.ts';
import { beforeDeadline, PendingAnswers } from './host/waiting.ts';
import { guardTelemetry } from './host/guard.ts';
import { firstUserCreation } from './password/first-user.ts';
import { EventStreams } from './handler/event-stream.ts';
import { createGuard } from './handler/guard.ts';
import type { HandlerOptions } from './handler/arrival.ts';
import { createRequestHandler } from './handler/handler.ts';
import { createMode, createSelf, type Mode, type SelfOptions } from './handler/self.ts';
import { TextCache } from './handler/text-cache.ts';
import { callerLinks } from './journal/basis.ts';
import type { Journal, OpenedJournal } from './journal/journal.ts';
import { drawLife } from './journal/life.ts';
import type { Intent } from './journal/record.ts';
import type { UnsettledCommands } from './journal/unsettled.ts';
import { defaultLimits } from './limits.ts';
import { watchersOf, type CompleteOptions } from './options.ts';
import { assertKnownHashes, createPasswords, type Passwords } from './password/passwords.ts';
import { ownCommand, parseMark } from './plan/mark.ts';
import { refuseUnsupported } from './command/support.ts';
import { createHistory, type KeptEntries } from './command/way-back.ts';
import { Drains } from './command/drains.ts';
import type { Planned } from './plan/plan.ts';
import { EventLog } from './read/event-log.ts';
import { WatchedServers } from './read/watched-servers.ts';

/** A coordinator, from the beginning of its interface to the end. @internal */
export interface RunningCoordinator extends Coordinator {
  /** The read-only mode that all interfaces share. */
  readonly mode: Mode;
  /** The parts of the interface exist. `closing` aborts when the interface begins to close. */
  connect(writer: Writer, closing: AbortSignal): void;
  /** The commands of the last process are settled. A rejection ends the start. */
  begin(): Promise<void>;
  /** The interface is open. */
  run(): void;
  /** The last command has ended. Never rejects. */
  end(): Promise<void>;
}

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
  const { instruments, snapshot: given, onDifferences } = options;
  const { journal, coordinator, unsettled, adopt, advice } = beginning;
  // Read now: `unsettled` is live, and forgets a command at its settlement.
  const recovered = unsettled.open.length + unsettled.abandoned.length;
  const { admin, writer, drains } = assemble(options, awaitingReports(options, beginning));
  try {
    await writer.recover(unsettled);
    if (journal.outage !== undefined) throw journal.outage.error;
    await coordinator?.begin();
    if (adopt !== undefined) await adoptGiven(adopt, writer, options);
  } catch (error) {
    await admin.close();
    throw error;
  }
  journal.startRepeating();
  instruments?.opened(admin.snapshot, { recovered, unknown: admin.commands().length });
  // Only now: the commands of the last process may have changed the configuration.
  onDifferences(differencesOfDocument(admin.snapshot, given), advice);
  coordinator?.run();
  drains.begin();
  return admin;
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

/** Connects the parts of an interface. @internal */
export function assemble(
  options: CompleteOptions,
  { snapshot, journal, entries, configuration, coordinator }: Beginning,
): { readonly admin: Admin; readonly writer: Writer; readonly drains: Drains } {
  if (options.authenticate !== undefined) assertKnownHashes(snapshot, options.hasher);
  // The epoch of the snapshot is another text, because the host can give the epoch.
  const life = drawLife();
  const log = new EventLog(options.limits.maxEventsKept, life);
  const audit = new Audit({ ...options, life, revision: () => writer.snapshot.revision });
  const refuseAll = (): Refusal | undefined => audit.refuseAll() ?? coordinator?.refuseAll();
  const { telemetry: figures } = options.gateway;
  const telemetry = figures && guardTelemetry(figures, options.onError);
  const watched = new WatchedServers(options.clock, snapshot);
  const onChanged: WriterOptions['onChanged'] = (changed) => {
    drains.look(changed);
    watched.look(writer.snapshot);
  };
  const shared = { life, journal, coordinator, refuseAll, log, audit, telemetry, onChanged };
  const writer: Writer = writerOf(options, snapshot, shared);
  // Aborts when the interface begins to close, and ends the reading of bodies.
  const closing = new AbortController();
  const drains = drainsOf(options, writer, audit);
  coordinator?.connect(writer, closing.signal);
  const mode = coordinator?.mode ?? createMode();
  const passwords = passwordsOf(options, writer, mode);
  const streams = new EventStreams({ ...options, log });
  const { timeZone, place } = options;
  const parts = {
    ...shared,
    ...{ entries, writer, drains, watched, mode, passwords, streams, timeZone, place },
    configuration: configuration ?? (() => writer.snapshot),
    closing: closing.signal,
  };
  const pending = new PendingAnswers();
  const close = once(async () => {
    closing.abort();
    drains.close();
    await writer.close();
    await coordinator?.end();
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
  return {
    admin: adminOf(options, { ...parts, ...handlerOf(options, parts), close, pending, secrets }),
    writer,
    drains,
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

/** What is made before the writer. */
interface Shared extends Pick<WriterOptions, 'life' | 'journal' | 'coordinator' | 'refuseAll' | 'onChanged'> {
  readonly log: EventLog;
  readonly audit: Audit;
  /** The live figures of the host; `undefined` if there are only stored figures. */
  readonly telemetry: Surroundings['telemetry'] | undefined;
}

/** The parts behind the handler. */
interface Parts extends Shared, Omit<SelfOptions, 'audit' | 'clock' | 'refuseAll'> {
  readonly writer: Writer;
  readonly passwords: Passwords;
  readonly streams: EventStreams;
  readonly entries: KeptEntries;
  readonly configuration: () => Snapshot;
  readonly closing: AbortSignal;
}

/** The parts behind an interface. */
interface AllParts extends Parts, Pick<Admin, 'handle' | 'guard' | 'alerts' | 'close'> {
  readonly pending: PendingAnswers;
  /** Checks and hashes passwords that the host sets. */
  readonly secrets: SecretPorts;
}

function adminOf(
  { limits, onError }: CompleteOptions,
  { writer, log, audit, mode, handle, guard, alerts, close, pending, secrets }: AllParts,
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
      return writer.plan(requestOf(transition, how));
    },
    createFirstUser: async (user) =>
      execute(await firstUserCreation(user, writer.snapshot, secrets), { actor: user.name }),
    alerts,
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

function drainsOf(options: CompleteOptions, writer: Writer, audit: Audit): Drains {
  return new Drains({
    ...options,
    snapshot: () => writer.snapshot,
    execute: async (transition, actor) =>
      audit.execute(requestOf(transition, actor === undefined ? {} : { actor }), (command) =>
        writer.execute(command),
      ),
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

function handlerOf(options: CompleteOptions, parts: Parts): Pick<Admin, 'handle' | 'guard' | 'alerts'> {
  const { writer, mode } = parts;
  const surroundings = surroundingsOf(options, parts);
  const complete: HandlerOptions = {
    ...options,
    ...parts,
    snapshot: () => writer.snapshot,
    execute: (command) => writer.execute(command),
    plan: (command) => writer.planInSteps(command),
    refuseClosed: () => writer.refuseClosed(),
    isReadOnly: () => mode.isReadOnly,
    surroundings,
    texts: new TextCache(),
  };
  return {
    handle: createRequestHandler(complete),
    guard: createGuard(complete),
    alerts: () => alertsOf(writer.snapshot, surroundings),
  };
}

function writerOf(
  { gateway, clock, times, authenticate, veto, foresee, limits, instruments, onError }: CompleteOptions,
  snapshot: Snapshot,
  { life, journal, coordinator, refuseAll, log, audit, telemetry, onChanged }: Shared,
): Writer {
  const authentication = authenticate === undefined ? 'none' : 'required';
  const live = telemetry === undefined ? {} : { idleOf: telemetry.idle };
  return new Writer({
    snapshot,
    life,
    journal,
    coordinator,
    gateway,
    clock,
    deadlineMs: limits.effectDeadlineMs,
    maxQueued: limits.maxQueued,
    maxInFlight: limits.maxInFlight,
    veto,
    foresee,
    contextOf: (actor) => contextOf({ now: clock.read(), times, authentication, ...live }, actor),
    publish: (revision, events) => {
      log.append(revision, events);
    },
    refuseAll,
    onChanged,
    onRecovered: (command, execution) => {
      audit.recovered(command, execution);
    },
    instruments,
    onError,
  });
}

function surroundingsOf({ clock, gateway, times }: CompleteOptions, parts: Parts): Surroundings {
  const { writer, coordinator, entries, configuration, telemetry } = parts;
  const commands = {
    list: () => writer.commands(),
    abandon: (id: string) => writer.abandon(id, callerLinks),
  };
  const self = createSelf({ ...parts, clock });
  const follow = coordinator?.follow.bind(coordinator);
  const history = createHistory({
    entries,
    configuration,
    snapshot: () => writer.snapshot,
    refuse: (decision) => refuseUnsupported(decision, gateway, coordinator),
    clock,
    follow,
  });
  return Object.freeze({
    times,
    now: () => clock.now(),
    commands,
    history,
    self,
    ...coordinator?.surroundings,
    ...(telemetry === undefined ? {} : { telemetry }),
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
  { actor, ifMatch, mark }: Omit<ExecuteOptions, 'signal'>,
): CommandRequest & { readonly planned: Planned } {
  const parsed = mark === undefined ? undefined : parseMark(mark);
  return {
    transition: ifMatch === undefined ? transition : conditional(transition, ifMatch),
    planned: { digits: () => ownCommand, versionIn: versionOf(ifMatch), ...(parsed && { mark: parsed }) },
    ...(actor === undefined ? {} : { actor }),
  };
}

function conditional(transition: Transition, { link, etag }: Condition): Transition {
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
