/**
 * Contexts of the command line: which connection a command takes, and what is in the file.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createSnapshot } from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { command, type Result } from './command-line.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-admin-'));
});
const closing: (() => unknown)[] = [];
afterEach(async () => {
  rmSync(directory, { recursive: true });
  for (const close of closing.splice(0).reverse()) await close();
});

const file = (): string => join(directory, 'gateway-admin', 'contexts.json');

function call(line: string, env: Readonly<Record<string, string>> = {}): Promise<Result> {
  return command(line.split(' '), { env: { XDG_CONFIG_HOME: directory, ...env } });
}

/** Opens a gateway with one service, and gives its address and the log-ins that it has seen. */
async function serve(service: string): Promise<{ readonly url: string; readonly seen: string[] }> {
  const snapshot = createSnapshot({ services: [{ name: service, router: 'readconnroute' }] });
  const { admin } = runAdmin({ snapshot });
  const seen: string[] = [];
  const handler = createNodeHandler(admin);
  const server = createServer((request, response) => {
    const [, code = ''] = request.headers.authorization?.split(' ') ?? [];
    seen.push(Buffer.from(code, 'base64').toString());
    handler(request, response);
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  closing.push(
    () => admin.close(),
    () => server.close().closeAllConnections(),
  );
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, seen };
}

/** The service that a command reads. */
async function readBy(line: string, env?: Readonly<Record<string, string>>): Promise<string> {
  const { code, out, err } = await call(`${line} --json`, env);
  expect([code, err]).toEqual([0, '']);
  return (JSON.parse(out) as readonly { readonly name: string }[])[0]?.name ?? '';
}

describe('gateway-admin context', () => {
  it('adds, lists, uses and removes connections', async () => {
    expect((await call('context list')).err).toBe(`There are no contexts in ${file()}.\n`);
    expect((await call('context add prod --url http://127.0.0.1:1/admin --user ada')).code).toBe(0);
    expect((await call('context add test --url http://127.0.0.1:2')).code).toBe(0);
    expect((await call('context use prod')).code).toBe(0);
    expect((await call('context list')).out).toBe(
      [
        'CURRENT  NAME  URL                       USER',
        '*        prod  http://127.0.0.1:1/admin  ada',
        '         test  http://127.0.0.1:2        -',
        '',
      ].join('\n'),
    );
    expect((await call('context remove prod')).code).toBe(0);
    expect(JSON.parse((await call('context list --json')).out)).toEqual({
      contexts: { test: { url: 'http://127.0.0.1:2' } },
    });
  });

  it('keeps the file for the user alone, with whole paths', async () => {
    await call(
      'context add prod --url https://127.0.0.1:1 --cacert ca.pem --password-file secret --timeout 30',
    );
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({
      contexts: {
        prod: {
          url: 'https://127.0.0.1:1',
          cacert: resolve('ca.pem'),
          'password-file': resolve('secret'),
          timeout: '30',
        },
      },
    });
  });

  it('keeps the file where GATEWAY_ADMIN_CONFIG says', async () => {
    const own = join(directory, 'own.json');
    await call('context add prod --url http://127.0.0.1:1', { GATEWAY_ADMIN_CONFIG: own });
    expect(Object.keys((JSON.parse(readFileSync(own, 'utf8')) as { contexts: object }).contexts)).toEqual([
      'prod',
    ]);
    expect((await call('context list')).err).toContain('There are no contexts');
  });

  it('takes an empty GATEWAY_ADMIN_CONFIG for none', async () => {
    await call('context add prod --url http://127.0.0.1:1', { GATEWAY_ADMIN_CONFIG: '' });
    expect(existsSync(file())).toBe(true);
  });

  it('writes through a link to the file', async () => {
    const [own, link] = [join(directory, 'own.json'), join(directory, 'link.json')];
    const env = { GATEWAY_ADMIN_CONFIG: link };
    writeFileSync(own, '{"contexts":{}}');
    symlinkSync(own, link);
    expect((await call('context add prod --url http://127.0.0.1:1', env)).code).toBe(0);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(own, 'utf8')).toContain('prod');
  });

  it.each([
    ['context add', 2, 'needs a name'],
    ['context add prod', 2, 'context add needs --url URL.'],
    ['context add prod --url http://ada:planted@127.0.0.1', 2, 'must not contain a user or a password'],
    ['context add prod --url http://127.0.0.1 --user a:b', 2, 'has no colon'],
    ['context add prod --url http://127.0.0.1 --timeout 2592000', 2, 'at most 86400 seconds'],
    ['context add a/b --url http://127.0.0.1', 2, 'letters, digits'],
    ['context add taken --url http://127.0.0.1', 1, 'Try: gateway-admin context remove taken'],
    ['context use nothing', 2, 'There is no context "nothing". Try: gateway-admin context list'],
    ['context remove constructor', 2, 'There is no context "constructor".'],
    ['list services --context nothing', 2, 'There is no context "nothing".'],
    ['list services --context taken --url http://127.0.0.1', 2, 'Give --url or --context, not both.'],
  ])('refuses %s', async (line, code, told) => {
    await call('context add taken --url http://127.0.0.1:1');
    const before = readFileSync(file(), 'utf8');
    expect(await call(line)).toMatchObject({ code, out: '', err: expect.stringContaining(told) });
    expect(readFileSync(file(), 'utf8')).toBe(before);
  });

  it.each(['{', '[]', '{"contexts":{"prod":{"url":1}}}', '{"current":1,"contexts":{}}'])(
    'says that the file %s cannot be read',
    async (text) => {
      await call('context add prod --url http://127.0.0.1:1');
      writeFileSync(file(), text);
      const { code, err } = await call('list services');
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(`The file of contexts ${file()} cannot be read: `),
      ]);
    },
  );
});

