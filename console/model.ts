/**
 * The model: what the page knows of the gateway, and since when. It changes by messages alone.
 */
import type { ResultOf, ShownEvent, SessionSearch } from 'gateway-admin-core/client';
import type { May, Problem } from 'gateway-admin-core';

/** The lists that the page shows, by the name of their group in the client. */
export const collections = [
  'services',
  'servers',
  'monitors',
  'filters',
  'users',
  'fleet',
  'alerts',
  'commands',
] as const;

export type Collection = (typeof collections)[number];

/** An element of a list. */
export type Row<C extends Collection> = ResultOf<`${C}.list`>;

/** A list as it was read. Times are milliseconds of the page's own clock. */
interface Reading<R> {
  readonly elements: readonly R[];
  /** The number of elements that there are; the page reads a bounded number of them. */
  readonly total: number;
  readonly at: number;
}

/** The fields of a session that the page reads. */
export const sessionFields = [
  'id',
  'user',
  'address',
  'service',
  'connected',
  'idle',
  'state',
  'etag',
] as const;

/** A session as the page shows it. */
export type Session = Pick<ResultOf<'sessions.get'>, (typeof sessionFields)[number]>;

/** The sessions that a person looks at: those from one position up to before another. */
export interface WantedSessions {
  readonly search: SessionSearch;
  readonly first: number;
  readonly end: number;
}

/** The wanted sessions as they were read. */
export interface SessionPart extends Omit<WantedSessions, 'end'> {
  readonly rows: readonly Session[];
  /** Number of all sessions that the search finds. */
  readonly total: number;
  /** When the part was read; `undefined` if nothing was read yet. */
  readonly at: number | undefined;
  /** Why the interface refuses the search; empty if it does not. */
  readonly fault: string;
}

/** What was seen of one counter over the life of the page, for a spark line. */
export type Trail = readonly number[];

export interface SeenEvent {
  readonly id: string;
  readonly event: ShownEvent;
}

/** Whether the page may read: it has not tried, it may, or the person must log in first. */
type Access =
  | { readonly state: 'opening' }
  | { readonly state: 'open' }
  /** Without a problem, the person has not tried to log in. */
  | { readonly state: 'closed'; readonly problem?: Problem };

/** The gateway, and what the person may do with it now. */
export type GatewayOfCaller = ResultOf<'interface.get'> & { readonly may: readonly May[] };

/** Whether the interface knows the caller, or wants no log-in. Otherwise it shows only whether it is ready. */
export function isOfCaller(gateway: Partial<GatewayOfCaller>): gateway is GatewayOfCaller {
  return gateway.may !== undefined;
}

/** Whether another log-in may be the answer to a refusal. */
export function isOfLogIn({ code }: Problem): boolean {
  return code === 'unauthenticated' || code === 'forbidden';
}

export interface Model {
  readonly access: Access;
  readonly gateway?: GatewayOfCaller;
  readonly lists: { readonly [C in Collection]?: Reading<Row<C>> };
  /** Open sessions of each service, by name. */
  readonly trails: ReadonlyMap<string, Trail>;
  /** The sessions that were looked at last. */
  readonly sessions?: SessionPart;
  /** The stream of events: open or not, and since when. */
  readonly stream: { readonly state: 'connecting' | 'open' | 'waiting'; readonly since: number };
  /** Why the last reading has failed, and since when; left out if it has not. */
  readonly fault?: { readonly detail: string; readonly since: number };
  /** Since when a reading waits for its answer; left out if none does. */
  readonly asking?: number;
  /** Why the page has read everything anew; left out if it has not. */
  readonly renewal?: { readonly why: 'gap' | 'restart'; readonly at: number };
  /** The last events, the newest first. */
  readonly events: readonly SeenEvent[];
}

/** What the stream of events tells: how it is, that events are missing, or an event. */
export type Told =
  | { readonly type: 'stream'; readonly state: Model['stream']['state'] }
  | { readonly type: 'gap'; readonly id: string; readonly isRestart: boolean }
  | { readonly type: 'event'; readonly id: string; readonly event: ShownEvent };

export type Message =
  | { readonly type: 'closed'; readonly problem?: Problem }
  | { readonly type: 'gateway'; readonly gateway: GatewayOfCaller }
  | {
      readonly type: 'list';
      readonly collection: Collection;
      readonly elements: readonly object[];
      readonly total: number;
      readonly at: number;
    }
  | { readonly type: 'sessions'; readonly part: SessionPart }
  | { readonly type: 'asking'; readonly at: number }
  | { readonly type: 'failed'; readonly detail: string; readonly at: number }
  | (Told & { readonly at: number });

const mostEvents = 200;
const longestTrail = 60;

export function createModel(now: number): Model {
  return {
    access: { state: 'opening' },
    lists: {},
    trails: new Map(),
    stream: { state: 'connecting', since: now },
    events: [],
  };
}

/** The model after a message. */
export function reduce(model: Model, message: Message): Model {
  switch (message.type) {
    case 'closed': {
      const { type: _type, ...why } = message;
      return { ...model, access: { state: 'closed', ...why } };
    }
    case 'gateway':
      return { ...working(model), access: { state: 'open' }, gateway: message.gateway };
    case 'list':
      return withList(working(model), message);
    case 'sessions':
      return { ...working(model), sessions: message.part };
    case 'asking':
      return { ...model, asking: message.at };
    case 'failed': {
      const { detail, at } = message;
      const { asking: _asking, ...rest } = model;
      return { ...rest, fault: { detail, since: model.fault?.since ?? at } };
    }
    case 'stream': {
      const { state, at } = message;
      // Between two attempts the stream is as broken as before.
      if (state === model.stream.state || (state === 'connecting' && model.stream.state === 'waiting'))
        return model;
      return { ...model, stream: { state, since: at } };
    }
    case 'event': {
      const { id, event } = message;
      // A tab that has taken over the stream may tell it again.
      if (model.events.some((each) => each.id === id)) return model;
      return { ...model, events: [{ id, event }, ...model.events].slice(0, mostEvents) };
    }
    case 'gap':
      return { ...model, renewal: { why: message.isRestart ? 'restart' : 'gap', at: message.at } };
  }
}

function working({ fault: _fault, asking: _asking, ...model }: Model): Model {
  return model;
}

function withList(model: Model, message: Extract<Message, { readonly type: 'list' }>): Model {
  const { collection, elements, total, at } = message;
  const lists = { ...model.lists, [collection]: { elements, total, at } };
  if (collection !== 'services') return { ...model, lists };
  const trails = new Map(
    (elements as readonly Row<'services'>[]).map(({ name, current_connections: count }) => [
      name,
      [...(model.trails.get(name) ?? []), count].slice(-longestTrail),
    ]),
  );
  return { ...model, lists, trails };
}

/** The elements of a list; none while the list was not read. */
export function rowsOf<C extends Collection>(
  { lists }: Pick<Model, 'lists'>,
  collection: C,
): readonly Row<C>[] {
  return lists[collection]?.elements ?? [];
}
