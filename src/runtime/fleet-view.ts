/**
 * The fleet, as the interface of one of its nodes shows it.
 */
import type { FleetLag, RunningFleet } from '../resources/fleet.ts';
import type { Execution } from './command/execution.ts';

/** The fleet around an interface. @internal */
export interface FleetView extends RunningFleet {
  /** The name of this node. */
  node(this: void): string;
  /** How far this node has read the log. */
  position(this: void): string;
  /** Waits until the living nodes have come to the end of a command, or the time is over. */
  settle(this: void, execution: Settled, where: SettleOptions): Promise<readonly FleetOutcome[]>;
}

/** A command that has done what it was asked for. @internal */
export type Settled = Extract<Execution, { readonly outcome: 'accepted' | 'unchanged' }>;

/** How long to wait for the other nodes. @internal */
export interface SettleOptions {
  /** The longest wait, in milliseconds. */
  readonly waitMs: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/**
 * How far a node has come with a change that another node, or this one, has made.
 *
 * @beta
 */
export interface FleetOutcome {
  /** The name of the node. */
  readonly node: string;
  /**
   * `applied`: its gateway has followed. `behind`: its gateway could not follow yet, and tries again. `waiting`: the node has
   * not said anything about the change in time.
   */
  readonly outcome: 'applied' | 'behind' | 'waiting';
  /** Where and why its gateway could not follow; empty if it did, or nothing is known. */
  readonly behind: readonly FleetLag[];
}

/** The place in the log of what a command has done; the end of the log if it has done nothing. @internal */
export function positionOf(view: FleetView, execution: Settled): string {
  const events = execution.outcome === 'accepted' ? execution.events : [];
  return events.findLast(({ fleet }) => fleet !== undefined)?.fleet?.position ?? view.position();
}
