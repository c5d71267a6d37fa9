/**
 * Routes: the endpoints of the interface as data.
 *
 * The table of routes is the single source for dispatch, the `Allow` header, the endpoint pages and the contract tests.
 */
import type * as z from 'zod/mini';

import type { Context } from '../core/decision.ts';
import { nameKey } from '../core/name.ts';
import type { Note } from '../core/note.ts';
import type { SecretPorts } from '../core/secret.ts';
import type { Entity, Named } from '../core/collection.ts';
import type { Validator } from '../core/content.ts';
import type { Json } from '../json/value.ts';
import type { Problem, Result } from '../problem.ts';

/**
 * The variable segments of a path, by name and percent-decoded once: `{ name: 'Sales' }` for `/services/:name`.
 *
 * @public
 */
export type PathParameters = Readonly<Record<string, string>>;

/**
 * The least role that may use an endpoint: `reader` for reading, `operator` for starting, stopping, closing,
 * maintenance and flushing, `administrator` for everything else.
 *
 * @see docs/spec-choices.md 32.
 *
 * @public
 */
export type Role = 'reader' | 'operator' | 'administrator';

/** The roles: each may do what the ones before it may do. @internal */
export const roles = ['reader', 'operator', 'administrator'] as const satisfies readonly Role[];

/** The methods that a route can have. @internal */
type Method = 'GET' | 'PATCH' | 'PUT' | 'POST' | 'DELETE';

/**
 * The description of one endpoint.
 *
 * @public
 */
export interface Route {
  /**
   * `item` reads one resource, `list` reads a list, `command` makes a change, `stream` follows the events until the
   * client leaves, `probe` answers everybody with its status alone.
   */
  readonly kind: 'item' | 'list' | 'command' | 'stream' | 'probe';
  /** Stable name, such as `services.stop`. */
  readonly id: string;
  /** Method. Every `GET` also serves `HEAD`, and every path serves `OPTIONS`. */
  readonly method: Method;
  /** Canonical path; a segment that starts with `:` is variable. */
  readonly path: string;
  /** Other paths of the same endpoint. */
  readonly aliases: readonly string[];
  /**
   * The least role that may use the endpoint, for `createRoles` and for a rule of the host. A `probe` needs no log-in.
   */
  readonly role: Role;
  /** Query parameters that the endpoint accepts, besides those of `search`. */
  readonly query: readonly ('fields' | 'range' | 'may' | 'dry_run' | 'mark' | 'after' | 'types')[];
  /**
   * Query parameters with a value, each given once. Those of a list, such as `user`, select its elements: an element
   * must have all given values. Those of a command say more about what to do. Empty if the endpoint has no such
   * parameter.
   */
  readonly search: readonly string[];
  /** One sentence that describes the endpoint. */
  readonly summary: string;
  /** Whether the Gateway Administration REST Interface does not describe the endpoint; left out if it does. */
  readonly isAddition?: true;
  /** Field names that the `fields` parameter may select; empty if the endpoint has no such parameter. */
  readonly fields: readonly string[];
  /** Media types of the body, the advertised one first; empty if the endpoint ignores the body. */
  readonly mediaTypes: readonly string[];
  /** A request without a body counts as one with `{}`; left out if it is a fault. */
  readonly mayLackBody?: true;
  /** The read-only mode does not refuse the endpoint. A command that stands for others works if all of them do. */
  readonly worksReadOnly?: true;
}

/** What a writing route says about its body and its answers, for documentation and tests. */
interface Writing {
  /** Shape of the body; left out for a JSON Patch, which follows from the fields, and if the route ignores the body. */
  readonly bodyShape?: z.core.$ZodType;
  /** Shape of the body of a 200. There if `answer` is. */
  readonly answerShape?: z.core.$ZodType;
}

/** How a route finds the resource in its path. */
interface Finding<S, T, R = unknown> {
  /**
   * Finds the resource that the path names, in the given snapshot. Refused with a problem if there is none.
   *
   * @param rendering - given to a reading route: what belongs to the interface is in no snapshot
   */
  find(this: void, snapshot: S, parameters: PathParameters, rendering?: R): Result<T>;
  /** Link of the resource. Commands on the same resource wait for each other. */
  link(this: void, thing: T): string;
  /** What the entity tag of the representation says. Left out if the representation shows live figures. */
  validator?(this: void, snapshot: S, thing: T): Validator;
  /** The list whose tag the route compares or answers with: its digests are made before. Left out without a list. */
  readonly ofList?: Pick<Named<Entity>, 'collection'>;
  /**
   * The entity tag of a resource without a validator, for conditions alone: tells the resource from a later one with
   * its path. The representation changes and the tag stays, so the tag leads to no 304.
   */
  conditionTag?(this: void, thing: T): string;
}

