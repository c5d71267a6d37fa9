/**
 * Announcer: says what a node says of itself, once a second and when others may wait for news. Tells the operator if the
 * others cannot hear the node.
 */
import type { Clock } from '../ports/port.ts';
import { announcementMs, beatMs, type Members, type Status } from './members.ts';

/** The options of {@link Announcer}. @internal */
export interface AnnouncerOptions {
  readonly members: Members;
  /** The name of this node. */
  readonly node: string;
  /** The life of this node. */
  readonly boot: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  /** What this node says of itself now. */
  readonly status: () => Omit<Status, 'beat'>;
  /** Whether the store answers the calls for the log. */
  readonly canRead: () => boolean;
  /** Aborts when this node says nothing any more. */
  readonly closed: AbortSignal;
  /** Gets what the operator must know. Never throws. */
  readonly onError: (error: unknown) => void;
}

/** After so many beats in a row that failed alone, the operator is told. */
const mostUnheard = 3;

/** A node looks this often whether it is alone under its name. */
const beatsBetweenLooks = 3;

/** Announces one node. @internal */
export class Announcer {
  readonly #options: AnnouncerOptions;
  #beats = 0;
  /** The time since the last beat, in milliseconds; 0 if the others did not hear that beat. */
  #elapsedMs = 0;
  /** Whether another process runs under the name of this node. */
  #isDouble = false;
  /** Whether the log could be read since the last beat that failed. */
  #hasRead = false;
  /** The number of beats in a row that failed while the log could be read. */
  #unheard = 0;
  #willAnnounce = false;
  /** The announcement beside the beats that is on its way. */
  #announcing: Promise<void> | undefined;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
  }

  /**
   * Announces this node with the next beat, and hears the others.
   *
   * @returns whether the store has answered
   */
  async beat(): Promise<boolean> {
    const { members, status, canRead } = this.#options;
    // A node can be silent only while this one can read.
    if (!canRead()) members.forgive();
    try {
      await this.#tellDouble();
      await members.announce(status(), canRead() ? this.#elapsedMs : 0);
    } catch (error) {
      this.#elapsedMs = 0;
      this.#tellUnheard(error);
      return false;
    }
    this.#elapsedMs = beatMs;
    this.#unheard = 0;
    return true;
  }

  /** Announces this node beside the beats, which alone count the seconds of silence. Never rejects. */
  async announce(): Promise<void> {
    const { members, status, closed } = this.#options;
    // A closed node must not come back into the list.
    if (closed.aborted) return;
    // One at a time, however many requests wait. The beat tells of a store that does not answer.
    this.#announcing ??= members
      .announce(status(), 0)
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

  /** Tells the operator once if two processes have begun at the same moment under the name of this node. */
  async #tellDouble(): Promise<void> {
    const { members, node, boot, onError } = this.#options;
    this.#beats += 1;
    if (this.#isDouble || this.#beats % beatsBetweenLooks !== 0) return;
    this.#isDouble = await members.isDouble(boot);
    if (this.#isDouble)
      onError(
        new Error(
          `Two processes run the node "${node}" of this fleet, and each can end the commands of the other one. End one of ` +
            'them, and give each process a name of its own.',
        ),
      );
  }

  /** Tells the operator once if announcements alone fail: the journal tells of a store that does not answer at all. */
  #tellUnheard(cause: unknown): void {
    this.#unheard = this.#hasRead ? this.#unheard + 1 : 0;
    this.#hasRead = false;
    if (this.#unheard !== mostUnheard) return;
    const { node, leaseMs, onError } = this.#options;
    onError(
      new Error(
        `The node "${node}" can read the shared store, but cannot announce itself there; see the cause. The other nodes end its ` +
          `commands after ${String(leaseMs)} ms of silence. Let the store take announcements.`,
        { cause },
      ),
    );
  }
}
