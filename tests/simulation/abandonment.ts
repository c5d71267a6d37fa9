/**
 * The commands that clients have abandoned. Until another start, and for what an undo may do even later, the gateway
 * may have what the interface does not show.
 */
import type { Effect } from 'gateway-admin-core';

import type { Heard } from './life.ts';

export class Abandonment {
  /** The commands of which a client was told that the outcome is unknown. */
  readonly #unknown = new Map<string, Heard>();
  readonly #abandoned = new Set<string>();
  /** The effects that the gateway was asked for, by command. */
  readonly #applied = new Map<string, Effect[]>();

  /** Whether a command was abandoned. */
  get isAny(): boolean {
    return this.#abandoned.size > 0;
  }

  /** A client is answered. */
  hear(heard: Heard): void {
    const { commandId } = heard.answer;
    if (commandId !== undefined) this.#unknown.set(commandId, heard);
  }

  /** The gateway is asked for an effect. */
  note(effect: Effect, commandId: string): void {
    const applied = this.#applied.get(commandId);
    if (applied === undefined) this.#applied.set(commandId, [effect]);
    else applied.push(effect);
  }

  /** What the client of a command of unknown outcome has asked; `undefined` if no client knows the command. */
  of(id: string): Heard['asked'] | undefined {
    return this.#unknown.get(id)?.asked;
  }

  /** A client abandons a command. */
  add(id: string): void {
    this.#abandoned.add(id);
  }

  /**
   * The differences that nobody finds out. An abandoned command was being undone, and that call can take effect after
   * later commands: the next start asks for what the command was to do, not for what was to undo it.
   */
  allows(difference: string): boolean {
    return [...this.#abandoned].some((id) => {
      const wanted = this.#unknown.get(id)?.effects ?? [];
      const undone = (this.#applied.get(id) ?? []).filter(
        (effect, index) => JSON.stringify(effect) !== JSON.stringify(wanted[index]),
      );
      return undone.some(({ resource }) => difference.startsWith(`${resource.toLowerCase()}/`));
    });
  }
}
