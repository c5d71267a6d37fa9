/**
 * The assembly of a running interface: the ports, the journal, the writer, the handler and the event log put together.
 */
import type { Context } from '../core/decision.ts';
import { parseEntityTags } from '../core/etag.ts';
import type { Protector } from '../core/route.ts';
import { createRouter } from '../core/router.ts';
import { createTimeFormat, type TimeFormat } from '../core/time.ts';
import { createPbkdf2Hasher } from '../ports/pbkdf2-hasher.ts';
import type { Clock, ConfigurationStore, GatewayPort } from '../ports/port.ts';
import { createSecrets } from '../ports/secrets.ts';
import { systemClock } from '../ports/system-clock.ts';
import { observe, routes, type Step } from '../resources/index.ts';
import type { Rendering } from '../snapshot/rendering.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Admin, AdminOptions, ExecuteOptions } from './admin.ts';
import { bounded } from './bounded.ts';
import { EventLog } from './event-log.ts';
import { createRequestHandler, preconditionFailure } from './handler.ts';
import type { Journal } from './journal.ts';
import { limitsFrom, type Limits } from './limits.ts';
import { closesOf } from './plan.ts';
import { ReportError } from './report-error.ts';
import { Writer, type Command } from './writer.ts';

/** What the parts of the interface share. @internal */
export interface Basics {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly onError: (error: unknown) => void;
}

/** @internal */
export function basics({ clock = systemClock, limits, onError }: AdminOptions): Basics {
  return { clock, limits: limitsFrom(limits), onError: quietly(onError) };
}

/** What is put together. @internal */
export interface Assembly {
  readonly admin: Admin;
  readonly writer: Writer;
}

/** @internal */
export function assemble(
  options: AdminOptions & { readonly store?: ConfigurationStore },
  shared: Basics,
  journal: Journal,
): Assembly {
  const { limits, onError } = shared;
  const times = createTimeFormat(options.timeZone ?? 'UTC');
  const log = new EventLog(limits.events, options.snapshot.revision);
  const writer = writerOf(options, shared, { times, log, journal });
  const handle = createRequestHandler({
    snapshot: () => writer.snapshot,
    execute: (command) => writer.execute(command),
    decide: (command) => writer.decide(command),
    protector: protectorOf(options),
    authenticate: options.authenticate,
    authorize: options.authorize,
    limits,
    rendering: renderingOf(times, options.gateway),
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
    execute: async (step, { signal, ...how } = {}) =>
      writer.execute({ ...commandOf(step, how), ...(signal === undefined ? {} : { signal }) }),
    plan(step, how = {}) {
      const { snapshot } = writer;
      const decision = writer.decide(commandOf(step, how));
      return { ...decision, closes: closesOf(decision, snapshot) };
    },
    report(report) {
      const { next, events, faults } = observe(writer.snapshot, report, { now: shared.clock.now() });
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
  { snapshot, gateway, authenticate }: AdminOptions,
  { clock, limits, onError }: Basics,
  { times, log, journal }: { readonly times: TimeFormat; readonly log: EventLog; readonly journal: Journal },
): Writer {
  const authentication = authenticate === undefined ? 'none' : 'required';
  return new Writer({
    snapshot,
    journal,
    gateway,
    clock,
    deadlineMs: limits.effectDeadlineMs,
    waiting: limits.waiting,
    underWay: limits.underWay,
    contextOf: (actor) => contextOf({ now: clock.now(), times, authentication }, actor),
    publish: (revision, events) => {
      log.append(revision, events);
    },
    onError,
  });
}

function renderingOf(times: TimeFormat, { telemetry }: GatewayPort): Rendering {
  return Object.freeze(telemetry === undefined ? { times } : { times, telemetry });
}

function protectorOf({
  hasher = createPbkdf2Hasher(),
  secrets = createSecrets(),
  passwordPolicy,
  store,
}: AdminOptions & { readonly store?: ConfigurationStore }): Protector {
  const storable = store?.durable !== true || secrets.durable;
  return {
    hash: bounded((password: string) => hasher.hash(password), { running: 2, waiting: 64 }),
    // What is kept must be readable after a restart: with a key that ends with the process it would not be.
    seal: async (secret) => (storable ? secrets.seal(secret) : undefined),
    objection: (password) => passwordPolicy?.(password),
  };
}

/** Closing twice is closing once. */
function once(close: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => (closed ??= close());
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

/** Without an epoch, entity tags of an earlier life of the gateway would seem to be of this one. @internal */
export function withEpoch(snapshot: Snapshot, epoch: string): Snapshot {
  if (epoch !== '') return epoch === snapshot.epoch ? snapshot : Object.freeze({ ...snapshot, epoch });
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
