/**
 * An administration interface in front of a scripted gateway, on a clock that a test moves.
 */
import { createAdmin, createPbkdf2Hasher, type Admin, type AdminOptions } from 'gateway-admin-core';

import { sampleSnapshot, sampleZone } from './document.ts';
import { ManualClock } from './manual-clock.ts';
import { ScriptedGateway } from './scripted-gateway.ts';

/** What a test of a running interface has at hand. */
export interface Running {
  readonly admin: Admin;
  readonly gateway: ScriptedGateway;
  readonly clock: ManualClock;
  /** What went to `onError`. */
  readonly errors: readonly unknown[];
}

/** Runs the interface on the sample document. Passwords are hashed with a single round. */
export function runAdmin(
  options: Partial<AdminOptions> & { readonly gateway?: ScriptedGateway } = {},
): Running {
  const { gateway = new ScriptedGateway(), ...rest } = options;
  const clock = new ManualClock();
  const errors: unknown[] = [];
  const admin = createAdmin({
    snapshot: sampleSnapshot(),
    gateway,
    clock,
    timeZone: sampleZone,
    hasher: createPbkdf2Hasher({ rounds: 1 }),
    onError: (error) => errors.push(error),
    ...rest,
  });
  return { admin, gateway, clock, errors };
}
