/**
 * Nodes whose clocks differ: what an operator learns of it at each node.
 */
import { describe, expect, it } from '@jest/globals';
import type { VirtualClock } from 'gateway-admin-core/testing';

import { altered } from '../support/altered-store.ts';
import { sampleClock } from '../support/running-admin.ts';
import { createWorld, type Node, type NodeOptions } from './node.ts';

/** The alerts of a node about clocks. */
function told({ admin }: Node): readonly string[] {
  return admin
    .alerts()
    .filter(({ code }) => code === 'clocks-differ')
    .map(({ resource, detail }) => `${resource} ${detail.replace(/\. .*/, '')}`);
}

/** A clock that is wrong by some milliseconds. */
function wrongBy(milliseconds: number, clock: VirtualClock): VirtualClock {
  return { ...clock, now: () => clock.now() + milliseconds };
}

/** A fleet with a node for each fault of a clock, each of which beats some milliseconds behind the one before. */
async function openWith(faults: readonly number[], phaseMs = 0, how: NodeOptions = {}) {
  const clock = sampleClock();
  const world = createWorld({ clock });
  const nodes: Node[] = [];
  for (const [at, fault] of faults.entries()) {
    nodes.push(await world.open(`n${String(at)}`, 10_000, { ...how, clock: wrongBy(fault, clock) }));
    await clock.advance(phaseMs);
  }
  await clock.advance(5000);
  return { clock, nodes };
}

describe.each([0, 300, 500, 900])('two nodes of which one beats %d ms behind the other', (phaseMs) => {
  // Promise: clocks-differ
  it.each([3000, -3000, 3_600_000])('name each other if their clocks are %d ms apart', async (fault) => {
    const { nodes } = await openWith([0, fault], phaseMs);
    const [[first = ''] = [], [second = ''] = []] = nodes.map(told);
    const [ahead, behind] = fault > 0 ? ['ahead of', 'behind'] : ['behind', 'ahead of'];
    const seconds = /about (\d+) s/.exec(first)?.[1];
    expect(Math.abs(Number(seconds) - Math.abs(fault) / 1000)).toBeLessThanOrEqual(1);
    expect(first).toBe(
      `/fleet/n1 The clock of the node n1 is about ${String(seconds)} s ${ahead} that of the node n0`,
    );
    expect(second).toMatch(
      new RegExp(`^/fleet/n0 The clock of the node n0 is about \\d+ s ${behind} that of the node n1$`),
    );
  });

  it.each([0, 1000, -1000])('say nothing if their clocks are %d ms apart', async (fault) => {
    const { nodes } = await openWith([0, fault], phaseMs);
    expect(nodes.map(told)).toEqual([[], []]);
  });
});

describe('a node', () => {
  it('names each node of which the clock differs from its own, and no other', async () => {
    const { nodes } = await openWith([0, 60_000, 100]);
    const named = nodes.map((node) => told(node).map((line) => line.replace(/ .*/, '')));
    expect(named).toEqual([['/fleet/n1'], ['/fleet/n0', '/fleet/n2'], ['/fleet/n1']]);
  });

  it('says nothing of a node whose announcements are on their way for seconds', async () => {
    const clock = sampleClock();
    const slow: NodeOptions = {
      wrap: (store) =>
        altered(store, {
          announce: async (...how) => {
            await clock.sleep(4500);
            return store.announce(...how);
          },
        }),
    };
    const world = createWorld({ clock });
    const nodes = [await world.open('n0'), await clock.waitFor(world.open('n1', 10_000, slow))];
    for (let second = 0; second < 30; second += 1) {
      await clock.advance(1000);
      expect(nodes.map(told)).toEqual([[], []]);
    }
  });

  it('says nothing more of a node that is silent', async () => {
    const { nodes, clock } = await openWith([0, 60_000]);
    const [one, two] = nodes;
    expect(one && told(one)).toHaveLength(1);
    two?.cut(true);
    await clock.advance(15_000);
    expect(one && told(one)).toEqual([]);
  });

  it('says nothing of a clock that fails, and is heard all the same', async () => {
    const clock = sampleClock();
    const world = createWorld({ clock });
    let fails = false;
    const broken = { ...clock, now: () => (fails ? NaN : clock.now() + 60_000) };
    const nodes = [await world.open('n0'), await world.open('n1', 10_000, { clock: broken })];
    fails = true;
    await clock.advance(20_000);
    expect(nodes.slice(0, 1).map(told)).toEqual([[]]);
    expect(nodes[0]?.admin.fleet.nodes()).toMatchObject([{ alive: true }, { alive: true }]);
    fails = false;
    await clock.advance(5000);
    expect(nodes.map((node) => told(node).length)).toEqual([1, 1]);
  });
});
