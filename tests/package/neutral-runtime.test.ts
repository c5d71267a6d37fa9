import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';

/** Loads a module where there is no Node and gives what it reports of stopping a service. */
async function loadWithoutNode(url: string): Promise<unknown> {
  const main = `${root}tests/package/neutral-runtime/main.js`;
  const { stdout } = await promisify(execFile)(process.execPath, [main, url]);
  return JSON.parse(stdout);
}

const stopped = {
  outcome: 'accepted',
  events: [{ type: 'service.stopped', at: 0, resource: '/services/sales' }],
  effects: [{ type: 'service.stop', resource: '/services/sales' }],
  process: 'undefined',
};

beforeAll(buildPackage);

describe('the built main entry', () => {
  it('stops a service where there is no Node', async () => {
    const report = await loadWithoutNode(pathToFileURL(`${root}dist/index.js`).href);
    expect(report).toMatchObject(stopped);
  });
});

describe('a bundle for a browser', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gateway-bundle-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  async function bundle(platform: 'browser' | 'node') {
    const outfile = join(directory, `${platform}.mjs`);
    const { metafile } = await build({
      entryPoints: [`${root}dist/index.js`],
      outfile,
      platform,
      bundle: true,
      format: 'esm',
      metafile: true,
    });
    const [output] = Object.values(metafile.outputs);
    const used = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
    const hasCompiler = used.some(([file]) => file.endsWith('/zod/v4/core/compile.js'));
    return { url: pathToFileURL(outfile).href, hasCompiler };
  }

  it('stops a service without the compiler of shapes', async () => {
    const { url, hasCompiler } = await bundle('browser');
    expect(hasCompiler).toBe(false);
    expect(await loadWithoutNode(url)).toMatchObject(stopped);
  });

  it('differs from one for Node, which has the compiler', async () => {
    expect(await bundle('node')).toMatchObject({ hasCompiler: true });
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
