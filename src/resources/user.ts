/**
 * Admin users: the users who may query and change the gateway through this interface.
 *
 * Implements the chapter "Admin user" of the Gateway Administration REST Interface.
 */
import * as z from 'zod/mini';

import { initialVersion, nextVersion } from '../core/version.ts';
import type { Entity } from '../core/collection.ts';
import {
  accepted,
  eventHead,
  refused,
  type Context,
  type EventOf,
  type EventTable,
} from '../core/decision.ts';
import { defineFields, representFields } from '../core/field.ts';
import { linkTo } from '../core/link.ts';
import { copyJson } from '../json/copy.ts';
import { type Json, isObject } from '../json/value.ts';
import { nameKey } from '../core/name.ts';
import { fail, ok, problem, problemOf, quoted, type Fault, type Result } from '../problem.ts';
import type { PathParameters } from '../http/route.ts';
import { type SecretPorts, passwordFault } from '../core/secret.ts';
import * as shape from '../core/shape.ts';
import { collectionRoute, collectionVersion, commandRoute, type BoundRoute } from './shared/route.ts';
import { assertInputs, linkOf, put, remove, type Snapshot } from '../snapshot/snapshot.ts';
import type { Decision } from './index.ts';
import type { About, Kind } from './shared/kind.ts';
import { assertName, lookUp, notFound } from './shared/look-up.ts';

/**
 * An admin user in a snapshot.
 *
 * @public
 */
export interface User extends Entity {
  /** The password hash from the {@link Hasher} port. The library does not look inside. */
  readonly passwordHash: string;
}

/**
 * An admin user in a response.
 *
 * @see Gateway Administration REST Interface, "Admin user".
 *
 * @public
 */
export interface UserRepresentation {
  /** User name: 1 to 64 ASCII letters and digits. */
  readonly name: string;
}

/**
 * An admin user to create.
 *
 * @public
 */
export interface NewUser {
  /** User name: 1 to 64 ASCII letters and digits. */
  readonly name: string;
  /** The password hash from the {@link Hasher} port. */
  readonly passwordHash: string;
}

/** The events of admin users. @internal */
export type UserEvent = About<'user'> & ((EventOf<'user.created'> & NewUser) | EventOf<'user.deleted'>);

const userNamePattern = /^[A-Za-z0-9]{1,64}$/;
const userName = z.string().check(
  z.refine((name) => userNamePattern.test(name), {
    error: 'must be 1 to 64 letters and digits (A-Z, a-z, 0-9)',
  }),
);

const fields = defineFields<{
  representation: UserRepresentation;
  document: NewUser;
  state: Omit<User, 'key' | 'version'>;
}>()({
  name: { shape: userName },
  password: { shape: shape.text(4096).check(z.minLength(1)), secret: 'passwordHash' },
});
const newUserShape = fields.document as z.core.$ZodType as z.core.$ZodType<NewUser>;
const bodyShape = z.strictObject({ name: userName, password: z.string() });

