/**
 * The assembly of a running interface: the ports, the journal, the writer, the handler and the event log put together.
 */
import type { Context } from '../core/decision.ts';
import { parseEntityTags } from '../http/etag.ts';
import type { SecretPorts } from '../core/secret.ts';
import { createRouter } from '../http/router.ts';
import { createTimeFormat, type TimeFormat } from '../core/time.ts';
import { createPbkdf2Hasher } from '../ports/pbkdf2-hasher.ts';
import type { Clock, ConfigurationStore } from '../ports/port.ts';
import { createSecretSealer } from '../ports/secret-sealer.ts';
import { systemClock } from '../ports/system-clock.ts';
import { applyReports, routes, type Transition } from '../resources/index.ts';
import type { Rendering } from '../resources/shared/rendering.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Admin, AdminOptions, ExecuteOptions } from './admin.ts';
import { bounded } from './bounded.ts';
import { EventLog } from './event-log.ts';
import { createRequestHandler, preconditionFailure } from './handler/handler.ts';
import type { Journal } from './journal.ts';
import { limitsFrom, type Limits } from './limits.ts';
import { closesOf } from './handler/plan.ts';
import { ReportError } from './report-error.ts';
import { Writer, type CommandRequest } from './writer.ts';

/** What an interface is made of, checked and completed. @internal */
export interface Parts extends Pick<AdminOptions, 'gateway' | 'authenticate' | 'authorize'> {
  readonly clock: Clock;
  readonly times: TimeFormat;
  readonly secrets: SecretPorts;
  readonly limits: Limits;
  readonly onError: (error: unknown) => void;
}

/**
 * Checks and completes options.
 *
 * @throws RangeError when the time zone is unknown, or a limit is not a whole number from 1 on
 * @internal
 */
export function partsOf(options: AdminOptions & { readonly store?: ConfigurationStore }): Parts {
  return {
    ...options,
    clock: withinYears(options.clock ?? systemClock),
    times: createTimeFormat(options.timeZone ?? 'UTC'),
    secrets: protectorOf(options),
    limits: limitsFrom(options.limits),
    onError: quietly(options.onError),
  };
}

/** What is put together. @internal */
export interface Assembly {
  readonly admin: Admin;
  readonly writer: Writer;
}

/** Puts an interface together. @internal */
export function assemble(parts: Parts, snapshot: Snapshot, journal: Journal): Assembly {
  const { clock, limits, onError } = parts;
  const log = new EventLog(limits.maxEventsKept, snapshot.revision);
  const writer = writerOf(parts, snapshot, { log, journal });
  const handle = createRequestHandler({
    snapshot: () => writer.snapshot,
    execute: (command) => writer.execute(command),
    decide: (command) => writer.decide(command),
    secrets: parts.secrets,
    authenticate: parts.authenticate,
    authorize: parts.authorize,
    limits,
    rendering: renderingOf(parts),
    onError,
  });
  const close = once(async () => {
    await writer.close();
    log.close();
    await journal.close();
  });
  const admin: Admin = {
    get snapshot() {
      return writer.snapshot;
    },
    limits,
    handle,
    execute: async (transition, { signal, ...how } = {}) =>
      writer.execute({ ...commandOf(transition, how), ...(signal === undefined ? {} : { signal }) }),
    plan(transition, how = {}) {
      const before = writer.snapshot;
      const decision = writer.decide(commandOf(transition, how));
      return { ...decision, next: decision.next, closes: closesOf(decision, before) };
    },
    report(report) {
      const { next, events, faults } = applyReports(writer.snapshot, report, { now: clock.now() });
      if (events.length > 0) writer.record(next, events);
      if (faults.length > 0) onError(new ReportError(faults));
    },
    events: (where) => log.read(where),
    close,
    [Symbol.asyncDispose]: close,
  };
  return { admin, writer };
}

function writerOf(
  { gateway, clock, times, authenticate, limits, onError }: Parts,
  snapshot: Snapshot,
  { log, journal }: { readonly log: EventLog; readonly journal: Journal },
): Writer {
  const authentication = authenticate === undefined ? 'none' : 'required';
  return new Writer({
    snapshot,
    journal,
    gateway,
    clock,
    deadlineMs: limits.effectDeadlineMs,
    waiting: limits.maxQueued,
    underWay: limits.maxInFlight,
    contextOf: (actor) => contextOf({ now: clock.now(), times, authentication }, actor),
    publish: (revision, events) => {
      log.append(revision, events);
    },
    onError,
  });
}

function renderingOf({ times, gateway: { telemetry } }: Parts): Rendering {
  return Object.freeze(telemetry === undefined ? { times } : { times, telemetry });
}

function protectorOf({
  hasher = createPbkdf2Hasher(),
  sealer = createSecretSealer(),
  passwordPolicy,
  store,
}: AdminOptions & { readonly store?: ConfigurationStore }): SecretPorts {
  const storable = store?.durable !== true || sealer.durable;
  return {
    hash: bounded((password: string) => hasher.hash(password), { running: 2, waiting: 64 }),
    // What is kept must be readable after a restart: with a key that ends with the process it would not be.
    seal: async (secret) => (storable ? sealer.seal(secret) : undefined),
    objection: (password) => passwordPolicy?.(password),
  };
}

/** The times that documents can tell, as years of four digits. */
const earliest = Date.parse('0000-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/** A clock may jump, but a time that cannot be written down could not be read after a restart. */
function withinYears(clock: Clock): Clock {
  const now = (): number => Math.min(Math.max(Math.trunc(clock.now()) || 0, earliest), latest);
  return { now, sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal) };
}

/** Closing twice is closing once. */
function once(close: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => (closed ??= close());
}

/** An `onError` that throws must not undo what it was told about. @internal */
export function quietly(onError: (error: unknown) => unknown = () => undefined): (error: unknown) => void {
  return (error) => {
    try {
      Promise.resolve(onError(error)).catch(() => undefined);
    } catch {
      // There is nobody left to tell.
    }
  };
}

function contextOf(context: Context, actor: string | undefined): Context {
  return actor === undefined ? context : { ...context, actor };
}

const reads = createRouter(routes.filter((route) => route.kind !== 'command'));

function commandOf(
  transition: Transition,
  { actor, ifMatch }: Omit<ExecuteOptions, 'signal'>,
): CommandRequest {
  if (actor !== undefined && typeof actor !== 'string') throw new TypeError('The actor is a string');
  const command = actor === undefined ? { transition } : { transition, actor };
  if (ifMatch === undefined) return command;
  const tags = parseEntityTags(ifMatch.etag);
  const match = reads.match('GET', ifMatch.link);
  if (match.found !== 'route')
    throw new RangeError('The link of ifMatch is not that of a resource, such as /services/sales');
  const { route, subject } = match;
  return {
    ...command,
    condition: (snapshot) =>
      tags.ok ? preconditionFailure(snapshot, route.version?.(snapshot, subject), tags.value) : tags.problem,
  };
}
