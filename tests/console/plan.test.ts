/**
 * Every act that the page offers, its form and its plan, without a browser. They have no entry, so this file imports
 * them.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  type Admin,
  createBasicAuthentication,
  createSecretSealer,
  type Fault,
  linkTo,
  type Plan,
  toDocument,
} from 'gateway-admin-core';
import { createClient, sendTo, type SessionSearch } from 'gateway-admin-core/client';
import { applyPatch, type Json } from 'gateway-admin-core/json';

import {
  type Act,
  actOn,
  buttonText,
  changingPassword,
  closingChosen,
  closingOf,
  creating,
  creatingUser,
  deletingListener,
  patching,
  restoring,
  typedFor,
  undoing,
} from '../../console/act.ts';
import { commandOf } from '../../console/connection.ts';
import { definitionOf, faultsByField, patchOf, textsOf, type Typed } from '../../console/form.ts';
import type { Field } from '../../console/meaning.ts';
import { differenceOf, planParts, partsOf, valueText } from '../../console/plan.ts';
import { acts, formats } from '../../console/text.ts';
import { runAdmin } from '../support/running-admin.ts';
import { fieldTable } from './built-fields.ts';
import { acceptedIn, plannedActs, planOf } from './every-act.ts';

const client = (admin: Admin) => createClient(sendTo(admin));

/** Does an act as the dialog does, with the mark of its plan. */
async function perform(admin: Admin, act: Act, typed: Typed = {}): Promise<unknown> {
  const { mark } = acceptedIn(await planOf(admin, act, typed));
  const method = act.methodOf?.(client(admin)) ?? commandOf(client(admin), act.id);
  const given = act.withInputs?.(typed) ?? act.given;
  const answer = await method(...given, { ...act.options, mark, prefer: 'representation' });
  if (!answer.ok) throw new Error(`${act.title}: ${answer.problem.detail}`);
  return answer.value;
}

/** A gateway without a name and an environment. */
const place = { address: '127.0.0.1:8989' };

