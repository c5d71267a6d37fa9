/** Settings: which settings this gateway has. */
import { hostProblem, type Effect, type Problem, type Veto } from 'gateway-admin-core';
import { formatPointer, parsePointer } from 'gateway-admin-core/json';

import { unsupportedIn } from './document.ts';
import { serversAt } from './router.ts';
import { matchParameter } from './statement-log.ts';

/**
 * The settings that this gateway has, by the effect that changes them. There is no `password`: a client gives its
 * password to the server, and the gateway only carries it. So a server must trust the gateway if the service has a
 * `user`.
 */
const supported: Partial<Record<Effect['type'], readonly string[]>> = {
  'service.update': [
    'servers',
    'filters',
    'user',
    'version_string',
    'weightby',
    'connection_timeout',
    'max_connection',
    'drain',
  ],
  'server.update': ['address', 'port', 'parameters', 'status', 'drain'],
  'monitor.update': ['servers', 'monitor_interval', 'connect_timeout'],
  'filter.update': ['parameters'],
};

/**
 * Refuses settings and new resources that this gateway does not have, and a weight that no server of the service has.
 */
export const veto: Veto = ({ effects, next }) => {
  for (const effect of effects) {
    const reason = refusalOf(effect);
    if (reason !== undefined) return unsupported(reason);
    if (effect.type !== 'service.update') continue;
    const { weightby = '', servers = next.services.find(effect.service)?.settings.servers ?? [] } = effect.to;
    const weights = serversAt(next, servers).filter(({ settings }) => weightby in settings.parameters);
    if (weightby !== '' && weights.length === 0)
      return unsupported(`No server of the service has a parameter "${weightby}".`);
  }
  return undefined;
};

/** Why this gateway cannot do an effect; `undefined` if it can. Another node of a fleet does not ask this veto. */
export function refusalOf(effect: Effect): string | undefined {
  if (!('to' in effect)) return undefined;
  const [kind = '', verb] = effect.type.split('.');
  if (verb === 'create') return unsupportedDefinition(kind, effect.to);
  if (!('operations' in effect)) return undefined;
  const names = supported[effect.type] ?? [];
  const other = Object.keys({ ...effect.from, ...effect.to }).find((name) => !names.includes(name));
  if (other !== undefined) return `This gateway has no ${other} here. It has ${names.join(', ')}.`;
  if (effect.type !== 'filter.update') return undefined;
  const parameter = Object.keys(effect.to.parameters ?? {}).find((name) => name !== matchParameter);
  return parameter && `The filter has no parameter "${parameter}". It has ${matchParameter}.`;
}

/** Why this gateway cannot have a new resource: it supports no more than in a document. */
function unsupportedDefinition(kind: string, definition: object): string | undefined {
  const document =
    kind === 'listener' ? { services: [{ listeners: [definition] }] } : { [`${kind}s`]: [definition] };
  const [fault] = unsupportedIn(document);
  const place = kind === 'listener' ? 4 : 2;
  return fault && `${formatPointer(parsePointer(fault.pointer)?.slice(place) ?? [])}: ${fault.detail}.`;
}

function unsupported(detail: string): Problem {
  return hostProblem('host-setting-unsupported', {
    status: 422,
    title: 'The gateway does not support the setting',
    detail,
  });
}
