/**
 * Deadlines of drains: what is still open is closed, or the drain ends.
 *
 * A deadline is an instant in the journal, so a drain that is due after a restart or takeover acts at once. Each node
 * of a fleet closes what is open there; the first one ends a drain, and the others find none. An interface that is
 * read-only acts too, because the command was decided before.
 */
import { accepted, unchanged } from '../../core/decision.ts';
import { parseInstant } from '../../core/time.ts';
import { closeServerConnections } from '../../resources/connection.ts';
import {
  closings,
  eventTable,
  namedResources,
  type Decision,
  type Transition,
} from '../../resources/index.ts';
import { closeServiceSessions } from '../../resources/session.ts';
import { leftToClose, type AnyDrain, type Drainable } from '../../resources/shared/drain.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { drainingIn, find, linkOf, type DrainingResource } from '../../snapshot/state.ts';
import type { Audit } from '../audit/audit.ts';
import type { Ground } from '../ground.ts';
import type { Writer } from './writer.ts';
import { backoff, tryPauses } from '../host/waiting.ts';

/** The longest time between two looks at the clock, which can jump, in milliseconds. */
const lookMs = 1000;

/** Why a pause ends early. A text, because the default reason is an error, which records a stack each time. */
const ended = 'ended';

/** What drains need of a running interface. */
interface DrainParts extends Ground {
  readonly writer: Writer;
  readonly audit: Audit;
}

/** A drain with a deadline. */
interface Due {
  readonly place: DrainingResource;
  readonly drain: AnyDrain;
  /** The deadline, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly until: number;
}

/** Acts at the deadlines of drains. @internal */
export class Drains {
  readonly #parts: DrainParts;
  /** The drains with a deadline, as of the last look; also one that has ended since, until the next second. */
  readonly #dues = new Map<string, Due>();
  /** The drains on which this interface acts at the moment, each with why the last try has failed. */
  readonly #acting = new Map<string, readonly string[]>();
  readonly #closed = new AbortController();
  /** Gives why the last try of a deadline has failed; empty if it has not. */
  readonly failuresOf = (place: Due['place']): readonly string[] => this.#acting.get(nameOf(place)) ?? [];
  /** Ends the present pause. */
  #wake = new AbortController();
  /** The deadline for which the present pause ends in time; `Infinity` without a pause. */
  #next = Infinity;
  #isOpen = false;
  #isRunning = false;

  constructor(parts: DrainParts) {
    this.#parts = parts;
  }

  /** The interface is open. */
  begin(): void {
    this.#isOpen = true;
    this.look(drainingIn(this.#parts.writer.snapshot));
  }

  close(): void {
    this.#closed.abort(ended);
    this.#wake.abort(ended);
  }

  /** Looks at the deadlines of what a change has changed, and from then on once a second at every deadline. */
  look(changed: readonly DrainingResource[]): void {
    if (!this.#isOpen || this.#closed.signal.aborted) return;
    const dues = changed.flatMap((place) => this.#dueAt(place) ?? []);
    if (dues.length === 0) return;
    if (this.#actOn(dues, this.#parts.clock.now()) >= this.#next) return;
    this.#wake.abort(ended);
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#run().catch(this.#parts.onError);
  }

  /** Finds the deadline of a resource, which may be another one than before. */
  #dueAt(place: DrainingResource): Due | undefined {
    const name = nameOf(place);
    const known = this.#dues.get(name);
    const drain = thingAt(place, this.#parts.writer.snapshot)?.settings.drain;
    if (drain !== undefined && known?.drain === drain) return known;
    const until = drain?.until === undefined ? undefined : parseInstant(drain.until);
    if (drain === undefined || until === undefined) this.#dues.delete(name);
    else this.#dues.set(name, { place, drain, until });
    return this.#dues.get(name);
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts;
    try {
      while (!this.#closed.signal.aborted) {
        this.#wake = new AbortController();
        this.#forgetEnded();
        const now = clock.now();
        this.#next = this.#actOn(this.#dues.values(), now);
        if (this.#next === Infinity) return;
        const pauseMs = Math.min(lookMs, this.#next - now);
        await clock.sleep(pauseMs, this.#wake.signal, { keepAlive: false });
      }
    } finally {
      this.#isRunning = false;
      this.#next = Infinity;
    }
  }

  #forgetEnded(): void {
    const snapshot = this.#parts.writer.snapshot;
    for (const [name, { place, drain }] of this.#dues)
      if (!isSame(thingAt(place, snapshot)?.settings.drain, drain)) this.#dues.delete(name);
  }

  /** Begins to act on each drain that is due. Gives the next deadline, or `Infinity`. */
  #actOn(dues: Iterable<Due>, now: number): number {
    let next = Infinity;
    for (const due of dues)
      if (due.until > now) next = Math.min(next, due.until);
      else this.#beginToAct(due);
    return next;
  }

  #beginToAct(due: Due): void {
    const name = nameOf(due.place);
    if (this.#acting.has(name) || !hasWork(due, this.#parts.writer.snapshot)) return;
    this.#acting.set(name, []);
    void this.#act(due).finally(() => {
      this.#acting.delete(name);
      this.look([due.place]);
    });
  }

  /** Acts until nothing is left to do. A try that fails is made again. */
  async #act(due: Due): Promise<void> {
    const { writer, audit, clock, onError } = this.#parts;
    const { signal } = this.#closed;
    let pauses = backoff(tryPauses);
    while (!signal.aborted && hasWork(due, writer.snapshot)) {
      const { by } = due.drain;
      const command = { transition: atDeadline(due), ...(by === undefined ? {} : { actor: by }) };
      const execution = await audit
        .execute(command, (request) => writer.execute(request))
        .catch((error: unknown) => {
          onError(error);
          return undefined;
        });
      const isFailed = execution !== undefined && 'problem' in execution;
      this.#acting.set(nameOf(due.place), isFailed ? [execution.problem.detail] : []);
      if (execution?.outcome === 'accepted') pauses = backoff(tryPauses);
      else await clock.sleep(pauses.next().value, signal, { keepAlive: false });
    }
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
    const closing = whole.outcome === 'accepted' ? whole.closing : undefined;
    const look = { decided: snapshot, present: snapshot };
    const batch = closing && closings[closing.what].batchAt(0, closing, look);
    if (batch === undefined) return unchanged(snapshot, [link]);
    const change = { events: [batch] };
    return accepted(eventTable, snapshot, [link, ...whole.resources], change);
  };
}
