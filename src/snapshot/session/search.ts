/**
 * Session searches: the sessions with a given service, server, user, address, idle time or age.
 *
 * The index of the session table has the sessions of each service and of each server. A search begins with the shortest
 * list that the index has, and compares the other values one by one.
 */
import type { Context } from '../../core/decision.ts';
import { nameKey } from '../../core/name.ts';
import type { IndexedSessionTable, Session } from './table.ts';

/**
 * What sessions must have to be found: all that is given.
 *
 * @public
 */
export interface SessionSearch {
  /** Name of the service of the session. */
  readonly service?: string;
  /** Name of a server to which the session has a connection. */
  readonly server?: string;
  /** Client user name. */
  readonly user?: string;
  /** Client address. */
  readonly address?: string;
  /** The session has been idle for longer, in the unit of the idle time that responses show. */
  readonly idle_over?: number;
  /** The client has been connected for more seconds. */
  readonly older_than?: number;
}

/**
 * The moment of a search. With the moment of a plan, nothing later counts: no connection that has opened since, no user
 * that has changed since, and no second of the age. Of idle times, only the present ones are known.
 *
 * @internal
 */
export interface Moment extends Pick<Context, 'now' | 'openedUpTo' | 'plannedAt'> {
  readonly idleOf?: Context['idleOf'] | undefined;
}

/** Sessions in the order of their ids. */
interface Sessions {
  readonly size: number;
  /** At most `length` sessions, from position `offset` on. */
  range(this: void, offset: number, length: number): readonly Session[];
}

/** Whether a session has what is wanted. */
type Test = (this: void, session: Session) => boolean;

/** One criterion of a search. */
interface Criterion<V> {
  /** Gives the test whether a session has the value. */
  testOf(this: void, wanted: V, moment: Moment): Test;
  /** The sessions that have the value; left out if the table has no index for the criterion. */
  indexed?(this: void, wanted: V, table: IndexedSessionTable): Sessions;
}

const criteria: { readonly [N in keyof SessionSearch]-?: Criterion<NonNullable<SessionSearch[N]>> } = {
  service: {
    testOf: (name) => {
      const key = nameKey(name);
      return ({ service }) => service === key;
    },
    indexed(name, table) {
      const key = nameKey(name);
      return {
        size: table.countOfService(key),
        range: (offset, length) => table.rangeOfService(key, offset, length),
      };
    },
  },
  server: {
    testOf: (name, { openedUpTo = Infinity }) => {
      const key = nameKey(name);
      return ({ connections }) =>
        connections.some(({ server, opened }) => server === key && opened <= openedUpTo);
    },
    indexed(name, table) {
      const key = nameKey(name);
      return {
        size: table.countSessionsOfServer(key),
        range: (offset, length) => table.rangeOfServer(key, offset, length),
      };
    },
  },
  user: {
    testOf:
      (wanted, { openedUpTo = Infinity }) =>
      ({ user, renamed = 0 }) =>
        user === wanted && renamed <= openedUpTo,
  },
  address: {
    testOf:
      (wanted) =>
      ({ address }) =>
        address === wanted,
  },
  idle_over: {
    testOf:
      (limit, { idleOf }) =>
      ({ id, idle }) =>
        (idleOf?.(id) ?? idle) > limit,
  },
  older_than: {
    testOf:
      (seconds, { now, plannedAt = now }) =>
      ({ connected }) =>
        Math.min(now, plannedAt) - connected > seconds * 1000,
  },
};

/** The names of the criteria. @internal */
export const sessionCriteria: readonly (keyof SessionSearch)[] = Object.freeze(
  Object.keys(criteria) as (keyof SessionSearch)[],
);

/** A search that has begun. @internal */
export interface BegunSearch {
  /** The sessions among which all the wanted ones are. */
  readonly candidates: Sessions;
  /** Whether a candidate is wanted; left out if every candidate is. */
  readonly isWanted?: Test;
}

/**
 * Begins a search for the sessions that meet every given criterion.
 *
 * @param table - the sessions
 * @param search - a value for each criterion: the name of a service or server, in any spelling; the exact user or
 *   address; more than an idle time or an age
 * @returns the candidates; by service alone or server alone they are the wanted sessions
 * @internal
 */
export function searchSessions(
  table: IndexedSessionTable,
  search: SessionSearch,
  moment: Moment,
): BegunSearch {
  const lists = given(search).flatMap(({ name, value, criterion }) => {
    const sessions = criterion.indexed?.(value, table);
    return sessions === undefined ? [] : [{ name, sessions }];
  });
  const [shortest] = lists.toSorted((one, other) => one.sessions.size - other.sessions.size);
  const all: Sessions = { size: table.size, range: (offset, length) => table.range(offset, length) };
  const candidates = shortest?.sessions ?? all;
  const rest = given(search).filter(({ name }) => name !== shortest?.name);
  if (rest.length === 0) return { candidates };
  return { candidates, isWanted: everyTest(rest, moment) };
}

/** Makes the test whether a session meets every given criterion. @internal */
export function sessionTest(search: SessionSearch, moment: Moment): Test {
  return everyTest(given(search), moment);
}

/** A criterion with its value. */
interface Given {
  readonly name: string;
  readonly value: string | number;
  readonly criterion: Criterion<string | number>;
}

function given(search: SessionSearch): readonly Given[] {
  return sessionCriteria.flatMap((name) => {
    const value = search[name];
    // A criterion takes the values of its own name.
    return value === undefined ? [] : [{ name, value, criterion: criteria[name] }];
  });
}

function everyTest(all: readonly Given[], moment: Moment): Test {
  const tests = all.map(({ value, criterion }) => criterion.testOf(value, moment));
  return (session) => tests.every((test) => test(session));
}
