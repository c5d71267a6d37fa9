import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { beforeAll, expect, it } from '@jest/globals';
import { createPbkdf2Hasher } from 'gateway-admin-core';

import { buildExamples } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { npmStart } from './npm-start.ts';
import { until } from './running-gateway.ts';

// `npm start` builds as well, and not at the same time.
beforeAll(buildExamples);

it('npm start takes the paths of options from the folder of the person, and prints nothing else with --quiet', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'start-'));
  writeFileSync(
    join(folder, 'gateway.json'),
    JSON.stringify({ services: [{ name: 'S', router: 'readconnroute' }] }),
  );
  const { printed, closed, interrupt } = npmStart(
    folder,
    '--quiet',
    '--document',
    'gateway.json',
    '--store',
    'store',
  );
  await until('the gateway is ready', () => /^admin .*\n/m.test(printed.text));
  interrupt();
  await closed;
  expect(printed.text).toMatch(/^\n> .*\n> .*\n\nadmin (http:\/\/127\.0\.0\.1:\d+)\nconsole \1\/console\n$/);
  expect(readdirSync(folder).sort()).toEqual(['gateway.json', 'store']);
  rmSync(folder, { recursive: true });
});

it('npm start ends clean with a Ctrl-C at any moment, which npm passes on once more', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'start-'));
  chmodSync(folder, 0o755); // As root, another account has to get in.
  for (const [moment, afterMs] of [
    [/Building/, 0],
    [/Starting/, 700],
  ] as const) {
    const { printed, closed, interrupt } = npmStart(folder);
    await until('that moment', () => moment.test(printed.text));
    await sleep(afterMs);
    interrupt();
    await closed;
    expect([moment, readdirSync(folder)]).toEqual([moment, []]);
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(folder);
    expect(printed.text).not.toMatch(/Error|\bat /);
  }
  rmSync(folder, { recursive: true });
});

it('npm start builds what is missing, runs the gateway it is given for its users alone, and ends with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'start-'));
  const document = join(folder, 'gateway.json');
  const users = [
    { name: 'ada', password: { sealed: await createPbkdf2Hasher({ rounds: 1 }).hash('correct horse') } },
  ];
  writeFileSync(document, JSON.stringify({ monitors: [{ name: 'Idle Monitor', module: 'tcpmon' }], users }));
  const child = spawn(process.execPath, ['scripts/start.js', '--admin-port', '0', '--document', document], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let admin: string | undefined;
    let printed = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      printed += String(chunk);
      admin = /^admin (.*)\n/m.exec(printed)?.[1];
      if (admin !== undefined) break;
    }
    const target = `${admin ?? ''}/monitors/idle-monitor`;
    expect((await fetch(target)).status).toBe(401);
    const response = await fetch(target, {
      headers: { authorization: `Basic ${btoa('ada:correct horse')}` },
    });
    expect(await response.json()).toMatchObject({ name: 'Idle Monitor', state: 'started' });
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
  }
  expect(child.exitCode).toBe(0);
});
