/**
 * The state of a scripted gateway: services, monitors, servers and filters with their settings, and the open sessions.
 */
import {
  createSnapshot,
  nameKey,
  serverStatusWords,
  type Effect,
  type Listener,
  type Server,
  type ServerStatusWord,
  type Service,
  type Session,
  type Snapshot,
} from '../../index.ts';
import type { Json } from '../../json/index.ts';
import { isMap } from './setting-change.ts';

/**
 * A service, monitor, server or filter of a scripted gateway.
 *
 * @beta
 */
export interface ScriptedThing {
  /** The state of a service or monitor; left out for a server or filter. */
  readonly state?: 'started' | 'stopped' | 'failed';
  /** The settings after the last update. The `status` of a server also has the words that the monitor last found. */
  readonly settings: { readonly [name: string]: Json };
  /** The listeners of a service by key; left out for anything else. */
  readonly listeners?: { readonly [key: string]: Json };
}

/**
 * A backend connection of a scripted gateway.
 *
 * @beta
 */
export interface ScriptedConnection {
  /** Key of the name of the server. */
  readonly server: string;
  /** Descriptive text of the purpose of the connection. */
  readonly role: string;
  /** Descriptive text of the state of the connection. */
  readonly state: string;
}

/**
 * A session of a scripted gateway.
 *
 * @beta
 */
export interface ScriptedSession {
  /** Key of the name of the service. */
  readonly service: string;
  /** Connect time, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly connected: number;
  /** Client user name. */
  readonly user: string;
  /** Client address. */
  readonly address: string;
  /** Descriptive text of the state of the session. */
  readonly state: string;
  /** The backend connections of the session by id. */
  readonly connections: { readonly [id: string]: ScriptedConnection };
}

/**
 * The state of a scripted gateway, as plain JSON.
 *
 * @beta
 */
export interface ScriptedState {
  /** The services by key. */
  readonly services: { readonly [key: string]: ScriptedThing };
  /** The monitors by key. */
  readonly monitors: { readonly [key: string]: ScriptedThing };
  /** The servers by key. The words of a status are in the order of {@link serverStatusWords}. */
  readonly servers: { readonly [key: string]: ScriptedThing };
  /** The filters by key. */
  readonly filters: { readonly [key: string]: ScriptedThing };
  /** The open sessions by id. */
  readonly sessions: { readonly [id: string]: ScriptedSession };
  /** The number of commands that flushed the logs. */
  readonly flushes: number;
}

/** The collection of a kind that has an effect for its creation. */
type CollectionOf<Type> = Type extends `${infer Kind}.create` ? `${Kind}s` : never;

/** The parts of a gateway with named resources. @internal */
export type Collection = Extract<keyof Snapshot, CollectionOf<Effect['type']>>;

/** Every collection. A missing one does not compile. */
const collections: Readonly<Record<Collection, true>> = {
  ...{ services: true, monitors: true, servers: true, filters: true },
};

/** A session of a {@link LiveGateway}. @internal */
export interface LiveSession extends Omit<ScriptedSession, 'connections'> {
  readonly connections: Map<number, ScriptedConnection>;
  /** The servers of all connections so far, by id. Within a session an id is used once for each server. */
  readonly used: Map<number, Set<string>>;
}

/**
 * The mutable state of a scripted gateway. The status of a server is an object here, with the value `true` for each
 * word of the status, so that a change adds or removes single words.
 *
 * @internal
 */
export interface LiveGateway extends Record<Collection, Map<string, ScriptedThing>> {
  readonly sessions: Map<number, LiveSession>;
  /** The ids of the commands that flushed the logs. */
  readonly flushes: string[];
  /** The starts that were carried out, each as the id of the command and the link of the resource. */
  readonly starts: Set<string>;
}

/** Creates a gateway with the state of a snapshot. @internal */
export function gatewayOf(snapshot: Snapshot): LiveGateway {
  return {
    ...byCollection((collection) => byKey(snapshot[collection])),
    sessions: new Map(Array.from(snapshot.sessions, (session) => [session.id, liveSession(session)])),
    flushes: [],
    starts: new Set(),
  };
}

