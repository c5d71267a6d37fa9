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
import {
  createScriptedGateway,
  createVirtualClock,
  type ScriptedGateway,
  type ScriptedGatewayOptions,
  type VirtualClock,
} from 'gateway-admin-core/testing';

import { sampleSnapshot, sampleZone } from './document.ts';
import { lookAt } from './leak.ts';

/** What a test of a running interface has at hand. */
export interface Running {
  readonly admin: Admin;
  readonly gateway: ScriptedGateway;
  readonly clock: VirtualClock;
  /** What went to `onError`. */
  readonly errors: unknown[];
}

type RunOptions = Partial<AdminOptions> & {
  readonly gateway?: ScriptedGateway;
  readonly clock?: VirtualClock;
};

/** A gateway that has the sample document. */
export function sampleGateway(options: Partial<ScriptedGatewayOptions> = {}): ScriptedGateway {
  return createScriptedGateway({ snapshot: sampleSnapshot(), ...options });
}

/** A clock that waits for sockets and hashing as well. */
export function sampleClock(): VirtualClock {
  return createVirtualClock(Date.parse('2016-09-10T00:00:00Z'), { turn: 'event-loop' });
}

/** The effects that a gateway was asked for, as `<type> <resource>`. */
export function appliedTo({ applied }: ScriptedGateway): readonly string[] {
  return applied.map(({ type, resource }) => `${type} ${resource}`);
}

/** Runs the interface on the sample document. Passwords are hashed with a single round. */
export function runAdmin(options: RunOptions = {}): Running {
  const { admin, ...running } = parts(options);
  return { admin: createAdmin(admin), ...running };
}

/** The same, on what a store keeps. */
export async function openRunning(
  store: ConfigurationStore,
  options: RunOptions & Pick<Parameters<typeof openAdmin>[0], 'adopt'> = {},
): Promise<Running> {
  const { admin, ...running } = parts(options);
  return { admin: await open({ ...admin, store }, openAdmin), ...running };
}

/** How {@link openRunning} opens an interface: with `openAdmin`, or with something that must do the same. */
type Open = (options: Parameters<typeof openAdmin>[0], openOwn: typeof openAdmin) => Promise<Admin>;

let open: Open = (options, openOwn) => openOwn(options);

/** From now on, `openRunning` opens interfaces in this way. */
export function openWith(other: Open): void {
  open = other;
}

function parts({
  clock = sampleClock(),
  snapshot = sampleSnapshot(),
  gateway = createScriptedGateway({ snapshot, clock }),
  observe,
  ...rest
}: RunOptions): Omit<Running, 'admin'> & { readonly admin: AdminOptions } {
  const errors: unknown[] = [];
  const admin = {
    snapshot,
    gateway,
    clock,
    timeZone: sampleZone,
    hasher: createPbkdf2Hasher({ rounds: 1 }),
    observe: {
      onError: (error: unknown) => {
        lookAt('an error', error);
        errors.push(error);
      },
      ...observe,
    },
    ...rest,
  };
  return { admin, gateway, clock, errors };
}
