/**
 * Look-ups: find the resource that a path or a caller names. A miss is a 404 problem that says where to look.
 */
import { nameKey } from '../../core/name.ts';
import { fail, ok, quoted, type ProblemCode, type Result } from '../../problem.ts';
import type { PathParameters } from '../../http/route.ts';
import type { Session } from '../../snapshot/session-table.ts';
import { find, singular, type Collections, type Snapshot } from '../../snapshot/snapshot.ts';

/**
 * Finds a resource by name. Names are compared by their {@link nameKey}.
 *
 * @returns the resource; refused with a 404 problem if there is none
 * @internal
 */
export function lookUp<K extends keyof Collections>(
  snapshot: Snapshot,
  collection: K,
  name: string,
): Result<Collections[K]> {
  assertName(collection, name);
  const entity = find(snapshot, collection, nameKey(name));
  return entity === undefined ? notFound(collection, name) : ok(entity);
}

/** @throws TypeError if a name from a program is no string @internal */
export function assertName(collection: keyof Collections, name: unknown): void {
  if (typeof name !== 'string') throw new TypeError(`The name of a ${singular[collection]} must be a string`);
}

/** The 404 problem for a name. @internal */
export function notFound(collection: keyof Collections, name: string): Result<never> {
  const kind = singular[collection];
  return fail(
    `${kind}-not-found` satisfies ProblemCode,
    `There is no ${kind} named ${quoted(name)}. GET /${collection} lists the existing ones.`,
  );
}

/** Creates the function that finds the resource of a collection by the name in a path. @internal */
export function finder<K extends keyof Collections>(
  collection: K,
): (snapshot: Snapshot, parameters: PathParameters) => Result<Collections[K]> {
  return (snapshot, { name = '' }) => lookUp(snapshot, collection, name);
}

/** Finds a session by id; refused with a 404 problem if there is none. @internal */
export function lookUpSession(snapshot: Snapshot, id: number): Result<Session> {
  const session = snapshot.sessions.find(id);
  if (session !== undefined) return ok(session);
  return fail(
    'session-not-found',
    `There is no session ${String(id)}; the session may have ended. GET /sessions lists the open sessions.`,
  );
}

/** Finds the session of the id in a path. @internal */
export function findSession(snapshot: Snapshot, { id = '' }: PathParameters): Result<Session> {
  const parsed = parseSessionId(id);
  return parsed.ok ? lookUpSession(snapshot, parsed.value) : parsed;
}

/** Parses a session id: a whole number from 0 to 2^53 - 1 without leading zeros. @internal */
export function parseSessionId(text: string): Result<number> {
  const id = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(id)) return ok(id);
  return fail(
    'session-id-invalid',
    `The session id must be a whole number from 0 to 9007199254740991 without leading zeros, not ${quoted(text)}.`,
  );
}
