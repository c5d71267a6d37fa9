/**
 * Patches of the kinds: their events and effects, and what only one kind has. What is refused is in
 * `tests/contract/bad-patch.ts`, and that a patch does what RFC 6902 says in `tests/properties/patch.test.ts`.
 */
import { isDeepStrictEqual } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createSnapshot,
  isUpdateInPlace,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  sequence,
  stopService,
  toDocument,
  type Context,
  type Decision,
  type EffectOf,
  type GatewayDocument,
  type Operation,
  type ServerStatusWord,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { patchSubject, subjectPatches } from '../support/arbitrary-patch.ts';
import { allFaultsOf, server, service } from '../support/document-entry.ts';
import { sampleSnapshot } from '../support/document.ts';
import { expectAccepted, expectRefused, expectUnchanged, someTime } from '../support/expect-decision.ts';
import { planted } from '../support/planted.ts';
import { documentSettings, shown } from '../support/shown.ts';

type Named = (
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
) => Decision;
type Patch = (...operations: readonly Operation[]) => Transition;

const named =
  (patch: Named, name: string): Patch =>
  (...operations) =>
  (snapshot, context) =>
    patch(snapshot, name, operations, context);
const patchSales = named(patchService, 'my-service');
const patchHint = named(patchFilter, 'HINT');

const settingsOf = ({ services }: Snapshot): object => services.find('my-service')?.settings ?? {};
const parametersOf = ({ filters }: Snapshot) => filters.find('hint')?.settings.parameters;

