import { describe, expect, it } from '@jest/globals';
import {
  closeServiceSessions,
  HostError,
  sequence,
  stopMonitor,
  stopService,
  type Transition,
} from 'gateway-admin-core';
import { hold, type InspectWay } from 'gateway-admin-core/testing';

import { appliedTo, runAdmin, sampleGateway, type Running } from '../../support/running-admin.ts';
import { silentHost, type SilentHost } from '../../support/silent-host.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const stopMain: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
const deadlineMs = 10_000;

/** A stop that the host does not answer, and whose deadline has passed. */
const silent = (...seen: readonly InspectWay[]): Promise<SilentHost> => silentHost(stop, ...seen);

function stateOf({ admin }: Running): string | undefined {
  return admin.snapshot.services.find('my-service')?.state;
}

describe('a host that does not answer within the deadline', () => {
  it('sees its signal abort, and is asked with inspect', async () => {
    const { gateway, execution } = await silent('in-place');
    expect(gateway.calls.map(({ method }) => method)).toEqual(['apply', 'inspect']);
    expect(gateway.calls[0]?.context.signal.aborted).toBe(true);
    expect(gateway.calls[1]?.context.signal.aborted).toBe(false);
    expect(gateway.calls[1]?.context.commandId).toBe(gateway.calls[0]?.context.commandId);
    expect((await execution).outcome).toBe('accepted');
  });

  it('is not asked with inspect before the deadline', async () => {
    const held = hold();
    const { admin, gateway, clock } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const execution = admin.execute(stop);
    await held.begun;
    await clock.advance(deadlineMs - 1);
    expect(gateway.inspected.length).toBe(0);
    held.done();
    expect((await execution).outcome).toBe('accepted');
    expect(gateway.calls[0]?.context.signal.aborted).toBe(false);
  });

  it('has the deadline of the option effectDeadlineMs', async () => {
    const held = hold();
    const gateway = sampleGateway().will(held.apply).willSee('in-place');
    const { admin, clock } = runAdmin({ gateway, limits: { effectDeadlineMs: 50 } });
    const execution = admin.execute(stop);
    await held.begun;
    await clock.advance(50);
    expect((await execution).outcome).toBe('accepted');
    expect(gateway.inspected.length).toBe(1);
  });

  it('has applied the effect if inspect says in-place, whatever apply answers later', async () => {
    const running = await silent('in-place');
    expect((await running.execution).outcome).toBe('accepted');
    running.held.fail(new Error('much later'));
    await running.clock.settle();
    expect([stateOf(running), running.admin.snapshot.revision]).toEqual(['stopped', 1]);
    expect(running.errors).toMatchObject([{ name: 'HostError', cause: new Error('much later') }]);
  });

  // Promise: unknown-outcome
  it('leads to a 504 with the id of the command while apply can still take effect', async () => {
    const running = await silent('not-in-place', 'not-in-place', 'not-in-place', 'not-in-place');
    const execution = await running.execution;
    expect(execution).toMatchObject({
      outcome: 'unknown',
      commandId: running.gateway.calls[0]?.context.commandId,
      problem: { code: 'outcome-unknown', status: 504 },
    });
    expect(execution.outcome === 'unknown' && execution.problem.detail).toContain(
      running.gateway.calls[0]?.context.commandId,
    );
    expect([stateOf(running), running.admin.snapshot.revision]).toEqual(['started', 0]);
  });

  // Promise: outcome-found
  it.each([
    ['in-place', 'stopped'],
    ['not-in-place', 'started'],
  ] as const)('gives the outcome when inspect says %s after apply has failed', async (seen, state) => {
    const running = await silent('not-in-place');
    expect((await running.execution).outcome).toBe('unknown');
    running.gateway.willSee(seen, seen);
    running.held.fail(new Error('the wire broke'));
    await running.clock.advance(60_000);
    expect(stateOf(running)).toBe(state);
    expect(running.clock.sleeping).toBe(0);
  });

  it('leaves the outcome unknown if apply fails while inspect runs, and inspect says not-in-place', async () => {
    const [held, looking] = [hold(), hold()];
    const gateway = sampleGateway()
      .will(held.apply)
      .willSee(async (effect, context) => {
        await looking.apply(effect, context, () => undefined);
        return 'not-in-place';
      }, 'in-place');
    const running = runAdmin({ gateway });
    const execution = running.admin.execute(stop);
    await held.begun;
    await running.clock.advance(deadlineMs);
    await looking.begun;
    // The host has looked already: the effect may land after that, and before apply fails.
    held.fail(new Error('the wire broke'));
    await running.clock.settle();
    looking.done();
    expect(await execution).toMatchObject({ outcome: 'unknown', problem: { code: 'outcome-unknown' } });
    await running.clock.advance(60_000);
    expect([stateOf(running), running.clock.sleeping]).toEqual(['stopped', 0]);
  });

  it('gives the outcome when apply answers late', async () => {
    const running = await silent('not-in-place', 'not-in-place');
    await running.execution;
    running.held.done();
    await running.clock.advance(60_000);
    expect([stateOf(running), running.gateway.inspected.length <= 2]).toEqual(['stopped', true]);
  });

  it('tells onError an error that ends the command after its 504', async () => {
    const held = hold();
    const broken = new Error('no such actor');
    let isBroken = false;
    const gateway = sampleGateway().will(held.apply).willSee('not-in-place');
    const { admin, errors, clock } = runAdmin({ gateway });
    // An event of the host that cannot be read any more.
    const actor = (): string => {
      if (isBroken) throw broken;
      return 'ada';
    };
    const execution = admin.execute((snapshot, context) => {
      const decision = stop(snapshot, context);
      if (decision.outcome !== 'accepted') return decision;
      const events = decision.events.map((event) =>
        Object.defineProperty({ ...event }, 'actor', { get: actor, enumerable: true }),
      );
      return { ...decision, events };
    });
    await held.begun;
    await clock.advance(deadlineMs);
    expect((await execution).outcome).toBe('unknown');
    isBroken = true;
    held.done();
    await clock.advance(60_000);
    expect(errors.filter((error) => error === broken)).toHaveLength(1);
  });

  it('settles with the last time of a clock that fails after the 504', async () => {
    const running = await silent('not-in-place');
    const events = running.admin.events();
    const before = running.clock.now();
    running.clock.now = () => NaN;
    running.held.done();
    await running.clock.advance(60_000);
    expect(stateOf(running)).toBe('stopped');
    expect((await events.next()).value).toMatchObject({ event: { type: 'service.stopped', at: before } });
    expect(
      running.errors.filter((error) => error instanceof HostError && error.call === 'clock.now'),
    ).toHaveLength(1);
  });

  // Promise: inspect-retry
  it('is asked again, with growing pauses', async () => {
    const running = await silent('not-in-place');
    running.gateway.otherwise({ inspect: 'not-in-place' });
    await running.execution;
    const asked: number[] = [];
    for (let second = 0; second < 60; second += 1) {
      await running.clock.advance(1000);
      asked.push(running.gateway.inspected.length);
    }
    expect((asked[0] ?? 0) >= 3).toBe(true);
    expect(asked[59]).toBeLessThan(30);
    expect((asked[59] ?? 0) - (asked[39] ?? 0)).toBeGreaterThanOrEqual(3);
  });

  it('is asked again when inspect itself fails or does not answer', async () => {
    const running = await silent(new Error('cannot see'), new Error('cannot see'), 'in-place');
    expect((await running.execution).outcome).toBe('unknown');
    await running.clock.advance(60_000);
    expect([stateOf(running), running.gateway.inspected.length]).toEqual(['stopped', 3]);
  });

  // Promise: unknown-blocks
  it('blocks the resource of the command meanwhile, and no other', async () => {
    const running = await silent('not-in-place', 'not-in-place');
    await running.execution;
    const { admin } = running;
    expect(await admin.execute(stop)).toMatchObject({
      outcome: 'refused',
      problem: { code: 'command-in-progress', status: 409 },
    });
    const target = '/service/My-Service/start?dry_run=true';
    const planned = await admin.handle({ method: 'PUT', target, headers: {} });
    expect(planned).toMatchObject({ response: { status: 409, headers: { 'retry-after': '1' } } });
    expect(await admin.execute(sequence(stopMain, stop))).toMatchObject({
      problem: { code: 'command-in-progress' },
    });
    expect((await admin.execute(stopMain)).outcome).toBe('accepted');
    running.gateway.willSee('in-place');
    await running.clock.advance(60_000);
    expect(stateOf(running)).toBe('stopped');
    expect((await admin.execute(stop)).outcome).toBe('unchanged');
  });

  it('begins nothing afterwards that cannot be undone, and undoes what is done', async () => {
    const closeAll: Transition = (snapshot, context) => closeServiceSessions(snapshot, 'My Service', context);
    const { admin, clock, gateway, execution } = await silentHost(
      sequence(stop, closeAll),
      'not-in-place',
      'in-place',
    );
    const reader = admin.events();
    expect((await execution).outcome).toBe('unknown');
    await clock.advance(60_000);
    expect(appliedTo(gateway)).toEqual([
      'service.stop /services/My-Service',
      'service.start /services/My-Service',
    ]);
    expect(gateway.differences(admin.snapshot)).toEqual([]);
    expect(await reader.next()).toMatchObject({
      value: {
        event: {
          type: 'command.failed',
          reason:
            'The outcome of one part was unknown for a time. The gateway was not asked for the parts after it. Nothing was changed.',
        },
      },
    });
  });

  it('leads to a refusal of the commands that wait for the resource', async () => {
    const held = hold();
    const { admin, clock } = runAdmin({
      gateway: sampleGateway().will(held.apply).willSee('not-in-place', 'not-in-place'),
    });
    const [first, second] = [admin.execute(stop), admin.execute(stop)];
    await held.begun;
    await clock.advance(deadlineMs);
    expect((await first).outcome).toBe('unknown');
    expect(await second).toMatchObject({ problem: { code: 'command-in-progress' } });
  });

  // Promise: late-success
  it('leads to an event with the outcome and the id of the command', async () => {
    const running = await silent('not-in-place', 'in-place');
    const reader = running.admin.events();
    const execution = await running.execution;
    const id = execution.outcome === 'unknown' ? execution.commandId : '';
    expect(id).not.toBe('');
    await running.clock.advance(60_000);
    const { value } = (await reader.next()) as { value: unknown };
    expect(value).toMatchObject({ event: { type: 'service.stopped' } });
    expect(JSON.stringify(value)).toContain(id);
    await running.admin.close();
  });

  it('leads to a 504 also if apply fails and inspect fails', async () => {
    const gateway = sampleGateway().will('failBefore').willSee(new Error('cannot see'), 'not-in-place');
    const { admin, clock } = runAdmin({ gateway });
    const { services } = admin.snapshot;
    const execution = await admin.execute(stop);
    expect(execution.outcome).toBe('unknown');
    await clock.advance(60_000);
    expect(admin.snapshot.services).toBe(services);
    expect((await admin.execute(stop)).outcome).toBe('accepted');
  });

  // Promise: late-failure
  it('leads to command.failed if the effect turns out not to be in place', async () => {
    const gateway = sampleGateway().will('failBefore').willSee(new Error('cannot see'), 'not-in-place');
    const { admin, clock } = runAdmin({ gateway });
    const reader = admin.events();
    const execution = await admin.execute(stop, { actor: 'ada' });
    await clock.advance(60_000);
    expect(await reader.next()).toMatchObject({
      value: {
        id: expect.stringMatching(/^[0-9a-f]{12}\.1\.0$/),
        event: {
          type: 'command.failed',
          resource: '/services/My-Service',
          actor: 'ada',
          command: execution.outcome === 'unknown' ? execution.commandId : 'known',
          reason:
            'The gateway did not confirm the change, and then said that the change is not in place. Nothing was changed.',
        },
      },
    });
    await admin.close();
  });

  it('does not keep the interface from closing', async () => {
    const running = await silent('not-in-place', 'not-in-place', 'not-in-place');
    await running.execution;
    let closed = false;
    const closing = running.admin.close().then(() => {
      closed = true;
    });
    await running.clock.advance(600_000);
    expect(closed).toBe(true);
    await closing;
    expect(running.clock.sleeping).toBe(0);
  });
});
