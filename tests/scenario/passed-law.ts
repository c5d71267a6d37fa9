/**
 * The laws of what passes between the interface, its clients and the gateway, in order.
 */
import type { Effect } from 'gateway-admin-core';

import type { Passed } from './stage.ts';

/** What the gateway cannot take back. */
const irreversible: ReadonlySet<Effect['type']> = new Set([
  'sessions.close',
  'connections.close',
  'logs.flush',
]);

/** Every request is answered once, unless the process dies. */
export function answerlessFaults(passed: readonly Passed[]): readonly string[] {
  const due = new Map<
    string,
    { readonly process: { readonly wasKilled: boolean }; readonly count: number }
  >();
  for (const each of passed) {
    if (each.what === 'call') continue;
    const { process, count = 0 } = due.get(each.client) ?? {};
    if (each.what === 'request') due.set(each.client, { process: each.process, count: count + 1 });
    else if (process !== undefined) due.set(each.client, { process, count: count - 1 });
  }
  return [...due].flatMap(([client, { process, count }]) => {
    if (count < 0) return [`${client} was answered twice`];
    return count > 0 && !process.wasKilled ? [`${client} was never answered`] : [];
  });
}

/** Nothing that cannot be taken back is begun for a command whose client was told that its outcome is unknown. */
export function callFaults(passed: readonly Passed[]): readonly string[] {
  const unknown = new Set<string>();
  return passed.flatMap((each) => {
    if (each.what === 'answer' && each.status === 504 && each.command !== undefined)
      unknown.add(each.command);
    return each.what === 'call' && irreversible.has(each.type) && unknown.has(each.command)
      ? [`the gateway is asked for ${each.type} of ${each.command} after a 504`]
      : [];
  });
}
