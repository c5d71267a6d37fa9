import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';
import { createPbkdf2Hasher } from 'gateway-admin-core';

import { root } from '../support/project.ts';

it('npm start builds what is missing, runs the gateway it is given for its users alone, and ends with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'start-'));
  const document = join(folder, 'gateway.json');
  const users = [
    { name: 'ada', passwordHash: await createPbkdf2Hasher({ rounds: 1 }).hash('correct horse') },
  ];
  writeFileSync(document, JSON.stringify({ monitors: [{ name: 'Idle Monitor', module: 'pgmon' }], users }));
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
}, 120_000);
