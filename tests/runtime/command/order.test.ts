/**
 * Commands on one resource take effect in the order of arrival, with every kind of store, also if one of them changes nothing.
 */
import { describe, expect, it } from '@jest/globals';
import { createMemoryStore, type Admin } from 'gateway-admin-core';
import { hold, type ScriptedGateway, type VirtualClock } from 'gateway-admin-core/testing';

import { createWorld } from '../../fleet/node.ts';
import { openRunning, runAdmin } from '../../support/running-admin.ts';
import { limit } from '../../support/transition.ts';

interface Opened {
  readonly admin: Admin;
  readonly gateway: ScriptedGateway;
  readonly clock: VirtualClock;
}

const kinds: Readonly<Record<string, () => Promise<Opened>>> = {
  'an interface without a store': () => Promise.resolve(runAdmin()),
  'an interface with a store': () => openRunning(createMemoryStore()),
  'a node of a fleet': async () => {
    const world = createWorld();
    return { ...(await world.open('a')), clock: world.clock };
  },
};

describe.each(Object.keys(kinds))('%s', (kind) => {
  // Promise: resource-order
  it.each([
    [[7, 7, 8], 8, ['accepted', 'unchanged', 'accepted']],
    [[7, 100, 100, 9], 9, ['accepted', 'accepted', 'unchanged', 'accepted']],
  ])('carries out patches to %j in this order', async (values, last, outcomes) => {
    const { admin, gateway, clock } = (await kinds[kind]?.()) as Opened;
    const first = hold();
    gateway.will(first.apply);
    const all = values.map((value) => admin.execute(limit(value)));
    await clock.settle();
    first.done();
    const executions = await clock.waitFor(Promise.all(all));
    expect(executions.map(({ outcome }) => outcome)).toEqual(outcomes);
    expect(admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(last);
    expect(gateway.state.services['my-service']?.settings).toMatchObject({ max_connection: last });
    await clock.waitFor(admin.close());
  });
});
