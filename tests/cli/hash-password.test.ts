import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from '@jest/globals';
import { createPbkdf2Hasher } from 'gateway-admin-core';
import { createScryptHasher } from 'gateway-admin-core/scrypt';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { itOnTerminal, onTerminal } from '../support/terminal.ts';

const program = join(root, 'dist/node/cli/main.js');

interface Result {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the program with something on its standard input. */
function run(args: readonly string[], input = ''): Result {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    input,
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

/** Runs the program on a terminal, and types a line after each question. */
async function type(lines: readonly string[]): Promise<Result> {
  const child = onTerminal(`"${process.execPath}" "${program}" hash-password`);
  let [out, asked] = ['', 0];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    const questions = out.split(/password: |again: /).length - 1;
    for (; asked < questions; asked += 1) child.stdin.write(lines[asked] ?? '\x03');
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, out, err: '' };
}

describe('gateway-admin hash-password', () => {
  const newDirectory = temporaryDirectories();

  beforeAll(() => {
    buildPackage();
  });

  // Promise: hash-password
  it('prints a hash that the hasher of the interface accepts', async () => {
    const { code, out, err } = run(['hash-password'], 'correct horse\n');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^\$pbkdf2-sha256\$i=600000\$\S+\n$/);
    expect(await createPbkdf2Hasher().verify('correct horse', out.trim())).toBe(true);
  });

  it('hashes with scrypt', async () => {
    const { out } = run(['hash-password', '--scrypt'], 'correct horse');
    expect(await createScryptHasher().verify('correct horse', out.trim())).toBe(true);
  });

  it('reads a file, without the line end that editors add, in any normalisation form', async () => {
    const file = join(await newDirectory(), 'password');
    writeFileSync(file, `${'pässwörd'.normalize('NFD')}\r\n`);
    const { out } = run(['hash-password', '--password-file', file]);
    expect(await createPbkdf2Hasher().verify('pässwörd'.normalize('NFC'), out.trim())).toBe(true);
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
  ])('with %j and the input %j ends with %d, and never repeats what was typed', (args, input, code, told) => {
    const result = run(['hash-password', ...args], input);
    expect([result.code, result.out]).toEqual([code, '']);
    expect(result.err).toContain(`gateway-admin: ${told}`);
    expect(result.err).not.toContain('planted');
  });

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
