/**
 * Look-ups: find the resource that a path, a caller or a report names. In a path or from a caller, a miss is a 404
 * problem that says where to look; in a report, a contradiction or nothing new.
 */
import type { Entity, Named } from '../../core/collection.ts';
import { linkTo, parseLink } from '../../core/link.ts';
import type { Fields } from '../../core/field.ts';
import type { Contradiction } from '../../core/report.ts';
import { fail, ok, quoted, type Problem, type ProblemCode, type Result } from '../../problem.ts';
import type { PathParameters } from '../../http/route.ts';
import type { Session } from '../../snapshot/session/table.ts';
import { collectionOf, type State } from '../../snapshot/state.ts';

/**
 * Finds a resource by name. Names are compared by their {@link nameKey}.
 *
 * @returns the resource; refused with a 404 problem if there is none
 * @internal
 */
export function lookUp<T extends Entity>(snapshot: State, named: Named<T>, name: string): Result<T> {
  assertName(named, name);
  const entity = collectionOf(snapshot, named).find(name);
  return entity === undefined ? notFound(named, name) : ok(entity);
}

/** The link of a list: that nothing has a name rests on the list. @internal */
export function linkOfCollection({ collection }: Pick<Named<Entity>, 'collection'>): string {
  return `/${collection}`;
}

/** The lists on which a refusal rests because a link names nothing. @internal */
export function unresolvedCollections({ links }: Fields, { code, errors = [] }: Problem): readonly string[] {
  const isUnresolved = [code, ...errors.map((each) => each.code)].includes('link-unresolved');
  return isUnresolved
    ? [...new Set(Object.values(links).map((collection) => linkOfCollection({ collection })))]
    : [];
}

/** @throws TypeError if a name from a program is no string @internal */
export function assertName({ singular }: Named<Entity>, name: unknown): void {
  if (typeof name !== 'string') throw new TypeError(`The name of a ${singular} must be a string`);
}

/** The 404 problem for a name. @internal */
export function notFound({ collection, singular }: Named<Entity>, name: string): Result<never> {
  return fail(
    `${singular}-not-found` satisfies ProblemCode,
    `There is no ${singular} named ${quoted(name)}. GET /${collection} lists the existing ones.`,
  );
}

/** Creates the function that finds the resource of a collection by the name in a path. @internal */
export function finder<T extends Entity>(
  named: Named<T>,
): (snapshot: State, parameters: PathParameters) => Result<T> {
  return (snapshot, { name = '' }) => lookUp(snapshot, named, name);
}

/** Finds the resource that a report names. @internal */
export function reported<T extends Entity>(
  snapshot: State,
  named: Named<T>,
  name: string,
): T | Contradiction {
  const found = collectionOf(snapshot, named).find(name);
  if (found !== undefined) return found;
  const meant = parseLink(name, named.collection);
  const hint =
    meant === undefined ? '' : `. Reports name a ${named.singular} by name, ${quoted(meant)}, not by link`;
  return {
    contradiction: `names the ${named.singular} ${quoted(name)}, which does not exist${hint}`,
    missing: linkTo(named.collection, name),
  };
}

/** Finds a session by id; refused with a 404 problem if there is none. @internal */
export function lookUpSession(snapshot: State, id: number): Result<Session> {
  const session = snapshot.sessions.find(id);
  if (session !== undefined) return ok(session);
  return fail(
    'session-not-found',
    `There is no session ${String(id)}; the session may have ended. GET /sessions lists the open sessions.`,
  );
}

/** Finds the session of the id in a path. @internal */
export function findSession(snapshot: State, { id = '' }: PathParameters): Result<Session> {
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

/**
 * Finds the session that a report is about. Ids are reused, and the connect time distinguishes the sessions with one
 * id.
 *
 * @param snapshot - the present snapshot
 * @param id - id of the session
 * @param connected - connect time of the session; `undefined` if the report does not have one
 * @returns the open session; `undefined` if the session of the report has ended; a contradiction if the report is about
 *   a later session that was never reported as opened
 * @internal
 */
export function reportedSession(
  snapshot: State,
  id: number,
  connected: number | undefined,
): Session | Contradiction | undefined {
  const session = snapshot.sessions.find(id);
  if (session === undefined || connected === undefined || connected === session.connected) return session;
  if (connected < session.connected) return undefined;
  return {
    contradiction:
      'has a later connect time than the open session with this id; report "session.opened" of the later session first',
  };
}
