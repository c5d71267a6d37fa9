/**
 * The way back: whatever was done, undone and restored, the history says what can be undone, and leads back step by
 * step.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, toDocument, type Admin, type GatewayDocument, type Json } from 'gateway-admin-core';
import { createClient, sendTo, type Answer, type Client } from 'gateway-admin-core/client';

import { textInAnyOrder } from '../support/configuration.ts';
import { openedSession } from '../support/opened-session.ts';
import { runAdmin } from '../support/running-admin.ts';

const server = (name: string, port: number): object => ({ name, address: 'a', port, protocol: 'pg' });
const parameters = { a: { value: '1', configurable: true } };

const document = {
  servers: [server('db-1', 1), server('spare', 2)],
  services: [
    { name: 'Sales', router: 'rw', servers: ['/servers/db-1'], filters: ['/filters/Log'], max_connection: 1 },
    { name: 'Idle', router: 'rw', state: 'stopped', servers: ['/servers/db-1'] },
  ],
  monitors: [
    { name: 'Main', module: 'pgmon', servers: ['/servers/db-1'] },
    { name: 'Second', module: 'pgmon', state: 'stopped' },
  ],
  users: [{ name: 'ada', password: { sealed: 'opaque' } }],
  filters: [
    { name: 'Log', module: 'log', parameters },
    { name: 'Spare', module: 'log', parameters },
  ],
} as GatewayDocument;

type Act = (client: Client) => Promise<Answer<unknown> | undefined>;

const set = (path: string, value: Json) => [{ op: 'add', path, value }] as const;
const listener = (name: string, port: number) => ({ name, protocol: 'pg', address: '::', port });

/** What a client does, by subject: at least one act for each command that the history can have. */
const acts = {
  'of services': {
    'start Sales': (client) => client.services.start('Sales'),
    'stop Sales': (client) => client.services.stop('Sales'),
    'drain Sales': (client) => client.services.drain('Sales', { reason: 'kernel' }),
    'drain Sales for a while': (client) => client.services.drain('Sales', { timeout: 60, then: 'resume' }),
    'resume Sales': (client) => client.services.resume('Sales'),
    'start Idle': (client) => client.services.start('Idle'),
    'patch Sales to 5': (client) => client.services.patch('Sales', set('/max_connection', 5)),
    'patch Sales to 7': (client) => client.services.patch('Sales', set('/max_connection', 7)),
    'patch the servers of Sales': (client) =>
      client.services.patch('Sales', set('/servers/0', '/servers/spare')),
    'create Idle': (client) => client.services.create({ name: 'Idle', router: 'rw', state: 'stopped' }),
    'create IDLE with another router': (client) => client.services.create({ name: 'IDLE', router: 'ro' }),
    'create a service that runs': (client) =>
      client.services.create({ name: 'New', router: 'rw', servers: ['/servers/db-1'] }),
    'delete Idle': (client) => client.services.delete('Idle'),
    'add a listener': (client) => client.services.createListener('Idle', listener('In', 1)),
    'add the listener at another port': (client) => client.services.createListener('Idle', listener('IN', 2)),
    'delete the listener': (client) => client.services.deleteListener('Idle', 'In'),
    'close the sessions of Sales': (client) => client.services.closeSessions('Sales'),
  },
  'of servers': {
    'drain db-1': (client) => client.servers.drain('db-1', {}),
    'resume db-1': (client) => client.servers.resume('db-1'),
    'set maintenance': (client) => client.servers.setMaintenance('db-1'),
    'clear maintenance': (client) => client.servers.clearMaintenance('db-1'),
    'patch spare': (client) => client.servers.patch('spare', set('/port', 9)),
    'create spare': (client) => client.servers.create(server('Spare', 3) as never),
    'create spare with another protocol': (client) =>
      client.servers.create({ ...server('spare', 2), protocol: 'other' } as never),
    'create a server': (client) => client.servers.create(server('new', 3) as never),
    'delete spare': (client) => client.servers.delete('spare'),
    'detach spare': (client) => client.servers.delete('spare', { detach: true }),
    'detach db-1': (client) => client.servers.delete('db-1', { detach: true }),
    'close the connections to db-1': (client) => client.servers.closeConnections('db-1'),
  },
  'of monitors': {
    'start Second': (client) => client.monitors.start('Second'),
    'stop Main': (client) => client.monitors.stop('Main'),
    'patch Main': (client) => client.monitors.patch('Main', set('/monitor_interval', 7)),
    'create a monitor that runs': (client) => client.monitors.create({ name: 'New', module: 'pgmon' }),
    'delete Second': (client) => client.monitors.delete('Second'),
    'create Second with another module': (client) =>
      client.monitors.create({ name: 'Second', module: 'other', servers: ['/servers/spare'] }),
  },
  'of filters': {
    'patch Log': (client) => client.filters.patch('Log', set('/parameters/a', '2')),
    'create a filter': (client) => client.filters.create({ name: 'new', module: 'log', parameters }),
    'delete Spare': (client) => client.filters.delete('Spare'),
    'detach Log': (client) => client.filters.delete('Log', { detach: true }),
    'create Spare with another module': (client) =>
      client.filters.create({ name: 'SPARE', module: 'other', parameters: {} }),
  },
  'of anything': {
    'stop Sales and patch Main': (client) =>
      client.sequence.send({
        commands: [
          { method: 'PUT', path: '/services/Sales/stop' },
          { method: 'PATCH', path: '/monitors/Main', body: set('/monitor_interval', 8) },
        ],
      }),
    'close a session': (client) => client.sessions.close(1),
    'close the sessions of a user': (client) => client.sessions.closeMany({ user: 'bi' }),
    'create a user': (client) => client.users.create({ name: 'joan', password: 'secret' }),
    'change a password': (client) => client.users.patch('ada', set('/password', 'changed')),
    'delete a user': (client) => client.users.delete('ada'),
    'flush the logs': (client) => client.gateway.flushLogs(),
    'undo the last entry': (client) => undoEntry(client, 0),
    'undo the last entry but one': (client) => undoEntry(client, 1),
    'undo the last entry but two': (client) => undoEntry(client, 2),
    'restore what was an entry ago': (client) => restoreEntry(client, 1),
    'restore what was three entries ago': (client) => restoreEntry(client, 3),
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Act>>>>;

async function undoEntry(client: Client, at: number): Promise<Answer<unknown> | undefined> {
  const entry = (await entriesOf(client))[at];
  return entry && client.history.undo(entry.id);
}

async function restoreEntry(client: Client, at: number): Promise<Answer<unknown> | undefined> {
  const entry = (await entriesOf(client))[at];
  return entry && client.history.restore(entry.id);
}

async function entriesOf(client: Client, range?: readonly [number, number]) {
  const listed = await client.history.list(range && { range });
  if (!listed.ok) throw new Error(listed.problem.detail);
  return listed.value.elements;
}

/** The sessions of two users, each with a connection to db-1. */
const sessions = ['app', 'bi'].map((user, id) => ({
  ...openedSession(id),
  user,
  service: 'Sales',
  connections: [{ id: 0, server: 'db-1', role: 'Master', state: 'In use' }],
}));

/** A gateway after a walk, with the configuration before each entry. */
class Walk {
  readonly admin: Admin = runAdmin({ snapshot: createSnapshot(document) }).admin;
  readonly client: Client = createClient(sendTo(this.admin));
  readonly before = new Map<string, string>();

  constructor() {
    this.admin.report(sessions);
  }

  get configuration(): string {
    return textInAnyOrder(toDocument(this.admin.snapshot));
  }

  async take(act: Act): Promise<void> {
    const before = this.configuration;
    const answer = await act(this.client);
    if (answer?.ok === false && ![404, 409].includes(answer.problem.status))
      expect(answer.problem).toMatchObject({ code: 'link-unresolved' });
    const [entry] = await entriesOf(this.client, [0, 0]);
    if (entry !== undefined && !this.before.has(entry.id)) this.before.set(entry.id, before);
  }

  /**
   * What the history says of each entry is what an undo would be answered. An entry names its undo, unless an undo of
   * the undo has brought the change back.
   */
  async checkUndo(): Promise<void> {
    const standing = new Map<string, string>();
    for (const entry of await entriesOf(this.client)) {
      const { id, undo, undoes } = entry;
      const planned = await this.client.history.undo.plan(id);
      const isAccepted = planned.ok && planned.value.outcome === 'accepted';
      expect([id, undo, isAccepted]).toEqual([id, undo, undo === 'possible']);
      // The newest entry comes first: whether this entry was itself undone is known before what it undoes is looked at.
      expect([id, entry.undone_by]).toEqual([id, standing.get(id)]);
      if (undoes !== undefined && !standing.has(id)) standing.set(undoes, id);
    }
  }

  /** Undoes the entries from the last to the first, as far as the history says that each can be undone. */
  async goBack(): Promise<void> {
    let entries = await entriesOf(this.client);
    for (const { id } of entries) {
      const undo = entries.find((each) => each.id === id)?.undo;
      if (undo === 'irreversible') return;
      if (undo === 'possible') {
        const undone = await this.client.history.undo(id);
        expect([id, undone.ok ? undefined : undone.problem]).toEqual([id, undefined]);
        entries = await entriesOf(this.client);
        expect(entries[0]).toMatchObject({ undoes: id });
        expect(entries.find((each) => each.id === id)).toMatchObject({
          undo: 'refused',
          undone_by: entries[0]?.id,
        });
      }
      expect([id, this.configuration]).toEqual([id, this.before.get(id)]);
    }
  }
}

type Acts = Readonly<Record<string, Act>>;
const anyAct = fc.constantFrom(...Object.entries(Object.assign({}, ...Object.values(acts)) as Acts));

describe('the way back', () => {
  // Promise: history-step-by-step
  it('leads back over any two acts and a restore', async () => {
    await fc.assert(
      fc.asyncProperty(anyAct, anyAct, async ([, first], [, second]) => {
        const walk = new Walk();
        await walk.take(first);
        await walk.take(second);
        await walk.checkUndo();
        await walk.take(acts['of anything']['restore what was an entry ago']);
        await walk.checkUndo();
        await walk.goBack();
        await walk.admin.close();
      }),
      { numRuns: 5000 },
    );
  });

  it('leads back over any walk, with undos of undos, restores, and names used again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyAct, { minLength: 2, maxLength: 12 }), async (walked) => {
        const walk = new Walk();
        for (const [, act] of walked) await walk.take(act);
        await walk.checkUndo();
        const [last] = await entriesOf(walk.client);
        const there = walk.configuration;
        await walk.goBack();
        await walk.checkUndo();
        if (last !== undefined) {
          const restored = await walk.client.history.restore(last.id);
          expect(restored.ok ? undefined : restored.problem).toBeUndefined();
          expect(walk.configuration).toBe(there);
        }
        await walk.admin.close();
      }),
      { numRuns: 100 },
    );
  });
});
