/**
 * The effects of an audit: those of transitions on the snapshot of the audited gateway.
 */
import {
  createSnapshot,
  deleteListener,
  deleteResource,
  drain,
  linkTo,
  flushLogs,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  revert,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  toDocument,
  type Context,
  type Decision,
  type Effect,
  type EffectOf,
  type GatewayPort,
  type Listener,
  type Operation,
  type ServerStatusWord,
  type Session,
  type Snapshot,
  type Transition,
  type Veto,
} from '../../index.ts';
import { formatPointer, type Json } from '../../json/index.ts';
import { linkedServers, type SessionIdentity } from './audited-gateway.ts';

/** An effect to audit, and the related effects that the audits need. @internal */
export interface AuditedEffect {
  readonly effect: Effect;
  /** The decision that asks for `effect`; left out for a closing of some sessions or connections. */
  readonly decision?: Acceptance;
  /** The effect that must come before `effect`: what is created must be gone first. */
  readonly first?: Effect;
  /** The start of the service that `effect` creates. */
  readonly start?: Effect | undefined;
  /** The effect that undoes `effect`. */
  readonly inverse?: Effect | undefined;
  /** Later changes of other settings of the same resource. */
  readonly later?: readonly Effect[];
  /** The listeners that `effect` opens or closes. */
  readonly listeners?: readonly Listener[];
  /** The servers of the monitor that `effect` starts. */
  readonly probed?: readonly string[];
  /** For each setting that the resource has and `effect` does not change: the update that leads to the setting. */
  readonly settings?: readonly Effect[];
  /** The same effect for another definition of the same name. */
  readonly redefined?: Effect | undefined;
  /** The same effect on something that the gateway does not have. */
  readonly missing?: Effect | undefined;
  /** Deletions of what clients use, each after the effects that must come first. */
  readonly used?: readonly (readonly Effect[])[];
  /** The sessions that `effect` ends. */
  readonly ends?: readonly SessionIdentity[];
  /** The same effect on sessions that are closed and whose ids were reused by the sessions of `effect`. */
  readonly gone?: Effect | undefined;
  /** The same effect, and on a session or connection that is closed. */
  readonly partlyGone?: Effect | undefined;
  /** The same effect on the same connections, if they were on another server. */
  readonly elsewhere?: Effect | undefined;
  /** The transitions that ask for these effects, with which the interface settles an effect that it can undo. */
  readonly settlements?: ReadonlyMap<Effect, Transition>;
  /** For each session and each connection that `effect` leaves open: the effect that closes this one alone. */
  readonly kept?: readonly Effect[];
}

/** A decision that a gateway can refuse. */
type Acceptance = Parameters<Veto>[0];

const context: Context = { now: 0 };

/** Why a gateway refuses a decision before anything is asked of it, in a sentence. @internal */
export function vetoOn(decision: Decision | undefined, { veto }: Abilities): string | undefined {
  return decision?.outcome === 'accepted' ? veto?.(decision, context)?.detail : undefined;
}

/** The number of sessions that the audits look at. */
const maxSessions = 100;

/** The effects of a snapshot, all of them or those of one type. @internal */
export type AuditedEffects = (only?: Effect['type']) => readonly AuditedEffect[];

/** What a gateway says of itself. */
interface Abilities {
  readonly sessionsEnd?: boolean;
  readonly veto?: GatewayPort['veto'] | undefined;
}

/**
 * Gives the effects that transitions on a snapshot ask for. A source decides its effects when a law asks for one of
 * their types, and only once: few laws look at other types.
 *
 * @internal
 */
export function auditedEffectsIn(snapshot: Snapshot, abilities: Abilities): AuditedEffects {
  const known = new Map<Source, readonly AuditedEffect[]>();
  const decided = (source: Source): readonly AuditedEffect[] => {
    const effects = known.get(source) ?? source.effects(snapshot, abilities);
    known.set(source, effects);
    return effects;
  };
  return (only) =>
    sources
      .filter(({ types }) => only === undefined || types.includes(only))
      .flatMap(decided)
      .filter(({ effect }) => only === undefined || effect.type === only);
}

function reversibleEffects(
  snapshot: Snapshot,
  transitions: readonly Transitions[],
): readonly AuditedEffect[] {
  return transitions.flatMap((each) => reversibleEffect(snapshot, each));
}

