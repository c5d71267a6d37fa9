/**
 * The laws of every scenario, whatever its steps were: nothing fails any more, everybody is waited for, and then all must
 * agree.
 */
import { configuration } from '../support/configuration.ts';
import type { Stage } from './stage.ts';
import { perform } from './vocabulary.ts';

/** What heals all parts, and lets everything come to rest. */
const healing = ['gateway is well', 'store is well', 'wait 10min'];

/** What has gone wrong that must never go wrong, after the steps of a scenario of one process. */
export async function faultsAtRest(stage: Stage, seen: readonly string[]): Promise<readonly string[]> {
  const place = stage.place();
  for (const step of healing) await perform(stage, step);
  if (place.process?.admin === undefined) await perform(stage, 'start');
  await perform(stage, 'host reports everything');
  await perform(stage, 'restart');
  await perform(stage, 'host reports everything');
  await perform(stage, 'wait 10min');
  const all = [...seen, ...stage.takeSeen()];
  const { admin } = place.process ?? {};
  if (admin === undefined) return ['the interface does not start'];
  const shown = configuration(admin.snapshot);
  const differences = place.gateway.differences(admin.snapshot);
  const open = admin.commands().map(({ id }) => `the command ${id} is still open`);
  await perform(stage, 'restart');
  const again = place.process?.admin && configuration(place.process.admin.snapshot);
  const isSame = JSON.stringify(shown) === JSON.stringify(again);
  return [
    ...differences.map((text) => `in the end, ${text}`),
    ...open,
    ...(isSame ? [] : ['another start shows something else']),
    ...answerFaults(all),
  ];
}

/** What the answers say, held against the events: each client sends one request. */
function answerFaults(seen: readonly string[]): readonly string[] {
  const answers = new Map<string, number>();
  const changed = new Map<string, string[]>();
  const faults: string[] = [];
  for (const text of seen) {
    const [, client, status] = /^(c\d+): (\d{3})\b/.exec(text) ?? [];
    if (client !== undefined) {
      if (answers.has(client)) faults.push(`${client} was answered twice`);
      // A command whose parts are partly done has changed something, and says so.
      if (!text.includes(' partly-done')) answers.set(client, Number(status));
    }
    const [, what = '', by] = /^event: (\S+ \S+.*?) by (c\d+)\b/.exec(text) ?? [];
    if (by !== undefined && !what.startsWith('command.failed'))
      changed.set(by, [...(changed.get(by) ?? []), what]);
  }
  for (const [client, events] of changed) {
    const status = answers.get(client);
    const isRefused = status !== undefined && status >= 400 && status < 500;
    if (isRefused && !isTakenBack(events))
      faults.push(`${client} was refused with ${String(status)}, and has made ${events.join()}`);
  }
  return faults;
}

/** Whether everything that events have created is deleted again, and nothing else has changed. */
function isTakenBack(events: readonly string[]): boolean {
  const made = new Map<string, number>();
  for (const event of events) {
    const [type = '', name = ''] = event.split(' ');
    const by = type.endsWith('.created') ? 1 : type.endsWith('.deleted') ? -1 : NaN;
    made.set(name, (made.get(name) ?? 0) + by);
  }
  return [...made.values()].every((count) => count === 0);
}
