/**
 * Lifecycles: small state machines as tables.
 *
 * A table names, for each state and each command, the state that follows. A command that leads to the state it
 * starts from changes nothing; the transitions built on a table answer `unchanged` then.
 */

/**
 * A state machine as data: the state that follows, for each state and each command.
 *
 * @public
 */
export type Lifecycle<State extends string, Command extends string> = {
  readonly [S in State]: { readonly [C in Command]: State };
};

/**
 * Declares a lifecycle. Every state needs a row and every row every command, or it does not compile.
 *
 * @param table - the state that follows, for each state and each command
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
 * @param state - the state that holds
 * @param command - what is asked for
 * @returns the next state; `state` itself when the command changes nothing
 *
 * @example
 * ```ts
 * import { lifecycle, nextState } from 'gateway-admin-core';
 *
 * nextState(lifecycle, 'failed', 'start'); // => 'started'
 * ```
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
 * Says whether a command would change the state.
 *
 * @param lifecycle - the table
 * @param state - the state that holds
 * @param command - what would be asked for
 * @returns whether the next state differs from `state`
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
