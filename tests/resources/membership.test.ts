import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  adoptDocument,
  applyReports,
  closeServerConnections,
  closeServiceSessions,
  createListener,
  createResource,
  createSnapshot,
  deleteListener,
  deleteResource,
  evolve,
  patchService,
  revert,
  startService,
  stopMonitor,
  stopService,
  toDocument,
  type Decision,
  type GatewayDocument,
  type Listener,
  type Problem,
  type Snapshot,
} from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import { acts, transitionOf } from '../support/arbitrary-happening.ts';
import { wholeOf } from '../support/closing.ts';
import { configuration } from '../support/configuration.ts';
import { differencesOf } from '../support/document-difference.ts';
import { sampleSnapshot } from '../support/document.ts';
import {
  expectAccepted,
  expectDecision,
  expectRefused,
  expectUnchanged,
  someTime,
} from '../support/expect-decision.ts';
import { openedSession } from '../support/opened-session.ts';

const collections = ['services', 'servers', 'monitors', 'filters'] as const;
type Collection = (typeof collections)[number];
interface Definition {
  readonly name: string;
  readonly [member: string]: unknown;
}

const creating =
  (collection: Collection, definition: Definition) =>
  (snapshot: Snapshot): Decision =>
    createResource(snapshot, collection, definition as never, someTime);
const deleting =
  (collection: Collection, name: string, detach = false) =>
  (snapshot: Snapshot): Decision =>
    deleteResource(snapshot, collection, name, someTime, { detach });

/** The entries of a document, as clients define them: without what the gateway counts and sees. */
function definitionsIn(snapshot: Snapshot): readonly (readonly [Collection, Definition])[] {
  const document = toDocument(snapshot) as unknown as Readonly<Record<Collection, readonly Definition[]>>;
  return collections.flatMap((collection) =>
    document[collection].map((entry): readonly [Collection, Definition] => {
      const seen = /^(?:total_connections|started|(?:state|status)_(?:reason|since))$/;
      const own = Object.fromEntries(Object.entries(entry).filter(([name]) => !seen.test(name)));
      const { state, status } = own as { readonly state?: string; readonly status?: readonly string[] };
      const wanted = state === undefined ? {} : { state: state === 'stopped' ? 'stopped' : 'started' };
      const set = status === undefined ? {} : { status: status.filter((word) => word === 'maintenance') };
      return [collection, { ...own, ...wanted, ...set, name: entry.name }];
    }),
  );
}

/** Stops a service or monitor, which must be stopped before it goes. */
function stopped(snapshot: Snapshot, collection: Collection, name: string): Snapshot {
  if (collection === 'services') return stopService(snapshot, name, someTime).next;
  return collection === 'monitors' ? stopMonitor(snapshot, name, someTime).next : snapshot;
}

const faultsOf = ({ errors = [] }: Problem): readonly string[] =>
  errors.map(({ pointer, code, detail }) => `${pointer} ${code}: ${detail}`);

