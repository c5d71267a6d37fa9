/**
 * The keeper of a kind: has a gateway brought to what is wanted, one call at a time for each resource, and knows how
 * far that has come. What has failed is put back; what cannot start, or be put back, is tried again.
 */
import { EffectRefusedError, isEffectRefusal } from '../ports/port-error.ts';
import type { Clock } from '../ports/port.ts';
import { quoted } from '../problem.ts';
import {
  deedOf,
  membersBetween,
  type AnySeen,
  type AnyWanted,
  type KindForm,
  type ResourceEffect,
} from './kind-form.ts';

/** The options of a kind, without types. @internal */
export interface AnyKindOptions {
  readonly fields: readonly string[];
  /** The fields of listeners that the gateway uses; services alone have listeners. */
  readonly listenerFields?: readonly string[];
  readonly apply: (wanted: AnyWanted | undefined, change: object) => unknown;
  readonly read: (key: string, applied: AnySeen | undefined) => unknown;
  readonly refuse?: (wanted: AnyWanted, before: AnyWanted | undefined) => string | undefined;
}

/** What is around a keeper. @internal */
export interface Surroundings {
  readonly clock: Clock;
  /** Gives what is wanted of a resource, by the snapshot. */
  readonly wantedOf: (key: string) => AnyWanted | undefined;
  /** Why the gateway cannot have a resource as the snapshot wants it, in a sentence. */
  readonly unusableFor: (key: string) => string | undefined;
  /** Whether a command in flight has the resource: the snapshot does not show yet what it wants. */
  readonly isHeld: (key: string) => boolean;
  /** Tells the interface that a resource has failed to start, and why; without a reason, that it has started. */
  readonly report: (key: string, reason?: string) => void;
  readonly onError: (error: unknown) => void;
}

/** A change of one resource. @internal */
export interface Change {
  readonly key: string;
  readonly wanted: AnyWanted | undefined;
  /** What the resource is put back to if that fails. */
  readonly base: AnyWanted | undefined;
  /** Whether the change starts the resource. */
  readonly starts: boolean;
  /** Why the gateway cannot have what was there started, in a sentence: it is shown as failed again. */
  readonly objection: () => string | undefined;
  readonly signal: AbortSignal;
  /** Called when the change is made, also if nobody waits for it any more. */
  readonly onMade: () => void;
}

/** What is tried again. */
interface Trial {
  /** `whole`: to bring a resource to what is wanted, from an unknown state. `start`: only its start is missing. */
  what: 'whole' | 'start';
  /** What the resource is put back to while the command that has failed is in flight. */
  base: AnyWanted | undefined;
  /** Why the resource is not as wanted; of a start, the interface shows that. */
  failure?: Failure;
  readonly end: AbortController;
}

/** A failure, and since when. */
interface Failure {
  readonly since: number;
  readonly reason: string;
}

/** How long an `apply` may go on after its signal has aborted, in milliseconds. */
const patienceMs = 1000;

/** The time limit of an `apply` that no command waits for, in milliseconds. */
const ownDeadlineMs = 10_000;

/** The pauses before something is tried again, in milliseconds: after a change of it, and without one. */
const pauses = { shortest: 100, first: 1000, longest: 30_000 };

/** Keeps the resources of a kind. @internal */
export class Keeper {
  readonly form: KindForm;
  readonly #options: AnyKindOptions;
  readonly #around: Surroundings;
  /** What `apply` has last resolved for. Has no resource that is gone or in an unknown state. */
  readonly #known = new Map<string, AnyWanted>();
  /** The last call in turn for each resource. */
  readonly #work = new Map<string, Promise<void>>();
  readonly #trials = new Map<string, Trial>();
  /** What the interface shows as failed because of this keeper, with the reason. */
  readonly #failed = new Map<string, string>();
  /** The resources that commands have changed. `open` leaves them alone: it would undo the command. */
  readonly #changed = new Set<string>();
  /** The deadlines of what no command waits for. */
  readonly #deadlines = new Set<AbortController>();
  #hasEnded = false;

  constructor(form: KindForm, options: AnyKindOptions, around: Surroundings) {
    this.form = form;
    this.#options = options;
    this.#around = around;
  }

