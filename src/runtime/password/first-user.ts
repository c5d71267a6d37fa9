/**
 * The first admin user: created by the host, as long as there is none.
 */
import { refused } from '../../core/decision.ts';
import type { SecretPorts } from '../../core/secret.ts';
import { assertObject, type Json } from '../../json/value.ts';
import { problem } from '../../problem.ts';
import type { Transition } from '../../resources/index.ts';
import { userCreation } from '../../resources/user.ts';
import type { Snapshot } from '../../resources/snapshot.ts';

/**
 * Makes the transition that creates the first admin user. The password is checked and hashed as by `PUT /users`.
 *
 * @throws TypeError if the user is not an object
 * @internal
 */
export async function firstUserCreation(
  user: { readonly name: string; readonly password: string },
  snapshot: Snapshot,
  secrets: SecretPorts,
): Promise<Transition> {
  assertObject(user, 'user');
  const { name, password } = user;
  // Before the hashing, which takes long.
  return snapshot.users.size > 0 ? refuse : transitionOf({ name, password }, secrets);
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
