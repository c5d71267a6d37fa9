/**
 * The limits of values in patches, users and gateway documents.
 */
import { createSnapshot, nameKey, type GatewayDocument } from 'gateway-admin-core';

import { nested, service, writers } from '../../support/input.ts';
import { accepted, calls, fixedLimits, runHost, sends, type Limit, type Trial } from '../../support/limit.ts';
import { sampleGateway } from '../../support/running-admin.ts';

const [patch, create] = writers;
const invalid = '422 validation-failed';
const faulty = 'InvalidDocumentError';

/** Sets a field of a resource to a value of a size. */
const sets = (
  target: string,
  path: string,
  valueOf: (size: number) => unknown,
  snapshotOf?: (size: number) => ReturnType<typeof createSnapshot>,
): Trial =>
  sends(
    (size) => ({ ...patch, target, body: JSON.stringify([{ op: 'add', path, value: valueOf(size) }]) }),
    (size) => (snapshotOf === undefined ? {} : { snapshot: snapshotOf(size) }),
  );

/** Creates a user. */
const creates = (userOf: (size: number) => object): Trial =>
  sends((size) => ({ ...create, body: JSON.stringify(userOf(size)) }));

/** Makes a snapshot of a document. */
const loads = (documentOf: (size: number) => GatewayDocument): Trial =>
  calls((size) => createSnapshot(documentOf(size)));

/** Reports a session that was opened at an instant. */
const opens: Trial = (connected) => {
  const { admin, errors } = runHost({
    snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'cli' }] }),
    gateway: sampleGateway(),
  });
  admin.report({
    type: 'session.opened',
    id: 1,
    state: 'ready',
    user: 'a',
    address: '::1',
    service: 'Sales',
    connected,
  });
  return Promise.resolve(
    admin.snapshot.sessions.size === 1 && errors.length === 0
      ? accepted
      : 'the report is refused, and `onError` gets an error',
  );
};

const text = (size: number): string => 'x'.repeat(size);
const servers = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    name: `s${String(n)}`,
    address: '::1',
    port: 1,
    protocol: 'pg',
  }));
const fields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${String(n)}`, 'v']));

export const valueLimits: readonly Limit[] = fixedLimits([
  [
    255,
    'characters',
    'name of a service, server, monitor or filter; counted in code points',
    faulty,
    loads((size) => ({ filters: [{ name: '😀'.repeat(size), module: 'm' }] })),
  ],
  [
    1024,
    'characters',
    'text that is compared as a name',
    'the text is no name, and is compared as it is',
    (size) =>
      Promise.resolve(
        nameKey('A'.repeat(size)) === 'a'.repeat(size)
          ? accepted
          : 'the text is no name, and is compared as it is',
      ),
  ],
  [
    30,
    'number',
    'combining marks in a row, in a name that is normalised',
    'the text is not normalised',
    (size) => {
      const marks = '\u0316'.repeat(size - 1);
      const isNormalised = nameKey(`e\u0301${marks}`) === nameKey(`\u00e9${marks}`);
      return Promise.resolve(isNormalised ? accepted : 'the text is not normalised');
    },
  ],
  [255, 'characters', 'a short text, such as `user` of a service', invalid, sets(service, '/user', text)],
  [
    255,
    'characters',
    'address of a server or listener',
    invalid,
    sets('/servers/db-serv-1', '/address', text),
  ],
  [
    255,
    'characters',
    'name of an option or parameter',
    invalid,
    sets(service, '/router_options', (size) => ({ [text(size)]: 'v' })),
  ],
  [
    4096,
    'characters',
    'a long text: an option, a parameter, a path, a link, what the gateway reports of a session',
    invalid,
    sets(service, '/router_options', (size) => ({ a: text(size) })),
  ],
  [
    1000,
    'number',
    'members of `router_options` and of `parameters`',
    invalid,
    sets(service, '/router_options', fields),
  ],
  [
    10_000,
    'number',
    'links in a list',
    invalid,
    sets(
      '/services/sales',
      '/servers',
      (size) => servers(size).map(({ name }) => `/servers/${name}`),
      (size) => createSnapshot({ servers: servers(size), services: [{ name: 'Sales', router: 'cli' }] }),
    ),
  ],
  [
    16,
    'number',
    'words of the status of a server, repeated ones included',
    invalid,
    sets('/servers/db-serv-1', '/state', (size) => Array<string>(size).fill('master')),
  ],
  [
    Number.MAX_SAFE_INTEGER,
    'number',
    'a number in a gateway document, a report or a patch, above or below zero',
    faulty,
    loads((size) => ({
      servers: [{ name: 'a', address: '::1', port: 1, protocol: 'pg', parameters: { weight: size } }],
    })),
  ],
  [65_535, 'number', 'a port', invalid, sets('/servers/db-serv-1', '/port', (size) => size)],
  [
    31_536_000,
    'number',
    '`timeout` of a drain, in seconds',
    invalid,
    sends((timeout) => ({
      method: 'PUT',
      target: '/server/db-serv-1/drain',
      headers: create.headers,
      body: JSON.stringify({ timeout, then: 'close' }),
    })),
  ],
  [
    2_147_483_647,
    'number',
    '`monitor_interval`',
    invalid,
    sets('/monitor/Main-Monitor', '/monitor_interval', (size) => size),
  ],
  [1024, 'bytes', 'password of a service', '422 password-unacceptable', sets(service, '/password', text)],
  [
    8192,
    'characters',
    'sealed password of a service in a gateway document',
    faulty,
    loads((size) => ({ services: [{ name: 'Sales', router: 'cli', passwordSealed: text(size) }] })),
  ],
  [
    1024,
    'bytes',
    'password of an admin user',
    '422 password-unacceptable',
    creates((size) => ({ name: 'joan', password: text(size) })),
  ],
  [
    64,
    'characters',
    'name of an admin user',
    invalid,
    creates((size) => ({ name: text(size), password: 'engine' })),
  ],
  [
    4096,
    'characters',
    'hash of a password in a gateway document',
    faulty,
    loads((size) => ({ users: [{ name: 'ada', passwordHash: text(size) }] })),
  ],
  [
    64,
    'characters',
    '`ssl` of a listener',
    faulty,
    loads((size) => ({
      services: [
        {
          name: 'Sales',
          router: 'cli',
          listeners: [{ name: 'l', address: '::1', protocol: 'pg', port: 1, ssl: text(size) }],
        },
      ],
    })),
  ],
  [
    32,
    'number',
    'nesting of a gateway document',
    faulty,
    loads((size) => ({
      services: [
        {
          name: 'Sales',
          router: 'cli',
          current_connections: JSON.parse(nested(size - 3, '[', ']')) as number,
        },
      ],
    })),
  ],
  [
    Date.parse('9999-12-31T23:59:59.999Z'),
    'instant',
    'a time that the gateway reports',
    'the report is refused, and `onError` gets an error',
    opens,
  ],
  [
    64,
    'characters',
    '`epoch` of a snapshot',
    'RangeError',
    calls((size) => createSnapshot({}, { epoch: text(size) })),
  ],
]);
