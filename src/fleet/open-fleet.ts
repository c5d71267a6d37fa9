/**
 * `openFleet`: runs one node of a fleet. The nodes share one log of changes; each tries a change on its own gateway
 * first, and follows what the others have changed.
 */
import { assertObject } from '../json/value.ts';
import { disposeOfPorts } from '../runtime/assembly.ts';
import { assertOptions, completeOptions } from '../runtime/options.ts';
import type { FleetAdmin, OpenFleetOptions } from './fleet.ts';
import { fingerprintOf, obstacleToJoining } from './fingerprint.ts';
import { guardStore } from './guarded-store.ts';
import { beatMs, isNodeName, Members } from './members.ts';
import { RunningNode } from './node.ts';

/**
 * Runs one node of a fleet of gateways that share a configuration.
 *
 * A command is tried on the gateway of this node first. If the gateway does it, the change is stored, and the other
 * nodes follow. A 204 therefore means: done here, and kept for all. The configuration in the store wins over the given
 * snapshot, except for what belongs to the node: the instance, listeners, threads, tasks, modules and logs.
 *
 * @param options - those of `openAdmin`, with a shared store and the name of the node
 * @returns the running interface of this node, with the fleet
 * @throws Error if another process runs under the name of this node, and everything that `openAdmin` throws
 *
 * @beta
 */
export async function openFleet(options: OpenFleetOptions): Promise<FleetAdmin> {
  try {
    const { node, leaseMs } = assertFleetOptions(options);
    // Other nodes must open what this one seals, so a key of this process alone does not do.
    // Counts and closings are of one node, so a node without another name has that of the node.
    const complete = completeOptions({ name: node, ...options, store: { durable: true } });
    const { clock, limits } = complete;
    // A call that never ends must not keep the node silent for as long as the lease.
    const deadlineMs = Math.min(limits.storeDeadlineMs, leaseMs / 2);
    const store = guardStore(options.store);
    const members = new Members({ store, node, clock, deadlineMs });
    const common = {
      sealer: options.sealer,
      hasher: complete.authenticate === undefined ? undefined : complete.hasher,
      deadline: { clock, deadlineMs: limits.hashDeadlineMs, instead: 'The node was not started.' },
    };
    const obstacle = await obstacleToJoining(node, common, members, () => clock.sleep(2 * beatMs));
    if (obstacle !== undefined) throw new Error(obstacle);
    warnOfOwnListeners(options, complete.onError);
    const parts = { store, complete, members, node, leaseMs, common };
    return await new RunningNode(parts, await fingerprintOf(common)).open();
  } catch (error) {
    await disposeOfPorts(options);
    throw error;
  }
}

/** A living node can seem silent for two beats and a call of the store. */
const shortestLeaseMs = 3 * beatMs;

/** Tells the operator if the store is reached through the gateway that needs the store to start. */
function warnOfOwnListeners({ store, snapshot }: OpenFleetOptions, onError: (error: unknown) => void): void {
  for (const { host, port } of store.addresses ?? [])
    for (const { name, listeners } of snapshot.services)
      for (const listener of listeners)
        if (listener.port === port && (isLocal(host) || listener.address === host))
          onError(
            new Error(
              `The shared store at ${host}:${String(port)} is reached through the listener "${listener.name}" of the service ` +
                `"${name}", which opens only after the store. Let the store reach its database directly.`,
            ),
          );
}

function isLocal(host: string): boolean {
  return ['localhost', '127.0.0.1', '::1', '0.0.0.0', '::'].includes(host);
}

function assertFleetOptions(options: OpenFleetOptions): { readonly node: string; readonly leaseMs: number } {
  assertObject(options, 'options');
  const { node, leaseMs = 10_000, ...rest } = options;
  assertOptions(rest, 'openAdmin');
  for (const name of ['read', 'changed', 'announce'] as const)
    if (typeof options.store[name] !== 'function')
      throw new TypeError(
        `The option store must have the function ${name}: openFleet needs a store that nodes can share`,
      );
  if (!isNodeName(node))
    throw new TypeError(
      'The option node must be the name of this node: 1 to 64 letters, digits, "-" and "_"',
    );
  if (!Number.isSafeInteger(leaseMs) || leaseMs < shortestLeaseMs)
    throw new RangeError(`The option leaseMs must be a whole number from ${String(shortestLeaseMs)} on`);
  return { node, leaseMs };
}
