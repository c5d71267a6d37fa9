import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';

import { root } from '../support/project.ts';

it('npm start builds what is missing, runs the gateway it is given, and ends with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'start-'));
  const document = join(folder, 'gateway.json');
  writeFileSync(document, JSON.stringify({ monitors: [{ name: 'Idle Monitor', module: 'pgmon' }] }));
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
    const response = await fetch(`${admin ?? ''}/monitors/idle-monitor`);
    expect(await response.json()).toMatchObject({ name: 'Idle Monitor', state: 'started' });
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
  }
  expect(child.exitCode).toBe(0);
}, 120_000);
