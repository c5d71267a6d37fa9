import { inspect } from 'node:util';

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import {
  adoptDocument,
  createMemoryStore,
  createSecretSealer,
  createSnapshot,
  InvalidDocumentError,
  nameKey,
  patchFilter,
  patchServer,
  patchService,
  redactSecrets,
  revert,
  toDocument,
  type Admin,
  type AdminEvent,
  type GatewayDocument,
  type Json,
  type Operation,
  type Transition,
} from 'gateway-admin-core';

import { modifiableFields, type ModifiableField } from '../contract/modifiable-field.ts';
import { documents } from '../support/arbitrary-document.ts';
import { sampleDocument } from '../support/document.ts';
import { readAudit } from '../support/audit-reader.ts';
import { readAll } from '../support/reading.ts';
import { openRunning, runAdmin } from '../support/running-admin.ts';
import { transports } from '../support/transport.ts';

const secret = 'planted-where-nobody-reads';
const names = ['password', 'Secret Key', 'pin'];

/** A spelling of a secret name: with other letters, other white space, in another normal form. */
const spellings = fc
  .tuple(
    fc.constantFrom(...names),
    fc.integer({ min: 0, max: 2 ** 10 - 1 }),
    fc.constantFrom(' ', '-', '\u3000'),
  )
  .map(([name, bits, space]) =>
    Array.from(name, (letter, at) => ((bits >> at) % 2 === 0 ? letter : letter.toUpperCase()))
      .join('')
      .replace(' ', space),
  );

/** Values with the secret in them: as they should be, as a shorthand, or of a form that no parameter has. */
const secretValues = fc.constantFrom<Json>(
  secret,
  secret,
  secret,
  { value: secret },
  { value: secret, configurable: true },
  { value: secret, configurable: false },
  { value: { value: secret } },
  { value: 7, configurable: secret },
  { sealed: secret },
  { value: { sealed: secret } },
  [secret],
  { deep: [{ deeper: secret }] },
  `${secret}\u0000`,
  secret.repeat(200),
);
const openValues = fc.constantFrom<Json>('open', 7, { value: 'open', configurable: true }, null, '');

/** The maps with secret entries, and the resources of the sample that have them. */
const maps = modifiableFields.filter(({ secretEntries }) => secretEntries !== undefined);

const patchOf = { server: patchServer, service: patchService, filter: patchFilter } as const;
type Kind = keyof typeof patchOf;
const kinds = Object.keys(patchOf) as readonly Kind[];

function mapOf(kind: Kind): Pick<ModifiableField, 'field' | 'patch'> {
  const map = maps.find((each) => each.kind === kind);
  if (map === undefined) throw new RangeError(`A ${kind} has no map with secret entries`);
  return map;
}

/** Operations that are right, and set or remove a secret parameter. */
function usualOn(kind: Kind): fc.Arbitrary<object> {
  const { field } = mapOf(kind);
  const whole = (name: string): object => {
    if (kind !== 'filter') return { open: 'x', [name]: secret };
    // The map of the sample has a parameter that must stay.
    const source = { value: '127.0.0.1', configurable: false };
    return { source, [name]: { value: secret, configurable: true } };
  };
  return spellings.chain((name) =>
    fc.constantFrom<object>(
      { op: 'add', path: `/${field}/${name}`, value: secret },
      { op: 'add', path: `/${field}/${name}`, value: kind === 'filter' ? { value: secret } : secret },
      { op: 'replace', path: `/${field}/password`, value: secret },
      { op: 'replace', path: `/${field}`, value: whole(name) },
      { op: 'remove', path: `/${field}/password` },
    ),
  );
}