describe('whatever is created', () => {
  // Promise: membership-inverse
  it('is there as defined, and goes without a trace', () => {
    fc.assert(
      fc.property(documents, documents, (present, other) => {
        const from = createSnapshot(present);
        for (const [collection, definition] of definitionsIn(createSnapshot(other))) {
          if (from[collection].find(definition.name) !== undefined) continue;
          const decision = expectDecision(creating(collection, definition), from);
          // Its links may name nothing here.
          if (decision.outcome === 'refused') continue;
          const { next, resources } = decision;
          expect(resources).toContain(`/${collection}`);
          expect(next[collection].find(definition.name)?.name).toBe(definition.name);
          expect(configuration(createSnapshot(toDocument(next)))).toEqual(configuration(next));
          const gone = expectAccepted(
            deleting(collection, definition.name),
            stopped(next, collection, definition.name),
          ).next;
          expect(configuration(gone)).toEqual(configuration(from));
        }
      }),
      { numRuns: 40 },
    );
  });

  const names = fc.constantFrom('one', 'two', 'Three');
  const members = fc.record({
    collection: fc.constantFrom(...collections),
    name: names,
    detach: fc.boolean(),
    isNew: fc.boolean(),
    servers: fc.uniqueArray(names),
  });

  // Promise: membership-links
  it('leaves a document of which every link resolves, in any history', () => {
    fc.assert(
      fc.property(documents, fc.array(fc.oneof(acts, members), { maxLength: 25 }), (document, list) => {
        let current = createSnapshot(document);
        for (const what of list) {
          const before = current;
          const decision =
            'verb' in what ? transitionOf(what)(current, someTime) : memberDecision(what, current);
          current = decision.next;
          if (decision.outcome !== 'accepted') continue;
          expect(toDocument(evolve(before, wholeOf(decision, before).events))).toEqual(toDocument(current));
          expect(() => createSnapshot(toDocument(current))).not.toThrow();
        }
      }),
      { numRuns: 100 },
    );
  });

  const serverOf = (name: string) => ({ name, address: 'a', port: 1, protocol: 'pg' });
  interface Member {
    readonly collection: Collection;
    readonly name: string;
    readonly detach: boolean;
    readonly isNew: boolean;
    readonly servers: readonly string[];
  }

  function memberDecision({ collection, name, detach, isNew, servers }: Member, from: Snapshot): Decision {
    if (!isNew) return deleting(collection, name, detach)(from);
    const links = servers
      .filter((each) => from.servers.find(each) !== undefined)
      .map((each) => `/servers/${each}`);
    const definition = {
      services: { name, router: 'cli', servers: links },
      servers: serverOf(name),
      monitors: { name, module: 'm', servers: links },
      filters: { name, module: 'm' },
    }[collection];
    return creating(collection, definition)(from);
  }
});

