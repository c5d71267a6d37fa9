/**
 * Guards: the functions of the host, with answers that the library can rely on.
 *
 * An answer is checked where a wrong one would let an unknown caller in, would be written to disk, or would end the
 * process. Everything else is the contract of `ports/port.ts`. The table `guards` has the answers that are checked.
 */
import { hiddenText, longestHash, longestSealed, parseShape } from '../../core/shape.ts';
import type { Principal } from '../../http/message.ts';
import { roles, type Role } from '../../http/route.ts';
import type { Authorize, Clock, Foresee, GatewayLag, GatewayPort } from '../../ports/port.ts';
import { systemClock, systemSleep } from '../../ports/system-clock.ts';
import { parseProblem } from '../../problem.ts';
import { lagShape } from '../../resources/alert.ts';
import { telemetryShapes, type Telemetry } from '../../resources/telemetry.ts';
import { noStatistics, type ConnectionStatistics } from '../../snapshot/session/table.ts';
import { hostNotes } from '../../core/note.ts';
import { isBoolean, isObject, isText, isThenable } from './check.ts';
import { callFailed, causeText, wrongAnswer, type HostCall, type HostError } from './host-error.ts';

/** Stands for an answer that the host must not give. */
const wrong = Symbol('wrong');

/** What is wanted of a function of the host. */
interface Guard<T> {
  /** Gives what counts of an answer, or `wrong`. */
  readonly read: (answer: unknown) => T | typeof wrong;
  /** The answers that are wanted, for the error. */
  readonly wanted: string;
  /** A sentence about the consequence of a failure; the request is refused if left out. */
  readonly instead?: string;
}

const countsAsFalse = 'The answer counts as false.';

const trueOrFalse = {
  read: (answer: unknown) => (isBoolean(answer) ? answer : wrong),
  wanted: 'true or false',
};

/** The functions whose answers are checked. A promise in place of an answer is wrong. */
const guards = {
  'hasher.hash': line(longestHash),
  'hasher.verify': trueOrFalse,
  'hasher.knows': { ...trueOrFalse, instead: countsAsFalse },
  'hasher.needsRehash': { ...trueOrFalse, instead: countsAsFalse },
  'authenticate.isOpen': { ...trueOrFalse, instead: countsAsFalse },
  // The role. Of the answer of the rule itself, only `true` allows.
  authorize: {
    read: (answer) => roles.find((each) => each === answer) ?? (answer === undefined ? undefined : wrong),
    wanted: `one of ${roles.join(', ')}, or undefined`,
    instead: 'The caller counts as one without a role.',
  },
  'sealer.seal': line(longestSealed),
  passwordPolicy: {
    read: (answer) => (answer === undefined || (isText(answer) && answer !== '') ? answer : wrong),
    wanted: 'undefined or a sentence',
  },
  veto: {
    read: (answer) =>
      answer === undefined ? undefined : ((isThenable(answer) ? undefined : parseProblem(answer)) ?? wrong),
    wanted: 'undefined or a problem',
    instead: 'The command was refused.',
  },
  foresee: {
    read: (answer) => {
      const notes = isThenable(answer) ? wrong : shaped(hostNotes)(answer);
      return notes === wrong ? wrong : notes.slice(0, mostNotes);
    },
    wanted: 'a list of notes whose codes begin with host-',
    instead: 'The plan says only that the gateway may close sessions, where it may.',
  },
  'clock.now': {
    read: (time) =>
      typeof time === 'number' && time >= earliest && time <= latest ? Math.trunc(time) : wrong,
    wanted: 'milliseconds since 1970 in the years 0 to 9999',
    instead: 'The call that needed the time was given up.',
  },
  'clock.monotonic': {
    read: (time) => (typeof time === 'number' ? time : wrong),
    wanted: 'milliseconds',
    instead: 'No duration was measured.',
  },
  behind: {
    read: shaped(lagShape),
    wanted: 'a list of resource, since and reason',
    instead: 'The alerts do not show where the gateway is behind.',
  },
  'telemetry.threads': figures(shaped(telemetryShapes.threads)),
  'telemetry.tasks': figures(shaped(telemetryShapes.tasks)),
  'telemetry.idle': figures(numberFrom),
  'telemetry.statistics': figures(statisticsFrom),
} as const satisfies Partial<Record<HostCall, Guard<unknown>>>;

type Guarded = keyof typeof guards;

/** The answer of a function that counts. */
type Answer<C extends Guarded> = Exclude<ReturnType<(typeof guards)[C]['read']>, typeof wrong>;

/**
 * Calls a function of the host.
 *
 * @param instead - a sentence about the consequence of a failure
 * @throws HostError if the function throws
 * @internal
 */