/** A deletion, and the creation of what was deleted. */
function membershipEffects(snapshot: Snapshot, deletion: Transition): readonly AuditedEffect[] {
  const decision = deletion(snapshot, context);
  if (decision.outcome !== 'accepted') return [];
  const { events, effects, next } = decision;
  const [[event], [first]] = [events, effects];
  if (event === undefined || first === undefined) return [];
  const creations = reversibleEffect(next, [revert(event)]).map((audited): AuditedEffect => {
    const { effect, settlements = [] } = audited;
    const known = new Map([...settlements, [first, deletion] as const]);
    const redefined = redefinitionOf(effect);
    const creation = {
      ...audited,
      first,
      settlements: known,
      settings: settingsBeside(snapshot, effect),
      redefined,
    };
    if (effect.type !== 'service.create') return creation;
    const starting: Transition = (now, within) => startService(now, effect.service, within);
    // The start of a service that drains ends the drain first.
    const start = effectsOf(starting(snapshot, context)).find(({ type }) => type === 'service.start');
    if (start !== undefined) known.set(start, starting);
    return { ...creation, start };
  });
  return [...reversibleEffect(snapshot, [deletion]), ...creations];
}

/** The deletions of a kind, and the creations that follow. The first deletion knows what clients use. */
function membershipsOf(snapshot: Snapshot, kind: keyof typeof samples): readonly AuditedEffect[] {
  const [first, ...others] = deletions(snapshot, kind).flatMap((each) => membershipEffects(snapshot, each));
  if (first === undefined) return [];
  return [{ ...first, ...usedBy(snapshot, kind, first) }, ...others];
}

/** The deletion of a service or server that clients use, as it can come if clients come after the decision. */
function usedBy(
  snapshot: Snapshot,
  kind: keyof typeof samples,
  { settlements = new Map<Effect, Transition>() }: AuditedEffect,
): Pick<AuditedEffect, 'used' | 'settlements'> {
  const [session] = snapshot.sessions.range(0, 1);
  const key = { service: session?.service, server: session?.connections[0]?.server }[kind as string];
  const found = [...snapshot[`${kind as 'service'}s`]].find((each) => each.key === key);
  if (found === undefined) return {};
  const stop: Transition = (now, within) => stopService(now, found.name, within);
  // Without sessions, and without what lists it, it can be deleted.
  const { services = [], monitors: _monitors, sessions: _sessions, ...rest } = toDocument(snapshot);
  const own = services.flatMap((each) =>
    each.name === found.name ? [{ ...each, state: 'stopped' as const }] : [],
  );
  const unused = createSnapshot({ ...rest, services: kind === 'service' ? own : [] });
  const [effect] = effectsOf(deleteResource(unused, `${kind as 'service'}s`, found.name, context));
  const [stopping] = kind === 'service' ? effectsOf(stop(snapshot, context)) : [];
  if (effect === undefined) return {};
  if (stopping === undefined) return { used: [[effect]] };
  return { used: [[stopping, effect]], settlements: new Map([...settlements, [stopping, stop]]) };
}

/** The deletions of all resources of a kind, those in use too. */
function deletions(snapshot: Snapshot, kind: keyof typeof samples): readonly Transition[] {
  return Array.from(
    snapshot[`${kind}s`] as Iterable<{ readonly name: string }>,
    ({ name }): Transition =>
      (now, within) =>
        deleteResource(now, `${kind}s`, name, within),
  );
}

/** The deletions of the first listener of each service. */
function listenerDeletions({ services }: Snapshot): readonly Transition[] {
  return Array.from(services).flatMap(({ name, listeners: [first] }): readonly Transition[] =>
    first === undefined ? [] : [(now, within) => deleteListener(now, name, first.name, within)],
  );
}

/** The kinds of the effects on one resource, and the name of the member with its key. */
function kindOf({ type }: Effect): keyof typeof samples | undefined {
  const [kind = ''] = type.split('.');
  return kind in samples ? (kind as keyof typeof samples) : undefined;
}

