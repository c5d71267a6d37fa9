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
import { shown } from '../support/shown.ts';

type Collection = 'servers' | 'services' | 'monitors' | 'filters' | 'users';
type Entry = Readonly<Record<string, unknown>>;
type Named = Entry & { readonly name: string };

type Changes = Partial<Record<Collection, Readonly<Record<string, Entry | undefined>>>>;

/**
 * The sample document with other members in some entries, by collection and name; `undefined` leaves a member or an entry
 * out.
 */
function sampleWith(changes: Changes): GatewayDocument {
  const withoutUndefined = (members: Entry): object =>
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  const changed = Object.entries(changes).map(([collection, byName]) => {
    const entries = (sampleDocument[collection as Collection] ?? []) as unknown as readonly Named[];
    const kept = entries.filter(({ name }) => !(name in byName) || byName[name] !== undefined);
    return [collection, kept.map((entry) => withoutUndefined({ ...entry, ...byName[entry.name] }))];
  });
  return { ...sampleDocument, ...(Object.fromEntries(changed) as object) };
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
    const document = sampleWith({
      servers: { 'db-serv-1': { port: 6432, parameters: {} } },
      services: {
        'My Service': { state: 'stopped', max_connection: 7 },
        'Bare Service': { state: 'started' },
      },
      monitors: { 'Idle Monitor': { state: 'started', read_timeout: 9 } },
      filters: { 'Query Log': { parameters: {} } },
    });
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

  it('changes nothing for another order or spelling, users, counters, times, words, sessions and process', () => {
    const {
      servers = [],
      services = [],
      filters = [],
      users = [],
    } = sampleWith({
      servers: { 'db-serv-1': { status: ['slave'] }, 'DB Server 2': { status: ['running', 'maintenance'] } },
      services: {
        'My Service': {
          listeners: sampleDocument.services?.[0]?.listeners?.toReversed(),
          servers: ['/servers/DB-SERV-1', '/servers/db%20server%202'],
          started: '2020-01-01T00:00:00Z',
          total_connections: 5000,
        },
        'Report Service': { state: 'started' },
      },
      users: { ada: undefined, Grace: { password: { sealed: 'other' } } },
    });
    const failure = { state_reason: 'other', state_since: '2020-01-01T00:00:00Z' };
    const document: GatewayDocument = {
      ...sampleWith({ monitors: { 'Failed Monitor': failure } }),
      ...{ servers: servers.toReversed(), services: services.toReversed(), filters: filters.toReversed() },
      users: [...users, { name: 'eve', password: { sealed: 'x' } }],
      ...{ sessions: [], gateway: { version: '9' }, logs: {}, tasks: [], modules: [] },
      threads: { load_average: { historic: 0, current: 0, '1min': 0, '5min': 0, '15min': 0 }, threads: [] },
    };
    for (const each of [sampleDocument, document]) {
      expectUnchanged(adopting(each));
      expect(adopting(each)(sampleSnapshot(), someTime).resources).toHaveLength(14);
    }
  });

  it.each<[string, ServerStatusWord[], ServerStatusWord[]]>([
    ['db-serv-1', ['slave', 'maintenance'], ['maintenance', 'master', 'running']],
    ['DB Server 2', ['master'], ['slave', 'running']],
    ['db-serv-3', ['maintenance', 'running'], ['maintenance']],
  ])('takes over only maintenance of the status of a server: %s %p', (name, status, expected) => {
    const { next } = expectAccepted(adopting(sampleWith({ servers: { [name]: { status } } })));
    expect(shown(next.servers.find(name))?.settings.state).toEqual(expected);
  });

  it('takes over what no client can change, links in any spelling, and unsets what the document leaves out', () => {
    const parameters = {
      match: { value: 'update', configurable: false },
      limit: { value: '1', configurable: false },
    };
    const document = sampleWith({
      filters: { Hint: { parameters } },
      services: {
        'Bare Service': { servers: ['/servers/DB-SERV-1'], filters: ['/filters/spare'] },
        'My Service': { user: undefined, filters: undefined, password: { sealed: 'v1.sealed.other' } },
      },
    });
    const { filters, services } = expectAccepted(adopting(document)).next;
    expect(filters.find('hint')?.settings.parameters).toEqual(parameters);
    expect(services.find('bare service')?.settings).toMatchObject({
      ...{ servers: ['/servers/db-serv-1'], filters: ['/filters/Spare'] },
    });
    const { settings } = services.find('my service') ?? {};
    expect(settings).toMatchObject({
      filters: [],
      max_connection: 100,
      password: { sealed: 'v1.sealed.other' },
    });
    expect(settings).not.toHaveProperty('user');
    const without = adopting(sampleWith({ services: { 'My Service': { password: undefined } } }));
    expect(
      expectAccepted(without).next.services.find('my service')?.settings.password?.sealed,
    ).toBeUndefined();
  });

  const fixed = 'this field cannot change while the gateway runs';
  // Promise: adopt-refused
  it('refuses the whole document for what is fixed, with a fault for each place, on every resource', () => {
    const decision = expectDecision(
      adopting(
        sampleWith({
          servers: { 'db-serv-1': { port: 1 } },
          services: {
            'My Service': { router: 'cli', password: { sealed: 'v1.sealed.other' } },
            'Bare Service': { name: 'bare service' },
          },
          monitors: { 'Idle Monitor': { module: 'other' } },
        }),
      ),
    );
    if (decision.outcome !== 'refused') throw new Error('The document was taken over');
    const { problem, resources } = decision;
    expect([problem.code, resources.length]).toEqual(['op-not-allowed', 14]);
    expect(faultsOf(problem)).toEqual([
      `/services/0/router op-not-allowed: the document has "cli", and "readconnroute" is in use; ${fixed}`,
      `/services/1/name op-not-allowed: the document has "bare service", and "Bare Service" is in use; ${fixed}`,
      `/monitors/1/module op-not-allowed: the document has "other", and "pgmon" is in use; ${fixed}`,
    ]);
    expect(problem.detail).toMatch(
      /\. Nothing was changed\. Leave the resources of these places out, or start the gateway with this document and an empty store\.$/,
    );
    for (const secret of ['sealed', planted.sealed]) expect(JSON.stringify(problem)).not.toContain(secret);
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
    const session = { id: 1, state: 'ready', user: 'a', address: 'b', service: '/services/New' };
    const sessions = [{ ...session, connected: '2020-01-01T00:00:00Z' }];
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
      const from = createSnapshot(whole);
      expectUnchanged(adopting(none), from);
      expect(leftBehindIn(adopting(none), from)).toEqual([
        ...['/servers/db-9', '/services/New', '/services/Off', '/monitors/Watch', '/filters/Trace'],
      ]);
      expect(leftBehindIn(adopting(none, ['/servers/db-9']), from)).toEqual(['/servers/db-9']);
      expect(leftBehindIn(emptying, from)).toEqual([]);
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
    it.each<[string, GatewayDocument, GatewayDocument, readonly string[] | undefined, string]>([
      ['empty lists of every kind', none, whole, undefined, '1 server, 2 services, 1 monitor, 1 filter'],
      ['an empty list of the only kind that there is', { filters: [] }, { filters }, undefined, '1 filter'],
      [
        ...(['nothing for all that is named', none, { filters, servers }] as const),
        ...(['/filters/trace /servers/db-9'.split(' '), '1 server, 1 filter'] as const),
      ],
    ])('refuses to delete everything without allowEmpty: %s', (_what, document, present, only, all) => {
      const problem = expectRefused(adopting(document, only, true), createSnapshot(present));
      expect(problem).toMatchObject({
        ...{ code: 'document-empty', status: 409 },
        detail: `The document would delete everything: ${all}. Nothing was changed. To delete all that there is, allow that nothing is left: with allow_empty=true beside prune=true or, in a program, with allowEmpty beside prune.`,
      });
    });

    it('refuses to delete everything before it looks at what is open, and leaves an empty gateway empty', () => {
      const problem = expectRefused(adopting(none, undefined, true), createSnapshot({ ...whole, sessions }));
      expect(problem.code).toBe('document-empty');
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
      const present = Array.from({ length: 12 }, (_none, at) => ({
        ...servers[0],
        name: `db-${String(at)}`,
      }));
      const { notes = [] } = expectAccepted(
        adopting({ servers: [{ ...present[0], port: 6432 }] } as GatewayDocument),
        createSnapshot({ servers: present } as GatewayDocument),
      );
      expect(notes).toHaveLength(11);
      expect(notes.map(({ detail }) => detail).slice(9)).toEqual([
        '/servers/db-10: not in the document, left as it is',
        '1 more: not in the document, left as they are',
      ]);
    });

    it('takes a server out of the lists before the server goes', () => {
      const less = { ...whole, servers: [], monitors: [], services: [{ name: 'New', router: 'cli' }] };
      const links = ['/servers/db-9', '/services/new', '/services/off', '/monitors/watch'];
      expect(effectsOf(less, links, true, createSnapshot(whole))).toEqual([
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
    const filters = [...(sampleDocument.filters ?? []), { name: 'New', module: 'tee' }];
    const changed = sampleWith({
      services: { 'My Service': { max_connection: 7 } },
      servers: { 'db-serv-1': { port: 1 } },
    });
    const document: GatewayDocument = { ...changed, filters };

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
      const spelled = sampleWith({ servers: { 'db-serv-1': { name: 'DB-SERV-1' } } });
      const services = (sampleDocument.services ?? []).map((each) => ({ ...each, user: 'x' }));
      expectUnchanged(adopting(spelled, ['/services/My-Service']));
      const { next } = expectAccepted(adopting({ ...spelled, services }, ['/services/My-Service']));
      expect(next.services.find('my service')?.settings).toMatchObject({
        ...{ user: 'x', servers: ['/servers/db-serv-1', '/servers/DB-Server-2'] },
      });
    });

    it('creates and deletes named resources alone', () => {
      expect(effectsOf(document, ['/filters/new'])).toEqual(['filter.create /filters/New']);
      const gone = sampleWith({ filters: { Spare: undefined } });
      expectUnchanged(adopting(gone, ['/filters/spare']));
      expect(effectsOf(gone, ['/filters/spare'], true)).toEqual(['filter.delete /filters/Spare']);
    });

    it('refuses a link to a server that only the document has, if that server is not named', () => {
      const fresh = { name: 'fresh', address: 'fresh', port: 1, protocol: 'pgbackend' };
      const servers = [...(sampleDocument.servers ?? []), fresh];
      const linked = { servers: ['/servers/fresh'] };
      const linking = { ...sampleWith({ monitors: { 'Idle Monitor': linked } }), servers };
      expect(faultsOf(expectRefused(adopting(linking, ['/monitors/idle-monitor'])))).toEqual([
        expect.stringContaining('/monitors/1/servers op-not-allowed'),
      ]);
      const created = { ...sampleDocument, servers, monitors: [{ name: 'New', module: 'pgmon', ...linked }] };
      expect(faultsOf(expectRefused(adopting(created, ['/monitors/new'])))).toEqual([
        '/monitors/0 op-not-allowed: is only in the document; a link names a resource that is only in the document',
      ]);
    });

    it('refuses links that name no resource that could be taken over, each with its position', () => {
      const wrong = ['/users/ada', 'x', '', '/sessions/9', '/services/'];
      const links = ['/services/none', '/services/My-Service', ...wrong];
      const problem = expectRefused(adopting(document, links));
      expect(problem.code).toBe('link-unresolved');
      const pointers = problem.errors?.map(({ pointer }) => pointer);
      expect(pointers).toEqual([0, 2, 3, 4, 5, 6].map((at) => `/only/${String(at)}`));
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
          .filter(({ derived, seen, setting }) => derived !== true && seen !== true && setting === undefined)
          .map(({ name }) => `${collection} ${name}`),
      );

    expect(others).toEqual([
      ...['servers name', 'servers protocol'],
      ...['services name', 'services router', 'services state', 'services listeners'],
      ...['monitors name', 'monitors module', 'monitors state'],
      ...['filters name', 'filters module'],
    ]);
  });

  it('are told by place, without secrets, also of what is never taken over', async () => {
    const [{ parameters } = {}] = sampleDocument.servers ?? [];
    const { password: _gone, ...hint } = (sampleDocument.filters?.[0]?.parameters ?? {}) as Readonly<
      Record<string, object>
    >;
    const services = {
      'My Service': {
        router_options: { weights: 'off', 'a/b': 'x', password: { sealed: planted.sealed } },
        password: { sealed: 'other' },
        user: 'é'.repeat(255),
      },
      'Bare Service': { password: { sealed: 'other' } },
      'Report Service': { state: 'stopped', state_reason: undefined, state_since: undefined },
    };
    const servers = {
      'db-serv-1': {
        ...{ name: 'DB-SERV-1', status: ['maintenance'] },
        parameters: { ...parameters, toString: { sealed: 'other' }, password: { sealed: 'other' } },
      },
    };
    const filters = {
      Hint: { parameters: { ...hint, pin: { value: { sealed: 'other' }, configurable: true } } },
    };
    const users = [
      { name: 'ada', password: { sealed: 'other' } },
      { name: 'eve', password: { sealed: 'x' } },
    ];
    const told = await differences({ ...sampleWith({ services, servers, filters }), users });
    const [server, service] = ['/servers/db-serv-1 /servers/0', '/services/My-Service /services/0'];
    const parameter = '/filters/Hint /filters/0/parameters';
    const never = 'users are never taken over from a document';
    expect(told.toSorted()).toEqual([
      `${parameter}/password the document has no value, and {"value":"[redacted]","configurable":true} is in use`,
      `${parameter}/pin the document has {"value":"[redacted]","configurable":true}, and no value is in use`,
      `${server}/name the document has "DB-SERV-1", and "db-serv-1" is in use; this field cannot change while the gateway runs`,
      `${server}/parameters/password the document has another secret than the one in use`,
      `${server}/parameters/toString the document has a secret, and none is in use`,
      `${server}/status the document has ["maintenance"], and ["master","running"] is in use`,
      '/services/Bare-Service /services/1/password the document has a password, and none is in use',
      `${service}/password the document has another password than the one in use`,
      `${service}/router_options/a~1b the document has "x", and no value is in use`,
      `${service}/router_options/router_options the document has no value, and "master" is in use`,
      `${service}/router_options/weights the document has "off", and "on" is in use`,
      `${service}/user the document has "${'é'.repeat(99)}…, and "service_user" is in use`,
      '/services/Report-Service /services/2/state the document has "stopped", and "started" is in use',
      `/users/ada /users/0/password the document has another password than the one in use; ${never}`,
      `/users/eve /users/1 is only in the document; ${never}`,
    ]);
    for (const secret of [planted.hash, planted.sealed]) expect(JSON.stringify(told)).not.toContain(secret);
    const without = sampleWith({ services: { 'My Service': { password: undefined } } });
    expect(await differences(without)).toEqual([
      `${service}/password the document has no password, and one is in use`,
    ]);
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
