/**
 * What a decision closes: a decision has the selection, and the runtime reads the sessions or connections a batch at a
 * time.
 */
import type { AdminEvent, Context, Decision, Effect, Snapshot } from 'gateway-admin-core';

import { closings, effectsOf } from './internal.ts';

interface Whole {
  readonly events: readonly AdminEvent[];
  readonly effects: readonly Effect[];
}

/**
 * The events and effects of a decision, with those of every batch of its closing.
 *
 * @param snapshot - the snapshot of the decision
 * @param present - the snapshot when the batches are read
 */
export function wholeOf(
  decision: Decision,
  snapshot: Snapshot,
  { present = snapshot, idleOf }: { readonly present?: Snapshot } & Pick<Context, 'idleOf'> = {},
): Whole {
  if (decision.outcome !== 'accepted') return { events: [], effects: [] };
  const { events, effects, closing } = decision;
  if (closing === undefined) return { events, effects };
  const { extentOf, batchAt } = closings[closing.what];
  const batches = Array.from(
    { length: extentOf(closing, snapshot).batches },
    (_, number) => batchAt(number, closing, { decided: snapshot, present, idleOf }) ?? [],
  ).flat();
  return {
    events: Object.freeze([...events, ...batches]),
    effects: Object.freeze([...effects, ...effectsOf(batches)]),
  };
}
