/**
 * Members: the announcements of the nodes of a fleet, and which nodes are silent.
 *
 * Each node increments a heartbeat once a second. Two measures say for how long a node was not heard:
 *
 * - The counted silence decides: a node with `leaseMs` of it is silent, and its commands are ended. An observer counts
 *   it in its own beats, and only from one beat that has reached the store to the next, so an outage of the store makes
 *   no node silent.
 * - The time since a node was heard is only shown. It goes on in an outage, by the monotonic clock of the observer.
 *
 * The times of two nodes are compared for the operator alone. Each announcement has the time of its node, and how far
 * the time of each other node seemed to be ahead when the node heard it. An announcement is old when it is heard, so
 * each clock seems further behind than it is, to both nodes alike. Half the difference of what two nodes say of each
 * other is close to the truth.
 */
import * as z from 'zod/mini';

import { milliseconds } from '../core/shape.ts';
import type { Json } from '../json/value.ts';
import type { SharedStore } from '../ports/port.ts';
import { isText } from '../runtime/host/check.ts';
import { beforeDeadline, late } from '../runtime/host/waiting.ts';
import type { GuardedClock } from '../runtime/host/guard.ts';

/** How often a node announces itself, in milliseconds. @internal */
export const beatMs = 1000;

/** The shortest time between two announcements, in milliseconds. @internal */
export const announcementMs = 200;

const shortText = z.string().check(z.maxLength(255));

const statusShape = z.object({
  beat: z.number(),
  /** The life of the process: a later process of the node has another one. */
  life: z.string(),
  version: shortText,
  /** The format of records that the node reads and writes. */
  format: z.number(),
  /** A text that all nodes know, sealed with the key of the node; left out without a key. */
  key: z.exactOptional(z.string()),
  /** The same text, hashed as the passwords of the node; left out if nobody logs in with a password. */
  hash: z.exactOptional(z.string()),
  /** After how many milliseconds of counted silence others are silent to the node. */
  leaseMs: z.number(),
  digest: z.exactOptional(z.object({ position: shortText, text: z.string() })),
  position: shortText,
  applied: shortText,
  behind: z.array(
    z.object({
      resource: z.string(),
      since: milliseconds,
      code: z.exactOptional(z.string()),
      detail: z.exactOptional(z.string()),
    }),
  ),
  /** Left out if the clock of the node fails. */
  clock: z.exactOptional(
    z.object({
      now: z.number(),
      /** By how many milliseconds each other node seemed to be ahead, by name. */
      ahead: z.record(z.string(), z.number()),
    }),
  ),
  drains: z.array(
    z.object({
      resource: z.string(),
      state: z.enum(['draining', 'drained']),
      sessions: z.number(),
      connections: z.number(),
    }),
  ),
});

/** What a node says of itself. @internal */
export type Status = z.infer<typeof statusShape>;

/** What the rest of a node says of itself. @internal */
export type OwnStatus = Omit<Status, 'beat' | 'clock'>;

/** A node, as this one knows it. @internal */
export interface Member {
  readonly status: Status;
  /** The counted silence: for how many milliseconds its beat has stood still, while this node could hear. */
  readonly silentMs: number;
  /** When its beat last moved, by the monotonic clock of this node. */
  readonly heardAt: number;
  /** By how many milliseconds its time seemed to be ahead then; `undefined` if a clock fails. */
  readonly ahead: number | undefined;
}

/** Whether a text is the name of a node. @internal */
export function isNodeName(value: unknown): value is string {
  return isText(value) && /^[A-Za-z0-9_-]{1,64}$/.test(value);
}

/** The options of {@link Members}. @internal */
export interface MembersOptions {
  readonly store: Pick<SharedStore, 'announce'>;
  /** The name of this node. */
  readonly node: string;
  readonly clock: GuardedClock;
  /** The deadline of one call to the store, in milliseconds. */
  readonly deadlineMs: number;
}

/** The nodes of a fleet, as one of them knows them. @internal */
export class Members {
  readonly #options: MembersOptions;
  readonly #node: string;
  readonly #members = new Map<string, Member>();
  /** The names of which the store has an announcement, also one that this version cannot read. */
  #announced: ReadonlySet<string> = new Set();
  /**
   * The counted silence of each node that has commands in the log and has said nothing at all, by name. Harm without
   * it: the commands of a node that the store has forgotten hold their resources for ever.
   */
  readonly #neverHeard = new Map<string, number>();
  #beat = 0;

  constructor(options: MembersOptions) {
    this.#options = options;
    this.#node = options.node;
  }

  /** The other nodes, by name. */
  get others(): ReadonlyMap<string, Member> {
    return this.#members;
  }

