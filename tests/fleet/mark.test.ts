import { describe, expect, it } from '@jest/globals';
import { closeServiceSessions, patchService, type Admin, type Transition } from 'gateway-admin-core';

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
});
