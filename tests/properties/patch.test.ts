import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createSecretSealer,
  createSnapshot,
  patchFilter,
  patchService,
  toDocument,
  type AdminEvent,
  type Decision,
  type Operation,
  type Problem,
  type SecretSealer,
} from 'gateway-admin-core';

import { modifiableFields, type ModifiableField } from '../contract/modifiable-field.ts';
import { modelOf, patchSubject, settingsOf, subjectPatches, subjects } from '../support/arbitrary-patch.ts';
import { sampleSnapshot } from '../support/document.ts';
import { expectAccepted, expectDecision, expectRefused, someTime } from '../support/expect-decision.ts';
import { differingMembers, modelPatch, short, textOf } from '../support/patch-model.ts';
import { modelUpdate } from '../support/patch-rules-model.ts';
import { runAdmin } from '../support/running-admin.ts';
import { documentSettings } from '../support/shown.ts';
import { transports, type Answer } from '../support/transport.ts';

const builtIns = [Object.prototype, Array.prototype, Function.prototype];
const untouched = builtIns.map((prototype) => Reflect.ownKeys(prototype));

afterEach(() => {
  expect(builtIns.map((prototype) => Reflect.ownKeys(prototype))).toEqual(untouched);
});

const models = new Map(subjects.map((subject) => [subject, modelOf(subject)]));

type Accepted = Extract<Decision, { readonly outcome: 'accepted' }>;
type Subject = (typeof subjects)[number];
type Updated = Extract<AdminEvent, { readonly type: `${string}.updated`; readonly operations: object }>;

describe('a patch of a resource, whatever is in it', () => {
  // Promise: patch-result
  it('does what RFC 6902 and the rules say, or is refused where they say that it cannot be done', () => {
    const met = { runs: 0, accepted: 0, unchanged: 0, refused: 0 };
    fc.assert(
      fc.property(subjectPatches, ([subject, operations]) => {
        const model = models.get(subject);
        if (model === undefined) throw new Error('There is no such subject');
        const expected = modelUpdate(model, operations);
        const decision = patchSubject(subject, operations, sampleSnapshot(), someTime);
        met.runs += 1;
        met[decision.outcome] += 1;
        const outcome = expected.done ? (expected.changed ? 'accepted' : 'unchanged') : 'refused';
        expect(decision).toMatchObject({ outcome });
        if (expected.done) expect(textOf(settingsOf(subject, decision.next))).toBe(textOf(expected.settings));
        if (decision.outcome !== 'accepted') expect(decision.next).toBe(sampleSnapshot());
        if (decision.outcome === 'refused') expectPlaces(decision.problem, operations);
      }),
      { numRuns: 500 },
    );
    expect(met.accepted).toBeGreaterThan(0.04 * met.runs);
    expect(met.unchanged).toBeGreaterThan(0.03 * met.runs);
    expect(met.refused).toBeGreaterThan(0.4 * met.runs);
  });

  // Promise: patch-valid
  it('keeps the laws, tells what leads from what was to what is, and makes a document that parses', () => {
    fc.assert(
      fc.property(subjectPatches, ([subject, operations]) => {
        const { outcome } = patchSubject(subject, operations, sampleSnapshot(), someTime);
        fc.pre(outcome === 'accepted');
        const decision = expectDecision((snapshot, context) =>
          patchSubject(subject, operations, snapshot, context),
        );
        if (decision.outcome === 'accepted') expectUpdate(subject, decision);
      }),
      { numRuns: 100, maxSkipsPerRun: 1000 },
    );
  });

  it.each([
    ['null', 'add /parameters null|add /parameters/new "x"'],
    ['a list', 'add /parameters []|replace /parameters/0 "x"'],
    ['gone', 'remove /parameters|add /parameters/new/value "x"'],
  ])('is refused, and nothing breaks, when the parameters of a filter are %s on the way', (_, text) => {
    const problem = expectRefused((snapshot, context) =>
      patchFilter(snapshot, 'Hint', text.split('|').map(short), context),
    );
    expect([409, 422]).toContain(problem.status);
  });

  it.each(['{"value":"x"}', '{"value":"x","configurable":false}', '{"a":1}', '[]', '7'])(
    'takes only a text for the value of a parameter that is not there, and not %s',
    (value) => {
      const operations = [short(`add /parameters/new/value ${value}`)];
      const problem = expectRefused((snapshot, context) =>
        patchFilter(snapshot, 'Hint', operations, context),
      );
      expect(problem).toMatchObject({ code: 'validation-failed', errors: [{ operation: 0 }] });
    },
  );

  it('empties the filters when it moves them away, as when it removes them', () => {
    for (const text of ['remove /filters', 'move /filters /servers']) {
      const operations = [short(text), short('add /filters/- "/filters/Hint"')];
      const { next } = expectAccepted((snapshot, context) =>
        patchService(snapshot, 'Bare Service', operations, context),
      );
      expect(next.services.find('bare-service')?.settings.filters).toEqual(['/filters/Hint']);
    }
  });
});

