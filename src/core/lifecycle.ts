/**
 * Lifecycles: small state machines as tables.
 *
 * A table gives the next state for each state and each command. A command whose next state is the present state changes
 * nothing; the transitions built on the table then answer `unchanged`.
 */

/**
 * A state machine as data: the next state for each state and each command.
 *
 * @public
 */
export type Lifecycle<State extends string, Command extends string> = {
  readonly [S in State]: { readonly [C in Command]: State };
};

/**
 * Declares a lifecycle. A table without a row for each state, or without each command in a row, does not compile.
 *
 * @param table - the next state for each state and each command
 * @returns the same table, deep-frozen
 *
 * @example
 * ```ts
 * import { canTransition, defineLifecycle, nextState } from 'gateway-admin-core';
 *
 * const door = defineLifecycle({
 *   open: { push: 'open', pull: 'shut' },
 *   shut: { push: 'open', pull: 'shut' },
 * });
 * nextState(door, 'shut', 'push'); // => 'open'
 * canTransition(door, 'open', 'push'); // => false
 * ```
 *
 * @public
 */
export function defineLifecycle<State extends string, Command extends string>(
  table: Lifecycle<State, Command>,
): Lifecycle<State, Command> {
  for (const state of Object.keys(table) as State[]) Object.freeze(table[state]);
  return Object.freeze(table);
}

/**
 * Gives the state that follows a command.
 *
 * @param lifecycle - the table
 * @param state - the present state
 * @param command - the command
 * @returns the next state; `state` itself if the command changes nothing
 *
 * @example
 * ```ts
 * import { lifecycle, nextState } from 'gateway-admin-core';
 *
 * nextState(lifecycle, 'failed', 'start'); // => 'started'
 * ```
 *
 * @see Gateway Administration REST Interface, "States and transitions".
 *
 * @public
 */
export function nextState<State extends string, Command extends string>(
  lifecycle: Lifecycle<State, Command>,
  state: State,
  command: Command,
): State {
  return lifecycle[state][command];
}

/**
 * Tells whether a command would change the state.
 *
 * @param lifecycle - the table
 * @param state - the present state
 * @param command - the command
 * @returns true if the next state differs from `state`
 *
 * @example
 * ```ts
 * import { canTransition, lifecycle } from 'gateway-admin-core';
 *
 * canTransition(lifecycle, 'started', 'stop'); // => true
 * ```
 *
 * @public
 */
export function canTransition<State extends string, Command extends string>(
  lifecycle: Lifecycle<State, Command>,
  state: State,
  command: Command,
): boolean {
  return nextState(lifecycle, state, command) !== state;
}
