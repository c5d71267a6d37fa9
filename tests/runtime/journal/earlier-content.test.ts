/**
 * What a version before 0.1 has made: gateway documents, states and records. Each is refused by name, and stays as it is.
 * The states and records are what such a version has stored.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createSnapshot,
  openAdmin,
  type GatewayDocument,
  type Json,
} from 'gateway-admin-core';
import { createSharedMemory, openFleet } from 'gateway-admin-core/fleet';

import { ask } from '../../support/ask.ts';
import { runAdmin, sampleGateway } from '../../support/running-admin.ts';

const server = { name: 'db-1', address: '::1', port: 1, protocol: 'pg' };
const service = { name: 'Sales', router: 'r', servers: ['/servers/db-1'] };
const monitor = { name: 'M', module: 'm' };
const secret = { token: 'v1.sealed' };
const made = 'the document was made by a version before 0.1; write';
const formatSaid = `is 1, and this version reads 2: ${made} each secret as { "sealed": … } in its own place, and 2 here`;
const memberSaid = (present: string): string =>
  `is a member of format 1: ${made} { "sealed": … } in ${present}`;

describe('a gateway document of a version before 0.1', () => {
  it.each<[pointer: string, said: string, document: Readonly<Record<string, Json>>]>([
    ['/format', formatSaid, { format: 1 }],
    ['/users/0/passwordHash', memberSaid('password'), { users: [{ name: 'ada', passwordHash: '$' }] }],
    [
      '/services/0/passwordSealed',
      memberSaid('password'),
      { services: [{ ...service, passwordSealed: 'v1.sealed' }] },
    ],
    [
      '/services/0/router_optionsSealed',
      memberSaid('router_options'),
      { services: [{ ...service, router_optionsSealed: secret }] },
    ],
    [
      '/services/0/listeners/0/parametersSealed',
      memberSaid('parameters'),
      {
        services: [
          { ...service, listeners: [{ name: 'L', protocol: 'p', port: 1, parametersSealed: secret }] },
        ],
      },
    ],
    [
      '/servers/0/parametersSealed',
      memberSaid('parameters'),
      { servers: [{ ...server, parametersSealed: secret }] },
    ],
    [
      '/monitors/0/parametersSealed',
      memberSaid('parameters'),
      { monitors: [{ ...monitor, parametersSealed: secret }] },
    ],
    [
      '/filters/0/parametersSealed',
      memberSaid('parameters'),
      { filters: [{ name: 'F', module: 'f', parametersSealed: { token: { value: 'v1.sealed' } } }] },
    ],
  ])('is refused at %s', async (pointer, said, document) => {
    const fault = expect.arrayContaining([expect.objectContaining({ pointer, detail: said })]) as unknown;
    const create = (): unknown => createSnapshot(document as GatewayDocument);
    expect(create).toThrow(expect.objectContaining({ name: 'InvalidDocumentError', faults: fault }));
    // A client gives no users, whatever they have.
    if ('users' in document) return;
    const { status, body } = await ask(runAdmin().admin, 'POST /document', { body: document });
    expect({ status, body }).toMatchObject({ status: 422, body: { errors: fault } });
  });
});

const at = 1;
const resource = '/services/Sales';
const sales = { at, resource, service: 'sales' };
const operations = [{ op: 'add', path: '/max_connection', value: 7 }];
const inverse = [{ op: 'remove', path: '/max_connection' }];
const update = {
  ...sales,
  type: 'service.updated',
  before: {},
  after: { max_connection: 7 },
  operations,
  inverse,
};
const stopped = { ...sales, type: 'service.stopped' };
const flushed = { at, resource: '/gateway/logs', type: 'logs.flushed' };
const listener = { name: 'L', protocol: 'p', port: 1 };
const listening = { ...sales, type: 'listener.created', listener: 'l', definition: listener };
const created = { at, resource: '/servers/x', type: 'server.created', server: 'x', definition: server };
const deleted = { ...created, type: 'server.deleted' };
const mode = {
  at,
  resource: '/',
  type: 'interface.updated',
  before: {},
  after: {},
  operations: [],
  inverse: [],
};

const intentOf = (event: object, effect: object): object => ({
  ...{ type: 'intent', command: 'a-1', resources: [resource], part: 0, of: 1 },
  ...{ events: [event], effects: [effect] },
});
const settlementOf = (event: object): object => ({
  ...{ type: 'settlement', command: 'a-1', revision: 0, events: [event], last: true },
});
const intents = {
  'an intent to stop': intentOf(stopped, { type: 'service.stop', resource, service: 'sales' }),
  'an intent to flush': intentOf(flushed, { type: 'logs.flush', resource: '/gateway/logs' }),
};
const settled = { stopped, update, listening, created, deleted, mode };
const settlements = Object.fromEntries(
  Object.entries(settled).map(([what, event]) => [`a settlement: ${what}`, settlementOf(event)] as const),
);

const document = { servers: [server], services: [service], monitors: [], filters: [], users: [] };
const state = {
  ...{ revision: 0, document, interface: { settings: { read_only: false } } },
  ...{ earlierLives: 0, births: {}, open: [], abandoned: [], entries: [], deleted: [] },
};
const says = 'made by a version before 0.1, and no later version reads it';
const advice = 'Start with the gateway document and an empty store.';

describe('a store of a version before 0.1', () => {
  it.each<[what: string, said: string, stored: object, records: readonly object[]]>([
    ['a state', 'a state of format 1', { ...state, format: 1, document: { ...document, format: 1 } }, []],
    [
      'a state with records that have the form of today',
      'a state of format 1',
      { ...state, format: 1 },
      [
        { type: 'mark', revision: 1 },
        { type: 'abandonment', command: 'a-1', revision: 1 },
      ],
    ],
    ...Object.entries({ ...intents, ...settlements }).map(
      ([what, record]) =>
        [
          what,
          `a record of type ${what.startsWith('an intent') ? '"intent"' : '"settlement"'}`,
          { ...state, format: 2 },
          [record],
        ] as [string, string, object, readonly object[]],
    ),
  ])('is refused by openAdmin, and stays as it is: %s', async (_what, said, stored, records) => {
    const store = createMemoryStore({ state: stored as Json, records: records as readonly Json[] });
    const before = await store.load();
    await expect(
      openAdmin({ snapshot: createSnapshot({}), gateway: sampleGateway(), store }),
    ).rejects.toThrow(`The store contains ${said}, ${says}. ${advice}`);
    expect(await store.load()).toEqual(before);
  });
});

const head = { node: 'one', life: 'x', command: 'one-x-1', resources: [resource] };
const shared = {
  ...state,
  ...{ listeners: [], ended: [], begun: 0, lives: [], secretParameters: [] },
};

describe('a shared store of a version before 0.1', () => {
  it.each<[what: string, said: string, stored: object, records: readonly object[]]>([
    ['a state of format 1', 'a state of format 1', { ...shared, format: 1 }, []],
    ['a state of format 2', 'a state of format 2', { ...shared, format: 2 }, []],
    ...Object.entries({
      ...intents,
      ...settlements,
      'a life': { ...head, type: 'life', number: 1, secretParameters: [] },
      'a node that was taken out': { ...head, type: 'forgotten' },
    }).map(
      ([what, record]) =>
        [what, 'a record of format 2', { ...shared, format: 3 }, [{ ...head, ...record, format: 2 }]] as [
          string,
          string,
          object,
          readonly object[],
        ],
    ),
  ])('is refused by openFleet, and stays as it is: %s', async (_what, said, stored, records) => {
    const memory = createSharedMemory();
    const filling = memory.open();
    const { position } = await filling.load();
    await filling.compact(stored as Json, { expectedPosition: position });
    await filling.append(records as readonly Json[], { expectedPosition: (await filling.load()).position });
    const before = await filling.load();
    const opening = openFleet({
      ...{ node: 'one', snapshot: createSnapshot({}), gateway: sampleGateway(), store: memory.open() },
    });
    await expect(opening).rejects.toThrow(`The shared store contains ${said}, ${says}. ${advice}`);
    expect(await filling.load()).toEqual(before);
  });
});
