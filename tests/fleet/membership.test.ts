/**
 * Creation and deletion in a fleet: each node makes what another one has created, and says why it cannot.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createListener,
  createResource,
  createSnapshot,
  deleteListener,
  deleteResource,
  EffectRefusedError,
  patchServer,
  patchService,
  sequence,
  stopService,
  toDocument,
  type Execution,
  type Json,
  type Transition,
} from 'gateway-admin-core';
import { hold, type ApplyWay } from 'gateway-admin-core/testing';

import { limit } from '../support/transition.ts';
import { altered, compact, createWorld, snapshot as given, type Node, type World } from './node.ts';

const leaseMs = 3000;
let world: World;
let one: Node;
let other: Node;

beforeEach(async () => {
  world = createWorld();
  one = await world.open('one', leaseMs);
  other = await world.open('other', leaseMs);
  await world.clock.advance(100);
});

afterEach(async () => {
  for (const { admin } of [one, other]) await admin.close();
});

const server = (name: string, protocol = 'pgbackend') => ({
  name,
  address: '10.0.0.9',
  port: 5432,
  protocol,
});
const service = (name: string, router = 'cli', servers: readonly string[] = []) => ({
  name,
  router,
  servers,
});

type Created =
  readonly ['servers', ReturnType<typeof server>] | readonly ['services', ReturnType<typeof service>];

function creating(...[collection, definition]: Created): Transition {
  return (snapshot, context) => createResource(snapshot, collection, definition, context);
}

const deletingLocal: Transition = (snapshot, context) =>
  deleteListener(snapshot, 'My Service', 'Local Listener', context);
const stopping: Transition = (snapshot, context) => stopService(snapshot, 'New', context);

function deleting(collection: 'servers' | 'services', name: string, detach = false): Transition {
  return (snapshot, context) => deleteResource(snapshot, collection, name, context, { detach });
}

function listing(name: string, servers: readonly string[]): Transition {
  const operations = [{ op: 'replace', path: '/servers', value: servers }] as const;
  return (snapshot, context) => patchService(snapshot, name, operations, context);
}

/** Executes a command, and waits until the other node could follow. */
async function settle({ admin }: Node, transition: Transition): Promise<Execution> {
  const execution = await admin.execute(transition);
  await world.clock.advance(100);
  return execution;
}

async function statusAt({ admin }: Node, target: string): Promise<{ status: number; tag: string }> {
  const handled = await admin.handle({ method: 'GET', target, headers: {} });
  if (!handled.matched) throw new Error(`There is nothing at ${target}`);
  const { status, headers } = handled.response;
  const [epoch, command] = (headers['etag'] ?? '').split('.');
  return { status, tag: `${String(epoch)}.${String(command)}` };
}

const codesAt = ({ admin }: Node): readonly string[] =>
  admin.fleet.nodes()[0]?.behind.map(({ resource, code }) => `${resource} ${String(code)}`) ?? [];
const namesAt = ({ admin }: Node): readonly string[] =>
  Array.from(admin.snapshot.servers, ({ name }) => name);
const serversOf = ({ admin }: Node, name: string): readonly string[] =>
  admin.snapshot.services.find(name)?.settings.servers ?? [];

/** What the gateway of a node has done from now on. */
function doneFrom({ gateway }: Node): () => readonly string[] {
  const before = gateway.applied.length;
  return () => gateway.applied.slice(before).map(({ type, resource }) => `${type} ${resource}`);
}

/** Lets a node read nothing while others change something. */
async function asleep(node: Node, changes: () => Promise<unknown>): Promise<void> {
  node.cut(true);
  await changes();
  node.cut(false);
  await world.clock.advance(6000);
}

