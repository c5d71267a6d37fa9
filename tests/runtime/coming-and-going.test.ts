/**
 * Many servers come and go. The random scenarios have few of each kind, and lists of them.
 */
import { expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createSnapshot,
  DifferingDocumentError,
  openAdmin,
  type Admin,
  type HostReport,
} from 'gateway-admin-core';
import { createRandom, createScriptedGateway, createVirtualClock } from 'gateway-admin-core/testing';

import { ask } from '../support/ask.ts';
import { configuration } from '../support/configuration.ts';

const count = 1000;
/** How long reports about what was deleted are no fault. */
const lateMs = 60_000;
const words = [[], ['running'], ['master', 'running']] as const;

it('1,000 servers are created, reported and deleted in random order with restarts', async () => {
  const [random, clock, store] = [createRandom(1), createVirtualClock(0), createMemoryStore()];
  const snapshot = createSnapshot({});
  const gateway = createScriptedGateway({ snapshot, clock });
  const errors: unknown[] = [];
  /** The servers that are there, by key, in the order of their creation; and when others were deleted. */
  const known = new Map<string, { readonly name: string; status: readonly string[] }>();
  const gone = new Map<string, number>();
  let created = 0;

  const open = (): Promise<Admin> => {
    const onError = (error: unknown): void => {
      // A start says that the given document has none of the servers.
      if (!(error instanceof DifferingDocumentError)) errors.push(error);
    };
    return openAdmin({ snapshot, gateway, store, clock, observe: { onError } });
  };
  const creation = (): object => {
    const isOld = gone.size > 0 && random.chance(0.05);
    const name = isOld ? random.pick([...gone.keys()]).toUpperCase() : `db-${String((created += 1))}`;
    known.set(name.toLowerCase(), { name, status: [] });
    gone.delete(name.toLowerCase());
    return { method: 'POST', path: '/servers', body: { name, address: 'a', port: 1, protocol: 'pg' } };
  };
  const deletion = (): object => {
    const key = random.pick([...known.keys()]);
    const path = `/servers/${known.get(key)?.name ?? ''}`;
    known.delete(key);
    gone.set(key, clock.now());
    return { method: 'DELETE', path };
  };
  /** Some of both as one command. Each of them gives the list another entity tag. */
  const comeAndGo = async (admin: Admin): Promise<void> => {
    const tagOf = async () => (await ask(admin, 'GET /servers?range=0-0')).headers['etag'];
    const tag = await tagOf();
    const commands = Array.from({ length: 1 + random.below(100) }, () =>
      random.chance(0.6) || known.size === 0 ? creation() : deletion(),
    );
    expect((await ask(admin, 'POST /sequence', { body: { commands } as never })).status).toBe(204);
    expect(await tagOf()).not.toBe(tag);
  };
  const report = (admin: Admin): void => {
    for (const key of Array.from({ length: 20 }, () => random.pick([...known.keys(), '']))) {
      const server = known.get(key);
      if (server === undefined) continue;
      server.status = random.pick(words);
      admin.report(gateway.findStatus(key, server.status as never));
    }
    const late = [...gone].flatMap(([key, at]) => (at + lateMs > clock.now() ? [key] : []));
    admin.report(late.map(aboutServer));
  };
  const restart = async (before: Admin): Promise<Admin> => {
    await before.close();
    const admin = await open();
    admin.report(gateway.statusReports());
    expect(configuration(admin.snapshot)).toEqual(configuration(before.snapshot));
    // The minute of late reports ends with a life.
    gone.clear();
    return admin;
  };

  let admin = await open();
  while (created < count) {
    await comeAndGo(admin);
    report(admin);
    await clock.advance(random.below(5000));
    if (created < count - 300 && random.chance(0.1)) admin = await restart(admin);
  }
  expect(errors).toEqual([]);
  expect((await ask(admin, 'GET /servers?fields=name,status')).body).toEqual([...known.values()]);
  expect(gone.size).toBeGreaterThan(100);
  await clock.advance(lateMs);
  for (const [at, key] of [...gone.keys()].entries()) {
    admin.report(aboutServer(key));
    expect(errors).toHaveLength(at + 1);
  }
  await (await restart(admin)).close();
});

function aboutServer(server: string): HostReport {
  return { type: 'server.reported', server, status: ['running'] };
}
