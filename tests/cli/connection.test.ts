/**
 * The connection of the command line: what is at an address, the options that reach it, and the contexts that keep them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
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
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Admin, createSnapshot, stopService } from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';

import { serveConsole } from '../console/served-console.ts';
import { buildPackage } from '../support/built-package.ts';
import { selfSigned } from '../support/certificate.ts';
import { root } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { command, type Result } from './command-line.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const directory = mkdtempSync(join(tmpdir(), 'gateway-admin-'));
afterAll(() => rmSync(directory, { recursive: true }));

function fileOf(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

const { cert, key } = selfSigned();
const [certFile, keyFile] = [fileOf('cert.pem', cert), fileOf('key.pem', key)];

function run(): Admin {
  const { admin } = runAdmin();
  closing.push(() => admin.close());
  return admin;
}

/** Opens a server, and gives its host and port. */
async function open(server: Server, port = 0): Promise<string> {
  const sockets = new Set<Socket>();
  server
    .on('connection', (socket) => sockets.add(socket))
    .on('secureConnection', (socket: Socket) => sockets.add(socket));
  server.listen(port, '0.0.0.0');
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server, 'listening');
  return `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

const overTls = (admin: Admin, options: ServerOptions = {}): Promise<string> =>
  open(createTlsServer({ cert, key, ...options }, createNodeHandler(admin)));

const list = (url: string, ...options: readonly string[]): Promise<Result> =>
  command(['list', 'services', '--url', url, ...options]);

/** What a command says that reaches nobody. */
async function complaintOf(url: string, ...options: readonly string[]): Promise<string> {
  const { code, out, err } = await list(url, ...options);
  expect([code, out]).toEqual([3, '']);
  return err;
}

describe('gateway-admin', () => {
  it('reaches a port that fetch refuses', async () => {
    for (const port of [10_080, 6000, 6566, 6669]) {
      const address = await open(createServer(createNodeHandler(run())), port).catch(() => undefined);
      if (address === undefined) continue;
      await expect(fetch(`http://${address}`)).rejects.toThrow('fetch failed');
      expect(await list(`http://${address}`)).toMatchObject({ code: 0, err: '' });
      return;
    }
    throw new Error('All these ports are in use');
  });

  it('trusts the authorities of --cacert', async () => {
    const url = `https://${await overTls(run())}`;
    expect(await list(url, '--cacert', certFile)).toMatchObject({ code: 0, err: '' });
  });

  it('shows a certificate to a server that asks for one', async () => {
    const url = `https://${await overTls(run(), { requestCert: true, ca: cert })}`;
    const both = fileOf('both.pem', cert + key);
    for (const own of [
      ['--cert', certFile, '--key', keyFile],
      ['--cert', both],
    ])
      expect(await list(url, '--cacert', certFile, ...own)).toMatchObject({ code: 0, err: '' });
    expect(await complaintOf(url, '--cacert', certFile)).toMatch(
      /127.0.0.1:\d+ (?:refuses the TLS connection|closed the connection).* give --cert FILE and --key FILE\./,
    );
  });

  it('says that a certificate is not trusted', async () => {
    const address = await overTls(run());
    expect(await complaintOf(`https://${address}`)).toBe(
      `gateway-admin: The certificate of ${address} is not trusted: self-signed certificate. ` +
        'Give the certificate of its authority with --cacert FILE.\n',
    );
  });

  it('says that a certificate is for other names', async () => {
    const address = (await overTls(run())).replace('127.0.0.1', '127.0.0.2');
    expect(await complaintOf(`https://${address}`, '--cacert', certFile)).toContain(
      `The certificate of ${address} is for other names: `,
    );
  });

  it('says that a server does not speak TLS', async () => {
    const address = await open(createServer(createNodeHandler(run())));
    expect(await complaintOf(`https://${address}`)).toMatch(
      /What answers at 127.0.0.1:\d+ does not speak TLS: .* give the address with http:\/\/\.\n/,
    );
  });

  it('says that a server may speak TLS', async () => {
    const address = await overTls(run());
    expect(await complaintOf(`http://${address}`)).toMatch(
      /127.0.0.1:\d+ closed the connection without an answer: socket hang up\. .* with https:\/\/\./,
    );
  });

  it('says that a server does not speak HTTP', async () => {
    const address = await open(createTcpServer((socket) => socket.end('220 mail ready\r\n')));
    expect(await complaintOf(`http://${address}`)).toContain(
      `What answers at ${address} does not speak HTTP`,
    );
  });
});