  /**
   * Says what this node says of itself, and hears the others.
   *
   * @param counts - whether a beat of silence is counted: the last beat has reached the store, and this is the next
   * @throws the error of the store, also if the store has not kept what this node says. From then on, nobody is silent:
   *   nobody could be heard
   */
  async announce(status: OwnStatus, counts: boolean): Promise<void> {
    this.#beat += 1;
    const said = { ...status, ...this.#clock(), beat: this.#beat } satisfies Status;
    const all = await this.#announceOwn(said).catch((error: unknown) => {
      this.forgive();
      throw error;
    });
    const names = new Set(all.keys());
    this.#announced = names;
    for (const name of this.#members.keys()) if (!names.has(name)) this.#members.delete(name);
    const countedMs = counts ? beatMs : 0;
    for (const [name, json] of all) if (name !== this.#node) this.#hear(name, json, countedMs);
    for (const [name, silentMs] of this.#neverHeard) {
      if (names.has(name)) this.#neverHeard.delete(name);
      else this.#neverHeard.set(name, silentMs + countedMs);
    }
  }

  #hear(name: string, json: Json, countedMs: number): void {
    const { success, data: status } = z.safeParse(statusShape, json);
    if (!success) {
      // A node of another version: its beat cannot be read, so it is never silent.
      this.#members.delete(name);
      return;
    }
    const before = this.#members.get(name);
    const hasMoved = before?.status.beat !== status.beat || before.status.life !== status.life;
    const { clock } = this.#options;
    const now = clock.monotonic();
    const heard = hasMoved
      ? { silentMs: 0, heardAt: now, ahead: difference(status.clock?.now, timeOf(clock)) }
      : { ...before, silentMs: before.silentMs + silenceIn(countedMs, now - before.heardAt) };
    this.#members.set(name, { ...heard, status });
  }

  /** Counts the silence of every node anew: this node could not hear the others. */
  forgive(): void {
    for (const [name, member] of this.#members) this.#members.set(name, { ...member, silentMs: 0 });
    for (const name of this.#neverHeard.keys()) this.#neverHeard.set(name, 0);
  }

  /**
   * The counted silence of a node, in milliseconds. If the store knows nothing of the node, the count begins with the
   * first question: the store may have forgotten what a living node has said.
   */
  countedSilence(node: string): number {
    const member = this.#members.get(node);
    if (member !== undefined) return member.silentMs;
    const silentMs = this.#neverHeard.get(node) ?? 0;
    this.#neverHeard.set(node, silentMs);
    return silentMs;
  }

  /** The time since a node was last heard, in milliseconds, whether this node could hear meanwhile or not. */
  sinceHeard({ heardAt }: Member): number {
    return Math.max(0, this.#options.clock.monotonic() - heardAt);
  }

  /**
   * By how many milliseconds the time of a node is ahead of the time of this one, give or take half a second;
   * `undefined` if that is not known.
   */
  aheadBy({ status: { clock }, ahead }: Member): number | undefined {
    const opposite = clock?.ahead[this.#node];
    if (ahead === undefined || opposite === undefined) return undefined;
    // A time that has not come yet is no late news: one of the two clocks is wrong.
    return Math.max(ahead, opposite) > 0 ? (ahead - opposite) / 2 : 0;
  }

  /** The time of this node, and what it thinks of the times of the others. */
  #clock(): Pick<Status, 'clock'> {
    const now = timeOf(this.#options.clock);
    if (now === undefined) return {};
    const heard = Array.from(this.#members, ([name, { ahead }]) => [name, ahead] as const);
    const ahead = Object.fromEntries(heard.filter((each): each is [string, number] => each[1] !== undefined));
    return { clock: { now, ahead } };
  }

  /** Whether the store has what a node says of itself. */
  isAnnounced(node: string): boolean {
    return this.#announced.has(node);
  }

  /** Hears every node without saying anything. */
  async hear(): Promise<ReadonlyMap<string, Status>> {
    // The name of a node has no question mark, so this takes nobody out.
    const all = await this.#announce(`${this.#node}?`, null);
    return new Map(
      Array.from(all).flatMap(([name, json]) => {
        const said = z.safeParse(statusShape, json);
        return said.success ? [[name, said.data] as const] : [];
      }),
    );
  }

  /** Takes this node, or another one, out of the fleet. */
  async remove(node = this.#node): Promise<void> {
    this.#announced = new Set((await this.#announce(node, null)).keys());
    this.#members.delete(node);
  }

  /** @throws Error if the store does not answer in time, or does not give back what this node says */
  async #announceOwn(said: Status): Promise<ReadonlyMap<string, Json>> {
    const all = await this.#announce(this.#node, said);
    const heard = z.safeParse(statusShape, all.get(this.#node));
    if (heard.success && heard.data.life === said.life) return all;
    throw new Error('The shared store does not keep what this node announces of itself.');
  }

  /** @throws Error if the store does not answer in time */
  async #announce(node: string, status: Status | null): Promise<ReadonlyMap<string, Json>> {
    const { store, clock, deadlineMs } = this.#options;
    const answer = await beforeDeadline(clock, deadlineMs, () => store.announce(node, status));
    if (answer !== late) return answer;
    throw new Error(`The shared store did not answer announce() within ${String(deadlineMs)} ms.`);
  }
}

/**
 * The silence to count for a beat. The node may have been heard after the beat before. A clock of the host may go back,
 * or fail.
 */
function silenceIn(countedMs: number, sinceHeard: number): number {
  return sinceHeard >= 0 ? Math.min(countedMs, sinceHeard) : countedMs;
}

function difference(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one - other;
}

/** The current time; `undefined` if the clock of the host fails: others must not compare a time that stands. */
function timeOf(clock: GuardedClock): number | undefined {
  try {
    return clock.read();
  } catch {
    return undefined;
  }
}
