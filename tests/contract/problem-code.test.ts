import { describe, expect, it } from '@jest/globals';
import { problemTable, type ProblemCode } from 'gateway-admin-core';

import { rows as endpointRows } from '../openapi/example.ts';
import { codesOf } from '../openapi/problem-code.ts';
import { fleetProvocations, provocations, provoker } from './problem-code.ts';

const rows = endpointRows.map(({ endpoint, route }) => ({ endpoint, id: route.id, codes: codesOf(route) }));

/** The codes of requests that belong to no endpoint, and of commands that only a program sends. */
const elsewhere: readonly ProblemCode[] = [
  ...(['route-not-found', 'method-not-allowed', 'method-unknown'] as const),
];

describe('the problem codes of an endpoint', () => {
  // That no answer has any other code is checked after each test.
  // Promise: openapi-answers
  it.each(rows)('can each be provoked: $id', async ({ endpoint, codes }) => {
    const { provoke, isAsItWas } = provoker(endpoint);
    for (const code of codes) {
      const { status, text } = await provoke(code);
      expect([status, (JSON.parse(text) as { readonly code: string }).code]).toEqual([
        problemTable[code].status,
        code,
      ]);
      expect([code, isAsItWas()]).toEqual([code, true]);
    }
  });

  it('are all codes but those of a path without an endpoint', () => {
    const listed = new Set(rows.flatMap(({ codes }) => codes));
    const missing = Object.keys(problemTable).filter((code) => !listed.has(code as ProblemCode));
    expect(missing.toSorted()).toEqual(elsewhere.toSorted());
    expect([...Object.keys(provocations), ...Object.keys(fleetProvocations)].toSorted()).toEqual(
      [...listed].toSorted(),
    );
  });
});