/**
 * Fails if an update tells more than what differs, or operations that do not lead from what was to what is, or if its
 * document does not parse.
 */
function expectUpdate(subject: Subject, { next, events, effects }: Accepted): void {
  const { from, to, operations } = events[0] as Updated;
  expect(events).toHaveLength(1);
  expect(effects).toMatchObject([{ from, to, operations }]);
  const [before, after] = [settingsOf(subject, sampleSnapshot()), settingsOf(subject, next)];
  expect(textOf(modelPatch(before, operations))).toBe(textOf({ done: true, document: after }));
  expect([from, to]).toEqual(differingMembers(documentSettings(before), documentSettings(after)));
  const document = toDocument(next);
  const parsed = JSON.parse(JSON.stringify(document)) as typeof document;
  expect(toDocument(createSnapshot(parsed))).toEqual(document);
}

/**
 * Fails if a fault where an operation has written names no operation. Items of a list move: then nobody can tell which
 * operation wrote one.
 */
function expectPlaces({ errors = [] }: Problem, operations: readonly Operation[]): void {
  const isWritten = (pointer: string): boolean =>
    operations.some(({ path }) => pointer === path || pointer.startsWith(`${path}/`));
  const unplaced = errors.filter(
    ({ operation, pointer }) =>
      operation === undefined && isWritten(pointer) && !/\/\d+(?:\/|$)/.test(pointer),
  );
  expect(unplaced).toEqual([]);
}

const secret = 'right-Passw0rd';

/** A gateway with a resource that has a secret that the test knows, or none. */
interface Vault {
  readonly send: (operations: unknown) => Promise<Answer>;
  /** What was sealed so far. */
  readonly sealed: string[];
}

/** A secret of a resource that the sample has. */
interface SecretPlace {
  readonly target: string;
  /** The place in a patch. */
  readonly place: string;
  /** Places that are not secret. */
  readonly open: readonly string[];
}

/** A gateway with a resource that has a secret that the test knows, or none. */
async function vault({ target, place }: SecretPlace, set: boolean): Promise<Vault> {
  const real = createSecretSealer();
  const sealed: string[] = [];
  const counting = (text: string): Promise<string> => {
    sealed.push(text);
    return real.seal(text);
  };
  const sealer: SecretSealer = { durable: true, open: (text) => real.open(text), seal: counting };
  const transport = await transports.core(runAdmin({ sealer }).admin);
  const headers = { 'content-type': 'application/json' };
  const send = (operations: unknown): Promise<Answer> =>
    transport.send('PATCH', target, { headers, body: JSON.stringify(operations) });
  const change = set ? { op: 'replace', path: place, value: secret } : { op: 'remove', path: place };
  expect((await send([change])).status).toBe(200);
  return { send, sealed };
}

type Probe = (guess: unknown) => readonly unknown[];

