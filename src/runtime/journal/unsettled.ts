/**
 * Unsettled commands: which commands have no end in the records of a journal.
 */
import { canRevert, type AdminEvent } from '../../resources/index.ts';
import type { JournalRecord, Open } from './record.ts';

type IntentOf = Pick<JournalRecord & { type: 'intent' }, 'command' | 'resources' | 'part' | 'events'>;

/**
 * The commands without a last settlement. The lists of an {@link Unsettled} are live: each settlement changes them.
 *
 * @internal
 */
export interface UnsettledCommands<I> {
  /** The open commands, in the order in which they started. */
  readonly open: readonly Open<I>[];
  /** The abandoned commands, in the order in which they were abandoned. */
  readonly abandoned: readonly Open<I>[];
}

/** Folds the intents and ends of commands. @internal */
export class Unsettled<I extends IntentOf> implements UnsettledCommands<I> {
  readonly #open: Map<string, Open<I>>;
  readonly #abandoned: Map<string, Open<I>>;

  constructor({ open = [], abandoned = [] }: Partial<UnsettledCommands<I>> = {}) {
    this.#open = byId(open);
    this.#abandoned = byId(abandoned);
  }

  get open(): readonly Open<I>[] {
    return [...this.#open.values()];
  }

  get abandoned(): readonly Open<I>[] {
    return [...this.#abandoned.values()];
  }

  /** What each of the commands would do. */
  get events(): readonly (readonly AdminEvent[])[] {
    return [...this.open, ...this.abandoned].map(({ intent }) => intent.events);
  }

  isOpen(command: string): boolean {
    return this.#open.has(command);
  }

  isAbandoned(command: string): boolean {
    return this.#abandoned.has(command);
  }

  /**
   * A part of a command begins. The intent of an abandoned command was on its way to the store, and opens nothing.
   */
  begin(intent: I): void {
    if (this.#abandoned.has(intent.command)) return;
    const { intent: { resources } = intent, done } = this.#open.get(intent.command) ?? { done: [] };
    this.#open.set(intent.command, { intent: { ...intent, resources }, settled: intent.part, done });
  }

  /** A part of a command has ended; with the last part, the command. */
  settle({
    command,
    events,
    last,
  }: Pick<JournalRecord & { type: 'settlement' }, 'command' | 'events' | 'last'>): void {
    const open = this.#open.get(command);
    if (last) for (const commands of [this.#open, this.#abandoned]) commands.delete(command);
    else if (open !== undefined) {
      const done = events.every(canRevert) ? open.done?.concat(events) : undefined;
      this.#open.set(command, { ...open, settled: open.settled + 1, done });
    }
  }

  /** Frees the resources of a command. Changes nothing if the command is not open: two nodes may abandon it. */
  abandon(command: string): void {
    const open = this.#open.get(command);
    if (open === undefined) return;
    this.#open.delete(command);
    this.#abandoned.set(command, open);
  }
}

function byId<I extends IntentOf>(commands: readonly Open<I>[]): Map<string, Open<I>> {
  return new Map(commands.map((command) => [command.intent.command, command]));
}
