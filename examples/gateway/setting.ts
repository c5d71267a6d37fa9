/** Settings: which settings this gateway has, and whether present settings have an update. */
import { isDeepStrictEqual } from 'node:util';

import { hostProblem, type Effect, type Problem, type ServerSettings, type Veto } from 'gateway-admin-core';

import { serversAt } from './router.ts';

/** The settings before and after an update. */
interface Update {
  readonly before: object;
  readonly after: object;
}

/** The settings that this gateway has, by the effect that changes them. */
const supported: Partial<Record<Effect['type'], readonly string[]>> = {
  'service.update': ['servers', 'weightby', 'connection_timeout', 'max_connection'],
  'server.update': ['address', 'port', 'parameters', 'state'],
  'monitor.update': ['servers', 'monitor_interval', 'connect_timeout'],
};

/** Refuses changes of settings that this gateway does not have, and a weight that no server of the service has. */
export const veto: Veto = ({ effects, next }) => {
  for (const effect of effects) {
    const reason = unsupportedIn(effect);
    if (reason !== undefined) return unsupported(reason);
    if (effect.type !== 'service.update' || !changedNames(effect).includes('weightby')) continue;
    const { weightby = '', servers } = effect.after;
    const has = ({ settings }: { settings: ServerSettings }): boolean => weightby in settings.parameters;
    if (weightby !== '' && !serversAt(next, servers).some(has))
      return unsupported(`No server of the service has a parameter "${weightby}".`);
  }
  return undefined;
};

/** Why this gateway cannot do an update; `undefined` if it can. Another node of a fleet does not ask this veto. */
export function unsupportedIn(effect: Effect): string | undefined {
  if (!('operations' in effect)) return undefined;
  const names = supported[effect.type] ?? [];
  const other = changedNames(effect).find((name) => !names.includes(name));
  if (other === undefined) return undefined;
  return `This gateway has no ${other.replace('Sealed', '')} here. It has ${names.join(', ')}.`;
}

function unsupported(detail: string): Problem {
  return hostProblem('host-setting-unsupported', {
    status: 422,
    title: 'The gateway does not support the setting',
    detail,
  });
}

/** Whether settings have every value that an update has changed. Other values may have changed since. */
export function hasUpdate(now: object | undefined, update: Update): boolean {
  return changedNames(update).every((name) =>
    isDeepStrictEqual(valueOf(now, name), valueOf(update.after, name)),
  );
}

/** Whether a server has an update. The monitor may have changed the words of the status that the update has left. */
export function hasServerUpdate(
  now: ServerSettings | undefined,
  { before, after }: { readonly before: ServerSettings; readonly after: ServerSettings },
): boolean {
  return hasUpdate(now && wordByWord(now), { before: wordByWord(before), after: wordByWord(after) });
}

function wordByWord({ state, ...settings }: ServerSettings): object {
  return { ...settings, ...Object.fromEntries(state.map((word) => [word, true])) };
}

function changedNames({ before, after }: Update): readonly string[] {
  const names = Object.keys({ ...before, ...after });
  return names.filter((name) => !isDeepStrictEqual(valueOf(before, name), valueOf(after, name)));
}

function valueOf(settings: object = {}, name: string): unknown {
  return (settings as Readonly<Record<string, unknown>>)[name];
}
