/**
 * What every scenario begins with, unless it says otherwise.
 */
import type { GatewayDocument } from 'gateway-admin-core';

export const document: GatewayDocument = {
  servers: ['db-1', 'db-2'].map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' })),
  services: [
    {
      name: 'Sales',
      router: 'readconnroute',
      servers: ['/servers/db-1'],
      filters: ['/filters/Hint'],
      max_connection: 10,
    },
    {
      name: 'Reports',
      router: 'readconnroute',
      servers: ['/servers/db-1', '/servers/db-2'],
      state: 'stopped',
    },
  ],
  monitors: [
    { name: 'Watch', module: 'pgmon', servers: ['/servers/db-1', '/servers/db-2'], monitor_interval: 1000 },
  ],
  filters: [
    { name: 'Hint', module: 'hintfilter', parameters: { match: { value: 'a', configurable: true } } },
  ],
  users: [{ name: 'root', password: { sealed: 'opaque' } }],
};
