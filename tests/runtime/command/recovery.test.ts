/**
 * What programs see of commands that an earlier life has left open, of abandoned ones, and of reports in between.
 * tests/scenarios/command/{recovery,abandon*,crossing}.txt say what clients see.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createSnapshot,
  createUser,
  deleteUser,
  flushLogs,
  patchServer,
  sequence,
  type ConfigurationStore,
  type EffectOf,
  type Execution,
  type Json,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { FailingStore } from '../../support/failing-store.ts';
import { openRunning, runAdmin, sampleGateway } from '../../support/running-admin.ts';
import { limit, stop } from '../../support/transition.ts';
import { shown } from '../../support/shown.ts';

describe('an open command of an earlier life', () => {
  it('of the host that flushes first has settled its flush: only the effect in flight is inspected', async () => {
    const flushFirst: Transition = (snapshot, context) => {
      const [first, then] = [flushLogs(snapshot, context), stop(snapshot, context)];
      if (first.outcome !== 'accepted' || then.outcome !== 'accepted') return then;
      const events = [...first.events, ...then.events];
      const effects = [...first.effects, ...then.effects];
      return { ...then, resources: [...first.resources, ...then.resources], events, effects };
    };
    const store = createMemoryStore();
    const dying = await openRunning(store, { gateway: sampleGateway().will('done', hold().apply) });
    const reader = dying.admin.events();
    dying.admin.execute(flushFirst).catch(() => undefined);
    await dying.clock.settle();
    await dying.clock.advance(0);
    expect(await reader.next()).toMatchObject({ value: { event: { type: 'logs.flushed' } } });
    const gateway = sampleGateway().willSee('in-place');
    const { admin } = await openRunning(store, { gateway });
    expect(gateway.calls).toMatchObject([{ method: 'inspect', effect: { type: 'service.stop' } }]);
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    await admin.close();
  });

  it('ends if its last part was refused, and the process ended before what stood of it was taken back', async () => {
    const dead = createMemoryStore();
    const dying = await openRunning(dead, { gateway: sampleGateway().will(hold().apply) });
    dying.admin.execute(stop).catch(() => undefined);
    await dying.clock.settle();
    const { state, records } = await dead.load();
    const [intent] = records as readonly { readonly command: string; readonly events: Json }[];
    const part = { type: 'settlement', command: intent?.command, revision: 1, last: false };
    const [of, nothing, all] = [2, { ...part, events: [] }, { ...part, events: intent?.events }];
    const left = [{ ...intent, of }, nothing, { ...intent, part: 1, of }, all] as unknown as readonly Json[];
    const store = createMemoryStore({ ...(state === undefined ? {} : { state }), records: left });
    const next = await openRunning(store);
    expect(next.admin.commands()).toEqual([]);
    await next.admin.close();
    // Otherwise each later life would find the command again.
    const last = (await store.load()).records.at(-1);
    const failed = { type: 'command.failed' };
    expect(last).toMatchObject({ command: intent?.command, last: true, events: [failed] });
  });
});

function idOf(execution: Execution): string {
  if (execution.outcome !== 'unknown') throw new Error(`The outcome is ${execution.outcome}`);
  return execution.commandId;
}

describe('admin.commands', () => {
  it('gives lists that nobody can change', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const links = ['/services/My-Service'];
    const execution = admin.execute((...given) => ({ ...stop(...given), resources: links }));
    await held.begun;
    links.pop();
    expect(() => (admin.commands()[0]?.resources as string[]).pop()).toThrow(TypeError);
    held.done();
    await execution;
    expect((await admin.execute(stop)).outcome).toBe('unchanged');
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

describe('a command that was in flight when the process ended', () => {
  it('shows inspect all settings, of which the store has what changes', async () => {
    const memory = createMemoryStore();
    const stored: string[] = [];
    const append: ConfigurationStore['append'] = (records, where) => {
      stored.push(...records.map((record) => JSON.stringify(record)));
      return memory.append(records, where);
    };
    const store = { ...memory, append };
    const dead = await openRunning(store, { gateway: sampleGateway().will('done', hold().apply) });
    dead.admin.execute(sequence(limit(7), limit(8))).catch(() => undefined);
    await dead.clock.settle();
    expect(stored[0]).toContain('"from":{"max_connection":7},"to":{"max_connection":8}');
    expect(stored[0]).not.toContain('router');
    const gateway = sampleGateway().willSee('in-place', 'in-place', 'not-in-place');
    const { admin } = await openRunning(store, { gateway });
    expect(gateway.inspected.slice(0, 2)).toEqual(dead.gateway.applied);
    expect(gateway.calls[0]?.context.commandId).toBe(dead.gateway.calls[0]?.context.commandId);
    expect(admin.snapshot.services.find('my-service')?.settings).toEqual(
      expect.objectContaining({ max_connection: 8, router_options: expect.anything() }),
    );
    await admin.close();
  });

  it('shows inspect all settings, also if the command was abandoned', async () => {
    const store = createMemoryStore();
    const gateway = sampleGateway().will(hold().apply).otherwise({ inspect: 'not-in-place' });
    const dead = await openRunning(store, { gateway });
    const { admin, clock } = dead;
    const execution = admin.execute((snapshot, context) =>
      patchServer(snapshot, 'Spare DB', [{ op: 'replace', path: '/port', value: 7 }], context),
    );
    await clock.advance(admin.limits.effectDeadlineMs);
    await execution;
    await admin.abandon(admin.commands()[0]?.id ?? '');
    await admin.close();
    const later = sampleGateway().willSee('in-place');
    const { admin: next } = await openRunning(store, { gateway: later });
    // What is shown counts, so the gateway is asked whether the effect was taken back.
    const [asked] = gateway.applied as readonly EffectOf<'server.update'>[];
    expect(later.inspected).toMatchObject([{ from: asked?.to, to: asked?.from }]);
    await next.close();
  });

  it('without effects is stored as one settlement, or not at all', async () => {
    const store = createMemoryStore();
    const { admin } = await openRunning(store);
    const addUser: Transition = (snapshot, context) =>
      createUser(snapshot, { name: 'newcomer', password: { sealed: 'opaque' } }, context);
    expect((await admin.execute(addUser)).outcome).toBe('accepted');
    const refused = await admin.execute((snapshot, context) => deleteUser(snapshot, 'nobody', context));
    expect(refused.outcome).toBe('refused');
    const { records } = await store.load();
    expect(records).toMatchObject([{ type: 'settlement', last: true }]);
  });
});

it('a server that is set down has no role, although a role was found while the store kept the intent', async () => {
  const snapshot = createSnapshot({
    servers: [{ name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] }],
  });
  const setDown: Transition = (state, context) =>
    patchServer(state, 'db', [{ op: 'replace', path: '/state', value: [] }], context);
  const store = new FailingStore();
  const running = await openRunning(store, { snapshot });
  const append = store.append.bind(store);
  store.append = (...args) => {
    store.append = append;
    running.admin.report({ type: 'server.reported', server: 'db', status: ['running', 'master'] });
    return append(...args);
  };
  expect((await running.admin.execute(setDown)).outcome).toBe('accepted');
  expect(shown(running.admin.snapshot.servers.find('db'))?.settings.state).toEqual([]);
  await running.admin.close();
});
