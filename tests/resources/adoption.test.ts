import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  adoptDocument,
  applyReports,
  createResource,
  createSnapshot,
  deleteResource,
  evolve,
  revert,
  toDocument,
  type GatewayDocument,
  type Problem,
  type ServerStatusWord,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import { acts, reportOf, reports, transitionOf } from '../support/arbitrary-happening.ts';
import { configuration } from '../support/configuration.ts';
import { differencesOf } from '../support/document-difference.ts';
import { sampleDocument, sampleSnapshot } from '../support/document.ts';
import { namedResources } from '../support/internal.ts';
import { planted } from '../support/planted.ts';
import {
  expectAccepted,
  expectDecision,
  expectRefused,
  expectUnchanged,
  someTime,
} from '../support/expect-decision.ts';

type Collection = 'servers' | 'services' | 'monitors' | 'filters' | 'users';
type Entry = Readonly<Record<string, unknown>>;

/** The sample document, with other members in one entry; `undefined` leaves a member out. */
function sampleWith(collection: Collection, name: string, members: Entry): GatewayDocument {
  const entries = (sampleDocument[collection] ?? []) as unknown as readonly Entry[];
  const changed = entries.map((entry) => {
    const all = Object.entries(entry['name'] === name ? { ...entry, ...members } : entry);
    return Object.fromEntries(all.filter(([, value]) => value !== undefined));
  });
  return { ...sampleDocument, [collection]: changed };
}

function without(collection: Collection, name: string): GatewayDocument {
  const entries = (sampleDocument[collection] ?? []) as readonly { readonly name: string }[];
  return { ...sampleDocument, [collection]: entries.filter((entry) => entry.name !== name) };
}

function adopting(document: GatewayDocument, only?: readonly string[], prune = false): Transition {
  const given = createSnapshot(document);
  return (snapshot, context) =>
    adoptDocument(snapshot, given, context, { ...(only === undefined ? {} : { only }), prune });
}

function effectsOf(
  document: GatewayDocument,
  only?: readonly string[],
  prune?: boolean,
  from?: Snapshot,
): readonly string[] {
  const { effects } = expectAccepted(adopting(document, only, prune), from);
  return effects.map(({ type, resource }) => `${type} ${resource}`);
}

const serverEntry = { name: 'db-0', address: '10.0.0.1', port: 5432, protocol: 'pg' };

function leftBehindIn(transition: Transition, from: Snapshot): readonly (string | undefined)[] {
  const decision = expectDecision(transition, from);
  if (decision.outcome === 'refused') throw new Error(decision.problem.detail);
  return (decision.notes ?? []).map(({ resource }) => resource);
}

function faultsOf({ errors = [] }: Problem): readonly string[] {
  return errors.map(({ pointer, code, detail }) => `${pointer} ${code}: ${detail}`);
}

