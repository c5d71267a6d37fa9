/**
 * Sessions in a gateway document: loaded into a session table, and saved again.
 */
import { asObject, type Json, type JsonObject } from '../../json/value.ts';
import { Batch } from '../../core/batch.ts';
import { parseLink } from '../../core/link.ts';
import { nameKey } from '../../core/name.ts';
import { formatPointer } from '../../json/pointer.ts';
import { faultsOf, quoted, type Fault, type Result } from '../../problem.ts';
import { canonicalLink, resolveLinks, type FindName } from '../../core/reference.ts';
import * as shape from '../../core/shape.ts';
import { formatInstant, parseInstant } from '../../core/time.ts';
import { reservedFaults } from '../entry.ts';
import {
  IndexedSessionTable,
  type ConnectionStatistics,
  type OpeningConnection,
  type OpeningSession,
} from './table.ts';
import { linkOfKey, type State } from '../state.ts';

/**
 * A session in a gateway document.
 *
 * @see Gateway Administration REST Interface, "Session".
 *
 * @public
 */
export interface SessionDocument {
  /** Session id. */
  readonly id: number;
  /** Descriptive text of the session state. */
  readonly state: string;
  /** Client user name. */
  readonly user: string;
  /** Client address. */
  readonly address: string;
  /** Link of the service of the session. */
  readonly service: string;
  /** Connect time: an ISO 8601 instant with an offset. */
  readonly connected: string;
  /** Idle time; 0 if left out. */
  readonly idle?: number;
  /** The backend connections of the session, in the order in which they were opened. */
  readonly connections?: readonly ConnectionDocument[];
}

/**
 * A backend connection in a gateway document.
 *
 * @see Gateway Administration REST Interface, "Connection".
 *
 * @public
 */
export interface ConnectionDocument {
  /** Id, unique in its session. If left out, the connection gets a free id. */
  readonly id?: number;
  /** Descriptive text of the connection state. */
  readonly state: string;
  /** Descriptive text of the connection role. */
  readonly role: string;
  /** Link of the server of the connection. */
  readonly server: string;
  /** Derived from the session. A link, if given, must be that of the service of the session. */
  readonly service?: unknown;
  /** Counters of the connection; left out if they are not known. */
  readonly statistics?: ConnectionStatistics;
}

/** The keys of the resources of a document by collection, in the order of declaration. */
type Declared = ReadonlyMap<string, ReadonlyMap<string, unknown>>;

/**
 * Reads the sessions of a document into a session table, one at a time: a list of a million sessions is never in memory
 * a second time. Yields after each session.
 *
 * @param entryShape - shape of one session
 * @param items - the sessions
 * @param find - look-up of names for links
 * @param declared - the resources of the document
 * @returns the table, which is complete only without faults, and the faults
 * @internal
 */
export function* readSessions(
  entryShape: shape.ObjectShape,
  items: Iterable<Result<Json>>,
  find: FindName,
  declared: Declared,
): Generator<undefined, { readonly table: IndexedSessionTable; readonly faults: readonly Fault[] }> {
  const batch = new Batch();
  const change = { revision: 0, batch };
  let table = IndexedSessionTable.create(positionsIn(declared, 'services'), positionsIn(declared, 'servers'));
  const faults: Fault[] = [];
  const seen = new Set<Json>();
  const keyOf = createKeys();
  const resolving: Resolving = { find, known: new Set() };
  let position = 0;
  for (const item of items) {
    const path = ['sessions', position];
    const read = item.ok
      ? readSession(entryShape, item.value, path, resolving, seen)
      : { faults: faultsOf(item.problem) };
    if ('faults' in read) for (const fault of read.faults) faults.push(fault);
    else table = table.open(toSession(read.entry, keyOf), change);
    position += 1;
    yield;
  }
  batch.end();
  return { table, faults };
}

function positionsIn(declared: Declared, collection: string): ReadonlyMap<string, number> {
  return new Map(Array.from(declared.get(collection)?.keys() ?? [], (key, position) => [key, position]));
}

/** Reads one session, and notes its id. */
function readSession(
  entryShape: shape.ObjectShape,
  entry: Json,
  path: readonly (string | number)[],
  resolving: Resolving,
  seen: Set<Json>,
): { readonly entry: SessionDocument } | { readonly faults: readonly Fault[] } {
  const parsed = shape.parseShape(entryShape, entry, path);
  const written = asObject(entry);
  const faults = [
    ...reservedFaults(entry, path),
    ...(parsed.ok ? [] : parsed.faults),
    ...referenceFaults(written, path, resolving, seen),
  ];
  if (typeof written['id'] === 'number') seen.add(written['id']);
  return parsed.ok && faults.length === 0
    ? { entry: parsed.value as unknown as SessionDocument }
    : { faults };
}

/** Checks ids and links as written, so that a fault elsewhere in the entry does not hide a fault here. */
function referenceFaults(
  entry: JsonObject,
  path: readonly (string | number)[],
  resolving: Resolving,
  seen: ReadonlySet<Json>,
): readonly Fault[] {
  const { id = null, service, connections } = entry;
  const known = new Set<Json>();
  return [
    ...(seen.has(id) ? [repeated([...path, 'id'], 'session')] : []),
    ...linkFaults(service, 'services', resolving, [...path, 'service']),
    ...(Array.isArray(connections) ? (connections as readonly Json[]) : []).flatMap(
      (connection, position) => {
        const place = [...path, 'connections', position];
        const { id: inner = null, server, service: named } = asObject(connection);
        const again = inner !== null && known.has(inner);
        known.add(inner);
        const links = [
          ...linkFaults(server, 'servers', resolving, [...place, 'server']),
          ...serviceFaults(named, service, resolving, [...place, 'service']),
        ];
        return again ? [repeated([...place, 'id'], 'connection of this session'), ...links] : links;
      },
    ),
  ];
}

