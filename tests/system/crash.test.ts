import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createRandom, type Random } from 'gateway-admin-core/testing';

import { buildExamples } from '../support/built-package.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { documentOn, logIn, operators, registrars, sendUntilGone, shownBy } from './command-stream.ts';
import { openEchoServer, type EchoServer } from './echo-server.ts';
import { endGateways, startOn, until, type RunningGateway } from './running-gateway.ts';
import { startSession } from './socket-client.ts';
import { Told, type Fields } from './told.ts';

const rounds = Number(process.env['CRASH_ROUNDS'] ?? 1);
const first = Number(process.env['CRASH_FIRST'] ?? 0);
const directory = temporaryDirectories();

let echo: EchoServer;

beforeAll(buildExamples);

beforeEach(async () => {
  echo = await openEchoServer('echo');
});

afterEach(async () => {
  await endGateways();
  await echo.close();
});

afterAll(endGateways);

/** Lets clients work for a while, and kills the gateway under their hands. */
async function killAtWork(
  gateway: RunningGateway,
  random: Random,
  told: Told,
  clients: typeof operators,
): Promise<void> {
  const enough = told.figures.acknowledged + 50;
  const gone = sendUntilGone({ gateway, random, told }, clients);
  await Promise.race([gone, until('clients are answered', () => told.figures.acknowledged > enough)]);
  await sleep(random.below(1000));
  await gateway.kill();
  await gone;
}

/** Services take clients when they are shown to be started, and only then. What was patched at once is so at once. */
async function expectTruth(gateway: RunningGateway, shown: Fields): Promise<void> {
  for (const name of ['First', 'Second', 'Third']) {
    expect(shown[`/services/${name} max_connection`]).toBe(shown[`/services/${name} connection_timeout`]);
    const port = gateway.portOf(name);
    expect([name, Number.isNaN(port) ? 'stopped' : 'started']).toEqual([
      name,
      shown[`/services/${name} state`],
    ]);
    if (Number.isNaN(port)) continue;
    const client = await startSession(port);
    expect(await client.ask('hello')).toBe('echo hello');
    client.close();
  }
}

// Promise: killed
it.each(Array.from({ length: rounds }, (_none, index) => first + index))(
  'keeps what it has acknowledged, and nothing that it has refused, when it is killed (CRASH_ROUNDS=1 CRASH_FIRST=%d)',
  async (seed) => {
    const random = createRandom(seed);
    const store = await directory();
    const document = await documentOn(echo.port);
    const start = (): Promise<RunningGateway> => startOn(document, ['--store', store]);
    const begun = performance.now();

    let gateway = await start();
    const told = new Told(await shownBy(gateway));
    await killAtWork(gateway, random, told, operators);

    gateway = await start();
    let shown = await shownBy(gateway);
    expect(told.lies(shown)).toEqual([]);
    await expectTruth(gateway, shown);
    await killAtWork(gateway, random, told, [...operators, ...registrars]);

    gateway = await start();
    shown = await shownBy(gateway);
    expect(told.lies(shown)).toEqual([]);
    await expectTruth(gateway, shown);
    const patch = [{ op: 'add', path: '/max_connection', value: 1 }];
    expect(await gateway.ask('PATCH', '/services/First', patch, logIn)).toMatchObject({ status: 200 });
    expect(await gateway.stop()).toBe(0);

    if (process.env['CRASH_ROUNDS'] === undefined) return;
    const figures = Object.entries(told.figures).map(([name, count]) => `${String(count)} ${name}`);
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    process.stdout.write(`round ${String(seed)}: ${figures.join(', ')} (${seconds} s)\n`);
  },
  120_000,
);