/** Updates that lead to what a resource has, each to one setting that an effect does not change. */
function settingsBeside(snapshot: Snapshot, effect: Effect): readonly Effect[] {
  const kind = kindOf(effect);
  if (kind === undefined) return [];
  const { [kind as 'service']: key } = effect as EffectOf<'service.update'>;
  const found = [...snapshot[`${kind as 'service'}s`]].find((each) => each.key === key);
  const changed = 'operations' in effect ? Object.keys({ ...effect.from, ...effect.to }) : [];
  const settings = Object.entries({ ...found?.settings }) as readonly (readonly [string, Json | undefined])[];
  return settings.flatMap(([name, value]): readonly Effect[] => {
    // A monitor changes the words of `state`, and a drain has times.
    if (value === undefined || [...changed, 'state', 'drain'].includes(name)) return [];
    const about = { type: `${kind}.update`, resource: effect.resource, [kind]: key };
    const operations = [{ op: 'add', path: formatPointer([name]), value }];
    return [{ ...about, from: {}, to: { [name]: value }, operations } as unknown as Effect];
  });
}

type DefinitionOf<Kind extends KindWith<'create'>> =
  Extract<Effect, { readonly type: `${Kind}.create` }> extends { readonly to: infer To } ? To : never;

/** For each kind that is created: what another definition of the same name has, if the definition has any of that. */
const redefinitions: {
  readonly [Kind in KindWith<'create'>]: (to: DefinitionOf<Kind>) => object | undefined;
} = {
  listener: ({ port }) => ({ port: anotherPort(port) }),
  service: ({ listeners: [first, ...others] = [] }) =>
    first && { listeners: [{ ...first, port: anotherPort(first.port) }, ...others] },
  server: ({ port }) => (port === undefined ? undefined : { port: anotherPort(port) }),
  monitor: ({ servers = [] }) => (servers.length === 0 ? undefined : { servers: servers.slice(1) }),
  filter({ parameters = {} }) {
    const [name] = Object.keys(parameters);
    return name === undefined ? undefined : { parameters: { ...parameters, [name]: { value: 'other' } } };
  },
};

/** The creation of something else with the same name. */
function redefinitionOf(effect: Effect): Effect | undefined {
  const [kind = ''] = effect.type.split('.');
  if (!('to' in effect)) return undefined;
  // The row takes definitions of its kind. The compiler cannot derive that from the kind.
  const row = redefinitions[kind as KindWith<'create'>] as (to: object) => object | undefined;
  const members = row(effect.to);
  return members && ({ ...effect, to: { ...effect.to, ...members } } as Effect);
}

function anotherPort(port = 0): number {
  return (port % 65_535) + 1;
}

/** A start, a stop or an update of what the gateway does not have. */
function onMissing(effect: Effect): Effect | undefined {
  const kind = kindOf(effect);
  if (kind === undefined || /\.(?:create|delete)$/.test(effect.type)) return undefined;
  const name = `no-such-${kind}`;
  return { ...effect, resource: linkTo(`${kind}s`, name), [kind]: name };
}

function reversibleEffect(
  snapshot: Snapshot,
  [transition, ...following]: Transitions,
): readonly AuditedEffect[] {
  if (transition === undefined) return [];
  const decision = transition(snapshot, context);
  if (decision.outcome !== 'accepted') return [];
  const { events, effects, next } = decision;
  const [[event], [effect]] = [events, effects];
  if (event === undefined || effect === undefined) return [];
  const settlements = new Map([[effect, transition]]);
  const effectOf = (following: Transition): Effect | undefined => {
    const [asked] = effectsOf(following(next, context));
    if (asked !== undefined) settlements.set(asked, following);
    return asked;
  };
  const later = following.flatMap((each) => effectOf(each) ?? []);
  const [settings, missing] = [settingsBeside(snapshot, effect), onMissing(effect)];
  return [{ effect, decision, settlements, inverse: effectOf(revert(event)), later, settings, missing }];
}

function closingEffects(
  snapshot: Snapshot,
  effects: readonly Effect[],
  { sessionsEnd = false }: Abilities,
): readonly AuditedEffect[] {
  return effects.map((effect) => ({
    effect,
    ends: endedBy(effect, sessionsEnd),
    gone: ofLaterSessions(effect),
    partlyGone: withAnother(effect),
    elsewhere: onAnotherServer(effect, snapshot),
    kept: keptBy(effect, snapshot, sessionsEnd),
  }));
}

