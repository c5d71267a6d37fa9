/** tests/scenarios/command/unknown-outcome.txt says what clients see of a gateway that does not answer. */
import { describe, expect, it, jest } from '@jest/globals';
import { stopService, type Transition } from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { runAdmin, sampleClock, sampleGateway } from '../../support/running-admin.ts';
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
    const clock = sampleClock();
    const now = jest.spyOn(clock, 'now');
    const held = hold();
    const gateway = sampleGateway().will(held.apply).willSee('not-in-place');
    const { admin, errors } = runAdmin({ gateway, clock });
    const execution = admin.execute(stop);
    await held.begun;
    await clock.advance(admin.limits.effectDeadlineMs);
    expect(await execution).toMatchObject({ outcome: 'unknown', problem: { status: 504 } });
    now.mockReturnValue(NaN);
    held.done();
    await clock.advance(60_000);
    expect(
      errors.filter((error) => error instanceof Error && error.message.startsWith('clock.now')),
    ).toHaveLength(1);
  });
});
