import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  stopService,
  type ConfigurationStore,
  type Execution,
  type Json,
  type Transition,
} from 'gateway-admin-core';
import { hold, type InspectWay } from 'gateway-admin-core/testing';

import { openRunning, runAdmin, sampleGateway, type Running } from '../../support/running-admin.ts';
import { silentHost, type SilentHost } from '../../support/silent-host.ts';
import { transportNames, transports, type Transport } from '../../support/transport.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);

/** A stop whose outcome is unknown: the host does not answer `apply`, and `inspect` says not-in-place. */
async function unknownStop(transition: Transition = stop): Promise<SilentHost & { readonly id: string }> {
  const running = await silentHost(transition, 'not-in-place');
  running.gateway.otherwise({ inspect: 'not-in-place' });
  const id = idOf(await running.execution);
  // That apply has not settled: tests/scenarios/host/late-answer.txt.
  running.errors.splice(0);
  return { ...running, id };
}

function idOf(execution: Execution): string {
  if (execution.outcome !== 'unknown') throw new Error(`The outcome is ${execution.outcome}`);
  return execution.commandId;
}

function stateOf({ admin }: Running): string | undefined {
  return admin.snapshot.services.find('my-service')?.state;
}

describe('admin.commands', () => {
  it('gives lists that nobody can change', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const links = ['/services/My-Service'];
    const execution = admin.execute((snapshot, context) => ({
      ...stop(snapshot, context),
      resources: links,
    }));
    await held.begun;
    links.pop();
    expect(() => (admin.commands()[0]?.resources as string[]).pop()).toThrow(TypeError);
    held.done();
    await execution;
    expect((await admin.execute(stop)).outcome).toBe('unchanged');
  });
});

describe('admin.abandon', () => {
  it('is refused after close', async () => {
    const { admin, id } = await unknownStop();
    await admin.close();
    expect(await admin.abandon(id)).toMatchObject({ outcome: 'refused', problem: { code: 'closed' } });
  });

  it('rejects for an id that is no text', async () => {
    const { admin } = runAdmin();
    await expect(admin.abandon(7 as unknown as string)).rejects.toThrow(
      'The id of a command must be a string',
    );
  });
});

describe('an abandoned command at the next start', () => {
  /** Abandons a stop, and lets the process end. */
  async function leftBehind(): Promise<{ readonly store: ConfigurationStore; readonly id: string }> {
    const store = createMemoryStore();
    const gateway = sampleGateway().will(hold().apply).otherwise({ inspect: 'not-in-place' });
    const { admin, clock } = await openRunning(store, { gateway });
    const execution = admin.execute(stop, { actor: 'ada' });
    await clock.advance(admin.limits.effectDeadlineMs);
    const id = idOf(await execution);
    await admin.abandon(id);
    return { store, id };
  }

  const openSeeing = (store: ConfigurationStore, ...seen: readonly InspectWay[]): Promise<Running> =>
    openRunning(store, { gateway: sampleGateway().willSee(...seen) });

  it('is not inspected about the part that has settled', async () => {
    const { store } = await leftBehind();
    const { state, records } = await store.load();
    const [intent, abandonment] = records as readonly { readonly command: string; readonly events: Json }[];
    const part = { type: 'settlement', command: intent?.command ?? '', revision: 1, last: false };
    const settled = { ...part, events: intent?.events ?? [] };
    const history = [{ ...intent, of: 2 }, settled, abandonment ?? null] as readonly Json[];
    const between = createMemoryStore({ ...(state === undefined ? {} : { state }), records: history });
    const running = await openSeeing(between);
    expect([stateOf(running), running.gateway.calls, running.admin.commands()]).toEqual(['stopped', [], []]);
    await running.admin.close();
  });
});

describe.each(transportNames)('through %s', (name) => {
  let transport: Transport | undefined;

  afterEach(async () => {
    await transport?.close();
  });

  it('GET /commands lists the commands in flight, and DELETE abandons one', async () => {
    const { admin, id } = await unknownStop();
    const { send } = (transport = await transports[name](admin));
    const listed = await send('GET', '/commands?fields=id,outcome,since');
    expect(listed).toMatchObject({
      status: 200,
      body: [{ id, outcome: 'unknown', since: expect.any(String) }],
    });
    expect([listed.headers['x-total-count'], listed.headers['etag']]).toEqual(['1', undefined]);
    const target = `/commands/${id}`;
    const plan = await send('DELETE', `${target}?dry_run=true`);
    expect(plan).toMatchObject({ status: 200, body: { outcome: 'accepted', events: [], effects: [] } });
    expect(await send('DELETE', target, { headers: { 'if-match': '"other"' } })).toMatchObject({
      status: 412,
    });
    expect(await send('DELETE', '/commands/none', { headers: { 'if-match': '"other"' } })).toMatchObject({
      status: 404,
      body: { code: 'command-not-found' },
    });
    expect(await send('DELETE', target)).toMatchObject({ status: 204, text: '' });
    expect(await send('DELETE', target)).toMatchObject({ status: 404, body: { code: 'command-not-found' } });
    expect((await send('GET', '/commands')).body).toEqual([]);
  });

  it('DELETE of a command whose outcome is awaited is a 409', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const execution = admin.execute(stop);
    await held.begun;
    const { send } = (transport = await transports[name](admin));
    const [{ id } = { id: '' }] = admin.commands();
    for (const query of ['', '?dry_run=true']) {
      expect(await send('DELETE', `/commands/${id}${query}`)).toMatchObject({
        status: 409,
        body: { code: 'command-not-abandonable', command: id },
      });
    }
    held.done();
    await execution;
  });
});
