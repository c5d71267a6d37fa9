import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  adoptDocument,
  createListener,
  createResource,
  createSnapshot,
  evolve,
  InvalidDocumentError,
  nameKey,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  redactSecrets,
  revert,
  toDocument,
  type Context,
  type Decision,
  type GatewayDocument,
  type Json,
  type Operation,
  type Snapshot,
} from 'gateway-admin-core';

import { filter, monitor, server, service } from '../support/document-entry.ts';
import { expectAccepted, expectRefused, someTime } from '../support/expect-decision.ts';
import { short } from '../support/patch-model.ts';
import { readAll } from '../support/reading.ts';
import { runAdmin } from '../support/running-admin.ts';

const secretParameters = ['password', 'Secret Key'];
const sealed = { sealed: 'v1.planted' };
const sealedParameter = { value: sealed, configurable: true };

const document: GatewayDocument = {
  servers: [{ ...server, parameters: { weight: 5 } }],
  services: [{ ...service, router_options: { mode: 'slave' } }],
  monitors: [{ ...monitor, parameters: { failover: true } }],
  filters: [{ ...filter, parameters: { match: { value: 'select', configurable: true } } }],
};

function declared(more: GatewayDocument = document): Snapshot {
  return createSnapshot(more, { epoch: 'test', secretParameters });
}

function faultsOf(given: GatewayDocument, names = secretParameters): readonly string[] {
  try {
    createSnapshot(given, { secretParameters: names });
    return [];
  } catch (error) {
    if (!(error instanceof InvalidDocumentError)) throw error;
    expect(error.message).not.toContain('planted');
    return error.faults.map(({ pointer, code, detail }) => `${pointer} ${code}: ${detail}`);
  }
}

const isPlain =
  'validation-failed: is secret, and must not be plain text: write { "sealed": … } with the output of gateway-admin seal';

/** Writes a secret parameter of each kind that can have one, into its map. */
const writers = [
  ['services', 'router_options', 'Sales', patchService],
  ['servers', 'parameters', 'db', patchServer],
  ['monitors', 'parameters', 'Watch', patchMonitor],
  ['filters', 'parameters', 'Hint', patchFilter],
] as const;

function shownOf(snapshot: Snapshot): readonly unknown[] {
  return readAll(snapshot).map(({ shown }) => shown);
}

describe('the names of secret parameters', () => {
  it('are in the snapshot, folded, in alphabetical order, each once', () => {
    expect(declared().secretParameters).toEqual(['password', 'secret-key']);
    const names = ['B', 'a', 'b', 'A', 'a'];
    expect(createSnapshot({}, { secretParameters: names }).secretParameters).toEqual(['a', 'b']);
    expect(Object.isFrozen(declared().secretParameters)).toBe(true);
  });

  it('are not there when there are none', () => {
    expect(createSnapshot(document)).not.toHaveProperty('secretParameters');
    expect(createSnapshot(document, { secretParameters: [] })).not.toHaveProperty('secretParameters');
  });

  it('stay from one change to the next', () => {
    const before = declared();
    const { next } = patchServer(before, 'db', [{ op: 'add', path: '/port', value: 7 }], someTime);
    expect(next).not.toBe(before);
    expect(next.secretParameters).toBe(before.secretParameters);
  });

  it('are known without a declaration where a document has a sealed parameter', () => {
    const given = { ...document, filters: [{ ...filter, parameters: { PIN: sealedParameter } }] };
    expect(createSnapshot(given).secretParameters).toEqual(['pin']);
    const plain = { ...given, servers: [{ ...server, parameters: { pin: 'planted' } }] };
    expect(faultsOf(plain, [])).toEqual([`/servers/0/parameters/pin ${isPlain}`]);
  });

  it('are known where a listener has a sealed parameter, and hold in listeners too', () => {
    const place = { name: 'L', protocol: 'pgclient', address: '/run/l.sock' };
    const listening = (parts: object): GatewayDocument => ({
      services: [
        service,
        { ...service, name: 'Stock', listeners: [place, { ...place, name: 'M', ...parts }] },
      ],
    });
    const snapshot = createSnapshot(listening({ parameters: { Token: sealed } }));
    expect(snapshot.secretParameters).toEqual(['token']);
    expect(readAll(snapshot)).not.toEqual([]);
    expect(JSON.stringify([readAll(snapshot), snapshot.services])).not.toContain('planted');
    expect(faultsOf(listening({ parameters: { PASSWORD: 'planted' } }))).toEqual([
      `/services/1/listeners/1/parameters/PASSWORD ${isPlain}`,
    ]);
  });

  it.each([[['']], [['a', 7]], ['password'], [{}], [['x'.repeat(256)]], [null]])(
    'must be a list of names: %j is none',
    (names) => {
      const rule = "must be a list of names of 1 to 255 characters, such as ['password']";
      const create = () => createSnapshot({}, { secretParameters: names as string[] });
      expect(create).toThrow(new TypeError(`The option secretParameters ${rule}`));
    },
  );

  it('make every parameter secret whose name has the same key, and no other', () => {
    const names = fc.constantFrom('pin', 'PIN', 'pi n', 'Pi-N', 'password', 'Stra\u00dfe', 'STRASSE');
    fc.assert(
      fc.property(fc.array(names, { maxLength: 3 }), names, (declared, name) => {
        const filters = [{ ...filter, parameters: { [name]: { value: 'x', configurable: true } } }];
        const create = () => createSnapshot({ filters }, { secretParameters: declared });
        if (declared.some((each) => nameKey(each) === nameKey(name)))
          expect(create).toThrow(InvalidDocumentError);
        else expect(create).not.toThrow();
      }),
    );
  });
});

