import { describe, expect, it } from '@jest/globals';
import {
  createListener,
  createResource,
  createSnapshot,
  deleteResource,
  type Transition,
} from 'gateway-admin-core';

import { configuration } from '../../support/configuration.ts';
import { Lives } from '../../support/lives.ts';

const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'cli' }] });

const listen =
  (name: string, port: number): Transition =>
  (from, context) =>
    createListener(from, 'Sales', { name, protocol: 'pg', address: '::', port }, context);
const addServer =
  (name: string, port: number): Transition =>
  (from, context) =>
    createResource(from, 'servers', { name, address: '10.0.0.1', port, protocol: 'pg' }, context);
const addService =
  (name: string, limit: number): Transition =>
  (from, context) =>
    createResource(
      from,
      'services',
      { name, router: 'cli', state: 'stopped', max_connection: limit },
      context,
    );
const addMonitor =
  (name: string, interval: number): Transition =>
  (from, context) =>
    createResource(
      from,
      'monitors',
      { name, module: 'pgmon', state: 'stopped', monitor_interval: interval },
      context,
    );
const addFilter =
  (name: string, text: number): Transition =>
  (from, context) =>
    createResource(
      from,
      'filters',
      { name, module: 'tee', parameters: { a: { value: String(text), configurable: true } } },
      context,
    );

const creations: readonly (readonly [kind: string, create: (name: string, value: number) => Transition])[] = [
  ['listener', listen],
  ['server', addServer],
  ['service', addService],
  ['monitor', addMonitor],
  ['filter', addFilter],
];

/** What the next start leaves: the configuration, and where the gateway differs from it. */
async function standingOf(lives: Lives): Promise<unknown> {
  const { differences } = await lives.standing();
  return { shown: configuration(lives.admin.snapshot), differences };
}

/** Two commands that create one name are abandoned. The gateway carries out one of them. */
async function twice(
  create: (name: string, value: number) => Transition,
  landing: 'first' | 'second' | 'none',
): Promise<Lives> {
  const lives = await Lives.begin(snapshot);
  const first = await lives.abandon(create('out', 1));
  if (landing === 'first') await first.land();
  const second = await lives.abandon(create('OUT', 2));
  if (landing === 'second') await second.land();
  return lives;
}

/** A start hangs, its service is deleted, the creation of a new one hangs, and both calls land. */
async function startedBeforeCreated(): Promise<Lives> {
  const lives = await Lives.begin(snapshot);
  const create: Transition = (from, context) =>
    createResource(from, 'services', { name: 'New', router: 'cli' }, context);
  const start = await lives.abandon(create, 'done');
  const deleted = await lives.admin.execute((from, context) =>
    deleteResource(from, 'services', 'New', context),
  );
  if (deleted.outcome !== 'accepted') throw new Error(`The deletion is ${deleted.outcome}`);
  const creation = await lives.abandon(addService('New', 1));
  await creation.land();
  await start.land();
  return lives;
}

describe('two abandoned creations of one name', () => {
  it.each(creations)('leave a %s at the gateway that the interface does not show', async (_kind, create) => {
    const lives = await twice(create, 'second');
    expect(configuration(lives.admin.snapshot)).toEqual(configuration(snapshot));
    expect((await lives.standing()).differences).not.toEqual([]);
  });

  it.each(creations)('leave no %s if the gateway carries out none', async (_kind, create) => {
    const lives = await twice(create, 'none');
    await lives.restart();
    expect(await standingOf(lives)).toEqual({ shown: configuration(snapshot), differences: [] });
  });

  // Fails until the next start makes no event of an abandoned command. The second one also shows the resource of the
  // first one, until a creation is in place only if the gateway has the resource as defined.
  describe.each(creations)('of a %s', (_kind, create) => {
    it.failing.each(['first', 'second'] as const)(
      'leave nothing after the next start if the gateway carries out the %s',
      async (landing) => {
        const lives = await twice(create, landing);
        await lives.restart();
        expect(await standingOf(lives)).toEqual({ shown: configuration(snapshot), differences: [] });
      },
    );
  });
});

describe('an abandoned start, and the abandoned creation that it needs', () => {
  it('leave a service at the gateway that the interface does not show', async () => {
    const lives = await startedBeforeCreated();
    expect(lives.admin.snapshot.services.find('new')).toBeUndefined();
    expect(lives.gateway.state.services['new']?.state).toBe('started');
  });

  // Fails until the next start makes the resources of an abandoned command as they are shown.
  it.failing('leave nothing after the next start', async () => {
    const lives = await startedBeforeCreated();
    await lives.restart();
    expect(await standingOf(lives)).toEqual({ shown: configuration(snapshot), differences: [] });
  });
});
