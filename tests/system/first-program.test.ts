/**
 * The first program of README.md, and the same program with a store.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { transformSync } from 'esbuild';

import { blocksOfMarkdown, type CodeBlock } from '../docs/code-block.ts';
import { buildPackage } from '../support/built-package.ts';
import { read, root } from '../support/project.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { codeOf, freePort, inLanguage, link, named } from './page-program.ts';

const makeDirectory = temporaryDirectories();
const started = new Set<ChildProcess>();

beforeAll(buildPackage);
afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** The port that the page uses. A test must not take a port that others use. */
const writtenPort = '8989';

const blocks = blocksOfMarkdown('README.md', read('README.md'));
const firstOf = (isSo: (block: CodeBlock) => boolean): string => blocks.find(isSo)?.code ?? '';
const program = firstOf(named('main.ts'));
const [stop = '', look = ''] = firstOf(inLanguage('sh')).split(/^(?=curl)/m);

/** Puts a program into a new project, without its types. The compiler checks the types with all blocks of the pages. */
async function projectOf(text: string, port: string): Promise<string> {
  const project = await makeDirectory();
  const { code } = transformSync(text.replaceAll(writtenPort, port), { loader: 'ts' });
  writeFileSync(join(project, 'main.mjs'), code);
  link(root, join(project, 'node_modules/gateway-admin-core'));
  return project;
}

/**
 * Starts the program of a project, waits for its first line, and gives a function that ends it and gives its output.
 */
async function start(
  cwd: string,
): Promise<
  (signal: NodeJS.Signals) => Promise<{ readonly printed: string; readonly errors: readonly string[] }>
> {
  const child = spawn(process.execPath, ['main.mjs'], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  started.add(child);
  const ended = once(child, 'close').finally(() => started.delete(child));
  let [printed, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const early = ended.then(() => Promise.reject(new Error(`The program has ended: ${errors}`)));
  await Promise.race([once(child.stdout, 'data'), early]);
  return async (signal) => {
    expect(child.kill(signal)).toBe(true);
    expect(await ended).toEqual([null, signal]);
    return { printed, errors: errors.match(/^.*?(?:Error|Warning):/gm) ?? [] };
  };
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
  const end = await start(await projectOf(program, port));
  expectWritten(stop, port);
  expectWritten(look, port);
  const { printed, errors } = await end('SIGINT');
  expect(printed).toMatch(/\ndone: service\.stop sales\n$/);
  expect(errors).toEqual([]);
});

it('the first program with the store of the page goes on where it was, also after a crash', async () => {
  const port = String(await freePort());
  const section = codeOf('README.md', 'Keep changes over a restart', inLanguage('ts'));
  const [, imports = '', opened = ''] = /^([^]*)const lasting = (.*);$/m.exec(section) ?? [];
  const project = await projectOf(imports + program.replace(/createAdmin\(.*\)(?=;)/, opened), port);
  const end = await start(project);
  expectWritten(stop, port);
  await end('SIGKILL');

  const endAgain = await start(project);
  expectWritten(look, port);
  // The service is stopped in the store, and started in the document.
  expect((await endAgain('SIGINT')).errors).toEqual(['DifferingDocumentError:']);
});