describe('a creation', () => {
  it('is unchanged if an equal resource is there, and says in what another one differs', () => {
    const server = { name: 'db-9', address: 'a', port: 1, protocol: 'pg' };
    const from = createSnapshot({ servers: [{ ...server, status: ['running'] }] });
    expectUnchanged(creating('servers', server), from);
    expectUnchanged(creating('servers', { ...server, parameters: {} }), from);
    expect(expectRefused(creating('servers', { ...server, name: 'DB-9' }), from)).toMatchObject({
      code: 'resource-exists',
      detail: 'The existing server is called "db-9", which is the same name. Choose another name.',
    });
    const differing = expectRefused(creating('servers', { ...server, name: 'DB-9', port: 2 }), from);
    expect(differing.detail).toContain(
      '"db-9" already, and it differs from the given one in port. Change it with',
    );
    expect(expectRefused(creating('servers', { ...server, port: 2 }), from)).toMatchObject({
      code: 'resource-exists',
      detail:
        'There is a server named "db-9" already, and it differs from the given one in port. ' +
        'Change it with PATCH /servers/db-9, or choose another name.',
    });
    const secret = { ...server, parameters: { token: { sealed: 'sealed' } } };
    const sealed = createSnapshot({ servers: [secret] });
    // A secret counts as another one always. Otherwise the answer would confirm a guess.
    for (const each of [secret, { ...secret, parameters: { ...secret.parameters, weight: 2 } }])
      expect(expectRefused(creating('servers', each), sealed).detail).toContain(
        'differs from the given one in parameters. Change it with PATCH /servers/db-9,',
      );
  });

  it.each<[string, object, string]>([
    [
      'with PATCH',
      { user: 'ada', servers: ['/servers/db-1'] },
      'servers, user. Change it with PATCH /services/Sales, or choose another name.',
    ],
    ['to start', { state: 'started' }, 'state. Start or stop it, or choose another name.'],
    [
      'to start, with PATCH too',
      { state: 'started', user: 'ada' },
      'state, user. Change it with PATCH /services/Sales, start or stop it, or choose another name.',
    ],
    [
      'only to delete',
      { name: 'SALES', router: 'other', user: 'ada' },
      'router, user. Delete it first with DELETE /services/Sales, or choose another name.',
    ],
  ])('says what to do with another resource: %s', (_what, members, detail) => {
    const sales = { name: 'Sales', router: 'cli', state: 'stopped' as const };
    const from = createSnapshot({
      servers: [{ name: 'db-1', address: 'a', port: 1, protocol: 'pg' }],
      services: [sales],
    });
    const refusal = expectRefused(creating('services', { ...sales, ...members }), from);
    expect(refusal.detail).toContain(`it differs from the given one in ${detail}`);
  });

  it('starts a service as a second step, and rests on the list and on what it names', () => {
    const from = createSnapshot({ servers: [{ name: 'db-1', address: 'a', port: 1, protocol: 'pg' }] });
    const definition = { name: 'New', router: 'cli', servers: ['/servers/DB-1'] };
    const { effects, resources, next } = expectAccepted(creating('services', definition), from);
    expect(effects.map(({ type }) => type)).toEqual(['service.create', 'service.start']);
    expect(effects[0]).toMatchObject({ to: { state: 'stopped', servers: ['/servers/db-1'] } });
    expect(resources).toEqual(expect.arrayContaining(['/services', '/services/New', '/servers/db-1']));
    expect(next.services.find('new')?.state).toBe('started');
  });

  const seen = 'field-not-modifiable: is what the gateway counts or sees: leave the member out';
  const db = { name: 'db', address: 'a', port: 1, protocol: 'pg' };

  it.each<[string, Collection, Definition, readonly string[]]>([
    [
      'what the gateway counts and sees',
      'services',
      { name: 'New', router: 'cli', total_connections: 3, started: '2020-01-01T00:00:00Z', state: 'failed' },
      [
        `/total_connections ${seen}`,
        `/started ${seen}`,
        '/state field-not-modifiable: must be one of "started", "stopped"; the gateway reports others',
      ],
    ],
    [
      'the words of a monitor',
      'servers',
      { ...db, status: ['maintenance', 'running'] },
      ['/status/1 field-not-modifiable: must be "maintenance"; the gateway reports others'],
    ],
    [
      'a word that no status has, beside one of a monitor',
      'servers',
      { ...db, status: ['bogus', 'running'] },
      [0, 1].map((at) => `/status/${String(at)} validation-failed: must be "maintenance"`),
    ],
    [
      'a state that there is not, a link that names nothing, and a member that is missing',
      'monitors',
      { name: 'New', servers: ['/servers/none'], state: 'running' },
      [
        '/module validation-failed: is required',
        '/state validation-failed: must be one of "started", "stopped"',
        '/servers/0 link-unresolved: "/servers/none" names no existing resource: correct the link',
      ],
    ],
    [
      'a sealed parameter that is not secret here',
      'filters',
      { name: 'New', module: 'm', parameters: { pin: { value: { sealed: 'sealed' } } } },
      [
        '/parameters/pin validation-failed: is sealed, and is not declared secret here; start the interface with this name in secretParameters',
      ],
    ],
  ])('refuses %s', (_what, collection, definition, faults) => {
    const problem = expectRefused(creating(collection, definition), createSnapshot({}));
    expect(faultsOf(problem).toSorted()).toEqual(faults.toSorted());
  });

  it('is a TypeError for a collection that cannot change', () => {
    expect(() => createResource(sampleSnapshot(), 'users' as never, {} as never, someTime)).toThrow(
      TypeError,
    );
    expect(() => deleteResource(sampleSnapshot(), '__proto__' as never, 'x', someTime)).toThrow(TypeError);
  });

  it.each<[string, unknown, string]>([
    ['null', null, 'options must be an object'],
    ['a text that is not true', { detach: 'false' }, 'detach must be true or false'],
    ['a misspelt name', { detatch: true }, 'Did you mean detach?'],
  ])('takes no %s as its options', (_what, options, message) => {
    const remove = (): Decision =>
      deleteResource(sampleSnapshot(), 'servers', 'db-serv-3', someTime, options as never);
    expect(remove).toThrow(TypeError);
    expect(remove).toThrow(message);
  });
});

