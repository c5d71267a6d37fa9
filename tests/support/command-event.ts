/**
 * The events that commands make.
 */
import type { Snapshot, Transition } from 'gateway-admin-core';

import { commandKind } from '../../src/resources/command.ts';
import { eventTable } from '../../src/resources/index.ts';

/** The types of the events that commands make. Those of commands themselves come of no transition. */
const commandEvents = Object.entries(eventTable)
  .filter(([type, { origin }]) => origin === 'command' && !(type in commandKind.events))
  .map(([type]) => type);

/** The types of events that none of these commands makes of a snapshot. */
export function eventsMissing(transitions: Iterable<Transition>, snapshot: Snapshot): readonly string[] {
  const made = new Set<string>();
  for (const transition of transitions) {
    const decision = transition(snapshot, { now: 0 });
    if (decision.outcome === 'accepted') for (const { type } of decision.events) made.add(type);
  }
  return commandEvents.filter((type) => !made.has(type));
}