  /** Why the gateway cannot have a resource, in a sentence. */
  refusalOf(wanted: AnyWanted, before: AnyWanted | undefined): string | undefined {
    const reason: unknown = this.#options.refuse?.(wanted, before);
    if (reason === undefined || (typeof reason === 'string' && reason !== '')) return reason;
    // A promise must not end the process.
    Promise.resolve(reason).catch(() => undefined);
    throw new TypeError(`${this.form.kind}s.refuse must answer undefined, or a sentence, and at once.`);
  }

  /** The resources that could not be brought to what is wanted, each with the first failure, by key. */
  get failures(): ReadonlyMap<string, Failure> {
    return new Map([...this.#trials].flatMap(([key, { failure }]) => (failure ? [[key, failure]] : [])));
  }

  /** Brings a resource to what the snapshot wants. What fails is tried again. */
  async open(key: string): Promise<void> {
    const { clock, wantedOf, onError } = this.#around;
    const ended = new AbortController();
    const opened = this.#inTurn(key, async () => {
      if (this.#changed.has(key)) return;
      const wanted = wantedOf(key);
      const reason = wanted?.['state'] === 'started' ? undefined : this.#unusable(key);
      // Only what starts can be shown as failed.
      if (reason !== undefined) onError(new Error(`The ${this.form.kind} ${quoted(key)}: ${reason}`));
      await this.#bringWhole(key, wanted);
    }).finally(() => {
      ended.abort();
    });
    const late = clock.sleep(2 * ownDeadlineMs + patienceMs, ended.signal).then(() => {
      if (!ended.signal.aborted) onError(new ApplyUnsettledError(`${this.form.kind}s.apply or read`, key));
    });
    await Promise.race([opened, late]);
  }

  /** Changes a resource. Rejects if it is as before, or is not known; `inspect` then says which. */
  change(change: Change): Promise<void> {
    const { key, signal } = change;
    if (this.#hasEnded) return Promise.reject(new EffectRefusedError('The gateway is closed.'));
    this.#changed.add(key);
    return new Promise((resolve, reject) => {
      const work = (): Promise<void> => {
        const changed = this.#change(change);
        changed.then(resolve, reject);
        return changed;
      };
      this.#inTurn(key, work).catch(() => undefined);
      void this.#patience(signal).then(() => {
        reject(new ApplyUnsettledError(this.#nameOf('apply'), key));
      });
    });
  }

  /**
   * Whether an effect is in place.
   *
   * @throws Error while the state of the resource is unknown
   */
  async isInPlace(effect: ResourceEffect, key: string): Promise<boolean> {
    this.#assertKnown(key);
    const deed = deedOf(effect);
    // What is tried is wanted, and can be there at any time.
    if (this.#trials.has(key) && (deed === 'start' || deed === 'stop')) return deed === 'start';
    const known = this.#known.get(key);
    const seen = await this.#read(key, known);
    // A change may have begun meanwhile.
    this.#assertKnown(key);
    return this.form.isInPlace(effect, known, seen);
  }

  /** Ends all trials. Resolves when nothing asks the gateway any more, or a second later. */
  async dispose(): Promise<void> {
    for (const { end } of this.#trials.values()) end.abort();
    this.#trials.clear();
    this.#hasEnded = true;
    const reason = new Error('The gateway is being closed.');
    for (const deadline of this.#deadlines) deadline.abort(reason);
    const ended = new AbortController();
    const late = this.#around.clock.sleep(patienceMs, ended.signal);
    await Promise.race([Promise.all(this.#work.values()), late]);
    ended.abort();
  }

  #assertKnown(key: string): void {
    if (!this.#work.has(key) && this.#trials.get(key)?.what !== 'whole') return;
    throw new Error(`${this.#nameOf('apply')} has not settled "${key}" yet, so its state is unknown.`);
  }

  async #change({ key, wanted, base, starts, objection, signal, onMade }: Change): Promise<void> {
    if (signal.aborted) throw new EffectRefusedError('The deadline has passed before the gateway was asked.');
    const failure = this.#asked(objection);
    const isTried = failure !== undefined || this.#trials.get(key)?.what === 'start';
    // A service that cannot start keeps the rest of its settings, and is tried with the new ones.
    const held = (goal: AnyWanted | undefined): AnyWanted | undefined => (isTried ? stopped(goal) : goal);
    try {
      const goal = starts && failure === undefined ? wanted : held(wanted);
      await this.#bring(key, goal, signal);
      if (failure !== undefined) {
        this.#tellFailed(key, failure);
        this.#try(key, 'start', wanted);
      } else if (goal === wanted) this.#endTrial(key, wanted);
      else this.#trySoon(key);
      onMade();
    } catch (error) {
      throw (await this.#putBack(key, base, held(base))) ? asRefusal(error) : unclear(key, error);
    }
  }

  /** Brings a resource back, as far as that goes. If that fails too, goes on with that, and gives `false`. */
  async #putBack(key: string, base: AnyWanted | undefined, goal: AnyWanted | undefined): Promise<boolean> {
    try {
      await this.#inTime((signal) => this.#bring(key, goal, signal));
      if (goal === base) this.#endTrial(key, base);
      return true;
    } catch (error) {
      this.#around.onError(error);
      this.#try(key, 'whole', base, error);
      return false;
    }
  }

  /** Brings a resource to what is wanted, stopped if it cannot start. */
  async #bringWhole(key: string, wanted: AnyWanted | undefined): Promise<void> {
    const { onError } = this.#around;
    try {
      const reason = wanted?.['state'] === 'started' ? this.#unusable(key) : undefined;
      if (reason !== undefined) throw new EffectRefusedError(reason);
      await this.#inTime((signal) => this.#bring(key, wanted, signal));
      this.#endTrial(key, wanted);
    } catch (error) {
      // A gateway that is being closed has not failed.
      if (this.#hasEnded) return;
      const stop = stopped(wanted);
      if (stop === wanted) {
        onError(error);
        this.#try(key, 'whole', wanted, error);
        return;
      }
      this.#tellFailed(key, reasonOf(error, onError));
      try {
        await this.#inTime((signal) => this.#bring(key, stop, signal));
        this.#try(key, 'start', wanted);
      } catch (second) {
        onError(second);
        this.#try(key, 'whole', wanted, second);
      }
    }
  }

  /** Tells the interface why a resource does not start, and the log once for each reason. */
  #tellFailed(key: string, reason: string): void {
    const { report, onError } = this.#around;
    report(key, reason);
    if (this.#failed.get(key) !== reason)
      onError(new Error(`The ${this.form.kind} ${quoted(key)} has failed: ${reason}`));
    this.#failed.set(key, reason);
  }

  /** Why the gateway cannot have a resource. */
  #unusable(key: string): string | undefined {
    return this.#asked(() => this.#around.unusableFor(key));
  }

  /** Asks a rule of the gateway. A rule that throws refuses nothing here. */
  #asked(objection: () => string | undefined): string | undefined {
    try {
      return objection();
    } catch (error) {
      this.#around.onError(error);
      return undefined;
    }
  }

  /** Has the gateway do something, and looks whether it has. */
  async #bring(key: string, wanted: AnyWanted | undefined, signal: AbortSignal): Promise<void> {
    const before = this.#known.get(key);
    this.#known.delete(key);
    await this.#options.apply(wanted, { key, before, members: membersBetween(before, wanted), signal });
    const difference = this.form.differenceOf(wanted, await this.#read(key, wanted));
    if (difference !== undefined)
      throw new Error(
        `${this.#nameOf('apply')} has resolved for "${key}", but ${this.#nameOf('read')} says: ${difference}`,
      );
    if (wanted !== undefined) this.#known.set(key, wanted);
  }

  async #read(key: string, wanted: AnyWanted | undefined): Promise<AnySeen | undefined> {
    return (await this.#options.read(key, wanted && this.form.seenOf(wanted))) as AnySeen | undefined;
  }

  #nameOf(member: 'apply' | 'read'): string {
    return `${this.form.kind}s.${member}`;
  }

  #try(key: string, what: Trial['what'], base: AnyWanted | undefined, error?: unknown): void {
    if (this.#hasEnded) return;
    const running = this.#trials.get(key);
    const reason =
      isOfSystem(error) || isEffectRefusal(error) ? error.message : 'The log of the gateway says why';
    const since = running?.failure?.since ?? this.#around.clock.now();
    const failure = what === 'whole' ? { since, reason } : undefined;
    if (running !== undefined) {
      Object.assign(running, { what, base, failure });
      return;
    }
    const trial: Trial = { what, base, end: new AbortController(), ...(failure && { failure }) };
    this.#trials.set(key, trial);
    void this.#goOn(key, trial, pauses.first);
  }

  /** Tries what cannot start sooner: it was changed, and the change may help. */
  #trySoon(key: string): void {
    const running = this.#trials.get(key);
    if (running === undefined) return;
    running.end.abort();
    const trial = { ...running, end: new AbortController() };
    this.#trials.set(key, trial);
    void this.#goOn(key, trial, pauses.shortest);
  }

  async #goOn(key: string, trial: Trial, first: number): Promise<void> {
    const { clock, onError } = this.#around;
    const end = trial.end.signal;
    for (let pause = first; ; pause = Math.min(2 * pause, pauses.longest)) {
      await clock.sleep(pause, end, { keepAlive: false });
      if (end.aborted) return;
      await this.#inTurn(key, () => this.#tryAgain(key, trial)).catch(onError);
    }
  }

  /** A command goes first, and its settlement: only then the snapshot shows what is wanted. */
  async #tryAgain(key: string, { what, base, end }: Trial): Promise<void> {
    const { isHeld, wantedOf } = this.#around;
    if (end.signal.aborted || this.#hasEnded) return;
    if (!isHeld(key)) await this.#bringWhole(key, wantedOf(key));
    else if (what === 'whole') await this.#bringWhole(key, base);
  }

  /** A resource is as wanted: nothing is tried any more. */
  #endTrial(key: string, wanted: AnyWanted | undefined): void {
    this.#trials.get(key)?.end.abort();
    this.#trials.delete(key);
    if (wanted?.['state'] === 'started' && this.#failed.delete(key)) this.#around.report(key);
  }

  /** Does one work at a time for each resource. */
  #inTurn(key: string, work: () => Promise<void>): Promise<void> {
    const result = (this.#work.get(key) ?? Promise.resolve()).then(work);
    const done = result
      .catch(() => undefined)
      .then(() => {
        if (this.#work.get(key) === done) this.#work.delete(key);
      });
    this.#work.set(key, done);
    return result;
  }

  /** Resolves a while after a signal has aborted. */
  async #patience(signal: AbortSignal): Promise<void> {
    if (!signal.aborted)
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve, { once: true });
      });
    await this.#around.clock.sleep(patienceMs, undefined, { keepAlive: false });
  }

  /** Does what no command waits for, with a time limit. */
  async #inTime(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#hasEnded) throw new EffectRefusedError('The gateway is closed.');
    const [deadline, end] = [new AbortController(), new AbortController()];
    this.#deadlines.add(deadline);
    const late = new Error(`The gateway has not done it within ${String(ownDeadlineMs)} ms.`);
    void this.#around.clock.sleep(ownDeadlineMs, end.signal).then(() => {
      if (!end.signal.aborted) deadline.abort(late);
    });
    try {
      await work(deadline.signal);
    } finally {
      end.abort();
      this.#deadlines.delete(deadline);
    }
  }
}

