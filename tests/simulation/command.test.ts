import { expect, it } from '@jest/globals';
import { createSnapshot } from 'gateway-admin-core';
import { createRandom } from 'gateway-admin-core/testing';

import { eventsMissing } from '../support/command-event.ts';
import { anyCommand } from './command.ts';
import { document } from './simulation.ts';

it('sends commands that make every type of event', () => {
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
  // This event comes of a log-in.
  expect(eventsMissing(transitions, snapshot)).toEqual(['user.rehashed']);
});
