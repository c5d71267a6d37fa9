import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, toDocument } from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import { contentOf, expectNext } from '../support/expect-decision.ts';

describe('a valid document, whatever it is', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(documents, (document) => {
        expect(toDocument(createSnapshot(document))).toEqual(document);
      }),
      { numRuns: 200 },
    );
  });

  it('makes a snapshot that is frozen, whose links resolve, and whose counts are right', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const snapshot = createSnapshot(document);
        expectNext(snapshot, snapshot, []);
      }),
      { numRuns: 50 },
    );
  });

  it('makes the same snapshot after a way through JSON text', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const again = JSON.parse(JSON.stringify(document)) as typeof document;
        expect(contentOf(createSnapshot(again))).toEqual(contentOf(createSnapshot(document)));
      }),
      { numRuns: 50 },
    );
  });
});
