/**
 * The recipe of docs/testing.md for jest, in a new CommonJS project that has the built package.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { beforeAll, expect, it } from '@jest/globals';

import { blocksOfMarkdown } from '../docs/code-block.ts';
import { buildPackage } from '../support/built-package.ts';
import { read, root } from '../support/project.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';

const makeDirectory = temporaryDirectories();

beforeAll(buildPackage);

/** The code of the section about jest. */
function codeOf(language: string): string {
  const [, section = ''] = read('docs/testing.md').split('\n## Run jest in a CommonJS project\n');
  const found = blocksOfMarkdown('docs/testing.md', section).find((block) => block.language === language);
  return found?.code ?? '';
}

/** A CommonJS project with the package, copied as npm would do it, and with the other packages that it needs. */
async function createProject(manifest: object): Promise<string> {
  const project = await makeDirectory();
  const own = join(project, 'node_modules/gateway-admin-core');
  cpSync(`${root}dist`, join(own, 'dist'), {
    recursive: true,
    filter: (path) => !path.endsWith('.ts'),
  });
  cpSync(`${root}package.json`, join(own, 'package.json'));
  const { dependencies } = JSON.parse(read('package.json')) as { readonly dependencies: object };
  for (const name of [...Object.keys(dependencies), '@jest/globals', '@swc/jest', '@swc/core']) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(`${root}node_modules/${name}`, link, 'dir');
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'commonjs', ...manifest }));
  return project;
}

/** Runs jest in a project, and gives what it printed. */
async function runJest(cwd: string): Promise<string> {
  const jest = `${root}node_modules/jest/bin/jest.js`;
  const run = promisify(execFile)(process.execPath, [jest, '--runInBand', '--no-cache'], { cwd });
  const { stderr } = await run.catch((error: unknown) => error as { readonly stderr: string });
  return stderr;
}

const withRequire = `
const { createSnapshot, stopService } = require('gateway-admin-core');
const { applyPatch } = require('gateway-admin-core/json');
const { openFileStore } = require('gateway-admin-core/file-store');
const { createNodeHandler } = require('gateway-admin-core/node');
test('the package is there', () => {
  const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'cli' }] });
  expect(stopService(snapshot, 'Sales', { now: 0 }).outcome).toBe('accepted');
  expect([applyPatch, openFileStore, createNodeHandler].map((each) => typeof each)).toEqual(['function', 'function', 'function']);
});`;

// Promise: jest-recipe
it('the recipe for jest works in a CommonJS project, with import and with require', async () => {
  const project = await createProject(JSON.parse(codeOf('json')) as object);
  writeFileSync(join(project, 'gateway.test.ts'), codeOf('ts'));
  writeFileSync(join(project, 'package.test.js'), withRequire);
  expect(await runJest(project)).toMatch(/^Tests: +2 passed, 2 total$/m);
});
