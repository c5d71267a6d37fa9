/**
 * A fleet of processes on a PostgreSQL server: each node can be killed, and started again.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { GatewayDocument } from 'gateway-admin-core';
import type { PostgresHost } from 'gateway-admin-core/postgres-store';

import { root } from '../../support/project.ts';

/** The settings that the parent process gives to a node. */
export interface Assignment {
  readonly node: string;
  readonly hosts: readonly PostgresHost[];
  readonly cluster: string;
  readonly leaseMs: number;
  readonly document: GatewayDocument;
  /** The file of a gateway that outlives its interface. */
  readonly keptIn?: string;
  /** Whether the node hears no hint of the store. */
  readonly isDeaf?: boolean;
}

/** A node, over all its processes. */
export class NodeProcess {
  readonly name: string;
  /** What all its processes have printed about errors. */
  errors = '';
  readonly #assignment: Assignment;
  #process: ChildProcess | undefined;
  #port = 0;

  constructor(assignment: Assignment) {
    this.name = assignment.node;
    this.#assignment = assignment;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.#port)}`;
  }

  /** Starts a process, and another one if it ends before it is ready: the server may be away. */
  async start(): Promise<void> {
    for (let tries = 0; tries < 20; tries += 1) if (await this.#begin()) return;
    throw new Error(`The node ${this.name} does not start:\n${this.errors}`);
  }

  /** Ends the process at once. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Lets the process stand still, and go on after a time. */
  async pause(milliseconds: number): Promise<void> {
    this.#process?.kill('SIGSTOP');
    await sleep(milliseconds);
    this.#process?.kill('SIGCONT');
  }

  /** Ends the process as a host does. Gives its exit code. */
  async stop(): Promise<number | null | undefined> {
    await this.#end('SIGTERM');
    return this.#process?.exitCode;
  }

  async #begin(): Promise<boolean> {
    const argument = JSON.stringify({ ...this.#assignment, port: this.#port });
    const child = fork(`${root}tests/system/fleet/node-program.js`, [argument], {
      silent: true,
      execArgv: [],
    });
    this.#process = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.errors += text));
    const [ready] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => [undefined]),
    ])) as [{ readonly port: number } | undefined];
    if (ready !== undefined) this.#port = ready.port;
    return ready !== undefined;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}