const events: EventTable<Snapshot, UserEvent> = {
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

/** All users are one resource: two commands at the same time must not delete the last two users. */
const resource = '/users';

/**
 * Creates an admin user.
 *
 * Refused with `validation-failed` if the name is not acceptable, and with `user-exists` if there is a user of this
 * name in any case; the password of that user does not change.
 *
 * @param snapshot - the snapshot to decide on
 * @param user - the user to create
 * @param context - the time and the caller
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
 * @see Gateway Administration REST Interface, "Endpoints", "Admin user".
 *
 * @public
 */
export function createUser(snapshot: Snapshot, user: NewUser, context: Context): Decision {
  assertInputs(snapshot, context);
  const json = copyJson(user, { depth: 1 });
  if (!json.ok) return refused(snapshot, json.problem, [resource]);
  const parsed = shape.parseShape(newUserShape, json.value);
  if (!parsed.ok) return refused(snapshot, problemOf(parsed.faults), [resource]);
  const { name, passwordHash } = parsed.value;
  if (snapshot.users.find(name) !== undefined) {
    const detail =
      `There is already a user named ${quoted(name)}, in this or another case. ` +
      'Delete that user first, or choose another name.';
    return refused(snapshot, problem('user-exists', detail), [resource]);
  }
  return accepted(events, snapshot, [resource], {
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
 * Refused with `user-not-found` if there is no such user. If callers must authenticate, deleting the last user is
 * refused with `last-user`, because then nobody could log in.
 *
 * @param snapshot - the snapshot to decide on
 * @param name - name of the user, compared without case
 * @param context - the time, the caller, and whether callers must authenticate
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
 * @see Gateway Administration REST Interface, "Endpoints", "Admin user".
 *
 * @public
 */
export function deleteUser(snapshot: Snapshot, name: string, context: Context): Decision {
  assertInputs(snapshot, context);
  assertName('users', name);
  const found = findUser(snapshot, { name });
  if (!found.ok) return refused(snapshot, found.problem, [resource]);
  return decideDeletion(snapshot, found.value, context);
}

/** Finds a user by name. Names are ASCII: a letter that only folds to ASCII, such as the Kelvin sign, names no user. */
function findUser(snapshot: Snapshot, { name = '' }: PathParameters): Result<User> {
  return userNamePattern.test(name) ? lookUp(snapshot, 'users', name) : notFound('users', name);
}

function decideDeletion(snapshot: Snapshot, user: User, context: Context): Decision {
  if (context.authentication === 'required' && snapshot.users.size === 1) {
    const detail = 'This is the last user, and without users nobody can log in. Create another user first.';
    return refused(snapshot, problem('last-user', detail), [resource]);
  }
  return accepted(events, snapshot, [resource], {
    events: [{ type: 'user.deleted', ...eventHead(linkOf('users', user), context), user: user.key }],
    effects: [],
  });
}

/** Deletes the created user. A later user of the same name has another hash, and is not deleted. */
function revertCreation(
  snapshot: Snapshot,
  { user, passwordHash }: About<'user'> & NewUser,
  context: Context,
): Decision {
  const found = snapshot.users.find(user);
  if (found === undefined || found.passwordHash === passwordHash) return deleteUser(snapshot, user, context);
  const detail =
    'The present user of this name may not be the user that the event created: either somebody has created another ' +
    'user since, or the event was passed without its secrets. To remove the present user, delete the user by name.';
  return refused(snapshot, problem('patch-test-failed', detail), [resource]);
}

/** The route that creates a user, and hashes the password before the core gets the body. */
const create: BoundRoute = {
  kind: 'command',
  id: 'users.create',
  method: 'PUT',
  path: '/users',
  aliases: [],
  query: ['dry_run'],
  search: [],
  fields: [],
  mediaTypes: ['application/json'],
  summary: 'Creates an admin user.',
  bodyShape,
  find: () => ok('users'),
  version: (snapshot) => collectionVersion(snapshot, 'users'),
  link: () => resource,
  async command(_parameters, body, secrets) {
    const parsed = shape.parseShape(bodyShape, body);
    const faults = [...(parsed.ok ? [] : parsed.faults), ...faultsOfPassword(body, secrets)];
    if (!parsed.ok || faults.length > 0) return { ok: false, problem: problemOf(faults) };
    const { name, password } = parsed.value;
    const passwordHash = await secrets.hash(password.normalize('NFC'));
    if (passwordHash === undefined)
      return fail('login-throttled', 'Too many passwords are being hashed. Try again in a second.');
    return ok({
      decide: (snapshot, _users, context) => createUser(snapshot, { name, passwordHash }, context),
    });
  },
};

/** The fault of a password. The shape already reports a password that is missing or no text. */
function faultsOfPassword(body: Json, secrets: SecretPorts): readonly Fault[] {
  const password = isObject(body) ? body['password'] : undefined;
  if (typeof password !== 'string') return [];
  const detail = passwordFault(password) ?? secrets.objection(password.normalize('NFC'));
  return detail === undefined ? [] : [{ pointer: '/password', code: 'password-unacceptable', detail }];
}

/** The kind "user". @internal */
export const userKind: Kind<UserEvent, never, never> = {
  fields: { user: fields },
  events,
  effects: {},
  reports: {},
  routes: [
    collectionRoute({
      collection: 'users',
      shape: fields.representation,
      represent: (_snapshot, user, { times }) => representFields(fields, { rest: user, times }),
    }),
    create,
    commandRoute({
      id: 'users.delete',
      method: 'DELETE',
      path: '/users/:name',
      summary: 'Deletes an admin user.',
      find: findUser,
      version: (snapshot) => collectionVersion(snapshot, 'users'),
      versionWhenGone: (snapshot) => collectionVersion(snapshot, 'users'),
      link: () => resource,
      decide: decideDeletion,
    }),
  ],
};