describe('gateway-admin and a server that is silent', () => {
  const beginning: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('[');
  };
  const servers: readonly (readonly [string, () => Server, string])[] = [
    ['from the beginning', () => createTcpServer(), 'http'],
    ['instead of TLS', () => createTcpServer(), 'https'],
    ['in the middle of an answer', () => createServer(beginning), 'http'],
  ];

  it.each(servers)('%s, ends after --timeout', async (_when, create, scheme) => {
    const url = `${scheme}://${await open(create())}`;
    for (const args of [
      ['list', 'services'],
      ['stop', 'service', 'x'],
    ]) {
      const { code, err } = await command([...args, '--url', url, '--timeout', '0.2']);
      expect([code, err]).toEqual([
        3,
        `gateway-admin: Nothing came from ${url}/ for 0.2 s. Wait longer with --timeout SECONDS, or give another address.\n`,
      ]);
    }
  });

  it('waits longer for a command, and for events', async () => {
    const { admin, gateway } = runAdmin();
    closing.push(() => admin.close());
    const opened: string[] = [];
    const handler = createNodeHandler(admin);
    const url = `http://${await open(
      createServer((request, response) => {
        opened.push(request.url ?? '');
        const wait = request.method === 'GET' || request.url?.includes('dry_run') === true ? 0 : 400;
        setTimeout(() => handler(request, response), wait);
      }),
    )}`;
    const [events, stopped] = await Promise.all([
      command(['events', '--url', url, '--timeout', '0.2'], {
        leavesWhen: (out) => out.includes('My Service was stopped'),
      }),
      command(['stop', 'service', 'my-service', '--url', url, '--timeout', '0.2']),
    ]);
    expect([events.code, stopped.code]).toEqual([0, 0]);
    expect(events.out).toContain('My Service was stopped');
    expect(opened.filter((target) => target === '/events')).toHaveLength(1);
    expect(gateway.applied).toHaveLength(1);
    expect(admin.plan((state, context) => stopService(state, 'My Service', context)).outcome).toBe(
      'unchanged',
    );
  });
});

describe('gateway-admin with the address of the console', () => {
  const stop = ['stop', 'service', 'old-sales', '--dry-run'];

  it.each([
    ['beside the interface', '/console', '/admin', '../admin'],
    ['below the interface', '/console', '/', '../'],
    ['behind the path of a proxy', '/a/b/console', '/a/b/x%22%26y', '../x%22%26y'],
  ] as const)('%s, finds the interface', async (_where, consolePath, adminPath, path) => {
    const { origin } = await serveConsole({ consolePath, adminPath, console: { adminPath: path } });
    const [own, there] = [origin + consolePath, origin + adminPath];
    for (const [address, shown] of [
      [own, own],
      [`${own}/`, `${own}/`],
      [`${own}#?open=/services/Sales`, own],
    ] as const)
      for (const args of [['list', 'services'], stop, ['list', 'servers', '--range', '0-0']]) {
        const { code, err } = await command([...args, '--url', address]);
        const told = `gateway-admin: the console is at ${shown}, and the interface at ${there}\n`;
        expect([code, err.replace(/\d of \d\n/, '')]).toEqual([0, told]);
      }
    expect(await command(['list', 'services', '--url', there])).toMatchObject({ code: 0, err: '' });
  });

  it('sends a log-in to the interface alone', async () => {
    const { origin, requests } = await serveConsole({
      adminPath: '/admin',
      console: { adminPath: '../admin' },
    });
    const login = ['--user', 'ada', '--password-file', fileOf('console-password', 'engine')];
    await list(`${origin}/console`, ...login);
    const sent = requests.flatMap(({ url = '', headers }) =>
      headers.authorization === undefined ? [] : [url],
    );
    expect(sent).toEqual(['/console/services', '/admin/services']);
  });

  it('names the address of a page that is another one', async () => {
    const page = '<html><meta name="admin-path" content="//127.0.0.2/admin"></html>';
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(page);
    });
    const url = `http://${await open(server)}/console`;
    const { code, err } = await list(url);
    expect([code, err]).toEqual([
      3,
      expect.stringContaining(`Something other than the interface answers at ${url}`),
    ]);
  });
});

