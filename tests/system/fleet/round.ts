/**
 * A round of a fleet: nodes, their clients, a disturbance, and the truth afterwards.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from '@jest/globals';
import type { Random } from 'gateway-admin-core/testing';
import type { PostgresHost } from 'gateway-admin-core/postgres-store';

import type { PostgresServer } from '../../support/postgres.ts';
import { until } from '../running-gateway.ts';
import { NodeProcess, type Assignment } from './node-process.ts';
import { Readings } from './readings.ts';
import { changesIn, fold, type Fields } from './shared-log.ts';
import { documentFor, shownBy, Stream, type Shown } from './stream.ts';

const names = ['a', 'b', 'c'];

/** What a round needs. */
interface RoundOptions {
  readonly random: Random;
  readonly hosts: readonly PostgresHost[];
  readonly cluster: string;
  readonly leaseMs: number;
  /** The settings that are not the same at all nodes. */
  readonly own?: (node: string) => Partial<Assignment>;
}

/** A running round. */
export class FleetRound {
  readonly nodes: readonly NodeProcess[];
  readonly readings = new Readings();
  readonly stream: Stream;
  readonly #cluster: string;
  readonly #begun = performance.now();
  #begin: Fields = {};

  private constructor({ random, own = () => ({}), ...shared }: RoundOptions) {
    const document = documentFor(names);
    this.nodes = names.map(
      (node) =>
        new NodeProcess({
          ...{ node, document, hosts: shared.hosts, cluster: shared.cluster, leaseMs: shared.leaseMs },
          ...own(node),
        }),
    );
    this.stream = new Stream(random, this.readings);
    this.#cluster = shared.cluster;
  }

  /** Starts all nodes at once. */
  static async start(options: RoundOptions): Promise<FleetRound> {
    const round = new FleetRound(options);
    try {
      await Promise.all(round.nodes.map((node) => node.start()));
      const [first] = round.nodes;
      if (first !== undefined) round.#begin = (await shownBy(first)).fields;
      return round;
    } catch (error) {
      await round.end();
      throw error;
    }
  }

  /** Lets clients work while something happens, and for a while before and after. */
  async disturb(disturbance: (round: FleetRound) => Promise<void>): Promise<void> {
    await this.watch(async () => {
      const working = this.stream.run(this.nodes);
      await sleep(500);
      await disturbance(this);
      const enough = this.stream.figures.acknowledged + 50;
      await until('clients are answered again', () => this.stream.figures.acknowledged > enough);
      this.stream.stop();
      await working;
    });
  }

  /** Lets clients read at every node while something happens. */
  async watch(happening: () => Promise<void>): Promise<void> {
    const reading = this.readings.run(this.nodes);
    try {
      await happening();
      // Until the nodes without hints have read the last change.
      await sleep(1500);
    } finally {
      this.readings.stop();
      await reading;
    }
  }

  /**
   * All nodes agree with the log within ten seconds, and the log has what clients were told.
   *
   * @param wrong - answers that were wrong
   */
  async expectTruth(server: PostgresServer, wrong: readonly string[] = []): Promise<void> {
    const quiet = performance.now();
    let shown: readonly Shown[] = [];
    const agree = async (): Promise<boolean> => {
      shown = await Promise.all(this.nodes.map(shownBy));
      return shown.every(({ behind, position }) => behind.length === 0 && position === shown[0]?.position);
    };
    await until('all nodes have followed', agree).catch(() => undefined);
    const agreedMs = performance.now() - quiet;
    // Once more: the parts of what a node shows are asked for one by one, and it may have followed in between.
    shown = await Promise.all(this.nodes.map(shownBy));
    const changes = await changesIn(server, this.#cluster);
    const fields = fold(this.#begin, changes);
    const actual = Object.fromEntries(
      Object.entries(fields).filter(([field]) => !field.startsWith('/users/')),
    );
    const lies = [
      ...wrong,
      ...this.stream.lies(changes),
      ...this.readings.lies(this.#begin, changes, this.stream),
    ];
    this.#print(agreedMs, lies.length);
    const right = { fields, actual, behind: [], position: shown[0]?.position, tags: shown[0]?.tags };
    expect({ lies, nodes: this.nodes.map(({ name }, index) => [name, shown[index]]) }).toEqual({
      lies: [],
      nodes: this.nodes.map(({ name }) => [name, right]),
    });
  }

  async end(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
  }

  #print(agreedMs: number, lies: number): void {
    if (process.env['FLEET_ROUNDS'] === undefined) return;
    const counts = { ...this.stream.figures, read: this.readings.count, untrue: lies };
    const figures = Object.entries(counts).map(([name, count]) => `${String(count)} ${name}`);
    const seconds = ((performance.now() - this.#begun) / 1000).toFixed(1);
    process.stdout.write(
      `${this.#cluster}: ${figures.join(', ')}, agreed after ${agreedMs.toFixed(0)} ms (${seconds} s)\n`,
    );
  }
}