describe('a deletion', () => {
  it('forgets the counter of a service: a new one of its name begins at 0', () => {
    const from = createSnapshot({
      services: [{ name: 'Sales', router: 'cli', state: 'stopped', total_connections: 7 }],
    });
    const gone = expectAccepted(deleting('services', 'Sales'), from).next;
    const again = expectAccepted(creating('services', { name: 'Sales', router: 'cli' }), gone).next;
    expect(again.sessions.totalOfService('sales')).toBe(0);
    expect(startService(again, 'Sales', someTime).outcome).toBe('unchanged');
  });

  it('ends what has opened on the resource since the decision', () => {
    const from = createSnapshot({
      servers: [{ name: 'db-1', address: 'a', port: 1, protocol: 'pg' }],
      services: [{ name: 'Sales', router: 'cli', state: 'stopped' }],
    });
    const connections = [{ id: 0, server: 'db-1', role: 'slave', state: 'Connected' }];
    const opened = { ...openedSession(1), service: 'sales', connections };
    const open = applyReports(from, [opened], { now: 0 }).next;
    const without = (collection: Collection, name: string): Snapshot =>
      evolve(open, expectAccepted(deleting(collection, name), from).events);
    expect(without('services', 'Sales').sessions.size).toBe(0);
    expect([...without('servers', 'db-1').sessions].map(({ connections }) => connections)).toEqual([[]]);
  });
});

describe('a refusal because nothing has a name', () => {
  const listener = { name: 'first', protocol: 'pg', address: '::', port: 1 };
  const replacing = [{ op: 'replace', path: '/servers', value: ['/servers/db-9'] }] as const;

  it.each<[string, string, (snapshot: Snapshot) => Decision]>([
    ['a patch', '/services', (from) => patchService(from, 'Nothing', replacing, someTime)],
    ['a start', '/services', (from) => startService(from, 'Nothing', someTime)],
    ['a stop', '/monitors', (from) => stopMonitor(from, 'Nothing', someTime)],
    ['a deletion', '/filters', deleting('filters', 'Nothing')],
    ['a closing of sessions', '/services', (from) => closeServiceSessions(from, 'Nothing', someTime)],
    ['a closing of connections', '/servers', (from) => closeServerConnections(from, 'Nothing', someTime)],
    ['a new listener', '/services', (from) => createListener(from, 'Nothing', listener, someTime)],
    ['no listener', '/services/Bare-Service', (from) => deleteListener(from, 'Bare Service', 'x', someTime)],
    ['a link of a patch', '/servers', (from) => patchService(from, 'My Service', replacing, someTime)],
    [
      'a link of a creation',
      '/servers',
      creating('services', { name: 'New', router: 'cli', servers: ['/servers/db-9'] }),
    ],
  ])('rests on the list, because a command in flight may create it: %s', (_what, link, decide) => {
    const decision = decide(sampleSnapshot());
    expect(decision.outcome).toBe('refused');
    expect(decision.resources).toContain(link);
  });
});

const first: Listener = { name: 'First', protocol: 'pg', address: '::', port: 5433 };
const second: Listener = { name: 'Second One', protocol: 'pg', address: '::', port: 5434 };
const listening: GatewayDocument = {
  services: [
    { name: 'Sales', router: 'cli', listeners: [first] },
    { name: 'Off', router: 'cli', state: 'stopped' },
  ],
};
const sales = createSnapshot(listening);

const adding =
  (service: string, definition: unknown) =>
  (from: Snapshot): Decision =>
    createListener(from, service, definition as Listener, someTime);
const removing =
  (service: string, name: string) =>
  (from: Snapshot): Decision =>
    deleteListener(from, service, name, someTime);
