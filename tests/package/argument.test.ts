/**
 * Arguments of a wrong type, for every function that users can import: a sentence of the library says which one is wrong.
 */
import { describe, expect, it } from '@jest/globals';
import * as main from 'gateway-admin-core';
import { createAdmin, createSnapshot, type Admin } from 'gateway-admin-core';
import * as auditFile from 'gateway-admin-core/audit-file';
import * as client from 'gateway-admin-core/client';
import * as fetchAdapter from 'gateway-admin-core/fetch';
import * as fileStore from 'gateway-admin-core/file-store';
import * as fleet from 'gateway-admin-core/fleet';
import * as json from 'gateway-admin-core/json';
import * as messagePort from 'gateway-admin-core/message-port';
import * as node from 'gateway-admin-core/node';
import * as openapi from 'gateway-admin-core/openapi';
import * as postgresStore from 'gateway-admin-core/postgres-store';
import * as scrypt from 'gateway-admin-core/scrypt';
import * as testing from 'gateway-admin-core/testing';

import { read } from '../support/project.ts';

type AnyFunction = (...args: readonly unknown[]) => unknown;

const entries: Readonly<Record<string, object>> = {
  '.': main,
  './audit-file': auditFile,
  './client': client,
  './fetch': fetchAdapter,
  './file-store': fileStore,
  './fleet': fleet,
  './json': json,
  './message-port': messagePort,
  './node': node,
  './openapi': openapi,
  './postgres-store': postgresStore,
  './scrypt': scrypt,
  './testing': testing,
};

/**
 * The functions of an entry. Its errors are classes, which the library creates. `sendWithFetch` checks nothing, because a
 * program in a browser must stay within the size that README.md says.
 */
const functions = Object.entries(entries).flatMap(([entry, module]) =>
  Object.entries(module)
    .filter(
      ([name, value]) =>
        name !== 'sendWithFetch' &&
        typeof value === 'function' &&
        !((value as typeof Error).prototype instanceof Error),
    )
    .map(([name, value]) => [entry, name, value as AnyFunction] as const),
);

/** A path of these functions is used: they would create a directory. What follows their public arguments is for tests. */
const takesPath: Readonly<Record<string, number>> = { openFileStore: 2, openAuditFile: 2 };

const engine =
  /^Cannot |^undefined |^null |is not a function|is not iterable|is not defined|is not an object|^The "|Invalid URL/;