describe('what is created at one node', () => {
  // Promise: fleet-membership
  it('is there at the others, with the same tags and in the same order, and goes again', async () => {
    expect(await settle(one, creating('servers', server('db-9')))).toMatchObject({ outcome: 'accepted' });
    for (const target of ['/servers', '/servers/DB-9']) {
      const shown = await statusAt(other, target);
      expect(shown.status).toBe(200);
      expect(shown).toEqual(await statusAt(one, target));
    }
    expect(other.gateway.state.servers).toHaveProperty('db-9');
    expect(await settle(other, deleting('servers', 'db-9'))).toMatchObject({ outcome: 'accepted' });
    expect((await statusAt(one, '/servers/db-9')).status).toBe(404);
    expect(await statusAt(one, '/servers')).toEqual(await statusAt(other, '/servers'));
    expect([one, other].flatMap(({ gateway, admin }) => gateway.differences(admin.snapshot))).toEqual([]);
  });

  it('is made in any order, and is listed in that of the fleet', async () => {
    const held = hold();
    other.gateway.will(held.apply);
    await settle(one, creating('services', service('New')));
    await settle(one, creating('servers', server('db-9')));
    await settle(one, creating('servers', server('db-8')));
    expect(namesAt(other).slice(-2)).toEqual(['db-9', 'db-8']);
    held.done();
    other.gateway.will(new EffectRefusedError('No room.'));
    await settle(one, creating('servers', server('db-7')));
    await settle(one, creating('servers', server('db-6')));
    expect(namesAt(other).slice(-1)).toEqual(['db-6']);
    await world.clock.advance(2000);
    expect(namesAt(other)).toEqual(namesAt(one));
    expect(await statusAt(other, '/servers')).toEqual(await statusAt(one, '/servers'));
  });

  it('goes at once when nothing lists it any more', async () => {
    await settle(one, creating('servers', server('db-9')));
    await settle(one, listing('My Service', ['/servers/db-9']));
    other.cut(true);
    await settle(one, deleting('servers', 'db-9', true));
    other.cut(false);
    while (serversOf(other, 'My Service').length > 0) await world.clock.advance(10);
    await world.clock.advance(10);
    expect([codesAt(other), namesAt(other)]).toEqual([[], namesAt(one)]);
  });

  it('is no 404 at a node that has not made it yet, and holds up other creations of its kind there', async () => {
    other.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await settle(one, creating('servers', server('db-9')));
    const patch: Transition = (snapshot, context) =>
      patchServer(snapshot, 'db-9', [{ op: 'replace', path: '/port', value: 7 }], context);
    const answers = [patch, creating('servers', server('db-8'))].map((each) => other.admin.execute(each));
    await world.clock.advance(30_000);
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject({
        outcome: 'refused',
        problem: { code: 'node-behind', detail: expect.stringMatching(/\/servers\/db-9 .*No room/) },
      });
    other.gateway.otherwise({ apply: 'done' });
    await world.clock.advance(60_000);
  });

  it('is compared by its name: two nodes create no two things of one name', async () => {
    const both = [
      one.admin.execute(creating('servers', server('db-9'))),
      other.admin.execute(creating('servers', server('DB-9'))),
    ];
    await world.clock.advance(2000);
    const outcomes = (await Promise.all(both)).map((each) =>
      'problem' in each ? each.problem.code : each.outcome,
    );
    expect(outcomes.toSorted()).toEqual(['accepted', 'resource-exists']);
    expect(namesAt(one)).toEqual(namesAt(other));
  });
});

describe('a command of a host', () => {
  it('waits for a command of another node on the same resource, in any spelling of the name', async () => {
    const held = hold();
    one.gateway.will(held.apply);
    const first = one.admin.execute(limit(7));
    await world.clock.advance(100);
    const asked: (number | undefined)[] = [];
    const second = other.admin.execute((snapshot, context) => {
      asked.push(snapshot.services.find('My Service')?.settings.max_connection);
      const decision = limit(8)(snapshot, context);
      if (decision.outcome !== 'accepted') return decision;
      const { next, events, effects } = decision;
      return { outcome: 'accepted', next, events, effects, resources: ['/services/MY-SERVICE'] };
    });
    await world.clock.advance(1000);
    held.done();
    await world.clock.advance(5000);
    expect([(await first).outcome, (await second).outcome]).toEqual(['accepted', 'accepted']);
    expect(
      [one, other].map(({ admin }) => admin.snapshot.services.find('My Service')?.settings.max_connection),
    ).toEqual([8, 8]);
    expect(asked.at(-1)).toBe(7);
  });
});

