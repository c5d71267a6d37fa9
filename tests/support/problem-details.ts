/**
 * Problem details as they come over a transport: whether they are well formed.
 */
import { problemTable } from 'gateway-admin-core';
import { parsePointer } from 'gateway-admin-core/json';

import type { Answer } from './transport.ts';

/** How many faults a problem lists at most: docs/limits.md. */
const mostFaults = 20;

/** The codes of problems about a command in flight. */
const inFlight: ReadonlySet<string> = new Set(['command-in-progress', 'outcome-unknown']);

type Members = Readonly<Record<string, unknown>>;

/** What is wrong with an answer as problem details (RFC 9457); nothing when it is well formed. */
export function problemBreaches({ status, headers, body }: Answer): readonly string[] {
  if (typeof body !== 'object' || body === null) return ['has no object as its body'];
  const { type, title, status: told, detail, code, errors, command, ...more } = body as Members;
  const row = rowOf(code);
  return [
    ...unless(headers['content-type'] === 'application/problem+json', 'has another content type'),
    ...unless(row !== undefined, `has the unknown code ${String(code)}`),
    ...unless(type === `urn:problem-type:gateway-admin:${String(code)}`, 'has another type than its code'),
    ...unless(title === row?.title, 'has another title than its code'),
    ...unless(told === status && status === row?.status, 'has another status than its code'),
    ...unless(isSentence(detail), 'has no detail'),
    ...unless(Object.keys(more).length === 0, `has unknown members: ${Object.keys(more).join(', ')}`),
    ...unless((command !== undefined) === inFlight.has(String(code)), 'names a command, or fails to'),
    ...(errors === undefined ? [] : errorBreaches(errors)),
  ];
}

function errorBreaches(errors: unknown): readonly string[] {
  if (!Array.isArray(errors) || errors.length === 0) return ['has no list of errors'];
  const faults: readonly Members[] = errors;
  return [
    ...unless(faults.length <= mostFaults, `lists ${String(faults.length)} faults`),
    ...faults.flatMap((fault) => unless(isFault(fault), `has a malformed fault: ${JSON.stringify(fault)}`)),
  ];
}

function isFault({ pointer, operation = 0, code, detail, ...more }: Members): boolean {
  return (
    typeof pointer === 'string' &&
    parsePointer(pointer) !== undefined &&
    Number.isSafeInteger(operation) &&
    Number(operation) >= 0 &&
    rowOf(code) !== undefined &&
    isSentence(detail) &&
    Object.keys(more).length === 0
  );
}

function rowOf(code: unknown): { readonly status: number; readonly title: string } | undefined {
  return new Map<unknown, { status: number; title: string }>(Object.entries(problemTable)).get(code);
}

function isSentence(text: unknown): boolean {
  return typeof text === 'string' && text !== '';
}

function unless(holds: boolean, breach: string): readonly string[] {
  return holds ? [] : [breach];
}
