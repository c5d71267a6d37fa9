/**
 * What nodes do to a shared store that a test does not run: those of other versions, broken ones, and one that compacts
 * the log. The records, the state and the announcements are those of the public format.
 */
import type { Json, Snapshot } from 'gateway-admin-core';
import { openFleet, type SharedStore } from 'gateway-admin-core/fleet';

import { altered } from './altered-store.ts';

/** What a node says of itself. */
export const said = {
  ...{ beat: 1, life: 'x', version: '1', format: 3, leaseMs: 3000, position: '1.x', applied: '1.x' },
  ...{ behind: [], drains: [] },
};

/** A record of another node; without other members, the one with which a command ends. */
export function foreignRecord(command: string, more: object = {}): Json {
  const head = { format: 3, node: 'new', life: 'x', command, resources: [] };
  return { ...head, type: 'settlement', events: [], last: true, ...more };
}

/** Appends records, as another node does. */
export async function appendTo(store: SharedStore, ...records: readonly Json[]): Promise<void> {
  const { position } = await store.load();
  await store.append(records, { expectedPosition: position });
}

/** Changes members of the stored state, as a version of another time or a damaged backup does. */
export async function replaceState(store: SharedStore, change: object): Promise<void> {
  const { position, state } = await store.load();
  await store.compact({ ...(state as object), ...change }, { expectedPosition: position });
}

/** Compacts the log. A node does that once it has seen 10,000 records: here, most of them change nothing. */
export async function compactLog(store: SharedStore, snapshot: Snapshot): Promise<void> {
  const vain = Array.from({ length: 10_000 }, () => foreignRecord('in vain'));
  const admin = await openFleet({
    ...{ node: 'compactor', snapshot, leaseMs: 3000 },
    gateway: { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') },
    store: altered(store, {
      load: async () => {
        const { records, ...stored } = await store.load();
        return { ...stored, records: [...vain, ...records] };
      },
    }),
    observe: { onError: () => undefined },
  });
  // The node reads the log for the answer, and compacts it then.
  await admin.handle({ method: 'DELETE', target: '/users/nobody', headers: {} });
  await admin.close();
}
