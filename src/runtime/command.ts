/**
 * One command: the effects of a decision in order, undone when the host refuses one, settled when they are done.
 */
import type { Accepted } from '../core/decision.ts';
import type { AdminEvent, Effect } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { carryOut, type EffectOptions, type EffectOutcome } from './effect.ts';
import { aspectOf, groupsOf, inverseOf, isActing, type ActingStage, type Group } from './stage.ts';

/** What a command came to. @internal */
export interface Performed {
  /** Events that happened and stand, as they were recorded. */
  readonly events: readonly AdminEvent[];
  /** Why the host refused, and which part stands all the same; left out when all was done. */
  readonly refusal?: string;
}

/** Where in its command a settlement stands. @internal */
export type Place =
  /** Others follow. */
  | { readonly at: 'part'; readonly done: number; readonly of: number }
  /** The command ends here; `refusal` when the host refused. */
  | { readonly at: 'end'; readonly refusal?: string }
  /** The interface closes before the outcome of the rest is known. */
  | { readonly at: 'break' };

/** @internal */
export interface CommandOptions extends EffectOptions {
  /** Makes events part of the snapshot; gives them as they were recorded. */
  readonly settle: (events: readonly AdminEvent[], place: Place) => Promise<readonly AdminEvent[]>;
}

/** A group that was not done. @internal */
export interface RefusedGroup {
  readonly reason: string;
  /** Events that stand because the host refused to undo their effects. */
  readonly kept: readonly AdminEvent[];
}

/** Brings a group to its end; gives `undefined` when all of it is done. @internal */
export type FinishGroup = (group: Group, options: CommandOptions) => Promise<RefusedGroup | undefined>;

/**
 * Performs a decision: asks the host for the effects, and settles the events group by group.
 *
 * @internal
 */
export function perform(
  decision: Pick<Accepted<Snapshot, AdminEvent, Effect>, 'events' | 'effects'>,
  options: CommandOptions,
): Promise<Performed> {
  return settleGroups(groupsOf(decision), 0, performGroup, options);
}

/**
 * Brings groups to their end and settles each. The first group that is not done ends the command.
 *
 * @param from - how many groups have settled before
 * @internal
 */
export async function settleGroups(
  groups: readonly Group[],
  from: number,
  finish: FinishGroup,
  options: CommandOptions,
): Promise<Performed> {
  const events: AdminEvent[] = [];
  for (const [done, group] of groups.entries()) {
    if (done < from) continue;
    if (done > from) await options.clock.sleep(0);
    const refused = await finish(group, options);
    if (refused !== undefined) {
      const refusal = refusalText(refused, { done, of: groups.length });
      events.push(...(await options.settle(refused.kept, { at: 'end', refusal })));
      return { events, refusal };
    }
    const isLast = done === groups.length - 1;
    const place: Place = isLast ? { at: 'end' } : { at: 'part', done: done + 1, of: groups.length };
    events.push(...(await options.settle(eventsOf(group), place)));
  }
  return { events };
}

/** Asks for the effects of a group in order. When the host refuses one, those before it are undone. */
async function performGroup(group: Group, options: CommandOptions): Promise<RefusedGroup | undefined> {
  const done: ActingStage[] = [];
  for (const stage of group.filter(isActing)) {
    const outcome = await orSettle(done, options, () => carryOut(stage.effect, options));
    if (!outcome.done) return { reason: outcome.reason, kept: await undo(done, options) };
    done.push(stage);
  }
  return undefined;
}

/**
 * Undoes effects, the last one first. If a later effect on an aspect of a resource cannot be undone, the earlier ones on
 * it are kept too: undoing them would create a state that never existed.
 *
 * @returns the events that stand because the host refused
 * @internal
 */
export async function undo(
  done: readonly ActingStage[],
  options: CommandOptions,
): Promise<readonly AdminEvent[]> {
  const kept: ActingStage[] = [];
  const left = [...done];
  for (let stage = left.pop(); stage !== undefined; stage = left.pop()) {
    const { effect } = stage;
    const isKept = kept.some((each) => aspectOf(each.effect) === aspectOf(effect));
    const isUndone = !isKept && (await undoOne(effect, [...left, ...kept], options));
    if (!isUndone) kept.unshift(stage);
  }
  return eventsOf(kept);
}

/** @param others - what stands when the interface closes before the outcome is known */
async function undoOne(
  effect: Effect,
  others: readonly ActingStage[],
  options: CommandOptions,
): Promise<boolean> {
  const inverse = inverseOf(effect);
  return (await orSettle(others, options, () => carryOut(inverse, options))).done;
}

/** Waits for an outcome. When the interface closes before it is known, the stages that are done by then settle. */
async function orSettle(
  done: readonly ActingStage[],
  options: CommandOptions,
  outcome: () => Promise<EffectOutcome>,
): Promise<EffectOutcome> {
  try {
    return await outcome();
  } catch (error) {
    await options.settle(eventsOf(done), { at: 'break' });
    throw error;
  }
}

function eventsOf(stages: Group): readonly AdminEvent[] {
  return stages.map(({ event }) => event);
}

function refusalText(
  { reason, kept }: RefusedGroup,
  { done, of }: { readonly done: number; readonly of: number },
): string {
  const said = `The gateway refused: ${asSentence(reason)}`;
  if (kept.length > 0) {
    const what = kept.map(({ type, resource }) => `${type} of ${resource}`).join(', ');
    return `${said} What had been done before could not all be taken back: ${what}.`;
  }
  if (done > 0) return `${said} ${String(done)} of ${String(of)} parts were done before, and stay done.`;
  return `${said} Nothing was changed.`;
}

/** The reason that a host gives need not end as a sentence does, and others follow. */
function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
