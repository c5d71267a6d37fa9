import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { startingDocument } from '../../examples/gateway/document.ts';
import { buildExamples } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { connectDatabase } from './database-client.ts';
import { npmStart } from './npm-start.ts';
import { readUnder, runToEnd, until } from './running-gateway.ts';

type Started = ReturnType<typeof npmStart>;

let folder: string;
let started: Started | undefined;

// `npm start` builds as well, and not at the same time.
beforeAll(buildExamples);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleet-'));
  chmodSync(folder, 0o755); // As root, another account has to get in.
});

afterEach(async () => {
  if (started !== undefined) await interrupted(started);
  rmSync(folder, { recursive: true });
});

async function start(gateways: number, isReady: RegExp): Promise<Started> {
  const shared = ['--allow-host', 'gateway.example', '--environment', 'test'];
  const fleet = npmStart(folder, '--fleet', String(gateways), ...shared);
  started = fleet;
  await printed(fleet, isReady);
  return fleet;
}

function printed({ printed }: Started, text: RegExp): Promise<void> {
  return until(`${String(text)} is printed`, () => text.test(printed.text));
}

async function interrupted(fleet: Started): Promise<void> {
  started = undefined;
  fleet.interrupt();
  await fleet.closed;
}

/** What was printed last of a node: the URL of its interface, the port of a listener, or its process. */
function placeOf({ printed }: Started, node: string, what: string): string {
  const lines = printed.text.matchAll(new RegExp(`^${node} .*\\b${what} (?:127\\.0\\.0\\.1:)?(\\S+)$`, 'gm'));
  return [...lines].at(-1)?.[1] ?? '';
}

async function ask(fleet: Started, node: string, method: string, target: string, body?: unknown) {
  const headers = { 'content-type': 'application/json-patch+json' };
  const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
  const response = await fetch(placeOf(fleet, node, 'admin') + target, { method, ...sent });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Shown };
}

type Shown = Readonly<Record<string, unknown>>;

/** Sets the limit of clients, and waits until nodes have it. */
async function limit(
  fleet: Started,
  asked: string,
  clients: number,
  others: readonly string[],
): Promise<void> {
  const patch = [{ op: 'add', path: '/max_connection', value: clients }];
  expect((await ask(fleet, asked, 'PATCH', '/services/read-write', patch)).status).toBe(200);
  for (const node of others) {
    const isSo = async (): Promise<boolean> =>
      (await ask(fleet, node, 'GET', '/services/read-write')).body['max_connection'] === clients;
    await until(`${node} has followed`, isSo);
  }
}

/** The first of free ports in a row. */
async function freePorts(count: number): Promise<number> {
  const listeners = [{ name: 'any', protocol: 'postgresql', address: '127.0.0.1', port: 0 }];
  const { services } = await startingDocument(
    { services: [{ name: 'any', router: 'any', listeners }] },
    count,
  );
  return services?.[0]?.listeners?.[0]?.port ?? 0;
}

function processes(): string {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
}

describe('npm start -- --fleet', () => {
  it('runs gateways that share changes, brings a killed one back, and leaves nothing at the end', async () => {
    const fleet = await start(3, /^Ready after/m);
    expect((await readUnder('gateway.example', placeOf(fleet, 'two', 'admin')))[0]).toBe(200);
    expect((await ask(fleet, 'two', 'GET', '/')).body).toMatchObject({ name: 'two', environment: 'test' });
    await limit(fleet, 'one', 1, ['two', 'three']);
    const client = await connectDatabase(Number(placeOf(fleet, 'three', 'Read-Write')));
    expect(await client.valueOf('select 40 + 2')).toBe(42);
    await expect(connectDatabase(Number(placeOf(fleet, 'three', 'Read-Write')))).rejects.toThrow(
      'as many clients as it may have: 1',
    );
    await client.close();

    process.kill(Number(placeOf(fleet, 'two', 'process')), 'SIGKILL');
    await limit(fleet, 'three', 7, ['one']);
    expect((await ask(fleet, 'one', 'PUT', '/service/reports/stop')).status).toBe(204);
    await printed(fleet, /^two is back/m);
    expect((await ask(fleet, 'two', 'GET', '/services/read-write')).body).toMatchObject({
      max_connection: 7,
    });
    expect((await ask(fleet, 'two', 'GET', '/services/reports')).body).toMatchObject({ state: 'stopped' });
    await expect(connectDatabase(Number(placeOf(fleet, 'two', 'Reports')))).rejects.toThrow('ECONNREFUSED');
    await limit(fleet, 'two', 8, ['one', 'three']);

    // One definition, and a port for each gateway of the machine.
    const added = { name: 'More', protocol: 'postgresql', address: '127.0.0.1', port: await freePorts(3) };
    const target = `${placeOf(fleet, 'two', 'admin')}/services/read-write/listeners`;
    const headers = { 'content-type': 'application/json' };
    const created = await fetch(target, { method: 'POST', headers, body: JSON.stringify(added) });
    expect(created.status).toBe(201);
    for (const [at, node] of ['one', 'two', 'three'].entries()) {
      const said = String.raw`^${node} .*listener\.created.*: 127\.0\.0\.1:${String(added.port + at)}$`;
      await printed(fleet, new RegExp(said, 'm'));
      const more = await connectDatabase(added.port + at);
      expect(await more.valueOf('select 40 + 2')).toBe(42);
      await more.close();
    }

    // Ctrl-C while a killed node comes back.
    process.kill(Number(placeOf(fleet, 'two', 'process')), 'SIGKILL');
    await printed(fleet, /^two has ended[^]*^two has ended/m);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await interrupted(fleet);
    expect(fleet.printed.text).toContain('two has ended with SIGKILL. It starts again in a second.');
    expect(fleet.printed.text).not.toMatch(/Error|\n +at /);
    expect(readdirSync(folder)).toEqual([]);
    expect(processes()).not.toContain(folder);
    expect(processes()).not.toContain(`${root}examples/dist/gateway/node.js`);
  });

  it('ends clean with a Ctrl-C at any moment of its start', async () => {
    for (const [gateways, moment] of [
      [2, /Starting three PostgreSQL/],
      [2, /Starting two gateways/],
    ] as const) {
      const fleet = await start(gateways, moment);
      await interrupted(fleet);
      expect([moment, readdirSync(folder)]).toEqual([moment, []]);
      expect(processes()).not.toContain(folder);
      expect(processes()).not.toContain(`${root}examples/dist/gateway/node.js`);
      expect(fleet.printed.text).not.toMatch(/Error|\n +at /);
    }
  });

  it.each([
    [['--fleet', '0'], '--fleet must be a number from 1 to 9, and not "0".'],
    [['--fleet', '10'], '--fleet must be a number from 1 to 9, and not "10".'],
    [['--fleet', 'two'], '--fleet must be a number from 1 to 9, and not "two".'],
    [
      ['--fleet', '3', '--admin-port', '65534'],
      '--admin-port must be a number from 0 to 65533, and not "65534".',
    ],
    [
      ['--fleet', '3', '--store', 'x'],
      '--fleet has a document and a store of its own. Leave out --document and --store.',
    ],
  ])('refuses %j', async (args, sentence) => {
    expect(await runToEnd(args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `${sentence}\nTo see all options: npm start -- --help\n`,
    });
  });
});
