import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from '@jest/globals';
import { createBasicAuthentication } from 'gateway-admin-core';
import { createConsole } from 'gateway-admin-core/console';
import { createNodeHandler } from 'gateway-admin-core/node';

import { parsePlace } from '../../console/place.ts';
import { runAdmin } from '../support/running-admin.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { until } from '../system/running-gateway.ts';
import { command, servers, wordsOf } from './command-line.ts';

const serve = servers(afterEach);
const newDirectory = temporaryDirectories();

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Where the interface and the console are on a server. */
interface Mounts {
  readonly admin: `/${string}`;
  readonly console: `/${string}`;
  readonly adminPath: string;
}

/** Serves an interface with its console, and gives the address of the server. */
async function serveBoth(
  { admin: adminBase, console: consoleBase, adminPath }: Mounts,
  options: Parameters<typeof runAdmin>[0] = {},
): Promise<string> {
  const { admin } = runAdmin(options);
  const page = createNodeHandler(createConsole({ adminPath }), { basePath: consoleBase });
  const handle = createNodeHandler(admin, { basePath: adminBase });
  const server = createServer((request, response) => {
    page(request, response, () => handle(request, response));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(
    () => admin.close(),
    () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  );
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

const beside: Mounts = { admin: '/admin', console: '/console', adminPath: '../admin' };
const below: Mounts = { admin: '/', console: '/console', adminPath: '../' };

const open = (line: string, env: Readonly<Record<string, string>> = {}) =>
  command(['open', ...wordsOf(line)], { env });

describe('gateway-admin open', () => {
  it.each([
    ['/admin', beside],
    ['/admin/', beside],
    ['/console', beside],
    ['/console/', beside],
    ['', below],
    ['/', below],
    ['/console', below],
  ])('finds the console of the interface at %s', async (path, mounts) => {
    const origin = await serveBoth(mounts);
    const { code, out } = await open(`service report-service --url ${origin}${path}`);
    expect([code, out]).toEqual([0, `${origin}/console/#?open=/services/Report-Service\n`]);
  });

  it.each([
    ['service', "'bare service'", { view: 'gateway', open: '/services/Bare-Service' }],
    ['server', 'DB-SERV-1', { view: 'gateway', open: '/servers/db-serv-1' }],
    ['session', '9', { view: 'sessions', open: '/sessions/9' }],
    ['sessions', '', { view: 'sessions', open: '' }],
    ['history', '', { view: 'history', open: '' }],
    ['gateway', '', { view: 'gateway', open: '' }],
    ['', '', { view: 'gateway', open: '' }],
  ])('gives an address that the page understands: %s %s', async (what, name, place) => {
    const origin = await serveBoth(beside);
    const { code, out } = await open(`${what} ${name} --url ${origin}/admin`);
    expect([code, out]).toEqual([0, expect.stringContaining(`${origin}/console/`)]);
    expect(parsePlace(new URL(out).hash)).toMatchObject(place);
  });

  it('gives programs the address', async () => {
    const origin = await serveBoth(below);
    const { out } = await open(`history --json --url ${origin}`);
    expect(JSON.parse(out)).toEqual({ url: `${origin}/console/#history` });
    const path = await open(`history -o jsonpath=.url --url ${origin}`);
    expect(path.out).toBe(`${origin}/console/#history\n`);
  });

  it('says what is not there: a name, a console, or anybody', async () => {
    const origin = await serveBoth(beside);
    const absent = await open(`service reports --url ${origin}/admin`);
    expect(absent).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('no service named "reports"'),
    });
    const alone = await serve(runAdmin().admin);
    const without = await open(`service report-service --url ${alone}`);
    expect(without).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('No console is at this address'),
    });
    expect(await open('history --url http://127.0.0.1:1')).toMatchObject({ code: 3, out: '' });
  });

  it('takes no console that belongs to another interface', async () => {
    const origin = await serveBoth({ ...beside, adminPath: '../other' });
    expect(await open(`history --url ${origin}/admin`)).toMatchObject({ code: 1, out: '' });
  });

  it('asks for the log-in that the name needs, and for none for a view', async () => {
    const authenticate = createBasicAuthentication();
    const origin = await serveBoth(beside, { access: { authenticate } });
    expect(await open(`service report-service --url ${origin}/admin`)).toMatchObject({ code: 5, out: '' });
    const { code, out } = await open(`sessions --url ${origin}/admin`);
    expect([code, out]).toEqual([0, `${origin}/console/#sessions\n`]);
  });
});

describe.each([
  ['a terminal with a display', { isTerminal: true, display: ':0' }, true],
  ['a terminal without a display', { isTerminal: true, display: '' }, false],
  ['a pipe', { isTerminal: false, display: ':0' }, false],
])('gateway-admin open on %s', (_where, { isTerminal, display }, isOpened) => {
  it(`prints the address${isOpened ? ', and opens the page' : ' alone'}`, async () => {
    const origin = await serveBoth(beside);
    const directory = await newDirectory();
    const file = join(directory, 'opened');
    const program = join(directory, process.platform === 'darwin' ? 'open' : 'xdg-open');
    writeFileSync(program, `#!/bin/sh\nprintf %s "$*" > '${file}.new' && mv '${file}.new' '${file}'\n`);
    chmodSync(program, 0o755);
    const env = { PATH: `${directory}:${process.env['PATH'] ?? ''}`, DISPLAY: display };
    const args = ['open', 'service', 'report-service', '--url', `${origin}/admin`];
    const url = `${origin}/console/#?open=/services/Report-Service`;
    expect(await command(args, { env, isTerminal })).toEqual({ code: 0, out: `${url}\n`, err: '' });
    const opened = (): string => {
      try {
        return readFileSync(file, 'utf8');
      } catch {
        return '';
      }
    };
    if (isOpened) await until('the page is opened', () => opened() === url);
    else expect(opened()).toBe('');
  });
});

it('prints the address where nothing opens a page', async () => {
  const origin = await serveBoth(below);
  const env = { PATH: await newDirectory(), DISPLAY: ':0' };
  const { code, out, err } = await command(['open', '--url', origin], { env, isTerminal: true });
  expect({ code, out, err }).toEqual({ code: 0, out: `${origin}/console/\n`, err: '' });
});