/** Operations on a map, most of which are refused. The secret stands only where its name is secret. */
function oddOn(kind: Kind): fc.Arbitrary<object> {
  const { field } = mapOf(kind);
  const places = fc
    .tuple(spellings, fc.constantFrom('', '', '', '/value', '/configurable', '/0', '/x/y'))
    .map(([name, below]) => `/${field}/${name}${below}`);
  const open = fc.constantFrom(
    ...[`/${field}/open`, `/${field}/match`, `/${field}/match/value`, '/user', '/address'],
  );
  const wholes = fc
    .tuple(
      fc.dictionary(spellings, secretValues, { maxKeys: 2 }),
      fc.dictionary(fc.constantFrom('open', 'match', 'weight'), openValues, { maxKeys: 2 }),
    )
    .map(([secrets, others]): Json => ({ ...others, ...secrets }));
  // Elsewhere, a map with a "name" and a "value" is a map like any other.
  const singles = fc.tuple(spellings, secretValues).map(([name, value]): Json => ({ name, value }));
  const values = kind === 'filter' ? fc.oneof(wholes, singles) : wholes;
  const writes = fc.constantFrom('add', 'add', 'replace', 'test');
  const anywhere = fc.oneof(places, open);
  return fc.oneof(
    fc.record({ op: writes, path: places, value: secretValues }),
    fc.record({ op: writes, path: fc.constant(`/${field}`), value: values }),
    fc.record({ op: fc.constant('remove'), path: places }),
    fc.record({ op: fc.constantFrom('copy', 'move'), from: anywhere, path: anywhere }),
    fc.record({ op: fc.constantFrom('copy', 'move'), from: fc.constant(`/${field}`), path: open }),
    fc.record({ op: writes, path: open, value: openValues }),
  );
}

/** A patch of a resource of the sample. */
interface Sent {
  readonly kind: Kind;
  readonly operations: readonly object[];
  /** How the patch is sent: as a request, as a dry run, or by a program that has not sealed anything. */
  readonly by: 'request' | 'dry run' | 'program';
}

const sendings: fc.Arbitrary<readonly Sent[]> = fc.array(
  fc.constantFrom(...kinds).chain((kind) =>
    fc.record({
      kind: fc.constant(kind),
      operations: fc.oneof(
        fc.array(usualOn(kind), { minLength: 1, maxLength: 2 }),
        fc.array(fc.oneof(usualOn(kind), oddOn(kind)), { minLength: 1, maxLength: 3 }),
      ),
      by: fc.constantFrom('request', 'request', 'request', 'dry run', 'program'),
    }),
  ),
  { minLength: 1, maxLength: 4 },
);

function transitionOf({ kind, operations }: Sent): Transition {
  const name = mapOf(kind).patch.split('/')[2] ?? '';
  // A program is believed when it says that a text is sealed.
  const text = JSON.stringify(operations).replaceAll(`{"sealed":"${secret}"}`, '{"sealed":7}');
  const given = JSON.parse(text) as readonly Operation[];
  return (snapshot, context) => patchOf[kind](snapshot, name, given, context);
}

/** Sends a patch, and gives all that the sender sees. */
async function answerTo(admin: Admin, sent: Sent): Promise<readonly unknown[]> {
  if (sent.by === 'program') {
    const transition = transitionOf(sent);
    const plan = admin.plan(transition);
    const { outcome, ...execution } = await admin.execute(transition);
    return [plan, outcome, 'problem' in execution ? execution.problem : undefined];
  }
  const { send } = await transports.core(admin);
  const headers = { 'content-type': 'application/json' };
  const target = `${mapOf(sent.kind).patch}${sent.by === 'dry run' ? '?dry_run=true' : ''}`;
  const {
    status,
    text,
    headers: sentBack,
  } = await send('PATCH', target, {
    headers,
    body: JSON.stringify(sent.operations),
  });
  expect([200, 409, 422]).toContain(status);
  return [text, sentBack];
}

function textOf(value: unknown): string {
  return `${JSON.stringify(value)} ${inspect(value, { depth: null })}`;
}

const consoleMethods = ['log', 'info', 'warn', 'error', 'debug'] as const;
let printed: unknown[] = [];

