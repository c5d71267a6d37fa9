/**
 * Admin users: who may query and change the gateway.
 *
 * The chapter "Admin user" of the Gateway Administration REST Interface.
 */
import * as z from 'zod/mini';

import { initialVersion, nextVersion } from '../core/version.ts';
import type { Entity } from '../core/collection.ts';
import {
  accepted,
  eventHead,
  refused,
  type Context,
  type DecisionOf,
  type EventOf,
  type EventTable,
} from '../core/decision.ts';
import type { DocumentPart } from '../core/field.ts';
import { linkTo } from '../core/link.ts';
import { copyJson } from '../json/copy.ts';
import { type Json, isObject } from '../json/value.ts';
import { nameKey } from '../core/name.ts';
import { fail, ok, problem, problemOf, type Fault } from '../problem.ts';
import type { CommandRoute, RouteOf } from '../http/route.ts';
import { type SecretPorts, passwordFault } from '../core/secret.ts';
import * as shape from '../core/shape.ts';
import type { Rendering } from './shared/rendering.ts';
import { collectionRoute, commandRoute } from './shared/route.ts';
import { linkOf, lookUp, put, remove, type Snapshot } from '../snapshot/snapshot.ts';

/**
 * An admin user as the snapshot keeps it.
 *
 * @public
 */
export interface User extends Entity {
  /** What the `hasher` port made of the password; opaque here. */
  readonly passwordHash: string;
}

/**
 * An admin user as clients see it.
 *
 * @public
 */
export interface UserRepresentation {
  /** User name: 1 to 64 ASCII letters and digits. */
  readonly name: string;
}

/**
 * An admin user to be created.
 *
 * @public
 */
export interface NewUser {
  /** User name: 1 to 64 ASCII letters and digits. */
  readonly name: string;
  /** What the `hasher` port made of the password. */
  readonly passwordHash: string;
}

/**
 * What every event about a user has.
 *
 * @public
 */
export interface OfUser {
  /** Key of the user; see {@link nameKey}. */
  readonly user: string;
}

/**
 * What can happen to admin users.
 *
 * @public
 */
export type UserEvent = OfUser & ((EventOf<'user.created'> & NewUser) | EventOf<'user.deleted'>);

/**
 * The answer of a transition of users. It asks nothing of the host.
 *
 * @public
 */
export type UserDecision = DecisionOf<Snapshot, UserEvent, never>;

const userNamePattern = /^[A-Za-z0-9]{1,64}$/;
const userName = z.string().check(
  z.refine((name) => userNamePattern.test(name), {
    error: 'must be 1 to 64 letters and digits (A-Z, a-z, 0-9)',
  }),
);
const representationShape = z.strictObject({ name: userName }) satisfies z.core.$ZodType<UserRepresentation>;
const bodyShape = z.strictObject({ name: userName, password: z.string() });
const documentShape = z.strictObject({
  name: userName,
  passwordHash: shape.text(4096).check(z.minLength(1)),
});

/** How admin users stand in a gateway document. @internal */
export const userDocument: DocumentPart<User, NewUser> = {
  shape: documentShape,
  links: {},
  load: ({ name, passwordHash }) => ({ name, key: nameKey(name), version: initialVersion, passwordHash }),
  save: ({ name, passwordHash }) => ({ name, passwordHash }),
};

/** @internal */
export const userEvents: EventTable<Snapshot, UserEvent> = {
  'user.created': {
    origin: 'command',
    revert: revertCreation,
    evolve(snapshot, { user: key, name, passwordHash }, change) {
      if (snapshot.users.find(key) !== undefined) return snapshot;
      return put(
        snapshot,
        'users',
        Object.freeze({ name, key, version: nextVersion(initialVersion, change), passwordHash }),
      );
    },
  },
  'user.deleted': {
    origin: 'command',
    revert: 'irreversible',
    evolve: (snapshot, { user }, change) => remove(snapshot, 'users', user, change),
  },
};

/** All users are one resource: the last two must not be deleted at the same time. */
const resource = '/users';

/**
 * Creates an admin user.
 *
 * @param snapshot - the state to start from
 * @param user - the user; refused with `validation-failed` when the name is not acceptable, and with `user-exists`
 *   when there is one of this name, in whatever case: its password is never touched
 * @param context - the time and who asked
 * @returns the decision, with one `user.created`
 *
 * @example
 * ```ts
 * import { createSnapshot, createUser } from 'gateway-admin-core';
 *
 * const decision = createUser(createSnapshot({}), { name: 'ada', passwordHash: 'opaque' }, { now: 0 });
 * decision.outcome; // => 'accepted'
 * ```
 *
 * @public
 */
