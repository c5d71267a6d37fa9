/**
 * Admin users: the users who may query and change the gateway through this interface.
 *
 * Implements the chapter "Admin user" of the Gateway Administration REST Interface.
 */
import * as z from 'zod/mini';

import { birthOfMember, placeOfMember } from '../core/content.ts';
import type { Entity } from '../core/collection.ts';
import {
  accepted,
  eventHead,
  refused,
  refusedFor,
  unchanged,
  type Context,
  type DecisionOf,
  type EventHead,
  type EventTable,
} from '../core/decision.ts';
import { defineFields, representFields } from '../core/field.ts';
import { linkTo } from '../core/link.ts';
import { patchSettings, patchViewOf } from '../core/patch-view.ts';
import { copyJson } from '../json/copy.ts';
import { parseOperations, type ParsedOperation } from '../json/patch.ts';
import { type Json, type JsonObject, isObject } from '../json/value.ts';
import { nameKey } from '../core/name.ts';
import { ok, problem, problemOf, quoted, type Fault, type Result } from '../problem.ts';
import { endpoint } from '../http/endpoint.ts';
import { patchMediaTypes, plainCommand, type PathParameters } from '../http/route.ts';
import { type SecretPorts, type Sealed, passwordFault, unsealable } from '../core/secret.ts';
import * as shape from '../core/shape.ts';
import type { TimeFormat } from '../core/time.ts';
import { collectionRoute, commandRoute, type KindRoute } from './shared/route.ts';
import {
  collectionOf,
  find,
  linkOf,
  nameFinder,
  put,
  remove,
  replace,
  withBirth,
  withoutBirth,
} from '../snapshot/state.ts';
import { listValidator, taggedByList } from '../snapshot/validator.ts';
import { assertInputs, users, type Snapshot } from './snapshot.ts';
import type { About, Kind } from './shared/kind.ts';
import { assertName, lookUp, notFound } from './shared/look-up.ts';

/**
 * An admin user in a snapshot.
 *
 * @public
 */
export interface User extends Entity {
  /** The settings, which a patch can modify. */
  readonly settings: UserSettings;
}

/**
 * The settings of an admin user.
 *
 * @public
 */
export interface UserSettings {
  /** The password, as the hash from the {@link Hasher} port. The library does not look inside. */
  readonly password: Sealed;
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
  /** The password, as the hash from the {@link Hasher} port: `{ sealed: '$pbkdf2-sha256$…' }`. */
  readonly password: Sealed;
}

/** The events of admin users. @internal */
export type UserEvent = About<'user'> &
  (
    | (EventHead<'user.created'> & NewUser)
    | (EventHead<'user.updated' | 'user.rehashed'> & Pick<NewUser, 'password'>)
    | EventHead<'user.deleted'>
  );

/** The decision about an admin user. @internal */
export type UserDecision = DecisionOf<Snapshot, UserEvent, never>;

/** Longest name of an admin user. */
const longestUserName = 64;

/** What the name of an admin user consists of. @internal */
export const userNamePattern = new RegExp(`^[A-Za-z0-9]{1,${String(longestUserName)}}$`);
const userName = z.string().check(z.regex(userNamePattern, { error: ({ input }) => nameMessage(input) }));

/** Says what a name can be, and proposes the acceptable part of the given one: `janedoe` for `jane.doe`. */
function nameMessage(given: unknown): string {
  const name = typeof given === 'string' && given.length <= 4 * longestUserName ? given : '';
  const proposal = name.normalize('NFKD').replace(/[^A-Za-z0-9]/g, '');
  const hint = userNamePattern.test(proposal) ? `, such as ${quoted(proposal)}` : '';
  return `must be 1 to ${String(longestUserName)} letters and digits (A-Z, a-z, 0-9)${hint}`;
}

const password = shape.sealed(shape.longestHash, 'with the output of gateway-admin hash-password');
const passwordShape = z.strictObject({ password });

const fields = defineFields<{
  settings: UserSettings;
  representation: UserRepresentation;
  document: NewUser;
  state: Omit<User, 'key' | 'revision' | 'settings'>;
}>()({
  name: { shape: userName },
  password: { shape: password, secret: true, hashed: true, setting: true },
});
const view = patchViewOf<UserSettings>(fields);
const newUserShape = fields.document as z.core.$ZodType as z.core.$ZodType<NewUser>;
const bodyShape = z.strictObject({ name: userName, password: z.string() });

