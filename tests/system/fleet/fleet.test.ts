import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, it } from '@jest/globals';
import { createRandom, type Random } from 'gateway-admin-core/testing';

import { buildPackage } from '../../support/built-package.ts';
import { PostgresServer } from '../../support/postgres.ts';
import { temporaryDirectories } from '../../support/temporary-directory.ts';
import { FleetRound } from './round.ts';

const rounds = Number(process.env['FLEET_ROUNDS'] ?? 3);
const first = Number(process.env['FLEET_FIRST'] ?? 0);
const directory = temporaryDirectories();

let server: PostgresServer;
let round: FleetRound | undefined;

beforeAll(async () => {
  buildPackage();
  server = await PostgresServer.start();
}, 120_000);

afterEach(() => round?.end());
afterAll(() => server[Symbol.asyncDispose]());

/** Kills a node, and starts it again after a while. Another node stands still meanwhile: the others may take it for dead. */
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
it.each(Array.from({ length: rounds }, (_none, index) => first + index))(
  'a fleet keeps what it has acknowledged once, and agrees, when a node and the database are killed (FLEET_ROUNDS=1 FLEET_FIRST=%d)',
  async (seed) => {
    const random = createRandom(seed);
    // A node that comes back after its lease finds its command ended, and one that comes back before ends it itself.
    const leaseMs = random.pick([1000, 10_000]);
    const keptIn = random.chance(0.5) ? await directory() : undefined;
    round = await FleetRound.start({
      ...{ server, random, leaseMs, hosts: server.address.hosts, cluster: `round-${String(seed)}` },
      keptIn: (node) => (keptIn === undefined ? {} : { keptIn: join(keptIn, node) }),
    });
    await round.disturb(async (running) => {
      await Promise.all([disturbNodes(running, random), killServer(random)]);
    });
    await round.expectTruth(server);
  },
  120_000,
);
