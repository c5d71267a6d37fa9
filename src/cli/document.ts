/**
 * The commands about gateway documents: `plan`, `apply`, `check`, `export`, `seal` and `hash-password`. They need the
 * whole library, which is loaded only for them: loading takes longer than everything else that the program does.
 */
import { changeOptions, connectionOptions, exitCodes, printOptions, type Command } from './command.ts';

/** The options that say how far a document goes. */
const extent = {
  prune: { does: 'delete the resources that the document lacks, of the kinds that it has' },
  'allow-empty': { does: 'with --prune, also if no resource is left then' },
  only: { value: 'KINDS', does: 'compare these alone, such as services,filters; listeners beside services' },
} as const satisfies Command['options'];

/** The command `apply`. */
export const apply: Command = {
  does: 'Makes the gateway as a document says. Asks first.',
  arguments: [{ name: 'file' }],
  options: { ...extent, ...changeOptions },
  notes: [
    'The document is a gateway document (JSON); - is the standard input. Services, servers, monitors and filters are',
    'created and changed, and services and monitors are started or stopped: all changes are made, or none. A resource',
    'that the document leaves out stays as it is; with --prune, the resource is deleted. A kind that the document does',
    'not name, such as "services", is not compared; an empty list says that there is none. A setting that a resource of',
    'the document leaves out is removed. A secret that the document leaves out stays, and users are never changed.',
  ],
  examples: ['apply gateway.json', 'apply gateway.json --only services,filters --prune'],
  async run(call) {
    const { applyDocument } = await import('./apply.ts');
    await applyDocument(call);
  },
};

/** The command `plan`. */
export const plan: Command = {
  ...apply,
  does: 'Says what apply would do, and does nothing.',
  options: {
    'exit-code': { does: `end with exit code ${String(exitCodes.differs)} if apply would change something` },
    ...extent,
    ...connectionOptions,
  },
  examples: ['plan gateway.json', 'plan gateway.json --exit-code'],
  async run(call) {
    const { planDocument } = await import('./apply.ts');
    await planDocument(call);
  },
};

/** The command `check`. */
export const check: Command = {
  does: 'Checks a gateway document, and prints every fault. Asks no gateway.',
  arguments: [{ name: 'file' }],
  options: printOptions,
  notes: [
    'The document is JSON; - is the standard input. The exit code is 1 if the document has faults. Which names of parameters',
    'are secret, and what the gateway supports, only the gateway knows: plan asks the gateway.',
  ],
  examples: ['check gateway.json'],
  async run(call) {
    const { checkDocument } = await import('./parts.ts');
    await checkDocument(call);
  },
};

/** The command `export`. */
export const exportDocument: Command = {
  does: 'Prints the configuration in use as a document for apply.',
  options: connectionOptions,
  notes: ['The document has servers, filters, monitors and services. Users and secrets are left out.'],
  examples: ['export', 'export --context staging'],
  async run(call) {
    const { printDocument } = await import('./parts.ts');
    await printDocument(call);
  },
};

/** The command `seal`. */
export const seal: Command = {
  does: 'Seals a secret for a gateway document, and prints the sealed text.',
  options: {
    'key-file': {
      value: 'FILE',
      does: 'file with the 32 bytes of the key of the gateway; also GATEWAY_ADMIN_KEY_FILE',
    },
    'password-file': {
      value: 'FILE',
      does: 'read the secret from a file; a line end at its end is ignored',
    },
  },
  notes: [
    'Without a password file, the secret is read from the terminal, and not shown, or from a pipe.',
    'In the document, { "sealed": "…" } with the text takes the place of the secret.',
    'The key is that of createSecretSealer({ key }). A gateway with a sealer of its own has another way to seal.',
  ],
  examples: ['seal --key-file sealer.key'],
  async run(call) {
    const { printSealed } = await import('./secret.ts');
    await printSealed(call);
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
    'A user of the document has the hash as its password: { "name": "ada", "password": { "sealed": "…" } }.',
  ],
  examples: ['hash-password --password-file FILE'],
  async run(call) {
    const { printHash } = await import('./secret.ts');
    await printHash(call);
  },
};
