/**
 * The effects of an audit: those of transitions on the snapshot of the audited gateway.
 */
import {
  deleteListener,
  deleteResource,
  drain,
  linkTo,
  flushLogs,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  resolveLink,
  revert,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  type Context,
  type Decision,
  type Effect,
  type EffectOf,
  type Operation,
  type ServerStatusWord,
  type Session,
  type Snapshot,
  type Transition,
} from '../../index.ts';
import { formatPointer, type Json } from '../../json/index.ts';
import type { SessionIdentity } from './audited-gateway.ts';

/** An effect to audit, and the related effects that the audits need. @internal */
export interface AuditedEffect {
  readonly effect: Effect;
  /** The effect that must come before `effect`: what is created must be gone first. */
  readonly first?: Effect;
  /** The start of the service that `effect` creates. */
  readonly start?: Effect | undefined;
  /** The effect that undoes `effect`. */
  readonly inverse?: Effect | undefined;
  /** Later changes of other settings of the same resource. */
  readonly later?: readonly Effect[];
  /** Effects that change nothing, because the definition of `effect` has these settings. */
  readonly defined?: readonly Effect[];
  /** The sessions that `effect` ends. */
  readonly ends?: readonly SessionIdentity[];
  /** The same effect on sessions that are closed and whose ids were reused by the sessions of `effect`. */
  readonly gone?: Effect | undefined;
  /** The same effect on the same connections, if they were on another server. */
  readonly elsewhere?: Effect | undefined;
  /** The transitions that ask for these effects, with which the interface settles an effect that it can undo. */
  readonly settlements?: ReadonlyMap<Effect, Transition>;
  /** For each session and each connection that `effect` leaves open: the effect that closes this one alone. */
  readonly kept?: readonly Effect[];
}

const context: Context = { now: 0 };

/** The number of sessions that the audits look at. */
const maxSessions = 100;

/** The effects of a snapshot, all of them or those of one type. @internal */
export type AuditedEffects = (only?: Effect['type']) => readonly AuditedEffect[];

/**
 * Gives the effects that transitions on a snapshot ask for; `sessionsEnd` is that of the gateway. A source decides its
 * effects when a law asks for one of their types, and only once: few laws look at other types.
 *
 * @internal
 */
export function auditedEffectsIn(snapshot: Snapshot, sessionsEnd = false): AuditedEffects {
  const known = new Map<Source, readonly AuditedEffect[]>();
  const decided = (source: Source): readonly AuditedEffect[] => {
    const effects = known.get(source) ?? source.effects(snapshot, sessionsEnd);
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
    const defined = definedSettings(snapshot, effect);
    if (effect.type !== 'service.create') return { ...audited, first, settlements: known, defined };
    const starting: Transition = (now, within) => startService(now, effect.service, within);
    // The start of a service that drains ends the drain first.
    const start = effectsOf(starting(snapshot, context)).find(({ type }) => type === 'service.start');
    if (start !== undefined) known.set(start, starting);
    return { ...audited, first, start, settlements: known, defined };
  });
  return [...reversibleEffect(snapshot, [deletion]), ...creations];
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

/** Updates that lead to what a resource has, from what it does not have. */
function definedSettings(snapshot: Snapshot, effect: Effect): readonly Effect[] {
  const [kind = ''] = effect.type.split('.');
  // A gateway need not have the settings of a monitor, which all have defaults.
  if (!(kind in samples) || kind === 'monitor') return [];
  const { [kind as 'service']: key } = effect as EffectOf<'service.create'>;
  const thing = [...snapshot[`${kind as 'service'}s`]].find((each) => each.key === key);
  // The sample takes resources of its kind. The compiler cannot derive that from the kind.
  const sample = samples[kind as keyof typeof samples] as (resource: unknown) => Transitions;
  return sample(thing).flatMap((transition) => {
    const decision = transition(snapshot, context);
    const [event] = decision.outcome === 'accepted' ? decision.events : [];
    if (event === undefined || decision.outcome !== 'accepted') return [];
    const back = effectsOf(revert(event)(decision.next, context));
    // What the definition does not have says nothing about a gateway that does not know the setting.
    return back.filter((each) => 'to' in each && Object.values(each.to).flat().length > 0);
  });
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
  return [{ effect, settlements, inverse: effectOf(revert(event)), later }];
}

