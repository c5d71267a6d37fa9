/**
 * `hash-password`: hashes a password for the `users` of a gateway document.
 */
import { createAdmin, createPbkdf2Hasher, createSnapshot, type Hasher } from '../index.ts';
import { createScryptHasher } from '../ports/scrypt-hasher.ts';
import { CommandError, exitCodes, type Call } from './command.ts';
import { readNewPassword } from './password-input.ts';

/** Prints the hash of a new password. */
export async function printHash({ has, valueOf, surroundings, output }: Call): Promise<void> {
  const password = await readNewPassword(valueOf('password-file'), { surroundings, output });
  output.lines(await hashOf(password, has('scrypt') ? createScryptHasher() : createPbkdf2Hasher()));
}

/** Hashes a password by creating a user, so that the rules are those of every other password. */
async function hashOf(password: string, hasher: Hasher): Promise<string> {
  const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place' as const) };
  await using admin = createAdmin({ snapshot: createSnapshot({}), gateway, hasher });
  const execution = await admin.createFirstUser({ name: 'nobody', password });
  const [user] = admin.snapshot.users;
  if (user !== undefined) return user.passwordHash;
  const fault = 'problem' in execution ? execution.problem.errors?.[0] : undefined;
  throw new CommandError(`The password ${fault?.detail ?? 'could not be hashed'}.`, exitCodes.refused);
}
