/**
 * `seal` and `hash-password`: the stored form of a secret or a password, for a gateway document. An interface without a
 * real gateway makes the stored form, so the rules are the same as for a request.
 */
import {
  createAdmin,
  createPbkdf2Hasher,
  createSecretSealer,
  createSnapshot,
  type Hasher,
  type Problem,
  type SecretSealer,
} from '../index.ts';
import { createScryptHasher } from '../ports/scrypt-hasher.ts';
import { refused, wrongUse, type Call } from './command.ts';
import { readBytes, readNewPassword, warnOfReaders } from './input.ts';

/** No gateway: does everything that it is asked. */
const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place' as const) };

/** Prints the sealed text of a new secret. */
export async function printSealed({ valueOf, surroundings, output }: Call): Promise<void> {
  const keyFile = valueOf('key-file') ?? surroundings.env['GATEWAY_ADMIN_KEY_FILE'];
  await warnOfReaders(keyFile, { output });
  const key = await readKey(keyFile);
  const secret = await readNewPassword(valueOf('password-file'), { surroundings, output });
  output.lines(await sealedBy(createSecretSealer({ key }), secret));
}

/** The number of bytes of a key. */
const keyLength = 32;

async function readKey(file: string | undefined): Promise<Uint8Array> {
  if (file === undefined) throw wrongUse('seal needs the key of the gateway: --key-file FILE.', 'help seal');
  const key = await readBytes(file, keyLength + 1);
  if (key.length === keyLength) return key;
  const length = key.length > keyLength ? 'more' : String(key.length);
  throw refused(
    `A key has ${String(keyLength)} bytes, and the key file has ${length}. Give the file with the key that the gateway ` +
      'gives to createSecretSealer.',
  );
}

/** Seals a secret by setting the password of a service. */
async function sealedBy(sealer: SecretSealer, secret: string): Promise<string> {
  const snapshot = createSnapshot({ services: [{ name: 'S', router: 'R' }] });
  await using admin = createAdmin({ snapshot, gateway, sealer });
  const handled = await admin.handle({
    method: 'PATCH',
    target: '/services/S',
    headers: { 'content-type': 'application/json-patch+json' },
    body: JSON.stringify([{ op: 'add', path: '/password', value: secret }]),
  });
  const sealed = admin.snapshot.services.find('S')?.settings.password?.sealed;
  if (sealed !== undefined) return sealed;
  const { errors } = JSON.parse(
    handled.matched ? (handled.response.body as string) : '{}',
  ) as Partial<Problem>;
  throw refused(`The secret ${errors?.[0]?.detail ?? 'could not be sealed'}.`);
}

/** Prints the hash of a new password. */
export async function printHash({ has, valueOf, surroundings, output }: Call): Promise<void> {
  const password = await readNewPassword(valueOf('password-file'), { surroundings, output });
  output.lines(await hashOf(password, has('scrypt') ? createScryptHasher() : createPbkdf2Hasher()));
}

/** Hashes a password by creating a user. */
async function hashOf(password: string, hasher: Hasher): Promise<string> {
  await using admin = createAdmin({ snapshot: createSnapshot({}), gateway, hasher });
  const execution = await admin.createFirstUser({ name: 'nobody', password });
  const [user] = admin.snapshot.users;
  if (user !== undefined) return user.settings.password.sealed;
  const fault = 'problem' in execution ? execution.problem.errors?.[0] : undefined;
  throw refused(`The password ${fault?.detail ?? 'could not be hashed'}.`);
}
