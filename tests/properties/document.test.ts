import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, toDocument } from 'gateway-admin-core';

import { documents, givenDocuments } from '../support/arbitrary-document.ts';
import { contentOf, expectNext } from '../support/expect-decision.ts';

describe('a document that the shapes accept, in whatever form', () => {
  it('makes a snapshot like any other, and its written form stays as it is', () => {
    fc.assert(
      fc.property(givenDocuments, (document) => {
        const snapshot = createSnapshot(document);
        expectNext(snapshot, snapshot, []);
        const written = createSnapshot(toDocument(snapshot));
        expect(contentOf(written)).toEqual(contentOf(snapshot));
        expect(toDocument(written)).toEqual(toDocument(snapshot));
      }),
      { numRuns: 50 },
    );
  });
});

describe('a valid document, whatever it is', () => {
  // Promise: document-round-trip
  it('is equal after createSnapshot and toDocument', () => {
    fc.assert(
      fc.property(documents, (document) => {
        expect(toDocument(createSnapshot(document))).toEqual(document);
      }),
      { numRuns: 200 },
    );
  });

  // Promise: snapshot-links
  it('gives a frozen snapshot with resolved links and correct counters', () => {
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