describe('a node that cannot follow', () => {
  it('stops a service with sessions that must go, says why it is there, and deletes it after the last one', async () => {
    await settle(one, creating('services', service('New')));
    other.admin.report(other.gateway.openSession('new'));
    await asleep(other, () => settle(one, sequence(stopping, deleting('services', 'New'))));
    expect(codesAt(other)).toEqual(['/services/New resource-in-use']);
    expect(other.admin.snapshot.services.find('New')?.state).toBe('stopped');
    expect(one.admin.fleet.nodes()[1]?.behind[0]?.detail).toContain(
      'has open sessions (1): close them first',
    );
    other.admin.report(other.gateway.closeSession(0));
    await world.clock.advance(60_000);
    expect([codesAt(other), (await statusAt(other, '/services/New')).status]).toEqual([[], 404]);
  });

  it('says that its gateway does not support it, once, and follows when the gateway does', async () => {
    const old = await world.open('old', leaseMs, { supports: [] });
    await settle(one, creating('servers', server('db-9')));
    await world.clock.advance(5000);
    expect(codesAt(old)).toEqual(['/servers/db-9 not-supported']);
    expect(old.errors.map(String)).toEqual([
      expect.stringContaining('This gateway cannot create /servers/db-9'),
    ]);
    await settle(one, deleting('servers', 'db-9'));
    expect(codesAt(old)).toEqual([]);
    await old.admin.close();
  });

  it('says that a listener cannot be opened there, and has it once it can', async () => {
    const listener = { name: 'Second', protocol: 'pgclient', address: '0.0.0.0', port: 5999 };
    other.gateway.otherwise({ apply: new EffectRefusedError('The port is taken.') });
    await settle(one, (snapshot, context) => createListener(snapshot, 'My Service', listener, context));
    expect(codesAt(other)).toEqual(['/services/My-Service effect-refused']);
    const target = '/services/My-Service/listeners/Second';
    const deletion = other.admin.handle({ method: 'DELETE', target, headers: {} });
    await world.clock.advance(30_000);
    expect(await deletion).toMatchObject({
      response: { status: 409, body: expect.stringContaining('node-behind') },
    });
    other.gateway.otherwise({ apply: 'done' });
    await world.clock.advance(60_000);
    expect((await statusAt(other, target)).status).toBe(200);
  });

  it('deletes nothing that the fleet still lists, although its own gateway does not', async () => {
    await settle(one, creating('servers', server('db-9')));
    other.gateway.otherwise({ apply: new EffectRefusedError('No room.') });
    await settle(one, listing('My Service', ['/servers/db-9']));
    const answer = other.admin.execute(deleting('servers', 'db-9'));
    await world.clock.advance(30_000);
    expect(await answer).toMatchObject({ outcome: 'refused', problem: { code: 'node-behind' } });
    other.gateway.otherwise({ apply: 'done' });
    await world.clock.advance(60_000);
    expect(serversOf(other, 'My Service')).toEqual(['/servers/db-9']);
  });
});

describe('a name that is used again while a node reads nothing', () => {
  it('is another service there too: the first one goes, with its router', async () => {
    await settle(one, creating('services', service('New')));
    const done = doneFrom(other);
    await asleep(other, async () => {
      await settle(one, stopping);
      await settle(one, deleting('services', 'New'));
      await settle(one, creating('services', service('NEW', 'readconnroute')));
    });
    expect(done()).toEqual([
      'service.stop /services/New',
      'service.delete /services/New',
      'service.create /services/NEW',
      'service.start /services/NEW',
    ]);
    expect(other.admin.snapshot.services.find('new')).toMatchObject({ name: 'NEW', router: 'readconnroute' });
    expect(await statusAt(other, '/services/new')).toEqual(await statusAt(one, '/services/new'));
  });

  it('stays in the lists that have it, as it is spelt now', async () => {
    await settle(one, creating('servers', server('db-9')));
    await settle(one, listing('My Service', ['/servers/db-9', '/servers/db-serv-1']));
    const done = doneFrom(other);
    await asleep(other, async () => {
      await settle(one, deleting('servers', 'db-9', true));
      await settle(one, creating('servers', server('DB-9', 'other')));
      await settle(one, listing('My Service', ['/servers/DB-9', '/servers/db-serv-1']));
    });
    expect(done()).toEqual([
      'service.update /services/My-Service',
      'server.delete /servers/db-9',
      'server.create /servers/DB-9',
      'service.update /services/My-Service',
    ]);
    expect(serversOf(other, 'My Service')).toEqual(['/servers/DB-9', '/servers/db-serv-1']);
    for (const target of ['/servers', '/services/My-Service'])
      expect(await statusAt(other, target)).toEqual(await statusAt(one, target));
  });
});

