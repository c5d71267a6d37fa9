/**
 * Commands: what is told of a command whose outcome was not known for a while.
 */
import type { EventOf, EventTable } from '../core/decision.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/**
 * What can happen to a command of unknown outcome: it turns out that it was not done. One that was done is told by
 * the events it stands for; both carry the id of the command.
 *
 * @public
 */
export type CommandEvent = EventOf<'command.failed'> & {
  /** What became of it, for a person. */
  readonly reason: string;
};

/** @internal */
export const commandEvents: EventTable<Snapshot, CommandEvent> = {
  'command.failed': { origin: 'command', revert: 'irreversible', evolve: (snapshot) => snapshot },
};
