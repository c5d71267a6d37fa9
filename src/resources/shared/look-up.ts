/**
 * Look-ups: the thing that a path or a caller names, or the 404 that says where to look.
 */
import { nameKey } from '../../core/name.ts';
import { fail, ok, type ProblemCode, type Result } from '../../problem.ts';
import type { PathParameters } from '../../http/route.ts';
import type { Session } from '../../snapshot/session-table.ts';
import { find, singular, type Collections, type Snapshot } from '../../snapshot/snapshot.ts';

/**
 * Finds a thing by its name, compared as names are: white space as hyphens, without case.
 *
 * @returns the thing, or a 404 problem that says where to look
 * @internal
 */
export function lookUp<K extends keyof Collections>(
  snapshot: Snapshot,
  collection: K,
  name: string,
): Result<Collections[K]> {
  const entity = find(snapshot, collection, nameKey(name));
  if (entity !== undefined) return ok(entity);
  const kind = singular[collection];
  return fail(
    `${kind}-not-found` satisfies ProblemCode,
    `There is no ${kind} of this name. GET /${collection} lists what there is.`,
  );
}

/** Gives the function that finds the thing of a collection that a path names. @internal */
export function finder<K extends keyof Collections>(
  collection: K,
): (snapshot: Snapshot, parameters: PathParameters) => Result<Collections[K]> {
  return (snapshot, { name = '' }) => lookUp(snapshot, collection, name);
}

/** Finds a session by its id, or gives a 404 problem. @internal */
export function lookUpSession(snapshot: Snapshot, id: number): Result<Session> {
  const session = snapshot.sessions.find(id);
  if (session !== undefined) return ok(session);
  return fail(
    'session-not-found',
    `There is no session ${String(id)}; it may have ended. GET /sessions lists what there is.`,
  );
}

/** Finds the session that a path names. @internal */
export function findSession(snapshot: Snapshot, { id = '' }: PathParameters): Result<Session> {
  const parsed = parseSessionId(id);
  return parsed.ok ? lookUpSession(snapshot, parsed.value) : parsed;
}

/** Reads a session id: `0`, or digits that do not begin with it, up to 2^53 - 1. @internal */
export function parseSessionId(text: string): Result<number> {
  const id = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(id)) return ok(id);
  return fail(
    'session-id-invalid',
    'A session id is a whole number without sign or leading zeros, up to 9007199254740991.',
  );
}
