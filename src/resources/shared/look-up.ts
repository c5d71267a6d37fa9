/**
 * Look-ups: find the resource that a path or a caller names. A miss is a 404 problem that says where to look.
 */
import { parseLink } from '../../core/link.ts';
import { nameKey } from '../../core/name.ts';
import { longestLink } from '../../core/reference.ts';
import { fail, ok, quoted, type ProblemCode, type Result } from '../../problem.ts';
import type { PathParameters } from '../../http/route.ts';
import type { Session } from '../../snapshot/session-table.ts';
import {
  assertSnapshot,
  find,
  isCollection,
  singular,
  type Collections,
  type Snapshot,
} from '../../snapshot/snapshot.ts';
import type { Filter } from '../filter.ts';
import type { Monitor } from '../monitor.ts';
import type { Server } from '../server.ts';
import type { Service } from '../service.ts';
import type { User } from '../user.ts';

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

/**
 * The resource that a link names.
 *
 * @public
 */
export type LinkedResource =
  | { readonly kind: 'service'; readonly service: Service }
  | { readonly kind: 'server'; readonly server: Server }
  | { readonly kind: 'monitor'; readonly monitor: Monitor }
  | { readonly kind: 'filter'; readonly filter: Filter }
  | { readonly kind: 'user'; readonly user: User }
  | { readonly kind: 'session'; readonly session: Session };

/**
 * Finds the resource that a link names, such as the link in an event, in a list of servers or from a client.
 *
 * @param snapshot - the state
 * @param link - a link such as `/services/Sales`, with the name in any spelling that the interface accepts
 * @returns the resource with its kind; `undefined` if there is no such resource, or the text is no link of one resource
 * @throws TypeError for a snapshot that does not come from {@link createSnapshot}, or a link that is not a string
 *
 * @example
 * ```ts
 * import { createSnapshot, resolveLink } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const found = resolveLink(snapshot, '/services/sales');
 * found?.kind === 'service' && found.service.router; // => 'readconnroute'
 * resolveLink(snapshot, '/services/Stock'); // => undefined
 * ```
 *
 * @see docs/spec-choices.md 4.
 *
 * @public
 */
export function resolveLink(snapshot: Snapshot, link: string): LinkedResource | undefined {
  assertSnapshot(snapshot);
  if (typeof link !== 'string') throw new TypeError('The link must be a string');
  const [, collection = ''] = link.split('/', 2);
  const name = link.length > longestLink ? undefined : parseLink(link, collection);
  if (name === undefined) return undefined;
  if (collection === 'sessions') {
    const found = findSession(snapshot, { id: name });
    return found.ok ? { kind: 'session', session: found.value } : undefined;
  }
  if (!isCollection(collection)) return undefined;
  const kind = singular[collection];
  const entity = find(snapshot, collection, nameKey(name));
  // The table `singular` connects the kind with the collection. The compiler cannot derive that from the index.
  return entity === undefined ? undefined : ({ kind, [kind]: entity } as unknown as LinkedResource);
}