const events: EventTable<Snapshot, UserEvent> = {
  'user.created': {
    revert: revertCreation,
    evolve(snapshot, event, fold) {
      const { user: key, name, password } = event;
      if (snapshot.users.find(key) !== undefined) return snapshot;
      const settings = Object.freeze({ password });
      return withBirth(
        put(snapshot, users, Object.freeze({ name, key, revision: fold.revision, settings }), fold),
        event,
        fold,
      );
    },
  },
  'user.updated': {
    // The event does not contain the old hash: a password that was replaced must not come back.
    revert: 'irreversible',
    evolve(snapshot, event, fold) {
      const { user, password } = event;
      const next = replace(snapshot, users, user, fold, (before) => ({
        ...before,
        settings: Object.freeze({ password }),
      }));
      return next === snapshot
        ? snapshot
        : withBirth(next, { ...event, resource: placeOfMember(event.resource, 'password') }, fold);
    },
  },
  'user.rehashed': {
    revert: 'irreversible',
    evolve(snapshot, { user: key, password }, fold) {
      const user = find(snapshot, users, key);
      // The revision stays: the password is the same, and nothing that is shown changes.
      if (user === undefined) return snapshot;
      const settings = Object.freeze({ password });
      return put(snapshot, users, Object.freeze({ ...user, settings }), fold);
    },
  },
  'user.deleted': {
    revert: 'irreversible',
    evolve: (snapshot, { user, resource }, fold) =>
      withoutBirth(remove(snapshot, users, user, fold), resource, fold),
  },
};

/**
 * Which password a user has: the id of the command that has set it. A new hash of the same password is the same.
 * `undefined` for a user of the first document.
 *
 * @internal
 */
export function passwordOf({ births }: Snapshot, name: string): string | undefined {
  return birthOfMember(births, linkTo('users', name), 'password');
}

function represent(user: User, times: TimeFormat): object {
  return representFields(fields, { rest: user, settings: user.settings, times });
}

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
 * const decision = createUser(createSnapshot({}), { name: 'ada', password: { sealed: 'opaque' } }, { now: 0 });
 * decision.outcome; // => 'accepted'
 * ```
 *
 * @see Gateway Administration REST Interface, "Endpoints", "Admin user".
 *
 * @public
 */
export function createUser(snapshot: Snapshot, user: NewUser, context: Context): UserDecision {
  assertInputs(snapshot, context);
  const json = copyJson(user, { depth: 2 });
  if (!json.ok) return refused(snapshot, json.problem, [resource]);
  const parsed = shape.parseShape(newUserShape, json.value);
  if (!parsed.ok) return refused(snapshot, problemOf(parsed.faults), [resource]);
  const { name, password } = parsed.value;
  if (snapshot.users.find(name) !== undefined) {
    const detail =
      `There is already a user named ${quoted(name)}, in this or another case. ` +
      'Change the password of that user, or choose another name.';
    return refused(snapshot, problem('user-exists', detail), [resource]);
  }
  return accepted(events, snapshot, [resource], {
    events: [
      {
        type: 'user.created',
        ...eventHead(linkTo('users', name), context),
        user: nameKey(name),
        name,
        password,
      },
    ],
  });
}

/**
 * Changes the password of an admin user. The users who are logged in with the old password are logged out.
 *
 * Always a change, also with the present hash. Refused with `validation-failed` if the password is not sealed, or is
 * empty, and with `user-not-found` if there is no such user.
 *
 * @param snapshot - the snapshot to decide on
 * @param name - name of the user, compared without case
 * @param password - the new password, with a hash from the {@link Hasher} port
 * @param context - the time and the caller
 * @returns the decision, with one `user.updated`
 *
 * @example
 * ```ts
 * import { changePassword, createSnapshot } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ users: [{ name: 'ada', password: { sealed: 'opaque' } }] });
 * const { next } = changePassword(snapshot, 'ADA', { sealed: 'another' }, { now: 0 });
 * next.users.find('ada')?.settings.password; // => { sealed: 'another' }
 * ```
 *
 * @see docs/spec-choices.md 40.
 *
 * @public
 */
export function changePassword(
  snapshot: Snapshot,
  name: string,
  password: Sealed,
  context: Context,
): UserDecision {
  assertInputs(snapshot, context);
  assertName(users, name);
  const parsed = shape.parseShape(passwordShape, { password });
  if (!parsed.ok) return refused(snapshot, problemOf(parsed.faults), [resource]);
  const found = findUser(snapshot, { name });
  if (!found.ok) return refused(snapshot, found.problem, [resource]);
  return decideChange(snapshot, found.value, parsed.value, context);
}

/**
 * Replaces the hash of a user by another hash of the same password. Unchanged if the user is gone, or has another hash
 * than `from` by now.
 *
 * @internal
 */
export function rehashUser(
  snapshot: Snapshot,
  name: string,
  { from, to }: { readonly from: string; readonly to: string },
  context: Context,
): UserDecision {
  const user = snapshot.users.find(name);
  if (user?.settings.password.sealed !== from) return unchanged(snapshot, [resource]);
  return decideChange(snapshot, user, { password: Object.freeze({ sealed: to }) }, context, 'user.rehashed');
}

function decideChange(
  snapshot: Snapshot,
  user: User,
  { password }: UserSettings,
  context: Context,
  type: 'user.updated' | 'user.rehashed' = 'user.updated',
): UserDecision {
  const head = eventHead(linkOf('users', user), context);
  return accepted(events, snapshot, [resource], {
    events: [{ type, ...head, user: user.key, password }],
  });
}

/**
 * Deletes an admin user.
 *
 * Refused with `user-not-found` if there is no such user. If callers must authenticate, deleting the last user is
 * refused with `last-user`, because then nobody could log in, and deleting the last administrator with
 * `last-administrator`.
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
 * const snapshot = createSnapshot({ users: [{ name: 'ada', password: { sealed: 'opaque' } }] });
 * deleteUser(snapshot, 'ADA', { now: 0, authentication: 'required' }).outcome; // => 'refused'
 * ```
 *
 * @see Gateway Administration REST Interface, "Endpoints", "Admin user".
 *
 * @public
 */