/** The sessions that a closing effect ends. */
function endedBy(effect: Effect, sessionsEnd: boolean): readonly SessionIdentity[] {
  if (effect.type === 'sessions.close') return effect.sessions;
  if (effect.type !== 'connections.close' || !sessionsEnd) return [];
  return effect.connections.map(({ session, connected }) => ({ id: session, connected }));
}

/** The effects that close what another closing effect leaves open, each a single session or connection. */
function keptBy(effect: Effect, { sessions }: Snapshot, sessionsEnd: boolean): readonly Effect[] {
  const closedSessions = endedBy(effect, sessionsEnd);
  const closedConnections = effect.type === 'connections.close' ? effect.connections : [];
  if (effect.type === 'logs.flush') return [];
  const open = sessions
    .range(0, maxSessions)
    .filter(({ id }) => !closedSessions.some((session) => session.id === id));
  return open.flatMap(({ id, connected, connections }): readonly Effect[] => [
    { type: 'sessions.close', resource: linkTo('sessions', id), sessions: [{ id, connected }] },
    ...connections
      .filter((own) => !closedConnections.some((each) => each.session === id && each.id === own.id))
      .map((own): Effect => {
        const { server } = own;
        const resource = linkTo('servers', server);
        const closed = [{ session: id, connected, id: own.id }];
        return { type: 'connections.close', resource, server, connections: closed };
      }),
  ]);
}

function effectsOf(decision: Decision): readonly Effect[] {
  return decision.outcome === 'accepted' ? decision.effects : [];
}

/** A transition, and a transition that may follow; empty if the resource has nothing to change. */
type Transitions = readonly Transition[];

/** The kinds that have an effect with a verb: `service` has `service.start`. */
type KindWith<Verb extends string, Type = Effect['type']> = Type extends `${infer Kind}.${Verb}`
  ? Kind
  : never;

/** The resources of a kind. */
type ResourceOf<Kind extends KindWith<'update'>> =
  Snapshot[`${Kind}s`] extends Iterable<infer Resource> ? Resource : never;

/** For each kind with settings: a change of a setting, and one of another setting. A missing kind does not compile. */
const samples: { readonly [Kind in KindWith<'update'>]: (resource: ResourceOf<Kind>) => Transitions } = {
  service: ({ name, settings }) => [
    setting(patchService, name, '/max_connection', otherThan(settings.max_connection)),
    setting(patchService, name, '/connection_timeout', otherThan(settings.connection_timeout)),
    // The last server goes, and comes back.
    setting(patchService, name, '/servers', settings.servers.slice(0, -1)),
    setting(patchService, name, '/filters', settings.filters.slice(0, -1)),
  ],
  server: ({ name, settings: { state, address, port }, seen }) => [
    setting(patchServer, name, '/state', toggled([...state, ...seen.status])),
    setting(patchServer, name, '/port', anotherPort(port)),
    setting(patchServer, name, '/address', address === '127.0.0.1' ? '127.0.0.2' : '127.0.0.1'),
  ],
  monitor: ({ name, settings: { monitor_interval: interval, connect_timeout: timeout, servers } }) => [
    setting(patchMonitor, name, '/monitor_interval', 1000 * otherThan(interval / 1000)),
    setting(patchMonitor, name, '/connect_timeout', otherThan(timeout)),
    setting(patchMonitor, name, '/servers', servers.slice(0, -1)),
  ],
  // The first two parameters that can be changed.
  filter: ({ name, settings: { parameters } }) =>
    Object.entries(parameters)
      .filter(([, { configurable }]) => configurable)
      .slice(0, 2)
      .map(([parameter, { value }]) => {
        const path = formatPointer(['parameters', parameter, 'value']);
        return setting(patchFilter, name, path, value === '1' ? '2' : '1');
      }),
};

type Run = (snapshot: Snapshot, name: string, within: Context) => Decision;

/** The start and the stop of each kind that has them. A missing kind does not compile. */
const runs: Readonly<Record<KindWith<'start'>, Readonly<Record<'start' | 'stop', Run>>>> = {
  service: { start: startService, stop: stopService },
  monitor: { start: startMonitor, stop: stopMonitor },
};

function kindsOf<Kind extends string>(table: Readonly<Record<Kind, unknown>>): readonly Kind[] {
  return Object.keys(table) as Kind[];
}

