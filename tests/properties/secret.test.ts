/**
 * Secrets that are stored, whatever is patched and adopted: nothing that is told depends on their texts, and nothing
 * that is shown contains one.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  adoptDocument,
  createSnapshot,
  evolve,
  redactSecrets,
  toDocument,
  type AdminEvent,
  type Decision,
  type GatewayDocument,
  type Json,
  type Operation,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import {
  operationsOn,
  patchSubject,
  settingsOf,
  subjectsOf,
  type Subject,
} from '../support/arbitrary-patch.ts';
import { sampleDocument } from '../support/document.ts';
import { someTime } from '../support/expect-decision.ts';
import { differingMembers, modelValueAt, placesIn } from '../support/patch-model.ts';
import { planted } from '../support/planted.ts';
import { readAll } from '../support/reading.ts';
import { runAdmin } from '../support/running-admin.ts';

const secretParameters = ['password', 'Secret Key', 'pin'];

/** The snapshot of a document in which every secret has this text. */
function snapshotOf(document: GatewayDocument, text: string): Snapshot {
  const given = withText(document as Json, text) as GatewayDocument;
  return createSnapshot(given, { epoch: 'test', secretParameters });
}

function withText(value: Json, text: string): Json {
  if (Array.isArray(value)) return value.map((each: Json) => withText(each, text));
  if (typeof value !== 'object' || value === null) return value;
  if (isSealed(value)) return { sealed: text };
  const members = Object.entries(value).map(([name, member]) => [name, withText(member, text)]);
  return Object.fromEntries(members) as Json;
}

function isSealed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'sealed');
}

/** Texts of secrets: those that patches write, too. */
const texts = ['v1.x', planted.sealed, 'another', 'x'.repeat(4000)];

/** Operations on secrets that are there. */
function onSecrets(places: readonly string[]): fc.Arbitrary<Operation> {
  return fc.record({
    op: fc.constantFrom('add', 'replace', 'replace', 'remove', 'test'),
    path: fc.constantFrom(...places),
    value: fc.constantFrom(...texts.map((sealed) => ({ sealed }))),
  }) as fc.Arbitrary<Operation>;
}

/** A document, and a patch of one of its resources. */
type Patching = readonly [document: GatewayDocument, subject: Subject, operations: readonly Operation[]];

const patchings: fc.Arbitrary<Patching> = fc
  .oneof(fc.constant(sampleDocument), documents)
  .filter((document) => subjectsOf(document).length > 0)
  .chain((document) =>
    fc.constantFrom(...subjectsOf(document)).chain((subject) => {
      const snapshot = snapshotOf(document, 'x');
      const settings = settingsOf(subject, snapshot);
      const secrets = placesIn(settings).filter((place) => isSealed(modelValueAt(settings, place)));
      const some = operationsOn(subject, snapshot);
      const operations =
        secrets.length === 0
          ? some
          : fc.oneof(some, fc.array(onSecrets(secrets), { minLength: 1, maxLength: 2 }));
      return fc.tuple(fc.constant(document), fc.constant(subject), operations);
    }),
  );

const patching =
  (subject: Subject, operations: readonly Operation[]): Transition =>
  (snapshot, context) =>
    patchSubject(subject, operations, snapshot, context);

/**
 * What a client learns of a decision; if `whole` is false, without the operations of an update and what differs in a
 * secret alone.
 */
function toldOf(decision: Decision, whole: boolean): unknown {
  if (decision.outcome === 'refused') return decision.problem;
  if (decision.outcome === 'unchanged') return decision.outcome;
  const { events, effects } = decision;
  const shown = redactSecrets([...events, ...effects]) as unknown as readonly Told[];
  return whole
    ? shown
    : shown.map(({ operations: _operations, from, to, ...rest }) => [rest, differingMembers(from, to)]);
}

/** An event or effect of an update, as clients have it. */
interface Told {
  readonly operations: unknown;
  readonly from: object;
  readonly to: object;
}

