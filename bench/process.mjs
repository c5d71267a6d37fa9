/**
 * Processes of a bench that answer calls. The process that starts another one asks, and the other one answers. It closes what
 * it has opened when the process that has started it is gone, however that comes about.
 */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

/**
 * Starts a program of this folder.
 *
 * @param {string} file - its name
 * @param {number} [core] - the core on which it runs, where a machine has several and lets one choose
 * @returns a function that calls the program by the name of a call, with one argument, and a function that ends the program
 */
export function startProcess(file, core) {
  // Detached: Ctrl-C reaches every process of a terminal, but the one that was started first closes the others in order.
  const child = fork(new URL(file, import.meta.url), {
    detached: true,
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (core !== undefined) pin(child.pid, core);
  const waiting = new Map();
  let lastCall = 0;
  child.on('message', ({ call, result, error }) => {
    const { resolve, reject } = waiting.get(call);
    waiting.delete(call);
    if (error === undefined) resolve(result);
    else reject(new Error(error));
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} has ended with ${code ?? signal}`));
  });
  const ask = (name, argument) =>
    new Promise((resolve, reject) => {
      if (!child.connected) return reject(new Error(`${file} has ended`));
      lastCall += 1;
      waiting.set(lastCall, { resolve, reject });
      return child.send({ call: lastCall, name, argument });
    });
  const end = () => {
    if (child.connected) child.disconnect();
    return ended;
  };
  return { ask, end };
}

/** Lets a process run on one core alone, so that others do not take its time. */
export function pin(pid, core) {
  if (availableParallelism() < 2) return;
  try {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', core, pid], { stdio: 'ignore' });
  } catch {
    // Not every system can.
  }
}

/**
 * Answers the calls of the process that has started this one.
 *
 * @param {Record<string, (argument: any) => unknown>} calls - by name
 * @param {() => Promise<void>} close - closes what was opened, before this process ends
 */
export function answerCalls(calls, close) {
  process.on('message', async ({ call, name, argument }) => {
    const answer = await Promise.resolve(argument)
      .then(calls[name])
      .then(
        (result) => ({ call, result }),
        (error) => ({ call, error: error.stack }),
      );
    if (process.connected) process.send(answer);
  });
  process.once('disconnect', () => void close().finally(() => process.exit()));
}
