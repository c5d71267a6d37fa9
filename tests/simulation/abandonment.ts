/**
 * The commands that clients have abandoned. Until another start, and for what an undo may do even later, the gateway
 * may have what the interface does not show.
 */
import { nameKey, type Effect } from 'gateway-admin-core';

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
    const isUndone = ([id, applied]: readonly [string, readonly Effect[]]): boolean => {
      const wanted = this.#unknown.get(id)?.effects ?? [];
      const undone = applied.filter(
        (effect, index) => JSON.stringify(effect) !== JSON.stringify(wanted[index]),
      );
      return undone.some(({ resource }) => difference.startsWith(`${nameKey(resource)}/`));
    };
    return this.explains(difference) || this.#all.some(isUndone);
  }

  /**
   * Whether a text is about something that an abandoned command has created or deleted, or about a list that it has
   * written. What it creates late takes the place of what has the name by then, and is taken for that; what it deletes
   * late goes out of all lists. An update has a list as a whole.
   */
  explains(text: string): boolean {
    const words = text.toLowerCase().split(/[^\w-]+/);
    const isAboutList = ['servers', 'filters', 'lists'].some((word) => words.includes(word));
    return this.#all.some(([, applied]) =>
      applied.some(
        (effect) =>
          (comesOrGoes(effect) || (isAboutList && writesList(effect))) &&
          words.includes(nameKey(effect.resource).split('/')[2] ?? ''),
      ),
    );
  }

  /** The abandoned commands, with the effects that the gateway was asked for. */
  get #all(): readonly (readonly [id: string, applied: readonly Effect[]])[] {
    return [...this.#abandoned].map((id) => [id, this.#applied.get(id) ?? []]);
  }
}

function comesOrGoes({ type }: Effect): boolean {
  return /\.(?:create|delete)$/.test(type);
}

/** Whether an effect changes the servers or the filters that a resource lists. */
function writesList(effect: Effect): boolean {
  const { before, after } = effect as { readonly before?: Lists; readonly after?: Lists };
  return (
    JSON.stringify([before?.servers, before?.filters]) !== JSON.stringify([after?.servers, after?.filters])
  );
}

interface Lists {
  readonly servers?: readonly string[];
  readonly filters?: readonly string[];
}