beforeEach(() => {
  printed = [];
  for (const method of consoleMethods)
    jest.spyOn(console, method).mockImplementation((...args: unknown[]) => void printed.push(args));
});

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a secret parameter, wherever a patch has it', () => {
  // Promise: secret-parameter
  it('is nowhere in plain text, and sealed nowhere that a reader sees', async () => {
    const met = { runs: 0, audited: 0, accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(sendings, async (list) => {
        const store = createMemoryStore();
        const { admin, gateway } = await openRunning(store, {
          snapshot: createSnapshot(sampleDocument),
          sealer: createSecretSealer(),
          secretParameters: names,
          // The console gets what no client gets.
          observe: { onError: undefined as never },
        });
        const audited = readAudit(admin);
        const reader = admin.events();
        const before = admin.snapshot;
        const answers: unknown[] = [];
        for (const sent of list) answers.push(...(await answerTo(admin, sent)));
        const { snapshot } = admin;
        const document = toDocument(snapshot);
        const stored = textOf(await store.load());
        await admin.close();
        const events: AdminEvent[] = [];
        for await (const item of reader) if (item.gap === undefined) events.push(item.event);

        met.runs += 1;
        met[snapshot === before ? 'refused' : 'accepted'] += 1;
        const inside = [document, events, gateway.calls, stored];
        if (audited.length > 0) met.audited += 1;
        expect(textOf(inside)).not.toContain(secret);
        const shown = [
          answers,
          readAll(snapshot).map((reading) => reading.shown),
          redactSecrets(document),
          events.map((event) => redactSecrets(event)),
          snapshot,
          audited,
          printed,
        ];

        expect(textOf(shown)).not.toContain(secret);
        // What the sealer and the sample have sealed. The text of a version has the capital letter.
        expect(textOf(shown)).not.toContain('v1.');
        for (const map of mapsOf(document))
          for (const [name, entry] of Object.entries(map))
            expect(isSealedEntry([name, entry])).toBe(isSecretName(name));
      }),
      { numRuns: 100 },
    );
    expect(met.audited).toBeGreaterThan(0.6 * met.runs);
    expect(met.accepted).toBeGreaterThan(0.3 * met.runs);
    expect(met.refused).toBeGreaterThan(0.2 * met.runs);
  });

  it('is never lost, but to an operation that names it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...kinds),
        fc.array(fc.nat(), { maxLength: 4 }),
        async (kind, picks) => {
          const { admin } = runAdmin({ snapshot: createSnapshot(sampleDocument), secretParameters: names });
          const before = mapsOf(toDocument(admin.snapshot)).map(sealedIn);
          const map = mapOf(kind);
          const present = admin.snapshot[`${kind}s`].find(map.patch.split('/')[2] ?? '');
          const whole = (present?.settings as unknown as Record<string, object>)[map.field] ?? {};
          const open = Object.fromEntries(Object.entries(whole).filter((each) => !isSealedEntry(each)));
          const wholes: readonly object[] = [
            { op: 'replace', path: `/${map.field}`, value: open },
            { op: 'add', path: `/${map.field}`, value: open },
            { op: 'move', from: `/${map.field}`, path: `/${map.field}` },
            { op: 'copy', from: `/${map.field}`, path: `/${map.field}` },
            { op: 'test', path: `/${map.field}`, value: open },
            { op: 'add', path: `/${map.field}/open`, value: 'x' },
          ];
          const operations = picks.map((pick) => wholes[pick % wholes.length] ?? {});
          await answerTo(admin, { kind, operations, by: 'program' });
          expect(before.flat()).not.toEqual([]);
          expect(mapsOf(toDocument(admin.snapshot)).map(sealedIn)).toEqual(before);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('comes back sealed when its change is undone', async () => {
    const met = { runs: 0, undone: 0 };
    await fc.assert(
      fc.asyncProperty(sendings, async (list) => {
        const { admin } = runAdmin({ snapshot: createSnapshot(sampleDocument), secretParameters: names });
        const reader = admin.events();
        const before = toDocument(admin.snapshot);
        for (const sent of list) await answerTo(admin, sent);
        const last = admin.snapshot;
        await admin.close();
        const events: AdminEvent[] = [];
        for await (const item of reader) if (item.gap === undefined) events.push(item.event);
        const back = events.toReversed().reduce((snapshot, event) => {
          const decision = revert(event)(snapshot, { now: 0 });
          // Writing the same sealed text again leaves nothing to undo; no patch from a client does that.
          expect(decision.outcome).not.toBe('refused');
          return decision.next;
        }, last);
        met.runs += 1;
        met.undone += events.length;
        expect(toDocument(back)).toEqual(before);
      }),
      { numRuns: 100 },
    );
    expect(met.undone).toBeGreaterThan(0.3 * met.runs);
  });
});

