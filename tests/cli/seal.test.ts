import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from '@jest/globals';
import { createSecretSealer, createSnapshot } from 'gateway-admin-core';

import { temporaryDirectories } from '../support/temporary-directory.ts';
import { command } from './command-line.ts';

const key = new Uint8Array(32).fill(7);

describe('gateway-admin seal', () => {
  const newDirectory = temporaryDirectories();
  let directory = '';
  let keyFile = '';

  beforeAll(async () => {
    directory = await newDirectory();
    keyFile = fileOf('sealer.key', key);
  });

  function fileOf(name: string, content: string | Uint8Array): string {
    const file = join(directory, name);
    writeFileSync(file, content, { mode: 0o600 });
    return file;
  }

  it('prints a text that the gateway with this key opens, and that a document takes', async () => {
    const { code, out, err } = await command(['seal', '--key-file', keyFile], { input: 'correct horse\n' });
    expect([code, err]).toEqual([0, '']);
    const passwordSealed = out.trimEnd();
    createSnapshot({ services: [{ name: 'Sales', router: 'r', passwordSealed }] });
    expect(await createSecretSealer({ key }).open(passwordSealed)).toBe('correct horse');
    await expect(createSecretSealer().open(passwordSealed)).rejects.toThrow('another key');
  });

  it('takes the key file from the environment, and the secret from a file as it is written there', async () => {
    const secret = 'p\u00e4ss';
    const file = fileOf('secret', `${secret.normalize('NFD')}\r\n`);
    const env = { GATEWAY_ADMIN_KEY_FILE: keyFile };
    const { out } = await command(['seal', '--password-file', file], { env });
    expect(await createSecretSealer({ key }).open(out.trimEnd())).toBe(secret.normalize('NFD'));
  });

  it('asks twice on a terminal', async () => {
    const circumstances = { input: 'correct horse\ncorrect horse\n', isTerminal: true };
    const { code, out } = await command(['seal', '--key-file', keyFile], circumstances);
    expect(code).toBe(0);
    expect(await createSecretSealer({ key }).open(out.trimEnd())).toBe('correct horse');
  });

  it.each<[string, () => readonly string[], string, number, string]>([
    ['no key', () => [], 'planted', 2, 'seal needs the key of the gateway: --key-file FILE.'],
    ['a short key', () => [fileOf('a', 'x')], 'planted', 1, 'A key has 32 bytes, and the key file has 1.'],
    ['a long key', () => ['/dev/zero'], 'planted', 1, 'A key has 32 bytes, and the key file has more.'],
    ['no such file', () => ['/no/such/file'], 'planted', 1, 'The file cannot be read: ENOENT'],
    ['no secret', () => [keyFile], '', 1, 'The secret must be a string of 1 to 1024 bytes in UTF-8'],
    ['control characters', () => [keyFile], 'planted\u0007', 1, 'The secret must be a string of 1 to 1024'],
  ])('with %s prints no sealed text, and not the secret', async (_what, files, input, code, told) => {
    const args = files().flatMap((file) => ['--key-file', file]);
    const result = await command(['seal', ...args], { input });
    expect([result.code, result.out]).toEqual([code, '']);
    expect(result.err).toContain(`gateway-admin: ${told}`);
    expect(result.err).not.toContain('planted');
  });

  it('seals no text that is not UTF-8', async () => {
    const secret = fileOf('latin1', Uint8Array.of(0x61, 0xe4));
    const result = await command(['seal', '--key-file', keyFile, '--password-file', secret]);
    expect(result).toEqual({
      code: 1,
      out: '',
      err: 'gateway-admin: The file cannot be read: it is not UTF-8\n',
    });
  });
});
