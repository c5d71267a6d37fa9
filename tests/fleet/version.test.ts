/**
 * What a node takes over from the fleet: versions, so that what it shows with a number that all nodes know is what the
 * fleet has, and users. The functions are tested by themselves: in a fleet, nodes differ only for moments, and most
 * orders of names and versions come up in none.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, type Entity, type GatewayDocument, type Snapshot } from 'gateway-admin-core';

import { changedSnapshots } from '../support/changed-snapshot.ts';
import { collections, expectDecision } from '../support/expect-decision.ts';
import { thawedPlaces } from '../support/frozen.ts';
import { followUsers, replaceVersions, withFleetVersions } from '../support/internal.ts';

type Version = Entity['version'];

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

/** The later of two versions, part by part. */
const latestOf = (one: Version, other: Version): Version => ({
  command: Math.max(one.command, other.command),
  live: Math.max(one.live, other.live),
});

describe('the replacement of versions', () => {
  const [, , snapshot] = changedSnapshots();
  /** A collection, or a resource with its key. */
  type Place = readonly [collection: (typeof collections)[number], key?: string | undefined];
  const resources = (of: Snapshot, collection: (typeof collections)[number]): readonly Entity[] => [
    ...of[collection],
  ];
  const places: readonly Place[] = collections.flatMap((collection): readonly Place[] => [
    [collection],
    ...resources(snapshot, collection).map(({ key }) => [collection, key] as const),
  ]);
  const textOf = ([collection, key]: Place): string =>
    key === undefined ? collection : `${collection}/${key}`;
  const versionIn = (of: Snapshot, [collection, key]: Place): Version | undefined =>
    key === undefined ? of[collection].version : of[collection].find(key)?.version;
  const commands = fc.dictionary(fc.constantFrom(...places.map(textOf)), fc.nat(2), { maxKeys: 4 });
  const align = (wanted: Readonly<Record<string, number>>): Snapshot =>
    replaceVersions(snapshot, (collection, present, key) => {
      const command = wanted[textOf([collection as (typeof collections)[number], key])] ?? present.command;
      return command === present.command ? present : Object.freeze({ command, live: command + 10 });
    });

  it('changes the versions of exactly what is to have another command version', () => {
    fc.assert(
      fc.property(commands, (wanted) => {
        const aligned = align(wanted);
        for (const place of places) {
          const [collection, key] = place;
          const before = versionIn(snapshot, place);
          const command = wanted[textOf(place)] ?? before?.command;
          const isKept = command === undefined || command === before?.command;
          const own = isKept ? before : { command, live: command + 10 };
          // A list has the latest version of its resources, and its own if that is later.
          const members = key === undefined ? resources(aligned, collection) : [];
          const version = members.reduce<Version | undefined>(
            (newest, member) => newest && latestOf(newest, member.version),
            own,
          );
          expect(versionIn(aligned, place)).toEqual(version);
        }
      }),
    );
  });

  it('keeps everything else, shares what stays as it is, and gives a frozen snapshot', () => {
    fc.assert(
      fc.property(commands, (wanted) => {
        const aligned = align(wanted);
        const isKept = (place: Place): boolean => versionIn(aligned, place) === versionIn(snapshot, place);
        for (const collection of collections) {
          for (const before of resources(snapshot, collection)) {
            const after = aligned[collection].find(before.key);
            expect({ ...after, version: before.version }).toEqual(before);
            expect(after === before).toBe(isKept([collection, before.key]));
          }
          const areKept = places.filter((place) => place[0] === collection).every(isKept);
          expect(aligned[collection] === snapshot[collection]).toBe(areKept);
        }
        expect(aligned === snapshot).toBe(places.every(isKept));
        const { servers, services, monitors, filters, users } = snapshot;
        const same = { ...aligned, servers, services, monitors, filters, users };
        expect(JSON.stringify(same)).toBe(JSON.stringify(snapshot));
        expect(thawedPlaces(aligned)).toEqual([]);
      }),
    );
  });
});

describe('the users of a node', () => {
  const snapshots = fc
    .uniqueArray(
      fc.record({
        name: fc.constantFrom('ada', 'Ada', 'bob', 'Eve', 'joan'),
        password: fc.record({ sealed: fc.constantFrom('opaque', 'another') }),
      }),
      { selector: ({ name }) => name.toLowerCase() },
    )
    .map((users) => createSnapshot({ users }));

  const listOf = ({ users }: Snapshot): readonly (readonly [string, string])[] =>
    [...users].map(({ name, settings }) => [name, settings.password.sealed]);

  // Law: no rule about the last user applies, because the fleet has decided already.
  it('leads to the same users in the same order, and touches no user that is as wanted', () => {
    fc.assert(
      fc.property(snapshots, snapshots, (start, wanted) => {
        const [old, list] = [listOf(start), listOf(wanted)];
        const isPrefix = old.every((user, at) => String(user) === String(list[at]));
        const decision = expectDecision((...given) => followUsers(given[0], wanted, given[1]), start, {
          now: 5,
          authentication: 'required',
        });
        expect(decision.outcome).toBe(String(old) === String(list) ? 'unchanged' : 'accepted');
        expect(decision.resources).toEqual(['/users']);
        const events = decision.outcome === 'accepted' ? decision.events : [];
        const kinds = events.map((event) => `${event.type} ${'user' in event ? event.user : ''}`);
        expect(new Set(kinds).size).toBe(kinds.length);
        if (isPrefix) expect(events.every(({ type }) => type === 'user.created')).toBe(true);
        expect(listOf(decision.next)).toEqual(list);
      }),
    );
  });
});
