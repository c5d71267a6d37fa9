/**
 * The built package in processes of its own: with nothing else alive, with another copy, and without Node.
 */
import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';

/** The end of a program, and what the program has printed. */
interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const begin = `
import { closeServiceSessions, createAdmin, createMemoryStore, createSnapshot, openAdmin, stopService }
  from ${JSON.stringify(pathToFileURL(`${root}dist/index.js`).href)};
const never = () => new Promise(() => {});
const stop = (snapshot, context) => stopService(snapshot, 'Sales', context);
const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'r' }] });
const print = (text) => console.log(text);
const limits = { effectDeadlineMs: 60, storeDeadlineMs: 60 };
const gateway = { apply: async () => {}, inspect: async () => 'in-place' };
`;

/** Runs a program in a process of its own, in which nothing else keeps the process alive. */
function run(program: string): Promise<Ended> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', begin + program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code, stdout: stdout.trim(), stderr });
    });
  });
}

const temporaryDirectory = temporaryDirectories();

beforeAll(buildPackage);

describe('a program with nothing else alive', () => {
  it('gets its answers, and no warning, whatever the host never answers', async () => {
    const ended = await run(`
      const services = Array.from({ length: 50 }, (_, at) => ({ name: 's' + at, router: 'r' }));
      const sessions = Array.from({ length: 10_000 }, (_, id) => ({
        id, state: 'open', user: 'u', address: 'a', service: '/services/Sales', connected: '2026-01-01T00:00:00Z',
      }));
      const observe = { onError() {} };
      const fail = () => Promise.reject(new Error('the wire broke'));

      let admin = createAdmin({ snapshot, gateway });
      const controller = new AbortController();
      const items = Array.from({ length: 50 }, () => admin.events({ signal: controller.signal }).next());
      await admin.execute(stop);
      controller.abort();
      print('50 readers on one signal: ' + (await Promise.all(items)).filter(({ done }) => !done).length);

      admin = createAdmin({ snapshot: createSnapshot({ services }), gateway: { apply: fail, inspect: fail }, observe });
      const executions = services.map(({ name }) =>
        admin.execute((snapshot, context) => stopService(snapshot, name, context)));
      print('50 commands at once: ' + [...new Set((await Promise.all(executions)).map(({ outcome }) => outcome))].join());
      await admin.close();

      admin = createAdmin({
        snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'r' }], sessions }),
        gateway,
      });
      const close = (snapshot, context) => closeServiceSessions(snapshot, 'Sales', context);
      print('10,000 sessions: ' + (await admin.execute(close)).outcome + ' ' + admin.snapshot.sessions.size);
      await admin.close();

      for (const inspect of [gateway.inspect, never]) {
        admin = createAdmin({ snapshot, limits, gateway: { apply: never, inspect }, observe });
        print('a silent gateway: ' + (await admin.execute(stop)).outcome);
        await admin.close();
      }

      admin = createAdmin({ snapshot, limits, gateway: { apply: never, inspect: never }, observe });
      const execution = admin.execute(stop);
      await admin.close();
      print('closed during a call: ' + (await execution).outcome);

      for (const hangs of [{ append: never }, { [Symbol.asyncDispose]: never }]) {
        admin = await openAdmin({ snapshot, limits, gateway, store: { ...createMemoryStore(), ...hangs }, observe });
        print('a silent store: ' + (await admin.execute(stop)).outcome);
        await admin.close();
      }

      const store = { ...createMemoryStore(), compact: never };
      await openAdmin({ snapshot, limits, gateway, store, observe }).catch(({ message }) => print(message));
    `);
    const said = [
      '50 readers on one signal: 50',
      '50 commands at once: unknown',
      '10,000 sessions: accepted 0',
      'a silent gateway: accepted',
      'a silent gateway: unknown',
      'closed during a call: unknown',
      'a silent store: refused',
      'a silent store: accepted',
      'The configuration store did not answer within 60 ms.',
    ];
    expect(ended).toEqual({ code: 0, stdout: said.join('\n'), stderr: '' });
  });

  it('ends while a stream of events is open in the process, and the outcome of a command is unknown', async () => {
    const ended = await run(`
      const fail = () => Promise.reject(new Error('no connection'));
      const admin = createAdmin({ snapshot, gateway: { apply: fail, inspect: fail }, observe: { onError() {} } });
      print((await admin.execute(stop)).outcome);
      const open = async () => (await admin.handle({ method: 'GET', target: '/events', headers: {} })).response.body;
      await open();
      const pieces = (await open())[Symbol.asyncIterator]();
      await pieces.next();
      pieces.next().then(() => print('never'));
      print('waits');
    `);
    expect(ended).toEqual({ code: 0, stdout: 'unknown\nwaits', stderr: '' });
  });

  it('ends when its server is closed after the client of a stream of events has left', async () => {
    const ended = await run(`
      const { createServer } = await import('node:http');
      const { createNodeHandler } = await import(${JSON.stringify(pathToFileURL(`${root}dist/adapters/node.js`).href)});
      const admin = createAdmin({ snapshot, gateway });
      const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const control = new AbortController();
      const { signal } = control;
      const { body } = await fetch('http://127.0.0.1:' + server.address().port + '/events', { signal });
      await body.getReader().read();
      print('reads');
      control.abort();
      server.close();
    `);
    expect(ended).toEqual({ code: 0, stdout: 'reads', stderr: '' });
  });
});

