/**
 * Draining: a service or server takes no new sessions, and what is open ends by itself. At a deadline, the rest is
 * closed, or the drain ends.
 *
 * A drain is a setting, so its events, effects, undo, journal and history are those of settings. No patch writes it. A
 * service drains by its stop; a drained server gets no new sessions from the gateway.
 */
import * as z from 'zod/mini';

import type { Entity, Named, Singular } from '../../core/collection.ts';
import {
  sequenceFor,
  unchanged,
  type Context,
  type DecisionOf,
  type EffectBase,
  type EffectTable,
  type EventBase,
  type EventHead,
  type EventTable,
  type TransitionOf,
} from '../../core/decision.ts';
import * as shape from '../../core/shape.ts';
import { plainCommand } from '../../http/route.ts';
import { ok, problemOf } from '../../problem.ts';
import { formatInstant, parseInstant, type TimeFormat } from '../../core/time.ts';
import { sameJson, type Json } from '../../json/value.ts';
import {
  drainingIn,
  drains,
  find,
  linkOf,
  linkOfKey,
  openOn,
  type ConfiguredEntity,
  type DrainingResource,
  type State,
} from '../../snapshot/state.ts';
import type { Drain, DrainOptions } from './drain-setting.ts';
import type { About, Draining } from './kind.ts';
import { atResource, commandRoute, endpointOf, type KindRoute } from './route.ts';

/**
 * A drain in a response.
 *
 * @public
 */
export interface DrainRepresentation {
  /** `drained` once nothing is open, and the host has reported everything that is open. */
  readonly state: 'draining' | 'drained';
  /** When the drain began: ISO 8601 with a numeric offset. */
  readonly since: string;
  /** The deadline: ISO 8601 with a numeric offset; left out if there is none. */
  readonly until?: string;
  /** What happens at the deadline. */
  readonly then?: 'close' | 'resume';
  /** Why, in the words of an operator. */
  readonly reason?: string;
  /** Who has asked for the drain. */
  readonly by?: string;
  /** The state of the service that the end of the drain brings back. A server has none. */
  readonly from: 'started' | 'stopped';
  /** Number of sessions that are left. */
  readonly sessions: number;
  /** Number of backend connections that are left. */
  readonly connections: number;
}

/** What happens at the deadline. */
const then = z.enum(['close', 'resume']);

/** The longest time until a deadline, in seconds: 365 days. */
const longestDrain = 31_536_000;

const asked = {
  timeout: z.exactOptional(z.int().check(z.minimum(1), z.maximum(longestDrain))),
  then: z.exactOptional(then),
  reason: z.exactOptional(shape.reason),
};

/** The checks that `timeout` and `then` are given together, or neither. */
const whole = together('timeout', 'then');

function together(one: keyof Drain, other: keyof Drain): readonly ReturnType<typeof needs>[] {
  return [needs(one, other), needs(other, one)];
}

function needs(given: keyof Drain, missing: keyof Drain): ReturnType<typeof shape.memberIf> {
  return shape.memberIf(missing, `with ${given}`, (value) => value[given] !== undefined);
}

/** Shape of the body of a request to drain. @internal */
export const drainOptions = z.strictObject(asked).check(...whole);

const ordered = {
  since: shape.instant,
  timeout: asked.timeout,
  until: z.exactOptional(shape.instant),
  then: asked.then,
  reason: asked.reason,
  by: z.exactOptional(z.string()),
};
const consistent = [...whole, ...together('timeout', 'until')];

const shown = {
  state: z.enum(['draining', 'drained']),
  since: z.string(),
  until: z.exactOptional(z.string()),
  then: asked.then,
  reason: asked.reason,
  by: ordered.by,
};
const left = { sessions: shape.count, connections: shape.count };
const from = z.enum(['started', 'stopped']);
/** The members of a drain in a response, in order. */
const order = Object.keys({ ...shown, from, ...left });
const rules = { setting: true, patched: false, optional: true } as const;

/** The row of a drain in the table of fields of a server. @internal */
export const serverDrainField = {
  ...rules,
  shape: z.strictObject(ordered).check(...consistent),
  shownAs: z.strictObject({ ...shown, ...left }),
} as const;

/** The row of a drain in the table of fields of a service, which drains by its stop. @internal */
export const serviceDrainField = {
  ...rules,
  shape: z.strictObject({ ...ordered, from }).check(...consistent),
  shownAs: z.strictObject({ ...shown, from, ...left }),
  rule: z.refine<Readonly<Record<string, unknown>>>(
    ({ drain, state }) => drain === undefined || state === 'stopped',
    { path: ['state'], error: 'must be stopped while the service drains' },
  ),
} as const;