describe('an act on a resource', () => {
  it('is planned by the interface, and changes nothing exactly where the page says so', async () => {
    const acts = await plannedActs(runAdmin().admin);
    expect(new Set(acts.map(({ act }) => act.id)).size).toBeGreaterThan(18);
    for (const { act, answer, isMoot } of acts) {
      // What a refusal says comes with `may`.
      const codes = answer.ok ? [] : [answer.problem.code];
      expect(['resource-in-use', 'node-not-found']).toEqual(expect.arrayContaining(codes));
      if (!answer.ok) continue;
      const { outcome } = answer.value;
      const hasNothingToClose = act.closesAll === true && outcome === 'unchanged';
      expect([act.title, outcome === 'unchanged']).toEqual([act.title, isMoot || hasNothingToClose]);
    }
  });

  it('says what it does, and so does each creation', async () => {
    const planned = (await plannedActs(runAdmin().admin)).map(({ act }) => act.id);
    const created = ['services', 'servers', 'monitors', 'filters', 'users'].map((each) => `${each}.create`);
    const patches = ['services', 'servers', 'monitors', 'filters', 'users'].map((each) => `${each}.patch`);
    const others = [
      'users.delete',
      'sessions.closeMany',
      'commands.abandon',
      'fleet.forget',
      'document.adopt',
    ];
    const ways = ['history.undo', 'history.restore', 'services.createListener', 'services.deleteListener'];
    expect(new Set(Object.keys(acts))).toEqual(
      new Set([...planned, ...created, ...patches, ...others, ...ways, 'fleet.retry']),
    );
    for (const id of Object.keys(acts))
      expect(commandOf(client(runAdmin().admin), id as never)).toBeDefined();
  });

  it('has a button that names the thing, and the number of what closes', async () => {
    for (const { act, answer, subject } of await plannedActs(runAdmin().admin)) {
      if (!answer.ok) continue;
      const { closes } = acceptedIn(answer);
      const button = buttonText(act, acceptedIn(answer));
      if (!['gateway', 'fleet'].includes(subject.collection)) expect(button).toContain(subject.name);
      const { sessions, connections } = closes;
      if (act.id !== 'sessions.close' && sessions + connections > 0)
        expect(button).toContain(String(sessions === 0 ? connections : sessions));
    }
  });

  it('has the number of what it closes in its button in place of the title, and a single session by its user', async () => {
    const acts = await plannedActs(runAdmin().admin);
    const buttons = acts.flatMap(({ act, answer }) =>
      answer.ok && act.closesAll === true ? [buttonText(act, acceptedIn(answer))] : [],
    );
    expect(buttons).toEqual(
      expect.arrayContaining(['Close 2 sessions of My Service', 'Close 2 connections to db-serv-1']),
    );
    const single = acts.find(({ act, subject }) => act.id === 'sessions.close' && subject.name === '9');
    expect(single && buttonText(single.act, acceptedIn(single.answer))).toBe('Close session 9 of alice');
  });

  it('wants the name typed where it closes all of a service or server, or takes the last usable server', async () => {
    for (const { act, answer, subject } of await plannedActs(runAdmin().admin)) {
      if (!answer.ok) continue;
      const plan = acceptedIn(answer);
      const closesAll = act.id !== 'sessions.close' && plan.closes.sessions + plan.closes.connections > 0;
      const takesLast = plan.notes?.some(({ code }) => code === 'no-usable-server') === true;
      const own = closesAll || takesLast ? subject.name : undefined;
      for (const environment of [{}, { environment: 'test' }])
        expect([act.title, typedFor(act, plan, { ...place, ...environment })]).toEqual([act.title, own]);
    }
  });

  it('wants a name typed in production, but to hold changes off, and to resume', async () => {
    const typed = { subject: new Set<string>(), gateway: new Set<string>(), nothing: new Set<string>() };
    for (const { act, answer, subject } of await plannedActs(runAdmin().admin)) {
      if (!answer.ok) continue;
      const production = { ...place, environment: 'production' };
      const name = typedFor(act, acceptedIn(answer), production);
      // The name of the gateway, or its address if the gateway has none.
      const [named, nameless] = ['Main', undefined].map((each) =>
        typedFor(act, acceptedIn(answer), { ...production, ...(each !== undefined && { name: each }) }),
      );
      if (name === undefined) typed.nothing.add(act.title.replace(subject.name, '…'));
      else typed[name === subject.name ? 'subject' : 'gateway'].add(act.id);
      const isOfGateway = name === place.address;
      expect([named, nameless]).toEqual(isOfGateway ? ['Main', place.address] : [name, name]);
    }
    expect(typed).toEqual({
      subject: new Set([
        ...['services.stop', 'services.drain', 'services.closeSessions', 'services.delete'],
        ...['servers.drain', 'servers.closeConnections', 'servers.delete'],
        ...['monitors.stop', 'monitors.delete', 'filters.delete', 'sessions.close'],
      ]),
      gateway: new Set([
        ...['services.start', 'servers.setMaintenance', 'servers.clearMaintenance', 'monitors.start'],
        ...['interface.patch', 'gateway.flushLogs'],
      ]),
      nothing: new Set(['Resume …', 'Make … read-only']),
    });
  });

  it('wants the name of what is deleted typed in production, and not a phrase about it', () => {
    const production = { address: 'a:1', name: 'Main', environment: 'production' };
    const plan = { closes: { sessions: 0, connections: 0 } } as never;
    const deletion = actOn('users.delete', 'Delete', 'joan', 'user joan');
    expect([deletion.title, typedFor(deletion, plan, production)]).toEqual(['Delete user joan', 'joan']);
    expect(typedFor(deletingListener('Sales', 'second'), plan, production)).toBe('second');
    for (const act of [changingPassword('joan'), undoing('1', 'Stop Sales'), restoring('1', 'today')])
      expect(typedFor(act, plan, production)).toBe('Main');
  });
});