/** Converts the state of a gateway to plain JSON. @internal */
export function toState(gateway: LiveGateway): ScriptedState {
  const { sessions, flushes } = gateway;
  return {
    ...byCollection((collection) =>
      Object.fromEntries(
        Array.from(gateway[collection], ([key, thing]) => [
          key,
          { ...thing, settings: withWordList(thing.settings) },
        ]),
      ),
    ),
    sessions: Object.fromEntries(Array.from(sessions, ([id, session]) => [id, plainSession(session)])),
    flushes: flushes.length,
  };
}

/** The thing that a definition describes. What its links name need not exist here. @internal */
export function thingFrom(
  definition: object,
  [collection, key]: readonly [Collection, string],
): ScriptedThing {
  const { servers = [], filters = [] } = definition as Readonly<Record<string, readonly string[]>>;
  const named = (link: string): string => decodeURIComponent(link.replace(/^.*\//, ''));
  const snapshot = createSnapshot({
    servers: servers.map((link) => ({ name: named(link), address: 'localhost', port: 1, protocol: 'any' })),
    filters: filters.map((link) => ({ name: named(link), module: 'any' })),
    [collection]: [definition],
  });
  const thing = byKey(snapshot[collection]).get(key);
  if (thing === undefined) throw new TypeError(`The definition does not describe "${key}"`);
  return thing;
}

function byCollection<T>(partOf: (collection: Collection) => T): Record<Collection, T> {
  const names = Object.keys(collections) as Collection[];
  return Object.fromEntries(names.map((name) => [name, partOf(name)])) as Record<Collection, T>;
}

/**
 * Settings with the words of a status, which servers have, as an object.
 *
 * @param found - the words that a monitor has found
 * @internal
 */
export function withWordMap(settings: object, found: readonly string[] = []): ScriptedThing['settings'] {
  // The settings of a snapshot call the status `state`.
  const { state, status = state, ...rest } = settings as ScriptedThing['settings'];
  if (!Array.isArray(status)) return settings as ScriptedThing['settings'];
  const words = [...(status as readonly string[]), ...found];
  return { ...rest, status: Object.fromEntries(words.map((word) => [word, true])) };
}

/** The words of a status, in the order of {@link serverStatusWords}. @internal */
export function wordsOf({ status }: ScriptedThing['settings']): readonly ServerStatusWord[] {
  return isMap(status) ? serverStatusWords.filter((word) => word in status) : [];
}

/** Whether a word of a status belongs to the administrator: no monitor finds the word or clears it. @internal */
export function isAdministrators(word: string): boolean {
  return word === 'maintenance';
}

/** Settings with the words of a status as a list. @internal */
export function withWordList(settings: ScriptedThing['settings']): ScriptedThing['settings'] {
  return isMap(settings['status']) ? { ...settings, status: wordsOf(settings) } : settings;
}

interface Entity {
  readonly key: string;
  readonly listeners?: readonly Listener[];
  readonly state?: 'started' | 'stopped';
  readonly seen?: Partial<Server['seen'] & Service['seen']>;
  readonly settings: object;
}

function byKey(entities: Iterable<Entity>): Map<string, ScriptedThing> {
  return new Map(
    Array.from(entities, ({ key, state: wanted, seen, settings: own, listeners }) => {
      const state = seen?.state ?? wanted;
      const thing = {
        ...(state === undefined ? {} : { state }),
        settings: withWordMap(own, seen?.status),
        ...(listeners === undefined ? {} : { listeners: listenersOf(listeners) }),
      };
      return [key, thing];
    }),
  );
}

function listenersOf(listeners: readonly Listener[]): NonNullable<ScriptedThing['listeners']> {
  return Object.fromEntries(listeners.map((listener) => [nameKey(listener.name), { ...listener }]));
}

function liveSession({ service, connected, user, address, state, connections }: Session): LiveSession {
  const open = connections.map(({ id, ...each }) => {
    return [id, { server: each.server, role: each.role, state: each.state }] as const;
  });
  const used = new Map(open.map(([id, { server }]) => [id, new Set([server])]));
  return { service, connected, user, address, state, connections: new Map(open), used };
}

function plainSession({ used: _used, connections, ...session }: LiveSession): ScriptedSession {
  return { ...session, connections: Object.fromEntries(connections) };
}