describe('a secret parameter in a document', () => {
  /** Documents with a secret parameter in plain text somewhere. */
  const plainDocuments = fc
    .tuple(documents, spellings, fc.nat())
    .map(([document, name, at]): readonly [GatewayDocument, string] | undefined => {
      const mapNames = {
        services: 'router_options',
        servers: 'parameters',
        filters: 'parameters',
        monitors: 'parameters',
      };
      const copy = structuredClone(document) as unknown as Record<string, Record<string, object>[]>;
      const places = Object.entries(mapNames).flatMap(([collection, map]) =>
        (copy[collection] ?? []).map((entry, position) => ({ collection, map, entry, position })),
      );
      const place = places[at % Math.max(places.length, 1)];
      if (place === undefined) return undefined;
      const { collection, map, entry, position } = place;
      const value = collection === 'filters' ? { value: secret, configurable: true } : secret;
      entry[map] = { ...entry[map], [name]: value };
      return [copy, `/${collection}/${String(position)}/${map}/${name}`];
    })
    .filter((made) => made !== undefined);

  // Promise: document-parameter
  it('is refused in plain text, wherever the name is declared, and the message has the place alone', async () => {
    await fc.assert(
      fc.asyncProperty(plainDocuments, async ([document, pointer]) => {
        const open = (): unknown => createSnapshot(document, { secretParameters: names });
        const options = { secretParameters: names };
        // Without a declaration, the document is refused only if a parameter of the name is sealed in it.
        let snapshot;
        try {
          snapshot = createSnapshot(document);
        } catch {
          snapshot = undefined;
        }
        const errors: unknown[] = [thrownBy(open)];
        if (snapshot !== undefined) {
          const given = snapshot;
          errors.push(thrownBy(() => runAdmin({ snapshot: given, ...options })));
          errors.push(
            await openRunning(createMemoryStore(), { snapshot: given, ...options }).catch(
              (error: unknown) => error,
            ),
          );
          const adopting: Transition = (state, context) => adoptDocument(state, given, context);
          const { admin } = runAdmin(options);
          expect(textOf(admin.plan(adopting))).not.toContain(secret);
        }
        for (const error of errors) {
          if (!(error instanceof InvalidDocumentError)) throw new Error('The document was taken');
          expect(error.faults.map((fault) => fault.pointer)).toContain(pointer);
          expect(textOf(error)).not.toContain(secret);
        }
      }),
      { numRuns: 100 },
    );
  });
});

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

function isSecretName(name: string): boolean {
  return names.some((each) => nameKey(each) === nameKey(name));
}

/** Each map of a document that can have secret entries. */
function mapsOf(document: GatewayDocument): readonly object[] {
  const { services = [], servers = [], monitors = [], filters = [] } = document;
  const entries: readonly { readonly router_options?: object; readonly parameters?: object }[] = [
    ...[...services, ...services.flatMap(({ listeners = [] }) => listeners)],
    ...[...servers, ...monitors, ...filters],
  ];
  return entries.map(({ router_options: options = {}, parameters = options }) => parameters);
}

/** The entries of a map that are sealed. */
function sealedIn(map: object): readonly (readonly [string, unknown])[] {
  return Object.entries(map).filter(isSealedEntry);
}

function isSealedEntry([, entry]: readonly [string, unknown]): boolean {
  return /^\{(?:"value":\{)?"sealed":/.test(JSON.stringify(entry));
}
