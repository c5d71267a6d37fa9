/**
 * One look at the example gateway whose database dies, and whose store is lost: `gateway-admin status` says what is
 * wrong, why and since when, and a probe sees whether the interface takes commands.
 */
import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { buildExamples } from '../support/built-package.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { connectDatabase } from './database-client.ts';
import { runCommand } from './program.ts';
import { endGateways, startGateway, startOnDatabases, until } from './running-gateway.ts';

const runFile = promisify(execFile);
const directory = temporaryDirectories();

beforeAll(buildExamples);

afterAll(endGateways);

it('says that a database was killed, why its server is down, and which service nobody serves', async () => {
  const gateway = await startGateway(['--name', 'eu-1']);
  const healthy = await runCommand(gateway.admin, 'status');
  expect([healthy.code, healthy.out]).toEqual([
    0,
    expect.stringMatching(/^gateway +eu-1$[^]*^Nothing is wrong\.$/m),
  ]);
  expect((await fetch(`${gateway.admin}/ready`)).status).toBe(204);

  const client = await connectDatabase(gateway.portOf('Read-Write'));
  const [pid] = String(await client.valueOf("select pg_read_file('postmaster.pid')")).split('\n');
  const killedAt = Math.floor(Date.now() / 1000) * 1000;
  process.kill(Number(pid), 'SIGKILL');
  await client.close().catch(() => undefined);
  await until('the monitor has seen it', async () => (await runCommand(gateway.admin, 'status')).code === 7);

  const { out, err } = await runCommand(gateway.admin, 'status');
  expect(err).toBe('gateway-admin: 2 errors.\n');
  expect(out).toMatch(/^servers +2, of which 1 usable$/m);
  const since =
    /^error +(\S+ \S+) +\/servers\/db-1 +db-1 is down: connect ECONNREFUSED 127\.0\.0\.1:\d+\.$/m.exec(
      out,
    )?.[1];
  const age = Date.parse(`${since ?? ''}Z`) - killedAt;
  expect([age >= 0, age < 60_000]).toEqual([true, true]);
  expect(out).toMatch(
    /^error +\S+ \S+ +\/services\/Read-Write +No server of Read Write takes new sessions: db-1 is down\.$/m,
  );
  const { out: shown } = await runCommand(gateway.admin, 'show', 'server', 'db-1');
  expect(shown).toMatch(/^status +down\nstatus_reason +connect ECONNREFUSED .*\nstatus_since +\S+ \S+$/m);
  // The interface itself is well, and the other service serves.
  expect((await fetch(`${gateway.admin}/ready`)).status).toBe(204);
  expect(out).not.toMatch(/Reports/);
  await gateway.stop();
});

it('answers a probe with 503 once its store is lost', async () => {
  const store = await directory();
  const gateway = await startOnDatabases(['--store', store]);
  const probe = () =>
    runFile('curl', ['--silent', '--fail', '--write-out', '%{http_code}', `${gateway.admin}/ready`]);
  expect((await probe()).stdout).toBe('204');
  const [journal = ''] = (await readdir(store)).filter((name) => name.startsWith('journal'));
  await rm(join(store, journal));
  expect(await runCommand(gateway.admin, 'stop', 'service', 'reports')).toMatchObject({ code: 1 });
  // So curl says that the status is an error.
  await expect(probe()).rejects.toMatchObject({ code: 22, stdout: '503' });
  const { code, out } = await runCommand(gateway.admin, 'status');
  expect([code, out]).toEqual([
    7,
    expect.stringMatching(
      /^error .* The configuration store does not answer: .* while the directory .* Only a restart/m,
    ),
  ]);
  await gateway.stop();
});
