/**
 * Listeners in a simulated fleet: the document of every node gives two. Clients create and delete others, and one of the
 * two.
 */
import {
  createListener,
  createSnapshot,
  deleteListener,
  type AdminRequest,
  type GatewayDocument,
  type Snapshot,
} from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import type { FleetCommand } from './answer.ts';

const [own, spare] = ['Own', 'Spare'];

/** The snapshot of a document as the host of a node gives it. */
export function snapshotOf(document: GatewayDocument): Snapshot {
  const { services = [] } = document;
  const listeners = [own, spare].map((name) => ({ name, protocol: 'pg', address: '10.0.0.1', port: 5432 }));
  const all = services.map((service) => ({ ...service, listeners }));
  return createSnapshot({ ...document, services: all }, { epoch: 'sim' });
}

/** @param number - differs from command to command */
export function listenerCommand(random: Random, number: number): FleetCommand {
  const service = random.pick(['Sales', 'Sales', 'Reports', 'New', 'Other']);
  const name = random.pick(['In', 'Out', 'OUT', spare]);
  const target = `/services/${service}/listeners`;
  const changes = [{ [`${service} listener`]: number }];
  const [asked, inProcess] = [random.chance(0.5), random.chance(0.5)];
  if (asked) {
    const definition = { name, protocol: 'pg', address: '10.0.0.9', port: 1 + (number % 65_535) };
    const request: AdminRequest = {
      method: 'POST',
      target,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(definition),
    };
    const step: FleetCommand['step'] = (snapshot, context) =>
      createListener(snapshot, service, definition, context);
    return {
      kind: `create listener ${name} of ${service}`,
      step,
      changes,
      ...(inProcess ? {} : { request }),
    };
  }
  const request = { method: 'DELETE', target: `${target}/${name}`, headers: {} };
  const step: FleetCommand['step'] = (snapshot, context) => deleteListener(snapshot, service, name, context);
  return { kind: `delete listener ${name} of ${service}`, step, changes, ...(inProcess ? {} : { request }) };
}