export function deleteUser(snapshot: Snapshot, name: string, context: Context): UserDecision {
  assertInputs(snapshot, context);
  assertName(users, name);
  const found = findUser(snapshot, { name });
  if (!found.ok) return refused(snapshot, found.problem, [resource]);
  return decideDeletion(snapshot, found.value, context);
}

/** Finds a user by name. Names are ASCII: a letter that only folds to ASCII, such as the Kelvin sign, names no user. */
function findUser(snapshot: Snapshot, { name = '' }: PathParameters): Result<User> {
  return userNamePattern.test(name) ? lookUp(snapshot, users, name) : notFound(users, name);
}

function decideDeletion(snapshot: Snapshot, user: User, context: Context): UserDecision {
  if (context.authentication === 'required' && snapshot.users.size === 1) {
    const detail = 'This is the last user, and without users nobody can log in. Create another user first.';
    return refused(snapshot, problem('last-user', detail), [resource]);
  }
  if (isLastAdministrator(user, snapshot, context)) {
    const detail =
      `${quoted(user.name)} is the last administrator, and without one nobody can create users or change settings. ` +
      'First create another user whom the roles of this gateway make an administrator.';
    return refused(snapshot, problem('last-administrator', detail), [resource]);
  }
  return accepted(events, snapshot, [resource], {
    events: [{ type: 'user.deleted', ...eventHead(linkOf('users', user), context), user: user.key }],
  });
}

function isLastAdministrator(
  user: User,
  { users }: Snapshot,
  { authentication, isAdministrator }: Context,
): boolean {
  if (authentication !== 'required' || isAdministrator?.(user.name) !== true) return false;
  return ![...users].some((each) => each !== user && isAdministrator(each.name));
}

/**
 * Makes the users of a snapshot those of another one, in the same order: creates, changes and deletes users until they
 * are equal.
 *
 * @returns the decision; no rule about the last user applies, because others have decided already
 * @internal
 */
