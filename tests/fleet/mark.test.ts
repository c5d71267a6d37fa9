import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { closeServiceSessions, patchService, type Admin, type Transition } from 'gateway-admin-core';

import { saidBy } from '../simulation/planner.ts';
import { acts, reportOf, reports, transitionOf } from '../support/arbitrary-happening.ts';
import { openedSessions } from '../support/opened-session.ts';
import { createWorld } from './node.ts';

const closeAll: Transition = (snapshot, context) => closeServiceSessions(snapshot, 'My Service', context);
const limitTo =
  (value: number): Transition =>
  (snapshot, context) =>
    patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value }], context);

function markOf(admin: Admin, transition: Transition): string {
  const plan = admin.plan(transition);
  if (plan.outcome === 'refused') throw new Error(plan.problem.detail);
  return plan.mark;
}

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

describe('a mark in a fleet', () => {
  it('is the same at every node for settings, and holds at each', async () => {
    const world = createWorld();
    const [berlin, paris] = [await world.open('berlin'), await world.open('paris')];
    const mark = markOf(berlin.admin, limitTo(7));
    expect(markOf(paris.admin, limitTo(7))).toBe(mark);
    const sent = world.clock.waitFor(paris.admin.execute(limitTo(7), { mark }));
    expect(await sent).toMatchObject({ outcome: 'accepted' });
    await world.clock.advance(5000);
    expect(berlin.admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(7);
  });

  it('is refused at a node that has not read the change of another yet', async () => {
    const world = createWorld();
    const [berlin, paris] = [await world.open('berlin'), await world.open('paris')];
    const mark = markOf(paris.admin, limitTo(7));
    await world.clock.waitFor(berlin.admin.execute(limitTo(9)));
    // The node decides on what it knows, is overruled by the log, and decides again.
    const execution = await world.clock.waitFor(paris.admin.execute(limitTo(7), { mark }));
    expect(execution).toMatchObject({ outcome: 'refused', problem: { code: 'precondition-failed' } });
    expect(paris.admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(9);
  });

  it('of closings belongs to its node', async () => {
    const world = createWorld();
    const nodes = [await world.open('berlin'), await world.open('paris')] as const;
    for (const { admin, gateway } of nodes) {
      admin.report(openedSessions(3));
      expect(gateway.calls).toEqual([]);
    }
    const mark = markOf(nodes[0].admin, closeAll);
    const elsewhere = await world.clock.waitFor(nodes[1].admin.execute(closeAll, { mark }));
    expect(elsewhere).toMatchObject({ outcome: 'refused', problem: { code: 'precondition-failed' } });
    expect(nodes[1].admin.snapshot.sessions.size).toBe(3);
    expect(await world.clock.waitFor(nodes[0].admin.execute(closeAll, { mark }))).toMatchObject({
      outcome: 'accepted',
      closed: { sessions: 3 },
    });
  });

  // Promise: mark-node
  it('is the same for equal decisions, whatever each node has seen, and holds at the other', async () => {
    const met = { equal: 0, done: 0 };
    const happenings = fc.tuple(fc.boolean(), fc.oneof(acts, acts, reports));
    await fc.assert(
      fc.asyncProperty(fc.array(happenings, { minLength: 5, maxLength: 15 }), async (list) => {
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
    expect(met.equal).toBeGreaterThan(50);
    expect(met.done).toBeGreaterThan(30);
  });
});