export function createUser(snapshot: Snapshot, user: NewUser, context: Context): UserDecision {
  const json = copyJson(user, { depth: 1 });
  if (!json.ok) return refused(snapshot, json.problem, [resource]);
  const parsed = shape.parseShape(documentShape, json.value);
  if (!parsed.ok) return refused(snapshot, problemOf(parsed.faults), [resource]);
  const { name, passwordHash } = parsed.value;
  if (snapshot.users.find(name) !== undefined) {
    const detail =
      'There is a user of this name, in this or another case. Delete it first, or choose another name.';
    return refused(snapshot, problem('user-exists', detail), [resource]);
  }
  return accepted(userEvents, snapshot, [resource], {
    events: [
      {
        type: 'user.created',
        ...eventHead(linkTo('users', name), context),
        user: nameKey(name),
        name,
        passwordHash,
      },
    ],
    effects: [],
  });
}

/**
 * Deletes an admin user.
 *
 * @param snapshot - the state to start from
 * @param name - name of the user, compared without case; refused with `user-not-found` when there is none
 * @param context - the time and who asked; while authentication is required, deleting the last user is refused with
 *   `last-user`, so that nobody is locked out
 * @returns the decision, with one `user.deleted`
 *
 * @example
 * ```ts
 * import { createSnapshot, deleteUser } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ users: [{ name: 'ada', passwordHash: 'opaque' }] });
 * deleteUser(snapshot, 'ADA', { now: 0, authentication: 'required' }).outcome; // => 'refused'
 * ```
 *
 * @public
 */
export function deleteUser(snapshot: Snapshot, name: string, context: Context): UserDecision {
  // Names are ASCII: a letter that only folds to ASCII, such as the Kelvin sign, is that of no user.
  const found = lookUp(snapshot, 'users', userNamePattern.test(name) ? name : '');
  if (!found.ok) return refused(snapshot, found.problem, [resource]);
  if (context.authentication === 'required' && snapshot.users.size === 1) {
    const detail = 'This is the last user: without it nobody could log in. Create another one first.';
    return refused(snapshot, problem('last-user', detail), [resource]);
  }
  return accepted(userEvents, snapshot, [resource], {
    events: [
      { type: 'user.deleted', ...eventHead(linkOf('users', found.value), context), user: found.value.key },
    ],
    effects: [],
  });
}

/** Deletes the user who was created, and nobody else: who has been given the name since has another hash. */
function revertCreation(
  snapshot: Snapshot,
  { user, passwordHash }: OfUser & NewUser,
  context: Context,
): UserDecision {
  const found = snapshot.users.find(user);
  if (found === undefined || found.passwordHash === passwordHash) return deleteUser(snapshot, user, context);
  const detail =
    'The user of this name is not known to be the one who was created: that one has been deleted and somebody has ' +
    'created another one since, or the event was given without its secrets. Delete the user by name if it has to go.';
  return refused(snapshot, problem('patch-test-failed', detail), [resource]);
}

/** Hashes the password before anything else sees it. */
const create: CommandRoute<Snapshot, UserEvent, never, Rendering> = {
  kind: 'command',
  id: 'users.create',
  method: 'PUT',
  path: '/users',
  aliases: [],
  query: ['dry_run'],
  about: '/users',
  summary: 'Creates an admin user.',
  body: { mediaTypes: ['application/json'], shape: bodyShape },
  async command(_subject, body, secrets) {
    const parsed = shape.parseShape(bodyShape, body);
    const faults = [...(parsed.ok ? [] : parsed.faults), ...faultsOfPassword(body, secrets)];
    if (!parsed.ok || faults.length > 0) return { ok: false, problem: problemOf(faults) };
    const { name, password } = parsed.value;
    const passwordHash = await secrets.hash(password.normalize('NFC'));
    if (passwordHash === undefined)
      return fail('login-throttled', 'Too many passwords are being hashed. Try again in a second.');
    return ok((snapshot, context) => createUser(snapshot, { name, passwordHash }, context));
  },
};

/** The shape has said it when the password is missing or no text. */
function faultsOfPassword(body: Json, secrets: SecretPorts): readonly Fault[] {
  const password = isObject(body) ? body['password'] : undefined;
  if (typeof password !== 'string') return [];
  const detail = passwordFault(password) ?? secrets.objection(password.normalize('NFC'));
  return detail === undefined ? [] : [{ pointer: '/password', code: 'password-unacceptable', detail }];
}

/** @internal */
export const userRoutes: readonly RouteOf<Snapshot, UserEvent, never, Rendering>[] = [
  collectionRoute({
    collection: 'users',
    shape: representationShape,
    represent: (_snapshot, { name }): UserRepresentation => ({ name }),
    version: (_snapshot, { version }) => version,
  }),
  create,
  commandRoute(
    {
      id: 'users.delete',
      method: 'DELETE',
      path: '/users/:name',
      aliases: [],
      about: '/users',
      summary: 'Deletes an admin user.',
    },
    deleteUser,
  ),
];
