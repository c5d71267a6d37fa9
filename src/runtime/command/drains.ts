/**
 * Deadlines of drains: what is still open is closed, or the drain ends.
 *
 * A deadline is an instant in the journal, so a drain that is due after a restart or takeover acts at once. Each node
 * of a fleet closes what is open there; the first one ends a drain, and the others find none. An interface that is
 * read-only acts too, because the command was decided before.
 */
import { accepted, firstPartOf, unchanged } from '../../core/decision.ts';
import { parseInstant } from '../../core/time.ts';
import type { Clock } from '../../ports/port.ts';
import { closeServerConnections } from '../../resources/connection.ts';
import {
  eventTable,
  namedResources,
  type AdminEvent,
  type Decision,
  type Effect,
  type Transition,
} from '../../resources/index.ts';
import { closeServiceSessions } from '../../resources/session.ts';
import { leftToClose, type AnyDrain, type Drainable } from '../../resources/shared/drain.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { drainingIn, find, linkOf, type DrainingResource } from '../../snapshot/state.ts';
import type { Execution } from './execution.ts';
import { backoff, type Pauses } from '../host/backoff.ts';

/** The longest time between two looks at the clock, which can jump, in milliseconds. */
const lookMs = 1000;

/** The pauses between the tries of a deadline. */
const tryPauses: Pauses = { firstMs: 1000, longestMs: 60_000 };

interface DrainsOptions {
  readonly snapshot: () => Snapshot;
  readonly execute: (transition: Transition, actor: string | undefined) => Promise<Execution>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** A drain with a deadline. */
interface Due {
  readonly place: DrainingResource;
  readonly drain: AnyDrain;
  /** The deadline, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly until: number;
}

/** What deadlines depend on. */
type Shown = Pick<Snapshot, 'draining'> & Partial<Pick<Snapshot, 'services' | 'servers'>>;

/** Acts at the deadlines of drains. @internal */
export class Drains {
  readonly #options: DrainsOptions;
  /** The drains on which this interface acts at the moment, each with why the last try has failed. */
  readonly #acting = new Map<string, readonly string[]>();
  readonly #closed = new AbortController();
  /** Gives why the last try of a deadline has failed; empty if it has not. */
  readonly failuresOf = (place: Due['place']): readonly string[] => this.#acting.get(nameOf(place)) ?? [];
  #wake = new AbortController();
  /** What was shown at the last look; `undefined` before the interface is open. */
  #shown: Shown | undefined;
  #isRunning = false;

  constructor(options: DrainsOptions) {
    this.#options = options;
  }

  /** The interface is open. */
  begin(): void {
    this.#shown = { draining: 0 };
    this.look();
  }

  close(): void {
    this.#closed.abort();
    this.#wake.abort();
  }

  /** Looks after a change, and from then on once a second until the last deadline. */
  look(): void {
    if (this.#shown === undefined) return;
    const { draining, services, servers } = this.#options.snapshot();
    const { draining: before, ...others } = this.#shown;
    // A new deadline is in the settings, and leaves the list of what drains as it is.
    const isOther = draining > 0 && (services !== others.services || servers !== others.servers);
    if (draining === before && !isOther) return;
    this.#shown = { draining, services, servers };
    this.#lookAgain();
  }

  #lookAgain(): void {
    this.#wake.abort();
    if (this.#isRunning || this.#shown?.draining === 0 || this.#closed.signal.aborted) return;
    this.#isRunning = true;
    this.#run().catch(this.#options.onError);
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    try {
      while (!this.#closed.signal.aborted) {
        this.#wake = new AbortController();
        const next = this.#actOnAll();
        if (next === Infinity) return;
        await clock.sleep(Math.min(lookMs, next), this.#wake.signal, { keepAlive: false });
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Acts on each drain that is due. Returns the milliseconds until the next look, or `Infinity`. */
  #actOnAll(): number {
    try {
      return Math.min(...this.#deadlines().map((due) => this.#actIfDue(due)));
    } catch (error) {
      // The clock of the host fails. A later look finds the time again.
      this.#options.onError(error);
      return lookMs;
    }
  }

  /** Begins to act on a drain that is due. Gives the milliseconds until the deadline; `Infinity` after the deadline. */
  #actIfDue(due: Due): number {
    const left = due.until - this.#options.clock.now();
    if (left > 0) return left;
    const name = nameOf(due.place);
    if (!this.#acting.has(name) && hasWork(due, this.#options.snapshot())) {
      this.#acting.set(name, []);
      void this.#act(due).finally(() => {
        this.#acting.delete(name);
        this.#lookAgain();
      });
    }
    return Infinity;
  }

  /** Acts until nothing is left to do. A try that fails is made again. */
  async #act(due: Due): Promise<void> {
    const { execute, clock, onError, snapshot } = this.#options;
    const { signal } = this.#closed;
    let pauses = backoff(tryPauses);
    while (!signal.aborted && hasWork(due, snapshot())) {
      const execution = await execute(atDeadline(due), due.drain.by).catch((error: unknown) => {
        onError(error);
        return undefined;
      });
      const isFailed = execution !== undefined && 'problem' in execution;
      this.#acting.set(nameOf(due.place), isFailed ? [execution.problem.detail] : []);
      if (execution?.outcome === 'accepted') pauses = backoff(tryPauses);
      else await clock.sleep(pauses.next().value, signal, { keepAlive: false });
    }
  }

  #deadlines(): readonly Due[] {
    const snapshot = this.#options.snapshot();
    return drainingIn(snapshot).flatMap((place) => {
      const drain = thingAt(place, snapshot)?.settings.drain;
      const until = drain?.until === undefined ? undefined : parseInstant(drain.until);
      return drain === undefined || until === undefined ? [] : [{ place, drain, until }];
    });
  }
}

function nameOf({ collection, key }: Due['place']): string {
  return `${collection}/${key}`;
}

function thingAt({ collection, key }: Due['place'], snapshot: Snapshot): Drainable | undefined {
  return find<Drainable>(snapshot, { collection }, key);
}

/** Whether a resource still has the drain of an earlier look, with the same deadline. */
function isSame(now: AnyDrain | undefined, { since, until, then }: AnyDrain): boolean {
  return now?.since === since && now.until === until && now.then === then;
}

/**
 * Whether the deadline of a drain has something to do: the drain is still there, and ends or has something to close.
 */
function hasWork({ place, drain }: Due, snapshot: Snapshot): boolean {
  if (!isSame(thingAt(place, snapshot)?.settings.drain, drain)) return false;
  return drain.then === 'resume' || leftToClose(snapshot, place) > 0;
}

/**
 * The command of a deadline. It closes at most one batch, and rests on the service or server too: an end of the drain
 * comes before or after, never in between.
 */
function atDeadline({ place, drain }: Due): Transition {
  return (snapshot, context): Decision => {
    const thing = thingAt(place, snapshot);
    if (thing === undefined) return unchanged(snapshot, []);
    const link = linkOf(place.collection, thing);
    if (!isSame(thing.settings.drain, drain)) return unchanged(snapshot, [link]);
    if (drain.then === 'resume') {
      const named = namedResources.find(({ collection }) => collection === place.collection);
      return named?.draining?.end(snapshot, thing as never, context) as Decision;
    }
    const close = place.collection === 'services' ? closeServiceSessions : closeServerConnections;
    const whole = close(snapshot, thing.name, context);
    if (whole.outcome !== 'accepted') return unchanged(snapshot, [link]);
    const batch = firstPartOf<AdminEvent, Effect>(whole);
    return accepted(eventTable, snapshot, [link, ...whole.resources], batch);
  };
}
