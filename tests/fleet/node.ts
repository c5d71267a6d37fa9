/**
 * Nodes of a fleet on one memory, each with a scripted gateway of its own, on one clock.
 */
import {
  createPbkdf2Hasher,
  createSnapshot,
  type AdminOptions,
  type AdminRequest,
  type AdminResponse,
  type GatewayPort,
  type SecretSealer,
} from 'gateway-admin-core';
import { createSharedMemory, openFleet } from 'gateway-admin-core/fleet';
import type { FleetAdmin, SharedMemory, SharedMemoryOptions, SharedStore } from 'gateway-admin-core/fleet';
import { createScriptedGateway, type ScriptedGateway, type VirtualClock } from 'gateway-admin-core/testing';

import { altered } from '../support/altered-store.ts';
import { watch } from '../support/leak.ts';
import { sampleDocument, sampleZone } from '../support/document.ts';
import { sampleClock } from '../support/running-admin.ts';

/** Without what a life begins without: sessions, and what has failed. */
export const snapshot = createSnapshot({
  ...sampleDocument,
  sessions: [],
  servers: (sampleDocument.servers ?? []).map(
    ({ status_reason: _reason, status_since: _since, ...server }) => server,
  ),
  services: (sampleDocument.services ?? []).map(running),
  monitors: (sampleDocument.monitors ?? []).map(running),
});

function running<T extends { readonly state?: string }>(thing: T): T {
  const { state_reason, state_since, ...rest } = thing as T & Record<'state_reason' | 'state_since', unknown>;
  return { ...rest, ...(rest.state === 'failed' ? { state: 'started' } : {}) } as unknown as T;
}

/** A running node. */
export interface Node {
  readonly admin: FleetAdmin;
  readonly gateway: ScriptedGateway;
  readonly errors: unknown[];
  /** Cuts the node off from the store, or lets it back. Its calls reject meanwhile. */
  cut(isCut: boolean): void;
}

/** How a node differs from the others; a snapshot differs in the users alone. */
export type NodeOptions = Partial<Omit<AdminOptions, 'gateway'>> & {
  readonly wrap?: (store: SharedStore) => SharedStore;
  /** What the gateway says that it can do while it runs. */
  readonly supports?: NonNullable<GatewayPort['supports']>;
};

/** A fleet under test. On a clock that stands still, a node that no test closes does nothing any more. */
export interface World {
  readonly memory: SharedMemory;
  readonly clock: VirtualClock;
  open(node: string, leaseMs?: number, how?: NodeOptions): Promise<Node>;
}

/** What a {@link World} may have that is out of the ordinary. */
export interface WorldOptions extends SharedMemoryOptions {
  /** Changes each store. */
  readonly wrap?: (store: SharedStore) => SharedStore;
  readonly clock?: VirtualClock;
}

/** A fleet without nodes. */
export function createWorld({
  wrap = (store) => store,
  clock = sampleClock(),
  ...options
}: WorldOptions = {}): World {
  const memory = createSharedMemory(options);
  return {
    memory,
    clock,
    async open(
      node,
      leaseMs = 10_000,
      {
        wrap: own = (store: SharedStore) => store,
        supports = ['create', 'delete'] as const,
        observe,
        ...rest
      } = {},
    ) {
      const gateway = createScriptedGateway({ snapshot, clock });
      const errors: unknown[] = [];
      const line = { isCut: false };
      const options = {
        snapshot,
        gateway: { ...gateway, supports },
        clock,
        node,
        leaseMs,
        store: cuttable(own(wrap(memory.open())), line),
        timeZone: sampleZone,
        hasher: createPbkdf2Hasher({ rounds: 1 }),
        observe: { onError: (error: unknown) => errors.push(error), ...observe },
        ...rest,
      };
      const admin = watch(await openFleet(options));
      return {
        admin,
        gateway,
        errors,
        cut: (isCut) => {
          line.isCut = isCut;
        },
      };
    },
  };
}

/** Sends a request; without a method, a GET. */
export async function send(
  { admin }: Pick<Node, 'admin'>,
  request: Partial<AdminRequest>,
): Promise<AdminResponse> {
  const handled = await admin.handle({ method: 'GET', target: '/', headers: {}, ...request });
  if (!handled.matched) throw new Error('No route');
  return handled.response;
}

/** The status of an answer, with the code of a problem. */
export async function outcome(
  node: Pick<Node, 'admin'>,
  method: string,
  target: string,
  more: Partial<AdminRequest> = {},
): Promise<string> {
  const { status, body } = await send(node, { method, target, ...more });
  const { code } = JSON.parse(typeof body === 'string' && body !== '' ? body : '{}') as { code?: string };
  return code === undefined ? String(status) : `${String(status)} ${code}`;
}

/** The limit of `My Service` at each node. */
export function limitsAt(nodes: readonly Node[]): readonly (number | undefined)[] {
  return nodes.map(({ admin }) => admin.snapshot.services.find('my-service')?.settings.max_connection);
}

/** A sealer of a host that answers at once: keys of their own take their time, and a virtual clock does not wait. */
export function sealerOf(key: string): SecretSealer {
  return {
    durable: true,
    seal: (secret) => Promise.resolve(`${key}:${btoa(secret)}`),
    open: async (sealed) => {
      const [used, text = ''] = sealed.split(':');
      return used === key ? Promise.resolve(atob(text)) : Promise.reject(new Error('Another key'));
    },
  };
}

function cuttable(store: SharedStore, line: { readonly isCut: boolean }): SharedStore {
  const through = <T>(call: () => Promise<T>): Promise<T> =>
    line.isCut ? Promise.reject(new Error('The line is cut')) : call();
  return altered(store, {
    load: () => through(() => store.load()),
    append: (records, options) => through(() => store.append(records, options)),
    compact: (state, options) => through(() => store.compact(state, options)),
    read: (after) => through(() => store.read(after)),
    changed: (after, signal) => through(() => store.changed(after, signal)),
    announce: (node, status) => through(() => store.announce(node, status)),
  });
}
