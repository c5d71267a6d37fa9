/**
 * The commands about gateway documents: `plan`, `apply`, `export` and `hash-password`. What they do needs the whole library,
 * which is loaded only for them: loading takes longer than everything else that the program does.
 */
import { askingOptions, connectionOptions, exitCodes, type Command } from './command.ts';

/** The command `apply`. */
export const apply: Command = {
  does: 'Makes the gateway as a document says. Asks first.',
  arguments: [{ name: 'file' }],
  options: askingOptions,
  notes: [
    'The document is a gateway document (JSON); - is the standard input. Settings of services, servers, monitors and filters',
    'are changed, and services and monitors started or stopped. A resource that the document leaves out stays as it is. A',
    'setting that a resource of the document leaves out is removed. Users and secrets are never changed.',
  ],
  async run(call) {
    const { applyDocument } = await import('./apply.ts');
    await applyDocument(call, call.has('dry-run'));
  },
};

/** The command `plan`. */
export const plan: Command = {
  ...apply,
  does: 'Says what apply would do, and does nothing.',
  options: {
    'exit-code': { does: `end with exit code ${String(exitCodes.differs)} if apply would change something` },
    ...connectionOptions,
  },
  async run(call) {
    const { applyDocument } = await import('./apply.ts');
    await applyDocument(call, true);
  },
};

/** The command `export`. */
export const exportDocument: Command = {
  does: 'Prints the configuration in use as a document for apply.',
  options: connectionOptions,
  notes: ['The document has servers, filters, monitors and services. Users and secrets are left out.'],
  async run(call) {
    const { printDocument } = await import('./export.ts');
    await printDocument(call);
  },
};

/** The command `hash-password`. */
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
  async run(call) {
    const { printHash } = await import('./hash-password.ts');
    await printHash(call);
  },
};