describe('an act on many sessions', () => {
  it.each<[SessionSearch, string, string, string | undefined, string]>([
    [{}, 'Close all sessions of the gateway', 'Close 3 sessions', 'all sessions', 'Main'],
    [
      { service: 'My Service' },
      'Close the sessions of x',
      'Close 2 sessions of My Service',
      'My Service',
      'My Service',
    ],
    [
      { service: 'My Service', user: 'alice' },
      'Close the sessions of x',
      'Close 1 session of My Service',
      undefined,
      'My Service',
    ],
    [{ server: 'db-serv-1' }, 'Close the sessions of x', 'Close 2 sessions', undefined, 'db-serv-1'],
    [{ user: 'alice' }, 'Close the sessions of x', 'Close 1 session', undefined, 'alice'],
    [{ idle_over: 42 }, 'Close the sessions of x', 'Close 0 sessions', undefined, 'Main'],
  ])(
    'of the search %j is %s, with the button %s, and wants %s typed, in production %s',
    async (search, title, button, typed, inProduction) => {
      const { admin } = runAdmin();
      const act = closingOf(search, 'of x');
      const plan = acceptedIn(await planOf(admin, act));
      expect([act.title, buttonText(act, plan), typedFor(act, plan, place)]).toEqual([title, button, typed]);
      const production = { ...place, name: 'Main', environment: 'production' };
      expect(typedFor(act, plan, production)).toBe(inProduction);
      if (plan.outcome === 'accepted')
        expect(await perform(admin, act)).toMatchObject({ closed: plan.closes });
    },
  );

  it('that are chosen closes these, and none that has come since', async () => {
    const { admin } = runAdmin();
    const answer = await client(admin).sessions.list({ fields: ['id', 'etag'] });
    const sessions = answer.ok ? answer.value.elements.filter(({ id }) => id !== 12) : [];
    const act = closingChosen(sessions, () => undefined);
    expect(act.title).toBe('Close 2 chosen sessions');
    expect(buttonText(act, acceptedIn(await planOf(admin, act)))).toBe('Close 2 sessions');
    expect(await perform(admin, act)).toMatchObject({ closed: { sessions: 2 } });
    expect(
      await planOf(
        admin,
        closingChosen([{ id: 12, etag: '"12.other"' }], () => undefined),
      ),
    ).toMatchObject({
      problem: { code: 'precondition-failed' },
    });
  });
});

/** What a person types for a new resource: what must be there, and everything else. */
const definitions: Readonly<Record<string, { readonly required: Typed; readonly optional: Typed }>> = {
  services: {
    required: { name: 'New, 1', router: 'cli' },
    optional: {
      ...{ router_options: 'weights = 2', state: 'stopped', filters: 'Hint, Spare', servers: 'db-serv-1' },
      ...{ user: 'app', password: ' p ', root_user: 'true', version_string: '9', weightby: 'weight' },
      ...{ connection_timeout: '5', max_connection: '6', strip_db_esc: 'false' },
    },
  },
  servers: {
    required: { name: 'New', address: '/run/x.sock', protocol: 'pg' },
    optional: {
      ...{ port: '5432', parameters: 'weight = 2\nzone = a' },
      ...{ services: '/services/My-Service', monitors: '' },
    },
  },
  monitors: {
    required: { name: 'New', module: 'pgmon' },
    optional: {
      ...{
        state: 'started',
        monitor_interval: '5',
        connect_timeout: '5',
        read_timeout: '6',
        write_timeout: '7',
      },
      ...{ servers: 'db-serv-1, db-serv-3', parameters: 'lag = 5' },
    },
  },
  filters: {
    required: { name: 'New', module: 'tee' },
    optional: { parameters: 'match = drop', services: '/services/My-Service' },
  },
  listeners: {
    required: { name: 'New', protocol: 'pg', address: '::' },
    optional: {
      ...{ port: '4010', ssl: 'required', ssl_cert: '/c', ssl_key: '/k', ssl_ca_cert: '/a' },
      parameters: 'max = 5',
    },
  },
};

