import { describe, expect, it } from '@jest/globals';
import {
  closeServiceSessions,
  createListener,
  createMemoryStore,
  createResource,
  createSnapshot,
  deleteResource,
  patchService,
  sequence,
  startMonitor,
  startService,
  stopService,
  toDocument,
  type Admin,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway, createVirtualClock, type ApplyWay } from 'gateway-admin-core/testing';

import { configuration } from '../../support/configuration.ts';
import { jsonOf } from '../../support/json-body.ts';
import { openRunning, type Running } from '../../support/running-admin.ts';

const snapshot = createSnapshot({
  servers: ['db-1', 'spare'].map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' })),
  services: [
    { name: 'Sales', router: 'cli', servers: ['/servers/db-1'] },
    { name: 'Idle', router: 'cli', state: 'stopped' },
  ],
  monitors: [{ name: 'Watch', module: 'pgmon', state: 'stopped' }],
});

const stopSales: Transition = (from, context) => stopService(from, 'Sales', context);
const list =
  (name: string): Transition =>
  (from, context) =>
    patchService(from, 'Sales', [{ op: 'add', path: '/servers/-', value: `/servers/${name}` }], context);

interface Shown {
  readonly id: string;
  readonly undo: string;
  readonly events: readonly { readonly type: string }[];
}

async function entriesOf(admin: Admin): Promise<readonly Shown[]> {
  const handled = await admin.handle({ method: 'GET', target: '/history', headers: {} });
  return (await jsonOf(handled.matched ? handled.response : {})) as readonly Shown[];
}

describe('an abandoned command that took effect, unseen', () => {
  const drop: Transition = (from, context) =>
    deleteResource(from, 'servers', 'spare', context, { detach: true });
  const createListing: Transition = (from, context) =>
    createResource(from, 'services', { name: 'New', router: 'cli', servers: ['/servers/spare'] }, context);

  const listener = { name: 'Out', protocol: 'pg', address: '::', port: 5433 };
  const listen =
    (port: number): Transition =>
    (from, context) =>
      createListener(from, 'Sales', { ...listener, port }, context);
  const dropAll = sequence(drop, (from, context) =>
    deleteResource(from, 'servers', 'db-1', context, { detach: true }),
  );

  /**
   * What has been done unseen is known only at the next start.
   *
   * @param done - the number of effects of an abandoned command that the gateway has answered
   */
  async function live(
    abandoned: readonly Transition[],
    later: Transition,
    done = 0,
  ): Promise<{ readonly start: () => Promise<Running>; readonly shown: unknown }> {
    const store = createMemoryStore();
    const clock = createVirtualClock(0);
    const gateway = createScriptedGateway({ snapshot, clock });
    const start = (): Promise<Running> => openRunning(store, { snapshot, gateway, clock });
    const { admin } = await start();
    admin.report(gateway.openSession('Sales'));
    const way: ApplyWay = (_effect, _context, perform) => {
      perform();
      return new Promise(() => undefined);
    };
    for (const command of abandoned) {
      gateway
        .will(...Array.from({ length: done }, () => 'done' as const), way)
        .otherwise({ inspect: 'not-in-place' });
      const execution = admin.execute(command);
      await clock.advance(admin.limits.effectDeadlineMs);
      expect((await execution).outcome).toBe('unknown');
      const [{ id } = { id: '' }] = admin.commands();
      expect((await admin.abandon(id)).outcome).toBe('accepted');
    }
    gateway.otherwise({});
    expect((await admin.execute(later)).outcome).toBe('accepted');
    await admin.close();
    return { start, shown: configuration(admin.snapshot) };
  }

  it.each([
    ['a deletion of what is listed since', drop, list('spare')],
    ['a list of what is deleted since', list('spare'), drop],
    ['a creation that lists what is deleted since', createListing, drop],
  ])('settles as %s, and no list names what is gone', async (_what, abandoned, later) => {
    const { start } = await live([abandoned], later);
    const second = await start();
    expect(second.admin.snapshot.servers.find('spare')).toBeUndefined();
    expect(() => createSnapshot(toDocument(second.admin.snapshot))).not.toThrow();
    await second.admin.close();
    const third = await start();
    expect(toDocument(third.admin.snapshot)).toEqual(toDocument(second.admin.snapshot));
    await third.admin.close();
  });

  // What it has done since would be taken back with it.
  it.each([
    ['has created what is there', listen(1), listen(1)],
    ['has created what is there otherwise', listen(1), listen(2)],
    ['has deleted what is gone', drop, drop],
    ['has deleted what is gone, and more', dropAll, drop],
  ])('settles without what it %s, so a restore leaves that alone', async (_what, abandoned, later) => {
    const { start, shown } = await live([abandoned], later);
    const { admin } = await start();
    const oldest = (await entriesOf(admin)).at(-1);
    const target = `/history/${oldest?.id ?? ''}/restore`;
    expect(await admin.handle({ method: 'PUT', target, headers: {} })).toMatchObject({
      response: { status: 204 },
    });
    expect(configuration(admin.snapshot)).toEqual(shown);
    await admin.close();
  });

  const startIdle: Transition = (from, context) => startService(from, 'Idle', context);
  const startWatch: Transition = (from, context) => startMonitor(from, 'Watch', context);

  it.each([
    ['service', startIdle],
    ['monitor', startWatch],
  ])(
    'settles without the start of a %s that runs, so that of a later command can be undone',
    async (_what, begin) => {
      const { start } = await live([begin], begin);
      const { admin } = await start();
      const [later, ...others] = await entriesOf(admin);
      expect([later?.undo, others]).toEqual(['possible', []]);
      await admin.close();
    },
  );

  it('settles with what it has closed besides a change', async () => {
    const closeAll: Transition = (from, context) => closeServiceSessions(from, 'Sales', context);
    const { start } = await live([sequence(stopSales, closeAll)], drop, 1);
    const { admin } = await start();
    const [newest] = await entriesOf(admin);
    expect(newest).toMatchObject({
      events: [{ type: 'service.stopped' }, { type: 'sessions.closed', count: 1 }],
      undo: 'irreversible',
    });
    await admin.close();
  });

  it('settles once, if two commands have done the same', async () => {
    const { start } = await live([listen(1), listen(1)], dropAll);
    const { admin } = await start();
    const types = (await entriesOf(admin)).map(({ events }) => events[0]?.type);
    expect(types).toEqual(['listener.created', 'server.deleted']);
    await admin.close();
  });
});
