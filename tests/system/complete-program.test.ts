/**
 * The complete program of docs/embedding.md.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, it } from '@jest/globals';

import { buildPackage } from '../support/built-package.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import {
  codeOf,
  codesOf,
  freePort,
  inLanguage,
  named,
  programStarter,
  writeProject,
  type Program,
} from './documented-program.ts';
import { connectSocket, isOpen } from './socket-client.ts';

const makeDirectory = temporaryDirectories();
const startProgram = programStarter();

beforeAll(buildPackage, 120_000);

/** A project with everything that the page names. */
async function createProject(port: number): Promise<string> {
  const project = await makeDirectory();
  const document = codeOf('docs/embedding.md', 'A complete program', inLanguage('json'));
  const files = {
    'echo-gateway.ts': codeOf('docs/ports.md', 'The gateway', named('echo-gateway.ts')),
    'main.ts': codeOf('docs/embedding.md', 'A complete program', named('main.ts')),
    'gateway.json': document.replace(/"port": \d+/, `"port": ${String(port)}`),
    'password.txt': 'correct horse\n',
  };
  writeProject(project, files, ['express', '@types/express']);
  return project;
}

interface CompleteProgram extends Program {
  /** Sends a request, with the log-in of the first user unless another one is given. */
  send(this: void, method: string, path: string, logIn?: string): Promise<Response>;
}

/** Starts the program with the command of the page. */
async function start(cwd: string, command: string): Promise<CompleteProgram> {
  const port = await freePort();
  return {
    ...(await startProgram(cwd, command, port)),
    send: (method, path, logIn = 'ada:correct horse') =>
      fetch(`http://127.0.0.1:${String(port)}${path}`, {
        method,
        headers: logIn === '' ? {} : { authorization: `Basic ${btoa(logIn)}` },
      }),
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
}, 120_000);
