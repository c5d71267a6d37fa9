/**
 * What a gateway has that is simulated: what runs, with which settings, and which sessions are open.
 */
import { serverStatusWords, type ServerStatusWord, type Session, type Snapshot } from '../../index.ts';
import type { Json } from '../../json/index.ts';
import { isMap } from './setting-change.ts';

/**
 * A service, a monitor, a server or a filter, as a scripted gateway has it.
 *
 * @public
 */
export interface ScriptedThing {
  /** Whether it runs; left out for what cannot run. */
  readonly state?: 'started' | 'stopped' | 'failed';
  /** The settings as they were last updated; the status of a server also as it was last found. */
  readonly settings: { readonly [name: string]: Json };
}

/**
 * A backend connection, as a scripted gateway has it.
 *
 * @public
 */
export interface ScriptedConnection {
  /** Key of the server it goes to. */
  readonly server: string;
  /** Descriptive text of what it is for. */
  readonly role: string;
  /** Descriptive text. */
  readonly state: string;
}

/**
 * A session, as a scripted gateway has it.
 *
 * @public
 */
export interface ScriptedSession {
  /** Key of the service it is on. */
  readonly service: string;
  /** Connect time, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly connected: number;
  /** Client user name. */
  readonly user: string;
  /** Client address. */
  readonly address: string;
  /** Descriptive text. */
  readonly state: string;
  /** Its backend connections by id. */
  readonly connections: { readonly [id: string]: ScriptedConnection };
}

/**
 * What a scripted gateway has, as plain JSON.
 *
 * @public
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
  /** How often the logs were flushed. */
  readonly flushes: number;
}

/** The parts of a gateway that hold things with names. @internal */
export type Collection = 'services' | 'monitors' | 'servers' | 'filters';

/** A session of a gateway that changes. @internal */
export interface LiveSession extends Omit<ScriptedSession, 'connections'> {
  readonly connections: Map<number, ScriptedConnection>;
  /** Id of the next connection: within a session none is used twice. */
  nextConnection: number;
}

/**
 * A gateway that changes. The status of a server is a map here, from each word that holds to `true`: words are put in
 * and taken out one by one.
 *
 * @internal
 */
export interface LiveGateway extends Record<Collection, Map<string, ScriptedThing>> {
  readonly sessions: Map<number, LiveSession>;
  /** For each command that flushed the logs, its id. */
  readonly flushes: string[];
}

/** Makes the gateway that a snapshot tells of. @internal */
export function gatewayOf(snapshot: Snapshot): LiveGateway {
  const { services, monitors, servers, filters, sessions } = snapshot;
  return {
    services: byKey(services),
    monitors: byKey(monitors),
    servers: byKey(servers, withWordMap),
    filters: byKey(filters),
    sessions: new Map(Array.from(sessions, (session) => [session.id, liveSession(session)])),
    flushes: [],
  };
}

/** Writes what a gateway has as plain JSON. @internal */
export function toState(gateway: LiveGateway): ScriptedState {
  const { services, monitors, servers, filters, sessions, flushes } = gateway;
  return {
    services: Object.fromEntries(services),
    monitors: Object.fromEntries(monitors),
    servers: Object.fromEntries(Array.from(servers, ([key, { settings }]) => [key, withWordList(settings)])),
    filters: Object.fromEntries(filters),
    sessions: Object.fromEntries(Array.from(sessions, ([id, session]) => [id, plainSession(session)])),
    flushes: flushes.length,
  };
}

/** The settings of a server with its status as a map. @internal */
export function withWordMap({ state, ...rest }: ScriptedThing['settings']): ScriptedThing['settings'] {
  const words = Array.isArray(state) ? (state as readonly string[]) : [];
  return { ...rest, state: Object.fromEntries(words.map((word) => [word, true])) };
}

/** The words of a status that hold, in the order of {@link serverStatusWords}. @internal */
export function wordsOf({ state }: ScriptedThing['settings']): readonly ServerStatusWord[] {
  return isMap(state) ? serverStatusWords.filter((word) => word in state) : [];
}

/** Whether a word of a status belongs to the administrator: no monitor finds the word or clears it. @internal */
export function isAdministrators(word: string): boolean {
  return word === 'maintenance';
}

function withWordList(settings: ScriptedThing['settings']): ScriptedThing {
  return { settings: { ...settings, state: wordsOf(settings) } };
}

interface Entity {
  readonly key: string;
  readonly state?: 'started' | 'stopped' | 'failed';
  readonly settings: object;
}

function byKey(
  entities: Iterable<Entity>,
  settingsOf: (settings: ScriptedThing['settings']) => ScriptedThing['settings'] = (settings) => settings,
): Map<string, ScriptedThing> {
  return new Map(
    Array.from(entities, ({ key, state, settings: own }) => {
      const settings = settingsOf(own as ScriptedThing['settings']);
      return [key, state === undefined ? { settings } : { state, settings }];
    }),
  );
}

function liveSession({ service, connected, user, address, state, connections }: Session): LiveSession {
  const open = connections.map(({ id, ...each }) => {
    return [id, { server: each.server, role: each.role, state: each.state }] as const;
  });
  const nextConnection = Math.max(-1, ...open.map(([id]) => id)) + 1;
  return { service, connected, user, address, state, connections: new Map(open), nextConnection };
}

function plainSession({ nextConnection: _next, connections, ...facts }: LiveSession): ScriptedSession {
  return { ...facts, connections: Object.fromEntries(connections) };
}