describe('a patch', () => {
  it.each<[string, string, Transition, object, object]>([
    [
      'server',
      '/servers/db-serv-1',
      named(patchServer, 'db-serv-1')(
        { op: 'replace', path: '/address', value: '10.1.1.1' },
        { op: 'add', path: '/state/0', value: 'maintenance' },
        { op: 'test', path: '/port', value: 5432 },
      ),
      { address: '192.168.121.58', status: ['master', 'running'] },
      { address: '10.1.1.1', status: ['maintenance', 'master', 'running'] },
    ],
    [
      'service',
      '/services/My-Service',
      patchSales(
        { op: 'remove', path: '/user' },
        { op: 'add', path: '/filters/-', value: '/filters/spare' },
        { op: 'test', path: '/max_connection', value: 100 },
      ),
      { user: 'service_user', filters: ['/filters/Query-Log', '/filters/Hint'] },
      { filters: ['/filters/Query-Log', '/filters/Hint', '/filters/Spare'] },
    ],
    [
      'monitor',
      '/monitors/Main-Monitor',
      named(patchMonitor, 'main monitor')(
        { op: 'replace', path: '/monitor_interval', value: 1 },
        { op: 'remove', path: '/servers/0' },
      ),
      { monitor_interval: 2500, servers: ['/servers/db-serv-1', '/servers/DB-Server-2'] },
      { monitor_interval: 1, servers: ['/servers/DB-Server-2'] },
    ],
  ])('of a %s gives one event and one effect for %s', (kind, resource, transition, from, to) => {
    const { next, events, effects } = expectAccepted(transition);
    const key = resource.split('/')[2] ?? '';
    const operations: unknown = expect.any(Array);
    const update = { resource, [kind]: key.toLowerCase(), from, to, operations };
    const { now, actor } = someTime;
    expect(events).toStrictEqual([{ type: `${kind}.updated`, at: now, actor, ...update }]);
    expect(effects).toStrictEqual([{ type: `${kind}.update`, ...update }]);
    const [told] = [...events, ...effects].map((each) => 'operations' in each && each.operations);
    expect(effects).toMatchObject([{ operations: told }]);
    expect(told).toHaveLength(2);
    const things = ({ [`${kind}s` as 'servers' | 'services' | 'monitors']: all }: Snapshot) =>
      shown(all.find(key));
    const before = documentSettings(things(sampleSnapshot())?.settings);
    const rest = Object.entries(before).filter(([name]) => !Object.hasOwn(from, name));
    expect(documentSettings(things(next)?.settings)).toEqual({ ...Object.fromEntries(rest), ...to });
    expect(things(next)?.revision).toBe(1);
  });

  it('writes links in canonical form, in its operations too', () => {
    const value = ['/servers/db%20server%202', '/servers/DB-SERV-3'];
    const { next, events } = expectAccepted(patchSales({ op: 'replace', path: '/servers', value }));
    const servers = ['/servers/DB-Server-2', '/servers/db-serv-3'];
    expect(settingsOf(next)).toMatchObject({ servers });
    expect(events).toMatchObject([{ to: { servers } }]);
    const added = expectAccepted(patchSales({ op: 'add', path: '/filters/-', value: '/filters/spare' }));
    expect(added.events).toMatchObject([{ operations: [{ value: '/filters/Spare' }] }]);
  });

  it('gives a filter a new revision, also if the service has changed earlier in the same sequence', () => {
    const without = patchSales({ op: 'remove', path: '/filters' });
    const { next } = expectAccepted(
      sequence((snapshot, context) => stopService(snapshot, 'My Service', context), without),
    );

    expect(next.filters.find('hint')?.revision).toBe(1);
  });

  it('empties the filters on remove, and changes nothing if they are already empty', () => {
    const { next } = expectAccepted(patchSales({ op: 'remove', path: '/filters' }));
    expect(settingsOf(next)).toMatchObject({ filters: [] });
    expectUnchanged(patchSales({ op: 'remove', path: '/filters' }), next);
  });

  it.each<[string, Operation, object]>([
    [
      'its value',
      { op: 'add', path: '/parameters/new/value', value: 'x' },
      { value: 'x', configurable: true },
    ],
    ['a text', { op: 'add', path: '/parameters/new', value: 'x' }, { value: 'x', configurable: true }],
    [
      'an object',
      { op: 'add', path: '/parameters/new', value: { value: 'x' } },
      { value: 'x', configurable: true },
    ],
    [
      'a whole object',
      { op: 'add', path: '/parameters/new', value: { value: 'x', configurable: false } },
      { value: 'x', configurable: false },
    ],
    [
      'a copy',
      { op: 'copy', from: '/parameters/match', path: '/parameters/new' },
      { value: 'select', configurable: true },
    ],
  ])('adds a parameter of a filter by %s', (_what, operation, expected) => {
    expect(parametersOf(expectAccepted(patchHint(operation)).next)?.['new']).toEqual(expected);
  });

  it('of a filter lets later operations see a parameter that an earlier one added', () => {
    const { next } = expectAccepted(
      patchHint(
        { op: 'add', path: '/parameters/new/value', value: 'x' },
        { op: 'test', path: '/parameters/new/configurable', value: true },
        { op: 'replace', path: '/parameters/new/value', value: 'y' },
        { op: 'remove', path: '/parameters/match' },
      ),
    );
    expect(parametersOf(next)).toEqual({
      new: { value: 'y', configurable: true },
      source: { value: '127.0.0.1', configurable: false },
      password: { value: { sealed: planted.sealed }, configurable: true },
    });
  });
});

describe('the password of a service', () => {
  const sealed = { sealed: 'v1.another.text' };
  const [add, remove] = [
    { op: 'add', path: '/password', value: sealed },
    { op: 'remove', path: '/password' },
  ] as const;

  it('is stored sealed, and setting it is always a change', () => {
    for (const value of [sealed, { sealed: planted.sealed }]) {
      const { next } = expectAccepted(patchSales({ op: 'replace', path: '/password', value }));
      expect(settingsOf(next)).toEqual({ ...settingsOf(sampleSnapshot()), password: value });
      expect(toDocument(next).services?.[0]?.password).toEqual(value);
    }
  });

  it('is unset with remove, and is unchanged if it is set and removed again where there was none', () => {
    const { next } = expectAccepted(patchSales(remove));
    expect(settingsOf(next)).not.toHaveProperty('password');
    expectUnchanged(patchSales(add, remove), next);
    for (const operations of [[add], [add, remove, add]]) expectAccepted(patchSales(...operations), next);
    expectAccepted(patchSales(remove, add));
  });

  it('is not compared with a guess: the answer is the same if there is none', () => {
    const without = expectAccepted(patchSales(remove)).next;
    const answers = ['x', planted.sealed, { sealed: planted.sealed }].flatMap((value) => {
      const guess = patchSales({ op: 'test', path: '/password', value });
      return [expectRefused(guess), expectRefused(guess, without)];
    });
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(answers[0]).toMatchObject({ code: 'field-write-only', status: 422 });
    expect(answers[0]?.detail).toMatch(
      /names a secret, which a patch cannot read or compare; add, replace or remove the whole secret$/,
    );
  });

  it.each(['x', { sealed: 7 }])('is not taken from a program unless it is sealed: %j', (value) => {
    expect(expectRefused(patchSales({ ...add, value })).code).toBe('password-unacceptable');
  });
});

