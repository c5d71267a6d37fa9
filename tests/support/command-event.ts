/**
 * The events that commands make.
 */
import type { Snapshot, Transition } from 'gateway-admin-core';

import { wholeOf } from './closing.ts';
import { eventTypes } from './event-type.ts';

/** The types of the events that commands make. */
const commandEvents = Object.entries(eventTypes)
  .filter(([, { from }]) => from === 'command')
  .map(([type]) => type);

/** The types of events that none of these commands makes of a snapshot. */
export function eventsMissing(transitions: Iterable<Transition>, snapshot: Snapshot): readonly string[] {
  const made = new Set<string>();
  for (const transition of transitions) {
    for (const { type } of wholeOf(transition(snapshot, { now: 0 }), snapshot).events) made.add(type);
  }
  return commandEvents.filter((type) => !made.has(type));
}
