/**
 * Arbitrary patches of the resources of the sample gateway, most of which name fields and values that are there.
 */
import * as fc from 'fast-check';
import {
  linkTo,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  routes,
  type Context,
  type Decision,
  type GatewayDocument,
  type Json,
  type Operation,
  type Snapshot,
} from 'gateway-admin-core';
import type * as z from 'zod/mini';

import { valuesOf } from './arbitrary-shape.ts';
import { sampleDocument, sampleSnapshot } from './document.ts';
import { fieldTables } from './internal.ts';
import { modelPatch, modelValueAt, placesIn } from './patch-model.ts';
import { modelFields, type Members, type ModelResource } from './patch-rules-model.ts';
import { readAll } from './reading.ts';
import { shown } from './shown.ts';

const transitions = {
  service: patchService,
  server: patchServer,
  monitor: patchMonitor,
  filter: patchFilter,
} as const;

/** The kinds with a transition that takes a patch. */
type Kind = keyof typeof transitions;

/** A resource of the sample gateway that can be patched. */
export interface Subject {
  readonly kind: Kind;
  readonly name: string;
  /** Where it is patched. */
  readonly target: string;
}

const kinds = Object.keys(transitions) as readonly Kind[];

/** Every resource of a document that can be patched. */
export function subjectsOf(document: GatewayDocument): readonly Subject[] {
  return kinds.flatMap((kind) => {
    const path = routes.find(({ id }) => id === `${kind}s.patch`)?.path ?? '';
    return (document[`${kind}s`] ?? []).map(({ name }) => ({
      kind,
      name,
      target: path.replace(':name', name.replaceAll(' ', '-')),
    }));
  });
}

/** Every resource of the sample that can be patched. */
export const subjects = subjectsOf(sampleDocument);

/** Patches a resource. */
export function patchSubject(
  { kind, name }: Subject,
  operations: readonly Operation[],
  snapshot: Snapshot,
  context: Context,
): Decision {
  return transitions[kind](snapshot, name, operations, context);
}

/** The settings of a resource that a patch can write. */
export function settingsOf({ kind, name }: Subject, snapshot: Snapshot): Members {
  const thing = kind === 'server' ? shown(snapshot.servers.find(name)) : snapshot[`${kind}s`].find(name);
  return patchable(thing?.settings ?? {});
}

/** The settings that a patch can write, of all settings. */
function patchable(settings: object): Members {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => name !== 'drain'));
}

function nameKeyOf(name: string): string {
  return name.replaceAll(' ', '-').toLowerCase();
}

/** A resource of the sample as the model sees it. */
export function modelOf(subject: Subject): ModelResource {
  const snapshot = sampleSnapshot();
  const shown = readAll(snapshot).find(
    ({ route, subject: name }) =>
      route.id === `${subject.kind}s.get` && nameKeyOf(name) === nameKeyOf(subject.name),
  )?.shown[0];
  return {
    kind: subject.kind,
    shown: shown as Members,
    settings: settingsOf(subject, sampleSnapshot()),
    links,
  };
}

/** Spellings of links, with the canonical form of each. */
const links = new Map(
  (['servers', 'filters'] as const).flatMap((collection) =>
    (sampleDocument[collection] ?? []).flatMap(({ name }) => {
      const link = linkTo(collection, name);
      const key = nameKeyOf(name);
      return [link, `/${collection}/${key}`, `/${collection}/${encodeURIComponent(name)}`].map(
        (spelling) => [spelling, link] as const,
      );
    }),
  ),
);

const spelled = (collection: string): readonly string[] =>
  [...links.keys()].filter((link) => link.startsWith(`/${collection}/`));
const texts = ['x', 'master', 'Ω', 'y', '', '1', 'z', 'a\u0000', '\ud800', '2'];
const numbers = [0, 1, 2, 3, 5432, 65535, 65536, 2147483648, -1, 0.5];
const parameters = [
  { value: 'x', configurable: true },
  { value: 'x' },
  { value: 'x', configurable: false },
  { value: { value: 'x' } },
  { value: 7 },
  { value: { sealed: 'v1.x' } },
];
const sealed = { sealed: 'v1.x' };

/** Values for a field: for the whole of it, and for what is below it. Most are right, some are not. */
interface Pool {
  readonly whole: readonly Json[];
  readonly inner: readonly Json[];
}

/** What no shape tells: which links there are, how a secret is given, and the shorthands of a filter. */
const own: Readonly<Record<string, Partial<Pool>>> = {
  servers: {
    whole: [[], ...spelled('servers').map((link) => [link]), ['/servers/no']],
    inner: spelled('servers'),
  },
  filters: { whole: [[], ...spelled('filters').map((link) => [link]), 'no'], inner: spelled('filters') },
  address: { whole: ['10.0.0.9', '::1', '/run/db', 'db.test', 'a b', 'db:1', '', 'a:b'] },
  state: { whole: [[], ['master'], ['slave', 'running', 'slave'], ['up'], Array<string>(17).fill('master')] },
  parameters: {
    whole: [
      {},
      { a: 'b', c: 1 },
      { a: null },
      { name: 'a', value: 'b' },
      { a: parameters[0] ?? null },
      { a: 'b', password: sealed },
      { password: { value: sealed, configurable: true } },
      { name: 'Password', value: sealed },
      { password: 'x' },
    ],
    inner: [...texts, ...parameters, ...numbers, sealed, sealed, sealed],
  },
  router_options: {
    whole: [{}, { a: 'b' }, { a: 'b', password: sealed, PASSWORD: sealed }, { password: 'x' }, { a: 1 }],
    inner: [...texts, sealed, sealed, sealed],
  },
};
const secrets: Pool = {
  whole: [{ sealed: 'v1.x' }, { sealed: 'v1.sealed.nobody-reads' }, 'x', { sealed: 7 }],
  inner: texts,
};
const others: Pool = { whole: texts, inner: texts };

