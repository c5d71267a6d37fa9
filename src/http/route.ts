/**
 * Routes as data: the single source for dispatch, `Allow`, the endpoint tables and the contract tests.
 */
import type * as z from 'zod/mini';

import type { Context } from '../core/decision.ts';
import type { SecretPorts } from '../core/secret.ts';
import type { Version } from '../core/version.ts';
import type { Json } from '../json/value.ts';
import type { Result } from '../problem.ts';

/**
 * The variable segments of a path by their names, percent-decoded once: `{ name: 'Sales' }` for `/services/:name`.
 *
 * @public
 */
export type PathParameters = Readonly<Record<string, string>>;

/** The methods that a route can have. @internal */
type Method = 'GET' | 'PATCH' | 'PUT' | 'POST' | 'DELETE';

/**
 * An endpoint of the interface, as it describes itself.
 *
 * @public
 */
export interface Route {
  /** `item` reads one thing, `list` a list, `command` changes something. */
  readonly kind: 'item' | 'list' | 'command';
  /** Stable name, such as `services.stop`. */
  readonly id: string;
  /** The method. `HEAD` comes with `GET`, `OPTIONS` with every path. */
  readonly method: Method;
  /** The canonical path; a segment that starts with `:` is variable. */
  readonly path: string;
  /** Other paths of the same endpoint. */
  readonly aliases: readonly string[];
  /** The query parameters that the endpoint takes. */
  readonly query: readonly ('fields' | 'range' | 'dry_run')[];
  /** One sentence that says what the endpoint does. */
  readonly summary: string;
  /** Names that `fields` may select; empty where it selects nothing. */
  readonly fields: readonly string[];
  /** Media types of the body, the advertised one first; empty where the body is ignored. */
  readonly mediaTypes: readonly string[];
}

/** How every route finds what its path names. */
interface Finding<S, T> {
  /** Finds what the path names in the snapshot of the moment, or gives the problem that says why not. */
  find(this: void, snapshot: S, parameters: PathParameters): Result<T>;
  /** Link of the resource: commands on one resource wait for each other. */
  link(this: void, thing: T): string;
  /** When anything that the representation shows last changed; left out where figures change by themselves. */
  version?(this: void, snapshot: S, thing: T): Version;
}

/** How every reading route shows what it finds. */
interface Showing {
  /** Shape of the representation, or of one element. */
  readonly shape: z.core.$ZodType;
  /** Other spellings that `fields` may use, each with the field that it stands for. */
  readonly fieldAliases?: Readonly<Record<string, string>>;
}

/** A route that reads one thing. @internal */
export interface ItemRoute<S, R, T = unknown> extends Route, Finding<S, T>, Showing {
  readonly kind: 'item';
  readonly method: 'GET';
  /** Gives the representation. */
  read(this: void, snapshot: S, thing: T, rendering: R): object;
}

/** A list that can be cut before it is rendered. @internal */
export interface Listing {
  /** How many elements there are. */
  readonly total: number;
  /** Renders the elements from `offset` on, at most `length` of them. */
  readonly slice: (this: void, offset: number, length: number) => readonly Json[];
}

/** A route that reads a list. @internal */
export interface ListRoute<S, R, T = unknown> extends Route, Finding<S, T>, Showing {
  readonly kind: 'list';
  readonly method: 'GET';
  /** Gives the list. */
  list(this: void, snapshot: S, thing: T, rendering: R): Listing;
}

/** A command that a request asks for, before it is known what its path names. @internal */
export interface Change<S, D, T = unknown> {
  /** Decides the command about what the path names. */
  decide(this: void, snapshot: S, thing: T, context: Context): D;
}

/** A route that changes something. `T` is what the path names: `If-Match` speaks of its version. @internal */
export interface CommandRoute<S, D, R, T = unknown> extends Route, Finding<S, T> {
  readonly kind: 'command';
  readonly method: Exclude<Method, 'GET'>;
  /** When the list that shows the thing last changed. Only for a command that deletes: then the thing has no version. */
  versionWhenGone?(this: void, snapshot: S): Version;
  /** Shape of the body; left out where the body is ignored. */
  readonly bodyShape?: z.core.$ZodType;
  /**
   * Makes the change that the request asks for. Checks the form of the body, and puts hashed or sealed text in the
   * place of secrets before the core sees them.
   */
  command(
    this: void,
    parameters: PathParameters,
    body: Json,
    secrets: SecretPorts,
  ): Promise<Result<Change<S, D, T>>> | Result<Change<S, D, T>>;
  /** Gives the body of a 200; left out where the answer is 204. */
  answer?(this: void, snapshot: S, thing: T, rendering: R): object;
}

/** A route of any kind, with the functions that serve it. @internal */
export type RouteOf<S, D, R> = ItemRoute<S, R> | ListRoute<S, R> | CommandRoute<S, D, R>;

/** Media types of a JSON Patch (RFC 6902 §6); the others are what clients send in practice. @internal */
export const patchMediaTypes = Object.freeze([
  'application/json-patch+json',
  'application/json-patch',
  'application/json',
] as const);