function closingEffects(
  snapshot: Snapshot,
  effects: readonly Effect[],
  sessionsEnd: boolean,
): readonly AuditedEffect[] {
  return effects.map((effect) => ({
    effect,
    ends: endedBy(effect, sessionsEnd),
    gone: ofLaterSessions(effect),
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
    (now, within) => {
      const servers = settings.servers.slice(0, -1);
      return patchService(now, name, [{ op: 'replace', path: '/servers', value: servers }], within);
    },
  ],
  server: ({ name, settings: { state, port = 0 }, seen }) => [
    setting(patchServer, name, '/state', toggled([...state, ...seen.status])),
    setting(patchServer, name, '/port', (port % 65535) + 1),
  ],
  monitor: ({ name, settings: { monitor_interval: interval, connect_timeout: timeout } }) => [
    setting(patchMonitor, name, '/monitor_interval', 1000 * otherThan(interval / 1000)),
    setting(patchMonitor, name, '/connect_timeout', otherThan(timeout)),
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
  const used = services
    .flatMap(({ state, settings }) => (state === 'started' ? settings.servers : []))
    .map((link) => resolveLink(snapshot, link))
    .find((found) => found?.kind === 'server' && found.server.settings.drain === undefined);
  const idle = services.find(({ state, settings }) => state === 'stopped' && settings.drain === undefined);
  // The setting has the time of its beginning, so the interface must settle the drain as of this time.
  const draining = (collection: 'services' | 'servers', name: string): Transitions => [
    (now) => drain(now, collection, name, {}, context),
  ];
  return [
    ...(used?.kind === 'server' ? [draining('servers', used.server.name)] : []),
    ...(idle === undefined ? [] : [draining('services', idle.name)]),
  ];
}

/** Whether an effect begins a drain. @internal */
export function isDrain(effect: Effect): boolean {
  if (effect.type !== 'service.update' && effect.type !== 'server.update') return false;
  return effect.from.drain === undefined && effect.to.drain !== undefined;
}

function patchTransitions(snapshot: Snapshot, kind: keyof typeof samples): readonly Transitions[] {
  // The sample takes resources of its kind. The compiler cannot derive that from the kind.
  const sample: (resource: never) => Transitions = samples[kind];
  return [...snapshot[`${kind}s`]].map((resource) => sample(resource as never));
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

/** The closing of the connections to each server. */
function connectionClosings({ servers, sessions }: Snapshot): readonly Effect[] {
  return Array.from(servers).flatMap(({ name, key: server }): readonly Effect[] => {
    const open = Array.from(sessions).flatMap(({ id: session, connected, connections }) =>
      connections.filter((each) => each.server === server).map(({ id }) => ({ session, connected, id })),
    );
    const resource = linkTo('servers', name);
    const connections = open.slice(0, mostClosed);
    return open.length === 0 ? [] : [{ type: 'connections.close', resource, server, connections }];
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

/** The same effect on the connections to another server: none of the connections is there. */
function onAnotherServer(effect: Effect, { servers }: Snapshot): Effect | undefined {
  if (effect.type !== 'connections.close') return undefined;
  const other = Array.from(servers).find(({ key }) => key !== effect.server);
  return other && { ...effect, resource: linkTo('servers', other.name), server: other.key };
}

/** Decides the effects of some types. */
interface Source {
  readonly types: readonly Effect['type'][];
  readonly effects: (snapshot: Snapshot, sessionsEnd: boolean) => readonly AuditedEffect[];
}

/** Each row decides the effects of its types on a snapshot. The order of the rows is the order of the audits. */
const sources: readonly Source[] = [
  ...kindsOf(runs).map((kind) => ({
    types: [`${kind}.start`, `${kind}.stop`] as const,
    effects: (now: Snapshot) => reversibleEffects(now, runningTransitions(now, kind)),
  })),
  ...kindsOf(samples).map((kind) => ({
    types: [`${kind}.update`] as const,
    effects: (now: Snapshot) => reversibleEffects(now, patchTransitions(now, kind)),
  })),
  {
    types: ['service.update', 'server.update'],
    effects: (now) => reversibleEffects(now, drainTransitions(now)),
  },
  {
    types: ['sessions.close'],
    effects: (now, sessionsEnd) => closingEffects(now, sessionClosings(now), sessionsEnd),
  },
  {
    types: ['connections.close'],
    effects: (now, sessionsEnd) => closingEffects(now, connectionClosings(now), sessionsEnd),
  },
  {
    types: ['logs.flush'],
    effects: (now, sessionsEnd) => closingEffects(now, effectsOf(flushLogs(now, context)), sessionsEnd),
  },
  ...kindsOf(samples).map((kind) => ({
    types: [`${kind}.delete`, `${kind}.create`] as const,
    effects: (now: Snapshot) => deletions(now, kind).flatMap((each) => membershipEffects(now, each)),
  })),
  {
    types: ['listener.delete', 'listener.create'],
    effects: (now) => listenerDeletions(now).flatMap((each) => membershipEffects(now, each)),
  },
];
