/**
 * Fleets on the sample document, for tests of what every interface shows.
 */
import { EffectRefusedError, patchService } from 'gateway-admin-core';
import type { SharedStore } from 'gateway-admin-core/fleet';

import { createWorld, type Node, type NodeOptions } from '../fleet/node.ts';
import { altered } from './altered-store.ts';
import type { Running } from './running-admin.ts';

/** The node "berlin" of a fleet in which "paris" has ended. */
export async function runWithEndedNode(options: NodeOptions = {}): Promise<Node & Running> {
  const world = createWorld();
  await (await world.open('paris')).admin.close();
  return { ...(await world.open('berlin', undefined, options)), clock: world.clock };
}

/** A fleet of two nodes, in which "paris" could not follow a change of a service. */
export async function openSampleFleet(): Promise<Readonly<Record<'berlin' | 'paris', Node & Running>>> {
  const names = new Map<string, string>();
  const world = createWorld({ wrap: (store) => renamed(store, names) });
  const [berlin, paris] = [await world.open('berlin'), await world.open('paris')];
  // Nothing is open there. What drains in the sample document is drained.
  for (const { admin } of [berlin, paris]) admin.report({ type: 'sessions.complete' });
  paris.gateway.otherwise({ apply: new EffectRefusedError('The port is taken.') });
  await berlin.admin.execute((snapshot, context) =>
    patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value: 7 }], context),
  );
  await world.clock.advance(2000);
  const { clock } = world;
  return { berlin: { ...berlin, clock }, paris: { ...paris, clock } };
}

/** The node of {@link openSampleFleet} that is in step. */
export async function runSampleFleet(): Promise<Running> {
  return (await openSampleFleet()).berlin;
}

/** Gives positions the same names in each run. */
function renamed(store: SharedStore, names: Map<string, string>): SharedStore {
  const nameOf = (position: string): string => {
    const name = `${position.replace(/\..*/, '')}.5f0c8e21a9b3`;
    names.set(name, position);
    return name;
  };
  const positionOf = (name: string): string => names.get(name) ?? name;
  const at = ({ expectedPosition }: { readonly expectedPosition: string }) => ({
    expectedPosition: positionOf(expectedPosition),
  });
  return altered(store, {
    load: async () => {
      const { position, ...stored } = await store.load();
      return { ...stored, position: nameOf(position) };
    },
    append: async (records, options) => nameOf(await store.append(records, at(options))),
    compact: async (state, options) => nameOf(await store.compact(state, at(options))),
    read: async (after) => {
      const steps = await store.read(positionOf(after));
      return steps === 'gone'
        ? steps
        : steps.map(({ records, position }) => ({ records, position: nameOf(position) }));
    },
    changed: (after, signal) => store.changed(positionOf(after), signal),
  });
}