export function callHost(call: HostCall, run: () => unknown, instead?: string): unknown {
  try {
    return run();
  } catch (cause) {
    throw callFailed(call, cause, instead);
  }
}

/**
 * Asks a function of the host that must answer at once.
 *
 * @param instead - a sentence about the consequence of a failure, if it is not the usual one
 * @throws HostError if the function throws, or gives a wrong answer, such as a promise
 * @internal
 */
export function askHost<C extends Guarded>(call: C, ask: () => unknown, instead?: string): Answer<C> {
  const guard: Guard<unknown> = guards[call];
  const consequence = instead ?? guard.instead;
  let answer: unknown;
  // An answer can fail when it is read.
  const counts = callHost(call, () => guard.read((answer = ask())), consequence);
  if (counts === wrong) throw wrongAnswer(call, answer, guard.wanted, consequence);
  return counts as Answer<C>;
}

/**
 * Asks a function of the host that answers later.
 *
 * @throws HostError if the answer is wrong; the error of the function
 * @internal
 */
export async function awaitHost<C extends Guarded>(call: C, ask: () => Promise<unknown>): Promise<Answer<C>> {
  const answer = await ask();
  return askHost(call, () => answer);
}

/**
 * Asks a function of the host as {@link askHost} does, and never throws.
 *
 * @param onFailure - gets the error
 * @param otherwise - the answer in place of a failure
 * @internal
 */
export function askSafely<C extends Guarded, T>(
  call: C,
  ask: () => unknown,
  onFailure: (error: HostError) => void,
  otherwise: T,
): Answer<C> | T {
  try {
    return askHost(call, ask);
  } catch (error) {
    onFailure(error as HostError);
    return otherwise;
  }
}

/**
 * Calls a function of the host whose result nobody needs.
 *
 * @param onFailure - gets the error if the function throws or rejects
 * @param instead - a sentence about the consequence of a failure
 * @internal
 */
export function callGuarded(
  call: HostCall,
  run: () => unknown,
  onFailure: (error: HostError) => void,
  instead = 'The interface goes on.',
): void {
  const fail = (cause: unknown): void => {
    onFailure(callFailed(call, cause, instead));
  };
  try {
    const result = run();
    // An async function fits the types, too.
    if (typeof result === 'object' && result !== null) Promise.resolve(result).catch(fail);
  } catch (cause) {
    fail(cause);
  }
}

/**
 * Passes the first error of each function on, for functions that are called for each request, line or figure.
 *
 * @internal
 */
export function onceEach(onError: (error: unknown) => void): (error: HostError) => void {
  const passed = new Set<HostCall>();
  return (error) => {
    if (passed.has(error.call)) return;
    passed.add(error.call);
    onError(error);
  };
}

/**
 * Wraps `onError` in a function that never throws or rejects. Errors go to the console if `onError` is left out or
 * fails.
 *
 * @internal
 */
export function createErrorSink(onError?: (error: unknown) => unknown): (error: unknown) => void {
  if (onError === undefined) return show;
  return (error) => {
    callGuarded('onError', () => onError(error), show, `The error for onError was: ${causeText(error)}.`);
  };
}

function show(error: unknown): void {
  // eslint-disable-next-line no-console -- without `onError`, there is no other place for the error
  console.error(error);
}

/** Gives the role of a caller; `undefined` if the rule of the host knows none, and if the rule fails. @internal */
export type GuardedRoleOf = (principal: Principal) => Role | undefined;

/** Guards `authorize.roleOf`; `undefined` if the rule knows no roles. @internal */
export function guardRoleOf(
  authorize: Authorize | undefined,
  onError: (error: unknown) => void,
): GuardedRoleOf | undefined {
  if (authorize?.roleOf === undefined) return undefined;
  return (principal) => askSafely('authorize', () => authorize.roleOf?.(principal), onError, undefined);
}

/** The largest number of notes of the host in a plan. */
const mostNotes = 20;

