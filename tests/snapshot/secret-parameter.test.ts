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
import { readAll } from '../support/reading.ts';
import { runAdmin } from '../support/running-admin.ts';

const secretParameters = ['password', 'Secret Key'];
const sealed = { sealed: 'v1.planted' };

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

/** Writes a secret parameter of each kind that can have one. */
const writes: readonly (readonly [string, string, (snapshot: Snapshot, value: Json) => Decision])[] = [
  [
    '/services/0/router_options',
    'a service',
    (snapshot, value) =>
      patchService(snapshot, 'Sales', [{ op: 'add', path: '/router_options/password', value }], someTime),
  ],
  [
    '/servers/0/parameters',
    'a server',
    (snapshot, value) =>
      patchServer(snapshot, 'db', [{ op: 'add', path: '/parameters/password', value }], someTime),
  ],
  [
    '/monitors/0/parameters',
    'a monitor',
    (snapshot, value) =>
      patchMonitor(snapshot, 'Watch', [{ op: 'add', path: '/parameters/password', value }], someTime),
  ],
  [
    '/filters/0/parameters',
    'a filter',
    (snapshot, value) =>
      patchFilter(snapshot, 'Hint', [{ op: 'add', path: '/parameters/password', value }], someTime),
  ],
];

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
    const given = { ...document, filters: [{ ...filter, parametersSealed: { PIN: sealedParameter } }] };
    expect(createSnapshot(given).secretParameters).toEqual(['pin']);
    expect(faultsOf({ ...given, servers: [{ ...server, parameters: { pin: 'planted' } }] }, [])).toEqual([
      expect.stringMatching(
        /^\/servers\/0\/parameters\/pin validation-failed: is secret, and must not be plain text/,
      ),
    ]);
  });

  it('are known where a listener has a sealed parameter, and hold in listeners too', () => {
    const place = { name: 'L', protocol: 'pgclient', address: '/run/l.sock' };
    const listening = (parts: object): GatewayDocument => ({
      services: [
        service,
        { ...service, name: 'Stock', listeners: [place, { ...place, name: 'M', ...parts }] },
      ],
    });
    const snapshot = createSnapshot(listening({ parametersSealed: { Token: 'v1.planted' } }));
    expect(snapshot.secretParameters).toEqual(['token']);
    expect(readAll(snapshot)).not.toEqual([]);
    expect(JSON.stringify([readAll(snapshot), snapshot.services])).not.toContain('planted');
    expect(faultsOf(listening({ parameters: { PASSWORD: 'planted' } }))).toEqual([
      expect.stringMatching(
        /^\/services\/1\/listeners\/1\/parameters\/PASSWORD validation-failed: is secret, and must not be plain text/,
      ),
    ]);
  });

  it.each([[['']], [['a', 7]], ['password'], [{}], [['x'.repeat(256)]], [null]])(
    'must be a list of names: %j is none',
    (names) => {
      expect(() => createSnapshot({}, { secretParameters: names as string[] })).toThrow(
        new TypeError(
          "The option secretParameters must be a list of names of 1 to 255 characters, such as ['password']",
        ),
      );
    },
  );
});