describe('a resource in the place of another', () => {
  it('comes back into the lists that have it, although the gateway has refused a part', async () => {
    await settle(one, creating('servers', server('db-9')));
    await settle(one, listing('My Service', ['/servers/db-9', '/servers/db-serv-1']));
    await world.clock.advance(5000);
    const refusal = new EffectRefusedError('No room.');
    // Neither the new server nor the old one comes into being at first.
    other.gateway.will('done', 'done', refusal, refusal);
    await asleep(other, async () => {
      await settle(one, deleting('servers', 'db-9', true));
      await settle(one, creating('servers', server('DB-9', 'other')));
      await settle(one, listing('My Service', ['/servers/DB-9', '/servers/db-serv-1']));
    });
    await world.clock.advance(60_000);
    expect(codesAt(other)).toEqual([]);
    expect(serversOf(other, 'My Service')).toEqual(['/servers/DB-9', '/servers/db-serv-1']);
    expect(await statusAt(other, '/services/My-Service')).toEqual(
      await statusAt(one, '/services/My-Service'),
    );
  });
});

describe('a resource in the place of another, which the gateway has not made yet', () => {
  it('holds up what lists it: the list names the earlier one here', async () => {
    await settle(one, creating('servers', server('db-9')));
    const deletesNothing: ApplyWay = (effect, _context, perform) => {
      if (effect.type === 'server.delete') return Promise.reject(new EffectRefusedError('Clients use it.'));
      perform();
      return Promise.resolve();
    };
    other.gateway.otherwise({ apply: deletesNothing });
    await asleep(other, async () => {
      await settle(one, deleting('servers', 'db-9'));
      await settle(one, creating('servers', server('DB-9', 'other')));
      await settle(one, listing('My Service', ['/servers/DB-9']));
    });
    expect(serversOf(other, 'My Service')).toEqual(['/servers/db-9']);
    expect(codesAt(other)).toEqual(['/servers/db-9 effect-refused', '/services/My-Service node-behind']);
    const answer = other.admin.execute(limit(7));
    await world.clock.advance(30_000);
    expect(await answer).toMatchObject({
      outcome: 'refused',
      problem: {
        code: 'node-behind',
        detail: expect.stringMatching(/\/services\/My-Service yet.*\/servers\/DB-9 yet.*Clients use it/),
      },
    });
    other.gateway.otherwise({ apply: 'done' });
    await world.clock.advance(60_000);
    expect([codesAt(other), serversOf(other, 'My Service')]).toEqual([[], ['/servers/DB-9']]);
    const target = '/services/My-Service';
    expect(await statusAt(other, target)).toEqual(await statusAt(one, target));
  });
});