/** How a reading route shows the resource. */
interface Showing {
  /** Shape of the representation, or of one element of the list. */
  readonly shape: z.core.$ZodType;
  /** Other names that the `fields` parameter may use, each with its field. */
  readonly fieldAliases?: Readonly<Record<string, string>>;
}

/** A route that reads one resource. @internal */
export interface ItemRoute<S, R, T = unknown> extends Route, Finding<S, T, R>, Showing {
  readonly kind: 'item';
  readonly method: 'GET';
  /** The fields that everybody may read, without a log-in. Left out if there are none. */
  readonly publicFields?: readonly string[];
  /** Gives the representation. */
  read(this: void, snapshot: S, thing: T, rendering: R): object;
}

/** A list that renders only the requested elements. @internal */
export interface Listing {
  /** Number of elements. */
  readonly total: number;
  /** How a page begins after an element; left out for a list whose pages begin at a position alone. */
  readonly after?: {
    /** The number of elements up to the one that the request names, which may be gone; 0 if it names none. */
    readonly start: number;
    /** The id of the element at a position of the list. */
    readonly idAt: (this: void, position: number) => number;
  };
  /** To render an element takes long, so each turn of the event loop renders a few elements only. */
  readonly isSlow?: true;
  /** Renders at most `length` elements, from `offset` on. */
  readonly slice: (this: void, offset: number, length: number) => readonly Json[];
  /** The things of which `slice` renders the elements, one each; left out if the elements have no revisions. */
  readonly things?: Things;
}

/** The things that a list shows. @internal */
export interface Things<T extends object = object> {
  /** At most `length` things, from `offset` on. */
  readonly range: (this: void, offset: number, length: number) => readonly T[];
  /** The revision of the last change of anything that the element shows. */
  readonly revision: (this: void, thing: T) => number;
  /** Renders the element of a thing. */
  readonly represent: (this: void, thing: T) => object;
  /** What renders the elements: the same object for every list that shows the same of a thing. */
  readonly by: object;
}

/** The values of the search parameters of a request, by name; at least one. @internal */
export type SearchValues = Readonly<Record<string, string>>;

/**
 * A list whose elements are still to be found, because no index has them. `C` is an element before rendering. @internal
 */
export interface Search<C = unknown> {
  /** Number of candidates. */
  readonly candidates: number;
  /** The wanted elements among at most `length` candidates, from `offset` on. */
  readonly wanted: (this: void, offset: number, length: number) => readonly C[];
  /** Gives the list of the elements found. */
  readonly listing: (this: void, found: readonly C[]) => Listing;
}

/** A route that reads a list. @internal */
export interface ListRoute<S, R, T = unknown> extends Route, Finding<S, T>, Showing {
  readonly kind: 'list';
  readonly method: 'GET';
  /** Gives the whole list. */
  list(this: void, snapshot: S, thing: T, rendering: R): Listing;
  /** Gives the list of the elements that have the values. Left out if the route has no search parameters. */
  select?(this: void, snapshot: S, thing: T, rendering: R, values: SearchValues): Listing | Search;
}

/** Another endpoint that a command stands for: who may not use that one may not send the command. @internal */
export interface Use {
  readonly route: Route;
  readonly parameters: PathParameters;
}

/** A command from a request. The resource in the path is looked up later, in the turn of the command. @internal */
interface AskedCommand<S, D, R, T = unknown> {
  /** Decides the command about the resource that the path names. */
  decide(this: void, snapshot: S, thing: T, context: Context): D;
  /** What the body and the query ask for, with secrets sealed; left out without either. For the mark of a plan. */
  readonly asked?: object;
  /** The resource that the command creates, at the endpoint that shows it; left out if it creates none. */
  readonly creates?: { readonly route: ItemRoute<S, R>; readonly parameters: PathParameters };
  /** What the plan says besides the notes that follow from its decision; left out if there is nothing. */
  readonly notes?: readonly Note[];
  /** Gives the error for the host if the command leads to a state that needs a log-in, and nobody has to log in. */
  errorIfOpen?(this: void, snapshot: S): Error | undefined;
}

/**
 * Whether a caller may use a command now, as `?may=true` shows: the command would be done, or would be refused with
 * `code` and `detail`. A command with a body, or with criteria, can still be refused for its contents.
 *
 * @public
 */
export type May =
  | {
      /** Name of the command, such as `services.stop`. */
      readonly id: string;
      /** Whether the command is possible. */
      readonly allowed: false;
      /** The code of the problem that the command would be refused with; left out if the command is possible. */
      readonly code: string;
      /** Why the command would be refused, and what to do; left out if the command is possible. */
      readonly detail: string;
    }
  | {
      /** Name of the command. */
      readonly id: string;
      /** The command is possible. */
      readonly allowed: true;
    };

