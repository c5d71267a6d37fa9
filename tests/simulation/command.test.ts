import { expect, it } from '@jest/globals';
import { createSnapshot, type GatewayDocument } from 'gateway-admin-core';
import { createRandom } from 'gateway-admin-core/testing';

import { listenerCommand } from '../fleet/simulation/listening.ts';
import { eventsMissing } from '../support/command-event.ts';
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
  const common: Required<Pick<GatewayDocument, 'services' | 'monitors'>> & GatewayDocument = {
    ...document,
    services: services.map((each, at) => ({ ...each, state: at === 0 ? 'started' : 'stopped' })),
    monitors: monitors.map((each, at) => ({ ...each, state: at === 0 ? 'started' : 'stopped' })),
    users: [...users, { name: 'ada', passwordHash: 'opaque' }],
    sessions,
  };
  const listeners = [{ name: 'In', protocol: 'pg', address: '::', port: 1 }];
  const founded: GatewayDocument = {
    ...common,
    servers: [...servers, { name: 'db-3', address: '10.0.0.3', port: 1, protocol: 'pg' }],
    services: [...common.services, { name: 'New', router: 'cli', state: 'stopped', listeners }],
    monitors: [...common.monitors, { name: 'Third', module: 'pgmon', state: 'stopped' }],
    filters: [{ name: 'Extra', module: 'tee' }],
  };
  const random = createRandom(0);
  const founder = new Founder(random);
  const transitions = Array.from({ length: 500 }, (_, number) => [
    anyCommand(random, number + 1),
    listenerCommand(random, number + 1),
    ...founder.next(2 * number + 1),
  ]).flatMap((commands) => commands.map(({ step }) => step));
  // What is deleted must be there, and what is created must not.
  const missing = eventsMissing(transitions, createSnapshot(founded));
  const all = eventsMissing(transitions, createSnapshot(common)).filter((type) => missing.includes(type));
  // This event comes of a log-in.
  expect(all).toEqual(['user.rehashed']);
});