/** The times that a gateway document can contain: years have four digits. */
const earliest = Date.parse('0000-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Asks the host for notes on a decision. Never throws.
 *
 * @returns the notes; `undefined` without such a function, and if it fails
 * @internal
 */
export type GuardedForesee = (...given: Parameters<Foresee>) => ReturnType<Foresee> | undefined;

/** A clock of which only the first reading can fail. @internal */
export interface GuardedClock extends Required<Clock> {
  /**
   * The current time; the last time that the clock has told if the clock fails.
   *
   * @throws HostError if the clock has not told any time yet
   */
  readonly now: () => number;
  /**
   * The current time, and never the last one: for decisions, and for what others learn of this clock.
   *
   * @throws HostError if the clock fails
   */
  readonly read: () => number;
}

/**
 * Guards a clock of the host. The clock of the machine needs no guard.
 *
 * - A reading fails if the function fails or gives a time that no document can contain, because times are written to
 *   disk.
 * - `now` then gives the last time: the gateway has already made a change that settles, or the host has seen what is
 *   reported. `onError` gets the first failure alone.
 * - `sleep` never rejects: loops that nobody waits for sleep, such as those of heartbeats. The timers of the system
 *   take over a sleep that fails: an end at once would answer a command as unknown before its deadline, and let the
 *   loops spin.
 * - `monotonic` gives NaN if the function fails: no log-in counts as verified a short time ago. Left out, the current
 *   time counts, and never the last one: a time that stands would let a verified log-in count for ever.
 *
 * @internal
 */
export function guardClock(clock: Clock, onError: (error: unknown) => void): GuardedClock {
  if (clock === systemClock) return machineClock;
  const failed = onceEach(onError);
  let last: number | undefined;
  const read = (instead?: string): number => (last = askHost('clock.now', () => clock.now(), instead));
  const now = (): number => {
    if (last === undefined) return read();
    try {
      return read('The last time that the clock has told counts instead.');
    } catch (error) {
      failed(error as HostError);
      return last;
    }
  };
  const sleep: Clock['sleep'] = async (...how) => {
    try {
      await clock.sleep(...how);
    } catch (cause) {
      failed(callFailed('clock.sleep', cause, 'The timers of the system took over.'));
      await systemSleep(...how);
    }
  };
  const monotonic = (): number =>
    askSafely(
      'clock.monotonic',
      () => (clock.monotonic === undefined ? read() : clock.monotonic()),
      failed,
      NaN,
    );
  return { now, read, sleep, monotonic };
}

const machineClock: GuardedClock = Object.freeze({
  ...(systemClock as Required<Clock>),
  read: () => Date.now(),
});

/**
 * Guards telemetry: gives `undefined` for a figure that cannot be shown, and the response shows the stored figure.
 * `onError` gets the first failure of each reader alone: a list reads a figure for each entry, and would report
 * thousands.
 *
 * @internal
 */
export function guardTelemetry(telemetry: Telemetry, onError: (error: unknown) => void): Required<Telemetry> {
  const failed = onceEach(onError);
  return {
    threads: () => askSafely('telemetry.threads', () => telemetry.threads?.(), failed, undefined),
    tasks: () => askSafely('telemetry.tasks', () => telemetry.tasks?.(), failed, undefined),
    idle: (session) => askSafely('telemetry.idle', () => telemetry.idle?.(session), failed, undefined),
    statistics: (session, connection) =>
      askSafely('telemetry.statistics', () => telemetry.statistics?.(session, connection), failed, undefined),
  };
}

/** Asks the gateway what it could not bring into place. Never throws. @internal */
export function guardBehind(
  gateway: Pick<GatewayPort, 'behind'>,
  onError: (error: unknown) => void,
): () => readonly GatewayLag[] {
  const failed = onceEach(onError);
  return () =>
    gateway.behind === undefined ? [] : askSafely('behind', () => gateway.behind?.(), failed, []);
}

/** The guard of a text of one line. */
function line(longest: number): Guard<string> {
  return {
    read: shaped(hiddenText(longest)),
    wanted: `a line of 1 to ${longest.toLocaleString('en')} characters`,
  };
}

/** The guard of figures; `undefined` if the host does not have them. */
function figures<T>(read: Guard<T>['read']): Guard<T | undefined> {
  return {
    read: (answer) => (answer === undefined ? undefined : read(answer)),
    wanted: 'figures that can be shown',
    instead: 'The response shows the stored figure.',
  };
}

function numberFrom(answer: unknown): number | typeof wrong {
  return Number.isFinite(answer) ? (answer as number) : wrong;
}

const counters = Object.keys(noStatistics) as (keyof ConnectionStatistics)[];

/** Without a shape, because a list reads the counters of each connection. */
function statisticsFrom(answer: unknown): ConnectionStatistics | typeof wrong {
  if (!isObject(answer)) return wrong;
  const copy: Record<keyof ConnectionStatistics, number> = { ...noStatistics };
  for (const name of counters) {
    const counter = numberFrom(answer[name]);
    if (counter === wrong) return wrong;
    copy[name] = counter;
  }
  return copy;
}

function shaped<T>(shape: Parameters<typeof parseShape<T>>[0]): Guard<T>['read'] {
  return (answer) => {
    const parsed = parseShape(shape, answer);
    return parsed.ok ? parsed.value : wrong;
  };
}
