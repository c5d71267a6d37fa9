import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { createRandom } from 'gateway-admin-core/testing';

import { buildPackage } from '../../support/built-package.ts';
import { PostgresServer } from '../../support/postgres.ts';
import { FleetRound } from './round.ts';

const rounds = Number(process.env['FLEET_WORST'] ?? 1);
const first = Number(process.env['FLEET_FIRST'] ?? 0);

const servers: PostgresServer[] = [];
let round: FleetRound | undefined;

beforeAll(buildPackage);

afterEach(async () => {
  await round?.end();
  for (const server of servers.splice(0).reverse()) await server[Symbol.asyncDispose]();
});

// Promise: fleet-standby
it.each(Array.from({ length: rounds }, (_none, index) => first + index))(
  'a fleet keeps what it has acknowledged once, and agrees, when the synchronous standby takes over (FLEET_ROUNDS=1 FLEET_FIRST=%d)',
  async (seed) => {
    const random = createRandom(seed);
    const primary = await PostgresServer.start();
    servers.push(primary);
    await primary.kill();
    const standby = await primary.beginWithStandby();
    servers.push(standby);
    const hosts = [...primary.address.hosts, ...standby.address.hosts];
    round = await FleetRound.start({ random, hosts, cluster: `standby-${String(seed)}`, leaseMs: 10_000 });
    await round.disturb(async () => {
      await sleep(random.below(1000));
      await primary.kill();
      await sleep(random.below(500));
      expect(await standby.query('select pg_promote() as done')).toEqual([{ done: true }]);
    });
    await round.expectTruth(standby);
  },
  120_000,
);