describe('a resource in the place of another, whose command gets no answer in time', () => {
  const lists = ['/servers/DB-9', '/servers/db-serv-1'];

  /**
   * Puts another server into the place of one that a service lists. The other node follows a change of the service
   * first.
   *
   * @param answers - those of the gateway of the other node, from the replacement on
   */
  async function replaceServer(...answers: readonly ApplyWay[]): Promise<void> {
    await settle(one, creating('servers', server('db-9')));
    await settle(one, listing('My Service', ['/servers/db-9', '/servers/db-serv-1']));
    other.gateway.otherwise({ inspect: new Error('I cannot tell.') });
    other.gateway.will('done', ...answers);
    await asleep(other, async () => {
      await settle(one, limit(7));
      await settle(one, deleting('servers', 'db-9', true));
      await settle(one, creating('servers', server('DB-9', 'other')));
      await settle(one, listing('My Service', lists));
    });
    await world.clock.advance(6000);
    expect(other.admin.commands()).toMatchObject([{ outcome: 'unknown', resource: '/services/My-Service' }]);
  }

  /** Adds a server to the service that lacks one at the other node. */
  async function addServer(): Promise<void> {
    expect(other.admin.commands()).toEqual([]);
    expect(serversOf(other, 'My Service')).toEqual(['/servers/db-serv-1']);
    const operations = [{ op: 'add', path: '/servers/-', value: '/servers/db-serv-3' }] as const;
    const adding = other.admin.execute((snapshot, context) =>
      patchService(snapshot, 'My Service', operations, context),
    );
    other.gateway.otherwise({ inspect: 'in-place' });
    await world.clock.advance(100_000);
    expect((await adding).outcome).toBe('accepted');
    expect(codesAt(other)).toEqual([]);
    for (const node of [one, other])
      expect(serversOf(node, 'My Service')).toEqual([...lists, '/servers/db-serv-3']);
  }

  it('comes back into the lists that have it before another command changes them', async () => {
    const held = hold();
    await replaceServer(held.apply);
    held.done();
    await world.clock.settle();
    await addServer();
  });

  it('comes back into the lists that have it, also after the command was abandoned', async () => {
    await replaceServer('done', 'done', hold().apply);
    const [command] = other.admin.commands();
    await other.admin.abandon(String(command?.id));
    await addServer();
  });
});

describe('a node whose abandoned deletion took effect, unseen', () => {
  it('creates the server again at its next start, and puts it back into the lists', async () => {
    await settle(one, creating('servers', server('db-9')));
    other.gateway.will(hold().apply).otherwise({ inspect: 'not-in-place' });
    const deletion = other.admin.execute(deleting('servers', 'db-9'));
    await world.clock.advance(other.admin.limits.effectDeadlineMs);
    expect((await deletion).outcome).toBe('unknown');
    const [{ id } = { id: '' }] = other.admin.commands();
    await other.admin.abandon(id);
    other.gateway.otherwise({});
    const lists = [...serversOf(one, 'My Service'), '/servers/db-9'];
    await settle(one, listing('My Service', lists));
    expect(serversOf(other, 'My Service')).toEqual(lists);
    await other.admin.close();
    // The gateway of this process has no such server.
    other = await world.open('other', leaseMs);
    expect(() => createSnapshot(toDocument(other.admin.snapshot))).not.toThrow();
    const patch = await other.admin.execute(limit(7));
    await world.clock.advance(6000);
    expect([patch.outcome, codesAt(other), serversOf(other, 'My Service')]).toEqual(['accepted', [], lists]);
    expect(other.gateway.applied.map(({ type }) => type)).toEqual([
      'server.create',
      'service.update',
      'service.update',
    ]);
  });
});

describe('a command in parts', () => {
  it('begins no part after the others have ended it, and says that the earlier ones stay', async () => {
    const memory = world.memory.open();
    const ending = async (record: Json | undefined): Promise<void> => {
      const { command, part, resources } = record as { command: string; part?: number; resources: string[] };
      if (part !== 1) return;
      const end = { type: 'settlement', level: 1, node: 'other', life: 'x', last: true, why: 'abandoned' };
      const { position } = await memory.load();
      await memory.append([{ ...end, command, resources, events: [] }], { expectedPosition: position });
    };
    const third = await world.open('third', leaseMs, {
      wrap: (store) =>
        altered(store, {
          append: async (records, options) => {
            await ending(records[0]);
            return store.append(records, options);
          },
        }),
    });
    const answer = await settle(third, creating('services', service('New')));
    expect(answer).toMatchObject({
      outcome: 'refused',
      problem: { code: 'fenced', detail: expect.stringContaining('Earlier parts of the command') },
      events: [{ type: 'service.created' }],
    });
    for (const { admin } of [one, third]) expect(admin.snapshot.services.find('New')?.state).toBe('stopped');
    expect(third.gateway.applied.map(({ type }) => type)).toEqual(['service.create']);
    await third.admin.close();
  });
});

