/** tests/scenarios/command/abandon*.txt say what clients see of abandoned commands. */
import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  stopService,
  type Execution,
  type Json,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { openRunning, runAdmin, sampleGateway } from '../../support/running-admin.ts';
import { silentHost } from '../../support/silent-host.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);

function idOf(execution: Execution): string {
  if (execution.outcome !== 'unknown') throw new Error(`The outcome is ${execution.outcome}`);
  return execution.commandId;
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
  it('is refused after close, and rejects for an id that is no text', async () => {
    const { admin, gateway, execution } = await silentHost(stop, 'not-in-place');
    gateway.otherwise({ inspect: 'not-in-place' });
    const id = idOf(await execution);
    await expect(admin.abandon(7 as unknown as string)).rejects.toThrow(
      'The id of a command must be a string',
    );
    await admin.close();
    expect(await admin.abandon(id)).toMatchObject({ outcome: 'refused', problem: { code: 'closed' } });
  });
});

it('an abandoned command is not inspected at the next start about the part that has settled', async () => {
  const store = createMemoryStore();
  const gateway = sampleGateway().will(hold().apply).otherwise({ inspect: 'not-in-place' });
  const { admin, clock } = await openRunning(store, { gateway });
  const execution = admin.execute(stop, { actor: 'ada' });
  await clock.advance(admin.limits.effectDeadlineMs);
  await admin.abandon(idOf(await execution));
  const { state, records } = await store.load();
  const [intent, abandonment] = records as readonly { readonly command: string; readonly events: Json }[];
  const part = { type: 'settlement', command: intent?.command ?? '', revision: 1, last: false };
  const settled = { ...part, events: intent?.events ?? [] };
  const history = [{ ...intent, of: 2 }, settled, abandonment ?? null] as readonly Json[];
  const between = createMemoryStore({ ...(state === undefined ? {} : { state }), records: history });
  const next = await openRunning(between);
  expect(next.admin.snapshot.services.find('my-service')?.state).toBe('stopped');
  expect([next.gateway.calls, next.admin.commands()]).toEqual([[], []]);
  await next.admin.close();
});
