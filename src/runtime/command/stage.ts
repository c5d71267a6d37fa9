/**
 * Stages: the events of a decision, each with its effect, cut into groups that settle together.
 */
import { decidedOn, type EventsAndEffects, type Context } from '../../core/decision.ts';
import { linkKey } from '../../core/link.ts';
import type { EntryEvent } from '../../resources/history.ts';
import { netOf } from '../journal/entry-event.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import {
  closings,
  effectBehind,
  effectTable,
  revert,
  sequence,
  type AdminEvent,
  type Effect,
} from '../../resources/index.ts';

/**
 * An event with its effect. An event that changes only the state of the library, such as `user.created`, has no effect.
 */
interface Stage {
  readonly event: AdminEvent;
  readonly effect?: Effect;
}

/** A stage with an effect. @internal */
export type ActingStage = Required<Stage>;

/** Events that settle together, as one revision. Answers and records call a group a part of its command. @internal */
export interface Group {
  readonly events: readonly AdminEvent[];
  /** Those of the events that have an effect. */
  readonly acting: readonly ActingStage[];
}

/**
 * Gives the groups of a decision in order, and their number. The first batch of its closing settles with what comes
 * before it. Each of the others is a group, which is read when its turn comes, and is empty if nothing of it is left.
 *
 * @param present - gives the snapshot at the time of each group: what has closed meanwhile is not closed again
 * @param idleOf - the idle times by which the closing selects
 * @internal
 */
export function groupsIn(
  { events, effects, closing }: EventsAndEffects<AdminEvent, Effect>,
  present: () => Snapshot,
  idleOf: Context['idleOf'],
): { readonly count: number; readonly groups: Iterable<Group> } {
  if (closing === undefined) {
    const groups = effects.length === 0 ? [{ events, acting: [] }] : groupsOf(events);
    return { count: groups.length, groups };
  }
  const { extentOf, batchAt, headOf } = closings[closing.what];
  // Not the present snapshot: a rule of the host may have reported since.
  const decided = decidedOn(closing) as Snapshot;
  const batch = (number: number): readonly AdminEvent[] =>
    [batchAt(number, closing, { decided, present: present(), idleOf }) ?? []].flat();
  // Also a batch of which nothing is left shows where the groups are cut.
  const head = headOf(closing);
  const [first = head] = batch(0);
  const early = cut([...events, first]).map((stages) =>
    groupOf(stages.filter(({ event }) => event !== head)),
  );
  const batches = Math.max(1, extentOf(closing, decided).batches);
  return { count: early.length + batches - 1, groups: inTurn() };

  function* inTurn(): Generator<Group> {
    yield* early;
    for (let number = 1; number < batches; number += 1) yield groupOf(batch(number).map(stageOf));
  }
}

/**
 * Cuts events into groups, after each irreversible effect and after each creation but that of a listener. A long
 * teardown therefore shows its progress, and other commands get turns between the groups. A creation settles before the
 * host can report anything about the created resource. A deletion settles before its name is used again, so that
 * recovery can tell the two resources apart. An event without an effect settles with the effect before it.
 *
 * @internal
 */
export function groupsOf(events: readonly AdminEvent[]): readonly Group[] {
  return cut(events).map(groupOf);
}

function groupOf(stages: readonly Stage[]): Group {
  return { events: stages.map(({ event }) => event), acting: stages.filter(isActing) };
}

function cut(events: readonly AdminEvent[]): readonly (readonly Stage[])[] {
  const groups: Stage[][] = [[]];
  let isComplete = false;
  // The aspects of what the group deletes.
  let freed = new Set<unknown>();
  for (const stage of inOrder(events.map(stageOf))) {
    const effect = isActing(stage) ? stage.effect : undefined;
    if (effect !== undefined && (isComplete || freed.has(aspectOf(effect)))) {
      groups.push([]);
      isComplete = false;
      freed = new Set();
    }
    groups.at(-1)?.push(stage);
    if (effect === undefined) continue;
    isComplete ||= isIrreversible(effect) || settlesFirst(effect);
    if (deletes(effect)) freed.add(aspectOf(effect));
  }
  return groups;
}

function stageOf(event: AdminEvent): Stage {
  const effect = effectBehind(event);
  return effect === undefined ? { event } : { event, effect };
}