/** A resource that drains, or can drain. @internal */
export type Drainable = ConfiguredEntity & {
  /** Left out for a kind that does not start or stop. */
  readonly state?: 'started' | 'stopped';
  readonly settings: { readonly drain?: AnyDrain };
};

/** The drain of a service or server. @internal */
export type AnyDrain = Omit<Drain, 'from'> & Partial<Pick<Drain, 'from'>>;

/** What is left on a resource that drains. */
type Left = Pick<DrainRepresentation, 'state' | 'sessions' | 'connections'>;

/**
 * Counts what is left on a resource that drains. The resource is drained when nothing is left, and the host has
 * reported everything that is open.
 */
function leftOn(snapshot: State, collection: string, key: string): Left {
  const open = openOn(snapshot, collection, key);
  const isOver = snapshot.sessionsIncomplete !== true && open.sessions + open.connections === 0;
  return { state: isOver ? 'drained' : 'draining', ...open };
}

/** What drains, with what is left. @internal */
export function drainsIn(snapshot: State): readonly (Left & { readonly resource: string })[] {
  return drainingIn(snapshot).map(({ collection, key }) => ({
    resource: linkOfKey(snapshot, collection, key),
    ...leftOn(snapshot, collection, key),
  }));
}

/**
 * The number of sessions of a service, or of connections to a server, that a deadline with `close` closes. @internal
 */
export function leftToClose(snapshot: State, { collection, key }: DrainingResource): number {
  const { sessions, connections } = openOn(snapshot, collection, key);
  return collection === 'services' ? sessions : connections;
}

/** The drain of a service or server in a response. */
type AnyShown = Omit<DrainRepresentation, 'from'> & Partial<Pick<DrainRepresentation, 'from'>>;

/** Shows the drain of a resource; `undefined` if there is none. @internal */
export function representDrain(
  snapshot: State,
  collection: string,
  thing: Drainable,
  { iso8601 }: TimeFormat,
): AnyShown | undefined {
  const { drain } = thing.settings;
  if (drain === undefined) return undefined;
  const { since, until } = drain;
  const time = (text: string): string => iso8601(parseInstant(text) ?? 0);
  const members: Readonly<Record<string, unknown>> = {
    ...drain,
    ...leftOn(snapshot, collection, thing.key),
    since: time(since),
    until: until && time(until),
  };
  // An undo can put a member back in another place. In the order of the table, one version has one text.
  const given = order.filter((name) => members[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, members[name]])) as unknown as AnyShown;
}

/**
 * The event of a drain: nothing is left. A later session or connection makes the resource `draining` again. @internal
 */
export type DrainEvent<K extends string> = About<K> & EventHead<`${K}.drained`>;

/**
 * Creates the row of the event of a drain. The event changes nothing, because the state follows from the counts.
 * @internal
 */
export function drainEvents<S extends State, K extends Singular>({
  singular,
}: Named<Entity, K>): EventTable<S, DrainEvent<K>> {
  const row = { evolve: (snapshot: S) => snapshot };
  return { [`${singular}.drained`]: row } as unknown as EventTable<S, DrainEvent<K>>;
}

/** The events of what is drained after a change, and was not before. @internal */
export function drainedOf(
  changed: readonly DrainingResource[],
  before: State,
  next: State,
  at: number,
): readonly EventBase[] {
  return changed
    .filter((place) => isDrained(next, place) && !isDrained(before, place))
    .map(({ collection, key }) => {
      const singular = collection.slice(0, -1);
      const resource = linkOfKey(next, collection, key);
      return Object.freeze({ type: `${singular}.drained`, at, resource, [singular]: key });
    });
}

function isDrained(snapshot: State, { collection, key }: DrainingResource): boolean {
  return drains(find(snapshot, { collection }, key)) && leftOn(snapshot, collection, key).state === 'drained';
}

/** How the drains of a kind begin and end. */
interface Steps<S extends State, T extends Drainable> {
  /** Every event that a drain of this kind has. */
  readonly events: EventTable<S, EventBase>;
  /** Every effect that a drain of this kind has. */
  readonly effects: EffectTable<EffectBase>;
  readonly collection: string;
  /** Decides other settings for a resource. */
  update(this: void, snapshot: S, thing: T, settings: T['settings'], context: Context): DecisionOf<S>;
  /** Starts or stops a resource without a look at its drain; left out for a kind that does neither. */
  move?(this: void, command: 'start' | 'stop', snapshot: S, thing: T, context: Context): DecisionOf<S>;
}