describe('a declared name', () => {
  it('makes every parameter secret whose name has the same key, and no other', () => {
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

const sealedParameter = { value: 'v1.planted', configurable: true };

describe('a document with a secret parameter', () => {
  it('is refused with each parameter in plain text, in any spelling and in any form', () => {
    const given: GatewayDocument = {
      servers: [server, { ...server, name: 'db-2', parameters: { PASSWORD: 'planted', weight: 1 } }],
      services: [{ ...service, router_options: { password: 'planted', 'secret key': 'planted' } }],
      filters: [{ ...filter, parameters: { name: 'Password', value: 'planted', configurable: false } }],
    };
    const detail = (map: string): string =>
      `validation-failed: is secret, and must not be plain text: put the output of gateway-admin seal into ${map}`;
    expect(faultsOf(given)).toEqual([
      `/servers/1/parameters/PASSWORD ${detail('parametersSealed')}`,
      `/services/0/router_options/password ${detail('router_optionsSealed')}`,
      `/services/0/router_options/secret key ${detail('router_optionsSealed')}`,
      `/filters/0/parameters/Password ${detail('parametersSealed')}`,
    ]);
    expect(faultsOf(given, [])).toEqual([]);
  });

  it('is refused with its other faults at once, at the right places', () => {
    const given = {
      servers: [
        { ...server, port: 0 },
        { ...server, name: 'db-2', parameters: { password: 'planted' } },
      ],
    };
    expect(faultsOf(given).map((fault) => fault.split(' ')[0])).toEqual([
      '/servers/0/port',
      '/servers/1/parameters/password',
    ]);
  });

  it('is refused with the other faults of the same entry, also in a listener and in the short form', () => {
    const plain = { password: 'planted' };
    const given = {
      servers: [{ ...server, port: 'x', parameters: plain }],
      services: [
        {
          ...{ ...service, router: 7, router_options: plain },
          listeners: [{ name: 'in', protocol: 7, address: '::', port: 4000, parameters: plain }, 7],
        },
        7,
      ],
      monitors: [{ ...monitor, module: 7, parameters: plain }],
      filters: [{ ...filter, module: 7, parameters: { name: 'password', value: 'planted' } }],
    } as unknown as GatewayDocument;
    const faults = faultsOf(given).map((fault) => fault.split(':')[0]);
    for (const place of [
      '/servers/0/parameters/password',
      '/services/0/router_options/password',
      '/services/0/listeners/0/parameters/password',
      '/monitors/0/parameters/password',
      '/filters/0/parameters/password',
    ])
      expect(faults).toContain(`${place} validation-failed`);
    for (const place of ['/servers/0/port', '/services/0/router', '/services/1', '/monitors/0/module'])
      expect(faults).toContain(`${place} validation-failed`);
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

  it('has the sealed text in a map of its own, which the written document keeps', () => {
    const given: GatewayDocument = {
      servers: [{ ...server, parametersSealed: { password: 'v1.planted' } }],
      services: [{ ...service, router_optionsSealed: { password: 'v1.planted' } }],
      filters: [{ ...filter, parametersSealed: { password: sealedParameter } }],
    };
    const written = toDocument(createSnapshot(given));
    expect(written.servers?.[0]?.parametersSealed).toEqual({ password: 'v1.planted' });
    expect(written.services?.[0]?.router_optionsSealed).toEqual({ password: 'v1.planted' });
    expect(written.filters?.[0]?.parametersSealed).toEqual({ password: sealedParameter });
    expect(toDocument(createSnapshot(written))).toEqual(written);
    expect(JSON.stringify(redactSecrets(written))).not.toContain('planted');
    expect(JSON.stringify(readAll(createSnapshot(given)))).not.toContain('planted');
  });

  it('writes no map for sealed texts where there is none', () => {
    expect(JSON.stringify(toDocument(declared()))).not.toContain('Sealed');
  });
});

describe.each(writes)('a secret parameter in %s', (place, _kind, write) => {
  const [, collection = '', , map = ''] = place.split('/');

  it('is accepted sealed, stored apart, and shown nowhere', () => {
    const { next } = expectAccepted((snapshot) => write(snapshot, sealed), declared());
    const [entry] = (toDocument(next) as unknown as Record<string, readonly Record<string, object>[]>)[
      collection
    ] as readonly Record<string, object>[];
    expect(Object.keys(entry?.[map] ?? {})).not.toContain('password');
    expect(entry?.[`${map}Sealed`]).toEqual({
      password: collection === 'filters' ? sealedParameter : 'v1.planted',
    });
    expect(JSON.stringify(readAll(next))).not.toContain('planted');
  });

  it('is refused in plain text', () => {
    const problem = expectRefused((snapshot) => write(snapshot, 'planted'), declared());
    expect(problem.code).toBe('password-unacceptable');
    expect(JSON.stringify(problem)).not.toContain('planted');
  });

  it('is undone with its sealed text', () => {
    const first = write(declared(), sealed);
    const second = write(first.next, { sealed: 'v1.other' });
    const [event] = second.outcome === 'accepted' ? second.events : [];
    if (event === undefined) throw new Error('Nothing was changed');
    const undone = revert(event)(second.next, someTime);
    expect(toDocument(undone.next)).toEqual(toDocument(first.next));
    expect(JSON.stringify(redactSecrets(event))).not.toMatch(/planted|v1\.other/);
  });

  it('does not come back in plain text, neither from an event nor from a document', () => {
    const before = createSnapshot(document);
    const set = write(before, 'planted');
    const [event] = set.outcome === 'accepted' ? set.events : [];
    const pointer = `/${map}/password`;
    const inverse: readonly Operation[] = [
      { op: 'add', path: pointer, value: collection === 'filters' ? { ...sealedParameter } : 'planted' },
    ];
    const forged = { ...event, inverse } as Parameters<typeof revert>[0];
    const reverted = revert(forged)(declared(), someTime);
    expect(reverted).toMatchObject({ outcome: 'refused', problem: { code: 'validation-failed' } });
    const adopted = adoptDocument(declared(), createSnapshot(toDocument(set.next)), someTime);
    expect(adopted).toMatchObject({ outcome: 'refused', problem: { code: 'validation-failed' } });
    expect(JSON.stringify([reverted, adopted])).not.toContain('planted');
  });

  it('comes in sealed from a document only under a name that is secret here', () => {
    const given = createSnapshot(toDocument(write(declared(), sealed).next));
    expect(adoptDocument(declared(), given, someTime).outcome).toBe('accepted');
    const open = adoptDocument(createSnapshot(document), given, someTime);
    expect(open).toMatchObject({
      outcome: 'refused',
      problem: {
        errors: [
          {
            pointer: `/${map}/password`,
            detail:
              'is sealed, and is not declared secret here; start the interface with this name in secretParameters',
          },
        ],
      },
    });
  });

  it('is accepted under another name in plain text when no name is declared', () => {
    const decision = write(createSnapshot(document), 'plain');
    expect(decision.outcome).toBe('accepted');
  });

  it('is replayed by the fold of its events alone', () => {
    const decision = write(declared(), sealed);
    const events = decision.outcome === 'accepted' ? decision.events : [];
    expect(toDocument(evolve(createSnapshot(document), events))).toEqual(toDocument(decision.next));
  });
});

describe('a secret parameter that was declared only after an event set it in plain text', () => {
  it('stands in the way of no other parameter', () => {
    const add = (name: string): Operation => ({ op: 'add', path: `/parameters/${name}`, value: 'x' });
    const set = patchServer(createSnapshot(document), 'db', [add('password')], someTime);
    const folded = evolve(declared(), set.outcome === 'accepted' ? set.events : []);
    const { next } = expectAccepted(
      (snapshot) => patchServer(snapshot, 'db', [add('mode')], someTime),
      folded,
    );
    expect(next.servers.find('db')?.settings.parameters).toEqual({ weight: 5, password: 'x', mode: 'x' });
  });
});

describe('a secret parameter of a filter that is not configurable', () => {
  const fixed = createSnapshot({
    filters: [{ ...filter, parametersSealed: { password: { value: 'v1.fixed', configurable: false } } }],
  });
  const patch = (operation: Operation): Decision => patchFilter(fixed, 'Hint', [operation], someTime);

  it('is refused to every writer, with the same answer for the present text and another', () => {
    const problems = ['v1.fixed', 'v1.other'].map((text) =>
      patch({ op: 'replace', path: '/parameters/password/value', value: { sealed: text } }),
    );
    expect(problems[0]).toMatchObject({
      outcome: 'refused',
      problem: { errors: [{ pointer: '/parameters/password', code: 'parameter-not-configurable' }] },
    });
    expect(problems[1]).toEqual(problems[0]);
    expect(patch({ op: 'remove', path: '/parameters/password' })).toEqual(problems[0]);
  });

  it('does not keep a patch from changing another parameter', () => {
    const parameter = { value: 'x', configurable: true };
    const { outcome, next } = patch({ op: 'add', path: '/parameters/match', value: parameter });
    expect(outcome).toBe('accepted');
    expect(next.filters.find('Hint')?.settings.parameters).toEqual({ match: parameter });
  });

  it('stays what it is when the whole map is replaced', () => {
    const decision = patch({ op: 'replace', path: '/parameters', value: { match: 'x' } });
    expect(decision.outcome).toBe('refused');
    const { next } = patch({
      op: 'replace',
      path: '/parameters',
      value: { match: { value: 'x', configurable: true } },
    });
    expect(next.filters.find('Hint')?.settings.parametersSealed).toEqual({
      password: { value: 'v1.fixed', configurable: false },
    });
  });
});

describe('a patch that reads a field that no patch can change', () => {
  it('keeps the secret parameters', () => {
    const given = createSnapshot({ servers: [{ ...server, parametersSealed: { password: 'v1.planted' } }] });
    const { next } = expectAccepted((snapshot) => {
      const operations = [
        { op: 'test', path: '/name', value: 'db' },
        { op: 'add', path: '/parameters/weight', value: 7 },
      ] as const;
      return patchServer(snapshot, 'db', operations, someTime);
    }, given);
    expect(next.servers.find('db')?.settings).toEqual({
      ...given.servers.find('db')?.settings,
      parameters: { weight: 7 },
    });
  });
});

describe('the parameter of a filter', () => {
  const patched = (...operations: readonly Operation[]): unknown => {
    const decision = patchFilter(declared(), 'Hint', operations, someTime);
    return decision.outcome === 'refused'
      ? decision.problem.code
      : decision.next.filters.find('Hint')?.settings.parametersSealed;
  };

  it.each([
    ['its shorthand', { op: 'add', path: '/parameters/password', value: sealed }],
    ['an object', { op: 'add', path: '/parameters/password', value: { value: sealed } }],
    ['its value alone', { op: 'add', path: '/parameters/password/value', value: sealed }],
    ['a single entry', { op: 'replace', path: '/parameters', value: { name: 'password', value: sealed } }],
    [
      'the whole map',
      { op: 'replace', path: '/parameters', value: { password: { value: sealed, configurable: true } } },
    ],
  ] as const)('is secret in each form: %s', (_form, operation) => {
    expect(patched(operation)).toEqual({ password: sealedParameter });
    const plain = JSON.parse(
      JSON.stringify(operation).replace('{"sealed":"v1.planted"}', '"x"'),
    ) as Operation;
    expect(patched(plain)).toBe('password-unacceptable');
  });

  it('keeps its `configurable`, which only the gateway decides', () => {
    const fixed = { op: 'add', path: '/parameters/password', value: { value: sealed, configurable: false } };
    expect(patched({ op: 'add', path: '/parameters/password', value: sealed }, fixed as Operation)).toEqual({
      password: { value: 'v1.planted', configurable: false },
    });
    const { next } = patchFilter(
      declared(),
      'Hint',
      [{ op: 'add', path: '/parameters/password', value: sealed }],
      someTime,
    );
    expect(patchFilter(next, 'Hint', [fixed as Operation], someTime)).toMatchObject({
      outcome: 'refused',
      problem: { code: 'field-not-modifiable' },
    });
  });
});
