/**
 * The fleet of the drain test: the example gateway as `npm start -- --fleet 3` runs it, in front of real PostgreSQL
 * servers. The program starts a node again that was killed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { createClient, sendWithFetch } from 'gateway-admin-core/client';
import { Pool } from 'pg';

const program = fileURLToPath(new URL('../../examples/dist/gateway/main.js', import.meta.url));

/** How a client of PostgreSQL logs in. */
export const login = { host: '127.0.0.1', user: 'postgres', database: 'postgres' };

/** Starts the fleet. What was started is ended by `closers`, the last thing first. */
export async function startFleet(judge, signal, closers) {
  const fleet = new Fleet(judge, signal);
  // Detached: Ctrl-C reaches every process of a terminal, and the clients end before their gateways.
  const args = [program, '--fleet', '3', '--admin-port', '0', '--quiet'];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit').then(([code, by]) => (fleet.end = `${by ?? code}`));
  process.once('exit', () => fleet.destroy(child));
  closers.push(async () => {
    child.kill('SIGINT');
    await Promise.race([ended, sleep(60_000, undefined, { ref: false })]);
    fleet.destroy(child);
    await ended;
  });
  for (const stream of [child.stdout, child.stderr]) readLines(stream, (line) => fleet.hear(line));
  while (!fleet.nodes.every(({ client }) => client)) {
    if (fleet.end !== undefined)
      throw new Error(`The fleet ended with ${fleet.end}: ${fleet.said.join('\n')}`);
    await sleep(50, undefined, { signal });
  }
  await fleet.look(closers);
  return fleet;
}

class Fleet {
  nodes;
  /** The names of the services. */
  services = [];
  /** The names of the servers, with their ports. */
  servers = new Map();
  /** How the program has ended. */
  end;
  /** The last lines that are not about clients. */
  said = [];
  #judge;
  /** Connections to each server, by name. */
  #observers = new Map();

  constructor(judge, signal) {
    this.#judge = judge;
    this.nodes = ['one', 'two', 'three'].map((name) => new Node(name, signal));
  }

  get running() {
    return this.nodes.filter(({ isRunning }) => isRunning);
  }

  /** Kills the program and its nodes, if it has not ended. The servers end with the program. */
  destroy(child) {
    if (this.end !== undefined) return;
    for (const { pid } of [child, ...this.running])
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process has ended by itself.
      }
  }

  /** Kills a node with all its sessions. Resolves when the node is back with all its services. */
  async kill(node, signal) {
    const kill = this.#judge.kill(node.name);
    node.isRunning = false;
    process.kill(node.pid, 'SIGKILL');
    while (!node.isRunning) await sleep(50, undefined, { signal });
    // The system can have given the port of a listener away. An operator then starts the service again.
    for (const service of this.services)
      while ((await node.client.services.get(service)).value?.state === 'failed') {
        await node.client.services.start(service);
        await sleep(500, undefined, { signal });
      }
    kill.back = Date.now();
  }

  /** The sessions of a service or server that PostgreSQL has for a node. Clients name their node and service. */
  async openAt({ name: node }, { collection, name }) {
    const isServer = collection === 'servers';
    const text =
      `select application_name as session, (extract(epoch from backend_start) * 1000)::float8 as begun ` +
      `from pg_stat_activity where starts_with(application_name, $1)`;
    const asked = [...this.#observers].filter(([server]) => !isServer || server === name);
    const answers = await Promise.all(
      asked.map(([, observer]) => observer.query(text, [isServer ? `${node}/` : `${node}/${name}/`])),
    );
    return answers.flatMap(({ rows }) => rows);
  }

  /** Hears what the program prints. */
  hear(line) {
    const [, name, text] = /^(one|two|three) (.*)$/.exec(line) ?? [];
    const node = this.nodes.find((each) => each.name === name);
    if (node?.hear(text)) return;
    if (node?.isRunning && text.startsWith('has ended')) this.#judge.breach(1, `The node ${line}`);
    if (!line.startsWith('A client was turned away')) this.said = [...this.said.slice(-39), line];
  }

  /** Reads the configuration, and connects to each server. */
  async look(closers) {
    const { client } = this.nodes[0];
    this.services = (await client.services.list()).value.elements.map(({ name }) => name);
    for (const { name, port } of (await client.servers.list()).value.elements) {
      this.servers.set(name, port);
      const observer = new Pool({ ...login, port, max: 2 });
      observer.on('error', () => undefined);
      closers.push(() => observer.end());
      await observer.query('create unlogged table visits (client int, visit int)');
      this.#observers.set(name, observer);
    }
  }
}

/** A node, over all its processes. */
class Node {
  client;
  isRunning = false;
  pid;
  #ports = new Map();
  #signal;

  constructor(name, signal) {
    [this.name, this.#signal] = [name, signal];
  }

  /** The port of the listener of a service. */
  portOf(service) {
    return this.#ports.get(service.replaceAll(' ', '-'));
  }

  /** Hears a line about this node. Gives whether the line was understood. */
  hear(text) {
    const [, service, port] = /^listener (\S+) \S+:(\d+)$/.exec(text) ?? [];
    const [, pid] = /^(?:is back\. )?process (\d+)$/.exec(text) ?? [];
    const [, origin] = /^admin (\S+)$/.exec(text) ?? [];
    if (service !== undefined) this.#ports.set(service, Number(port));
    if (pid !== undefined) [this.pid, this.isRunning] = [Number(pid), true];
    if (origin !== undefined) this.client = createClient(this.#sender(sendWithFetch(origin)));
    return (service ?? pid ?? origin) !== undefined;
  }

  /** Gives up a request after a minute, and at the end of the test. */
  #sender(send) {
    const { AbortSignal } = globalThis;
    return (request) =>
      send({ ...request, signal: AbortSignal.any([this.#signal, AbortSignal.timeout(60_000)]) });
  }
}

function readLines(stream, onLine) {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    lines.forEach(onLine);
  });
}