/** Ways to make a guess tell: each a patch that would do something else if the guess were right. */
const probesOf = ({ place, open }: SecretPlace): readonly Probe[] =>
  ['', '/', '/0', '/length', '/sealed', '/value', '/value/sealed']
    .map((below) => `${place}${below}`)
    .flatMap((path) => [
      (value: unknown) => [{ op: 'test', path, value }],
      (value: unknown) => [
        { op: 'add', path: open[0], value },
        { op: 'test', path, value },
      ],
      (value: unknown) => [
        { op: 'add', path: place, value },
        { op: 'test', path, value },
      ],
      ...open.flatMap((other) =>
        ['copy', 'move'].flatMap((op) => [
          (value: unknown) => [
            { op, from: path, path: other },
            { op: 'test', path: other, value },
          ],
          (value: unknown) => [
            { op: 'add', path: other, value },
            { op, from: other, path },
          ],
        ]),
      ),
    ]);
const forms: readonly ((text: string) => unknown)[] = [
  (text) => text,
  (text) => [text],
  (text) => ({ sealed: text }),
  (text) => text.slice(0, 1),
];
const wrong = fc.stringMatching(/^[a-zA-Z0-9-]{1,20}$/).filter((text) => text !== secret);

const serviceSecrets = modifiableFields.filter(
  ({ kind, secret: hidden }) => kind === 'service' && hidden === true,
);
const secretMaps = modifiableFields.filter(({ secretEntries }) => secretEntries !== undefined);
const secretPlaces: readonly SecretPlace[] = [
  ...serviceSecrets.map(({ patch: target, field }) => ({
    target,
    place: `/${field}`,
    open: ['/user', '/router_options/x', '/servers/-'],
  })),
  ...secretMaps.map(({ patch: target, field }) => ({
    target,
    place: `/${field}/password`,
    open: [`/${field}/open`, `/${field}/password~1`],
  })),
];

/** Ways to test a whole map with a guess. */
const wholeProbesOf = ({ field }: ModifiableField): readonly Probe[] =>
  ['password', 'PASSWORD'].map((name) => (value: unknown) => [
    { op: 'test', path: `/${field}`, value: { [name]: value } },
  ]);

describe.each(secretPlaces)('a guess at $place of $target', (row) => {
  const ofMap = secretMaps.filter(
    ({ field, patch: target }) => row.place.startsWith(`/${field}/`) && target === row.target,
  );
  const probes = [...probesOf(row), ...ofMap.flatMap(wholeProbesOf)];

  // Promise: password-guess
  it('gets the same answer and costs the same, right or wrong, set or not', async () => {
    const vaults = [await vault(row, true), await vault(row, false)];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...probes),
        fc.constantFrom(...forms),
        wrong,
        async (probe, form, text) => {
          const answers: unknown[] = [];
          // Each is refused, so that the next one finds what was there.
          for (const { send, sealed } of vaults) {
            for (const guess of [secret, text]) {
              sealed.length = 0;
              const { status, headers, text: said } = await send(probe(form(guess)));
              answers.push({ status, headers, said, work: sealed.length });
            }
          }
          expect(answers).toEqual(Array(4).fill(answers[0]));
          expect(answers[0]).toMatchObject({ status: 422 });
        },
      ),
      { numRuns: 200 },
    );
  });

  it('that is written is a change, right or wrong', async () => {
    const answerTo = async (value: string): Promise<Answer> => {
      const answer = await (await vault(row, true)).send([{ op: 'replace', path: row.place, value }]);
      // The content of a secret is its sealed text, and no two sealings of one secret give one text.
      const etag = answer.headers['etag']?.replace(/^"[^.]*/, '"content');
      return { ...answer, headers: { ...answer.headers, ...(etag && { etag }) } };
    };
    const right = await answerTo(secret);
    expect(right.status).toBe(200);
    await fc.assert(
      fc.asyncProperty(wrong, async (text) => {
        expect(await answerTo(text)).toEqual(right);
      }),
      { numRuns: 10 },
    );
  });
});
