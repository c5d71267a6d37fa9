/**
 * Lifecycles: small state machines as tables.
 *
 * A table gives the next state for each state and each input: a command of a caller, or a report of the host. An input
 * whose next state is the present state does not change the state.
 */

import { assertObject, assertText, deepFreeze } from '../json/value.ts';
import { quoted } from '../problem.ts';

/**
 * A state machine as data: the next state for each state and each input.
 *
 * @public
 */
export type Lifecycle<State extends string, Input extends string> = {
  readonly [S in State]: { readonly [I in Input]: State };
};

/**
 * Declares a lifecycle. A table without a row for each state, or without each input in a row, does not compile.
 *
 * @param table - the next state for each state and each input
 * @returns the same table, deep-frozen
 *
 * @internal
 */
export function defineLifecycle<State extends string, Input extends string>(
  table: Lifecycle<State, Input>,
): Lifecycle<State, Input> {
  return deepFreeze(table);
}

/**
 * Gives the state that follows an input.
 *
 * @param lifecycle - the table
 * @param state - the present state
 * @param input - the command or report
 * @returns the next state; `state` itself if the input changes nothing
 * @throws TypeError if the table has no such state or input
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
export function nextState<State extends string, Input extends string>(
  lifecycle: Lifecycle<State, Input>,
  state: State,
  input: Input,
): State {
  assertObject(lifecycle, 'lifecycle');
  assertText(state, 'state');
  assertText(input, 'input');
  if (!Object.hasOwn(lifecycle, state)) throw new TypeError(`lifecycle has no state ${quoted(state)}`);
  if (!Object.hasOwn(lifecycle[state], input)) throw new TypeError(`lifecycle has no input ${quoted(input)}`);
  return lifecycle[state][input];
}

/**
 * Tells whether an input would change the state.
 *
 * @param lifecycle - the table
 * @param state - the present state
 * @param input - the command or report
 * @returns true if the next state differs from `state`
 * @throws TypeError if the table has no such state or input
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
export function canTransition<State extends string, Input extends string>(
  lifecycle: Lifecycle<State, Input>,
  state: State,
  input: Input,
): boolean {
  return nextState(lifecycle, state, input) !== state;
}
