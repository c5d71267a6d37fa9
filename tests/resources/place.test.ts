import { describe, expect, it } from '@jest/globals';
import {
  createSnapshot,
  patchServer,
  toDocument,
  type GatewayDocument,
  type Operation,
  type Transition,
} from 'gateway-admin-core';

import { allFaultsOf, server, service } from '../support/document-entry.ts';
import { expectAccepted, expectRefused } from '../support/expect-decision.ts';

const { port: _port, ...portless } = server;
const onSocket = { ...portless, address: '/run/db/.s.5432' };
const listener = { name: 'L', protocol: 'pgclient', address: '0.0.0.0', port: 4006 };
const { port: _listenerPort, ...portlessListener } = listener;
const needed = 'is required unless the address is the path of a socket';

const patch =
  (...operations: readonly Operation[]): Transition =>
  (snapshot, context) =>
    patchServer(snapshot, 'db', operations, context);

describe('a server or a listener on a socket', () => {
  const document: GatewayDocument = {
    servers: [onSocket],
    services: [{ ...service, listeners: [{ ...portlessListener, address: '/run/gateway.sock' }] }],
  };

  it('needs no port in a document, and has none where the document has none', () => {
    const snapshot = createSnapshot(document);
    expect(snapshot.servers.find('db')?.settings).not.toHaveProperty('port');
    expect(toDocument(snapshot)).toMatchObject(document);
    expect(toDocument(snapshot).servers?.[0]).not.toHaveProperty('port');
  });

  it('may have a port, which some protocols put into the name of the socket', () => {
    expect(createSnapshot({ servers: [{ ...onSocket, port: 5432 }] }).servers.size).toBe(1);
  });

  it('needs a port at any other address, whatever else is wrong', () => {
    const faults = allFaultsOf({
      servers: [{ ...portless, protocol: 7 }],
      services: [{ ...service, listeners: [portlessListener] }],
    });
    expect(faults.map(({ pointer, detail }) => `${pointer} ${detail}`)).toEqual([
      '/servers/0/protocol must be a string, not a number',
      `/servers/0/port ${needed}`,
      `/services/0/listeners/0/port ${needed}`,
    ]);
  });
});

describe('an address that is no text', () => {
  it('is a fault, also without a port', () => {
    const address = { toString: 1, valueOf: 2 } as unknown as string;
    const faults = allFaultsOf({ servers: [{ ...portless, address }] });
    expect(faults.map(({ pointer }) => pointer).toSorted()).toEqual([
      '/servers/0/address',
      '/servers/0/port',
    ]);
  });
});

describe('a patch of the place of a server', () => {
  const toSocket = [
    { op: 'replace', path: '/address', value: onSocket.address },
    { op: 'remove', path: '/port' },
  ] as const;

  it('moves the server to a socket, and back, with the port', () => {
    const moved = expectAccepted(patch(...toSocket), createSnapshot({ servers: [server] })).next;
    const settings = { address: onSocket.address, parameters: {}, parametersSealed: {}, state: [] };
    expect(moved.servers.find('db')?.settings).toEqual(settings);
    const back = patch(
      { op: 'replace', path: '/port', value: 5432 },
      { op: 'replace', path: '/address', value: 'db' },
    );
    expect(expectAccepted(back, moved).next.servers.find('db')?.settings).toMatchObject({ port: 5432 });
  });

  it.each<[string, object, readonly Operation[]]>([
    ['takes the port away', server, [{ op: 'remove', path: '/port' }]],
    ['leaves a socket', onSocket, [{ op: 'replace', path: '/address', value: '10.0.0.9' }]],
  ])('is refused where the address needs the port: it %s', (_what, entry, operations) => {
    const snapshot = createSnapshot({ servers: [entry as typeof server] });
    const problem = expectRefused(patch(...operations), snapshot);
    expect(problem.errors).toMatchObject([{ pointer: '/port', code: 'validation-failed', detail: needed }]);
  });
});