describe('a compaction', () => {
  it('keeps the listeners that nodes have created and deleted, and leaves each node its own', async () => {
    const listener = (name: string, port: number) => ({
      name,
      protocol: 'pgclient',
      address: '0.0.0.0',
      port,
    });
    const own = (given.services.find('My Service')?.listeners ?? []).map(({ name }) => name);
    await settle(
      one,
      creating('services', { ...service('New'), ...{ listeners: [listener('First', 5001)] } }),
    );
    await settle(one, (snapshot, context) =>
      createListener(snapshot, 'New', listener('More', 5002), context),
    );
    await settle(one, (snapshot, context) =>
      createListener(snapshot, 'My Service', listener('More', 5003), context),
    );
    for (const name of ['Less', 'Local Listener']) {
      await settle(one, (snapshot, context) =>
        createListener(snapshot, 'My Service', listener(name, 5004), context),
      );
      await settle(one, (snapshot, context) => deleteListener(snapshot, 'My Service', name, context));
    }
    await compact(world);
    const third = await world.open('third', leaseMs);
    const namesIn = (name: string): readonly string[] | undefined =>
      third.admin.snapshot.services.find(name)?.listeners.map((each) => each.name);
    expect(namesIn('New')).toEqual(['First', 'More']);
    expect(namesIn('My Service')).toEqual([...own, 'More']);
    await third.admin.close();
  });
});

describe('a creation that a set-back of the store takes back', () => {
  it('goes at a node whose gateway was making it meanwhile', async () => {
    const restore = world.memory.backup();
    const making = hold();
    other.gateway.will(making.apply);
    await one.admin.execute(creating('servers', server('db-9')));
    await making.begun;
    restore();
    await world.clock.advance(3000);
    making.done();
    await world.clock.advance(3000);
    for (const { admin, gateway } of [one, other]) {
      expect(admin.snapshot.servers.find('db-9')).toBeUndefined();
      expect(gateway.differences(admin.snapshot)).toEqual([]);
    }
  });
});

describe('a listener of the document of a node', () => {
  it('is not deleted: each node keeps its own', async () => {
    const asked = doneFrom(one);
    const { snapshot } = one.admin;
    expect(await settle(one, deletingLocal)).toMatchObject({
      outcome: 'refused',
      problem: {
        code: 'listener-of-node',
        status: 409,
        detail:
          'The listener "Local Listener" is in the document of the node one, and belongs to this node alone. Nothing was ' +
          'changed. Change the document of the node, and start the node again.',
      },
    });
    expect([asked(), one.admin.snapshot]).toEqual([[], snapshot]);
    // What a node has created is that of all nodes.
    const listener = { name: 'More', protocol: 'pgclient', address: '0.0.0.0', port: 5005 };
    await settle(one, (now, context) => createListener(now, 'My Service', listener, context));
    const deletingMore: Transition = (now, context) => deleteListener(now, 'My Service', 'More', context);
    expect(await settle(other, deletingMore)).toMatchObject({ outcome: 'accepted' });
    expect(one.admin.snapshot.services.find('my-service')?.listeners).toEqual(
      snapshot.services.find('my-service')?.listeners,
    );
  });
});

describe('a listener that only some documents have', () => {
  it('gives its service another tag at each node when it is deleted, also over a compaction', async () => {
    const { services = [], ...document } = toDocument(given);
    const without = createSnapshot({
      ...document,
      services: services.map((each) => (each.name === 'My Service' ? { ...each, listeners: [] } : each)),
    });
    const lacking = await world.open('lacking', leaseMs, { snapshot: without });
    const listener = { name: 'Local Listener', protocol: 'pgclient', address: '0.0.0.0', port: 5004 };
    await settle(lacking, (snapshot, context) => createListener(snapshot, 'My Service', listener, context));
    await settle(lacking, (snapshot, context) =>
      deleteListener(snapshot, 'My Service', listener.name, context),
    );
    await world.clock.advance(2000);
    const versionAt = ({ admin }: Node) => admin.snapshot.services.find('My Service')?.version.command;
    expect([versionAt(other), versionAt(lacking)]).toEqual([versionAt(one), versionAt(one)]);
    await lacking.admin.close();
    await compact(world, without);
    const third = await world.open('third', leaseMs);
    expect(versionAt(third)).toBe(versionAt(one));
    await third.admin.close();
  });
});
