/**
 * What a command in several parts does not do yet while the gateway or the store fails. What it does is in
 * tests/scenarios/command/several-parts.txt.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createResource,
  createSnapshot,
  deleteResource,
  EffectRefusedError,
  patchService,
  sequence,
  type Execution,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway, createVirtualClock, hold } from 'gateway-admin-core/testing';

import { configuration } from '../../support/configuration.ts';
import { FailingStore, type storeFailures } from '../../support/failing-store.ts';
import { openRunning, type Running } from '../../support/running-admin.ts';

const snapshot = createSnapshot({
  servers: [{ name: 'spare', address: '10.0.0.1', port: 5432, protocol: 'pg' }],
  services: [{ name: 'Sales', router: 'cli', max_connection: 1 }],
});

/** Two effects settle before the other two begin. */
const command: Transition = sequence(
  (from, context) =>
    patchService(from, 'Sales', [{ op: 'replace', path: '/max_connection', value: 2 }], context),
  (from, context) => createResource(from, 'services', { name: 'New', router: 'cli' }, context),
  (from, context) => deleteResource(from, 'servers', 'spare', context),
);

interface World extends Running {
  readonly store: FailingStore;
}

/** Makes something fail. Gives what lets it work again. */
type Incident = (world: World) => () => void;

const storeFailing =
  (good: number, how: keyof typeof storeFailures): Incident =>
  ({ store }) => {
    store.failAfter(good, how);
    return () => {
      store.work();
    };
  };

/** The outcome of an effect is unknown for a time. Then the gateway carries the effect out, or refuses it. */
const unknownAtEffect =
  (before: number, isDone: boolean): Incident =>
  ({ gateway }) => {
    const held = hold();
    gateway.will(...Array<'done'>(before).fill('done'), held.apply).otherwise({ inspect: 'not-in-place' });
    return () => {
      gateway.otherwise({});
      if (isDone) held.done();
      else held.fail(new EffectRefusedError('No.'));
    };
  };

const incidents: readonly (readonly [what: string, incident: Incident])[] = [
  ['the store fails while the first part is stored', storeFailing(1, 'rejects, and nothing is kept')],
  ['the store fails between the parts', storeFailing(2, 'rejects, and nothing is kept')],
  ['the store fails between the parts, and has the record', storeFailing(2, 'rejects, and all is kept')],
  ['an effect of the first part was unknown, and is done', unknownAtEffect(1, true)],
  ['an effect of the second part was unknown, and is refused', unknownAtEffect(2, false)],
];

/** Runs the command through an incident of a minute. */
async function run(incident: Incident): Promise<Running & { readonly execution: Execution }> {
  const clock = createVirtualClock(0);
  const gateway = createScriptedGateway({ snapshot, clock });
  const store = new FailingStore();
  const running = await openRunning(store, { snapshot, gateway, clock });
  const end = incident({ ...running, store });
  const executed = running.admin.execute(command);
  await clock.advance(60_000);
  const execution = await executed;
  end();
  await clock.advance(60_000);
  return { ...running, execution };
}

describe('a command in two parts', () => {
  // Fails until a command whose part has settled is held, and then goes on or is taken back.
  it.failing.each(incidents)('is there as a whole or not at all if %s', async (_what, incident) => {
    const { admin, gateway } = await run(incident);
    expect(gateway.differences(admin.snapshot)).toEqual([]);
    const all = command(snapshot, { now: 0 }).next;
    expect([configuration(snapshot), configuration(all)]).toContainEqual(configuration(admin.snapshot));
  });

  // Fails until a store that fails there holds the command.
  it.failing('is not refused if the store fails between the parts: the outcome is unknown', async () => {
    const { execution } = await run(storeFailing(2, 'rejects, and nothing is kept'));
    expect(execution.outcome).toBe('unknown');
  });

  it('agrees with the gateway all the same, and ends; without an incident, the whole of it is there', async () => {
    const { admin: whole } = await run(() => () => undefined);
    expect(configuration(whole.snapshot)).toEqual(configuration(command(snapshot, { now: 0 }).next));
    for (const [what, incident] of incidents) {
      const { admin, gateway } = await run(incident);
      expect([what, gateway.differences(admin.snapshot), admin.commands()]).toEqual([what, [], []]);
    }
  });
});