export function followUsers(snapshot: Snapshot, wanted: Snapshot, context: Context): UserDecision {
  const gone = usersOutOfPlace(snapshot, wanted);
  const deletions = gone.map((user) => ({
    type: 'user.deleted' as const,
    ...eventHead(linkOf('users', user), context),
    user: user.key,
  }));
  const changes = [...wanted.users].flatMap((user): readonly UserEvent[] => {
    const { key, name, settings } = user;
    const { password } = settings;
    const found = find(snapshot, users, key);
    const present = found === undefined || gone.includes(found) ? undefined : found;
    if (present?.settings.password.sealed === password.sealed) return [];
    const head = { ...eventHead(linkOf('users', user), context), user: key, password };
    return [
      present === undefined ? { type: 'user.created', name, ...head } : { type: 'user.updated', ...head },
    ];
  });
  const all = [...deletions, ...changes];
  if (all.length === 0) return unchanged(snapshot, [resource]);
  return accepted(events, snapshot, [resource], { events: all });
}

/** The users that are gone, or that stand elsewhere among the wanted ones. */
function usersOutOfPlace(snapshot: Snapshot, wanted: Snapshot): readonly User[] {
  const present = collectionOf(snapshot, users);
  const inPlace = new Set<string>();
  let next = 0;
  for (const { key, name } of wanted.users) {
    const position = present.positionOf(key);
    const isInPlace = position !== undefined && position >= next;
    // Created users stand last, so the users behind a created one are created again.
    if (!isInPlace || find(snapshot, users, key)?.name !== name) break;
    inPlace.add(key);
    next = position + 1;
  }
  return [...snapshot.users].filter(({ key }) => !inPlace.has(key));
}

/** Deletes the created user. A later user of the same name, or with a new password, has another hash and stays. */
function revertCreation(
  snapshot: Snapshot,
  // An event that was passed without its secrets has no password.
  { user, password }: About<'user'> & Partial<NewUser>,
  context: Context,
): UserDecision {
  const found = snapshot.users.find(user);
  if (found === undefined || found.settings.password.sealed === password?.sealed)
    return deleteUser(snapshot, user, context);
  const detail =
    'The present user of this name may not be the user that the event created: somebody has created another user since, ' +
    'or the password has changed, or the event was passed without its secrets. To remove the present user, delete the ' +
    'user by name.';
  return refused(snapshot, problem('patch-test-failed', detail), [resource]);
}

/** The route that creates a user, and hashes the password before the core gets the body. */
const create: KindRoute = {
  ...plainCommand,
  ...endpoint('users.create'),
  role: 'administrator',
  mediaTypes: ['application/json'],
  summary: 'Creates an admin user.',
  bodyShape,
  find: () => ok(users),
  ...taggedByList(users),
  link: () => resource,
  async command(_parameters, body, secrets) {
    const creation = await userCreation(body, secrets);
    if (!creation.ok) return creation;
    const { name } = body as { readonly name: string };
    return ok({
      decide: (snapshot: Snapshot, _users, context) => creation.value(snapshot, context),
      asked: { name },
      // An operator who creates the first user expects that everybody has to log in from then on.
      errorIfOpen: ({ users }: Snapshot) => (users.size === 1 ? new Error(nobodyLogsIn) : undefined),
    });
  },
};

const nobodyLogsIn =
  'There is a user now, but nobody has to log in: give createAdmin the option access.authenticate';

/** Checks a name and a password, and hashes the password. Gives the transition that creates the user. @internal */
export async function userCreation(
  body: Json,
  secrets: SecretPorts,
): Promise<Result<(snapshot: Snapshot, context: Context) => UserDecision>> {
  const parsed = shape.parseShape(bodyShape, body);
  const faults = [...(parsed.ok ? [] : parsed.faults), ...faultsOfPassword(body, secrets)];
  if (!parsed.ok || faults.length > 0) return { ok: false, problem: problemOf(faults) };
  const { name, password } = parsed.value;
  const hashed = await secrets.hash(password);
  if (!hashed.ok) return hashed;
  const sealed = { sealed: hashed.value };
  return ok((snapshot, context) => createUser(snapshot, { name, password: sealed }, context));
}

/** The fault of a password. The shape already reports a password that is missing or no text. */
function faultsOfPassword(body: Json, secrets: SecretPorts): readonly Fault[] {
  const password = isObject(body) ? body['password'] : undefined;
  if (typeof password !== 'string') return [];
  const detail = objectionTo(password, secrets);
  return detail === undefined ? [] : [{ pointer: '/password', code: 'password-unacceptable', detail }];
}

