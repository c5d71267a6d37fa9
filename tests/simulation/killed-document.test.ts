import { setImmediate } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import { createSnapshot, toDocument, type GatewayDocument } from 'gateway-admin-core';
import { createRandom, createScriptedGateway, createVirtualClock } from 'gateway-admin-core/testing';

import { Disk } from './disk.ts';
import { beginLife, type Life } from './life.ts';
import type { Surroundings } from './mortal.ts';

const db1 = { name: 'db-1', address: '::1', port: 1, protocol: 'pg' };
const db2 = { name: 'db-2', address: '::1', port: 2, protocol: 'pg' };
const sales = { name: 'Sales', router: 'r', servers: ['/servers/db-1'] };
const watch = { name: 'Watch', module: 'm' };

const before: GatewayDocument = {
  servers: [db1],
  services: [sales],
  monitors: [watch],
  filters: [{ name: 'Hint', module: 'f' }],
};

const servers = ['/servers/db-1', '/servers/db-2'];

/** The same change in two requests: a document, and the commands that its plan shows, in the order of the plan. */
const requests = {
  document: {
    target: '/document?prune=true',
    body: {
      servers: [db1, db2],
      services: [{ ...sales, servers, max_connection: 7 }],
      monitors: [{ ...watch, state: 'stopped' }],
      filters: [],
    },
  },
  sequence: {
    target: '/sequence',
    body: {
      commands: [
        { method: 'POST', path: '/servers', body: db2 },
        { method: 'PUT', path: '/monitors/Watch/stop' },
        {
          method: 'PATCH',
          path: '/services/Sales',
          body: [
            { op: 'add', path: '/servers', value: servers },
            { op: 'add', path: '/max_connection', value: 7 },
          ],
        },
        { method: 'DELETE', path: '/filters/Hint' },
      ],
    },
  },
} as const;

interface Fate {
  /** The process dies before or after the n-th call of a port. */
  readonly moment: number;
  readonly areCallsLost: boolean;
}

/** What the next process shows, and whether the first one has died. */
interface End {
  readonly hasDied: boolean;
  readonly shown: GatewayDocument;
  /** What the gateway has otherwise. */
  readonly differences: readonly string[];
}

async function endOf(
  { target, body }: (typeof requests)[keyof typeof requests],
  { moment, areCallsLost }: Fate,
): Promise<End> {
  const clock = createVirtualClock(0);
  const snapshot = createSnapshot(before);
  const gateway = createScriptedGateway({ snapshot, clock });
  const disk = new Disk(createRandom(moment), clock);
  const begin = async (fate: Pick<Surroundings, 'random' | 'mortality'>): Promise<Life | undefined> => {
    const none = (): void => undefined;
    const rest = { snapshot, gateway, clock, store: disk.store(), starting: () => none, storing: none };
    const life = await clock.waitFor(beginLife({ ...rest, cross: none, ...fate }));
    life?.admin.report(gateway.statusReports());
    return life;
  };
  let calls = 0;
  const chance = (): boolean => (calls += 1) === moment;
  const first = await begin({ random: { ...createRandom(0), chance }, mortality: 1 });
  let isAnswered = false;
  void first?.admin
    .handle({
      method: 'POST',
      target,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    .finally(() => (isAnswered = true))
    .catch(() => undefined);
  // On a busy machine, a document is read in several turns of the event loop.
  while (first?.alive === true && !isAnswered) {
    await setImmediate();
    await clock.runUntilIdle();
  }
  const hasDied = first?.alive !== true;
  first?.die();
  if (areCallsLost) gateway.dropCalls();
  await clock.runUntilIdle();
  disk.tear();
  const second = await begin({ random: createRandom(0), mortality: 0 });
  if (second === undefined) throw new Error('The second process does not start');
  await clock.runUntilIdle();
  const { snapshot: now } = second.admin;
  return { hasDied, shown: toDocument(now), differences: gateway.differences(now) };
}

describe.each([true, false])(
  'a document, in a process whose calls are lost at its end: %p',
  (areCallsLost) => {
    it('comes to the same after a kill at any moment as the sequence of its changes', async () => {
      const ends: GatewayDocument[] = [];
      for (let moment = 1; ; moment += 1) {
        const fate = { moment, areCallsLost };
        const [document, sequence] = [
          await endOf(requests.document, fate),
          await endOf(requests.sequence, fate),
        ];
        expect({ moment, ...document }).toEqual({ moment, ...sequence, differences: [] });
        ends.push(document.shown);
        if (!document.hasDied) break;
      }
      expect(ends.length).toBeGreaterThan(20);
      const changed = ({ servers, services, monitors, filters }: GatewayDocument = {}): unknown => [
        servers?.length,
        services?.[0]?.max_connection,
        monitors?.[0]?.state,
        filters?.length,
      ];
      expect(changed(ends[0])).toEqual([1, undefined, 'started', 1]);
      expect(changed(ends.at(-1))).toEqual([2, 7, 'stopped', 0]);
    });
  },
);