/** The snapshot once an interface with these secret parameters runs on it. */
function declareSecretParameters(snapshot: Snapshot, secretParameters?: readonly string[]): Snapshot {
  return runAdmin({ snapshot, ...(secretParameters && { secretParameters }) }).admin.snapshot;
}

describe('a later declaration of secret parameters', () => {
  const names = fc.array(fc.constantFrom('a', 'A', 'b', 'c d', 'C-D'), { maxLength: 3 });

  it('gives the same snapshot as one declaration of all names, and keeps the names if no name is new', () => {
    fc.assert(
      fc.property(names, names, (first, second) => {
        const before = createSnapshot(document, { secretParameters: first });
        const after = declareSecretParameters(before, second);
        const whole = createSnapshot(document, { secretParameters: [...first, ...second] });
        expect(after).toEqual({ ...whole, epoch: after.epoch });
        expect(Object.isFrozen(after)).toBe(true);
        expect(after.secretParameters === before.secretParameters).toBe(
          second.every((name) => first.some((each) => nameKey(each) === nameKey(name))),
        );
      }),
      { numRuns: 40 },
    );
  });

  it('may be left out', () => {
    for (const snapshot of [declared(), createSnapshot(document)])
      expect(declareSecretParameters(snapshot).secretParameters).toBe(snapshot.secretParameters);
  });

  it('is refused for a parameter in plain text', () => {
    expect(() => declareSecretParameters(declared(), ['weight'])).toThrow(
      expect.objectContaining({
        faults: [expect.objectContaining({ pointer: '/servers/0/parameters/weight' })],
      }),
    );
  });
});

