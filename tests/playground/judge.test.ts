/**
 * Whatever a person presses in the panel breaks no law.
 */
import { expect, it } from '@jest/globals';
import { createRandom, type Random } from 'gateway-admin-core/testing';

import { faultsOf } from '../../examples/playground/judge.ts';
import { applyWays, beginning, groups, writeWays } from '../../examples/playground/trouble.ts';
import { placedAt } from '../scenario/fleet-world.ts';

const commands = [
  'PUT /services/Sales/stop',
  'PUT /services/Sales/start',
  'PUT /servers/db-1/drain',
  'PATCH /services/Sales [{"op":"replace","path":"/max_connection","value":7}]',
  'DELETE /services/Sales/sessions',
  'DELETE /servers/db-2',
  'POST /servers {"name":"db-9","address":"10.0.0.9","port":5432,"protocol":"pg"}',
  'DELETE /commands/{ada}',
];

/** What a person does in a world, and the time that passes. */
function pressed(random: Random, nodes: number): readonly string[] {
  const processes = new Map<string, 'running' | 'paused' | 'dead'>();
  const steps = [...beginning(nodes)];
  for (let count = 0; count < 12; count += 1) {
    const name = random.pick(['a', 'b', 'c'].slice(0, nodes));
    const node = nodes === 1 ? undefined : name;
    const process = processes.get(name) ?? 'running';
    const shown = { node, process, services: [], servers: [], sessions: ['1'], held: 0, now: 0 };
    const chosen = {
      service: 'Sales',
      server: 'db-1',
      apply: random.pick(applyWays),
      write: random.pick(writeWays),
    };
    const troubles = groups
      .filter(({ isOfFleet = false }) => !isOfFleet || nodes > 1)
      .flatMap((group) => group.troubles.filter(({ isOfOne = false }) => !isOfOne || nodes === 1));
    const texts = random.chance(0.5)
      ? random.pick(troubles).steps(shown, chosen)
      : [random.chance(0.6) ? `ada: ${random.pick(commands)}` : `wait ${random.pick(['1s', '8s', '20s'])}`];
    steps.push(...(node === undefined ? texts : texts.map((text) => placedAt(node, text))));
    if (texts.includes('kill')) processes.set(name, 'dead');
    if (texts.includes('pause')) processes.set(name, 'paused');
    if (texts.includes('start') || texts.includes('go on')) processes.set(name, 'running');
  }
  return steps;
}

it.each([
  { nodes: 1, worlds: 40 },
  { nodes: 2, worlds: 10 },
  { nodes: 3, worlds: 5 },
])('breaks no law in $worlds worlds with $nodes nodes', async ({ nodes, worlds }) => {
  for (let seed = 0; seed < worlds; seed += 1) {
    const steps = pressed(createRandom(seed), nodes);
    expect({ steps, faults: await faultsOf(steps) }).toEqual({ steps, faults: [] });
  }
});
