import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

import { beforeAll, expect, it } from '@jest/globals';

import { appendTo, filesIn, numbersIn } from '../../support/audit-life.ts';
import { buildPackage } from '../../support/built-package.ts';
import { root } from '../../support/project.ts';
import { temporaryDirectories } from '../../support/temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();

/** Appends records without end, several at once, and prints the number of each one that is confirmed. */
const program = `
import { writeSync } from 'node:fs';
const { openAuditFile } = await import(process.argv[1]);
const [directory, start] = process.argv.slice(2);
const sink = await openAuditFile(directory, { maxBytes: 100_000 });
for (let next = Number(start); ;) {
  const numbers = Array.from({ length: 1 + next % 20 }, () => next++);
  const time = 'x'.repeat(next % 1000);
  const records = numbers.map((number) => ({ kind: 'dropped', id: 'a.' + number, time, count: 1 }));
  await sink.append(records);
  writeSync(1, numbers.join('\\n') + '\\n');
}
`;

/** Runs the program until it has printed so many numbers, and kills it. Gives the numbers. */
async function killed(directory: string, start: number, count: number): Promise<readonly number[]> {
  const entry = pathToFileURL(`${root}dist/ports/audit-file/audit-file.js`).href;
  const parameters = ['--input-type=module', '--eval', program, entry, directory, String(start)];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const numbers: number[] = [];
  // What was printed before the end is read to its end.
  for await (const line of createInterface(child.stdout)) {
    if (numbers.push(Number(line)) === count) child.kill('SIGKILL');
  }
  expect(await ended).toEqual([null, 'SIGKILL']);
  return numbers;
}

beforeAll(buildPackage);

// Promise: audit-file-killed
it('an audit file has every confirmed record after its process was killed, and each line can be read', async () => {
  const directory = await temporaryDirectory();
  const confirmed: number[] = [];
  for (const [run, count] of [1, 200, 1000].entries()) {
    const start = run * 1_000_000;
    const last = start + 999_999;
    confirmed.push(...(await killed(directory, start, count)), last);
    await appendTo(directory, last);
    const found = await numbersIn(directory);
    expect(new Set(found).size).toBe(found.length);
    expect(found.filter((number) => confirmed.includes(number))).toEqual(confirmed);
  }
  expect((await filesIn(directory)).length).toBeGreaterThan(2);
});