const pools = new Map(
  kinds.flatMap((kind) => {
    const settings = fieldTables[kind]?.all.filter(({ setting }) => setting !== undefined) ?? [];
    return settings.flatMap(({ name, patchName, shape, open = shape, secret }) => {
      const pool = secret === undefined ? { ...poolFor(open), ...own[patchName] } : secrets;
      return [name, patchName].map((token) => [`${kind} ${token}`, pool] as const);
    });
  }),
);

function poolFor(shape: z.core.$ZodType): Pool {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  const inner = def.type === 'record' ? def.valueType : def.type === 'array' ? def.element : shape;
  const wrong = def.type === 'number' ? numbers : texts;
  const some = (of: z.core.$ZodType): readonly Json[] =>
    fc.sample(valuesOf(of), { numRuns: 10, seed: 1 }) as readonly Json[];
  return { whole: [...some(shape), ...wrong], inner: [...some(inner), ...wrong] };
}

function poolOf(kind: Kind, token: string): Pool {
  return pools.get(`${kind} ${token}`) ?? others;
}

/** What may be below a list and a map; most of it is there or can be added. */
const below = {
  list: ['/-', '/-', '/0', '/0', '/1', '/length'],
  map: ['/new', '/a', '/match', '/new/value', '/match/value', '/configurable', '/toString', '/-'].concat([
    '/password',
    '/password',
    '/Password',
    '/password/value',
    '/PASSWORD/value',
    '/password/configurable',
  ]),
};
const odd = [
  '',
  '/name',
  '/nothing',
  '/password',
  '/password/x',
  '/password',
  '/password/sealed',
  '/parameters/password/sealed',
  '/router_options/password/sealed',
  '/toString',
  '/services',
].concat([
  '/__proto__',
  '/router_options/constructor',
  '/status',
  '/status/0',
  '/status/-',
  '/state/01',
  '/servers/-1',
]);

/** How often out of a hundred something is chosen. */
const chance = fc.integer({ min: 0, max: 99 });
const wishes = fc.array(
  fc.record({
    op: fc.constantFrom('add', 'add', 'replace', 'replace', 'remove', 'move', 'copy', 'test'),
    where: chance,
    at: fc.nat(),
    from: fc.nat(),
    near: chance,
    value: fc.nat(),
    right: chance,
  }),
  { minLength: 1, maxLength: 4 },
);
type Wish = typeof wishes extends fc.Arbitrary<readonly (infer W)[]> ? W : never;

function nth<T>(list: readonly T[], at: number, otherwise: T): T {
  return list[at % list.length] ?? otherwise;
}

/** A place: one that is there, a field, something below a container, or something odd. */
function placeOf(
  kind: Kind,
  current: unknown,
  { where, at }: Pick<Wish, 'where' | 'at'>,
  inside = '',
): string {
  const fields = [...modelFields(kind).keys()].map((name) => `/${name}`);
  if (where < 3) return nth(odd, at, '');
  if (where < 40) return nth(fields, at, '');
  const there = placesIn(current).filter((place) => place !== '' && `${place}/`.startsWith(inside));
  if (where < 75 || there.length === 0) return nth(there.length === 0 ? fields : there, at, '');
  const containers = there.filter((place) => typeof modelValueAt(current, place) === 'object');
  const container = nth(containers, at, '/parameters');
  const kindOf = Array.isArray(modelValueAt(current, container)) ? 'list' : 'map';
  return container + nth(below[kindOf], Math.floor(at / 64), '');
}

function operationOf(kind: Kind, current: unknown, wish: Wish): Operation {
  const { op, near, right } = wish;
  const path = placeOf(kind, current, wish);
  const [token = '', ...rest] = path.split('/').slice(1);
  const from = placeOf(
    kind,
    current,
    { where: near < 3 ? 0 : 50, at: wish.from },
    near < 80 ? `/${token}/` : '',
  );
  const pool = poolOf(kind, right < 5 ? nth([...modelFields(kind).keys()], wish.at, '') : token);
  const value = nth(rest.length === 0 ? pool.whole : pool.inner, wish.value, null);
  const same = right > (op === 'test' ? 20 : 90) ? modelValueAt(current, path) : undefined;
  return { op, path, from, value: same ?? value } as Operation;
}

/** Operations on a resource, of the sample by default; most name places that are there when their turn comes. */
export const operationsOn = (subject: Subject, snapshot?: Snapshot): fc.Arbitrary<readonly Operation[]> =>
  wishes.map((list) => {
    let current: unknown = settingsOf(subject, snapshot ?? sampleSnapshot());
    return list.map((wish) => {
      const operation = operationOf(subject.kind, current, wish);
      const outcome = modelPatch(current, [operation]);
      if (outcome.done) current = outcome.document;
      return operation;
    });
  });

/** Resources of the sample, each with operations. */
export const subjectPatches: fc.Arbitrary<readonly [Subject, readonly Operation[]]> = fc
  .constantFrom(...subjects)
  .chain((subject) => fc.tuple(fc.constant(subject), operationsOn(subject)));
