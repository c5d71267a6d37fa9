/**
 * The example as a fleet: several gateways that share one configuration, each in a process of its own, in front of the
 * same two databases. A third PostgreSQL server keeps the configuration. This process starts the gateways, and starts a
 * gateway again that has ended.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Place } from './admin-server.ts';
import { closeAll, type Closers } from './closing.ts';
import { openWarning, paint, seconds, step } from './console.ts';
import { placesFor, startDatabases } from './database.ts';
import { defaultDocument, startingDocument } from './document.ts';
import type { Assignment, NodeAnswer, Ready } from './node.ts';

const names = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** The most gateways of a fleet. */
export const largestFleet = names.length;

const program = new URL('node.js', import.meta.url);

/** The pause before a gateway that has ended starts again. */
const pauseMs = 1000;

interface FleetArguments extends Place {
  readonly gateways: number;
  readonly allowedHosts: readonly string[];
  readonly identity: { readonly environment?: string };
  readonly quiet: boolean;
}

/** A node that is ready. */
interface RunningNode extends Ready {
  readonly node: string;
  readonly pid: number;
  /** Resolves when the process has ended, with the reason. */
  readonly ended: Promise<string>;
}

/** A node that is kept running. */
interface KeptNode {
  /** Rejects if the node cannot start. */
  readonly ready: Promise<RunningNode>;
  /** Resolves when no process of the node is left. */
  readonly ended: Promise<void>;
}

/** Runs the fleet until the signal aborts. What was started is ended again, the last thing first. */
export async function runFleet(
  { gateways, allowedHosts, identity, quiet, host, port }: FleetArguments,
  signal: AbortSignal,
) {
  const closers: Closers = [];
  try {
    const places = await placesFor(['db-1', 'db-2', 'store']);
    const startServers = () => startDatabases(places, signal, closers);
    const servers = await step('Starting three PostgreSQL servers', quiet, startServers);
    const [databases, storePort] = [servers.slice(0, 2), servers[2]?.port ?? 0];
    const document = await startingDocument(defaultDocument(databases), gateways);
    const assignmentOf = (node: string, number: number): Assignment => ({
      ...{ node, number, document, storePort, allowedHosts, quiet, environment: identity.environment },
      admin: { host, port: port === 0 ? 0 : port + number },
    });
    const assignments = names.slice(0, gateways).map(assignmentOf);
    const startNodes = () => startAll(assignments, signal, closers);
    const nodes = await step(`Starting ${counted(gateways)}`, quiet, startNodes);
    greetFleet(nodes, storePort, quiet);
    await once(signal, 'abort');
  } finally {
    if (signal.aborted && !quiet) console.log('Stopping');
    await closeAll(closers);
  }
}

/** Starts the nodes, and keeps them running. Rejects if one of them cannot start. */
function startAll(
  assignments: readonly Assignment[],
  signal: AbortSignal,
  closers: Closers,
): Promise<readonly RunningNode[]> {
  const closing = new AbortController();
  const end = AbortSignal.any([signal, closing.signal]);
  const nodes = assignments.map((assignment) => keepNode(assignment, end));
  closers.push(() => {
    closing.abort();
    return Promise.all(nodes.map(({ ended }) => ended));
  });
  return Promise.all(nodes.map(({ ready }) => ready));
}

/** Starts a node, and starts it again whenever it ends before the signal aborts. */
function keepNode(assignment: Assignment, signal: AbortSignal): KeptNode {
  const ready = startNode(assignment, signal);
  const ended = ready.then(
    (first) => keepRunning(first, assignment, signal),
    () => undefined,
  );
  return { ready, ended };
}

async function keepRunning(first: RunningNode, assignment: Assignment, signal: AbortSignal): Promise<void> {
  // From now on, the node keeps its port.
  const again = { ...assignment, admin: { ...assignment.admin, port: first.port } };
  for (let running: RunningNode | undefined = first; ;) {
    const how = await running.ended;
    if (signal.aborted) return;
    console.log(paint('red', `${again.node} has ended with ${how}. It starts again in a second.`));
    running = await startAgain(again, signal);
    if (running === undefined) return;
    console.log(paint('green', `${again.node} is back. process ${String(running.pid)}`));
  }
}

/** Tries to start a node, until it runs or the signal aborts. */
async function startAgain(assignment: Assignment, signal: AbortSignal): Promise<RunningNode | undefined> {
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    try {
      return await startNode(assignment, signal);
    } catch (error) {
      if (!isOver()) console.error((error as Error).message);
    }
  }
  return undefined;
}

/** Starts the process of a node. Rejects when the process has ended before it was ready. */
async function startNode(assignment: Assignment, signal: AbortSignal): Promise<RunningNode> {
  signal.throwIfAborted();
  // Detached: Ctrl-C reaches every process of a terminal, and the nodes end before their store does.
  const child = fork(program, { detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(([code, by]) => (by === null ? `code ${String(code)}` : String(by)));
  // A node ends when nobody is connected to it.
  signal.addEventListener('abort', () => child.connected && child.disconnect(), { once: true });
  child.send(assignment);
  const failed = ended.then((how): [NodeAnswer] => [{ reason: `It has ended with ${how}.` }]);
  const [answer] = (await Promise.race([once(child, 'message'), failed])) as [NodeAnswer];
  const { node } = assignment;
  if (answer.reason === undefined) return { ...answer, node, pid: child.pid ?? 0, ended };
  await ended;
  throw new Error(`The gateway ${node} cannot start. ${answer.reason}`);
}

/** Prints where each node is, and commands to try. */
function greetFleet(nodes: readonly RunningNode[], storePort: number, isQuiet: boolean): void {
  const lines = nodes.flatMap(({ node, origin, places, pid }) =>
    [...places, `process ${String(pid)}`, `admin ${paint('bold', origin)}`, `console ${origin}/console`].map(
      (line) => `${node} ${line}`,
    ),
  );
  const [first, last] = [nodes[0], nodes.at(-1)];
  if (!isQuiet && first !== undefined && last !== undefined) {
    lines.push(...openWarning(first.origin), '', 'To try in other terminals:');
    lines.push(...hints(first, last, storePort).map((hint) => `  ${hint}`));
    lines.push('', `Ready after ${seconds(performance.now())}. Ctrl-C ends the fleet. Events, node by node:`);
  }
  console.log(lines.join('\n'));
}

function hints(first: RunningNode, last: RunningNode, storePort: number): readonly string[] {
  const patch = `'[{"op":"add","path":"/max_connection","value":5}]'`;
  const type = `-H 'content-type: application/json-patch+json'`;
  return [
    `# Patch a service at ${first.node}, and read it at ${last.node}:`,
    `curl -X PATCH ${first.origin}/services/read-write ${type} -d ${patch}`,
    `curl ${last.origin}/services/read-write`,
    `# Kill ${last.node}. It comes back, with what has changed meanwhile:`,
    `kill -9 ${String(last.pid)}`,
    `# Read the log of the fleet:`,
    `psql -h 127.0.0.1 -p ${String(storePort)} -U postgres -c 'select position, at, node, type, events from gateway_audit'`,
  ];
}

function counted(gateways: number): string {
  return gateways === 1 ? 'one gateway' : `${names[gateways - 1] ?? ''} gateways`;
}
