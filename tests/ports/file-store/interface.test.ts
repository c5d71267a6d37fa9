/**
 * Interfaces on a file store: their secrets, and the store of an earlier version. `earlier-version/` is a store that the version before the history has written, with 21 commands in it. Its state has no entries, and its records were made for no history.
 */
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';
import {
  type Admin,
  createSecretSealer,
  createSnapshot,
  type GatewayDocument,
  type Json,
} from 'gateway-admin-core';
import { openFileStore } from 'gateway-admin-core/file-store';

import { configuration } from '../../support/configuration.ts';
import { root } from '../../support/project.ts';
import { openRunning } from '../../support/running-admin.ts';
import { temporaryDirectories } from '../../support/temporary-directory.ts';
import { transports } from '../../support/transport.ts';

const temporaryDirectory = temporaryDirectories();

async function storeOfBefore(): Promise<string> {
  const [from, to] = [`${root}tests/ports/file-store/earlier-version`, await temporaryDirectory()];
  for (const name of await readdir(from)) await copyFile(join(from, name), join(to, name));
  return to;
}

/** The document in the state of a store. */
async function documentIn(directory: string): Promise<GatewayDocument> {
  await using store = await openFileStore(directory);
  const { state } = await store.load();
  return (state as { readonly document: Json }).document as unknown as GatewayDocument;
}

/** Opens an interface in front of a gateway that has the document of the store. */
async function open(directory: string): Promise<Admin> {
  const snapshot = createSnapshot(await documentIn(directory));
  const { admin } = await openRunning(await openFileStore(directory), { snapshot });
  return admin;
}

/** The ids of the entries, newest first. */
async function historyOf(admin: Admin, query = ''): Promise<readonly string[]> {
  const { send } = await transports.core(admin);
  return ((await send('GET', `/history${query}`)).body as readonly { readonly id: string }[]).map(
    ({ id }) => id,
  );
}

async function takeBack(admin: Admin, entry: string): Promise<unknown> {
  const { send } = await transports.core(admin);
  return (await send('PUT', `/history/${entry}`)).status;
}

/** What the commands in the store have changed. */
function changed({ snapshot }: Admin): unknown {
  const { services = [], servers = [], monitors = [], users = [] } = configuration(snapshot);
  return [
    ...services.map((each) => [each.name, each.state, each.servers?.length, each.max_connection]),
    ...services.flatMap(({ passwordSealed = [] }) => passwordSealed),
    ...servers.map(({ name, status = [] }) => [name, status.includes('maintenance')]),
    ...monitors.map(({ state, monitor_interval }) => [state, monitor_interval]),
    ...[...snapshot.filters].map(({ settings }) => settings.parameters['match']?.value),
    ...users.map(({ name }) => name),
  ];
}

/** What an undo of the last two commands leaves. */
const others: readonly unknown[] = [
  'v1.two',
  ['db-1', false],
  ['db-2', false],
  ['started', 5000],
  'insert',
  'ada',
];

it('has a history, in which commands are undone and restored, also after another start', async () => {
  const directory = await storeOfBefore();
  const admin = await open(directory);
  expect(changed(admin)).toEqual([
    ['Sales', 'started', 2, 50],
    ['Reports', 'stopped', 1, undefined],
    ...others,
  ]);
  const ids = Array.from({ length: 21 }, (_none, at) => `before-${String(21 - at)}`);
  expect(await historyOf(admin)).toEqual(ids);
  // Why a setting has its value.
  expect(await historyOf(admin, '?resource=/services/Sales&field=max_connection&range=0-0')).toEqual([
    'before-21',
  ]);
  expect(await historyOf(admin, '?resource=/servers/db-1&actor=grace')).toEqual(['before-8', 'before-2']);

  expect(await takeBack(admin, 'before-20/undo')).toBe(204);
  expect(await takeBack(admin, 'before-21/undo')).toBe(204);
  const undone = [['Sales', 'started', 2, 60], ['Reports', 'started', 1, undefined], ...others];
  expect(changed(admin)).toEqual(undone);
  expect(await takeBack(admin, 'before-5/restore')).toBe(204);
  const restored = [
    ...[['Sales', 'started', 1, 80], ['Reports', 'stopped', 1, undefined], 'v1.one'],
    ...[['db-1', true], ['db-2', false], ['started', 2000], 'select', 'ada'],
  ];
  expect(changed(admin)).toEqual(restored);
  const history = await historyOf(admin);
  expect(history.slice(3)).toEqual(ids);
  await admin.close();

  // This version has written a state of its own.
  const again = await open(directory);
  expect(changed(again)).toEqual(restored);
  expect(await historyOf(again)).toEqual(history);
  expect(await takeBack(again, `${history[0] ?? ''}/undo`)).toBe(204);
  expect(changed(again)).toEqual(undone);
  await again.close();
});

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
  const { passwordSealed = '' } = after.admin.snapshot.services.find('my-service')?.settings ?? {};
  expect(await sealer.open(passwordSealed)).toBe(password);
  await after.admin.close();
  for (const kept of [written, await textsIn(directory)]) {
    expect(kept).toContain('"passwordSealed":"v1.');
    expect(kept).not.toContain(password);
    expect(kept).not.toContain(btoa(password).replace(/=+$/, ''));
  }
});