describe('a new resource', () => {
  const sealer = createSecretSealer({ key: new Uint8Array(32) });

  it.each(Object.entries(definitions))('of %s is made from what is typed', async (collection, given) => {
    const service = collection === 'listeners' ? 'My Service' : undefined;
    const act = creating(fieldTable[collection] ?? [], collection, { service });
    const { required, optional } = given;
    const names = (act.inputs ?? []).map(({ name }) => name);
    // All that there is to type is in the table above.
    expect(names.toSorted()).toEqual(Object.keys({ ...required, ...optional }).toSorted());
    expect(act.inputs?.filter(({ isRequired }) => isRequired).map(({ name }) => name)).toEqual(
      names.slice(0, Object.keys(required).length),
    );
    // A port is needed where the address is no path.
    const least = service === undefined ? required : { ...required, port: '4010' };
    for (const typed of [least, { ...required, ...optional }]) {
      const { admin } = runAdmin({ sealer });
      expect(act.titleWith?.(typed)).toContain(required['name']);
      await perform(admin, act, typed);
      const document = JSON.stringify(toDocument(admin.snapshot));
      expect(document).toContain(`"name":${JSON.stringify(required['name'])}`);
      if (typed['services'] !== undefined) expect(document).toContain(`"/${collection}/New"`);
    }
  });

  it('of users has a password, which can be changed', async () => {
    const authenticate = createBasicAuthentication();
    const { admin } = runAdmin({
      access: {
        authenticate: async (...given) =>
          given[0].headers['authorization'] === undefined ? { name: 'ada' } : authenticate(...given),
        authorize: () => true,
      },
    });
    /** Whether the user logs in with each of these passwords. */
    const logIns = (...passwords: readonly string[]): Promise<readonly boolean[]> =>
      Promise.all(
        passwords.map(async (password) => {
          const headers = { authorization: `Basic ${btoa(`joan:${password}`)}` };
          const handled = await admin.handle({ method: 'GET', target: '/users', headers });
          return handled.matched && handled.response.status === 200;
        }),
      );
    await perform(admin, creatingUser, { name: 'joan', password: ' first ' });
    expect(await logIns(' first ', 'first')).toEqual([true, false]);
    await perform(admin, changingPassword('joan'), { password: 'second' });
    expect(await logIns(' first ', 'second')).toEqual([false, true]);
    await perform(admin, actOn('users.delete', 'Delete', 'joan'));
    expect(await logIns('second')).toEqual([false]);
  });
});

it('a change is undone, and an earlier configuration restored', async () => {
  const { admin } = runAdmin();
  const listeners = () => admin.snapshot.services.find('My Service')?.listeners.map(({ name }) => name);
  const before = listeners();
  await perform(admin, deletingListener('My Service', 'Local Listener'));
  expect(listeners()).toHaveLength((before?.length ?? 0) - 1);
  const entries = await client(admin).history.list();
  const [entry] = entries.ok ? entries.value.elements : [];
  const undo = undoing(entry?.id ?? '', 'x');
  expect([undo.title, restoring('1', 'today').title]).toEqual([
    'Undo “x”',
    'Restore the configuration of today',
  ]);
  await perform(admin, undo);
  expect(listeners()?.toSorted()).toEqual(before?.toSorted());
  await perform(admin, restoring(entry?.id ?? '', 'then'));
  expect(listeners()).toHaveLength((before?.length ?? 0) - 1);
});

type Values = Readonly<Record<string, unknown>>;

/** A text of one line, with the signs that lines and lists use. */
const line = fc
  .array(fc.constantFrom('a', 'b', '=', ' = ', ' ', ',', '/', '%', '"', '2', 'true', '{', 'é'), {
    minLength: 1,
  })
  .map((parts) => parts.join(''));
const name = line.filter((each) => each.trim() === each && each !== '.' && each !== '..');
const plain = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), line);

/** What a field of each type may have. */
function valuesOf({ name: field, type, choices, values }: Field): fc.Arbitrary<unknown> {
  const parameters = fc.record({ value: line, configurable: fc.boolean() });
  const inMap: fc.Arbitrary<unknown> = { texts: line, parameters, plain }[values ?? 'plain'];
  switch (type) {
    case 'number':
      return fc.nat();
    case 'flag':
      return fc.boolean();
    case 'choice':
      return fc.constantFrom(...(choices ?? []));
    case 'names':
      return fc.uniqueArray(name.map((each) => linkTo(field, each)));
    case 'words':
      return fc.uniqueArray(fc.constantFrom('master', 'running'));
    case 'map':
      return fc.dictionary(line, inMap);
    case 'text':
      return line.filter((each) => each.trim() !== '');
  }
}