describe('gateway-admin and a server that changes the protocol', () => {
  it('says that something other than the interface answers', async () => {
    const server = createTcpServer((socket) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n');
    });
    server.listen(0, '127.0.0.1');
    closing.push(() => server.close());
    await once(server, 'listening');
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const told = `Something other than the interface answers at ${url}/: status 101.`;
    expect(await complaintOf(url)).toContain(told);
    const { code, err } = await command(['stop', 'service', 'my-service', '--url', url]);
    expect([code, err]).toEqual([3, expect.stringContaining(told)]);
  });
});

describe('gateway-admin refuses', () => {
  it.each([
    ['--cacert', keyFile, '--cacert, --cert and --key take files in PEM form'],
    ['--cert', certFile, '--cacert, --cert and --key take files in PEM form'],
    ['--key', certFile, '--cacert, --cert and --key take files in PEM form'],
  ])('%s %s', async (option, value, told) => {
    const { code, err } = await list('https://127.0.0.1:1', option, value);
    expect([code, err]).toEqual([2, expect.stringContaining(told)]);
  });
});

describe('gateway-admin and a file that every user can read', () => {
  const warning = (file: string): string =>
    `gateway-admin: every user of this machine can read ${file}. Try: chmod 600 ${file}\n`;
  const shared = (name: string, text: string): string => {
    const file = fileOf(name, text);
    chmodSync(file, 0o644);
    return file;
  };

  it('warns of a password of the user, and of a new one', async () => {
    const url = `http://${await open(createServer(createNodeHandler(run())))}`;
    const [password, next] = [shared('password', 'engine'), shared('next', 'builder')];
    const login = ['--user', 'ada', '--password-file', password];
    expect(await list(url, ...login)).toMatchObject({ code: 0, err: warning(password) });
    expect(await list(url, ...login, '--json')).toMatchObject({ code: 0, err: '' });
    const added = await command(['user', 'add', 'bob', '--new-password-file', next, '--url', url]);
    expect(added).toMatchObject({ code: 0, err: warning(next) });
    const set = ['patch', 'service', 'my-service', '--set-from', `password=${next}`];
    expect(await command([...set, '--url', url])).toMatchObject({ code: 0, err: warning(next) });
    expect(await list(url, '--user', 'ada', '--password-file', fileOf('own', 'engine'))).toMatchObject({
      err: '',
    });
  });

  it('warns of a key', async () => {
    const url = `https://${await overTls(run())}`;
    const both = shared('both.pem', cert + key);
    expect(await list(url, '--cacert', certFile, '--cert', both)).toMatchObject({
      code: 0,
      err: warning(both),
    });
  });
});

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'gateway-admin-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const file = (): string => join(home, 'gateway-admin', 'contexts.json');

function call(line: string, env: Readonly<Record<string, string>> = {}): Promise<Result> {
  return command(line.split(' '), { env: { XDG_CONFIG_HOME: home, ...env } });
}

/** Opens a gateway with one service, and gives its address and the log-ins that it has seen. */
async function serve(service: string): Promise<{ readonly url: string; readonly seen: string[] }> {
  const snapshot = createSnapshot({ services: [{ name: service, router: 'readconnroute' }] });
  const { admin } = runAdmin({ snapshot });
  closing.push(() => admin.close());
  const seen: string[] = [];
  const handler = createNodeHandler(admin);
  const address = await open(
    createServer((request, response) => {
      const [, code = ''] = request.headers.authorization?.split(' ') ?? [];
      seen.push(Buffer.from(code, 'base64').toString());
      handler(request, response);
    }),
  );
  return { url: `http://${address}`, seen };
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
    const own = join(home, 'own.json');
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
    const [own, link] = [join(home, 'own.json'), join(home, 'link.json')];
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
    const env = { ...process.env, XDG_CONFIG_HOME: home };
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
    const password = join(home, 'password');
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
