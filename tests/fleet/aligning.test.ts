/**
 * What a node takes over from the fleet: the order of lists, births, the mode, and users. The functions are tested by
 * themselves: in a fleet, nodes differ only for moments, and most orders of names come up in none.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createSnapshot,
  evolve,
  patchInterface,
  type GatewayDocument,
  type Snapshot,
} from 'gateway-admin-core';

import { expectAccepted, expectDecision } from '../support/expect-decision.ts';
import { followUsers, aligned } from '../support/internal.ts';

const server = (name: string, port = 1) => ({ name, address: '10.0.0.1', port, protocol: 'pg' });
const withServers = (...servers: GatewayDocument['servers'] & object): Snapshot =>
  createSnapshot({ servers });

const readOnly = [{ op: 'replace', path: '/read_only', value: true }] as const;

const namesIn = ({ servers }: Snapshot): readonly string[] => Array.from(servers, ({ name }) => name);

describe('a node has', () => {
  it('lists in the order of the fleet if both have the same resources, changed at a revision', () => {
    const own = withServers(server('a'), server('b', 2));
    const ordered = aligned(own, withServers(server('b'), server('a')), 9, []);
    expect([namesIn(ordered), ordered.servers.revision, ordered.revision]).toEqual([['b', 'a'], 9, 9]);
    expect(ordered.servers.find('b')).toBe(own.servers.find('b'));
    expect(aligned(own, withServers(server('b'), server('c')), 9, [])).toBe(own);
    expect(aligned(own, withServers(server('a'), server('b')), 9, [])).toBe(own);
  });

  it('the births of the fleet for what it has followed, and for nothing else', () => {
    const born = (command: string): Snapshot =>
      evolve(
        createSnapshot({}),
        ['a', 'b'].map((name) => ({
          ...{ type: 'server.created', at: 0, command, resource: `/servers/${name}` },
          ...{ server: name, to: server(name) },
        })) as unknown as Parameters<typeof evolve>[1],
      );
    const [own, fleet] = [born('n-1'), born('f-1')];
    const next = aligned(own, fleet, 9, ['/servers/A']);
    expect([next.births.of('/servers/a'), next.births.of('/servers/b')]).toEqual(['f-1', 'n-1']);
    const gone = aligned(own, createSnapshot({}), 9, ['/servers/b']);
    expect(gone.births.toJSON()).toEqual({ '/servers/a': 'n-1' });
  });

  it('the mode that the fleet has, since when and by whom it has', () => {
    const [here, there] = [1, 2].map(
      (now) =>
        expectAccepted((...given) => patchInterface(given[0], readOnly, given[1]), createSnapshot({}), {
          now,
        }).next,
    );
    if (here === undefined || there === undefined) throw new Error('There are two');
    expect(aligned(here, there, 9, []).interface).toEqual(there.interface);
    expect(aligned(createSnapshot({}), there, 9, []).interface).toEqual(createSnapshot({}).interface);
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