describe('a program with two copies of the library', () => {
  /** Another copy of the package, as npm installs one if two packages need different versions. */
  async function copyPackage(): Promise<string> {
    const directory = await temporaryDirectory();
    for (const each of ['dist', 'package.json'])
      await cp(root + each, join(directory, each), { recursive: true });
    await symlink(`${root}node_modules`, join(directory, 'node_modules'));
    return pathToFileURL(join(directory, 'dist/index.js')).href;
  }

  it('runs an interface of each copy, and knows a refusal of the other copy', async () => {
    const ended = await run(`
      const other = await import(${JSON.stringify(await copyPackage())});
      const refuse = () => Promise.reject(new other.EffectRefusedError('The other copy refuses.'));
      const admins = [
        createAdmin({ snapshot, gateway: { ...gateway, apply: refuse } }),
        other.createAdmin({ snapshot: other.createSnapshot({ services: [{ name: 'Sales', router: 'r' }] }), gateway }),
      ];
      const request = { method: 'PUT', target: '/service/Sales/stop', headers: {} };
      for (const { response } of await Promise.all(admins.map((admin) => admin.handle(request))))
        print(response.status + ' ' + (response.body ?? ''));
      print(admins.map((admin) => admin.snapshot.services.find('sales').state).join(' '));
      print(createAdmin === other.createAdmin);
    `);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const [refused, accepted, states, isSame] = ended.stdout.split('\n');
    expect(refused).toMatch(/^409 .*The gateway refused: The other copy refuses\./);
    expect([accepted, states, isSame]).toEqual(['204 ', 'started stopped', 'false']);
  });
});

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

describe('an interface that nothing watches', () => {
  it('runs nothing for an audit or for instruments, neither for a PATCH nor for a GET', async () => {
    const { stdout, stderr } = await run(`
      const { counts } = await import(${JSON.stringify(pathToFileURL(`${root}bench/counts.mjs`).href)});
      print(JSON.stringify(await counts()));`);
    expect(stderr).toBe('');
    const rows = Object.entries(
      JSON.parse(stdout) as Readonly<Record<string, { readonly watching: number }>>,
    );
    const requests = rows.filter(([name]) => /^(?:GET|PATCH)/.test(name));
    expect(requests.map(([, { watching }]) => watching)).toEqual([0, 0, 0, 0, 0]);
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
