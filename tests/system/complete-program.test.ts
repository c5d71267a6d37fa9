/**
 * The complete program of docs/embedding.md, in a new project that is set up as README.md says.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeAll, expect, it } from '@jest/globals';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { codeOf, codesOf, freePort, inLanguage, link, named } from './page-program.ts';
import { connectSocket, isOpen } from './socket-client.ts';

const makeDirectory = temporaryDirectories();
const started = new Set<ChildProcess>();

beforeAll(buildPackage);
afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** A project with everything that the page names. Links stand for `npm install`. */
async function createProject(port: number): Promise<string> {
  const project = await makeDirectory();
  const links = ['express', 'typescript', '@types/express', '@types/node', '.bin/tsc'];
  for (const name of links) link(`${root}node_modules/${name}`, join(project, 'node_modules', name));
  link(root, join(project, 'node_modules/gateway-admin-core'));
  const document = codeOf('docs/embedding.md', 'A complete program', inLanguage('json'));
  const files = {
    'package.json': JSON.stringify({ type: 'module' }),
    'tsconfig.json': codeOf('README.md', 'Install', inLanguage('json')),
    'echo-gateway.ts': codeOf('docs/port-recipes.md', 'Write a gateway port', named('echo-gateway.ts')),
    'main.ts': codeOf('docs/embedding.md', 'A complete program', named('main.ts')),
    'gateway.json': document.replace(/"port": \d+/, `"port": ${String(port)}`),
    'password.txt': 'correct horse\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
  return project;
}

interface Program {
  /** Sends a request, with the log-in of the first user unless another one is given. */
  send(this: void, method: string, path: string, logIn?: string): Promise<Response>;
  /**
   * Ends the program with a signal, and gives its exit code with the names of the errors and warnings it has printed.
   */
  end(this: void, signal: NodeJS.Signals): Promise<readonly [code: number | null, errors: readonly string[]]>;
}

/** Starts the program with the command of the page, and waits for the first line that the program prints. */
async function start(cwd: string, command: string): Promise<Program> {
  const port = String(await freePort());
  const child = spawn('sh', ['-c', `exec ${command}`], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PORT: port },
  });
  started.add(child);
  const ended = once(child, 'close').finally(() => started.delete(child)) as Promise<[number | null]>;
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(([code]) =>
      Promise.reject(new Error(`The program has ended with ${String(code)}: ${errors}`)),
    ),
  ]);
  return {
    send: (method, path, logIn = 'ada:correct horse') =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: logIn === '' ? {} : { authorization: `Basic ${btoa(logIn)}` },
      }),
    async end(signal) {
      child.kill(signal);
      const [code] = await ended;
      return [code, errors.match(/^.*?(?:Error|Warning):/gm) ?? []];
    },
  };
}

// Promise: complete-program
it('the complete program serves clients and operators, ends at a signal, and goes on where it was', async () => {
  const echoPort = await freePort();
  const project = await createProject(echoPort);
  const shell = codesOf('docs/embedding.md', 'A complete program', inLanguage('sh'));
  const lines = shell.join('\n').split('\n');
  const run = lines.pop() ?? '';
  execFileSync('sh', ['-ec', lines.join('\n')], { cwd: project, encoding: 'utf8' });

  const first = await start(project, run);
  expect(await (await first.send('GET', '/', '')).text()).toBe('my own page');
  expect((await first.send('GET', '/admin/services', '')).status).toBe(401);
  expect((await first.send('GET', '/admin/services')).status).toBe(200);
  const client = await connectSocket(echoPort);
  expect(await client.ask('hello')).toBe('hello');
  const sessions = (await (await first.send('GET', '/admin/sessions')).json()) as readonly unknown[];
  expect(sessions).toHaveLength(1);
  expect((await first.send('PUT', '/admin/service/Echo/stop')).status).toBe(204);
  expect(await isOpen(echoPort)).toBe(false);
  const stream = await first.send('GET', '/admin/events');
  const ended = stream.text();
  expect(await first.end('SIGTERM')).toEqual([0, []]);
  await client.closed;
  expect(await ended).toContain('retry:');

  rmSync(join(project, 'password.txt'));
  const second = await start(project, run);
  expect(await isOpen(echoPort)).toBe(false);
  expect((await second.send('PUT', '/admin/service/Echo/start')).status).toBe(204);
  expect(await isOpen(echoPort)).toBe(true);
  // The service is stopped in the store, and started in the document.
  expect(await second.end('SIGINT')).toEqual([0, ['DifferingDocumentError:']]);

  const third = await start(project, run);
  expect(await isOpen(echoPort)).toBe(true);
  expect(await third.end('SIGTERM')).toEqual([0, []]);
});