/** Creates the drains of a kind. @internal */
export function drainingOf<S extends State, T extends Drainable>(steps: Steps<S, T>): Draining<S, T> {
  const { events, effects, collection, update, move } = steps;
  const combine = sequenceFor(events, effects, (problem) => problem);
  const changing = (thing: T, drain?: AnyDrain): TransitionOf<S> => {
    const { drain: _drain, ...rest } = thing.settings;
    const settings = drain === undefined ? rest : { ...rest, drain: Object.freeze(drain) };
    return (snapshot, context) => update(snapshot, thing, settings, context);
  };
  const moving =
    (command: 'start' | 'stop', thing: T): TransitionOf<S> =>
    (snapshot, context) =>
      move?.(command, snapshot, thing, context) ?? unchanged(snapshot, []);
  const ending = (thing: T, from: AnyDrain['from']): TransitionOf<S> =>
    combine([changing(thing), ...(from === 'started' ? [moving('start', thing)] : [])]);
  return {
    begin(snapshot, thing, options, context) {
      const { drain } = thing.settings;
      const next = nextDrain(drain, options, context, drain?.from ?? thing.state);
      const isEqual = drain !== undefined && sameJson(withoutActor(drain), withoutActor(next));
      if (isEqual) return unchanged(snapshot, [linkOf(collection, thing)]);
      // Stopped first: an undo then ends the drain before it starts the service.
      return combine([moving('stop', thing), changing({ ...thing, state: 'stopped' }, next)])(
        snapshot,
        context,
      );
    },
    end: (snapshot, thing, context) => ending(thing, thing.settings.drain?.from)(snapshot, context),
    instead(command, snapshot, thing, context) {
      const { drain } = thing.settings;
      if (drain === undefined) return undefined;
      const decide =
        command === 'start' ? ending(thing, 'started') : changing(thing, { ...drain, from: 'stopped' });
      return decide(snapshot, context);
    },
  };
}

/**
 * A service as an event leaves it. What starts a service ends its drain, also if the drain began after the decision.
 *
 * @internal
 */
export function undrained<T extends Drainable>(service: T): T {
  const { drain, ...settings } = service.settings;
  if (drain === undefined || service.state === 'stopped') return service;
  return { ...service, settings: Object.freeze(settings) };
}

/** The endpoints of drains: `PUT /<kind>/:name/drain` and `…/resume`, and the same paths in the plural. @internal */
export function drainRoutes<S extends State, T extends Drainable>(
  named: Named<T, 'service' | 'server'>,
  draining: Draining<S, T>,
): readonly KindRoute[] {
  const { collection, singular } = named;
  const shared = {
    ...plainCommand,
    isAddition: true,
    role: 'operator',
    ...atResource(named),
  } as const;
  const aliasOf = (command: string): readonly string[] => [`/${collection}/:name/${command}`];
  return [
    {
      ...shared,
      ...endpointOf(named, 'drain'),
      aliases: aliasOf('drain'),
      mediaTypes: ['application/json'],
      mayLackBody: true,
      summary: `Drains a ${singular}: no new sessions, and what is open ends by itself, or at a deadline.`,
      bodyShape: drainOptions,
      command(_parameters, body) {
        const parsed = shape.parseShape(drainOptions, body);
        if (!parsed.ok) return { ok: false, problem: problemOf(parsed.faults) };
        const options = parsed.value as DrainOptions;
        return ok({
          decide: (snapshot: S, thing: T, context) => draining.begin(snapshot, thing, options, context),
          asked: options,
        });
      },
    },
    commandRoute<T>({
      ...shared,
      ...endpointOf(named, 'resume'),
      aliases: aliasOf('resume'),
      summary: `Ends the drain of a ${singular}.`,
      decide: (snapshot: S, thing, context) => draining.end(snapshot, thing, context),
    }),
  ];
}

function withoutActor({ by: _by, ...drain }: AnyDrain): Json {
  return drain;
}

function nextDrain(
  present: AnyDrain | undefined,
  { timeout, then, reason }: DrainOptions,
  { now, actor }: Context,
  from: Drain['from'] | undefined,
): AnyDrain {
  return {
    since: present?.since ?? formatInstant(now),
    ...(timeout === undefined ? {} : { timeout, until: formatInstant(now + timeout * 1000), then }),
    ...(reason === undefined ? {} : { reason }),
    ...(actor === undefined ? {} : { by: actor }),
    ...(from === undefined ? {} : { from }),
  };
}
