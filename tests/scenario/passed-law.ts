/**
 * The laws of what passes between the interface, its clients and the gateway, in order.
 */
import type { Effect } from 'gateway-admin-core';

import { decisionFaults } from '../model/judge.ts';
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
    if (each.what !== 'request' && each.what !== 'answer') continue;
    const { process, count = 0 } = due.get(each.client) ?? {};
    if (each.what === 'request') due.set(each.client, { process: each.process, count: count + 1 });
    else if (process !== undefined) due.set(each.client, { process, count: count - 1 });
  }
  return [...due].flatMap(([client, { process, count }]) => {
    if (count < 0) return [`${client} was answered twice`];
    return count > 0 && !process.wasKilled ? [`${client} was never answered`] : [];
  });
}

/** For a command whose client was told that its outcome is unknown, nothing is begun that cannot be taken back. */
export function callFaults(passed: readonly Passed[]): readonly string[] {
  const unknown = new Set<string>();
  return passed.flatMap((each) => {
    if (each.what === 'answer' && each.status === 504) unknown.add(each.command ?? '');
    if (each.what !== 'call' || each.command === undefined) return [];
    const { type, command } = each;
    const isWrong = irreversible.has(type) && unknown.has(command);
    return isWrong ? [`the gateway is asked for ${type} of ${command} after a 504`] : [];
  });
}

/** What the model would have decided otherwise: of each command that nothing else has crossed. */
export function modelFaults(passed: readonly Passed[]): readonly string[] {
  return passed.flatMap((answer, end) => {
    if (answer.what !== 'answer') return [];
    const begin = passed.findLastIndex(
      (each, at) => at < end && each.what === 'request' && each.client === answer.client,
    );
    const request = passed[begin];
    if (request?.what !== 'request' || !request.isIdle || !isAlone(passed.slice(begin + 1, end))) return [];
    const { client, command, before, at: now } = request;
    return decisionFaults({ command, asking: { actor: client, now }, before, after: answer.after, answer });
  });
}

/** Whether all that has passed belongs to one command. */
function isAlone(between: readonly Passed[]): boolean {
  const commands = between.map((each) =>
    each.what === 'call' || each.what === 'event' ? each.command : undefined,
  );
  return commands.every((each) => each !== undefined && each === commands[0]);
}
