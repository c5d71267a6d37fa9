/**
 * The limits of values in patches, users and gateway documents.
 */
import { createSnapshot, nameKey, type GatewayDocument } from 'gateway-admin-core';

import { nested, service, writers } from '../../support/input.ts';
import { accepted, calls, runHost, sends, type Limit, type Trial } from '../../support/limit.ts';
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

export const valueLimits: readonly Limit[] = [
  {
    value: 255,
    unit: 'characters',
    bounds: 'name of a service, server, monitor or filter; counted in code points',
    beyond: faulty,
    trial: loads((size) => ({ filters: [{ name: '😀'.repeat(size), module: 'm' }] })),
  },
  {
    value: 1024,
    unit: 'characters',
    bounds: 'text that is compared as a name',
    beyond: 'the text is no name, and is compared as it is',
    trial: (size) =>
      Promise.resolve(
        nameKey('A'.repeat(size)) === 'a'.repeat(size)
          ? accepted
          : 'the text is no name, and is compared as it is',
      ),
  },
  {
    value: 30,
    bounds: 'combining marks in a row, in a name that is normalised',
    beyond: 'the text is not normalised',
    trial: (size) => {
      const marks = '\u0316'.repeat(size - 1);
      const isNormalised = nameKey(`e\u0301${marks}`) === nameKey(`\u00e9${marks}`);
      return Promise.resolve(isNormalised ? accepted : 'the text is not normalised');
    },
  },
  {
    value: 255,
    unit: 'characters',
    bounds: 'a short text, such as `user` of a service',
    beyond: invalid,
    trial: sets(service, '/user', text),
  },
  {
    value: 255,
    unit: 'characters',
    bounds: 'address of a server or listener',
    beyond: invalid,
    trial: sets('/servers/db-serv-1', '/address', text),
  },
  {
    value: 255,
    unit: 'characters',
    bounds: 'name of an option or parameter',
    beyond: invalid,
    trial: sets(service, '/router_options', (size) => ({ [text(size)]: 'v' })),
  },
  {
    value: 4096,
    unit: 'characters',
    bounds: 'a long text: an option, a parameter, a path, a link, what the gateway reports of a session',
    beyond: invalid,
    trial: sets(service, '/router_options', (size) => ({ a: text(size) })),
  },
  {
    value: 1000,
    bounds: 'members of `router_options` and of `parameters`; secret ones are counted apart',
    beyond: invalid,
    trial: sets(service, '/router_options', fields),
  },
  {
    value: 10_000,
    bounds: 'links in a list',
    beyond: invalid,
    trial: sets(
      '/services/sales',
      '/servers',
      (size) => servers(size).map(({ name }) => `/servers/${name}`),
      (size) => createSnapshot({ servers: servers(size), services: [{ name: 'Sales', router: 'cli' }] }),
    ),
  },
  {
    value: 16,
    bounds: 'words of the status of a server, repeated ones included',
    beyond: invalid,
    trial: sets('/servers/db-serv-1', '/state', (size) => Array<string>(size).fill('master')),
  },
  {
    value: Number.MAX_SAFE_INTEGER,
    bounds: 'a number in a gateway document, a report or a patch, above or below zero',
    beyond: faulty,
    trial: loads((size) => ({
      servers: [{ name: 'a', address: '::1', port: 1, protocol: 'pg', parameters: { weight: size } }],
    })),
  },
  {
    value: 65_535,
    bounds: 'a port',
    beyond: invalid,
    trial: sets('/servers/db-serv-1', '/port', (size) => size),
  },
  {
    value: 31_536_000,
    bounds: '`timeout` of a drain, in seconds',
    beyond: invalid,
    trial: sends((timeout) => ({
      method: 'PUT',
      target: '/server/db-serv-1/drain',
      headers: create.headers,
      body: JSON.stringify({ timeout, then: 'close' }),
    })),
  },
  {
    value: 2_147_483_647,
    bounds: '`monitor_interval`',
    beyond: invalid,
    trial: sets('/monitor/Main-Monitor', '/monitor_interval', (size) => size),
  },
  {
    value: 1024,
    unit: 'bytes',
    bounds: 'password of a service',
    beyond: '422 password-unacceptable',
    trial: sets(service, '/password', text),
  },
  {
    value: 8192,
    unit: 'characters',
    bounds: 'sealed password of a service in a gateway document',
    beyond: faulty,
    trial: loads((size) => ({
      services: [{ name: 'Sales', router: 'cli', password: { sealed: text(size) } }],
    })),
  },
  {
    value: 1024,
    unit: 'bytes',
    bounds: 'password of an admin user',
    beyond: '422 password-unacceptable',
    trial: creates((size) => ({ name: 'joan', password: text(size) })),
  },
  {
    value: 64,
    unit: 'characters',
    bounds: 'name of an admin user',
    beyond: invalid,
    trial: creates((size) => ({ name: text(size), password: 'engine' })),
  },
  {
    value: 4096,
    unit: 'characters',
    bounds: 'hash of a password in a gateway document',
    beyond: faulty,
    trial: loads((size) => ({ users: [{ name: 'ada', password: { sealed: text(size) } }] })),
  },
  {
    value: 64,
    unit: 'characters',
    bounds: '`ssl` of a listener',
    beyond: faulty,
    trial: loads((size) => ({
      services: [
        {
          name: 'Sales',
          router: 'cli',
          listeners: [{ name: 'l', address: '::1', protocol: 'pg', port: 1, ssl: text(size) }],
        },
      ],
    })),
  },
  {
    value: 32,
    bounds: 'nesting of a gateway document',
    beyond: faulty,
    trial: loads((size) => ({
      services: [
        {
          name: 'Sales',
          router: 'cli',
          current_connections: JSON.parse(nested(size - 3, '[', ']')) as number,
        },
      ],
    })),
  },
  {
    value: Date.parse('9999-12-31T23:59:59.999Z'),
    unit: 'instant',
    bounds: 'a time that the gateway reports',
    beyond: 'the report is refused, and `onError` gets an error',
    trial: opens,
  },
  {
    value: 64,
    unit: 'characters',
    bounds: '`epoch` of a snapshot',
    beyond: 'RangeError',
    trial: calls((size) => createSnapshot({}, { epoch: text(size) })),
  },
];