function runningTransitions(snapshot: Snapshot, kind: keyof typeof runs): readonly Transitions[] {
  return [...snapshot[`${kind}s`]]
    .filter(({ settings }) => !('drain' in settings))
    .map(({ name, state }) => {
      const run = runs[kind][state === 'started' ? 'stop' : 'start'];
      return [(now, within) => run(now, name, within)];
    });
}

/** The drains of a server in use and of a stopped service. The drain of a started service begins with a stop. */
function drainTransitions(snapshot: Snapshot): readonly Transitions[] {
  const services = [...snapshot.services];
  const links = services.flatMap(({ state, settings }) => (state === 'started' ? settings.servers : []));
  const used = linkedServers(snapshot, links).find(({ settings }) => settings.drain === undefined);
  const idle = services.find(({ state, settings }) => state === 'stopped' && settings.drain === undefined);
  // The setting has the time of its beginning, so the interface must settle the drain as of this time.
  const draining = (collection: 'services' | 'servers', name: string): Transition => {
    return (now) => drain(now, collection, name, {}, context);
  };
  return [
    ...(used === undefined ? [] : [[draining('servers', used.name), ...samples.server(used)]]),
    ...(idle === undefined ? [] : [[draining('services', idle.name), ...samples.service(idle)]]),
  ];
}

/** An effect on a service or monitor, with what it opens, closes or probes. */
function withParts(snapshot: Snapshot, audited: AuditedEffect): AuditedEffect {
  const { services, monitors } = snapshot;
  const { effect } = audited;
  switch (effect.type) {
    case 'service.start':
    case 'service.stop':
      return { ...audited, listeners: services.find(effect.service)?.listeners ?? [] };
    case 'listener.create':
    case 'listener.delete':
      return { ...audited, listeners: services.find(effect.service)?.listeners ?? [] };
    case 'monitor.start': {
      const { servers = [] } = monitors.find(effect.monitor)?.settings ?? {};
      return { ...audited, probed: linkedServers(snapshot, servers).map(({ key }) => key) };
    }
    default:
      return audited;
  }
}

/** Whether an effect begins a drain. @internal */
export function isDrain(effect: Effect): boolean {
  if (effect.type !== 'service.update' && effect.type !== 'server.update') return false;
  return effect.from.drain === undefined && effect.to.drain !== undefined;
}

/** The changes of the settings of a kind: those that the gateway takes, if there are any. */
function patchTransitions(
  snapshot: Snapshot,
  kind: keyof typeof samples,
  abilities: Abilities,
): readonly Transitions[] {
  // The sample takes resources of its kind. The compiler cannot derive that from the kind.
  const sample: (resource: never) => Transitions = samples[kind];
  return [...snapshot[`${kind}s`]].map((resource) => {
    const all = sample(resource as never);
    const taken = all.filter((each) => vetoOn(each(snapshot, context), abilities) === undefined);
    return taken.length > 0 ? taken : all;
  });
}

/** The transition that sets a setting to a value. */
function setting(
  patch: (snapshot: Snapshot, name: string, operations: readonly Operation[], within: Context) => Decision,
  name: string,
  path: string,
  value: Json,
): Transition {
  return (snapshot, within) => patch(snapshot, name, [{ op: 'add', path, value }], within);
}

function otherThan(limit: number | undefined): number {
  return limit === 1 ? 2 : 1;
}

function toggled(status: readonly ServerStatusWord[]): readonly ServerStatusWord[] {
  const others = status.filter((word) => word !== 'maintenance');
  return others.length < status.length ? others : ['maintenance', ...others];
}

/** The largest number of sessions or connections that one effect closes. */
const mostClosed = 1000;

/** The closing of two sessions, and of the sessions of each service. */
function sessionClosings({ services, sessions }: Snapshot): readonly Effect[] {
  const closing = (resource: string, closed: readonly Session[]): Effect => ({
    ...{ type: 'sessions.close', resource },
    sessions: closed.slice(0, mostClosed).map(({ id, connected }) => ({ id, connected })),
  });
  return [
    ...sessions.range(0, 2).map((session) => closing(linkTo('sessions', session.id), [session])),
    ...Array.from(services).flatMap(({ name, key }) => {
      const open = Array.from(sessions).filter(({ service }) => service === key);
      return open.length === 0 ? [] : [closing(linkTo('services', name), open)];
    }),
  ];
}

