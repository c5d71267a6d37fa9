/**
 * The commands that clients have abandoned. What the gateway does late, after later commands, the interface may show
 * otherwise for ever.
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
   * Whether a text is about something that an abandoned command has created or deleted, or about a list or a drain that
   * it has written: whatever follows, nobody knows. A resource that the gateway creates late replaces the one of that
   * name, and `inspect` cannot tell them apart. One that it deletes late goes out of all lists. An update writes a whole
   * list, and of a drain what differs. A start ends a drain that the gateway still has.
   */
  explains(text: string): boolean {
    const words = text.toLowerCase().split(/[^\w-]+/);
    const isAbout = (...some: readonly string[]): boolean => some.some((word) => words.includes(word));
    return this.#all.some(([, applied]) =>
      applied.some((effect) => {
        const [, , name = '', , listener = name] = nameKey(effect.resource).split('/');
        if (!isAbout(name) || !isAbout(listener)) return false;
        if (/\.(?:create|delete)$/.test(effect.type)) return true;
        return isAbout('drain')
          ? effect.type.endsWith('.start') || writes(effect, 'drain')
          : isAbout('servers', 'filters', 'lists') &&
              (writes(effect, 'servers') || writes(effect, 'filters'));
      }),
    );
  }

  /** The abandoned commands, with the effects that the gateway was asked for. */
  get #all(): readonly (readonly [id: string, applied: readonly Effect[]])[] {
    return [...this.#abandoned].map((id) => [id, this.#applied.get(id) ?? []]);
  }
}

/** Whether an effect changes a setting. */
function writes(effect: Effect, setting: string): boolean {
  const { before, after } = effect as { readonly before?: Settings; readonly after?: Settings };
  return JSON.stringify(before?.[setting]) !== JSON.stringify(after?.[setting]);
}

type Settings = Readonly<Record<string, unknown>>;