const { port: _port, ...portless } = server;
const onSocket = { ...portless, address: '/run/db/.s.5432' };
const needed = 'is required unless the address is the path of a socket';

describe('a server or a listener on a socket', () => {
  const listener = { name: 'L', protocol: 'pgclient', address: '0.0.0.0' };

  it('needs no port in a document, and may have one, which some protocols put into the name of the socket', () => {
    const listeners = [{ ...listener, address: '/run/gateway.sock' }];
    const document: GatewayDocument = { servers: [onSocket], services: [{ ...service, listeners }] };
    const snapshot = createSnapshot(document);
    expect(snapshot.servers.find('db')?.settings).not.toHaveProperty('port');
    expect(toDocument(snapshot)).toMatchObject(document);
    expect(toDocument(snapshot).servers?.[0]).not.toHaveProperty('port');
    expect(createSnapshot({ servers: [{ ...onSocket, port: 5432 }] }).servers.size).toBe(1);
  });

  it('needs a port at any other address, whatever else is wrong', () => {
    const address = { toString: 1, valueOf: 2 } as unknown as string;
    const faults = allFaultsOf({
      servers: [
        { ...portless, protocol: 7 },
        { ...portless, name: 'other', address },
      ],
      services: [{ ...service, listeners: [listener] }],
    });
    expect(faults.map(({ pointer, detail }) => `${pointer} ${detail}`).toSorted()).toEqual([
      `/servers/0/port ${needed}`,
      '/servers/0/protocol must be a string, not a number',
      '/servers/1/address must be a string, not an object',
      `/servers/1/port ${needed}`,
      `/services/0/listeners/0/port ${needed}`,
    ]);
  });

  const patch = named(patchServer, 'db');

  it('moves there by a patch, and back, with the port', () => {
    const toSocket = patch(
      { op: 'replace', path: '/address', value: onSocket.address },
      { op: 'remove', path: '/port' },
    );
    const moved = expectAccepted(toSocket, createSnapshot({ servers: [server] })).next;
    const settings = { address: onSocket.address, parameters: {}, state: [] };
    expect(moved.servers.find('db')?.settings).toEqual(settings);
    const back = patch(
      { op: 'replace', path: '/port', value: 5432 },
      { op: 'replace', path: '/address', value: 'db' },
    );
    expect(expectAccepted(back, moved).next.servers.find('db')?.settings).toMatchObject({ port: 5432 });
  });

  it.each<[string, object, Operation]>([
    ['takes the port away', server, { op: 'remove', path: '/port' }],
    ['leaves a socket', onSocket, { op: 'replace', path: '/address', value: '10.0.0.9' }],
  ])('is refused a patch that %s where the address needs the port', (_what, entry, operation) => {
    const problem = expectRefused(patch(operation), createSnapshot({ servers: [entry as typeof server] }));
    expect(problem.errors).toMatchObject([{ pointer: '/port', code: 'validation-failed', detail: needed }]);
  });
});

type UpdateEffect = Parameters<typeof isUpdateInPlace>[0];

function effectOf(decision: Decision): UpdateEffect {
  const [effect] = decision.outcome === 'accepted' ? decision.effects : [];
  if (effect === undefined || !('operations' in effect)) throw new Error('The patch has no effect');
  return effect;
}

function serverEffect(...operations: readonly Operation[]): UpdateEffect {
  return effectOf(patchServer(sampleSnapshot(), 'db-serv-1', operations, { now: 0 }));
}