/** The closing of the first connection to each server, and of all. */
function connectionClosings({ servers, sessions }: Snapshot): readonly Effect[] {
  return Array.from(servers).flatMap(({ name, key: server }): readonly Effect[] => {
    const open = Array.from(sessions).flatMap(({ id: session, connected, connections }) =>
      connections.filter((each) => each.server === server).map(({ id }) => ({ session, connected, id })),
    );
    const about = { type: 'connections.close', resource: linkTo('servers', name), server } as const;
    const [all, first] = [open.slice(0, mostClosed), open.slice(0, 1)];
    return [...(open.length > 1 ? [first] : []), ...(open.length > 0 ? [all] : [])].map((connections) => ({
      ...about,
      connections,
    }));
  });
}

/** The same effect with later connect times. No session of the gateway has these connect times. */
function ofLaterSessions(effect: Effect): Effect | undefined {
  const later = <T extends { readonly connected: number }>(each: T): T => ({
    ...each,
    connected: each.connected + 1,
  });
  if (effect.type === 'sessions.close') return { ...effect, sessions: effect.sessions.map(later) };
  if (effect.type === 'connections.close') return { ...effect, connections: effect.connections.map(later) };
  return undefined;
}

/** The same effect, and before that on a session that no gateway has. */
function withAnother(effect: Effect): Effect | undefined {
  if (effect.type === 'sessions.close') {
    const [first] = effect.sessions;
    const none = first && { ...first, id: noSession };
    return none && { ...effect, sessions: [none, ...effect.sessions.slice(0, mostClosed - 1)] };
  }
  if (effect.type !== 'connections.close') return undefined;
  const [first] = effect.connections;
  const none = first && { ...first, session: noSession };
  return none && { ...effect, connections: [none, ...effect.connections.slice(0, mostClosed - 1)] };
}

const noSession = Number.MAX_SAFE_INTEGER - 1000;

/** The same effect on the connections to another server: none of the connections is there. */
function onAnotherServer(effect: Effect, { servers }: Snapshot): Effect | undefined {
  if (effect.type !== 'connections.close') return undefined;
  const other = Array.from(servers).find(({ key }) => key !== effect.server);
  return other && { ...effect, resource: linkTo('servers', other.name), server: other.key };
}

/** The types of all effects that are audited. @internal */
export function auditedTypes(): readonly Effect['type'][] {
  return [...new Set(sources.flatMap(({ types }) => types))];
}

/** Decides the effects of some types. */
interface Source {
  readonly types: readonly Effect['type'][];
  readonly effects: (snapshot: Snapshot, abilities: Abilities) => readonly AuditedEffect[];
}

/** Each row decides the effects of its types on a snapshot. The order of the rows is the order of the audits. */
const sources: readonly Source[] = [
  ...kindsOf(runs).map((kind) => ({
    types: [`${kind}.start`, `${kind}.stop`] as const,
    effects: (now: Snapshot) =>
      reversibleEffects(now, runningTransitions(now, kind)).map((audited) => withParts(now, audited)),
  })),
  ...kindsOf(samples).map((kind) => ({
    types: [`${kind}.update`] as const,
    effects: (now: Snapshot, abilities: Abilities) =>
      reversibleEffects(now, patchTransitions(now, kind, abilities)),
  })),
  {
    types: ['service.update', 'server.update'],
    effects: (now) => reversibleEffects(now, drainTransitions(now)),
  },
  {
    types: ['sessions.close'],
    effects: (now, abilities) => closingEffects(now, sessionClosings(now), abilities),
  },
  {
    types: ['connections.close'],
    effects: (now, abilities) => closingEffects(now, connectionClosings(now), abilities),
  },
  {
    types: ['logs.flush'],
    effects(now, abilities) {
      const decision = flushLogs(now, context);
      const flushes = closingEffects(now, effectsOf(decision), abilities);
      return decision.outcome === 'accepted' ? flushes.map((each) => ({ ...each, decision })) : flushes;
    },
  },
  ...kindsOf(samples).map((kind) => ({
    types: [`${kind}.delete`, `${kind}.create`] as const,
    effects: (now: Snapshot) => membershipsOf(now, kind),
  })),
  {
    types: ['listener.delete', 'listener.create'],
    effects: (now) =>
      listenerDeletions(now)
        .flatMap((each) => membershipEffects(now, each))
        .map((audited) => withParts(now, audited)),
  },
];
