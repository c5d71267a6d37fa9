/**
 * The lock of a directory. It is tested by itself, because its races, its sockets on other platforms and the deaths
 * of its holders do not come up while a store is open.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import * as files from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { StoreLockedError, lockDirectory, socketAddress } from '../../../src/ports/file/lock.ts';
import { nodeFiles } from '../../../src/ports/file/file-system.ts';
import { buildPackage } from '../../support/built-package.ts';
import { root } from '../../support/project.ts';
import { temporaryDirectories } from '../../support/temporary-directory.ts';
import { watchedFiles } from '../../support/watched-files.ts';

const temporaryDirectory = temporaryDirectories();

/** Locks a directory by its path; what it gives ends the lock. */
async function lock(path: string, through = nodeFiles): Promise<() => Promise<void>> {
  const handle = await files.open(path, 'r');
  try {
    const { release } = await lockDirectory({ path, fd: handle.fd }, through);
    return async () => {
      await release();
      await handle.close();
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A socket that nobody listens on, as a killed process leaves it. */
async function leaveSocket(directory: string, name: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(directory, 'left'), resolve));
  await files.rename(join(directory, 'left'), join(directory, name));
  await new Promise((resolve) => server.close(resolve));
}

describe('the lock of a directory', () => {
  it('is held by one at a time, and can be had again', async () => {
    const directory = await temporaryDirectory();
    for (let turn = 0; turn < 3; turn += 1) {
      const unlock = await lock(directory);
      await expect(lock(directory)).rejects.toThrow(StoreLockedError);
      await unlock();
    }
    expect(await files.readdir(directory)).toEqual([]);
  });

  // Promise: lock-message
  it('says who is in the way and what to do', async () => {
    const directory = await temporaryDirectory();
    const unlock = await lock(directory);
    await expect(lock(directory)).rejects.toMatchObject({
      name: 'StoreLockedError',
      message: expect.stringContaining(`has the directory ${directory} open. Stop that process first`),
    });
    await unlock();
  });

  it('goes to one at most of twenty who want it at once, and normally to one', async () => {
    let winners = 0;
    for (let round = 0; round < 5; round += 1) {
      const directory = await temporaryDirectory();
      const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => lock(directory)));
      const won = outcomes.filter((outcome) => outcome.status === 'fulfilled');
      expect(won.length).toBeLessThanOrEqual(1);
      winners += won.length;
      for (const { value: unlock } of won) await unlock();
      expect(await files.readdir(directory)).toEqual([]);
    }
    expect(winners).toBeGreaterThanOrEqual(4);
  });

  // Promise: lock-leftover
  it('is free when all that is there was left by processes that are gone, and clears that away', async () => {
    const directory = await temporaryDirectory();
    await leaveSocket(directory, 'lock-00.sock');
    await leaveSocket(directory, 'lock-01.sock');
    await leaveSocket(directory, 'lock-02.new');
    await files.writeFile(join(directory, 'other'), 'stays');
    const unlock = await lock(directory);
    const names = await files.readdir(directory);
    expect(names).toHaveLength(2);
    expect(names).toContain('other');
    await unlock();
  });

  it('is not free while somebody listens who never answers', async () => {
    const directory = await temporaryDirectory();
    const other = createServer();
    other.maxConnections = 0;
    await new Promise<void>((resolve) => other.listen(join(directory, 'lock-00.sock'), resolve));
    await expect(lock(directory)).rejects.toThrow(StoreLockedError);
    await new Promise((resolve) => other.close(resolve));
    await (
      await lock(directory)
    )();
  });

  it('is tried for once more when somebody else cleared away the socket in the making', async () => {
    const directory = await temporaryDirectory();
    let renames = 0;
    const unlock = await lock(
      directory,
      watchedFiles(async ({ method, path }, make) => {
        if (method === 'rename' && (renames += 1) === 1) await files.unlink(path);
        return make();
      }),
    );
    expect(renames).toBe(2);
    await expect(lock(directory)).rejects.toThrow(StoreLockedError);
    await unlock();
  });

  it('is tried for once more when somebody removed the socket itself', async () => {
    const directory = await temporaryDirectory();
    let looks = 0;
    const unlock = await lock(
      directory,
      watchedFiles(async ({ method, path }, make) => {
        if (method === 'readdir' && (looks += 1) === 1)
          for (const name of await files.readdir(path)) await files.unlink(join(path, name));
        return make();
      }),
    );
    expect(looks).toBe(2);
    await expect(lock(directory)).rejects.toThrow(StoreLockedError);
    await unlock();
  });

  it('is free at once when the socket of somebody else vanishes after the look at the directory', async () => {
    const directory = await temporaryDirectory();
    await leaveSocket(directory, 'lock-00.sock');
    let looks = 0;
    const unlock = await lock(
      directory,
      watchedFiles(async ({ method, path }, make) => {
        const result = await make();
        if (method === 'readdir' && (looks += 1) === 1) await files.unlink(join(path, 'lock-00.sock'));
        return result;
      }),
    );
    expect(looks).toBe(1);
    await expect(lock(directory)).rejects.toThrow(StoreLockedError);
    await unlock();
  });

  it.each(['readdir', 'rename'])('leaves nothing behind when %s fails', async (failing) => {
    const directory = await temporaryDirectory();
    const broken = watchedFiles(({ method }, make) =>
      method === failing ? Promise.reject(new Error('The disk is broken')) : make(),
    );
    await expect(lock(directory, broken)).rejects.toThrow('The disk is broken');
    await (
      await lock(directory)
    )();
  });

  it('says so when there can be no socket in the directory', async () => {
    const directory = await temporaryDirectory();
    const handle = await files.open(directory, 'r');
    const gone = { path: join(directory, 'gone'), fd: handle.fd };
    await expect(lockDirectory(gone, nodeFiles)).rejects.toThrow(/cannot be locked with a socket: .*gone/);
    await handle.close();
  });

  it('holds in a directory with a path longer than the address of a socket', async () => {
    const directory = join(await temporaryDirectory(), 'd'.repeat(100), 'ä'.repeat(100));
    await files.mkdir(directory, { recursive: true });
    await leaveSocketInLong(directory);
    const unlock = await lock(directory);
    expect(await files.readdir(directory)).toHaveLength(1);
    await expect(lock(directory)).rejects.toThrow(StoreLockedError);
    await unlock();
    expect(await files.readdir(directory)).toEqual([]);
  });
});

