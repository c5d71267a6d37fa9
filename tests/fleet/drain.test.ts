/**
 * The plan of a drain in a fleet.
 */
import { expect, it } from '@jest/globals';
import { drain, type Transition } from 'gateway-admin-core';

import { createWorld } from './node.ts';

it('says that the numbers are those of one node', async () => {
  const world = createWorld();
  const how = { supports: ['create', 'delete', 'drain'] } as const;
  const [one, two] = [await world.open('one', 3000, how), await world.open('two', 3000, how)];
  for (const { admin, gateway } of [one, two]) {
    admin.report({ type: 'sessions.complete' });
    admin.report(gateway.openSession('My Service'));
  }
  const detailsOf = (transition: Transition): readonly string[] => {
    const plan = one.admin.plan(transition);
    return plan.outcome === 'refused' ? [] : (plan.notes ?? []).map(({ detail }) => detail);
  };
  const drained: Transition = (from, context) =>
    drain(from, 'services', 'My Service', { timeout: 60, then: 'close' }, context);
  expect(detailsOf(drained)).toEqual([
    'What is left of My-Service is closed after 60 s. Now it has 1 session at this node.',
  ]);
  const server = [...one.admin.snapshot.servers][0]?.name ?? '';
  expect(detailsOf((from, context) => drain(from, 'servers', server, {}, context))).toContain(
    `${server} takes no new sessions. Now it has 0 connections at this node.`,
  );
  for (const { admin } of [one, two]) await admin.close();
});
