/**
 * The announcer: announces a node in the shared store, once a second and when other nodes may wait for news. The
 * operator gets an error if the announcements fail.
 */
import type { Clock } from '../ports/port.ts';
import type { StoreFailure } from '../resources/fleet.ts';
import type { Refusal } from '../runtime/command/execution.ts';
import { causeText } from '../runtime/host/host-error.ts';
import { LastingFailure } from './lasting-failure.ts';
import { announcementMs, beatMs, type Members, type OwnStatus } from './members.ts';
import { cannotAnnounce } from './refusal.ts';

/** The options of {@link Announcer}. @internal */
export interface AnnouncerOptions {
  readonly members: Members;
  /** The name of this node. */
  readonly node: string;
  readonly leaseMs: number;
  readonly clock: Required<Clock>;
  /** What this node says of itself now. */
  readonly status: () => OwnStatus;
  /** Whether the store answers the calls for the log. */
  readonly canRead: () => boolean;
  /** Aborts when this node says nothing any more. */
  readonly closed: AbortSignal;
  /** Gets what the operator must know. Never throws. */
  readonly onError: (error: unknown) => void;
}

/** Announces one node. @internal */
export class Announcer {
  readonly #options: AnnouncerOptions;
  /** When this node was last announced, by the monotonic clock. */
  #announcedAt = 0;
  /** Whether the last beat has reached the store. */
  #hasBeat = false;
  /** Whether the log was read since the last beat that failed: a store that hangs is no outage before its deadline. */
  #hasRead = false;
  readonly #failure: LastingFailure;
  #willAnnounce = false;
  /** The announcement beside the beats that is on its way. */
  #announcing: Promise<void> | undefined;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
    this.#failure = new LastingFailure(options);
  }

  /** How announcements fail, if they fail again and again while the log can be read. */
  get failure(): StoreFailure | undefined {
    return this.#failure.found;
  }

  /**
   * Announces this node for the first time.
   *
   * @throws the error of the store
   */
  async begin(): Promise<void> {
    await this.#announce(false);
  }

  /** The refusal of commands while the others cannot hear this node: they would end its commands. */
  refusal(): Refusal | undefined {
    const { clock, leaseMs, closed } = this.#options;
    const silentMs = clock.monotonic() - this.#announcedAt;
    // A node that says nothing any more refuses commands for a reason of its own.
    return silentMs < leaseMs || closed.aborted ? undefined : cannotAnnounce(beatMs);
  }

  /**
   * Announces this node with the next beat, and hears the others.
   *
   * @returns whether the store has answered
   */
  async beat(): Promise<boolean> {
    const { members, canRead } = this.#options;
    // A node can be silent only while this one can read.
    if (!canRead()) members.forgive();
    try {
      await this.#announce(this.#hasBeat && canRead());
    } catch (error) {
      this.#hasBeat = false;
      this.#tellUnheard(error);
      return false;
    }
    this.#hasBeat = true;
    this.#failure.over();
    return true;
  }

  /** @param counts - see {@link Members.announce} */
  async #announce(counts: boolean): Promise<void> {
    const { members, status, clock } = this.#options;
    // Before the call: the store may have kept the announcement long before it answers.
    const now = clock.monotonic();
    await members.announce(status(), counts);
    this.#announcedAt = now;
  }

  /** Announces this node beside the beats, which alone count the seconds of silence. Never rejects. */
  async announce(): Promise<void> {
    const { closed } = this.#options;
    // A closed node must not come back into the list.
    if (closed.aborted) return;
    // One at a time, however many requests wait. The beat tells of a store that does not answer.
    this.#announcing ??= this.#announce(false)
      .catch(() => undefined)
      .finally(() => (this.#announcing = undefined));
    await this.#announcing;
  }

  /** Announces this node before the next beat: others may wait for what it has read or followed. */
  announceSoon(): void {
    if (this.#willAnnounce) return;
    this.#willAnnounce = true;
    const { clock, closed } = this.#options;
    void clock.sleep(announcementMs, closed, { keepAlive: false }).then(() => {
      this.#willAnnounce = false;
      return this.announce();
    });
  }

  /** The log was read: an announcement that fails now fails alone. */
  logWasRead(): void {
    this.#hasRead = true;
  }

  /** Resolves when no announcement beside the beats is on its way. */
  async end(): Promise<void> {
    await this.#announcing;
  }

  /** Tells the operator if announcements alone fail: the journal tells of a store that does not answer at all. */
  #tellUnheard(cause: unknown): void {
    const hasRead = this.#hasRead;
    this.#hasRead = false;
    if (!hasRead) {
      this.#failure.over();
      return;
    }
    const { node, leaseMs } = this.#options;
    this.#failure.again(
      `The node "${node}" can read the shared store, but cannot announce itself there: ${causeText(cause)}. The other nodes ` +
        `end its commands after ${String(leaseMs)} ms of silence. Let the store take announcements.`,
      cause,
    );
  }
}
