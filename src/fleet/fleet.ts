/**
 * The interface of a node of a fleet, and its options.
 */
import type { SharedStore } from '../ports/port.ts';
import type { Admin, AdminOptions, ExecuteOptions } from '../runtime/admin.ts';
import type { Execution } from '../runtime/command/execution.ts';
import type { Transition } from '../resources/index.ts';
import type { FleetLag, FleetNode } from '../resources/fleet.ts';
import type { FleetGap, FleetHistoryOptions, FleetStep } from './fleet-history.ts';
import type { Snapshot } from '../resources/snapshot.ts';

/**
 * The options of `openFleet`.
 *
 * @beta
 */
export interface OpenFleetOptions extends AdminOptions {
  /** The log that the nodes share. The node owns this store, and disposes of it at `close`. */
  readonly store: SharedStore;
  /**
   * The name of this node, for good: 1 to 64 letters, digits, `-` and `_`. A second process with the name of a running
   * node is refused.
   */
  readonly node: string;
  /**
   * After how many milliseconds of silence the others end the command of a node; at least 3,000, and 10,000 by default.
   */
  readonly leaseMs?: number;
}

/**
 * The fleet, as this node sees it.
 *
 * @beta
 */
export interface Fleet {
  /** What the fleet has: the configuration that every node follows, whether this gateway has followed yet or not. */
  readonly snapshot: Snapshot;
  /** How far this node has read the log. */
  readonly position: string;
  /** Every node, this one first. */
  nodes(): readonly FleetNode[];
  /**
   * Follows the log of the fleet, from now on or from a position on: every change at any node, in one order that is the
   * same at every node. A reader can go on at another node. Ends when the signal aborts, or this node closes.
   */
  history(options?: FleetHistoryOptions): AsyncIterableIterator<FleetStep | FleetGap>;
  /**
   * Takes a node that will not come back out of the list, and ends its commands.
   *
   * @throws RangeError for this node
   */
  forget(node: string): Promise<void>;
  /** Asks the gateway of this node again at once for everything at which this node is behind. */
  retry(): void;
}

/**
 * The options of a command to a node of a fleet.
 *
 * @beta
 */
export interface FleetExecuteOptions extends ExecuteOptions {
  /** `fleet`: waits until the other living nodes have followed. By default the command waits for this node alone. */
  readonly settle?: 'fleet';
  /** The longest wait for the other nodes, in milliseconds; 10,000 by default. Only with `settle`. */
  readonly waitMs?: number;
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
   * `applied`: its gateway has followed. `behind`: its gateway could not follow yet, and tries again. `waiting`: the
   * node has not said anything about the change in time.
   */
  readonly outcome: 'applied' | 'behind' | 'waiting';
  /** Where and why its gateway could not follow; empty if it did, or nothing is known. */
  readonly behind: readonly FleetLag[];
}

/**
 * A running administration interface of a node.
 *
 * @beta
 */
export interface FleetAdmin extends Admin {
  /** The fleet, as this node sees it. */
  readonly fleet: Fleet;
  /**
   * Executes a command, as {@link Admin.execute}. With `settle: 'fleet'`, a command that was accepted or has changed
   * nothing then waits for the other nodes. What they have come to changes nothing about the outcome: the change is
   * stored for all.
   */
  execute(
    transition: Transition,
    options?: FleetExecuteOptions,
  ): Promise<Execution & { readonly nodes?: readonly FleetOutcome[] }>;
}