/** Why a password is not acceptable, for the library or for the host; `undefined` if the password is acceptable. */
function objectionTo(password: Json, secrets: SecretPorts): string | undefined {
  const fault = passwordFault(password);
  if (fault !== undefined || typeof password !== 'string') return fault;
  return secrets.objection(password.normalize('NFC'));
}

/** The route that changes a password, and hashes the password before the core gets the operations. */
const patch: KindRoute = {
  ...plainCommand,
  ...endpoint('users.patch'),
  isAddition: true,
  role: 'administrator',
  mediaTypes: patchMediaTypes,
  summary: `Modifies a user with a JSON Patch: ${view.names}.`,
  answerShape: fields.representation,
  find: findUser,
  ...taggedByList(users),
  link: () => resource,
  async command(_parameters, body, secrets) {
    const parsed = parseOperations(body);
    if (!parsed.ok) return parsed;
    const faults = parsed.value.filter(isWrite).flatMap((operation) => faultsOfWrite(operation, secrets));
    const hash: SecretPorts['hash'] = (password) =>
      faults.length === 0 ? secrets.hash(password) : Promise.resolve(ok(unsealable));
    const hashed = await hashOperations(parsed.value, { hash });
    if (!hashed.ok) return hashed;
    return ok({
      decide: (snapshot: Snapshot, user: User, context) =>
        refusedFor(faults, snapshot, decidePatch(snapshot, user, hashed.value, context)),
      // The only field that can be written is the password.
      asked: parsed.value.map(({ op, path }) => ({ op, path })),
    });
  },
  answer: (_snapshot, user: User, { times }) => represent(user, times),
};

/** Whether an operation sets the password. */
function isWrite({ op, path }: ParsedOperation): boolean {
  return (op === 'add' || op === 'replace') && path.length === 1 && path[0] === 'password';
}

function faultsOfWrite(
  { value = null, index: operation }: ParsedOperation,
  secrets: SecretPorts,
): readonly Fault[] {
  const detail = objectionTo(value, secrets);
  return detail === undefined
    ? []
    : [{ pointer: '/password', operation, code: 'password-unacceptable', detail }];
}

/** Replaces each password by the hash of the last one, which is the result of the patch. No other value stays. */
async function hashOperations(
  operations: readonly ParsedOperation[],
  { hash }: Pick<SecretPorts, 'hash'>,
): Promise<Result<readonly ParsedOperation[]>> {
  const password = operations.findLast(isWrite)?.value;
  const hashed = password === undefined ? undefined : await hash(password as string);
  if (hashed?.ok === false) return hashed;
  const sealed = hashed === undefined ? null : { sealed: hashed.value };
  return ok(
    operations.map((operation) =>
      operation.path[0] === 'password' && operation.value !== undefined
        ? { ...operation, value: isWrite(operation) ? sealed : null }
        : operation,
    ),
  );
}

function decidePatch(
  snapshot: Snapshot,
  user: User,
  operations: readonly ParsedOperation[],
  context: Context,
): UserDecision {
  const shown = (): JsonObject => ({ name: user.name });
  const patched = patchSettings(view, shown, user.settings, operations, nameFinder(snapshot));
  if (!patched.ok) return refused(snapshot, patched.problem, [resource]);
  const { value: after } = patched;
  return after === user.settings
    ? unchanged(snapshot, [resource])
    : decideChange(snapshot, user, after, context);
}

/** The kind "user". @internal */
export const userKind: Kind<Snapshot, UserEvent, never, never> = {
  resources: { ...users, fields },
  fields: { user: fields },
  events,
  effects: {},
  reports: {},
  routes: [
    collectionRoute(users, {
      shape: fields.representation,
      represent: (_snapshot, user, { times }) => represent(user, times),
    }),
    create,
    patch,
    commandRoute({
      ...endpoint('users.delete'),
      role: 'administrator',
      summary: 'Deletes an admin user.',
      find: findUser,
      ...taggedByList(users),
      validatorWhenGone: (snapshot) => listValidator(snapshot, users),
      link: () => resource,
      decide: decideDeletion,
    }),
  ],
};
