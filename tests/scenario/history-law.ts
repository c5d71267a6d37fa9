/**
 * The laws of the history: it lists the commands that have changed something, and says what can be undone.
 */
import type { Admin } from 'gateway-admin-core';

import { foldFaults } from '../model/judge.ts';
import type { ShownEvent } from '../model/configuration.ts';
import { wholeDocument } from '../support/configuration.ts';
import { WayBack } from '../simulation/way-back.ts';
import { jsonOf } from '../support/json-body.ts';
import type { Step } from './scenario.ts';
import type { Stage } from './stage.ts';

/** An entry of the history, as a client sees it. */
export interface ShownEntry {
  readonly id: string;
  readonly undo: 'possible' | 'refused' | 'irreversible';
  readonly undoes?: string;
  readonly undone_by?: string;
  readonly events: readonly ShownEvent[];
}

/** What clients and the operator have seen and done. */
interface Given {
  /** The history, the newest entry first. */
  readonly history: readonly ShownEntry[];
  readonly seen: readonly string[];
  readonly steps: readonly Step[];
}

/** Reads the history, the newest entry first. */
export async function historyOf(stage: Stage, admin: Admin): Promise<readonly ShownEntry[]> {
  const { content } = await ask(stage, admin, 'GET', '/history');
  return content as readonly ShownEntry[];
}

/** What is wrong with the history at rest. */
export async function historyFaults(stage: Stage, admin: Admin, given: Given): Promise<readonly string[]> {
  const faults = [
    ...placeFaults(given),
    ...cancelFaults(given),
    ...foldFaults(stage.document, given.history.toReversed(), wholeDocument(admin.snapshot)),
  ];
  for (const { id, undo } of given.history) {
    const { status } = await ask(stage, admin, 'PUT', `/history/${id}/undo?dry_run=true`);
    if ((status === 200) !== (undo === 'possible'))
      faults.push(`the undo of ${id} is "${undo}", and its dry run answers ${String(status)}`);
  }
  return faults;
}

/** The undos of the entries lead back step by step, and a restore leads there again. */
export async function wayBackFaults({ clock, ledger }: Stage, admin: Admin): Promise<readonly string[]> {
  // A way that begins the read-only mode again ends there.
  const isHeld = ledger?.commands.some(({ events }) =>
    events.some(({ type }) => type === 'interface.updated'),
  );
  if (ledger === undefined || isHeld === true) return [];
  const wayBack = new WayBack(admin, clock, ledger);
  await wayBack.walk();
  return wayBack.faults;
}

/** What a store does not keep, and what happens after the death of a process, is seen at the next start or never. */
export function isLossy(step: string): boolean {
  return /^(?:kill|store:)/.test(step);
}

/** The commands whose events were seen are in the history, in the order of their first events. */
function placeFaults({ history, seen, steps }: Given): readonly string[] {
  if (steps.some(({ text }) => isLossy(text))) return [];
  const commands = new Set(
    seen.flatMap((text) => {
      const [, type = '', id] = /^event: (\S+) .* by \S+ \((s-[\d-]+)\)/.exec(text) ?? [];
      return id === undefined || type === 'command.failed' ? [] : [id];
    }),
  );
  const [told, kept] = [
    [...commands].join(' '),
    history
      .map(({ id }) => id)
      .toReversed()
      .join(' '),
  ];
  return told === kept ? [] : [`the history has "${kept}", and the events are of "${told}"`];
}

/** An entry that was undone, and is not undone by an entry that was undone itself, says so. */
function cancelFaults({ history }: Given): readonly string[] {
  const byId = new Map(history.map((entry) => [entry.id, entry]));
  return history.flatMap(({ id, undone_by: by, undo }) => {
    if (by === undefined) return [];
    const undoing = byId.get(by);
    return [
      ...(undo === 'possible' ? [`${id} was undone by ${by}, and can be undone`] : []),
      ...(undoing?.undoes === id
        ? []
        : [`${id} was undone by ${by}, which undoes "${String(undoing?.undoes)}"`]),
      ...(undoing?.undone_by === undefined ? [] : [`${id} was undone by ${by}, which was undone itself`]),
    ];
  });
}

async function ask(
  { clock }: Stage,
  admin: Admin,
  method: string,
  target: string,
): Promise<{ readonly status: number; readonly content: unknown }> {
  const asked = admin.handle({ method, target, headers: {}, principal: { name: 'root' } });
  const answer = await clock.waitFor(asked);
  if (!answer.matched) return { status: 0, content: undefined };
  const { status, body } = answer.response;
  return { status, content: body === undefined ? undefined : await jsonOf(answer.response) };
}
