/**
 * The interface of the rows over loopback: with 100 services, and with a log-in if it has a user.
 */
import {
  createAdmin,
  createBasicAuthentication,
  createPbkdf2Hasher,
  createSnapshot,
} from 'gateway-admin-core';

import { gateway, serverNames, serviceNames } from './sessions.mjs';

export const settings = {
  servers: ['/servers/server-1', '/servers/server-2'],
  router_options: { router_options: 'master' },
  user: 'service_user',
  max_connection: 100,
};

const [name, password] = ['ada', 'engine'];

/** What the user sends with every request. */
export const authorization = `Basic ${btoa(`${name}:${password}`)}`;

export function openAdmin(users = []) {
  return createAdmin({
    snapshot: createSnapshot({
      servers: serverNames.slice(0, 10).map((server) => ({
        ...{ name: server, address: '10.0.0.1', port: 5432, protocol: 'pg' },
      })),
      services: serviceNames.map((service) => ({ name: service, router: 'readconnroute', ...settings })),
      users,
    }),
    gateway,
    ...(users.length > 0 && { access: { authenticate: createBasicAuthentication() } }),
  });
}

export async function openAdminWithUser() {
  return openAdmin(await usersOf());
}

/** The list of users of a document, with the one user. */
export async function usersOf() {
  return [{ name, password: { sealed: await createPbkdf2Hasher().hash(password) } }];
}
