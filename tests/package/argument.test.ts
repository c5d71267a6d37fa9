/**
 * The options and arguments of the functions that users can import: a misspelt option is an error, and not without
 * effect.
 */
import { afterAll, describe, expect, it } from '@jest/globals';
import * as main from 'gateway-admin-core';
import { createAdmin, createSnapshot, type Admin } from 'gateway-admin-core';
import * as auditFile from 'gateway-admin-core/audit-file';
import * as client from 'gateway-admin-core/client';
import { createConsole } from 'gateway-admin-core/console';
import * as fetchAdapter from 'gateway-admin-core/fetch';
import * as fileStore from 'gateway-admin-core/file-store';
import * as messagePort from 'gateway-admin-core/message-port';
import * as node from 'gateway-admin-core/node';
import * as openapi from 'gateway-admin-core/openapi';
import * as scrypt from 'gateway-admin-core/scrypt';
import * as testing from 'gateway-admin-core/testing';

/** Gives the message of what a call throws, or of what its promise rejects with. */
async function messageOf(call: () => unknown): Promise<string | undefined> {
  try {
    await call();
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

const snapshot = createSnapshot({});
const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place' as const) };
const admin = createAdmin({ snapshot, gateway });
const { port1 } = new MessageChannel();

afterAll(() => {
  port1.close();
});

const open = (): Promise<typeof gateway> => Promise.resolve(gateway);

it.each<[string, (options: never) => unknown]>([
  ['createPbkdf2Hasher', (options) => main.createPbkdf2Hasher(options)],
  ['createScryptHasher', (options) => scrypt.createScryptHasher(options)],
  ['createSecretSealer', (options) => main.createSecretSealer(options)],
  ['createBasicAuthentication', (options) => main.createBasicAuthentication(options)],
  ['createConsole', createConsole],
  ['createFetchHandler', (options) => fetchAdapter.createFetchHandler(admin, options)],
  ['createNodeHandler', (options) => node.createNodeHandler(admin, options)],
  ['serve', (options) => messagePort.serve(admin, port1, options)],
  ['createOpenApi', (options) => openapi.createOpenApi(options)],
  ['openFileStore', (options) => fileStore.openFileStore('/dev/null/x', options)],
  ['openAuditFile', (options) => auditFile.openAuditFile('/dev/null/x', options)],
  ['createVirtualClock', (options) => testing.createVirtualClock(0, options)],
  ['gatewayAudits', (options) => testing.gatewayAudits({}, open, options)],
  ['createScriptedGateway', (options: object) => testing.createScriptedGateway({ snapshot, ...options })],
])('the options of %s have no misspelt name', async (_name, call) => {
  const message = await messageOf(() => call({ mispelt: 1 } as never));
  expect(message).toMatch(/^There is no option of \w+ with the name "mispelt"/);
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
    ['serve needs the interface', () => messagePort.serve(undefined as never, port1)],
    ['port must be a message port', () => messagePort.serve(admin, {} as never)],
    ['port must be a message port', () => messagePort.connect('x' as never)],
    ['adminPath must be a string', () => createConsole({ adminPath: 5 as never })],
    ['logInPath must be a string', () => createConsole({ logInPath: null as never })],
    ['adminPath must be a path', () => createConsole({ adminPath: '//host.example/' })],
    ['logInPath must be a path', () => createConsole({ logInPath: 'https://host.example/' })],
    ['sendTo needs the interface', () => client.sendTo({} as never)],
    ['send must be a function', () => client.withEtags(null as never)],
    ['snapshot must come from createSnapshot', () => testing.createScriptedGateway({} as never)],
    ['open must be a function', () => testing.gatewayAudits({}, undefined as never)],
    ['createPlace must be a function', () => testing.storeAudits(null as never)],
  ])('%s', async (message, call) => {
    expect(await messageOf(call)).toContain(message);
  });
});
