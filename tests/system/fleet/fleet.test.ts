import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { createRandom, type Random } from 'gateway-admin-core/testing';

import { buildPackage } from '../../support/built-package.ts';
import { BreakingWire } from '../../support/breaking-wire.ts';
import { PostgresServer } from '../../support/postgres.ts';
import { temporaryDirectories } from '../../support/temporary-directory.ts';
import { TransactionPool } from '../../support/transaction-pool.ts';
import { FleetRound } from './round.ts';
import { askWhoIsBehind, loseAnswers } from './worst-case.ts';

const rounds = Number(process.env['FLEET_ROUNDS'] ?? 1);
const worstRounds = Number(process.env['FLEET_WORST'] ?? 1);
const first = Number(process.env['FLEET_FIRST'] ?? 0);
const directory = temporaryDirectories();

/** How the nodes reach their store. Rounds take turns. */
const ways = ['directly', 'without hints at some nodes', 'through a pool'] as const;

let server: PostgresServer;
let pool: TransactionPool;
let round: FleetRound | undefined;

beforeAll(async () => {
  buildPackage();
  server = await PostgresServer.start();
  // Fewer connections than the nodes have.
  pool = await TransactionPool.to(server.port, 4);
});

afterEach(() => round?.end());
afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/**
 * Kills a node, and starts it again after a while. Another node stands still meanwhile: the others may take it for
 * dead.
 */
async function disturbNodes({ nodes }: FleetRound, random: Random): Promise<void> {
  const dying = random.pick(nodes);
  const standing = random.pick(nodes.filter((node) => node !== dying));
  const pausing = standing.pause(random.below(4000));
  await sleep(random.below(500));
  await dying.kill();
  await sleep(random.below(1500));
  await Promise.all([dying.start(), pausing]);
}

/** Ends the server as `pg_ctl stop -m immediate` does, and starts it again after a while. */
async function killServer(random: Random): Promise<void> {
  await sleep(random.below(1500));
  await server.kill();
  await sleep(random.below(1000));
  await server.begin();
}

// Promise: fleet-killed
it.each(
  Array.from({ length: rounds }, (_none, index) => [ways[(first + index) % 3], first + index] as const),
)(
  'a fleet keeps what it has acknowledged once, and agrees, when a node and the database are killed: nodes reach their store %s (FLEET_ROUNDS=1 FLEET_FIRST=%d)',
  async (way, seed) => {
    const random = createRandom(seed);
    // A node that comes back after its lease finds its command ended, and one that comes back before ends it itself.
    const leaseMs = random.pick([3000, 10_000]);
    const keptIn = random.chance(0.5) ? await directory() : undefined;
    const deaf = way === 'without hints at some nodes' ? random.pick(['a', 'ab', 'abc']) : '';
    round = await FleetRound.start({
      ...{ random, leaseMs, cluster: `round-${String(seed)}` },
      hosts: way === 'through a pool' ? [{ host: '127.0.0.1', port: pool.port }] : server.address.hosts,
      own: (node) => ({
        isDeaf: deaf.includes(node),
        ...(keptIn === undefined ? {} : { keptIn: join(keptIn, node) }),
      }),
    });
    await round.disturb(async (running) => {
      await Promise.all([disturbNodes(running, random), killServer(random)]);
    });
    await round.expectTruth(server);
  },
  120_000,
);

const worst = Array.from({ length: worstRounds }, (_none, index) => first + index);

for (const seed of worst) {
  it(`two nodes show no tag for two contents when the answer to an append is lost (FLEET_ROUNDS=1 FLEET_FIRST=${String(seed)})`, async () => {
    const wire = await BreakingWire.to(server.port);
    try {
      round = await FleetRound.start({
        ...{
          random: createRandom(seed),
          leaseMs: 10_000,
          cluster: `lost-${String(seed)}`,
          hosts: server.address.hosts,
        },
        own: (node) => (node === 'a' ? { hosts: [{ host: '127.0.0.1', port: wire.port }] } : {}),
      });
      const { nodes, stream } = round;
      await round.watch(() => loseAnswers(nodes, stream, wire));
      await round.expectTruth(server);
    } finally {
      await round?.end();
      await wire[Symbol.asyncDispose]();
    }
  });

  it(`a node that has not read the last change answers as one that has (FLEET_ROUNDS=1 FLEET_FIRST=${String(seed)})`, async () => {
    round = await FleetRound.start({
      ...{
        random: createRandom(seed),
        leaseMs: 10_000,
        cluster: `deaf-${String(seed)}`,
        hosts: server.address.hosts,
      },
      own: () => ({ isDeaf: true }),
    });
    const { nodes, stream } = round;
    const wrong: string[] = [];
    await round.watch(async () => void wrong.push(...(await askWhoIsBehind(nodes, stream))));
    await round.expectTruth(server, wrong);
  });
}
