/**
 * The running administration interface: one snapshot, the writer that changes it, the handler that shows it.
 */
import type { Context } from '../core/decision.ts';
import { parseEntityTags } from '../core/etag.ts';
import { listFaults, type Fault } from '../core/problem.ts';
import { createRouter } from '../core/router.ts';
import { createTimeFormat } from '../core/time.ts';
import { createPbkdf2Hasher } from '../ports/pbkdf2-hasher.ts';
import type { AdminRequest, Authenticate, Clock, GatewayPort, Hasher, Secrets } from '../ports/port.ts';
import { createSecrets } from '../ports/secrets.ts';
import { systemClock } from '../ports/system-clock.ts';
import { observe, routes, type Decision, type Observation, type Step } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { bounded } from './bounded.ts';
import { EventLog, type EventGap, type EventsOptions, type PublishedEvent } from './event-log.ts';
import { createRequestHandler, preconditionFailure, type Authorize, type Handled } from './handler.ts';
import { limitsFrom, type Limits } from './limits.ts';
import { Writer, type Command, type Execution } from './writer.ts';

/**
 * What a running administration interface is made of.
 *
 * @public
 */
export interface AdminOptions {
  /** The state to begin with; see {@link createSnapshot}. */
  readonly snapshot: Snapshot;
  /** The real gateway. */
  readonly gateway: GatewayPort;
  /** The time; the system's by default. */
  readonly clock?: Clock;
  /** Zone in which times are shown: an IANA name, or an offset such as `+03:00`. UTC by default. */
  readonly timeZone?: string;
  /** Hashes passwords; PBKDF2-SHA-256 by default. */
  readonly hasher?: Hasher;
  /** Seals secrets; by default with a key that lives as long as the process. */
  readonly secrets?: Secrets;
  /** Finds out who asks; nobody has to say by default. While it is given, the last admin user cannot be deleted. */
  readonly authenticate?: Authenticate;
  /** Decides who may do what; everyone everything by default. */
  readonly authorize?: Authorize;
  /** Says what is wrong with the password of an admin user, beyond the rules that always hold; `undefined` for nothing. */
  readonly passwordPolicy?: (password: string) => string | undefined;
  /** The limits that differ from {@link defaultLimits}. */
  readonly limits?: Partial<Limits>;
  /** Told of what is wrong in the host or in here: malformed reports, errors thrown. Does nothing by default. */
  readonly onError?: (error: unknown) => void;
}

/**
 * How a command is executed.
 *
 * @public
 */
export interface ExecuteOptions {
  /** Name of whoever asks, for the record. */
  readonly actor?: string;
  /** Refuses with `precondition-failed` unless the resource at this link still has this entity tag. */
  readonly ifMatch?: {
    /** Link of the resource, such as `/services/sales`. */
    readonly link: string;
    /** The entity tag, or `*`, as `If-Match` has it. */
    readonly etag: string;
  };
  /** Takes the command back while it has not begun; then `execute` rejects. One that has begun goes on. */
  readonly signal?: AbortSignal;
}

/**
 * A running administration interface.
 *
 * @public
 */
export interface Admin {
  /** The current state. */
  readonly snapshot: Snapshot;
  /** The limits that hold. */
  readonly limits: Limits;
  /** Answers a request. Never rejects. */
  handle(request: AdminRequest): Promise<Handled>;
  /**
   * Executes a command: decides, asks the host, settles. Rejects only when the step throws, when it was taken back, or
   * with a RangeError when the link of `ifMatch` is not that of a resource.
   */
  execute(step: Step, options?: ExecuteOptions): Promise<Execution>;
  /** Decides as {@link Admin.execute} would at this moment, and does nothing. */
  plan(step: Step, options?: Omit<ExecuteOptions, 'signal'>): Decision;
  /** Takes in what the host reports. Synchronous, never queued; what is malformed goes to `onError`. */
  report(report: Observation | readonly Observation[]): void;
  /**
   * Reads the events, in order, from now on or from where a reader left off.
   *
   * @throws RangeError when `after` is not an event id
   */
  events(options?: EventsOptions): AsyncIterableIterator<PublishedEvent | EventGap>;
  /** Refuses what is to come, answers what waits, settles what is under way. */
  close(): Promise<void>;
  /** The same as {@link Admin.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A report of the host has faults. Goes to `onError`; what is sound in the report holds.
 *
 * @public
 */
export class ReportError extends Error {
  /** Every fault, with its pointer into the report. */
  readonly faults: readonly Fault[];