/** Gives the message of what a call throws, or of what its promise rejects with. */
async function messageOf(call: () => unknown): Promise<string | undefined> {
  try {
    await call();
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

it('the tests know every entry', () => {
  const { exports } = JSON.parse(read('package.json')) as { readonly exports: object };
  const modules = Object.keys(exports).filter((entry) => !entry.endsWith('.json'));
  expect(Object.keys(entries).sort()).toEqual(modules.sort());
});

// Law: an argument of a wrong type is refused with a sentence of the library, and not with an error of the engine.
describe.each(functions)('%s %s', (_entry, name, call) => {
  const values = [undefined, null, 5, 'x', {}, [], [null]];
  const most = takesPath[name];
  const lists = [[], ...values.flatMap((first) => values.map((rest) => [first, rest, rest, rest]))]
    .filter(([first]) => most === undefined || typeof first !== 'string')
    .map((args) => args.slice(0, most));

  it('accepts an argument, or says which argument is wrong', async () => {
    const messages = await Promise.all(lists.map((args) => messageOf(() => call(...args))));
    expect(messages.filter((message) => message !== undefined && engine.test(message))).toEqual([]);
  });
});

const snapshot = createSnapshot({});
const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place' as const) };
const admin = createAdmin({ snapshot, gateway });
const open = (): Promise<typeof gateway> => Promise.resolve(gateway);

/** Each function with options, with its other arguments, and the names of the options. */
const withOptions: readonly (readonly [string, (options: never) => unknown, readonly string[]])[] = [
  ['createPbkdf2Hasher', (options) => main.createPbkdf2Hasher(options), ['rounds']],
  ['createScryptHasher', (options) => scrypt.createScryptHasher(options), ['cost']],
  ['createSecretSealer', (options) => main.createSecretSealer(options), ['key']],
  [
    'createBasicAuthentication',
    (options) => main.createBasicAuthentication(options),
    ['realm', 'openUntilFirstUser'],
  ],
  [
    'createFetchHandler',
    (options) => fetchAdapter.createFetchHandler(admin, options),
    ['basePath', 'next', 'onError'],
  ],
  [
    'createNodeHandler',
    (options) => node.createNodeHandler(admin, options),
    ['basePath', 'peerOf', 'onError'],
  ],
  [
    'serve',
    (options) => {
      const { port1 } = new MessageChannel();
      port1.close();
      return messagePort.serve(admin, port1, options);
    },
    ['principalOf', 'peerOf', 'onError'],
  ],
  ['createOpenApi', (options) => openapi.createOpenApi(options), ['title', 'servers', 'security']],
  ['openFileStore', (options) => fileStore.openFileStore('/dev/null/x', options), ['create']],
  [
    'openAuditFile',
    (options) => auditFile.openAuditFile('/dev/null/x', options),
    ['maxBytes', 'maxFiles', 'create'],
  ],
  ['createVirtualClock', (options) => testing.createVirtualClock(0, options), ['turn', 'turns']],
  ['gatewayAudits', (options) => testing.gatewayAudits({}, open, options), ['connect', 'obstruct']],
  [
    'createScriptedGateway',
    (options: object) => testing.createScriptedGateway({ snapshot, ...options }),
    ['clock', 'seed', 'faults', 'lateMs', 'telemetry'],
  ],
];

describe.each(withOptions)('the options of %s', (_name, call, names) => {
  it('have no misspelt name', async () => {
    const message = await messageOf(() => call({ mispelt: 1 } as never));
    expect(message).toMatch(/^There is no option of \w+ with the name "mispelt"/);
  });

  it.each(names)('have a %s of the right type, or a sentence says so', async (name) => {
    const values = [null, 5, 5n, Symbol('s'), 'x', {}, [], [null], () => 1];
    const messages = await Promise.all(
      values.map((value) => messageOf(() => call({ [name]: value } as never))),
    );
    expect(messages.filter((message) => message !== undefined && engine.test(message))).toEqual([]);
  });
});

describe('arguments are named', () => {
  it.each<[string, () => unknown]>([
    ['options must be an object', () => scrypt.createScryptHasher(null as never)],
    ['options must be an object', () => scrypt.createScryptHasher(5 as never)],
    ['The cost of scrypt must be', () => scrypt.createScryptHasher({ cost: '1024' as never })],
    ['user must be an object', () => admin.createFirstUser(null as never)],
    ['directory must be a path', () => fileStore.openFileStore(undefined as never)],
    ['directory must be a path', () => fileStore.openFileStore('')],
    ['directory must be a path', () => auditFile.openAuditFile({} as never)],
    ['createFetchHandler needs the interface', () => fetchAdapter.createFetchHandler(undefined as never)],
    ['createNodeHandler needs the interface', () => node.createNodeHandler({} as Admin)],
    ['serve needs the interface', () => messagePort.serve(undefined as never, new MessageChannel().port1)],
    ['port must be a message port', () => messagePort.serve(admin, {} as never)],
    ['port must be a message port', () => messagePort.connect('x' as never)],
    ['sendTo needs the interface', () => client.sendTo({} as never)],
    ['send must be a function', () => client.withEtags(null as never)],
    ['event must be an object', () => client.undoOf(null as never)],
    ['snapshot must come from createSnapshot', () => testing.createScriptedGateway({} as never)],
    ['open must be a function', () => testing.gatewayAudits({}, undefined as never)],
    ['createPlace must be a function', () => testing.storeAudits(null as never)],
  ])('%s', async (message, call) => {
    expect(await messageOf(call)).toContain(message);
  });
});
