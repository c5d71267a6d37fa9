/**
 * Versions of a fleet: what a node shows with a number that all nodes know is what the fleet has.
 */
import { describe, expect, it } from '@jest/globals';
import { createSnapshot, type GatewayDocument, type Snapshot } from 'gateway-admin-core';

import { withFleetVersions } from '../../src/fleet/version.ts';
import { replaceVersions } from '../../src/snapshot/state.ts';

const server = (name: string, port = 1) => ({ name, address: '10.0.0.1', port, protocol: 'pg' });

/** The snapshot of a document in which everything has one version. */
function snapshotAt(command: number, document: GatewayDocument): Snapshot {
  return replaceVersions(createSnapshot(document), () => ({ command, live: command }));
}

const shown = ({ servers }: Snapshot): object => ({
  list: servers.version.command,
  servers: Array.from(servers, ({ name, version }) => `${name} ${String(version.command)}`),
});

describe('the versions of a node', () => {
  it('are those of the fleet for the same content, in the order of the fleet', () => {
    const own = snapshotAt(70, { servers: [server('a'), server('b')] });
    const fleet = snapshotAt(5, { servers: [server('b'), server('a')] });
    expect(shown(withFleetVersions(own, fleet, 90))).toEqual({ list: 5, servers: ['b 5', 'a 5'] });
  });

  it('are its own for a list that only has the order of the fleet, and for one with other names', () => {
    const own = snapshotAt(70, { servers: [server('a'), server('b', 2)] });
    const fleet = snapshotAt(5, { servers: [server('b'), server('a')] });
    expect(shown(withFleetVersions(own, fleet, 90))).toEqual({ list: 90, servers: ['b 70', 'a 5'] });
    const other = snapshotAt(5, { servers: [server('b', 2), server('c')] });
    expect(shown(withFleetVersions(own, other, 90))).toEqual({ list: 90, servers: ['a 70', 'b 5'] });
  });

  it('stay, in their own order, if the fleet has gone on', () => {
    const own = snapshotAt(70, { servers: [server('a'), server('b')] });
    const [then, now] = [5, 6].map((at) => snapshotAt(at, { servers: [server('b'), server('a')] }));
    expect(withFleetVersions(own, then as Snapshot, 90, now)).toBe(own);
  });

  it('stay while the gateway is about to follow: it may come to something earlier first', () => {
    const own = snapshotAt(70, { servers: [server('a'), server('b')] });
    const fleet = snapshotAt(5, { servers: [server('a'), server('b')] });
    const aligned = withFleetVersions(own, fleet, 90, fleet, (link) => link === '/servers/a');
    expect(shown(aligned)).toEqual({ list: 90, servers: ['a 70', 'b 5'] });
  });

  it('are those of the fleet for the same listeners, in the order of the fleet, once they can be', () => {
    const listening = (...names: readonly string[]): GatewayDocument => {
      const listeners = names.map((name) => ({ name, protocol: 'pg', address: '::', port: 1 }));
      return { services: [{ name: 'Sales', router: 'cli', listeners }] };
    };
    const own = snapshotAt(70, listening('Out', 'In'));
    const fleet = snapshotAt(5, listening('In', 'Out'));
    const listed = (now: Snapshot): string => {
      const service = withFleetVersions(own, fleet, 90, now).services.find('Sales');
      return `${String(service?.version.command)} ${String(service?.listeners.map(({ name }) => name))}`;
    };
    expect([listed(fleet), listed(own)]).toEqual(['5 In,Out', '70 Out,In']);
  });

  it('are its own for a list of links that is spelt in another way', () => {
    const listing = (name: string): GatewayDocument => ({
      servers: [server(name)],
      services: [{ name: 'Sales', router: 'cli', servers: [`/servers/${name}`] }],
    });
    const { services } = withFleetVersions(snapshotAt(70, listing('db')), snapshotAt(5, listing('DB')), 90);
    expect(services.find('Sales')?.version.command).toBe(70);
  });
});