  /** @param faults - every fault; the message lists up to 20 of them */
  constructor(faults: readonly Fault[]) {
    super(`The report has faults: ${listFaults(faults).join('; ')}`);
    this.name = 'ReportError';
    this.faults = faults;
  }
}

/**
 * Runs the administration interface of a gateway. Nothing outlives the process.
 *
 * @param options - the state, the gateway, and what else differs from the defaults
 * @returns the running interface; close it when the gateway ends
 * @throws RangeError when the time zone is unknown, or a limit is not a whole number from 1 on
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
 * admin.snapshot.services.get('sales')?.state; // => 'stopped'
 * await admin.close();
 * ```
 *
 * @public
 */
export function createAdmin(options: AdminOptions): Admin {
  const { clock = systemClock, hasher = createPbkdf2Hasher(), secrets = createSecrets() } = options;
  const onError = quietly(options.onError);
  const limits = limitsFrom(options.limits);
  const times = createTimeFormat(options.timeZone ?? 'UTC');
  const { telemetry } = options.gateway;
  const rendering = Object.freeze(telemetry === undefined ? { times } : { times, telemetry });
  const authentication = options.authenticate === undefined ? 'none' : 'required';
  const log = new EventLog(limits.events);
  const writer = new Writer({
    snapshot: withEpoch(options.snapshot),
    gateway: options.gateway,
    clock,
    deadlineMs: limits.effectDeadlineMs,
    waiting: limits.waiting,
    contextOf: (actor) => contextOf({ now: clock.now(), times, authentication }, actor),
    publish: (revision, events) => {
      log.append(revision, events);
    },
  });
  const handle = createRequestHandler({
    snapshot: () => writer.snapshot,
    execute: (command) => writer.execute(command),
    decide: (command) => writer.decide(command),
    protector: {
      hash: bounded((password: string) => hasher.hash(password), { running: 2, waiting: 64 }),
      seal: (secret) => secrets.seal(secret),
      objection: (password) => options.passwordPolicy?.(password),
    },
    authenticate: options.authenticate,
    authorize: options.authorize,
    limits,
    rendering,
    onError,
  });
  const close = async (): Promise<void> => {
    await writer.close();
    log.close();
  };
  return {
    get snapshot() {
      return writer.snapshot;
    },
    limits,
    handle,
    execute: async (step, { signal, ...how } = {}) =>
      writer.execute({ ...commandOf(step, how), ...(signal === undefined ? {} : { signal }) }),
    plan: (step, how = {}) => writer.decide(commandOf(step, how)),
    report(report) {
      const { next, events, faults } = observe(writer.snapshot, report, { now: clock.now() });
      if (events.length > 0) writer.record(next, events);
      if (faults.length > 0) onError(new ReportError(faults));
    },
    events: (where) => log.read(where),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** An `onError` that throws must not undo what it was told about. */
function quietly(onError: (error: unknown) => void = () => undefined): (error: unknown) => void {
  return (error) => {
    try {
      onError(error);
    } catch {
      // There is nobody left to tell.
    }
  };
}

function contextOf(context: Context, actor: string | undefined): Context {
  return actor === undefined ? context : { ...context, actor };
}

/** Without an epoch, entity tags of an earlier life of the gateway would seem to be of this one. */
function withEpoch(snapshot: Snapshot): Snapshot {
  if (snapshot.epoch !== '') return snapshot;
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return Object.freeze({
    ...snapshot,
    epoch: Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  });
}

const reads = createRouter(routes.filter((route) => route.kind !== 'command'));

function commandOf(step: Step, { actor, ifMatch }: Omit<ExecuteOptions, 'signal'>): Command {
  const command = actor === undefined ? { step } : { step, actor };
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
