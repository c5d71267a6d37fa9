import { expect, it } from '@jest/globals';
import { createSnapshot, type Snapshot, type Transition } from 'gateway-admin-core';
import { createRandom } from 'gateway-admin-core/testing';

import { eventsMissing } from '../support/command-event.ts';
import { Attacher } from './attacher.ts';
import { anyCommand } from './command.ts';
import { Founder } from './founder.ts';
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
    users: [...users, { name: 'ada', password: { sealed: 'opaque' } }],
    sessions,
  });
  const random = createRandom(0);
  const transitions = Array.from({ length: 500 }, (_, number) => anyCommand(random, number + 1).step);
  // The one comes of a log-in, and the other is a step of the random scenarios.
  const missing = ['user.rehashed', 'interface.updated'];
  expect(eventsMissing([...transitions, ...founding(snapshot)], snapshot)).toEqual(missing);
});

/** Commands that create and delete, and that let a service have what was created, each on what the commands before it have made. */
function founding(snapshot: Snapshot): readonly Transition[] {
  let current = snapshot;
  return [0, 1, 2, 3]
    .flatMap((seed) => [new Founder(createRandom(seed)), new Attacher(createRandom(seed))])
    .flatMap((guest) => Array.from({ length: 100 }, (_, number) => guest.next(2 * number + 1)).flat())
    .map(({ step }): Transition => {
      const then = current;
      current = step(then, { now: 0 }).next;
      return (_snapshot, context) => step(then, context);
    });
}
