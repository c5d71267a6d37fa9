/**
 * The client: a method for each endpoint. A refusal is a value. An error is thrown only if the interface gave no
 * answer.
 */
import { endpoints, type Endpoint } from '../http/endpoint.ts';
import type { May, Plan } from '../index.ts';
import { answerOf, requestOf, type Answer } from './message.ts';
import type { BodyOf, EndpointId, OptionsOf, ResultOf } from './endpoints.ts';
import { readEvents, type EventOptions, type EventStreamItem } from './event-stream.ts';
import type { Send } from './send.ts';

/**
 * A list, or the part of a list that was asked for.
 *
 * @public
 */
export interface Elements<R> {
  /** The elements, in the order of the interface. */
  readonly elements: readonly R[];
  /** Number of elements of the whole list. */
  readonly total: number;
}

/**
 * The options of every request.
 *
 * @public
 */
export interface RequestOptions {
  /** Ends the request. A command that has started continues. */
  readonly signal?: AbortSignal;
}

/**
 * The options of reading.
 *
 * @public
 */
export interface ReadOptions<F> extends RequestOptions {
  /** The fields to give; all if left out. */
  readonly fields?: readonly F[];
}

/**
 * The options of a command.
 *
 * @public
 */
export interface CommandOptions extends RequestOptions {
  /** The entity tag that the resource must have; otherwise the command is refused with `precondition-failed`. */
  readonly ifMatch?: string;
  /**
   * The mark of a plan: the command does what that plan showed, or is refused with `precondition-failed`, whose problem
   * has the plan of now.
   */
  readonly mark?: string;
}

/**
 * What a command has done: the answer of a command without a representation, to `prefer: 'representation'`.
 *
 * @public
 */
export interface CommandOutcome {
  /** Whether anything has changed. */
  readonly outcome: 'accepted' | 'unchanged';
  /** Id of the command; left out if nothing was settled. */
  readonly command?: string;
  /** What the command has closed. */
  readonly closed: { readonly sessions: number; readonly connections: number };
}

/**
 * The name of the resource or node that a path names, of a service and its listener, or the id of a session, a command
 * or an entry; nothing if the path has no variable.
 *
 * @internal
 */
type Subject<P> = P extends `/${'commands' | 'history'}/:id${string}`
  ? [id: string]
  : P extends `${string}/:id${string}`
    ? [id: number]
    : P extends `${string}/:name/${string}/:listener`
      ? [name: string, listener: string]
      : P extends `${string}/:${'name' | 'node'}${string}`
        ? [name: string]
        : [];

/** The body, if there is one. @internal */
type Body<B> = [B] extends [undefined] ? [] : [body: B];
/** The name of a field. @internal */
type FieldOf<R> = R extends object ? keyof R & string : never;
/** The selected fields. All of them are the representation itself. @internal */
type Part<R, F> = [FieldOf<R>] extends [F] ? R : Pick<R, F & keyof R>;

/** Reads one resource. @internal */
interface ItemMethod<P, R> {
  /** Reads the resource, and what the caller may do with it now. */
  (
    ...given: [...subject: Subject<P>, options: RequestOptions & { readonly may: true }]
  ): Promise<Answer<R & { readonly may: readonly May[] }>>;
  /** Reads the resource. */
  <const F extends FieldOf<R> = FieldOf<R>>(
    ...given: [...subject: Subject<P>, options?: ReadOptions<F>]
  ): Promise<Answer<Part<R, F>>>;
}

/** Reads a list. @internal */
type ListMethod<P, R, O> = <const F extends FieldOf<R> = FieldOf<R>>(
  ...given: [...subject: Subject<P>, options?: ReadOptions<F> & O]
) => Promise<Answer<Elements<Part<R, F>>>>;

/** Sends a command. @internal */
interface CommandMethod<P, B, R, O> {
  /** Sends the command. The answer says what was done. */
  (
    ...given: [
      ...subject: Subject<P>,
      ...body: Body<B>,
      options: CommandOptions & O & { readonly prefer: 'representation' },
    ]
  ): Promise<Answer<R extends undefined ? CommandOutcome : R>>;
  /** Sends the command. */
  (...given: [...subject: Subject<P>, ...body: Body<B>, options?: CommandOptions & O]): Promise<Answer<R>>;
  /** Says what the command would do, and does nothing. */
  plan(
    ...given: [...subject: Subject<P>, ...body: Body<B>, options?: CommandOptions & O]
  ): Promise<Answer<Plan>>;
}

/** The path of an endpoint. @internal */
type PathOf<Id extends EndpointId> = (typeof endpoints)[Id]['path'];

/**
 * The method of an endpoint.
 *
 * @public
 */
export type MethodOf<Id extends EndpointId> = {
  readonly item: ItemMethod<PathOf<Id>, ResultOf<Id>>;
  readonly probe: ItemMethod<PathOf<Id>, ResultOf<Id>>;
  readonly list: ListMethod<PathOf<Id>, ResultOf<Id>, OptionsOf<Id>>;
  readonly command: CommandMethod<PathOf<Id>, BodyOf<Id>, ResultOf<Id>, OptionsOf<Id>>;
}[(typeof endpoints)[Id]['kind']];

/** The part of an endpoint's name before the dot. @internal */
type GroupOf<Id> = Id extends `${infer G}.${string}` ? G : never;
/** The part of an endpoint's name after the dot. @internal */
type NameOf<Id, G extends string> = Id extends `${G}.${infer N}` ? N : never;

/**
 * A method for each endpoint, such as `client.services.stop('Sales')`, and `events`.
 *
 * @public
 */
export type Client = {
  readonly [G in GroupOf<EndpointId>]: {
    readonly [N in NameOf<EndpointId, G>]: MethodOf<`${G}.${N}` & EndpointId>;
  };
} & {
  /**
   * Follows the events of the gateway. After a break, the stream goes on with the event after the last one.
   *
   * @throws an error whose `cause` is the problem, when the interface refuses the stream
   */
  events(options?: EventOptions): AsyncGenerator<EventStreamItem, void, undefined>;
};

/**
 * Creates a client.
 *
 * @param send - carries the requests: `sendWithFetch(…)`, `sendTo(admin)`, or your own function; `withEtags` can wrap
 *   it
 * @returns the client. Its methods reject if `send` rejects, or if something other than the interface answered, such
 *   as a proxy on the way
 *
 * @example
 * ```ts
 * import { createAdmin, createSnapshot } from 'gateway-admin-core';
 * import { createClient, sendTo } from 'gateway-admin-core/client';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const admin = createAdmin({ snapshot, gateway: { apply: async () => {}, inspect: async () => 'in-place' } });
 * const client = createClient(sendTo(admin));
 * await client.services.stop('Sales');
 * const answer = await client.services.get('Sales', { fields: ['state'] });
 * answer.ok && answer.value.state; // => 'stopped'
 * ```
 *
 * @public
 */
export function createClient(send: Send): Client {
  const methodOf =
    (endpoint: Endpoint, own?: object) =>
    async (...given: unknown[]): Promise<unknown> =>
      answerOf(await send(requestOf(endpoint, given, own)), endpoint.kind);
  const groups: Record<string, Record<string, unknown>> = {};
  for (const [id, endpoint] of Object.entries<Endpoint>(endpoints)) {
    const [group, name] = id.split('.') as [string, string];
    const plan = endpoint.kind === 'command' && { plan: methodOf(endpoint, { dry_run: true }) };
    (groups[group] ??= {})[name] = Object.assign(methodOf(endpoint), plan);
  }
  return {
    ...groups,
    events: (options?: EventOptions) => readEvents(send, options),
  } as unknown as Client;
}
