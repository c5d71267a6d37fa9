/**
 * Commands that take a secret from a file, a pipe or a terminal, and ask no gateway.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from '@jest/globals';
import { createPbkdf2Hasher, createSecretSealer, createSnapshot } from 'gateway-admin-core';
import { createScryptHasher } from 'gateway-admin-core/scrypt';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { itOnTerminal, onTerminal } from '../support/terminal.ts';
import { command } from './command-line.ts';

const newDirectory = temporaryDirectories();
const program = join(root, 'dist/node/cli/main.js');

/** Runs the program on a terminal, and types a line after each question. */
async function type(
  lines: readonly string[],
): Promise<{ readonly code: number | null; readonly out: string }> {
  const child = onTerminal(`"${process.execPath}" "${program}" hash-password`);
  let [out, asked] = ['', 0];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    const questions = out.split(/password: |again: /).length - 1;
    for (; asked < questions; asked += 1) child.stdin.write(lines[asked] ?? '\x03');
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, out };
}

describe('gateway-admin hash-password', () => {
  beforeAll(() => {
    buildPackage();
  });

  // Promise: hash-password
  it('prints a hash that the hasher of the interface accepts', async () => {
    const { code, out, err } = await command(['hash-password'], { input: 'correct horse\n' });
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^\$pbkdf2-sha256\$i=600000\$\S+\n$/);
    expect(await createPbkdf2Hasher().verify('correct horse', out.trim())).toBe(true);
  });

  it('hashes with scrypt what is in a file, without the line end that editors add, in any normalisation form', async () => {
    const file = join(await newDirectory(), 'password');
    writeFileSync(file, `${'pässwörd'.normalize('NFD')}\r\n`);
    const { out } = await command(['hash-password', '--scrypt', '--password-file', file]);
    expect(await createScryptHasher().verify('pässwörd'.normalize('NFC'), out.trim())).toBe(true);
  });

  it.each([
    [[], '', 1, 'The password must have at least one character.'],
    [[], 'a\nb\n', 1, 'The password must not contain control characters.'],
    [[], 'x'.repeat(1025), 1, 'The password must have at most 1024 bytes.'],
    [['--password-file', '/dev/zero'], '', 1, 'The file cannot be read: it has more than 16,384 characters'],
    [['--password-file', '/no/such/file'], '', 1, 'The file cannot be read: ENOENT'],
    [['planted-password'], '', 2, 'hash-password takes no arguments, only options.'],
    [
      ['--password', 'planted-password'],
      '',
      2,
      'hash-password takes no option --password. Did you mean --password-file?',
    ],
    [
      ['--password=planted-password'],
      '',
      2,
      'hash-password takes no option --password. Did you mean --password-file?',
    ],
    [['--scrypt=planted-password'], '', 2, 'hash-password takes no value after --scrypt.'],
  ])(
    'with %j and the input %j ends with %d, and never repeats what was typed',
    async (args, input, code, told) => {
      const result = await command(['hash-password', ...args], { input });
      expect([result.code, result.out]).toEqual([code, '']);
      expect(result.err).toContain(`gateway-admin: ${told}`);
      expect(result.err).not.toContain('planted');
    },
  );

  itOnTerminal('asks twice on a terminal, and shows nothing of what is typed', async () => {
    const { code, out } = await type(['correct horse\n', 'correct horse\n']);
    expect(code).toBe(0);
    expect(out).not.toContain('horse');
    const [hash = ''] = /\$pbkdf2\S+/.exec(out) ?? [];
    expect(await createPbkdf2Hasher().verify('correct horse', hash)).toBe(true);
  });

  itOnTerminal('prints no hash if the two passwords differ, or if the user interrupts', async () => {
    const differing = await type(['correct horse\n', 'battery staple\n']);
    expect([differing.code, differing.out.includes('$pbkdf2')]).toEqual([1, false]);
    expect(differing.out).toContain('The two passwords differ. Try again.');
    expect(await type([])).toMatchObject({ code: 130 });
  });
});

const key = new Uint8Array(32).fill(7);

describe('gateway-admin seal', () => {
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
    const sealed = out.trimEnd();
    createSnapshot({ services: [{ name: 'Sales', router: 'r', password: { sealed } }] });
    expect(await createSecretSealer({ key }).open(sealed)).toBe('correct horse');
    await expect(createSecretSealer().open(sealed)).rejects.toThrow('another key');
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
    ['no secret', () => [keyFile], '', 1, 'The secret must have at least one character.'],
    [
      'control characters',
      () => [keyFile],
      'planted\u0007',
      1,
      'The secret must not contain control characters.',
    ],
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
