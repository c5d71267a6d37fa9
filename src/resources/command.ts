/**
 * Commands: the event of a command that had an unknown outcome and then turned out to have failed.
 */
import type { EventOf } from '../core/decision.ts';
import type { Kind } from './shared/kind.ts';

/**
 * The event of a command whose outcome was unknown: the command has failed, and nothing was changed. A command that
 * turns out to have succeeded publishes its own events instead. Both kinds of events carry the id of the command.
 *
 * @internal
 */
export type CommandEvent = EventOf<'command.failed'> & {
  /** Why the command failed, for a person. */
  readonly reason: string;
};

/** The kind "command", which has an event and no resources. @internal */
export const commandKind: Kind<CommandEvent, never, never> = {
  fields: {},
  events: { 'command.failed': { origin: 'command', revert: 'irreversible', evolve: (snapshot) => snapshot } },
  effects: {},
  reports: {},
  routes: [],
};