/** What a route has that says no more: one path, and nothing else of a request counts. @internal */
export const plainRoute = { aliases: [], query: [], search: [], fields: [], mediaTypes: [] } as const;

/** The same for a command, which can be planned. @internal */
export const plainCommand = { ...plainRoute, query: ['dry_run', 'mark'] } as const;

/** A route that makes a change. `T` is the resource in the path; `If-Match` is compared with its content. @internal */
export interface CommandRoute<S, D, R, T = unknown> extends Route, Finding<S, T>, Writing {
  readonly kind: 'command';
  readonly method: Exclude<Method, 'GET'>;
  /** The endpoints that a command stands for at this moment; left out if it stands for itself alone. */
  uses?(this: void, rendering: R, parameters: PathParameters): readonly Use[];
  /** What the tag of the list says that showed a deleted resource. Only for a command that deletes. */
  validatorWhenGone?(this: void, snapshot: S, parameters: PathParameters): Validator | undefined;
  /**
   * Gives the command that a request asks for. Checks the form of the body, and replaces each secret by hashed or
   * sealed text before the core gets the body.
   *
   * @param values - the values of the search parameters
   */
  command(
    this: void,
    parameters: PathParameters,
    body: Json,
    secrets: SecretPorts,
    rendering: R,
    values: Partial<SearchValues>,
  ): Promise<Result<AskedCommand<S, D, R, T>>> | Result<AskedCommand<S, D, R, T>>;
  /** Gives the body of a 200. Left out if the route answers 204. */
  answer?(this: void, snapshot: S, thing: T, rendering: R): object;
}

/** Why something was not done. @internal */
export interface NotDone {
  readonly problem: Problem;
  /** The time after which it can succeed, in milliseconds; left out if that is not known. */
  readonly retryAfterMs?: number;
}

/**
 * A route that changes the running interface, and no configuration: it has no turn, no event and no entry of the
 * history. `T` is the thing that the path names.
 *
 * @internal
 */
export interface ActionRoute<R, T = unknown> extends Route, Writing {
  readonly kind: 'command';
  readonly method: Exclude<Method, 'GET'>;
  /** Finds the thing that the path names. */
  findIn(this: void, surroundings: R, parameters: PathParameters): Result<T>;
  /** Says whether there is anything to do. Refused with a problem if it must not be done. */
  judge(this: void, surroundings: R, thing: T): Result<'accepted' | 'unchanged'>;
  /** Does it. */
  act(this: void, surroundings: R, thing: T): Promise<NotDone | undefined>;
}

/** A route that follows the events. The handler has the events, so there is nothing else to declare. @internal */
export interface StreamRoute extends Route {
  readonly kind: 'stream';
  readonly method: 'GET';
}

/** A route that answers with its status alone. Nobody is asked for a log-in. @internal */
export interface ProbeRoute<R> extends Route {
  readonly kind: 'probe';
  readonly method: 'GET';
  /** Why the answer is no 204; `undefined` if the answer is 204. */
  problem(this: void, surroundings: R): Problem | undefined;
}

/**
 * A route that takes many changes as one. The handler knows what they stand for, so there is nothing else to declare.
 *
 * @internal
 */
export interface WholeRoute extends Route, Writing {
  readonly kind: 'command';
  readonly method: Exclude<Method, 'GET'>;
  /** What the body is. A document has limits of its own. */
  readonly takes: 'sequence' | 'document';
}

/** A route about a resource of the gateway, with the functions that serve the route. @internal */
export type ResourceRoute<S, D, R> = ItemRoute<S, R> | ListRoute<S, R> | CommandRoute<S, D, R>;

/**
 * Media types of a JSON Patch. The first is the registered one (RFC 6902 §6); clients also send the others.
 *
 * @internal
 */
export const patchMediaTypes = Object.freeze([
  'application/json-patch+json',
  'application/json-patch',
  'application/json',
] as const);

/** An endpoint of the host. @internal */
export interface HostRoute extends Route {
  readonly kind: 'item' | 'command';
}

/** Describes an endpoint of the host, for `authorize` and for audit records. @internal */
export function hostRoute(
  { method, target }: { readonly method: string; readonly target: string },
  role: Role = 'administrator',
): HostRoute {
  return {
    ...plainRoute,
    kind: ['GET', 'HEAD', 'OPTIONS'].includes(method) ? 'item' : 'command',
    id: 'host',
    // The host serves any method.
    method: method as Method,
    path: target.replace(/\?.*$/s, ''),
    role,
    summary: 'An endpoint of the host.',
  };
}

/**
 * Replaces the name of a resource by its key. A rule about a name must hold for every spelling of the name.
 *
 * @internal
 */
export function canonical(parameters: PathParameters): PathParameters {
  const { name } = parameters;
  return name === undefined ? { ...parameters } : { ...parameters, name: nameKey(name) };
}
