import { describe, expect, it } from '@jest/globals';
import { createSnapshot, redactSecrets, type Admin } from 'gateway-admin-core';
import { createClient, sendTo, undoOf, type Client, type ShownEvent } from 'gateway-admin-core/client';

import { runAdmin } from '../support/running-admin.ts';

function run(): { readonly admin: Admin; readonly client: Client } {
  const { admin } = runAdmin({
    snapshot: createSnapshot({
      services: [{ name: 'Sales', router: 'readconnroute', max_connection: 100 }],
      servers: [{ name: 'one', address: '192.0.2.1', port: 5432, protocol: 'pg' }],
      monitors: [{ name: 'Watch', module: 'pgmon' }],
      filters: [
        { name: 'Log', module: 'qlafilter', parameters: { path: { value: '/tmp', configurable: true } } },
      ],
    }),
  });
  return { admin, client: createClient(sendTo(admin)) };
}

/** The first event that a command made, as the interface shows it. */
async function shownAfter(admin: Admin, command: () => Promise<unknown>): Promise<ShownEvent> {
  const events = admin.events();
  await command();
  for await (const item of events) {
    if ('event' in item) return redactSecrets(item.event) as unknown as ShownEvent;
  }
  throw new Error('No event');
}

describe('undoOf', () => {
  it.each<[string, (client: Client) => Promise<unknown>]>([
    ['services.stop', (client) => client.services.stop('Sales')],
    [
      'services.patch',
      (client) => client.services.patch('Sales', [{ op: 'replace', path: '/max_connection', value: 5 }]),
    ],
    [
      'servers.patch',
      (client) => client.servers.patch('one', [{ op: 'replace', path: '/port', value: 5433 }]),
    ],
    ['monitors.stop', (client) => client.monitors.stop('Watch')],
    [
      'monitors.patch',
      (client) => client.monitors.patch('Watch', [{ op: 'replace', path: '/connect_timeout', value: 7 }]),
    ],
    [
      'filters.patch',
      (client) =>
        client.filters.patch('Log', [{ op: 'replace', path: '/parameters/path/value', value: '/x' }]),
    ],
  ])('gives the command that undoes %s', async (_name, command) => {
    const { admin, client } = run();
    const shown = async (): Promise<unknown> =>
      [
        await client.services.get('Sales', { fields: ['state', 'max_connection'] }),
        await client.servers.get('one'),
        await client.monitors.get('Watch'),
        await client.filters.get('Log'),
      ].map((answer) => answer.ok && { ...answer.value, started: undefined });
    const before = await shown();
    const undo = undoOf(await shownAfter(admin, () => command(client)));
    expect(await shown()).not.toEqual(before);
    expect(undo && (await client.run(undo))).toHaveProperty('ok', true);
    expect(await shown()).toEqual(before);
  });

  it('gives the start that undoes a stop, and the stop that undoes a start', async () => {
    const { admin, client } = run();
    expect(undoOf(await shownAfter(admin, () => client.services.stop('Sales')))?.id).toBe('services.start');
    expect(undoOf(await shownAfter(admin, () => client.services.start('Sales')))?.id).toBe('services.stop');
    expect(undoOf(await shownAfter(admin, () => client.monitors.stop('Watch')))?.id).toBe('monitors.start');
    expect(undoOf(await shownAfter(admin, () => client.monitors.start('Watch')))?.id).toBe('monitors.stop');
  });

  it('is refused by the interface if somebody has changed the same setting since', async () => {
    const { admin, client } = run();
    const limit = (value: number): Promise<unknown> =>
      client.services.patch('Sales', [{ op: 'replace', path: '/max_connection', value }]);
    const undo = undoOf(await shownAfter(admin, () => limit(5)));
    await limit(6);
    expect(undo && (await client.run(undo, { ifMatch: '"other"' }))).toMatchObject({
      problem: { code: 'precondition-failed' },
    });
    expect(undo && (await client.run(undo))).toMatchObject({
      problem: { code: 'patch-test-failed' },
    });
  });

  it('leaves secrets as they are, and names them', async () => {
    const { admin, client } = run();
    const both = undoOf(
      await shownAfter(admin, () =>
        client.services.patch('Sales', [
          { op: 'add', path: '/password', value: 'engine' },
          { op: 'replace', path: '/max_connection', value: 5 },
        ]),
      ),
    );
    expect(both).toMatchObject({
      leftOut: ['/password'],
      given: [
        'sales',
        [
          { op: 'test', path: '/max_connection' },
          { op: 'replace', path: '/max_connection', value: 100 },
        ],
      ],
    });
    const secretAlone = await shownAfter(admin, () =>
      client.services.patch('Sales', [{ op: 'add', path: '/password', value: 'other' }]),
    );
    expect(undoOf(secretAlone)).toBeUndefined();
  });

  it('gives nothing for what cannot be undone from outside', async () => {
    const { admin, client } = run();
    const created = await shownAfter(admin, () => client.users.create({ name: 'ada', password: 'engine' }));
    expect(created.type).toBe('user.created');
    expect(undoOf(created)).toBeUndefined();
    expect(undoOf(await shownAfter(admin, () => client.gateway.flushLogs()))).toBeUndefined();
  });
});
