/**
 * Guards: the functions of the host, with answers that the library can rely on.
 *
 * An answer is checked where a wrong one would let an unknown caller in, would be written to disk, or would end the
 * process. Everything else is the contract of `ports/port.ts`.
 */
import { hiddenText, longestHash, longestSealed, parseShape } from '../../core/shape.ts';
import type { Authenticate, Clock, Foresee, Hasher, SecretSealer, Veto } from '../../ports/port.ts';
import { systemClock, systemSleep } from '../../ports/system-clock.ts';
import { parseProblem, problem } from '../../problem.ts';
import { telemetryShapes, type Telemetry } from '../../resources/telemetry.ts';
import { noStatistics, type ConnectionStatistics } from '../../snapshot/session/table.ts';
import { hostNotes } from '../../core/note.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { isBoolean, isObject, isText } from './check.ts';
import { answerInTime, type HostDeadline } from './deadline.ts';
import {
  callFailed,
  causeText,
  isThenable,
  wrongAnswer,
  type HostCall,
  type HostError,
} from './host-error.ts';

const countsAsFalse = 'The answer counts as false.';

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
 * Asks a function of the host for true or false. The function must answer at once. A caller who catches the error must
 * go on as with false.
 *
 * @throws HostError if the function throws, or gives another answer, such as a promise
 * @internal
 */
export function askHost(call: HostCall, ask: () => unknown): boolean {
  return booleanFrom(call, callHost(call, ask, countsAsFalse), countsAsFalse);
}