describe('a document with a secret parameter', () => {
  it('is refused with each parameter in plain text, in any spelling and in any form', () => {
    const given: GatewayDocument = {
      servers: [server, { ...server, name: 'db-2', parameters: { PASSWORD: 'planted', weight: 1 } }],
      services: [{ ...service, router_options: { password: 'planted', 'secret key': 'planted' } }],
      filters: [{ ...filter, parameters: { name: 'Password', value: 'planted', configurable: false } }],
    };
    expect(faultsOf(given)).toEqual([
      `/servers/1/parameters/PASSWORD ${isPlain}`,
      `/services/0/router_options/password ${isPlain}`,
      `/services/0/router_options/secret key ${isPlain}`,
      `/filters/0/parameters/Password ${isPlain}`,
    ]);
    expect(faultsOf(given, [])).toEqual([]);
  });

  it('is refused with the other faults of the same entry, also in a listener and in the short form', () => {
    const plain = { password: 'planted' };
    const listener = { name: 'in', protocol: 7, address: '::', port: 4000, parameters: plain };
    const given = {
      servers: [{ ...server, port: 'x', parameters: plain }],
      services: [{ ...service, router: 7, router_options: plain, listeners: [listener, 7] }, 7],
      monitors: [{ ...monitor, module: 7, parameters: plain }],
      filters: [{ ...filter, module: 7, parameters: { name: 'password', value: 'planted' } }],
    } as unknown as GatewayDocument;
    const secrets = [
      'servers/0/parameters',
      'services/0/router_options',
      'services/0/listeners/0/parameters',
    ];
    const maps = [...secrets, 'monitors/0/parameters', 'filters/0/parameters'];
    const others = ['/servers/0/port', '/services/0/router', '/services/1', '/monitors/0/module'];
    const expected = [...maps.map((map) => `/${map}/password`), ...others].map(
      (at) => `${at} validation-failed`,
    );
    const faults = faultsOf(given).map((fault) => fault.split(':')[0]);
    expect(faults).toEqual(expect.arrayContaining(expected));
  });

  it('is refused with the other faults of a definition', () => {
    const before = declared({ services: [service] });
    const plain = { port: 0, parameters: { password: 'planted' } };
    for (const create of [
      (from: Snapshot, context: Context) =>
        createResource(from, 'servers', { ...server, name: 'new', ...plain }, context),
      (from: Snapshot, context: Context) =>
        createListener(from, 'Sales', { name: 'in', protocol: 'p', address: '::', ...plain }, context),
    ])
      expect(expectRefused(create, before).errors).toMatchObject([
        { pointer: '/port' },
        { pointer: '/parameters/password' },
      ]);
  });

  it('has the sealed text in its place, which the written document keeps', () => {
    const given: GatewayDocument = {
      servers: [{ ...server, parameters: { weight: 5, password: sealed } }],
      services: [{ ...service, router_options: { password: sealed, mode: 'slave' } }],
      filters: [{ ...filter, parameters: { password: { value: sealed } } }],
    };
    const written = toDocument(createSnapshot(given));
    expect(written.servers?.[0]?.parameters).toEqual({ weight: 5, password: sealed });
    expect(written.services?.[0]?.router_options).toEqual({ password: sealed, mode: 'slave' });
    expect(written.filters?.[0]?.parameters).toEqual({ password: sealedParameter });
    expect(toDocument(createSnapshot(written))).toEqual(written);
    expect(JSON.stringify(redactSecrets(written))).not.toContain('planted');
    expect(JSON.stringify(shownOf(createSnapshot(given)))).not.toMatch(/planted|sealed|"password/);
  });
});

describe.each(writers)('a secret parameter in one of the %s', (collection, map, name, patch) => {
  const write = (snapshot: Snapshot, value: Json): Decision =>
    patch(snapshot, name, [{ op: 'add', path: `/${map}/password`, value }], someTime);

  it('is accepted sealed, stored in its place, shown nowhere, and made by its events alone', () => {
    const { next, events } = expectAccepted((snapshot) => write(snapshot, sealed), declared());
    const entry = toDocument(next)[collection]?.[0] as unknown as Record<string, object> | undefined;
    const old = document[collection]?.[0] as unknown as Record<string, object> | undefined;
    const password = collection === 'filters' ? sealedParameter : sealed;
    expect(entry?.[map]).toEqual({ ...old?.[map], password });
    expect(JSON.stringify(shownOf(next))).not.toMatch(/planted|sealed|"password/);
    expect(toDocument(evolve(createSnapshot(document), events))).toEqual(toDocument(next));
  });

  it('is refused in plain text', () => {
    const problem = expectRefused((snapshot) => write(snapshot, 'planted'), declared());
    expect(problem.code).toBe('password-unacceptable');
    expect(JSON.stringify(problem)).not.toContain('planted');
  });

  it('does not come back in plain text, neither from an event nor from a document', () => {
    const set = expectAccepted((snapshot) => write(snapshot, 'planted'), createSnapshot(document));
    const value = collection === 'filters' ? { value: 'planted', configurable: true } : 'planted';
    const parameters = { [map]: { password: value } };
    const forged = { ...set.events[0], from: parameters, to: { [map]: {} } } as Parameters<typeof revert>[0];
    const reverted = revert(forged)(declared(), someTime);
    const adopted = adoptDocument(declared(), createSnapshot(toDocument(set.next)), someTime);
    const refused = { outcome: 'refused', problem: { code: 'validation-failed' } };
    expect([reverted, adopted]).toMatchObject([refused, refused]);
    expect(JSON.stringify([reverted, adopted])).not.toContain('planted');
  });

  it('comes in sealed from a document only under a name that is secret here', () => {
    const given = createSnapshot(toDocument(write(declared(), sealed).next));
    expect(adoptDocument(declared(), given, someTime).outcome).toBe('accepted');
    const open = adoptDocument(createSnapshot(document), given, someTime);
    const hint = 'start the interface with this name in secretParameters';
    const detail = `is sealed, and is not declared secret here; ${hint}`;
    const errors = [{ pointer: `/${map}/password`, detail }];
    expect(open).toMatchObject({ outcome: 'refused', problem: { errors } });
  });
});

it('a secret parameter stands in no other’s way if it was declared only after an event set it in plain text', () => {
  const add = (name: string): Operation => short(`add /parameters/${name} "x"`);
  const set = patchServer(createSnapshot(document), 'db', [add('password')], someTime);
  const folded = evolve(declared(), set.outcome === 'accepted' ? set.events : []);
  const { next } = expectAccepted((snapshot) => patchServer(snapshot, 'db', [add('mode')], someTime), folded);
  expect(next.servers.find('db')?.settings.parameters).toEqual({ weight: 5, password: 'x', mode: 'x' });
});

describe('a secret parameter of a filter that is not configurable', () => {
  const password = { value: { sealed: 'v1.fixed' }, configurable: false };
  const fixed = createSnapshot({ filters: [{ ...filter, parameters: { password } }] });
  const patch = (text: string): Decision => patchFilter(fixed, 'Hint', [short(text)], someTime);

  it('is refused to every writer, with the same answer for the present text and another', () => {
    const problems = ['v1.fixed', 'v1.other'].map((text) =>
      patch(`replace /parameters/password/value {"sealed":"${text}"}`),
    );
    const errors = [{ pointer: '/parameters/password', code: 'parameter-not-configurable' }];
    expect(problems[0]).toMatchObject({ outcome: 'refused', problem: { errors } });
    expect([problems[1], patch('remove /parameters/password')]).toEqual([problems[0], problems[0]]);
  });

  it('stays when another parameter is changed, or the whole map is replaced', () => {
    const match = '{"value":"x","configurable":true}';
    for (const text of [`add /parameters/match ${match}`, `replace /parameters {"match":${match}}`])
      expect(patch(text).next.filters.find('Hint')?.settings).toEqual({
        parameters: { match: { value: 'x', configurable: true }, password },
      });
    expect(patch('replace /parameters {"match":"x"}').outcome).toBe('refused');
    const same = '{"value":{"sealed":"v1.fixed"},"configurable":false}';
    expect(patch(`replace /parameters {"password":${same}}`)).toMatchObject({
      problem: { errors: [{ pointer: '/parameters/password', code: 'parameter-not-configurable' }] },
    });
  });
});

it('a patch that reads a field that no patch can change keeps the secret parameters', () => {
  const given = createSnapshot({ servers: [{ ...server, parameters: { password: sealed } }] });
  const operations = [short('test /name "db"'), short('add /parameters/weight 7')];
  const { next } = expectAccepted((snapshot) => patchServer(snapshot, 'db', operations, someTime), given);
  const settings = { ...given.servers.find('db')?.settings, parameters: { weight: 7, password: sealed } };
  expect(next.servers.find('db')?.settings).toEqual(settings);
});

describe('the parameter of a filter', () => {
  const patched = (text: string, before = declared()): unknown => {
    const decision = patchFilter(before, 'Hint', text.split('|').map(short), someTime);
    return decision.outcome === 'refused'
      ? decision.problem.code
      : decision.next.filters.find('Hint')?.settings.parameters['password'];
  };
  const add = 'add /parameters/password';

  it.each([
    ['its shorthand', `${add} *`],
    ['an object', `${add} {"value":*}`],
    ['its value alone', `${add}/value *`],
    ['a single entry', 'replace /parameters {"name":"password","value":*}'],
    ['the whole map', 'replace /parameters {"password":{"value":*,"configurable":true}}'],
  ])('is secret in each form: %s', (_form, text) => {
    expect(patched(text.replace('*', JSON.stringify(sealed)))).toEqual(sealedParameter);
    expect(patched(text.replace('*', '"x"'))).toBe('password-unacceptable');
  });

  it('keeps its `configurable`, which only the gateway decides', () => {
    const short = `${add} ${JSON.stringify(sealed)}`;
    const fixed = `${add} ${JSON.stringify({ value: sealed, configurable: false })}`;
    expect(patched(`${short}|${fixed}`)).toEqual({ value: sealed, configurable: false });
    const before = createSnapshot({ filters: [{ ...filter, parameters: { password: sealedParameter } }] });
    expect(patched(fixed, before)).toBe('field-not-modifiable');
  });
});
