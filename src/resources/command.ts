/**
 * Commands: what is told of a command whose outcome was unknown for a while.
 */
import type { EventOf } from '../core/decision.ts';
import type { Kind } from './shared/kind.ts';

/**
 * What can happen to a command of unknown outcome: it turns out that it was not done. One that was done is told by its
 * own events. Both carry the id of the command.
 *
 * @internal
 */
export type CommandEvent = EventOf<'command.failed'> & {
  /** Why it was not done, for a person. */
  readonly reason: string;
};

/** @internal */
export const commandKind: Kind<CommandEvent, never, never> = {
  fields: {},
  events: { 'command.failed': { origin: 'command', revert: 'irreversible', evolve: (snapshot) => snapshot } },
  effects: {},
  reports: {},
  routes: [],
};