async function leaveSocketInLong(directory: string): Promise<void> {
  const short = await temporaryDirectory();
  await leaveSocket(short, 'lock-00.sock');
  await files.rename(join(short, 'lock-00.sock'), join(directory, 'lock-00.sock'));
}

describe('socketAddress', () => {
  const long = { path: `/${'d'.repeat(100)}`, fd: 7 };

  it('is the path where it fits', () => {
    expect(socketAddress({ path: '/data', fd: 7 }, 'lock-00.sock', 'darwin')).toBe('/data/lock-00.sock');
    // 103 bytes
    const longest = `/${'d'.repeat(89)}`;
    expect(socketAddress({ path: longest, fd: 7 }, 'lock-00.sock', 'darwin')).toBe(`${longest}/lock-00.sock`);
  });

  it('goes through the open directory on Linux where it does not', () => {
    expect(socketAddress(long, 'lock-00.sock', 'linux')).toBe('/proc/self/fd/7/lock-00.sock');
  });

  it('is refused elsewhere, in bytes and not in characters', () => {
    expect(() => socketAddress(long, 'lock-00.sock', 'darwin')).toThrow(/too long .* shorter path/);
    const wide = { path: `/${'ä'.repeat(46)}`, fd: 7 };
    expect(() => socketAddress(wide, 'lock-00.sock', 'darwin')).toThrow(/too long/);
  });
});

/** Opens the store in a directory, says whether that went well, and goes on as it is told. */
const program = `
const { openFileStore } = await import(process.argv[1]);
const [directory, then] = process.argv.slice(2);
try {
  const store = await openFileStore(directory);
  const { position, records } = await store.load();
  await store.append(['of a child'], { expectedPosition: position });
  console.log(JSON.stringify({ records }));
  if (then === 'wait') setInterval(() => {}, 1000);
  if (then === 'block') for (;;);
} catch (error) {
  console.log(JSON.stringify({ error: error.name }));
}
`;