function booleanFrom(call: HostCall, answer: unknown, instead?: string): boolean {
  if (isBoolean(answer)) return answer;
  throw wrongAnswer(call, answer, 'true or false', instead);
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

/**
 * Hashes a password.
 *
 * @throws HostError if the hasher gives no text that can be a hash
 * @internal
 */
export async function hashWith(hasher: Hasher, password: string): Promise<string> {
  return hashFrom(await hasher.hash(password));
}

/**
 * Verifies a password.
 *
 * @throws HostError if the hasher gives neither true nor false
 * @internal
 */
export async function verifyWith(hasher: Hasher, password: string, hash: string): Promise<boolean> {
  return booleanFrom('hasher.verify', await hasher.verify(password, hash));
}

/**
 * Seals a secret.
 *
 * @throws HostError if the sealer gives no text that can be a sealed one, or does not answer in time
 * @internal
 */
export async function sealWith(
  sealer: SecretSealer,
  secret: string,
  deadline: HostDeadline,
): Promise<string> {
  return sealedFrom(await answerInTime('sealer.seal', deadline, () => sealer.seal(secret)));
}

const hashFrom = textFrom('hasher.hash', longestHash);
const sealedFrom = textFrom('sealer.seal', longestSealed);

/** Makes the function that checks the answers of a call. */
function textFrom(call: HostCall, longest: number): (answer: unknown) => string {
  const shape = hiddenText(longest);
  return (answer) => {
    const parsed = parseShape(shape, answer);
    if (parsed.ok) return parsed.value;
    throw wrongAnswer(call, answer, `a line of 1 to ${longest.toLocaleString('en')} characters`);
  };
}

/**
 * Asks the password policy of the host.
 *
 * @returns the objection to a password; `undefined` if the policy accepts the password
 * @throws HostError if the policy throws, or gives neither a sentence nor `undefined`
 * @internal
 */
export function objectionOf(
  passwordPolicy: ((password: string) => string | undefined) | undefined,
  password: string,
): string | undefined {
  const answer = callHost('passwordPolicy', () => passwordPolicy?.(password));
  if (answer === undefined || (isText(answer) && answer !== '')) return answer;
  throw wrongAnswer('passwordPolicy', answer, 'undefined or a sentence');
}

/**
 * Guards `isOpen`: if the function fails, every caller must log in. `onError` gets the first failure alone, because
 * each request asks.
 *
 * @internal
 */
export function guardOpenness(
  authenticate: Authenticate | undefined,
  onError: (error: unknown) => void,
): (snapshot: Snapshot) => boolean {
  if (authenticate?.isOpen === undefined) return () => authenticate === undefined;
  const failed = onceEach(onError);
  return (snapshot) => {
    try {
      return askHost('authenticate.isOpen', () => authenticate.isOpen?.(snapshot));
    } catch (error) {
      failed(error as HostError);
      return false;
    }
  };
}

/**
 * Guards the veto of a host: the result never throws, and fails closed.
 *
 * @param onError - gets a {@link HostError} if the veto throws or answers wrongly
 * @internal
 */
export function guardVeto(veto: Veto, onError: (error: unknown) => void): Veto {
  return (decision, context) => {
    try {
      const answer: unknown = veto(decision, context);
      if (answer === undefined) return undefined;
      const parsed = isThenable(answer) ? undefined : parseProblem(answer);
      if (parsed !== undefined) return parsed;
      onError(wrongAnswer('veto', answer, 'undefined or a problem', commandRefused));
    } catch (cause) {
      onError(callFailed('veto', cause, commandRefused));
    }
    return undecided;
  };
}

/** The largest number of notes of the host in a plan. */
const mostNotes = 20;

/**
 * Guards the notes of a host for a plan: the result never throws, and gives `undefined` if the host has failed.
 *
 * @param onError - gets a {@link HostError} if the function throws or answers wrongly
 * @internal
 */
export function guardForesee(foresee: Foresee, onError: (error: unknown) => void): GuardedForesee {
  return (decision, snapshot) => {
    try {
      const answer: unknown = foresee(decision, snapshot);
      const parsed = parseShape(hostNotes, isThenable(answer) ? undefined : answer);
      if (parsed.ok) return parsed.value.slice(0, mostNotes);
      onError(wrongAnswer('foresee', answer, 'a list of notes whose codes begin with host-', withoutNotes));
    } catch (cause) {
      onError(callFailed('foresee', cause, withoutNotes));
    }
    return undefined;
  };
}

/** The notes of a host; `undefined` if nobody knows what the gateway will do. @internal */
export type GuardedForesee = (...given: Parameters<Foresee>) => ReturnType<Foresee> | undefined;

const withoutNotes = 'The plan says only that the gateway may close sessions, where it may.';

const commandRefused = 'The command was refused.';

const undecided = problem(
  'internal',
  'The gateway failed to say whether this command is allowed, so the command was refused. Nothing was changed. The error ' +
    'was reported to the gateway.',
);

/** The times that a gateway document can contain: years have four digits. */
const earliest = Date.parse('0000-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

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
 * Guards a clock.
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
  const failed = onceEach(onError);
  let last: number | undefined;
  const read = (instead = givenUp): number => {
    const time = callHost('clock.now', () => clock.now(), instead);
    if (typeof time !== 'number' || !(time >= earliest && time <= latest))
      throw wrongAnswer('clock.now', time, 'milliseconds since 1970 in the years 0 to 9999', instead);
    return (last = Math.trunc(time));
  };
  const now = (): number => {
    if (last === undefined) return read();
    try {
      return read(lastCounts);
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
  const monotonic = (): number => {
    try {
      const time: unknown = clock.monotonic === undefined ? read() : clock.monotonic();
      if (typeof time === 'number') return time;
      failed(wrongAnswer('clock.monotonic', time, 'milliseconds', unmeasured));
    } catch (cause) {
      failed(callFailed('clock.monotonic', cause, unmeasured));
    }
    return NaN;
  };
  // The sleep of the system clock never fails, and deadlines without a signal are cheaper with it.
  return { now, read: () => read(), sleep: clock === systemClock ? systemSleep : sleep, monotonic };
}

const givenUp = 'The call that needed the time was given up.';
const lastCounts = 'The last time that the clock has told counts instead.';
const unmeasured = 'No duration was measured.';

/**
 * Guards telemetry: gives `undefined` for a figure that cannot be shown, and the response shows the stored figure.
 * `onError` gets the first failure of each reader alone: a list reads a figure for each entry, and would report
 * thousands.
 *
 * @internal
 */
export function guardTelemetry(telemetry: Telemetry, onError: (error: unknown) => void): Required<Telemetry> {
  const failed = onceEach(onError);
  const read = <T>(
    name: keyof Telemetry,
    ask: () => unknown,
    figureOf: (answer: unknown) => T | undefined,
  ): T | undefined => {
    const call = `telemetry.${name}` as const;
    try {
      const answer = ask();
      const figure = answer === undefined ? undefined : figureOf(answer);
      if (figure === undefined && answer !== undefined)
        failed(wrongAnswer(call, answer, 'figures that can be shown', storedShown));
      return figure;
    } catch (cause) {
      failed(callFailed(call, cause, storedShown));
      return undefined;
    }
  };
  return {
    threads: () => read('threads', () => telemetry.threads?.(), shaped(telemetryShapes.threads)),
    tasks: () => read('tasks', () => telemetry.tasks?.(), shaped(telemetryShapes.tasks)),
    idle: (session) => read('idle', () => telemetry.idle?.(session), numberFrom),
    statistics: (session, connection) =>
      read('statistics', () => telemetry.statistics?.(session, connection), statisticsFrom),
  };
}

const storedShown = 'The response shows the stored figure.';

function numberFrom(answer: unknown): number | undefined {
  return Number.isFinite(answer) ? (answer as number) : undefined;
}

const counters = Object.keys(noStatistics) as (keyof ConnectionStatistics)[];

/** Without a shape, because a list reads the counters of each connection. */
function statisticsFrom(answer: unknown): ConnectionStatistics | undefined {
  if (!isObject(answer)) return undefined;
  const copy: Record<keyof ConnectionStatistics, number> = { ...noStatistics };
  for (const name of counters) {
    const counter = numberFrom(answer[name]);
    if (counter === undefined) return undefined;
    copy[name] = counter;
  }
  return copy;
}

function shaped<T>(shape: Parameters<typeof parseShape<T>>[0]): (answer: unknown) => T | undefined {
  return (answer) => {
    const parsed = parseShape(shape, answer);
    return parsed.ok ? parsed.value : undefined;
  };
}
