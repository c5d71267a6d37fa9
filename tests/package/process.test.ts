import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';

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

beforeAll(buildPackage, 120_000);

describe('a program with many readers or commands', () => {
  it('gets no warning from 50 readers of events on one signal', async () => {
    const ended = await run(`
      const admin = createAdmin({ snapshot, gateway });
      const controller = new AbortController();
      const items = Array.from({ length: 50 }, () => admin.events({ signal: controller.signal }).next());
      await admin.execute(stop);
      controller.abort();
      print((await Promise.all(items)).filter(({ done }) => !done).length);
    `);
    expect(ended).toEqual({ code: 0, stdout: '50', stderr: '' });
  });

  it('gets no warning from 50 commands of unknown outcome', async () => {
    const ended = await run(`
      const services = Array.from({ length: 50 }, (_, at) => ({ name: 's' + at, router: 'r' }));
      const fail = () => Promise.reject(new Error('the wire broke'));
      const admin = createAdmin({
        snapshot: createSnapshot({ services }),
        gateway: { apply: fail, inspect: fail },
        onError() {},
      });
      const executions = services.map(({ name }) =>
        admin.execute((snapshot, context) => stopService(snapshot, name, context)));
      print([...new Set((await Promise.all(executions)).map(({ outcome }) => outcome))].join());
      await admin.close();
    `);
    expect(ended).toEqual({ code: 0, stdout: 'unknown', stderr: '' });
  });
});
