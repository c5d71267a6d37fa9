/**
 * Recovery: what becomes of a command that an earlier life of the interface began and did not settle.
 *
 * The journal has its intent, so its effects may have been asked for, none, some or all of them. The host is asked with
 * `inspect` which of them are in place. Nobody waits for the command any more, so no effect is asked for again; the only
 * calls of `apply` are those that undo a part. The effects are looked at group by group (see `groupsOf`), from the first
 * group that has not settled, and aspect by aspect (see `aspectOf`): of several effects on one aspect only the last one
 * that was done can be seen.
 */
import { undo, settleGroups, type CommandOptions, type Performed, type RefusedGroup } from './command.ts';
import { findOutAgain } from './effect.ts';
import type { OpenCommand } from './history.ts';
import {
  aspectOf,
  groupsOf,
  inverseOf,
  isActing,
  isIrreversible,
  type ActingStage,
  type Group,
} from './stage.ts';

/** What the host sees of a group. */
type Finding =
  /** The last effect on each aspect is in place, and at least one aspect is not as it was before the command. */
  | 'done'
  /** The last effect on each aspect is in place, but the effects lead back to where each aspect was before the command. */
  | 'no trace'
  /** On at least one aspect, the last effect is not in place. */
  | 'not done';

/**
 * The table of cases. `settle`: the events of the group settle, and the next group is looked at. `fail`: the command ends
 * with `command.failed`. `undo`: what has left a trace is undone, the last effect first, and then the command fails; events
 * that the host refuses to undo settle with it.
 *
 * A host that does not say what is in place is asked again, with growing pauses. Until then the command is in flight with
 * an unknown outcome. When the interface closes first, the command stays open in the journal, for the next life.
 */
const cases: Readonly<Record<Finding, 'settle' | 'fail' | 'undo'>> = {
  done: 'settle',
  'no trace': 'fail',
  'not done': 'undo',
};

/** The effects of a group on one aspect, in order. */
type OnAspect = readonly [ActingStage, ...ActingStage[]];

/** How the effects on one aspect relate. */
type Relation =
  /** Closing or flushing: the only effect on its aspect. */
  | 'irreversible'
  /** Two states in turn, such as started and stopped. */
  | 'alternating'
  /** Each changes what the one before it left, such as settings. */
  | 'successive';

/** Which effects on one aspect have left a trace that has to be undone, given those that are in place. */
const traces: Readonly<
  Record<Relation, (stages: OnAspect, inPlace: ReadonlySet<ActingStage>) => readonly ActingStage[]>
> = {
  irreversible: () => [],
  // Either it is as it was before, or as the first effect made it.
  alternating: ([first], inPlace) => (inPlace.has(first) ? [first] : []),
  successive: (stages, inPlace) => stages.slice(0, stages.findLastIndex((stage) => inPlace.has(stage)) + 1),
};

/**
 * Finds out what became of a command of an earlier life, and settles it.
 *
 * @internal
 */
export function recover({ intent, settled }: OpenCommand, options: CommandOptions): Promise<Performed> {
  return settleGroups(groupsOf(intent), settled, recoverGroup, options);
}

async function recoverGroup(group: Group, options: CommandOptions): Promise<RefusedGroup | undefined> {
  const acting = group.filter(isActing);
  const inPlace = new Set<ActingStage>();
  for (const stage of acting) {
    if ((await findOutAgain(stage.effect, options)).done) inPlace.add(stage);
  }
  const aspects = byAspect(acting);
  const then = cases[await findingOf(aspects, inPlace, options)];
  if (then === 'settle') return undefined;
  const left = then === 'undo' ? tracesOf(aspects, inPlace) : [];
  const inOrder = acting.filter((stage) => left.includes(stage));
  return { reason: 'it was not done.', kept: await undo(inOrder, options) };
}

function byAspect(stages: readonly ActingStage[]): readonly OnAspect[] {
  const aspects = new Map<unknown, [ActingStage, ...ActingStage[]]>();
  for (const stage of stages) {
    const aspect = aspectOf(stage.effect);
    const before = aspects.get(aspect);
    if (before === undefined) aspects.set(aspect, [stage]);
    else before.push(stage);
  }
  return [...aspects.values()];
}

async function findingOf(
  aspects: readonly OnAspect[],
  inPlace: ReadonlySet<ActingStage>,
  options: CommandOptions,
): Promise<Finding> {
  if (!aspects.every((stages) => inPlace.has(stages.at(-1) ?? stages[0]))) return 'not done';
  for (const stages of aspects) if (await isMoved(stages, options)) return 'done';
  return 'no trace';
}

/** Whether an aspect is not as it was before the command, given that the last effect on it is in place. */
async function isMoved([first, ...others]: OnAspect, options: CommandOptions): Promise<boolean> {
  if (others.length === 0) return true;
  return !(await findOutAgain(inverseOf(first.effect), options)).done;
}

function tracesOf(aspects: readonly OnAspect[], inPlace: ReadonlySet<ActingStage>): readonly ActingStage[] {
  return aspects.flatMap((stages) => traces[relationOf(stages)](stages, inPlace));
}

function relationOf([{ effect }]: OnAspect): Relation {
  if (isIrreversible(effect)) return 'irreversible';
  return inverseOf(effect).type === effect.type ? 'successive' : 'alternating';
}