/** The error of an `apply` of the gateway that has not settled although its signal has aborted. */
class ApplyUnsettledError extends Error {
  readonly code = 'apply-unsettled';

  constructor(call: string, key: string) {
    super(`${call} must settle when its signal aborts, but has not for "${key}" within a second.`);
    this.name = 'ApplyUnsettledError';
  }
}

/** A resource that is stopped; the same if it has no state, or is stopped already. */
function stopped(wanted: AnyWanted | undefined): AnyWanted | undefined {
  return wanted?.['state'] === 'started' ? Object.freeze({ ...wanted, state: 'stopped' }) : wanted;
}

/** The error that the interface gets: the client gets the words of what the system or the gateway has refused. */
function asRefusal(error: unknown): unknown {
  return isOfSystem(error) ? new EffectRefusedError(`${error.message}.`) : error;
}

/** The error of a change that has failed and is not put back. */
function unclear(key: string, cause: unknown): Error {
  return new Error(`The change of "${key}" has failed, and so has the way back, which is tried again.`, {
    cause,
  });
}

/** Why something does not start, for an operator. */
function reasonOf(error: unknown, onError: (error: unknown) => void): string {
  if (isOfSystem(error) || isEffectRefusal(error)) return error.message;
  onError(error);
  return 'The gateway cannot start it. The log of the gateway says why.';
}

function isOfSystem(error: unknown): error is Error {
  if (typeof error !== 'object' || error === null || !('syscall' in error)) return false;
  const { message } = error as Partial<Error>;
  return typeof message === 'string' && message !== '';
}
