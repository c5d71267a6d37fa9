/**
 * An administration interface in front of a scripted gateway, on a clock that a test moves.
 */
import {
  createAdmin,
  createPbkdf2Hasher,
  openAdmin,
  type Admin,
  type AdminOptions,
  type ConfigurationStore,
} from 'gateway-admin-core';

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

type RunOptions = Partial<AdminOptions> & {
  readonly gateway?: ScriptedGateway;
  readonly clock?: ManualClock;
};

/** Runs the interface on the sample document. Passwords are hashed with a single round. */
export function runAdmin(options: RunOptions = {}): Running {
  const { admin, ...running } = parts(options);
  return { admin: createAdmin(admin), ...running };
}

/** The same, on what a store keeps. */
export async function openRunning(store: ConfigurationStore, options: RunOptions = {}): Promise<Running> {
  const { admin, ...running } = parts(options);
  return { admin: await openAdmin({ ...admin, store }), ...running };
}

function parts({
  gateway = new ScriptedGateway(),
  clock = new ManualClock(),
  ...rest
}: RunOptions): Omit<Running, 'admin'> & { readonly admin: AdminOptions } {
  const errors: unknown[] = [];
  const admin = {
    snapshot: sampleSnapshot(),
    gateway,
    clock,
    timeZone: sampleZone,
    hasher: createPbkdf2Hasher({ rounds: 1 }),
    onError: (error: unknown) => errors.push(error),
    ...rest,
  };
  return { admin, gateway, clock, errors };
}
