/**
 * Routes as data: the single source for dispatch, `Allow`, the endpoint tables and the contract tests.
 */
import type * as z from 'zod/mini';

import type { EffectBase, EventBase, TransitionOf } from '../core/decision.ts';
import type { SecretPorts } from '../core/secret.ts';
import type { Version } from '../core/version.ts';
import type { Json } from '../json/value.ts';
import type { Result } from '../problem.ts';

/**
 * What the variable segments of a path stand for, percent-decoded once: `name` or `id`. No path has more than one;
 * routes are given its value as their `subject`, which is empty where the path has none.
 *
 * @public
 */
export type PathParameters = Readonly<Record<string, string>>;

/**
 * The methods that a route can have.
 *
 * @public
 */
export type Method = 'GET' | 'PATCH' | 'PUT' | 'POST' | 'DELETE';

/**
 * What every route says of itself.
 *
 * @public
 */
export interface RouteFacts {
  /** Stable name of the operation, such as `services.stop`. */
  readonly id: string;
  /** The method. `HEAD` comes with `GET`, `OPTIONS` with every path. */
  readonly method: Method;
  /** The canonical path; a segment that starts with `:` is variable. */
  readonly path: string;
  /** Other spellings of the same operation. */
  readonly aliases: readonly string[];
  /** The query parameters that mean something here. */
  readonly query: readonly ('fields' | 'range' | 'dry_run')[];
  /** One sentence that says what the operation does. */
  readonly summary: string;
}

/**
 * A route that reads one thing.
 *
 * @public
 */
export interface ItemRoute<S, R> extends RouteFacts {
  /** Tells the routes apart. */
  readonly kind: 'item';
  /** Things are read with GET. */
  readonly method: 'GET';
  /** Shape of the representation. */
  readonly shape: z.core.$ZodType;
  /** Names of all fields that the representation can have. */
  readonly fields: readonly string[];
  /** Other spellings that `fields` may use, each with the field that it stands for. */
  readonly fieldAliases?: Readonly<Record<string, string>>;
  /** When what it shows last changed; left out where it shows figures that change by themselves. */
  readonly version?: (this: void, snapshot: S, subject: string) => Version | undefined;
  /** Gives the representation, or the problem that there is none. */
  readonly read: (this: void, snapshot: S, subject: string, rendering: R) => Result<object>;
}

/**
 * A list that can be cut before it is rendered.
 *
 * @public
 */
export interface Listing {
  /** How many elements there are. */
  readonly total: number;
  /** Renders the elements from `offset` on, at most `length` of them. */
  readonly slice: (this: void, offset: number, length: number) => readonly Json[];
}

/**
 * A route that reads a list.
 *
 * @public
 */
export interface ListRoute<S, R> extends RouteFacts {
  /** Tells the routes apart. */
  readonly kind: 'list';
  /** Lists are read with GET. */
  readonly method: 'GET';
  /** Shape of one element. */
  readonly shape: z.core.$ZodType;
  /** Names of all fields that an element can have; empty when the elements are links. */
  readonly fields: readonly string[];
  /** Other spellings that `fields` may use, each with the field that it stands for. */
  readonly fieldAliases?: Readonly<Record<string, string>>;
  /** When what it shows last changed; left out where it shows figures that change by themselves. */
  readonly version?: (this: void, snapshot: S, subject: string) => Version | undefined;
  /** Gives the list, or the problem that there is none. */
  readonly list: (this: void, snapshot: S, subject: string, rendering: R) => Result<Listing>;
}

/**
 * What a command takes in its body.
 *
 * @public
 */
export interface BodyRule {
  /** Media types that are accepted; the first is the one to advertise. */
  readonly mediaTypes: readonly [string, ...string[]];
  /** Shape of the body. */
  readonly shape: z.core.$ZodType;
}

/**
 * A route that changes something.
 *
 * @public
 */
export interface CommandRoute<S, E extends EventBase, F extends EffectBase, R> extends RouteFacts {
  /** Tells the routes apart. */
  readonly kind: 'command';
  /** Commands have every method but GET. */
  readonly method: Exclude<Method, 'GET'>;
  /** Path of the representation that the command is about: what `If-Match` speaks of. */
  readonly about: string;
  /** What it takes in its body; left out where the body is ignored. */
  readonly body?: BodyRule;
  /**
   * Makes the transition that the request asks for. Checks the form of the body, and puts protected texts in the place of
   * secrets before the core sees them.
   */
  readonly command: (
    this: void,
    subject: string,
    body: Json,
    secrets: SecretPorts,
  ) => Promise<Result<TransitionOf<S, E, F>>> | Result<TransitionOf<S, E, F>>;
  /** Gives the body of a 200; left out where the answer is 204. */
  readonly answer?: (this: void, snapshot: S, subject: string, rendering: R) => Result<object>;
}

/**
 * A route of any kind.
 *
 * @public
 */
export type RouteOf<S, E extends EventBase, F extends EffectBase, R> =
  ItemRoute<S, R> | ListRoute<S, R> | CommandRoute<S, E, F, R>;

/**
 * Media types of a JSON Patch (RFC 6902 §6); the others are what clients send in practice.
 *
 * @public
 */
export const patchMediaTypes = Object.freeze([
  'application/json-patch+json',
  'application/json-patch',
  'application/json',
] as const);
