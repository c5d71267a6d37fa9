/**
 * Arbitrary patches of the resources of the sample gateway, most of which name fields and values that are there.
 */
import * as fc from 'fast-check';
import {
  createTimeFormat,
  linkTo,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  routes,
  type Context,
  type Decision,
  type Json,
  type Operation,
  type Snapshot,
} from 'gateway-admin-core';

import { sampleDocument, sampleSnapshot } from './document.ts';
import { modelPatch, modelValueAt, placesIn } from './patch-model.ts';
import { modelFields, type Kind, type Members, type ModelResource } from './patch-rules-model.ts';

/** A resource of the sample gateway that can be patched. */
export interface Subject {
  readonly kind: Kind;
  readonly name: string;
  /** Where it is patched. */
  readonly target: string;
}

const collections = {
  service: 'services',
  server: 'servers',
  monitor: 'monitors',
  filter: 'filters',
} as const;
const kinds = Object.keys(collections) as readonly Kind[];

/** Every resource of the sample that can be patched. */
export const subjects: readonly Subject[] = kinds.flatMap((kind) =>
  (sampleDocument[collections[kind]] ?? []).map(({ name }) => ({
    kind,
    name,
    target: `/${kind === 'service' || kind === 'server' ? collections[kind] : kind}/${name.replaceAll(' ', '-')}`,
  })),
);

const transitions = {
  service: patchService,
  server: patchServer,
  monitor: patchMonitor,
  filter: patchFilter,
} satisfies Record<Kind, unknown>;

/** Patches a resource. */
export function patchSubject(
  { kind, name }: Subject,
  operations: readonly Operation[],
  snapshot: Snapshot,
  context: Context,
): Decision {
  return transitions[kind](snapshot, name, operations, context);
}

/** The settings of a resource, the password of a service as its sealed text. */
export function settingsOf({ kind, name }: Subject, snapshot: Snapshot): Members {
  const settings = snapshot[collections[kind]].find(nameKeyOf(name))?.settings ?? {};
  const { passwordSealed: password, ...rest } = settings as Members;
  return password === undefined ? rest : { ...rest, password };
}

function nameKeyOf(name: string): string {
  return name.replaceAll(' ', '-').toLowerCase();
}

