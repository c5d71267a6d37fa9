/**
 * `seal`: seals a secret for a gateway document.
 */
import {
  createAdmin,
  createSecretSealer,
  createSnapshot,
  type Problem,
  type SecretSealer,
} from '../index.ts';
import { CommandError, exitCodes, type Call } from './command.ts';
import { readBytes } from './input.ts';
import { warnOfReaders } from './input.ts';
import { readNewPassword } from './password-input.ts';

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
  if (file === undefined)
    throw new CommandError(
      'seal needs the key of the gateway: --key-file FILE. Try: gateway-admin help seal',
      exitCodes.wrongUse,
    );
  const key = await readBytes(file, keyLength + 1);
  if (key.length === keyLength) return key;
  const length = key.length > keyLength ? 'more' : String(key.length);
  throw new CommandError(
    `A key has ${String(keyLength)} bytes, and the key file has ${length}. Give the file with the key that the gateway ` +
      'gives to createSecretSealer.',
    exitCodes.refused,
  );
}

/** Seals a secret by setting the password of a service, so that the rules are those of every other secret. */
async function sealedBy(sealer: SecretSealer, secret: string): Promise<string> {
  const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place' as const) };
  const snapshot = createSnapshot({ services: [{ name: 'S', router: 'R' }] });
  await using admin = createAdmin({ snapshot, gateway, sealer });
  const handled = await admin.handle({
    method: 'PATCH',
    target: '/services/S',
    headers: { 'content-type': 'application/json-patch+json' },
    body: JSON.stringify([{ op: 'add', path: '/password', value: secret }]),
  });
  const sealed = admin.snapshot.services.find('S')?.settings.passwordSealed;
  if (sealed !== undefined) return sealed;
  const { errors } = JSON.parse(
    handled.matched ? (handled.response.body as string) : '{}',
  ) as Partial<Problem>;
  throw new CommandError(`The secret ${errors?.[0]?.detail ?? 'could not be sealed'}.`, exitCodes.refused);
}