describe('several processes of gateway-admin context at once', () => {
  beforeAll(() => {
    buildPackage();
  });

  /** Runs the built program with each line, all at once. Gives the exit codes. */
  function processes(lines: readonly string[]): Promise<readonly number[]> {
    const env = { ...process.env, XDG_CONFIG_HOME: directory };
    return Promise.all(
      lines.map(async (line) => {
        const args = [`${root}dist/node/cli/main.js`, ...line.split(' ')];
        const [code = -1] = (await once(spawn(process.execPath, args, { env }), 'close')) as number[];
        return code;
      }),
    );
  }

  const names = Array.from({ length: 12 }, (_, at) => `c${String(at)}`);
  const contents = async (): Promise<{ readonly current?: string; readonly contexts: object }> =>
    JSON.parse((await call('context list --json')).out) as never;

  it('keep what each of them has added, used and removed', async () => {
    const added = names.map((name) => `context add ${name} --url http://127.0.0.1:1`);
    expect(await processes(added)).toEqual(names.map(() => 0));
    expect(Object.keys((await contents()).contexts).toSorted()).toEqual(names.toSorted());
    const [used, ...rest] = names;
    const others = rest.flatMap((name) => [`context remove ${name}`, `context add ${name}-2 --url http://a`]);
    const codes = await processes([`context use ${used ?? ''}`, ...others]);
    expect(codes).toEqual(codes.map(() => 0));
    const { current, contexts } = await contents();
    expect(current).toBe(used);
    expect(Object.keys(contexts).toSorted()).toEqual([used, ...rest.map((name) => `${name}-2`)].toSorted());
    expect(readdirSync(dirname(file()))).toEqual(['contexts.json']);
  });

  it('wait for each other, and end with a message if one never ends', async () => {
    await call('context add prod --url http://127.0.0.1:1');
    writeFileSync(`${file()}.lock`, '');
    const used = call('context use prod');
    await call('context list');
    rmSync(`${file()}.lock`);
    expect((await used).code).toBe(0);
    writeFileSync(`${file()}.lock`, '');
    expect(await call('context remove prod')).toEqual({
      code: 1,
      out: '',
      err:
        `gateway-admin: Another gateway-admin changes the file of contexts ${file()}, or was ended while it did. ` +
        `Nothing was changed. Try again. If no other one runs, remove ${file()}.lock.\n`,
    });
    expect(await contents()).toMatchObject({ current: 'prod' });
  });
});

describe('a command of gateway-admin', () => {
  it('takes the address of the option, the named context, the environment, or the context in use', async () => {
    const [one, two, three] = [await serve('One'), await serve('Two'), await serve('Three')];
    await call(`context add one --url ${one.url}`);
    await call(`context add two --url ${two.url}`);
    await call('context use one');
    const [list, url, context] = [
      'list services',
      { GATEWAY_ADMIN_URL: three.url },
      { GATEWAY_ADMIN_CONTEXT: 'two' },
    ];
    expect(await readBy(list)).toBe('One');
    expect(await readBy(list, context)).toBe('Two');
    expect(await readBy(list, { ...url, ...context })).toBe('Three');
    expect(await readBy(`${list} --context two`, url)).toBe('Two');
    expect(await readBy(`${list} --url ${three.url}`, context)).toBe('Three');
  });

  it('takes the log-in of a context to the address of the context alone', async () => {
    const [own, other] = [await serve('Own'), await serve('Other')];
    const password = join(directory, 'password');
    writeFileSync(password, 'engine\n', { mode: 0o600 });
    const login = { GATEWAY_ADMIN_USER: 'env', GATEWAY_ADMIN_PASSWORD_FILE: password };
    await call(`context add own --url ${own.url} --user ada --password-file ${password}`);
    await call('context use own');
    await readBy('list services', login);
    await readBy(`list services --url ${other.url}`);
    await readBy('list services', { GATEWAY_ADMIN_URL: other.url });
    expect([own.seen, other.seen]).toEqual([['ada:engine'], ['', '']]);
    const { code, err } = await call('list services --user bob');
    expect([code, err]).toEqual([2, expect.stringContaining('The user needs a password')]);
  });
});