describe('the text of a stored secret', () => {
  // A patch that writes the very text again has no operation and no member to tell. No client can do that: no two sealings are equal.
  it('changes nothing in what a patch does and in what is told of it', () => {
    const met = { runs: 0, accepted: 0, unchanged: 0, refused: 0 };
    fc.assert(
      fc.property(
        patchings,
        fc.shuffledSubarray(texts, { minLength: 2, maxLength: 2 }),
        ([document, subject, operations], stored) => {
          const isWritten = stored.some((text) => JSON.stringify(operations).includes(`"${text}"`));
          const [one, other] = stored.map((text) =>
            patchSubject(subject, operations, snapshotOf(document, text), someTime),
          ) as [Decision, Decision];
          met.runs += 1;
          met[one.outcome] += 1;
          expect(other.outcome).toBe(one.outcome);
          expect(toldOf(other, !isWritten)).toEqual(toldOf(one, !isWritten));
        },
      ),
      { numRuns: 400 },
    );
    expect(met.accepted).toBeGreaterThan(0.04 * met.runs);
    expect(met.refused).toBeGreaterThan(0.3 * met.runs);
  });
});

const hidden = 'planted-secret';

/** Everything that a reader sees of a transition: its plan, what comes of it, and what a mirror of that shows. */
function shownOf(transition: Transition, snapshot: Snapshot): readonly unknown[] {
  const decision = transition(snapshot, someTime);
  const { admin } = runAdmin({ snapshot, secretParameters });
  const plan = redactSecrets(admin.plan(transition));
  if (decision.outcome !== 'accepted') return [plan, decision];
  const { next, events, effects } = decision;
  const shown = redactSecrets([...events, ...effects]);
  return [plan, shown, redactSecrets(toDocument(next)), next, readAll(next)];
}

/** Fails if what is shown contains a sealed text, or if those who fold what is shown see another gateway. */
function expectHidden(transition: Transition, snapshot: Snapshot): Decision['outcome'] {
  const text = JSON.stringify(shownOf(transition, snapshot));
  expect(text).not.toContain(hidden);
  for (const each of texts) expect(text).not.toContain(`"${each}"`);
  expect(text).not.toContain('"sealed":');
  const decision = transition(snapshot, someTime);
  if (decision.outcome === 'accepted') {
    const mirror = evolve(snapshot, redactSecrets([...decision.events]) as unknown as readonly AdminEvent[]);
    expect(readAll(mirror).map(({ shown }) => shown)).toEqual(
      readAll(decision.next).map(({ shown }) => shown),
    );
  }
  return decision.outcome;
}

describe('what is shown', () => {
  it('of a patch contains no sealed text, and is enough for a mirror', () => {
    const met = { runs: 0, accepted: 0, unchanged: 0, refused: 0 };
    fc.assert(
      fc.property(patchings, ([document, subject, operations]) => {
        met.runs += 1;
        met[expectHidden(patching(subject, operations), snapshotOf(document, hidden))] += 1;
      }),
      { numRuns: 200 },
    );
    expect(met.accepted).toBeGreaterThan(0.04 * met.runs);
  });

  it('of the adoption of a document contains no sealed text, and is enough for a mirror', () => {
    const met = { runs: 0, accepted: 0, unchanged: 0, refused: 0 };
    const given = fc.oneof(fc.constantFrom<GatewayDocument>({}, sampleDocument), documents);
    fc.assert(
      fc.property(given, documents, (before, after) => {
        const wanted = snapshotOf(after, `${hidden}-2`);
        const adopting: Transition = (snapshot, context) =>
          adoptDocument(snapshot, wanted, context, { prune: true, allowEmpty: true });
        met.runs += 1;
        met[expectHidden(adopting, snapshotOf(before, hidden))] += 1;
      }),
      { numRuns: 60 },
    );
    expect(met.accepted).toBeGreaterThan(0.2 * met.runs);
  });
});
