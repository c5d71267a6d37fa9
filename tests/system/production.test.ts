/**
 * The program and the commands of docs/production.md: TLS, a Unix socket, signals, a backup and its restore.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { createPbkdf2Hasher } from 'gateway-admin-core';
import ts from 'typescript';

import { buildPackage } from '../support/built-package.ts';
import { selfSigned } from '../support/certificate.ts';
import { root } from '../support/project.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { codeOf, freePort, inLanguage, link, named } from './page-program.ts';

const page = 'docs/production.md';
const newDirectory = temporaryDirectories();
const started = new Set<ChildProcess>();

beforeAll(buildPackage);
afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
});

const { outputText: program } = transpiled(codeOf(page, 'A program for production', named('production.ts')));
const { outputText: echoGateway } = transpiled(
  codeOf('docs/port-recipes.md', 'Write a gateway port', named('echo-gateway.ts')),
);

/** The test of the code blocks checks the types. */
function transpiled(code: string): ts.TranspileOutput {
  return ts.transpileModule(code, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  });
}

/** A directory with the files that the page names, and a command `gateway-admin` that reaches the program. */
class Place {
  readonly path: string;
  readonly #port: string;

  private constructor(path: string, port: number) {
    this.path = path;
    this.#port = String(port);
  }

  static async create(): Promise<Place> {
    const place = new Place(await newDirectory(), await freePort());
    const { cert, key } = selfSigned();
    link(root, join(place.path, 'node_modules/gateway-admin-core'));
    mkdirSync(join(place.path, 'bin'));
    const files = {
      'package.json': '{"type":"module"}',
      'production.js': program,
      'echo-gateway.js': echoGateway,
      'tls.crt': cert,
      'tls.key': key,
      'sealer.key': 'k'.repeat(32),
      'password.txt': 'correct horse\n',
      'bin/gateway-admin': `#!/bin/sh\nexec "${process.execPath}" "${root}dist/node/cli/main.js" "$@"\n`,
    };
    for (const [name, text] of Object.entries(files)) place.write(name, text);
    chmodSync(join(place.path, 'bin/gateway-admin'), 0o755);
    chmodSync(join(place.path, 'password.txt'), 0o600);
    return place;
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text);
  }

  /** Writes the document, with a setting of its service. */
  async describe(max_connection: number): Promise<void> {
    const passwordHash = await createPbkdf2Hasher({ rounds: 1000 }).hash('correct horse');
    const services = [{ name: 'Echo', router: 'echo', state: 'stopped', max_connection }];
    this.write(
      'gateway.json',
      JSON.stringify({ services, users: [{ name: 'ada', password: { sealed: passwordHash } }] }),
    );
  }

  /** Runs commands of the page as a user of the machine would, and gives what they print. */
  run(commands: string): string {
    const withPassword = commands
      .replaceAll('curl -u ada', `curl -s -u 'ada:correct horse'`)
      .replaceAll(':8989', `:${this.#port}`);
    return execFileSync('sh', ['-ec', withPassword], {
      cwd: this.path,
      encoding: 'utf8',
      env: {
        ...process.env,
        PATH: `${join(this.path, 'bin')}:${process.env['PATH'] ?? ''}`,
        GATEWAY_ADMIN_URL: `https://127.0.0.1:${this.#port}/admin`,
        GATEWAY_ADMIN_USER: 'ada',
        GATEWAY_ADMIN_PASSWORD_FILE: 'password.txt',
        NODE_EXTRA_CA_CERTS: 'tls.crt',
      },
    });
  }

  /** The state and the setting of the service. */
  service(): { readonly state: string; readonly max_connection: number } {
    const target = 'http://localhost/admin/services/Echo?fields=state,max_connection';
    return JSON.parse(this.run(`curl -u ada --unix-socket admin.sock '${target}'`)) as ReturnType<
      Place['service']
    >;
  }

  /** Sends a command through the socket, and gives the status. */
  put(path: string): string {
    return this.run(
      `curl -u ada --unix-socket admin.sock -o answer.json -w '%{http_code}' -X PUT http://localhost/admin${path}`,
    );
  }

  /** Starts the program, and waits until it is ready. */
  async start(): Promise<RunningProgram> {
    const child = spawn(process.execPath, ['production.js'], {
      cwd: this.path,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PORT: this.#port },
    });
    started.add(child);
    const ended = once(child, 'close').finally(() => started.delete(child)) as Promise<[number | null]>;
    let [errors, printed] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    await Promise.race([
      once(child.stdout, 'data'),
      ended.then(() => Promise.reject(new Error(`The program has ended: ${errors}`))),
    ]);
    return {
      signal: (signal) => child.kill(signal),
      ended: () => ended.then(([code]) => code),
      printed: () => printed,
      until: async (part) => {
        while (!errors.includes(part)) await sleep(10);
      },
    };
  }
}

interface RunningProgram {
  signal(this: void, signal: NodeJS.Signals): void;
  /** Gives the exit code. */
  ended(this: void): Promise<number | null>;
  /** Gives what the program has printed. */
  printed(this: void): string;
  /** Waits until the program has printed a part of an error. */
  until(this: void, part: string): Promise<void>;
}

// Promise: production-program
it('the program of the production page serves TLS and a socket, obeys signals, and has its backup again', async () => {
  const place = await Place.create();
  await place.describe(5);
  const first = await place.start();
  const answers = place.run(codeOf(page, 'Reach the interface', inLanguage('sh'))).split('}');
  expect(answers.filter((answer) => answer.includes('"name":"Echo"'))).toHaveLength(2);
  expect(answers.filter((answer) => answer.endsWith('204'))).toHaveLength(1);

  await place.describe(6);
  first.signal('SIGHUP');
  while (place.service().max_connection !== 6) await sleep(20);
  while (!first.printed().includes('"type":"service.updated"')) await sleep(20);
  place.write('gateway.json', '{');
  first.signal('SIGHUP');
  await first.until('SyntaxError');
  expect(place.service()).toEqual({ state: 'stopped', max_connection: 6 });

  const printed = place.run(codeOf(page, 'Back up and restore', inLanguage('sh')));
  expect(printed).toContain('Done');
  expect(place.put('/service/Echo/start')).toBe('204');
  const how = ['-sN', '-u', 'ada:correct horse', '--unix-socket', 'admin.sock'];
  const reader = spawn('curl', [...how, 'http://localhost/admin/events'], { cwd: place.path });
  const end = once(reader, 'exit');
  await once(reader.stdout, 'data');
  first.signal('SIGTERM');
  expect(await first.ended()).toBe(0);
  expect(await end).toEqual([0, null]);

  await place.describe(6);
  renameSync(join(place.path, 'store'), join(place.path, 'store.old'));
  mkdirSync(join(place.path, 'store'), { mode: 0o700 });
  place.run('cp backup/* store/');
  const second = await place.start();
  expect(place.service()).toEqual({ state: 'stopped', max_connection: 6 });
  // The copy has the read-only mode of its moment.
  expect(place.put('/service/Echo/start')).toBe('403');
  expect(place.run('gateway-admin release')).toContain('Done');
  second.signal('SIGKILL');
  await second.ended();

  const third = await place.start(); // the socket of the killed process is still there
  const [lock = ''] = readdirSync(join(place.path, 'store')).filter((name) => name.startsWith('lock-'));
  rmSync(join(place.path, 'store', lock));
  expect(place.put('/service/Echo/start')).toBe('503');
  expect(await third.ended()).toBe(1);
});
