/**
 * `hash-password`: hashes a password for the `users` of a gateway document.
 */
import { createAdmin, createFirstUser, createPbkdf2Hasher, createSnapshot, type Hasher } from '../index.ts';
import { createScryptHasher } from '../ports/scrypt-hasher.ts';
import { CommandError, exitCodes, type Command } from './command.ts';
import { readNewPassword } from './password-input.ts';

/** The command. */
export const hashPassword: Command = {
  does: 'Hashes a password for the users of a gateway document, and prints the hash.',
  options: {
    'password-file': {
      value: 'FILE',
      does: 'read the password from a file; a line end at its end is ignored',
    },
    scrypt: { does: 'hash with scrypt, for a gateway that uses createScryptHasher' },
  },
  notes: [
    'Without a file, the password is read from the terminal, and not shown, or from a pipe.',
    'The hash is the passwordHash of a user: { "name": "ada", "passwordHash": "…" }.',
  ],
  async run({ has, valueOf, surroundings, output }) {
    const password = await readNewPassword(valueOf('password-file'), surroundings);
    output.lines(await hashOf(password, has('scrypt') ? createScryptHasher() : createPbkdf2Hasher()));
  },
};

/** Hashes a password by creating a user, so that the rules are those of every other password. */
async function hashOf(password: string, hasher: Hasher): Promise<string> {
  const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place' as const) };
  await using admin = createAdmin({ snapshot: createSnapshot({}), gateway, hasher });
  const execution = await createFirstUser(admin, { name: 'nobody', password });
  const [user] = admin.snapshot.users;
  if (user !== undefined) return user.passwordHash;
  const fault = 'problem' in execution ? execution.problem.errors?.[0] : undefined;
  throw new CommandError(`The password ${fault?.detail ?? 'could not be hashed'}.`, exitCodes.refused);
}