const kinds = Object.entries(fieldTable).map(([collection, fields]) => ({
  collection,
  fields: fields.filter(({ name, isSecret }) => isSecret !== true && name !== 'drain'),
}));

const states = (fields: readonly Field[]): fc.Arbitrary<Values> =>
  fc.record(Object.fromEntries(fields.map((each) => [each.name, valuesOf(each)])), { requiredKeys: [] });

/** A form, and two states of its resource. */
const changes = fc
  .constantFrom(...kinds)
  .chain(({ fields }) =>
    fc.record({ fields: fc.constant(fields), from: states(fields), to: states(fields) }),
  );

/** The fields of a resource of which a form shows something. */
function shownIn(fields: readonly Field[], resource: Values): Values {
  const isEmpty = (value: unknown): boolean =>
    value === undefined || ['""', '[]'].includes(JSON.stringify(value));
  const shown = fields.map(({ name: each }) => [each, resource[each]] as const);
  return Object.fromEntries(shown.filter(([, value]) => !isEmpty(value)));
}

function patched(fields: readonly Field[], from: Values, typed: Typed): Values {
  const result = applyPatch(from as Json, patchOf(fields, from, typed));
  if (!result.ok) throw new Error(result.problem.detail);
  return result.value as Values;
}

describe('a form', () => {
  it('that nobody has changed is no patch', () => {
    fc.assert(
      fc.property(changes, ({ fields, from }) => {
        expect(patchOf(fields, from, textsOf(fields, from))).toEqual([]);
      }),
    );
  });

  it('makes of a resource what its texts say', () => {
    fc.assert(
      fc.property(changes, ({ fields, from, to }) => {
        // A map is what its lines say: see below.
        const others = fields.filter(({ type }) => type !== 'map');
        const typed = textsOf(others, to);
        expect(shownIn(others, patched(others, from, typed))).toEqual(shownIn(others, to));
      }),
      { numRuns: 500 },
    );
  });

  const maps = kinds.flatMap(({ fields }) => fields.filter(({ type }) => type === 'map'));
  const added = fc.dictionary(
    fc.stringMatching(/^new [a-z]$/),
    fc.oneof(fc.integer(), fc.boolean(), fc.stringMatching(/^[a-z=]+$/)),
  );

  it('keeps each line of a map that nobody has changed, whatever signs it has', () => {
    const cases = fc
      .constantFrom(...maps)
      .chain((field) =>
        fc.record({ field: fc.constant(field), map: valuesOf(field), added, seed: fc.nat() }),
      );
    fc.assert(
      fc.property(cases, ({ field, map, added: more, seed }) => {
        const entries = Object.entries(map as Values);
        const text = textsOf([field], { [field.name]: map })[field.name] ?? '';
        const lines = text === '' ? [] : text.split('\n');
        fc.pre(new Set(lines).size === lines.length);
        const isKept = (_each: unknown, at: number): boolean => (seed >> (at % 16)) % 2 === 0;
        const typed = [...lines.filter(isKept), ...Object.entries(more).map((entry) => entry.join(' = '))];
        const next = patched([field], { [field.name]: map }, { [field.name]: typed.join('\n') });
        const asAdded = (value: unknown): unknown => {
          if (field.values === 'parameters') return { value: String(value), configurable: true };
          return field.values === 'texts' ? String(value) : value;
        };
        const wanted = Object.entries(more).map(([each, value]) => [each, asAdded(value)]);
        expect(next[field.name]).toEqual(Object.fromEntries([...entries.filter(isKept), ...wanted]));
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves a text a text, and a parameter of a filter what it was besides its value', () => {
    const [field] = maps.filter(({ values }) => values === undefined);
    const [parameters] = maps.filter(({ values }) => values === 'parameters');
    if (field === undefined || parameters === undefined) throw new Error('There is no such field');
    const from = { parameters: { weight: '2', level: 2, on: true, 'a=b': 1 } };
    const typed = { parameters: 'weight = 3\nlevel = 3\non=false\nmore = 1.5 \na=b = 2' };
    expect(patched([field], from, typed)).toEqual({
      parameters: { weight: '3', level: 3, on: false, more: 1.5, 'a=b': 2 },
    });
    const filter = { parameters: { match: { value: 'drop', configurable: false } } };
    expect(patched([parameters], filter, { parameters: 'match = 5' })).toEqual({
      parameters: { match: { value: '5', configurable: false } },
    });
  });

  it('sends a text that is no number as it is, and asks for nothing where nothing was and nothing is', () => {
    const number = fieldTable['services']?.filter((each) => each.name === 'max_connection') ?? [];
    expect(patchOf(number, { max_connection: 5 }, { max_connection: '7 ' })).toEqual([
      { op: 'add', path: '/max_connection', value: 7 },
    ]);
    for (const text of ['many', '1e3', '0x10', '--1', '1.', '٣'])
      expect(patchOf(number, {}, { max_connection: text })).toMatchObject([{ value: text }]);
    expect(patchOf(number, {}, { max_connection: '  ' })).toEqual([]);
    expect(patchOf(number, { max_connection: 5 }, { max_connection: ' ' })).toEqual([
      { op: 'remove', path: '/max_connection' },
    ]);
  });
});

describe('a form in front of an interface', () => {
  const { admin } = runAdmin({ sealer: createSecretSealer({ key: new Uint8Array(32) }) });
  const client = createClient(sendTo(admin));

  /** The resource as the interface shows it. */
  async function read(collection: string, subject: string): Promise<Values> {
    const answer = await commandOf(client, `${collection}.get` as never)(subject);
    if (!answer.ok) throw new Error(answer.problem.detail);
    return answer.value as Values;
  }

  /** Another text of a field. */
  function otherText({ name: field, type, values }: Field, text: string): string {
    if (field === 'address') return '10.9.8.7';
    if (type === 'number') return '1234';
    if (type === 'flag') return text === 'true' ? 'false' : 'true';
    if (type === 'names')
      return field === 'filters'
        ? '/filters/Spare, /filters/Hint'
        : '/servers/db-serv-3, /servers/DB-Server-2';
    if (type === 'map') return `${text}\nadded = ${values === undefined ? '-1.5' : '2'}`.trim();
    return 'other';
  }

  const subjects = [
    ['services', 'My Service'],
    ['services', 'Bare Service'],
    ['servers', 'db-serv-1'],
    ['monitors', 'Main Monitor'],
    ['filters', 'Query Log'],
  ] as const;

  it.each(subjects)('changes each field of %s %s to what is typed, and back', async (collection, subject) => {
    const fields = (fieldTable[collection] ?? []).filter(({ isSettable }) => isSettable);
    expect(fields).not.toHaveLength(0);
    for (const field of fields) {
      const before = await read(collection, subject);
      const texts = textsOf(fields, before);
      const send = async (from: Values, text: string): Promise<Values> => {
        const patch = patchOf(fields, from, { ...texts, [field.name]: text });
        expect(patch).toHaveLength(1);
        const answer = await commandOf(client, `${collection}.patch` as never)(subject, patch);
        expect([field.name, answer]).toMatchObject([field.name, { ok: true }]);
        return read(collection, subject);
      };
      const other = otherText(field, texts[field.name] ?? '');
      const after = await send(before, other);
      if (field.isSecret === true) continue;
      expect(textsOf(fields, after)).toEqual({ ...texts, [field.name]: other });
      expect(textsOf(fields, await send(after, texts[field.name] ?? ''))).toEqual(texts);
    }
  });

  it('shows each fault at its field', async () => {
    const fields = fieldTable['services'] ?? [];
    const before = await read('services', 'My Service');
    const typed = { ...textsOf(fields, before), max_connection: 'many', servers: 'no-such', weightby: '\0' };
    const patch = patchOf(fields, before, typed);
    const answer = await client.services.patch('My Service', patch);
    const faults = answer.ok ? [] : (answer.problem.errors ?? []);
    const shown = faultsByField(faults, patch);
    expect(Object.keys(shown).toSorted()).toEqual(['max_connection', 'servers', 'weightby']);
    expect(Object.values(shown).join()).toBe(faults.map(({ detail }) => detail).join());
  });
});

it('faults without an operation are those of the place that they name, and several of a field are one text', () => {
  const fault = (pointer: string, detail: string): Fault => ({ pointer, detail, code: 'validation-failed' });
  const faults = [
    fault('', 'a'),
    fault('/port', 'b'),
    { ...fault('/value', 'c'), operation: 0 },
    fault('/x/y', 'd'),
  ];
  expect(faultsByField(faults, [{ op: 'add', path: '/port', value: 1 }])).toEqual({
    '': 'a',
    port: 'b; c',
    x: 'd',
  });
});

describe('the form of a new resource', () => {
  it('is a definition of what is typed: fields that are empty are left out, and a password keeps its spaces', () => {
    const fields = fieldTable['services'] ?? [];
    const typed = {
      name: ' Sales ',
      router: 'cli',
      max_connection: '',
      servers: 'a, /servers/b',
      password: ' p ',
    };
    expect(definitionOf(fields, { ...typed, filters: '  ' })).toEqual({
      name: 'Sales',
      router: 'cli',
      servers: ['/servers/a', '/servers/b'],
      password: ' p ',
    });
  });

  it('sends lines as they are if one of them has no value: the interface says what is wrong', () => {
    const fields = fieldTable['servers']?.filter((each) => each.name === 'parameters') ?? [];
    const patch = patchOf(fields, {}, { parameters: 'weight = 2\nfoo' });
    expect(patch).toEqual([{ op: 'add', path: '/parameters', value: 'weight = 2\nfoo' }]);
  });

  it('says what each field means, hides secrets, and has a choice where the values are few', () => {
    for (const field of Object.values(fieldTable).flat()) {
      const { hint = '', type, choices } = field.input;
      const format = Object.entries(formats).find(
        ([each]) => each === (field.isSecret ? 'secret' : field.type),
      );
      expect(hint).toBe([field.does, ...(format ?? []).slice(1)].join(' '));
      expect(type === 'password').toBe(field.isSecret === true);
      expect(type === 'choice').toBe(['choice', 'flag'].includes(field.type));
      // What is not chosen is left out.
      if (choices !== undefined) expect(choices[0]).toEqual(['', '']);
    }
  });
});

const service = { collection: 'services', link: '/services/My-Service', name: 'My Service' };

describe('the sentences of a plan', () => {
  it('say all that the plan says, of every act', async () => {
    let count = 0;
    for (const { act, answer } of await plannedActs(runAdmin().admin)) {
      if (!answer.ok) continue;
      count += 1;
      const plan = acceptedIn(answer);
      const sentences = partsOf(plan);
      const { closes, stays, effects, notes = [] } = plan;
      const numbers = [closes.sessions, closes.connections].filter((each) => each > 0).map(String);
      expect(sentences.closes.join().match(/\d+/g) ?? []).toEqual(numbers);
      // A drain, and its end, is one sentence of two effects.
      const isDrain =
        /drain|resume/i.test(act.id) || sentences.asks.some((each) => /drain|resume/.test(each));
      if (!isDrain) expect(sentences.asks).toHaveLength(effects.length);
      expect(sentences.asks.length > 0).toBe(effects.length > 0);
      expect(sentences.notes).toEqual(notes.map(({ detail }) => detail));
      const isSaid = [...sentences.stays, ...sentences.notes].some((each) =>
        each.includes(String(stays.sessions)),
      );
      expect([act.title, stays.sessions === 0 || isSaid]).toEqual([act.title, true]);
      const all = planParts.flatMap((part) => sentences[part]);
      expect(all.join('\n')).not.toMatch(/undefined|null|NaN|\[object|[{}]/);
      expect(differenceOf(plan, structuredClone(plan))).toEqual([]);
    }
    expect(count).toBeGreaterThan(40);
  });

  it.each([
    [
      closingOf({ service: 'My Service' }, ''),
      {
        closes: ['2 sessions and 3 backend connections'],
        stays: [],
        asks: [expect.stringMatching(/^close 2 sessions/)],
      },
    ],
    [actOn('services.stop', 'Stop', 'My Service'), { closes: ['nothing'], stays: ['2 sessions continue.'] }],
    [
      {
        ...actOn('services.drain', 'Drain', 'My Service'),
        given: ['My Service', { timeout: 30, then: 'close' }],
      },
      // What a deadline closes is neither nothing nor what stays.
      {
        closes: ['What is left of My-Service is closed after 30 s. Now it has 2 sessions.'],
        stays: [],
        notes: [],
      },
    ],
    [
      { ...actOn('servers.drain', 'Drain', 'db-serv-3'), given: ['db-serv-3', { reason: 'disk' }] },
      { changes: ['db-serv-3: no deadline'] },
    ],
    [
      actOn('servers.closeConnections', 'Close', 'DB Server 2'),
      // The note has the number of sessions that stay.
      {
        closes: ['1 backend connection'],
        stays: [],
        notes: ['1 session loses its connection to DB-Server-2.'],
      },
    ],
    [
      patching(service, [
        { op: 'add', path: '/max_connection', value: 5 },
        { op: 'remove', path: '/filters' },
        { op: 'remove', path: '/weightby' },
      ]),
      {
        changes: [
          'My-Service: weightby: report_weight → nothing',
          'My-Service: max_connection: 100 → 5',
          'My-Service: removed Query-Log',
          'My-Service: removed Hint',
        ],
        asks: ['change My-Service'],
      },
    ],
    [
      patching(service, [{ op: 'add', path: '/password', value: 'planted' }]),
      { changes: ['My-Service: password: changed, and not shown'] },
    ],
    [
      actOn('servers.setMaintenance', 'Set', 'db-serv-3'),
      { changes: [], asks: ['set maintenance on db-serv-3'] },
    ],
    [
      patching({ collection: 'interface', link: '/', name: '' }, [
        { op: 'replace', path: '/read_only', value: true },
      ]),
      { changes: [], asks: [] },
    ],
  ])('of an act are sentences: %#', async (act, sentences) => {
    const { admin } = runAdmin();
    const given = act.id === 'interface.patch' ? { ...act, given: act.given.slice(1) } : act;
    expect(partsOf(acceptedIn(await planOf(admin, given)))).toMatchObject(sentences);
  });
});

describe('the difference of two plans', () => {
  it('is what another operator has changed between the plan and the act', async () => {
    const { admin } = runAdmin();
    const patchTo = (value: number) => [{ op: 'add', path: '/max_connection', value } as const];
    const before = acceptedIn(await planOf(admin, patching(service, patchTo(5))));
    const { services } = createClient(sendTo(admin));
    await services.patch('My Service', patchTo(7));
    const answer = await services.patch('My Service', patchTo(5), { mark: before.mark });
    const now = (answer.ok ? undefined : answer.problem.plan) as Plan;
    const [was, is] = ['100', '7'].map((old) => `My-Service: max_connection: ${old} → 5`);
    expect(differenceOf(before, now)).toEqual([{ was, is }]);
    expect(differenceOf(now, before)).toEqual([{ was: is, is: was }]);
  });

  it('has each sentence that is gone, and each that is new', async () => {
    const { admin } = runAdmin();
    const stop = acceptedIn(await planOf(admin, actOn('services.stop', 'Stop', 'My Service')));
    const start = acceptedIn(await planOf(admin, actOn('services.start', 'Start', 'Bare Service')));
    const found = differenceOf(stop, start);
    const [old, fresh] = [partsOf(stop), partsOf(start)];
    const all = (sentences: typeof old) => planParts.flatMap((part) => sentences[part]);
    const gone = all(old).filter((each) => !all(fresh).includes(each));
    expect(found.flatMap(({ was = [] }) => was).toSorted()).toEqual(gone.toSorted());
    const come = all(fresh).filter((each) => !all(old).includes(each));
    expect(found.flatMap(({ is = [] }) => is).toSorted()).toEqual(come.toSorted());
  });
});

it.each<[unknown, string]>([
  ...[undefined, null, '', [], {}].map((each): [unknown, string] => [each, 'nothing']),
  [0, '0'],
  [false, 'false'],
  ['a b', 'a b'],
  [['/servers/a', '/servers/b'], '/servers/a, /servers/b'],
  [{ weight: 2, tls: { mode: 'on', ciphers: [] } }, 'weight 2, tls mode on, ciphers nothing'],
])('the value %j is shown as %s', (value, text) => {
  expect(valueText(value)).toBe(text);
});