/** The settings after an update, with other words in the status. */
function reported({ to }: UpdateEffect, ...status: readonly ServerStatusWord[]): object {
  return { ...to, status };
}

/** Whether an update only changes the order of the words of a status, which the next report changes again. */
function isOrderAlone({ from, to }: UpdateEffect): boolean {
  const sorted = (settings: { readonly status?: readonly string[] }): object => ({
    ...settings,
    status: settings.status?.toSorted(),
  });
  return isDeepStrictEqual(sorted(from), sorted(to));
}

describe('isUpdateInPlace', () => {
  it('is false before the update and true after it, whatever the update changes', () => {
    fc.assert(
      fc.property(subjectPatches, ([subject, operations]) => {
        const decision = patchSubject(subject, operations, sampleSnapshot(), { now: 0 });
        if (decision.outcome !== 'accepted') return;
        const effect = effectOf(decision);
        expect(isUpdateInPlace(effect, effect.from)).toBe(isOrderAlone(effect));
        expect(isUpdateInPlace(effect, effect.to)).toBe(true);
        expect(isUpdateInPlace(effect, undefined)).toBe(false);
      }),
    );
  });

  it('takes settings of the kind alone, by their types', () => {
    const about = { type: 'server.update', resource: '/servers/db', server: 'db' } as const;
    const effect: EffectOf<'server.update'> = {
      ...about,
      from: { port: 1 },
      to: { port: 2 },
      operations: [],
    };
    expect(isUpdateInPlace(effect, { port: 2 })).toBe(true);
    // @ts-expect-error a port is a number
    expect(isUpdateInPlace(effect, { port: '2' })).toBe(false);
    // @ts-expect-error a server has no limit of connections
    expect(isUpdateInPlace(effect, { max_connection: 2 })).toBe(false);
  });

  it('is false for a resource that is gone, also if the update changes the order of words alone', () => {
    const turned = serverEffect({ op: 'move', from: '/state/1', path: '/state/0' });
    const found = [turned.from, undefined].map((now) => isUpdateInPlace(turned, now));
    expect(found).toEqual([true, false]);
  });

  it('looks at the entries of a map that the update changes, and at no others', () => {
    const path = '/parameters/report_weight';
    const effect = serverEffect({ op: 'replace', path, value: 3 });
    const other = { ...effect.to, parameters: { report_weight: 3, app_weight: '7' } };
    const without = { ...other, parameters: { app_weight: '7' } };
    expect([other, without].map((now) => isUpdateInPlace(effect, now))).toEqual([true, false]);
    const removal = serverEffect({ op: 'remove', path });
    expect([other, without].map((now) => isUpdateInPlace(removal, now))).toEqual([false, true]);
  });

  it.each(['constructor', '__proto__'])('takes a parameter named %s for any other', (name) => {
    const [without, having] = [{ parameters: {} }, { parameters: { [name]: 7 } }];
    const type = 'server.update';
    const adding = { type, from: without, to: having, operations: [] } as const;
    const removing = { type, from: having, to: without, operations: [] } as const;
    expect([without, having].map((now) => isUpdateInPlace(adding, now))).toEqual([false, true]);
    expect([without, having].map((now) => isUpdateInPlace(removing, now))).toEqual([true, false]);
  });

  it('looks at the words of a status that the update adds or removes, and at no others', () => {
    const effect = serverEffect({ op: 'add', path: '/state/-', value: 'synced' });
    expect(isUpdateInPlace(effect, reported(effect, 'synced'))).toBe(true);
    expect(isUpdateInPlace(effect, reported(effect, 'master', 'running'))).toBe(false);
  });

  it('ignores the words that a monitor reports if the update changes anything else', () => {
    const effect = serverEffect(
      { op: 'replace', path: '/port', value: 1 },
      { op: 'replace', path: '/state', value: ['maintenance', 'running', 'slave'] },
    );
    expect(isUpdateInPlace(effect, reported(effect, 'maintenance'))).toBe(true);
    expect(isUpdateInPlace(effect, reported(effect, 'running', 'slave'))).toBe(false);
    expect(isUpdateInPlace(effect, { ...reported(effect, 'maintenance'), port: 5432 })).toBe(false);
  });
});
