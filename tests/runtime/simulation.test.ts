import { expect, it } from '@jest/globals';
import { createSnapshot } from 'gateway-admin-core';
import { createRandom } from 'gateway-admin-core/testing';

import { anyCommand } from '../simulation/command.ts';
import { document, simulate } from '../simulation/simulation.ts';
import { eventsMissing } from '../support/command-event.ts';

const seeds = Number(process.env['SIMULATION_SEEDS'] ?? 2000);
const first = Number(process.env['SIMULATION_FIRST'] ?? 0);

it('has commands that make every type of event', () => {
  const { services = [], monitors = [], users = [], servers = [] } = document;
  const sessions = services.map(({ name }, id) => ({
    id,
    state: 'ready',
    user: 'ada',
    address: '10.0.0.9',
    service: `/services/${name}`,
    connected: '2020-01-01T00:00:00Z',
    connections: servers.map((server) => ({
      server: `/servers/${server.name}`,
      role: 'Master',
      state: 'In use',
    })),
  }));
  const snapshot = createSnapshot({
    ...document,
    services: services.map((each, at) => ({ ...each, state: at === 0 ? 'started' : 'stopped' })),
    monitors: monitors.map((each, at) => ({ ...each, state: at === 0 ? 'started' : 'stopped' })),
    users: [...users, { name: 'ada', passwordHash: 'opaque' }],
    sessions,
  });
  const random = createRandom(0);
  const transitions = Array.from({ length: 500 }, (_, number) => anyCommand(random, number + 1).step);
  expect(eventsMissing(transitions, snapshot)).toEqual([]);
});

it(`tells the truth in every one of ${String(seeds)} worlds`, async () => {
  const failures: string[] = [];
  for (let seed = first; seed < first + seeds && failures.length < 5; seed += 1) {
    const faults = await simulate(seed).catch((error: unknown) => [String(error)]);
    const again = `SIMULATION_FIRST=${String(seed)} SIMULATION_SEEDS=1 npx jest tests/runtime/simulation`;
    if (faults.length > 0)
      failures.push([`Seed ${String(seed)}; to run it again: ${again}`, ...faults].join('\n  '));
  }
  expect(failures.join('\n')).toBe('');
}, 3_600_000);
