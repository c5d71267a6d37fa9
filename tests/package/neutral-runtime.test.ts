import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';

/** Loads a module where there is no Node and gives what it reports of stopping a service. */
async function loadWithoutNode(url: string): Promise<unknown> {
  const main = `${root}tests/package/neutral-runtime/main.js`;
  const { stdout } = await promisify(execFile)(process.execPath, [main, url]);
  return JSON.parse(stdout);
}

describe('the built main entry', () => {
  beforeAll(buildPackage, 120_000);

  it('stops a service where there is no Node', async () => {
    const report = await loadWithoutNode(pathToFileURL(`${root}dist/index.js`).href);
    expect(report).toMatchObject({
      outcome: 'accepted',
      events: [{ type: 'service.stopped', at: 0, resource: '/services/sales' }],
      effects: [{ type: 'service.stop', resource: '/services/sales' }],
      process: 'undefined',
    });
  });
});

describe('the runtime without Node', () => {
  it.each([
    ["import 'node:fs';", 'imports node:fs'],
    ["import 'fs';", 'imports fs'],
    ["await import('node:fs');", 'imports node:fs'],
    ['process.cwd();', 'process is not defined'],
    ['Buffer.alloc(1);', 'Buffer is not defined'],
    ['setImmediate(() => {});', 'setImmediate is not defined'],
  ])('refuses %s', async (code, message) => {
    await expect(loadWithoutNode(`data:text/javascript,${encodeURIComponent(code)}`)).rejects.toThrow(
      message,
    );
  });
});
