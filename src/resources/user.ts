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
  type EventOf,
  type EventTable,
} from '../core/decision.ts';
import { defineFields, representFields } from '../core/field.ts';
import { linkTo } from '../core/link.ts';
import { copyJson } from '../json/copy.ts';
import { type Json, isObject } from '../json/value.ts';
import { nameKey } from '../core/name.ts';
import { fail, ok, problem, problemOf, type Fault, type Result } from '../problem.ts';
import type { PathParameters } from '../http/route.ts';
import { type SecretPorts, passwordFault } from '../core/secret.ts';
import * as shape from '../core/shape.ts';
import { collectionRoute, collectionVersion, commandRoute, type BoundRoute } from './shared/route.ts';
import { linkOf, put, remove, type Snapshot } from '../snapshot/snapshot.ts';
import type { Decision } from './index.ts';
import type { About, Kind } from './shared/kind.ts';
import { lookUp } from './shared/look-up.ts';

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

/** What can happen to admin users. @internal */
export type UserEvent = About<'user'> & ((EventOf<'user.created'> & NewUser) | EventOf<'user.deleted'>);

const userNamePattern = /^[A-Za-z0-9]{1,64}$/;
const userName = z.string().check(
  z.refine((name) => userNamePattern.test(name), {
    error: 'must be 1 to 64 letters and digits (A-Z, a-z, 0-9)',
  }),
);

const fields = defineFields<{ representation: UserRepresentation; document: NewUser }>()({
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
export function createUser(snapshot: Snapshot, user: NewUser, context: Context): Decision {
  const json = copyJson(user, { depth: 1 });
  if (!json.ok) return refused(snapshot, json.problem, [resource]);
  const parsed = shape.parseShape(newUserShape, json.value);
  if (!parsed.ok) return refused(snapshot, problemOf(parsed.faults), [resource]);
  const { name, passwordHash } = parsed.value;
  if (snapshot.users.find(name) !== undefined) {
    const detail =
      'There is a user of this name, in this or another case. Delete it first, or choose another name.';
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
export function deleteUser(snapshot: Snapshot, name: string, context: Context): Decision {
  const found = findUser(snapshot, { name });
  if (!found.ok) return refused(snapshot, found.problem, [resource]);
  return decideDeletion(snapshot, found.value, context);
}

/** Finds a user by name. Names are ASCII: a letter that only folds to ASCII, such as the Kelvin sign, names no user. */
function findUser(snapshot: Snapshot, { name = '' }: PathParameters): Result<User> {
  return lookUp(snapshot, 'users', userNamePattern.test(name) ? name : '');
}

function decideDeletion(snapshot: Snapshot, user: User, context: Context): Decision {
  if (context.authentication === 'required' && snapshot.users.size === 1) {
    const detail = 'This is the last user: without it nobody could log in. Create another one first.';
    return refused(snapshot, problem('last-user', detail), [resource]);
  }
  return accepted(events, snapshot, [resource], {
    events: [{ type: 'user.deleted', ...eventHead(linkOf('users', user), context), user: user.key }],
    effects: [],
  });
}

/** Deletes the user who was created, and nobody else: who has been given the name since has another hash. */
function revertCreation(
  snapshot: Snapshot,
  { user, passwordHash }: About<'user'> & NewUser,
  context: Context,
): Decision {
  const found = snapshot.users.find(user);
  if (found === undefined || found.passwordHash === passwordHash) return deleteUser(snapshot, user, context);
  const detail =
    'The user of this name is not known to be the one who was created: that one has been deleted and somebody has ' +
    'created another one since, or the event was given without its secrets. Delete the user by name if it has to go.';
  return refused(snapshot, problem('patch-test-failed', detail), [resource]);
}

/** Hashes the password before anything else sees it. */
const create: BoundRoute = {
  kind: 'command',
  id: 'users.create',
  method: 'PUT',
  path: '/users',
  aliases: [],
  query: ['dry_run'],
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

/** The shape has said it when the password is missing or no text. */
function faultsOfPassword(body: Json, secrets: SecretPorts): readonly Fault[] {
  const password = isObject(body) ? body['password'] : undefined;
  if (typeof password !== 'string') return [];
  const detail = passwordFault(password) ?? secrets.objection(password.normalize('NFC'));
  return detail === undefined ? [] : [{ pointer: '/password', code: 'password-unacceptable', detail }];
}

/** @internal */
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
