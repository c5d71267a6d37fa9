/** Settings: which settings this gateway has. */
import { hostProblem, type Veto } from 'gateway-admin-core';
import { formatPointer, parsePointer } from 'gateway-admin-core/json';

import { unsupportedIn } from './document.ts';
import { serversAt } from './router.ts';

/**
 * The settings that this gateway has. There is no `password`: a client gives its password to the server, and the gateway
 * only carries it. So a server must trust the gateway if the service has a `user`.
 */
export const fields = {
  services: [
    'servers',
    'filters',
    'user',
    'version_string',
    'weightby',
    'connection_timeout',
    'max_connection',
    'drain',
  ],
  servers: ['address', 'port', 'parameters', 'maintenance', 'drain'],
  monitors: ['servers', 'monitor_interval', 'connect_timeout'],
  filters: ['parameters'],
} as const;

/** Why this gateway cannot have a resource: it supports no more than in a document. */
export function refusalOf(collection: keyof typeof fields, definition: object): string | undefined {
  const [fault] = unsupportedIn({ [collection]: [definition] });
  return fault && `${formatPointer(parsePointer(fault.pointer)?.slice(2) ?? [])}: ${fault.detail}.`;
}

/** Refuses a weight that no server of the service has. */
export const veto: Veto = ({ effects, next }) => {
  for (const effect of effects) {
    if (effect.type !== 'service.update') continue;
    const { weightby = '', servers = next.services.find(effect.service)?.settings.servers ?? [] } = effect.to;
    const weights = serversAt(next, servers).filter(({ settings }) => weightby in settings.parameters);
    if (weightby === '' || weights.length > 0) continue;
    return hostProblem('host-setting-unsupported', {
      status: 422,
      title: 'The gateway does not support the setting',
      detail: `No server of the service has a parameter "${weightby}".`,
    });
  }
  return undefined;
};