/** Look-up of names for links, and the links that are known to resolve: a million sessions share a few links. */
interface Resolving {
  readonly find: FindName;
  readonly known: Set<string>;
}

/** Gives the faults of a single link. Their pointer is the place of the link itself. */
function linkFaults(
  link: Json | undefined,
  collection: string,
  { find, known }: Resolving,
  path: readonly (string | number)[],
): readonly Fault[] {
  if (typeof link !== 'string') return [];
  // A link of another collection is never known here, because a link begins with its collection.
  if (known.has(link) && link.startsWith(`/${collection}/`)) return [];
  if (canonicalLink(link, collection, find) !== undefined) {
    known.add(link);
    return [];
  }
  const pointer = formatPointer(path);
  return resolveLinks([link], collection, find, []).faults.map((fault) => ({ ...fault, pointer }));
}

/**
 * Checks the service that a connection names, because a connection belongs to the service of its session. Any other
 * value than a link of a service is ignored, as for every derived member.
 */
function serviceFaults(
  named: Json | undefined,
  ofSession: Json | undefined,
  resolving: Resolving,
  path: readonly (string | number)[],
): readonly Fault[] {
  if (typeof named !== 'string' || parseLink(named, 'services') === undefined) return [];
  const faults = linkFaults(named, 'services', resolving, path);
  if (typeof ofSession !== 'string' || faults.length > 0) return faults;
  const [link, own] = [named, ofSession].map((each) => canonicalLink(each, 'services', resolving.find));
  // A link of the session that does not resolve has a fault of its own.
  if (link === undefined || own === undefined || link === own) return [];
  const detail = `names ${quoted(link)}, and the session is on ${quoted(own)}; leave this member out, or correct one of the links`;
  return [{ pointer: formatPointer(path), code: 'validation-failed', detail }];
}

function repeated(path: readonly (string | number)[], owner: string): Fault {
  return {
    pointer: formatPointer(path),
    code: 'validation-failed',
    detail: `is also the id of an earlier ${owner}; ids must be unique`,
  };
}

/** Written out, because to take members out and spread the rest takes several times as long. */
function toSession(entry: SessionDocument, keyOf: KeyOf): OpeningSession {
  const { id, state, user, address, service, connected, idle = 0, connections = [] } = entry;
  return {
    id,
    state,
    user,
    address,
    service: keyOf(service, 'services'),
    connected: parseInstant(connected) ?? 0,
    idle,
    connections: connections.length === 0 ? [] : toConnections(connections, keyOf),
  };
}

function toConnections(entries: readonly ConnectionDocument[], keyOf: KeyOf): readonly OpeningConnection[] {
  const taken = new Set(entries.map(({ id }) => id));
  let free = 0;
  const nextFree = (): number => {
    while (taken.has(free)) free += 1;
    return free++;
  };
  return entries.map(({ id = nextFree(), role, state, server, statistics }) => ({
    id,
    server: keyOf(server, 'servers'),
    role,
    state,
    ...(statistics !== undefined && { statistics }),
  }));
}

/** Gives the key of the name in a link. */
type KeyOf = (link: string, collection: string) => string;

/** Creates a {@link KeyOf} that makes the key of each link once: a million sessions then share a few texts. */
function createKeys(): KeyOf {
  const keys = new Map<string, string>();
  return (link, collection) => {
    const known = keys.get(link);
    if (known !== undefined) return known;
    const key = nameKey(parseLink(link, collection) ?? '');
    keys.set(link, key);
    return key;
  };
}

/** Gives the `total_connections` of valid services, by the key of the service. @internal */
export function totalsOf(
  services: readonly { readonly name: string; readonly total_connections?: number }[],
): ReadonlyMap<string, number> {
  const totals = new Map<string, number>();
  for (const { name, total_connections: total } of services)
    if (total !== undefined) totals.set(nameKey(name), total);
  return totals;
}

/** Raises the totals of a table to those of a document. @internal */
export function withTotals(
  table: IndexedSessionTable,
  totals: ReadonlyMap<string, number>,
): IndexedSessionTable {
  let raised = table;
  for (const [service, total] of totals) raised = raised.withTotal(service, total);
  return raised;
}

/** Saves the sessions of a snapshot. @internal */
export function saveSessions(snapshot: State): readonly SessionDocument[] {
  return snapshot.sessions
    .range(0, Infinity)
    .map(({ id, state, user, address, service, connected, idle, connections }) => ({
      id,
      state,
      user,
      address,
      service: linkOfKey(snapshot, 'services', service),
      connected: formatInstant(connected),
      idle,
      connections: connections.map(({ id, state, role, server, statistics }) => ({
        id,
        state,
        role,
        server: linkOfKey(snapshot, 'servers', server),
        ...(statistics !== undefined && { statistics }),
      })),
    }));
}
