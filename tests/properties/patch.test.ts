import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, toDocument, type Event } from 'gateway-admin-core';

import { modelOf, patchSubject, settingsOf, subjectPatches, subjects } from '../support/arbitrary-patch.ts';
import { sampleSnapshot } from '../support/document.ts';
import { expectDecision, someTime } from '../support/expect-decision.ts';
import { modelPatch, textOf } from '../support/patch-model.ts';
import { modelUpdate } from '../support/patch-rules-model.ts';

const builtIns = [Object.prototype, Array.prototype, Function.prototype];
const untouched = builtIns.map((prototype) => Reflect.ownKeys(prototype));

afterEach(() => {
  expect(builtIns.map((prototype) => Reflect.ownKeys(prototype))).toEqual(untouched);
});

const models = new Map(subjects.map((subject) => [subject, modelOf(subject)]));

type Updated = Extract<Event, { readonly type: `${string}.updated`; readonly before: object }>;

describe('a patch of a resource, whatever is in it', () => {
  it('does what RFC 6902 and the rules say, or is refused where they say that it cannot be done', () => {
    const met = { accepted: 0, unchanged: 0, refused: 0 };
    fc.assert(
      fc.property(subjectPatches, ([subject, operations]) => {
        const model = models.get(subject);
        if (model === undefined) throw new Error('There is no such subject');
        const expected = modelUpdate(model, operations);
        const decision = patchSubject(subject, operations, sampleSnapshot(), someTime);
        met[decision.outcome] += 1;
        const outcome = expected.done ? (expected.changed ? 'accepted' : 'unchanged') : 'refused';
        expect(decision).toMatchObject({ outcome });
        if (expected.done) expect(textOf(settingsOf(subject, decision.next))).toBe(textOf(expected.settings));
        if (outcome !== 'accepted') expect(decision.next).toBe(sampleSnapshot());
      }),
      { numRuns: 3000 },
    );
    for (const count of Object.values(met)) expect(count).toBeGreaterThan(100);
  });

  it('makes no snapshot whose document does not parse', () => {
    fc.assert(
      fc.property(subjectPatches, ([subject, operations]) => {
        const { outcome, next } = patchSubject(subject, operations, sampleSnapshot(), someTime);
        fc.pre(outcome === 'accepted');
        const document = toDocument(next);
        expect(toDocument(createSnapshot(JSON.parse(JSON.stringify(document)) as typeof document))).toEqual(
          document,
        );
      }),
      { numRuns: 300, maxSkipsPerRun: 1000 },
    );
  });

  it('tells operations that lead from what was to what is', () => {
    fc.assert(
      fc.property(subjectPatches, ([subject, operations]) => {
        const decision = patchSubject(subject, operations, sampleSnapshot(), someTime);
        fc.pre(decision.outcome === 'accepted');
        const [event, effect] = [decision.events[0] as Updated, decision.effects[0] as unknown as Updated];
        expect([decision.events.length, decision.effects.length]).toEqual([1, 1]);
        expect(textOf(modelPatch(event.before, event.operations))).toBe(
          textOf({ done: true, document: event.after }),
        );
        expect([effect.before, effect.after, effect.operations]).toEqual([
          event.before,
          event.after,
          event.operations,
        ]);
        const { passwordSealed: password, ...rest } = event.after as { passwordSealed?: string };
        expect(settingsOf(subject, decision.next)).toEqual(
          password === undefined ? rest : { ...rest, password },
        );
      }),
      { numRuns: 500, maxSkipsPerRun: 1000 },
    );
  });

  it('keeps the laws of every decision', () => {
    fc.assert(
      fc.property(subjectPatches, ([subject, operations]) => {
        expectDecision((snapshot, context) => patchSubject(subject, operations, snapshot, context));
      }),
      { numRuns: 150 },
    );
  });
});