describe('adoptDocument', () => {
  // Promise: adopt-document
  it('takes over the settings and the states in which the document differs, in one decision', () => {
    const document: GatewayDocument = {
      ...sampleDocument,
      servers: sampleWith('servers', 'db-serv-1', { port: 6432, parameters: {} }).servers ?? [],
      services: (
        sampleWith('services', 'My Service', { state: 'stopped', max_connection: 7 }).services ?? []
      ).map((service) => (service.name === 'Bare Service' ? { ...service, state: 'started' } : service)),
      monitors: sampleWith('monitors', 'Idle Monitor', { state: 'started', read_timeout: 9 }).monitors ?? [],
      filters: sampleWith('filters', 'Query Log', { parameters: {} }).filters ?? [],
    };
    const { next, events, effects, resources } = expectAccepted(adopting(document));
    expect(effects.map(({ type, resource }) => `${type} ${resource}`)).toEqual([
      'service.stop /services/My-Service',
      'server.update /servers/db-serv-1',
      'service.update /services/My-Service',
      'monitor.update /monitors/Idle-Monitor',
      'filter.update /filters/Query-Log',
      'service.start /services/Bare-Service',
      'monitor.start /monitors/Idle-Monitor',
    ]);
    expect(events.every(({ at, actor }) => at === someTime.now && actor === someTime.actor)).toBe(true);
    expect(resources).toHaveLength(4 + 4 + 3 + 3);
    expect(configuration(next)).toEqual(configuration(createSnapshot(document)));
  });

  it.each<[string, GatewayDocument]>([
    ['is the same', sampleDocument],
    [
      'has its resources in another order',
      {
        ...sampleDocument,
        servers: (sampleDocument.servers ?? []).toReversed(),
        services: (sampleDocument.services ?? []).toReversed(),
        filters: (sampleDocument.filters ?? []).toReversed(),
      },
    ],
    [
      'has its listeners in another order',
      sampleWith('services', 'My Service', {
        listeners: (sampleDocument.services?.[0]?.listeners ?? []).toReversed(),
      }),
    ],
    [
      'writes its links in another way',
      sampleWith('services', 'My Service', { servers: ['/servers/DB-SERV-1', '/servers/db%20server%202'] }),
    ],
    ['has a service started that has failed', sampleWith('services', 'Report Service', { state: 'started' })],
    [
      'has another reason for a failure',
      sampleWith('monitors', 'Failed Monitor', {
        state_reason: 'other',
        state_since: '2020-01-01T00:00:00Z',
      }),
    ],
    ['has another time of start', sampleWith('services', 'My Service', { started: '2020-01-01T00:00:00Z' })],
    ['has other counters', sampleWith('services', 'My Service', { total_connections: 5000 })],
    ['has other words in the status of a server', sampleWith('servers', 'db-serv-1', { status: ['slave'] })],
    [
      'has other words and the maintenance that there is',
      sampleWith('servers', 'DB Server 2', { status: ['running', 'maintenance'] }),
    ],
    ['has no sessions', { ...sampleDocument, sessions: [] }],
    [
      'says something else of the process',
      {
        ...sampleDocument,
        gateway: { version: '9' },
        logs: {},
        threads: { load_average: { historic: 0, current: 0, '1min': 0, '5min': 0, '15min': 0 }, threads: [] },
        tasks: [],
        modules: [],
      },
    ],
    ['lacks a user', without('users', 'ada')],
    [
      'has a new user',
      { ...sampleDocument, users: [...(sampleDocument.users ?? []), { name: 'eve', passwordHash: 'x' }] },
    ],
    ['has another password for a user', sampleWith('users', 'ada', { passwordHash: 'other' })],
  ])('is unchanged if the document %s', (_what, document) => {
    expectUnchanged(adopting(document));
    expect(adopting(document)(sampleSnapshot(), someTime).resources).toHaveLength(14);
  });

  it.each<[string, ServerStatusWord[], ServerStatusWord[]]>([
    ['db-serv-1', ['slave', 'maintenance'], ['maintenance', 'master', 'running']],
    ['DB Server 2', ['master'], ['slave', 'running']],
    ['db-serv-3', ['maintenance', 'running'], ['maintenance']],
  ])('takes over only maintenance of the status of a server: %s %p', (name, status, expected) => {
    const { next } = expectAccepted(adopting(sampleWith('servers', name, { status })));
    expect(next.servers.find(name)?.settings.state).toEqual(expected);
  });

  it('takes over parameters of a filter that no client can change', () => {
    const parameters = {
      match: { value: 'update', configurable: false },
      limit: { value: '1', configurable: false },
    };
    const { next } = expectAccepted(adopting(sampleWith('filters', 'Hint', { parameters })));
    expect(next.filters.find('hint')?.settings.parameters).toEqual(parameters);
  });

  it('takes over links to resources in use, in any spelling', () => {
    const links = { servers: ['/servers/DB-SERV-1'], filters: ['/filters/spare'] };
    const { next } = expectAccepted(adopting(sampleWith('services', 'Bare Service', links)));
    expect(next.services.find('bare service')?.settings).toMatchObject({
      servers: ['/servers/db-serv-1'],
      filters: ['/filters/Spare'],
    });
  });

  it('unsets a setting that the document leaves out', () => {
    const { next } = expectAccepted(
      adopting(
        sampleWith('services', 'My Service', { user: undefined, filters: undefined, root_user: undefined }),
      ),
    );
    const { settings } = next.services.find('my service') ?? {};
    expect(settings).toMatchObject({ filters: [], max_connection: 100 });
    expect(settings).not.toHaveProperty('user');
    expect(settings).not.toHaveProperty('root_user');
  });

  it.each([
    ['another password', 'v1.sealed.other'],
    ['no password', undefined],
  ])('takes over %s of a service', (_what, passwordSealed) => {
    const { next } = expectAccepted(adopting(sampleWith('services', 'My Service', { passwordSealed })));
    expect(next.services.find('my service')?.settings.passwordSealed).toBe(passwordSealed);
  });

  const fixed = 'this field cannot change while the gateway runs';
  // Promise: adopt-refused
  it.each<[string, GatewayDocument, readonly string[]]>([
    [
      'another name',
      sampleWith('services', 'Bare Service', { name: 'bare service' }),
      [
        `/services/1/name op-not-allowed: the document has "bare service", and "Bare Service" is in use; ${fixed}`,
      ],
    ],
    [
      'another router and another module',
      {
        ...sampleWith('services', 'My Service', { router: 'cli' }),
        monitors: sampleWith('monitors', 'Idle Monitor', { module: 'other' }).monitors ?? [],
      },
      [
        `/services/0/router op-not-allowed: the document has "cli", and "readconnroute" is in use; ${fixed}`,
        `/monitors/1/module op-not-allowed: the document has "other", and "pgmon" is in use; ${fixed}`,
      ],
    ],
  ])('refuses %s, with a fault for each place', (_what, document, faults) => {
    const problem = expectRefused(adopting(document));
    expect(problem.code).toBe('op-not-allowed');
    expect(faultsOf(problem)).toEqual(faults);
    expect(problem.detail).toMatch(
      /\. Nothing was changed\. Name the .* with the option only, or start the gateway with this document and an empty store\.$/,
    );
  });

  it('refuses the whole document if one place cannot be taken over, and rests on every resource', () => {
    const document = {
      ...sampleWith('services', 'My Service', { max_connection: 7, router: 'cli' }),
      servers: sampleWith('servers', 'db-serv-1', { port: 1 }).servers ?? [],
    };
    const decision = expectDecision(adopting(document));
    expect(decision).toMatchObject({
      outcome: 'refused',
      problem: { errors: [{ pointer: '/services/0/router' }] },
    });
    expect(decision.resources).toHaveLength(14);
  });

  describe('of resources that come and go', () => {
    const servers = [{ name: 'db-9', address: '10.0.0.9', port: 5432, protocol: 'pg' }];
    const filters = [{ name: 'Trace', module: 'tee' }];
    const listing = { router: 'cli', servers: ['/servers/db-9'], filters: ['/filters/Trace'] };
    const services = [
      { name: 'New', ...listing },
      { name: 'Off', ...listing, state: 'stopped' as const },
    ];
    const monitors = [{ name: 'Watch', module: 'pgmon', servers: ['/servers/db-9'] }];
    const whole: GatewayDocument = { services, servers, monitors, filters };
    const sessions = [
      {
        id: 1,
        state: 'ready' as const,
        user: 'a',
        address: 'b',
        service: '/services/New',
        connected: '2020-01-01T00:00:00Z',
      },
    ];
    const none: GatewayDocument = { servers: [], services: [], monitors: [], filters: [] };
    const empty = createSnapshot(none);
    const emptying: Transition = (snapshot, context) =>
      adoptDocument(snapshot, empty, context, { prune: true, allowEmpty: true });

    // Promise: adopt-membership
    it('creates what is listed before what lists it, and starts it last', () => {
      expect(effectsOf(whole, undefined, false, empty)).toEqual([
        'server.create /servers/db-9',
        'filter.create /filters/Trace',
        'service.create /services/New',
        'service.create /services/Off',
        'monitor.create /monitors/Watch',
        'service.start /services/New',
        'monitor.start /monitors/Watch',
      ]);
      const { next } = expectAccepted(adopting(whole), empty);
      expect(configuration(next)).toEqual(configuration(createSnapshot(whole)));
    });

    it('leaves what the document lacks, and deletes it with prune: what lists others before them', () => {
      expectUnchanged(adopting(none), createSnapshot(whole));
      expect(leftBehindIn(adopting(none), createSnapshot(whole))).toEqual([
        '/servers/db-9',
        '/services/New',
        '/services/Off',
        '/monitors/Watch',
        '/filters/Trace',
      ]);
      expect(leftBehindIn(adopting(none, ['/servers/db-9']), createSnapshot(whole))).toEqual([
        '/servers/db-9',
      ]);
      expect(leftBehindIn(emptying, createSnapshot(whole))).toEqual([]);
      const { next, effects } = expectAccepted(emptying, createSnapshot(whole));
      expect(effects.map(({ type, resource }) => `${type} ${resource}`)).toEqual([
        'service.stop /services/New',
        'monitor.stop /monitors/Watch',
        'service.delete /services/New',
        'service.delete /services/Off',
        'monitor.delete /monitors/Watch',
        'server.delete /servers/db-9',
        'filter.delete /filters/Trace',
      ]);
      expect(configuration(next)).toEqual(configuration(empty));
    });

    // Promise: adopt-absent
    it.each<[string, GatewayDocument, readonly string[]]>([
      ['servers and monitors alone', { servers, monitors }, []],
      ['services alone', { services: [] }, ['/services/New', '/services/Off']],
      ['monitors alone', { monitors: [] }, ['/monitors/Watch']],
    ])('deletes nothing of a kind of which the document has no list: %s', (_what, document, deleted) => {
      const decision = expectDecision(adopting(document, undefined, true), createSnapshot(whole));
      const events = decision.outcome === 'accepted' ? decision.events : [];
      expect(events.filter(({ type }) => type.endsWith('.deleted')).map(({ resource }) => resource)).toEqual(
        deleted,
      );
    });

    it('rests on nothing of a kind of which the document has no list, and says nothing of it', () => {
      const decision = expectDecision(adopting({ monitors: [] }), createSnapshot(whole));
      expect(decision).toMatchObject({ outcome: 'unchanged', notes: [{ resource: '/monitors/Watch' }] });
      const { resources } = expectAccepted(
        adopting({ monitors: [] }, undefined, true),
        createSnapshot(whole),
      );
      expect(resources).toEqual(['/monitors/Watch', '/monitors']);
    });

    it('says that what is named stays if the document has no list of its kind', () => {
      const named = adopting({ monitors: [] }, ['/servers/db-9'], true);
      expectUnchanged(named, createSnapshot(whole));
      expect(leftBehindIn(named, createSnapshot(whole))).toEqual(['/servers/db-9']);
    });

    it('keeps a list as empty once something was created and deleted there', () => {
      const create: Transition = (state, context) =>
        createResource(state, 'filters', { name: 'Brief', module: 'tee' }, context);
      const remove: Transition = (state, context) => deleteResource(state, 'filters', 'Brief', context);
      const given = remove(create(createSnapshot({}), someTime).next, someTime).next;
      const adopt: Transition = (state, context) => adoptDocument(state, given, context, { prune: true });
      const present = createSnapshot({ filters, servers });
      expect(expectAccepted(adopt, present).next.filters.size).toBe(0);
    });

    // Promise: adopt-empty
    it.each<[string, GatewayDocument, GatewayDocument, readonly string[] | undefined]>([
      ['empty lists of every kind', none, whole, undefined],
      ['an empty list of the only kind that there is', { filters: [] }, { filters }, undefined],
      ['nothing for all that is named', none, { filters, servers }, ['/filters/trace', '/servers/db-9']],
    ])('refuses to delete everything without allowEmpty: %s', (_what, document, present, only) => {
      const problem = expectRefused(adopting(document, only, true), createSnapshot(present));
      expect(problem).toMatchObject({
        ...{ code: 'document-empty', status: 409 },
        detail:
          'The document would leave no server, service, monitor or filter. Nothing was changed. To delete all that ' +
          'there is, execute adoptDocument with the options prune and allowEmpty.',
      });
    });

    it('refuses to delete everything before it looks at what is open', () => {
      const problem = expectRefused(adopting(none, undefined, true), createSnapshot({ ...whole, sessions }));
      expect(problem.code).toBe('document-empty');
    });

    it('leaves an empty gateway empty without a word', () => {
      expectUnchanged(adopting(none, undefined, true), empty);
    });

    it('compares nothing with a document without lists, and says so', () => {
      const nothing = adopting({ users: [], sessions: [] }, undefined, true);
      expectUnchanged(nothing, createSnapshot(whole));
      expect(nothing(createSnapshot(whole), someTime)).toMatchObject({
        resources: [],
        notes: [
          {
            code: 'nothing-compared',
            detail:
              'Nothing was compared: the document has none of the members servers, services, monitors, filters',
          },
        ],
      });
    });

    it('tells what stays beside what changes, and counts what is more than ten', () => {
      const servers = Array.from({ length: 12 }, (_none, at) => ({
        ...serverEntry,
        name: `db-${String(at)}`,
      }));
      const [first = serverEntry] = servers;
      const { notes = [] } = expectAccepted(
        adopting({ servers: [{ ...first, port: 6432 }] }),
        createSnapshot({ servers }),
      );
      expect(notes).toHaveLength(11);
      expect(notes.map(({ detail }) => detail).slice(9)).toEqual([
        '/servers/db-10: not in the document, left as it is',
        '1 more: not in the document, left as they are',
      ]);
    });

    it('takes a server out of the lists before the server goes', () => {
      const less: GatewayDocument = {
        ...whole,
        servers: [],
        monitors: [],
        services: [{ name: 'New', router: 'cli' }],
      };
      expect(
        effectsOf(
          less,
          ['/servers/db-9', '/services/new', '/services/off', '/monitors/watch'],
          true,
          createSnapshot(whole),
        ),
      ).toEqual([
        'monitor.stop /monitors/Watch',
        'service.update /services/New',
        'service.delete /services/Off',
        'monitor.delete /monitors/Watch',
        'server.delete /servers/db-9',
      ]);
    });

    it('refuses to delete what is in use, and changes nothing', () => {
      const inUse = createSnapshot({ ...whole, sessions });
      expect(faultsOf(expectRefused(emptying, inUse))).toEqual([
        '/services/New/sessions resource-in-use: has open sessions (1): close them first',
      ]);
      const listed = adopting(none, ['/servers/db-9'], true);
      expect(faultsOf(expectRefused(listed, createSnapshot(whole)))).toHaveLength(3);
    });
  });

  describe('with only', () => {
    const document: GatewayDocument = {
      ...sampleWith('services', 'My Service', { max_connection: 7 }),
      servers: sampleWith('servers', 'db-serv-1', { port: 1 }).servers ?? [],
      filters: [...(sampleDocument.filters ?? []), { name: 'New', module: 'tee' }],
    };

    // Promise: adopt-only
    it('takes over the named resources and nothing else', () => {
      expect(effectsOf(document, ['/services/my%20service'])).toEqual([
        'service.update /services/My-Service',
      ]);
      expect(effectsOf(document, ['/servers/DB-SERV-1', '/services/Bare-Service'])).toEqual([
        'server.update /servers/db-serv-1',
      ]);
      expect(adopting(document, ['/servers/db-serv-1'])(sampleSnapshot(), someTime).resources).toEqual([
        '/servers/db-serv-1',
      ]);
    });

    it('is unchanged if the named resources do not differ, or none is named', () => {
      expectUnchanged(adopting(document, ['/services/Bare-Service']));
      expectUnchanged(adopting(document, []));
    });

    it('takes a link for the same if the document spells the name of the server in another way', () => {
      const spelled = sampleWith('servers', 'db-serv-1', { name: 'DB-SERV-1' });
      const linking = {
        ...spelled,
        services: (sampleDocument.services ?? []).map((each) => ({ ...each, user: 'x' })),
      };
      expectUnchanged(adopting(spelled, ['/services/My-Service']));
      const { next } = expectAccepted(adopting(linking, ['/services/My-Service']));
      expect(next.services.find('my service')?.settings).toMatchObject({
        user: 'x',
        servers: ['/servers/db-serv-1', '/servers/DB-Server-2'],
      });
    });

    it('creates and deletes named resources alone', () => {
      expect(effectsOf(document, ['/filters/new'])).toEqual(['filter.create /filters/New']);
      const gone = without('filters', 'Spare');
      expectUnchanged(adopting(gone, ['/filters/spare']));
      expect(effectsOf(gone, ['/filters/spare'], true)).toEqual(['filter.delete /filters/Spare']);
    });

    it('refuses a link to a server that only the document has, if that server is not named', () => {
      const servers = [{ name: 'fresh', address: 'fresh', port: 1, protocol: 'pgbackend' }];
      const linking = {
        ...sampleWith('monitors', 'Idle Monitor', { servers: ['/servers/fresh'] }),
        servers: [...(sampleDocument.servers ?? []), ...servers],
      };
      expect(faultsOf(expectRefused(adopting(linking, ['/monitors/idle-monitor'])))).toEqual([
        expect.stringContaining('/monitors/1/servers op-not-allowed'),
      ]);
      const monitors = [{ name: 'New', module: 'pgmon', servers: ['/servers/fresh'] }];
      const linked = {
        ...sampleDocument,
        servers: [...(sampleDocument.servers ?? []), ...servers],
        monitors,
      };
      expect(faultsOf(expectRefused(adopting(linked, ['/monitors/new'])))).toEqual([
        '/monitors/0 op-not-allowed: is only in the document; a link names a resource that is only in the document',
      ]);
    });

    it('refuses links that name no resource that could be taken over, each with its position', () => {
      const links = [
        '/services/none',
        '/services/My-Service',
        '/users/ada',
        'x',
        '',
        '/sessions/9',
        '/services/',
      ];
      const problem = expectRefused(adopting(document, links));
      expect(problem.code).toBe('link-unresolved');
      expect(problem.errors?.map(({ pointer }) => pointer)).toEqual([
        ...['/only/0', '/only/2', '/only/3', '/only/4', '/only/5', '/only/6'],
      ]);
      expect(problem.errors?.[0]?.detail).toBe(
        'must be the link of a server, service, monitor or filter that is in use or in the document',
      );
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['a text as prune', { prune: 'no' }, /prune must be true or false/],
    ['a number as allowEmpty', { allowEmpty: 1 }, /allowEmpty must be true or false/],
    ['a misspelt name', { onyl: ['/servers/db-1'] }, /"onyl".* Did you mean only\?/],
    ['an option that only a fleet has', { replace: true }, /"replace"/],
  ])('refuses %s as its options', (_what, options, message) => {
    const [from, given] = [sampleSnapshot(), createSnapshot({})];
    expect(() => adoptDocument(from, given, someTime, options as never)).toThrow(message);
  });

  it('names no secret when it refuses', () => {
    const document = sampleWith('services', 'My Service', {
      passwordSealed: 'v1.sealed.other',
      router: 'cli',
    });
    const text = JSON.stringify(expectRefused(adopting(document)));
    expect(text).not.toContain('sealed');
    expect(text).not.toContain(planted.sealed);
  });
});

describe('the differences of a document', () => {
  async function differences(document: GatewayDocument): Promise<readonly string[]> {
    const found = await differencesOf(sampleSnapshot(), createSnapshot(document));
    return found.map(
      ({ resource, pointer, detail, obstacle }) =>
        `${resource} ${pointer} ${detail}${obstacle === undefined ? '' : `; ${obstacle}`}`,
    );
  }

  // A fleet replaces what differs in a fixed field: it deletes the resource at the other nodes, and creates it again.
  it('are in a fixed field, a state or a list of entries, if they are in no setting', () => {
    const others = namedResources
      .filter(({ adoption }) => adoption !== undefined)
      .flatMap(({ collection, fields }) =>
        fields.all
          .filter(({ derived, kept, setting }) => derived !== true && kept !== false && setting === undefined)
          .map(({ documentName }) => `${collection} ${documentName}`),
      );

    expect(others).toEqual([
      ...['servers name', 'servers protocol'],
      ...['services name', 'services router', 'services state', 'services listeners'],
      ...['monitors name', 'monitors module', 'monitors state'],
      ...['filters name', 'filters module'],
    ]);
  });

  it.each<[string, GatewayDocument, readonly string[]]>([
    [
      'in a map, each member on its own',
      sampleWith('services', 'My Service', { router_options: { weights: 'off', 'a/b': 'x' } }),
      [
        '/services/My-Service /services/0/router_options/weights the document has "off", and "on" is in use',
        '/services/My-Service /services/0/router_options/a~1b the document has "x", and no value is in use',
        '/services/My-Service /services/0/router_options/router_options the document has no value, and "master" is in use',
      ],
    ],
    [
      'of a name, and not of the links to the name',
      sampleWith('servers', 'db-serv-1', { name: 'DB-SERV-1' }),
      [
        '/servers/db-serv-1 /servers/0/name the document has "DB-SERV-1", and "db-serv-1" is in use; this field cannot change while the gateway runs',
      ],
    ],
    [
      'of a state',
      sampleWith('services', 'Report Service', {
        state: 'stopped',
        state_reason: undefined,
        state_since: undefined,
      }),
      ['/services/Report-Service /services/2/state the document has "stopped", and "started" is in use'],
    ],
    [
      'of maintenance',
      sampleWith('servers', 'db-serv-1', { status: ['maintenance'] }),
      [
        '/servers/db-serv-1 /servers/0/status the document has ["maintenance"], and ["master","running"] is in use',
      ],
    ],
    [
      'of another password of a service',
      sampleWith('services', 'My Service', { passwordSealed: 'other' }),
      [
        '/services/My-Service /services/0/passwordSealed the document has another password than the one in use',
      ],
    ],
    [
      'of a password that only the document has',
      sampleWith('services', 'Bare Service', { passwordSealed: 'other' }),
      ['/services/Bare-Service /services/1/passwordSealed the document has a password, and none is in use'],
    ],
    [
      'of a password that the document lacks',
      sampleWith('services', 'My Service', { passwordSealed: undefined }),
      ['/services/My-Service /services/0/passwordSealed the document has no password, and one is in use'],
    ],
    [
      'of a secret parameter that only the document has, whatever its name',
      sampleWith('servers', 'db-serv-1', {
        parametersSealed: { password: planted.sealed, toString: 'other' },
      }),
      [
        '/servers/db-serv-1 /servers/0/parametersSealed/toString the document has a secret "toString", and none is in use',
      ],
    ],
    [
      'of users, by name and password',
      {
        ...sampleDocument,
        users: [
          { name: 'ada', passwordHash: 'other' },
          { name: 'eve', passwordHash: 'x' },
        ],
      },
      [
        '/users/ada /users/0/passwordHash the document has another password than the one in use; users are never taken over from a document',
        '/users/eve /users/1 is only in the document; users are never taken over from a document',
      ],
    ],
  ])('are told %s', async (_what, document, told) => {
    expect(await differences(document)).toEqual(told);
    expect(JSON.stringify(told)).not.toContain(planted.hash);
  });

  it('are cut where a value is long', async () => {
    const [long] = await differences(sampleWith('services', 'My Service', { user: 'é'.repeat(255) }));
    expect(long).toContain(`has "${'é'.repeat(99)}…, and "service_user" is in use`);
  });
});

/** The configuration that an adoption takes over. What is created again comes last, so the order does not count. */
function adopted(snapshot: Snapshot): object {
  const {
    users: _users,
    servers = [],
    services = [],
    monitors = [],
    filters = [],
    ...rest
  } = configuration(snapshot);
  const onlyMaintenance = servers.map(({ status = [], ...server }) => ({
    ...server,
    maintenance: status.includes('maintenance'),
  }));
  return {
    ...rest,
    logs: {},
    servers: byName(onlyMaintenance),
    services: byName(
      services.map(({ listeners = [], ...service }) => ({ ...service, listeners: byName(listeners) })),
    ),
    monitors: byName(monitors),
    filters: byName(filters),
  };
}

/** The snapshot of a document, in which all goes on to drain that drains. */
function withDrainsOf(current: Snapshot, given: Snapshot): Snapshot {
  const document = toDocument(given);
  const [services, servers] = (['services', 'servers'] as const).map((collection) =>
    document[collection]?.map((entry) => {
      const drain = current[collection].find(entry.name)?.settings.drain;
      if (drain === undefined || entry.drain !== undefined) return entry;
      if (!('state' in entry)) return { ...entry, drain };
      const from = entry.state === 'stopped' ? 'stopped' : 'started';
      return { ...entry, state: 'stopped', drain: { ...drain, from } };
    }),
  );
  return createSnapshot({ ...document, services, servers } as GatewayDocument);
}

/** The links of what a document and the configuration in use have otherwise. No user is taken over. */
async function linksOfDifferences(current: Snapshot, given: Snapshot): Promise<readonly string[]> {
  const links = (await differencesOf(current, given)).map(({ resource }) => resource);
  return links.filter((link) => !link.startsWith('/users/'));
}

function byName<T extends { readonly name: string }>(entries: readonly T[]): readonly T[] {
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

describe('whatever was commanded and reported', () => {
  const happenings = fc.array(fc.oneof(acts, reports), { maxLength: 12 });

  // Promise: adopt-whole
  it('the document can be adopted again, and every event of the adoption can be undone', async () => {
    await fc.assert(
      fc.asyncProperty(documents, happenings, async (document, list) => {
        const given = createSnapshot(document);
        let current = given;
        for (const what of list) {
          current =
            'verb' in what
              ? transitionOf(what)(current, someTime).next
              : applyReports(current, reportOf(what, current), { now: 0 }).next;
        }
        const adopt: Transition = (state, context) =>
          adoptDocument(state, given, context, { prune: true, allowEmpty: true });
        const decision = expectDecision(adopt, current);
        if (decision.outcome === 'refused') {
          // Sessions and connections that are open are not closed.
          expect(decision.problem.code).toBe('resource-in-use');
          return;
        }
        expect(adopted(decision.next)).toEqual(adopted(withDrainsOf(current, given)));
        expect(decision.next.users).toBe(current.users);
        expectUnchanged(adopt, decision.next);
        expect(await linksOfDifferences(decision.next, given)).toEqual([]);
        const hasNone = (await linksOfDifferences(current, given)).length === 0;
        expect(decision.outcome === 'unchanged').toBe(hasNone);
        const events = decision.outcome === 'accepted' ? decision.events : [];
        const undone = events.toReversed().reduce((state, event) => {
          const back = revert(event)(state, someTime);
          expect(back.outcome).toBe('accepted');
          return back.next;
        }, decision.next);
        expect(adopted(undone)).toEqual(adopted(current));
        expect(toDocument(evolve(current, events))).toEqual(toDocument(decision.next));
      }),
      { numRuns: 60 },
    );
  });
});
