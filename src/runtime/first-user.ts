/**
 * The first admin user: created by the host, as long as there is none.
 */
import { refused } from '../core/decision.ts';
import type { SecretPorts } from '../core/secret.ts';
import { assertObject, type Json } from '../json/value.ts';
import { problem } from '../problem.ts';
import type { Transition } from '../resources/index.ts';
import { userCreation } from '../resources/user.ts';
import type { Admin } from './admin.ts';
import type { Execution } from './command/execution.ts';

/** The interfaces of this library, with the operations on secrets that no other program gets. */
const secretsOf = new WeakMap<object, SecretPorts>();

/** Lets {@link createFirstUser} hash passwords as an interface does. @internal */
export function shareSecrets(admin: Admin, secrets: SecretPorts): void {
  secretsOf.set(admin, secrets);
}

/**
 * Creates the first admin user. The password is checked and hashed as by `PUT /users`.
 *
 * Refused with `user-exists` if there is a user, also if that user was created a moment before. Refused with
 * `password-unacceptable` or `validation-failed` if the password or the name is not acceptable.
 *
 * @param admin - the running interface
 * @param user - the name and the password, in plain text
 * @returns what became of the command; see {@link Admin.execute}
 * @throws TypeError if the interface does not come from {@link createAdmin} or {@link openAdmin}
 *
 * @example
 * ```ts
 * import { createAdmin, createBasicAuthentication, createFirstUser, createSnapshot } from 'gateway-admin-core';
 *
 * const admin = createAdmin({
 *   snapshot: createSnapshot({}),
 *   gateway: { apply: async () => {}, inspect: async () => 'in-place' },
 *   authenticate: createBasicAuthentication(),
 * });
 * (await createFirstUser(admin, { name: 'ada', password: 'correct horse' })).outcome; // => 'accepted'
 * (await createFirstUser(admin, { name: 'eve', password: 'battery staple' })).outcome; // => 'refused'
 * ```
 *
 * @see docs/first-user.md; docs/spec-choices.md 32.
 *
 * @public
 */
export async function createFirstUser(
  admin: Admin,
  user: { readonly name: string; readonly password: string },
): Promise<Execution> {
  const secrets = secretsOf.get(admin);
  if (secrets === undefined)
    throw new TypeError('createFirstUser needs the interface that createAdmin or openAdmin has given');
  assertObject(user, 'user');
  const { name, password } = user;
  // Before the hashing, which takes long.
  const creation = admin.snapshot.users.size > 0 ? refuse : await transitionOf({ name, password }, secrets);
  return admin.execute(creation, { actor: name });
}

async function transitionOf(user: Json, secrets: SecretPorts): Promise<Transition> {
  const creation = await userCreation(user, secrets);
  if (!creation.ok) return (snapshot) => refused(snapshot, creation.problem, ['/users']);
  return (snapshot, context) =>
    snapshot.users.size > 0 ? refuse(snapshot, context) : creation.value(snapshot, context);
}

const refuse: Transition = (snapshot) =>
  refused(
    snapshot,
    problem('user-exists', 'There is an admin user already. Log in as that user to create other users.'),
    ['/users'],
  );
