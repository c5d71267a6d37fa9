/**
 * The commands that clients have abandoned. What the gateway does late is taken away when the call has ended, or at the
 * next start: only until then may the gateway have something else than the interface shows.
 */
import { nameKey, type Effect } from 'gateway-admin-core';

import type { Heard } from './life.ts';

export class Abandonment {
  /** The commands of which a client was told that the outcome is unknown. */
  readonly #unknown = new Map<string, Heard>();
  readonly #abandoned = new Set<string>();
  /** The keys of the resources that the gateway was asked for, by command. */
  readonly #touched = new Map<string, Set<string>>();

  /** A client is answered. */
  hear(heard: Heard): void {
    const { commandId } = heard.answer;
    if (commandId !== undefined) this.#unknown.set(commandId, heard);
  }

  /** The gateway is asked for an effect. */
  note({ resource }: Effect, commandId: string): void {
    const [, , name = ''] = nameKey(resource).split('/');
    this.#touched.set(commandId, new Set(this.#touched.get(commandId)).add(name));
  }

  /** What the client of a command of unknown outcome has asked; `undefined` if no client knows the command. */
  of(id: string): Heard['asked'] | undefined {
    return this.#unknown.get(id)?.asked;
  }

  /** A client abandons a command. */
  add(id: string): void {
    this.#abandoned.add(id);
  }

  /** Whether a text is about a resource of which an abandoned command has asked the gateway for something. */
  isAbout(text: string): boolean {
    const words = text.toLowerCase().split(/[^\w-]+/);
    return [...this.#abandoned].some((id) => words.some((word) => this.#touched.get(id)?.has(word) === true));
  }
}