/** A resource of the sample as the model sees it. */
export function modelOf(subject: Subject): ModelResource {
  const route = routes.find(({ id }) => id === `${collections[subject.kind]}.get`);
  if (route?.kind !== 'item') throw new Error('There is no such route');
  const shown = route.read(sampleSnapshot(), subject.name, { times: createTimeFormat('UTC') });
  if (!shown.ok) throw new Error(shown.problem.detail);
  return {
    kind: subject.kind,
    shown: shown.value as Members,
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
const texts = ['x', 'master', 'Ω', '', 'a\u0000', '\ud800', '2'];
const numbers = [0, 1, 5432, 65535, 65536, 2147483648, -1, 0.5];
const flags = [true, false];
const parameters = [
  { value: 'x', configurable: true },
  { value: 'x' },
  { value: 'x', configurable: false },
  { value: { value: 'x' } },
  { value: 7 },
];

/** Values for each field: for the whole of it, and for what is below it. Most are right, some are not. */
const pools: Readonly<Record<string, { readonly whole: readonly Json[]; readonly inner: readonly Json[] }>> =
  {
    servers: {
      whole: [[], ...spelled('servers').map((link) => [link]), ['/servers/no']],
      inner: spelled('servers'),
    },
    filters: { whole: [[], ...spelled('filters').map((link) => [link]), 'no'], inner: spelled('filters') },
    router_options: { whole: [{}, { a: 'b' }, { a: 1 }, { __proto__: null, a: 'b', c: 'd' }], inner: texts },
    password: {
      whole: [{ sealed: 'v1.x' }, { sealed: 'v1.sealed.nobody-reads' }, 'x', { sealed: 7 }],
      inner: texts,
    },
    root_user: { whole: flags, inner: flags },
    strip_db_esc: { whole: flags, inner: flags },
    address: { whole: ['10.0.0.9', '::1', '/run/db', 'db.test', 'a b', 'db:1', '', 'a:b'], inner: texts },
    state: {
      whole: [[], ['master'], ['slave', 'running', 'slave'], ['up'], Array<string>(17).fill('master')],
      inner: ['master', 'slave', 'synced', 'running', 'maintenance', 'up', 7],
    },
    parameters: {
      whole: [{}, { a: 'b', c: 1 }, { a: null }, { name: 'a', value: 'b' }, { a: parameters[0] ?? null }],
      inner: [...texts, ...parameters, ...numbers],
    },
  };
const numeric = { whole: numbers, inner: numbers };
const textual = { whole: texts, inner: texts };

function poolOf(token: string): { readonly whole: readonly Json[]; readonly inner: readonly Json[] } {
  const name = token === 'status' ? 'state' : token;
  if (Object.hasOwn(pools, name)) return pools[name] ?? numeric;
  return /timeout|interval|connection|port/.test(name) ? numeric : textual;
}

const beyond = [
  '/-',
  '/0',
  '/1',
  '/9',
  '/new',
  '/a',
  '/value',
  '/configurable',
  '/new/value',
  '/length',
  '/toString',
];
const odd = [
  '',
  '/name',
  '/nothing',
  '/password',
  '/password/x',
  '/passwordSealed',
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

const wishes = fc.array(
  fc.record({
    op: fc.constantFrom('add', 'replace', 'remove', 'move', 'copy', 'test'),
    kind: fc.integer({ min: 0, max: 29 }),
    at: fc.nat(),
    beyond: fc.constantFrom(...beyond),
    from: fc.nat(),
    value: fc.nat(),
    same: fc.boolean(),
    stray: fc.integer({ min: 0, max: 9 }),
  }),
  { maxLength: 5 },
);
type Wish = typeof wishes extends fc.Arbitrary<readonly (infer W)[]> ? W : never;

function nth<T>(list: readonly T[], at: number, otherwise: T): T {
  return list[at % list.length] ?? otherwise;
}

/** A place: one that is there, a field, something beyond what is there, or something odd. */
function placeOf(kind: Kind, current: unknown, { kind: what, at, beyond: more }: Wish): string {
  const fields = Object.keys(modelFields[kind]).map((name) => `/${name}`);
  const there = placesIn(current).filter((place) => fields.some((field) => place.startsWith(field)));
  if (what === 0) return nth(odd, at, '');
  if (what < 8) return nth(there, at, '') + more;
  return nth(what < 16 ? fields : there, at, '');
}

function operationOf(kind: Kind, current: unknown, wish: Wish): Operation {
  const path = placeOf(kind, current, wish);
  const from = placeOf(kind, current, { ...wish, at: wish.from, kind: Math.max(wish.kind, 8) });
  const [token = '', ...below] = path.split('/').slice(1);
  const pool = poolOf(wish.stray === 0 ? nth(Object.keys(pools), wish.at, '') : token);
  const value = nth(below.length === 0 ? pool.whole : pool.inner, wish.value, null);
  const same = wish.op === 'test' || wish.stray === 1 ? modelValueAt(current, path) : undefined;
  return { op: wish.op, path, from, value: wish.same && same !== undefined ? same : value } as Operation;
}

/** Resources of the sample, each with operations; most name places that are there when their turn comes. */
export const subjectPatches: fc.Arbitrary<readonly [Subject, readonly Operation[]]> = fc
  .tuple(fc.constantFrom(...subjects), wishes)
  .map(([subject, list]) => {
    let current: unknown = settingsOf(subject, sampleSnapshot());
    const operations = list.map((wish) => {
      const operation = operationOf(subject.kind, current, wish);
      const outcome = modelPatch(current, [operation]);
      if (outcome.done) current = outcome.document;
      return operation;
    });
    return [subject, operations] as const;
  });