describe('a listener of a service', () => {
  // Promise: listener-inverse
  it('comes and goes, and each is the undo of the other', () => {
    const { next, events, effects, resources } = expectAccepted(adding('sales', second), sales);
    expect(effects).toEqual([
      {
        type: 'listener.create',
        resource: '/services/Sales/listeners/Second-One',
        ...{ service: 'sales', listener: 'second-one', to: second },
      },
    ]);
    expect(resources).toEqual(['/services/Sales', '/services/Sales/listeners/Second-One']);
    expect(next.services.find('sales')?.listeners).toEqual([first, second]);
    expect(configuration(createSnapshot(toDocument(next)))).toEqual(configuration(next));
    const { next: gone, events: deletion } = expectAccepted(removing('SALES', 'second one'), next);
    expect(configuration(gone)).toEqual(configuration(sales));
    const [creationUndone, deletionUndone] = [...events, ...deletion].map((event) => revert(event));
    expect(configuration(creationUndone?.(next, someTime).next ?? sales)).toEqual(configuration(sales));
    expect(configuration(deletionUndone?.(gone, someTime).next ?? sales)).toEqual(configuration(next));
    expect(creationUndone?.(gone, someTime).outcome).toBe('unchanged');
  });

  it('is unchanged if an equal one is there, and refused if another one is', () => {
    expectUnchanged(adding('Sales', first), sales);
    expect(expectRefused(adding('Sales', { ...first, port: 1 }), sales)).toMatchObject({
      code: 'resource-exists',
      detail:
        'The service "Sales" has a listener named "First" already, and it differs from the given one. Choose another name, or ' +
        'delete the listener first: DELETE /services/Sales/listeners/First.',
    });
    expect(expectAccepted(adding('Off', first), sales).effects).toHaveLength(1);
  });

  it('is refused with every fault of its definition', () => {
    const wrong = { name: 'x', address: '::', port: 0, parameters: { pin: { sealed: 'sealed' } } };
    expect(faultsOf(expectRefused(adding('Sales', { ...wrong, protocol: 5 }), sales))).toEqual([
      '/protocol validation-failed: must be a string, not a number',
      '/port validation-failed: must be at least 1',
      expect.stringMatching(
        /^\/parameters\/pin validation-failed: is sealed, and is not declared secret here/,
      ),
    ]);
    const secret = createSnapshot(listening, { secretParameters: ['pin'] });
    const plain = { ...second, parameters: { pin: 'x' } };
    expect(faultsOf(expectRefused(adding('Sales', plain), secret))).toEqual([
      '/parameters/pin validation-failed: is secret, and must not be plain text: write { "sealed": … } with the output of gateway-admin seal',
    ]);
  });

  it('is not found under another name, or at another service', () => {
    expect(expectRefused(adding('Nowhere', first), sales).code).toBe('service-not-found');
    expect(expectRefused(removing('Off', 'First'), sales)).toMatchObject({
      code: 'listener-not-found',
      detail: 'The service "Off" has no listener named "First". GET /services/Off/listeners lists them.',
    });
    expect(() => deleteListener(sales, 'Sales', 5 as never, someTime)).toThrow(TypeError);
  });

  // Promise: adopt-listeners
  it('is taken over from a document: what differs goes before what comes', () => {
    const moved = { ...first, port: 6000 };
    const given = createSnapshot({
      services: [
        { name: 'Sales', router: 'cli', listeners: [second, moved] },
        { name: 'Off', router: 'cli', state: 'started', listeners: [first] },
      ],
    });
    const decision = expectAccepted((from, context) => adoptDocument(from, given, context), sales);
    expect(decision.effects.map(({ type, resource }) => `${type} ${resource}`)).toEqual([
      'listener.delete /services/Sales/listeners/First',
      'listener.create /services/Sales/listeners/Second-One',
      'listener.create /services/Sales/listeners/First',
      'listener.create /services/Off/listeners/First',
      'service.start /services/Off',
    ]);
    expect(configuration(decision.next)).toEqual(configuration(given));
  });

  it('comes last when its deletion is undone, and its service is as it was created all the same', async () => {
    const definition = { name: 'New', router: 'cli', state: 'stopped', listeners: [first, second] } as const;
    const created = expectAccepted((from) => createResource(from, 'services', definition, someTime), sales);
    const deleted = expectAccepted(removing('New', 'First'), created.next);
    const [creation, deletion] = [...created.events, ...deleted.events];
    if (creation === undefined || deletion === undefined) throw new Error('There is no event');
    const { next } = revert(deletion)(deleted.next, someTime);
    expect(next.services.find('new')?.listeners).toEqual([second, first]);
    expect(expectAccepted(revert(creation), next).next.services.find('new')).toBeUndefined();
    expectUnchanged((from) => createResource(from, 'services', definition, someTime), next);
    const pointersTo = async (...listeners: readonly Listener[]): Promise<readonly string[]> => {
      const given = createSnapshot({
        services: [...(listening.services ?? []), { ...definition, state: 'stopped', listeners }],
      });
      return (await differencesOf(next, given)).map(({ pointer }) => pointer);
    };
    expect(await pointersTo(first, second)).toEqual([]);
    expect(await pointersTo(first, { ...second, port: 6000 })).toEqual(['/services/2/listeners/1/port']);
  });
});