/** Opens the store in one worker, then in another one, and prints what both say. */
const clusterProgram = `
import cluster from 'node:cluster';
import { once } from 'node:events';
const { openFileStore } = await import(process.argv[2]);
if (cluster.isPrimary) {
  const [first] = await once(cluster.fork(), 'message');
  const [second] = await once(cluster.fork(), 'message');
  console.log(JSON.stringify([first, second]));
  for (const worker of Object.values(cluster.workers)) worker.kill();
} else {
  await openFileStore(process.argv[3]).then(
    () => process.send('opened'),
    (error) => process.send(error.message),
  );
}
`;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Runs the program in a process of its own; gives it with what it said first. */
async function run(
  directory: string,
  then: 'wait' | 'block' | 'end',
): Promise<{ child: ChildProcess; said: unknown; ended: Promise<unknown> }> {
  const entry = pathToFileURL(`${root}dist/ports/file-store/file-store.js`).href;
  const parameters = ['--input-type=module', '--eval', program, entry, directory, then];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const ended = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, said: JSON.parse(line), ended };
}

/** Connects so many times to the one socket in a directory. */
async function knockAt(directory: string, times: number): Promise<readonly Socket[]> {
  const [name = ''] = (await files.readdir(directory)).filter((each) => each.startsWith('lock-'));
  const sockets = Array.from({ length: times }, () => connect({ path: join(directory, name) }));
  const answers = await Promise.all(
    sockets.map(
      (socket) =>
        new Promise((resolve) => {
          socket.on('connect', () => resolve('connected'));
          socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
        }),
    ),
  );
  expect(new Set(answers)).toEqual(new Set(['connected', 'EAGAIN']));
  return sockets;
}

const locked = { error: 'StoreLockedError' };

describe('the lock between processes', () => {
  beforeAll(buildPackage);

  // Promise: lock-lifetime
  it('is held as long as a process lives, and no longer than that', async () => {
    const directory = await temporaryDirectory();
    const first = await run(directory, 'wait');
    expect(first.said).toEqual({ records: [] });
    await expect(lock(directory)).rejects.toThrow(StoreLockedError);
    expect((await run(directory, 'wait')).said).toEqual(locked);
    first.child.kill('SIGKILL');
    await first.ended;
    expect((await run(directory, 'wait')).said).toEqual({ records: ['of a child'] });
  });

  // Promise: lock-busy
  it('is held by a process that is stopped or too busy to answer', async () => {
    const directory = await temporaryDirectory();
    const busy = await run(directory, 'block');
    await expect(lock(directory)).rejects.toThrow(StoreLockedError);
    busy.child.kill('SIGSTOP');
    // More than may wait to be answered: the system turns away the rest.
    const waiting = await knockAt(directory, 600);
    await expect(lock(directory)).rejects.toThrow(StoreLockedError);
    for (const socket of waiting) socket.destroy();
    busy.child.kill('SIGKILL');
    await busy.ended;
    await (
      await lock(directory)
    )();
  });

  // Promise: lock-worker
  it('tells the second worker of node:cluster to use one process or a fleet, and not another directory', async () => {
    const [directory, place] = [await temporaryDirectory(), await temporaryDirectory()];
    const file = join(place, 'cluster.mjs');
    await files.writeFile(file, clusterProgram);
    const entry = pathToFileURL(`${root}dist/ports/file-store/file-store.js`).href;
    const child = spawn(process.execPath, [file, entry, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    expect(JSON.parse(line)).toEqual([
      'opened',
      expect.stringMatching(
        /^Another process.* This process is a worker of node:cluster\. Open the store .*openFleet/,
      ),
    ]);
    expect(line).not.toContain('use a separate directory');
  });

  it('keeps no process alive, and is free when one ends without having given it back', async () => {
    const directory = await temporaryDirectory();
    const { ended } = await run(directory, 'end');
    expect(await ended).toEqual([0, null]);
    await (
      await lock(directory)
    )();
  });

  // Promise: one-process
  it('goes to one at most of several processes that start at once', async () => {
    const directory = await temporaryDirectory();
    const started = await Promise.all(Array.from({ length: 4 }, () => run(directory, 'wait')));
    const said = started.map((each) => each.said);
    expect(
      said.filter((each) => JSON.stringify(each) === JSON.stringify(locked)).length,
    ).toBeGreaterThanOrEqual(3);
  });
});
