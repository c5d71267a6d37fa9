/**
 * A host that does not answer a call before the deadline.
 */
import type { Execution, Transition } from 'gateway-admin-core';
import { hold, type HeldCall, type InspectWay } from 'gateway-admin-core/testing';

import { runAdmin, sampleGateway, type Running } from './running-admin.ts';

/** A command whose call the host has not answered. */
export interface SilentHost extends Running {
  readonly held: HeldCall;
  readonly execution: Promise<Execution>;
}

/**
 * Runs a command whose call is not answered, until the deadline has passed. `seen` are the next answers of `inspect`.
 */
export async function silentHost(
  transition: Transition,
  ...seen: readonly InspectWay[]
): Promise<SilentHost> {
  const held = hold();
  const running = runAdmin({
    gateway: sampleGateway()
      .will(held.apply)
      .willSee(...seen),
  });
  const execution = running.admin.execute(transition);
  await held.begun;
  await running.clock.advance(running.admin.limits.effectDeadlineMs);
  return { ...running, held, execution };
}
