/**
 * The first program of README.md, and the same program with a store.
 */
import { execFileSync } from 'node:child_process';

import { beforeAll, expect, it } from '@jest/globals';
import { transformSync } from 'esbuild';

import { buildPackage } from '../support/built-package.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { codeOf, freePort, inLanguage, named, programStarter, writeProject } from './documented-program.ts';

const makeDirectory = temporaryDirectories();
const start = programStarter();

beforeAll(buildPackage, 120_000);

/** The port that the page uses. A test must not take a port that others use. */
const writtenPort = '8989';

const program = codeOf('README.md', undefined, named('main.ts'));
const [stop = '', look = ''] = codeOf('README.md', undefined, inLanguage('sh')).split(/^(?=curl)/m);

/** Puts a program into a new project, without its types. The compiler checks the types with all blocks of the pages. */
async function projectOf(text: string, port: string): Promise<string> {
  const project = await makeDirectory();
  const { code } = transformSync(text.replaceAll(writtenPort, port), { loader: 'ts' });
  writeProject(project, { 'main.js': code });
  return project;
}

/** Runs a command of the page, and compares what it prints with the comment below the command. */
function expectWritten(text: string, port: string): void {
  const [, command = '', output = ''] = /^(curl .*)\n# (.*)\n?$/.exec(text) ?? [];
  const line = command.replaceAll(writtenPort, port);
  expect(execFileSync('sh', ['-c', `${line} -s`], { encoding: 'utf8' })).toBe(`${output}\n`);
}

// Promise: first-program
it('the first program keeps running, and answers the commands below it as the page says', async () => {
  const port = String(await freePort());
  const { printed, end } = await start(await projectOf(program, port), 'node main.js');
  expectWritten(stop, port);
  expectWritten(look, port);
  expect(await end('SIGINT')).toEqual([null, []]);
  expect(printed()).toMatch(/\ndone: service\.stop sales\n$/);
}, 120_000);

it('the first program with the store of the page goes on where it was, also after a crash', async () => {
  const port = String(await freePort());
  const section = codeOf('README.md', 'Keep changes over a restart', inLanguage('ts'));
  const [, imports = '', opened = ''] = /^([^]*)const lasting = (.*)$/m.exec(section) ?? [];
  const project = await projectOf(
    imports + program.replace(/createAdmin\(.*\)(?=;)/, opened.replace(/;$/, '')),
    port,
  );
  const first = await start(project, 'node main.js');
  expectWritten(stop, port);
  await first.end('SIGKILL');

  const second = await start(project, 'node main.js');
  expectWritten(look, port);
  // The service is stopped in the store, and started in the document.
  expect(await second.end('SIGINT')).toEqual([null, ['DifferingDocumentError:']]);
}, 120_000);
