/**
 * Members: the announcements of the nodes of a fleet, and which nodes are silent.
 *
 * Each node increments a heartbeat once a second. A node whose heartbeat has not changed for `leaseMs` counts as dead.
 * A second counts only if the observer itself has reached the store, so an outage of the store makes no node dead. Each
 * node measures silence with its own monotonic clock.
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
import { beforeDeadline, late } from '../runtime/host/waiting.ts';
import type { GuardedClock } from '../runtime/host/guard.ts';

/** How often a node announces itself, in milliseconds. @internal */
export const beatMs = 1000;

/** The shortest time between two announcements, in milliseconds. @internal */
export const announcementMs = 200;

const shortText = z.string().check(z.maxLength(255));

const statusShape = z.object({
  beat: z.number(),
  boot: z.string(),
  version: shortText,
  /** The format of records that the node reads and writes. */
  format: z.number(),
  /** A text that all nodes know, sealed with the key of the node; left out without a key. */
  key: z.exactOptional(z.string()),
  /** The same text, hashed as the passwords of the node; left out if nobody logs in with a password. */
  hash: z.exactOptional(z.string()),
  /** After how many milliseconds of silence the node takes others for dead. */
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
  /** For how many milliseconds its beat has stood still, while this node could hear. */
  readonly silentMs: number;
  /** When its beat last moved, by the monotonic clock of this node. */
  readonly heardAt: number;
  /** By how many milliseconds its time seemed to be ahead then; `undefined` if a clock fails. */
  readonly ahead: number | undefined;
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
  /** For how many milliseconds a node that has commands in the log has said nothing at all, by name. */
  readonly #unheard = new Map<string, number>();
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
   * @param elapsedMs - the time since the last call; 0 if the store was out of reach in between
   * @throws the error of the store, also if the store has not kept what this node says. From then on, nobody is silent:
   *   nobody could be heard
   */
  async announce(status: OwnStatus, elapsedMs: number): Promise<void> {
    this.#beat += 1;
    const said = { ...status, ...this.#clock(), beat: this.#beat } satisfies Status;
    const all = await this.#announceOwn(said).catch((error: unknown) => {
      this.forgive();
      throw error;
    });
    const names = new Set(all.keys());
    this.#announced = names;
    for (const name of this.#members.keys()) if (!names.has(name)) this.#members.delete(name);
    for (const [name, json] of all) if (name !== this.#node) this.#hear(name, json, elapsedMs);
    for (const [name, silentMs] of this.#unheard) {
      if (names.has(name)) this.#unheard.delete(name);
      else this.#unheard.set(name, silentMs + elapsedMs);
    }
  }

  #hear(name: string, json: Json, elapsedMs: number): void {
    const { success, data: status } = z.safeParse(statusShape, json);
    if (!success) {
      // A node of another version: its beat cannot be read, so it is never taken for dead.
      this.#members.delete(name);
      return;
    }
    const before = this.#members.get(name);
    const hasMoved = before?.status.beat !== status.beat || before.status.boot !== status.boot;
    const { clock } = this.#options;
    const now = clock.monotonic();
    const heard = hasMoved
      ? { silentMs: 0, heardAt: now, ahead: difference(status.clock?.now, timeOf(clock)) }
      : { ...before, silentMs: before.silentMs + silenceIn(elapsedMs, now - before.heardAt) };
    this.#members.set(name, { ...heard, status });
  }

  /** Counts the silence of every node anew: this node could not hear the others. */
  forgive(): void {
    for (const [name, member] of this.#members) this.#members.set(name, { ...member, silentMs: 0 });
    for (const name of this.#unheard.keys()) this.#unheard.set(name, 0);
  }

  /**
   * For how long a node has been silent. A node of which the store knows nothing is silent from the first question on:
   * the store may have forgotten what a living node has said.
   */
  silenceOf(node: string): number {
    const member = this.#members.get(node);
    if (member !== undefined) return member.silentMs;
    const silentMs = this.#unheard.get(node) ?? 0;
    this.#unheard.set(node, silentMs);
    return silentMs;
  }

  /** The time since a node was last heard, in milliseconds, whether this node could hear meanwhile or not. */
  unseenFor({ heardAt }: Member): number {
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
    if (heard.success && heard.data.boot === said.boot) return all;
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
 * The silence since the last beat. The node may have been heard after that beat. A clock of the host may go back, or
 * fail.
 */
function silenceIn(elapsedMs: number, sinceHeard: number): number {
  return sinceHeard >= 0 ? Math.min(elapsedMs, sinceHeard) : elapsedMs;
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
