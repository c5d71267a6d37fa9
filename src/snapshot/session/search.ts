/**
 * Session searches: the sessions with a given service, server, user or address.
 *
 * The index of the session table has the sessions of each service and of each server. A search begins with the shortest
 * list that the index has, and compares the other values one by one.
 */
import { nameKey } from '../../core/name.ts';
import type { IndexedSessionTable, Session } from './table.ts';

/** The values that sessions must have, by criterion. @internal */
export type Wanted = Readonly<Partial<Record<string, string>>>;

/** Sessions in the order of their ids. */
interface Sessions {
  readonly size: number;
  /** At most `length` sessions, from position `offset` on. */
  range(this: void, offset: number, length: number): readonly Session[];
}

/** One criterion of a search. */
interface Criterion {
  /** Gives the value as sessions store it. */
  stored(this: void, wanted: string): string;
  /** Gives the test whether a session has the value. */
  matcher(this: void, stored: string, table: IndexedSessionTable): (session: Session) => boolean;
  /** The sessions that have the value; left out if the table has no index for the criterion. */
  indexed?(this: void, stored: string, table: IndexedSessionTable): Sessions;
}

const criteria: Readonly<Record<string, Criterion>> = {
  service: {
    stored: nameKey,
    matcher:
      (key) =>
      ({ service }) =>
        service === key,
    indexed: (key, table) => ({
      size: table.countOfService(key),
      range: (offset, length) => table.rangeOfService(key, offset, length),
    }),
  },
  server: {
    stored: nameKey,
    matcher(key, table) {
      const connected = table.index.ofServer(key)?.sessions.content;
      return ({ id }) => connected?.get(id) !== undefined;
    },
    indexed: (key, table) => ({
      size: table.countSessionsOfServer(key),
      range: (offset, length) => table.rangeOfServer(key, offset, length),
    }),
  },
  user: {
    stored: asWritten,
    matcher:
      (wanted) =>
      ({ user }) =>
        user === wanted,
  },
  address: {
    stored: asWritten,
    matcher:
      (wanted) =>
      ({ address }) =>
        address === wanted,
  },
};

/** The names of the criteria. @internal */
export const sessionCriteria: readonly string[] = Object.freeze(Object.keys(criteria));

/** A search that has begun. @internal */
export interface SessionSearch {
  /** The sessions among which all the wanted ones are. */
  readonly candidates: Sessions;
  /** Whether a candidate is wanted; left out if every candidate is. */
  readonly isWanted?: (this: void, candidate: Session) => boolean;
}

/**
 * Begins a search for the sessions that meet every given criterion.
 *
 * @param table - the sessions
 * @param wanted - a value for each criterion: the name of a service or server, in any spelling; the exact user or
 *   address
 * @returns the candidates; by service alone or server alone they are the wanted sessions
 * @internal
 */
export function searchSessions(table: IndexedSessionTable, wanted: Wanted): SessionSearch {
  const asked = Object.entries(criteria).flatMap(([name, criterion]) => {
    const value = wanted[name];
    return value === undefined ? [] : [{ criterion, value: criterion.stored(value) }];
  });
  const lists = asked.flatMap(({ criterion, value }) => {
    const sessions = criterion.indexed?.(value, table);
    return sessions === undefined ? [] : [{ criterion, sessions }];
  });
  const [shortest] = lists.toSorted((one, other) => one.sessions.size - other.sessions.size);
  const rest = asked.filter(({ criterion }) => criterion !== shortest?.criterion);
  const matchers = rest.map(({ criterion, value }) => criterion.matcher(value, table));
  const all: Sessions = { size: table.size, range: (offset, length) => table.range(offset, length) };
  const candidates = shortest?.sessions ?? all;
  if (matchers.length === 0) return { candidates };
  return { candidates, isWanted: (session) => matchers.every((matches) => matches(session)) };
}

function asWritten(wanted: string): string {
  return wanted;
}
