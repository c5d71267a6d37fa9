/**
 * Input that is bad, or looks as if it were: how tables of it are written.
 */
import type { Limits, ProblemCode } from 'gateway-admin-core';

import { short } from './patch-model.ts';

/** A request that is refused or that looks as if it should be. */
export interface Input {
  readonly what: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Limits that differ from the usual ones. */
  readonly limits?: Partial<Limits>;
  /** The interface is read-only. */
  readonly readOnly?: true;
}

/** A request that is refused: nothing changes. */
export interface BadInput extends Input {
  readonly status: number;
  readonly code: ProblemCode;
  /** The faults that are told, each as `<operation> <pointer>`; left out where a problem has none. */
  readonly faults?: readonly string[];
}

/** A request that looks bad and is fine. */
export interface FineInput extends Input {
  readonly status: number;
  readonly changes: boolean;
}

type Refusal = `${number} ${ProblemCode}`;
type Refused = Pick<BadInput, 'status' | 'code'>;

/** The service that most inputs are about. */
export const service = '/services/My-Service';
const patchType = { 'content-type': 'application/json-patch+json' };
const jsonType = { 'content-type': 'application/json' };

/** The two ways in which a body is sent. */
export const writers = [
  { method: 'PATCH', target: service, headers: patchType },
  { method: 'PUT', target: '/users', headers: jsonType },
] as const;

/** The status and the code of a refusal. */
export function refused(refusal: Refusal): Refused {
  const [status, code] = refusal.split(' ');
  return { status: Number(status), code: code as ProblemCode };
}

/** Bodies that are refused wherever a body is read. */
export function bodies(
  refusal: Refusal,
  rows: Readonly<Record<string, string | readonly number[]>>,
): readonly BadInput[] {
  return Object.entries(rows).flatMap(([what, text]) => {
    const body = typeof text === 'string' ? text : new Uint8Array(text);
    return writers.map((writer) => ({ what, ...writer, body, ...refused(refusal) }));
  });
}

/** Bodies that are no patch, each with the faults that are told. */
export function noPatches(
  refusal: Refusal,
  rows: Readonly<Record<string, readonly string[]>>,
): readonly BadInput[] {
  return Object.entries(rows).map(([body, faults]) => ({
    what: clipped(body),
    ...writers[0],
    body,
    ...refused(refusal),
    ...(faults.length === 0 ? {} : { faults }),
  }));
}

/** Patches of a resource in short form, operations separated by `|`, each with the faults that are told. */
export function patches(
  refusal: Refusal,
  target: string,
  rows: Readonly<Record<string, readonly string[]>>,
): readonly BadInput[] {
  return Object.entries(rows).map(([text, faults]) => ({
    what: clipped(text),
    ...writers[0],
    target,
    body: patchOf(text),
    ...refused(refusal),
    faults,
  }));
}

/** The patch that a short form stands for. */
export function patchOf(text: string): string {
  return JSON.stringify(text.split('|').map(short));
}

/** Values that a field refuses, each as JSON, with the place that is told when it is not the field itself. */
export function values(
  refusal: Refusal,
  target: string,
  field: string,
  rows: readonly (string | readonly [value: string, place: string])[],
): readonly BadInput[] {
  const pairs = rows.map((row) => (typeof row === 'string' ? ([row, ''] as const) : row));
  return pairs.flatMap(([value, place]) =>
    patches(refusal, target, { [`replace ${field} ${value}`]: [`0 ${field}${place}`] }),
  );
}

/** Admin users that are refused, each with the pointers of the faults. */
export function users(
  refusal: Refusal,
  rows: Readonly<Record<string, readonly string[]>>,
): readonly BadInput[] {
  return Object.entries(rows).map(([body, pointers]) => ({
    what: clipped(body),
    ...writers[1],
    body,
    ...refused(refusal),
    faults: pointers.map((pointer) => `- ${pointer}`),
  }));
}

/** Requests without a body, as `<method> <target>`. */
export function requests(refusal: Refusal, rows: readonly string[]): readonly BadInput[] {
  return rows.map((row) => {
    const [method = '', target = ''] = row.split(' ');
    return { what: row, method, target, headers: {}, ...refused(refusal) };
  });
}

function clipped(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}… (${String(text.length)})` : text;
}

/** So many things inside one another. */
export function nested(depth: number, open: string, close: string): string {
  return open.repeat(depth) + close.repeat(depth);
}

/** An object with so many members. */
export function members(count: number, value: string): string {
  return `{${Array.from({ length: count }, (_, index) => `"k${String(index)}":${value}`).join()}}`;
}