/**
 * Puts events without effects last if there is a creation or deletion. If a group after that is refused, everything
 * that has settled must be taken back.
 */
function inOrder(stages: readonly Stage[]): readonly Stage[] {
  const acting = stages.filter(isActing);
  if (!acting.some(({ effect }) => settlesFirst(effect) || deletes(effect))) return stages;
  return [...acting, ...stages.filter((stage) => !isActing(stage))];
}

/** Whether an effect settles before what follows it: every creation, but that of a listener. @internal */
export function settlesFirst(effect: Effect): boolean {
  return rowOf(effect).settlesFirst === true;
}

/** Why the host must not be asked for an effect now; `undefined` if it may be. @internal */
export function obstacleTo(effect: Effect, snapshot: Snapshot): string | undefined {
  return rowOf(effect).obstacle?.(snapshot, effect);
}

/** Whether an effect deletes its resource. @internal */
export function deletes(effect: Effect): boolean {
  return rowOf(effect).deletes === true;
}

/**
 * Gives the groups that take settled events back, the last one first; `undefined` if reports of the host have made that
 * impossible. What an earlier life has taken back already stays so.
 *
 * @internal
 */
export function groupsTakingBack(
  settled: readonly AdminEvent[],
  snapshot: Snapshot,
  context: Context,
): readonly Group[] | undefined {
  const left = netOf(settled as readonly EntryEvent[]) as readonly AdminEvent[];
  const back = left.toReversed().map(revert);
  const decision = sequence(...back)(snapshot, context);
  if (decision.outcome === 'refused') return undefined;
  return decision.outcome === 'accepted' ? groupsOf(decision.events) : [];
}

/** Whether a stage has an effect. */
function isActing(stage: Stage): stage is ActingStage {
  return stage.effect !== undefined;
}

/** Whether a group has an effect that cannot be undone. @internal */
export function hasIrreversible({ acting }: Group): boolean {
  return acting.some(({ effect }) => isIrreversible(effect));
}

/** Whether an effect cannot be undone, such as closing sessions or flushing the logs. @internal */
export function isIrreversible(effect: Effect): boolean {
  return rowOf(effect) === irreversible;
}

/**
 * Gives the effect that undoes an effect; `undefined` if the effect stands even when the command fails.
 *
 * @throws TypeError for an irreversible effect
 * @internal
 */
export function inverseOf(effect: Effect): Effect | undefined {
  const { undo } = rowOf(effect);
  if (undo === undefined) throw new TypeError(`The effect "${effect.type}" cannot be undone`);
  return undo(effect);
}

/** Whether the undo of an effect makes a resource list another one. @internal */
export function undoLists(effect: Effect, link: string): boolean {
  const { to = {} } = (inverseOf(effect) ?? {}) as { readonly to?: object };
  const isIt = (each: unknown): boolean => typeof each === 'string' && linkKey(each) === linkKey(link);
  return Object.values(to).some((value) => Array.isArray(value) && value.some(isIt));
}

/**
 * Gives the aspect of a resource that an effect changes: for example the settings of a service, or whether it runs.
 *
 * An effect and its inverse change the same aspect. An irreversible effect shares its aspect with no other effect.
 *
 * @returns a value that is equal (`===`) for two effects on the same aspect
 * @internal
 */
export function aspectOf(effect: Effect): unknown {
  const { aspect } = rowOf(effect);
  return aspect === undefined ? effect : aspectKey(linkKey(effect.resource), aspect);
}

/** The key of an aspect of a resource, from the key of its link. @internal */
export function aspectKey(key: string, aspect: string): string {
  return `${key} ${aspect}`;
}

interface Reversible {
  readonly aspect: string;
  readonly settlesFirst?: true;
  readonly deletes?: true;
  readonly obstacle?: (snapshot: Snapshot, effect: Effect) => string | undefined;
  readonly undo: (effect: Effect) => Effect | undefined;
}

/** The row of an irreversible effect: there is nothing to say about its undo. */
const irreversible: Partial<Reversible> = {};

/** The row of a type takes effects of that type. The compiler cannot infer this from the index. */
function rowOf(effect: Effect): Partial<Reversible> {
  const row = effectTable[effect.type];
  return row === 'irreversible' ? irreversible : (row as Reversible);
}
