/**
 * A decision rests on its resources alone: a node of a fleet stores it behind changes of other resources as it is.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, evolve, toDocument, type Decision } from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import { acts, transitionOf } from '../support/arbitrary-happening.ts';
import { eventTypes } from '../support/event-type.ts';
import { someTime } from '../support/expect-decision.ts';

type Accepted = Extract<Decision, { readonly outcome: 'accepted' }>;

/** Whether a decision changes something, and only what the nodes of a fleet share. */
function isShared(decision: Decision): decision is Accepted {
  return (
    decision.outcome === 'accepted' && decision.events.every(({ type }) => eventTypes[type].isOfNode !== true)
  );
}

describe('of two decisions without a common resource', () => {
  it('each is the same behind the other, and their order does not matter', () => {
    let pairs = 0;
    fc.assert(
      fc.property(documents, fc.array(acts, { minLength: 6, maxLength: 12 }), (document, list) => {
        const start = createSnapshot(document);
        const decided = list
          .map((act) => ({ act, decision: transitionOf(act)(start, someTime) }))
          .flatMap(({ act, decision }) => (isShared(decision) ? [{ act, decision }] : []));
        const [first, ...others] = decided;
        for (const { act, decision } of others) {
          if (
            first === undefined ||
            decision.resources.some((link) => first.decision.resources.includes(link))
          )
            continue;
          pairs += 1;
          const behind = transitionOf(act, start)(evolve(start, first.decision.events), someTime);
          expect({ ...behind, next: undefined }).toEqual({ ...decision, next: undefined });
          const [one, other] = [
            [first.decision.events, decision.events],
            [decision.events, first.decision.events],
          ].map((order) => order.reduce((snapshot, events) => evolve(snapshot, events), start));
          expect(one && toDocument(one)).toEqual(other && toDocument(other));
        }
      }),
      { numRuns: 300 },
    );
    expect(pairs).toBeGreaterThan(9);
  });
});
