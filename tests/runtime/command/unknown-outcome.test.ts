/** tests/scenarios/command/unknown-outcome.txt says what clients see of a gateway that does not answer. */
import { describe, expect, it } from '@jest/globals';
import { HostError, stopService, type Transition } from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { runAdmin, sampleGateway } from '../../support/running-admin.ts';
import { silentHost } from '../../support/silent-host.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);

describe('a host that does not answer within the deadline', () => {
  it('sees its signal abort, and is asked with inspect', async () => {
    const { gateway, execution } = await silentHost(stop, 'in-place');
    expect(gateway.calls.map(({ method }) => method)).toEqual(['apply', 'inspect']);
    const [apply, inspect] = gateway.calls.map(({ context }) => context);
    expect([apply?.signal.aborted, inspect?.signal.aborted]).toEqual([true, false]);
    expect(inspect?.commandId).toBe(apply?.commandId);
    expect((await execution).outcome).toBe('accepted');
  });

  it('does not see its signal abort before the deadline', async () => {
    const held = hold();
    const { admin, gateway, clock } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const execution = admin.execute(stop);
    await held.begun;
    await clock.advance(admin.limits.effectDeadlineMs - 1);
    held.done();
    expect((await execution).outcome).toBe('accepted');
    expect(gateway.calls[0]?.context.signal.aborted).toBe(false);
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
    await clock.advance(admin.limits.effectDeadlineMs);
    expect((await execution).outcome).toBe('unknown');
    isBroken = true;
    held.done();
    await clock.advance(60_000);
    expect(errors.filter((error) => error === broken)).toHaveLength(1);
  });

  it('settles with the last time of a clock that fails after the 504', async () => {
    const running = await silentHost(stop, 'not-in-place');
    const events = running.admin.events();
    const before = running.clock.now();
    running.clock.now = () => NaN;
    running.held.done();
    await running.clock.advance(60_000);
    expect(running.admin.snapshot.services.find('my-service')?.state).toBe('stopped');
    expect((await events.next()).value).toMatchObject({ event: { type: 'service.stopped', at: before } });
    expect(
      running.errors.filter((error) => error instanceof HostError && error.call === 'clock.now'),
    ).toHaveLength(1);
  });
});
