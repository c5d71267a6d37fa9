import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { Admin, Transition } from 'gateway-admin-core';

import { saidBy } from '../simulation/planner.ts';
import { acts, reportOf, reports, transitionOf } from '../support/arbitrary-happening.ts';
import { createWorld } from './node.ts';

/** What a plan says, and its mark, also without the instant of its node; `undefined` if the command is refused. */
function shownBy(
  admin: Admin,
  transition: Transition,
): Readonly<Record<'outcome' | 'says' | 'mark' | 'bound', string>> | undefined {
  const plan = admin.plan(transition);
  if (plan.outcome === 'refused') return undefined;
  const { outcome, events, mark } = plan;
  return { outcome, mark, says: events.map(saidBy).join(' '), bound: mark.split('.').slice(0, 2).join('.') };
}

// Promise: mark-node
it('a mark is the same for equal decisions, whatever each node has seen, and holds at the other', async () => {
  const met = { runs: 0, equal: 0, done: 0 };
  const happenings = fc.tuple(fc.boolean(), fc.oneof(acts, acts, reports));
  await fc.assert(
    fc.asyncProperty(fc.array(happenings, { minLength: 15, maxLength: 15 }), async (list) => {
      met.runs += 1;
      const world = createWorld();
      const nodes = [await world.open('berlin'), await world.open('paris')] as const;
      for (const { name } of nodes[0].admin.snapshot.servers)
        nodes[0].admin.report({ type: 'server.reported', server: name, status: ['synced', 'running'] });
      for (const [isFirst, each] of list) {
        const [{ admin: one }, { admin: other }] = isFirst ? nodes : ([nodes[1], nodes[0]] as const);
        if (!('verb' in each)) {
          one.report(reportOf(each, one.snapshot));
          continue;
        }
        const transition = transitionOf(each, one.snapshot);
        const plans = [shownBy(one, transition), shownBy(other, transition)] as const;
        if (plans[0] === undefined || plans[1] === undefined) continue;
        const isEqual = plans[0].says === plans[1].says;
        expect([plans[0].bound === plans[1].bound, plans]).toEqual([isEqual, plans]);
        if (isEqual) met.equal += 1;
        // A mark of closings has an instant of its node.
        const { mark, bound, outcome } = plans[0];
        const holds = isEqual && mark === bound;
        const sent = other.execute(transition, holds ? { mark } : {});
        const execution = await world.clock.waitFor(sent);
        if (!holds) continue;
        expect(execution.outcome).toBe(outcome);
        met.done += 1;
        await world.clock.advance(5000);
      }
    }),
    { numRuns: 20 },
  );

  // A slow machine makes fewer runs.
  expect(met.equal).toBeGreaterThan(2.5 * met.runs);
  expect(met.done).toBeGreaterThan(1.5 * met.runs);
});
