/**
 * Drains in a fleet: every node drains and closes its own sessions, and the first one ends a drain for all.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  drain,
  EffectRefusedError,
  resume,
  stopService,
  type Drain,
  type Execution,
  type Transition,
} from 'gateway-admin-core';

import { createWorld, type Node, type World } from './node.ts';

const supports = ['create', 'delete', 'drain'] as const;
let world: World;
let nodes: readonly Node[];

const node = (at: number): Node => {
  const found = nodes[at];
  if (found === undefined) throw new RangeError('There is no such node');
  return found;
};
const draining =
  (options: Pick<Drain, 'timeout' | 'then' | 'reason'> = {}): Transition =>
  (from, context) =>
    drain(from, 'services', 'My Service', options, context);
const ending: Transition = (from, context) => resume(from, 'services', 'My Service', context);
const service = ({ admin }: Node) => admin.snapshot.services.find('my-service');
/** The command number of the tag of the service. */
const numberOf = (at: Node): number | undefined => service(at)?.version.command;
const closings = ({ gateway }: Node): number =>
  gateway.applied.filter(({ type }) => type === 'sessions.close').length;

async function made(at: Node, transition: Transition): Promise<Execution['outcome']> {
  return (await world.clock.waitFor(at.admin.execute(transition, { actor: 'ada' }))).outcome;
}

function open({ admin, gateway }: Node): void {
  admin.report(gateway.openSession('My Service'));
}

beforeEach(async () => {
  world = createWorld();
  nodes = [];
  for (const name of ['one', 'two', 'three']) nodes = [...nodes, await world.open(name, 3000, { supports })];
  for (const { admin } of nodes) admin.report({ type: 'sessions.complete' });
  await world.clock.advance(100);
});

afterEach(async () => {
  for (const { admin } of nodes) await admin.close();
});

describe('a drain in a fleet', () => {
  // Promise: fleet-drain
  it('is one for all, and each node closes its own sessions at the deadline', async () => {
    open(node(0));
    open(node(1));
    expect(await made(node(0), draining({ timeout: 60, then: 'close' }))).toBe('accepted');
    await world.clock.advance(5000);
    const said = nodes.map(({ admin }) =>
      admin.fleet
        .nodes()
        .map(({ node: name, drains }) => {
          const found = drains.find(({ resource }) => resource === '/services/My-Service');
          return `${name} ${String(found?.state)} ${String(found?.sessions)}`;
        })
        .toSorted(),
    );
    expect(said).toEqual(Array(3).fill(['one draining 1', 'three drained 0', 'two draining 1']));
    for (const each of nodes) {
      expect([service(each)?.state, service(each)?.settings.drain?.by]).toEqual(['stopped', 'ada']);
      expect(closings(each)).toBe(0);
    }
    await world.clock.advance(60_000);
    expect(nodes.map(closings)).toEqual([1, 1, 0]);
    for (const each of nodes) {
      expect(each.admin.snapshot.sessions.size).toBe(0);
      expect(each.gateway.differences(each.admin.snapshot)).toEqual([]);
      expect(service(each)?.settings.drain?.then).toBe('close');
    }
    // What each has closed is no change of the configuration.
    expect(new Set(nodes.map(numberOf)).size).toBe(1);
  });

  it('says in its plan that the numbers are those of one node', () => {
    open(node(0));
    open(node(1));
    const detailsOf = (transition: Transition): readonly string[] => {
      const plan = node(0).admin.plan(transition);
      return plan.outcome === 'refused' ? [] : (plan.notes ?? []).map(({ detail }) => detail);
    };
    expect(detailsOf(draining({ timeout: 60, then: 'close' }))).toEqual([
      'What is left of My-Service is closed after 60 s. Now it has 1 session at this node.',
    ]);
    const server = [...node(0).admin.snapshot.servers][0]?.name ?? '';
    const drained: Transition = (from, context) => drain(from, 'servers', server, {}, context);
    expect(detailsOf(drained)).toContain(
      `${server} takes no new sessions. Now it has 0 connections at this node.`,
    );
  });

  it('ends once for all at its deadline, whichever node is first', async () => {
    await made(node(2), draining({ timeout: 10, then: 'resume' }));
    await world.clock.advance(30_000);
    for (const each of nodes) {
      expect([service(each)?.state, service(each)?.settings.drain]).toEqual(['started', undefined]);
      expect(each.gateway.applied.filter(({ type }) => type === 'service.start')).toHaveLength(1);
      expect(each.errors).toEqual([]);
    }
    expect(new Set(nodes.map(numberOf)).size).toBe(1);
  });

  it('is ended at any node before its deadline, and nothing is closed', async () => {
    for (const each of nodes) open(each);
    await made(node(0), draining({ timeout: 10, then: 'close' }));
    await world.clock.advance(5000);
    expect(await made(node(1), ending)).toBe('accepted');
    await world.clock.advance(60_000);
    expect(nodes.map(closings)).toEqual([0, 0, 0]);
    expect(nodes.map((each) => service(each)?.state)).toEqual(['started', 'started', 'started']);
    expect(nodes.map(({ admin }) => admin.snapshot.sessions.size)).toEqual([1, 1, 1]);
  });

  it('reaches a node that comes later, and the node that has asked for it need not live', async () => {
    open(node(1));
    await made(node(0), draining({ timeout: 20, then: 'close' }));
    await world.clock.advance(3000);
    node(0).cut(true);
    const late = await world.open('four', 3000, { supports });
    nodes = [...nodes, late];
    expect(service(late)?.settings.drain?.by).toBe('ada');
    await world.clock.advance(60_000);
    expect(closings(node(1))).toBe(1);
    node(0).cut(false);
    await world.clock.advance(5000);
  });

  it('goes on at a node whose gateway has refused the stop, and says so', async () => {
    node(1).gateway.otherwise({ apply: new EffectRefusedError('Clients are connected.') });
    expect(await made(node(0), draining())).toBe('accepted');
    await world.clock.advance(5000);
    const [own] = node(1)
      .admin.fleet.nodes()
      .filter(({ node: name }) => name === 'two');
    expect(own?.behind).toMatchObject([{ resource: '/services/My-Service', code: 'effect-refused' }]);
    node(1).gateway.otherwise({ apply: 'done' });
    await world.clock.advance(60_000);
    expect(service(node(1))?.settings.drain).toEqual(service(node(0))?.settings.drain);
  });

  it('that was stopped at one node stays stopped at all when it ends', async () => {
    await made(node(0), draining());
    await world.clock.advance(3000);
    await made(node(1), (from, context) => stopService(from, 'My Service', context));
    await world.clock.advance(3000);
    await made(node(2), ending);
    await world.clock.advance(5000);
    expect(nodes.map((each) => service(each)?.state)).toEqual(['stopped', 'stopped', 'stopped']);
  });
});
