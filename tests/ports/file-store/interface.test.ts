/**
 * Interfaces on a file store: their secrets.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';
import { createSecretSealer } from 'gateway-admin-core';
import { openFileStore } from 'gateway-admin-core/file-store';

import { openRunning } from '../../support/running-admin.ts';
import { temporaryDirectories } from '../../support/temporary-directory.ts';

const temporaryDirectory = temporaryDirectories();

const json = { 'content-type': 'application/json' };
const password = 'correct horse';

async function textsIn(directory: string): Promise<string> {
  const entries = await readdir(directory, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map(({ name }) => readFile(join(directory, name), 'latin1')));
  return texts.join('');
}

// Promise: stored-secret
it('the files of a store have the passwords of services and users sealed or hashed, and nowhere in the clear', async () => {
  const directory = await temporaryDirectory();
  const sealer = createSecretSealer({ key: new Uint8Array(32).fill(7) });
  const before = await openRunning(await openFileStore(directory), { sealer });
  const patch = { method: 'PATCH', target: '/services/My-Service', headers: json };
  const user = {
    method: 'PUT',
    target: '/users',
    headers: json,
    body: JSON.stringify({ name: 'newcomer', password }),
  };
  for (const request of [
    { ...patch, body: JSON.stringify([{ op: 'add', path: '/password', value: password }]) },
    user,
  ]) {
    const handled = await before.admin.handle(request);
    expect(handled.matched && handled.response.status).toBeLessThan(300);
  }
  const written = await textsIn(directory);
  await before.admin.close();

  const after = await openRunning(await openFileStore(directory), { sealer });
  const sealed = after.admin.snapshot.services.find('my-service')?.settings.password?.sealed ?? '';
  expect(await sealer.open(sealed)).toBe(password);
  await after.admin.close();
  for (const kept of [written, await textsIn(directory)]) {
    expect(kept).toContain('"password":{"sealed":"v1.');
    expect(kept).not.toContain(password);
    expect(kept).not.toContain(btoa(password).replace(/=+$/, ''));
  }
});
