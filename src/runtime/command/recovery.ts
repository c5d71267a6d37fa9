/**
 * Recovery: finds out the outcome of a command that an earlier life started and did not settle.
 *
 * The journal has the intent of the command, so the earlier life may have asked the host for some, all or none of the
 * effects. The host is asked with `inspect` which effects are in place. No effect is applied again, because no client
 * waits for the command any more; `apply` is called only to undo effects.
 *
 * Only the group in flight is inspected (see `groupsOf`): the groups after it were never asked for. Within the group,
 * effects are compared per aspect (see `aspectOf`), because `inspect` can see only the last effect on an aspect.
 */
import { ownerOf } from '../../core/link.ts';
import { undo, settleGroups, type Performed, type RefusedGroup, type Work } from './command.ts';
import { findOutAgain } from './effect.ts';
import type { Flight } from './flight.ts';
import type { OpenCommand } from '../journal/record.ts';
import {
  aspectOf,
  deletes,
  groupsOf,
  inverseOf,
  isIrreversible,
  type ActingStage,
  type Group,
} from './stage.ts';

/** The state of a group, as the host sees it. */
type Finding =
  /** The last effect on each aspect is in place, and at least one aspect differs from its state before the command. */
  | 'done'
  /** The last effect on each aspect is in place, but every aspect is also as it was before the command. */
  | 'no trace'
  /** On at least one aspect, the last effect is not in place. */
  | 'not done';

/**
 * The table of cases.
 *
 * - `settle`: the events of the group settle. If groups are left, the command then ends with `command.failed`.
 * - `fail`: the command ends with `command.failed`.
 * - `undo`: effects that left a trace are undone, the last one first. Then the command ends with `command.failed`.
 *   Events stand if the host refuses to undo their effects.
 *
 * A command that ends with `command.failed` takes its settled groups back, if each of them can be taken back:
 * `takeBack` in `command.ts`.
 *
 * A host that does not answer is asked again, with growing pauses. Until it answers, the command is in flight with an
 * unknown outcome. If the interface closes first, the command stays open in the journal for the next life.
 */
const cases: Readonly<Record<Finding, 'settle' | 'fail' | 'undo'>> = {
  done: 'settle',
  'no trace': 'fail',
  'not done': 'undo',
};

/** The effects of a group on one aspect, in order. */
type OnAspect = readonly [ActingStage, ...ActingStage[]];

/** The relation between the effects on one aspect. */
type Relation =
  /** Closing or flushing: always the only effect on its aspect. */
  | 'irreversible'
  /** The effects switch between two states, such as started and stopped. */
  | 'alternating'
  /** Each effect changes the result of the effect before it, such as settings. */
  | 'successive';

/** Gives the effects on one aspect that must be undone, from the effects that are in place. */
const traces: Readonly<
  Record<Relation, (stages: OnAspect, inPlace: ReadonlySet<ActingStage>) => readonly ActingStage[]>
> = {
  irreversible: () => [],
  // The aspect is either in its original state, or in the state that the first change made.
  alternating(stages, inPlace) {
    const change = firstChange(stages);
    return inPlace.has(change) ? [change] : [];
  },
  successive: (stages, inPlace) => stages.slice(0, stages.findLastIndex((stage) => inPlace.has(stage)) + 1),
};

/**
 * Finds out the outcome of a command from an earlier life, and settles the command.
 *
 * @throws SearchEnded if the search ends before the outcome is known
 * @internal
 */
export function recover({ intent, settled, done: earlier }: OpenCommand, flight: Flight): Promise<Performed> {
  const inFlight = settled === intent.part ? groupsOf(intent.events) : [];
  const finish: Work['finish'] = (group) => recoverGroup(group, flight);
  const work = { groups: inFlight, finish, rest: ended };
  // Without a last settlement, not every group is done. If all have settled, the last one was refused, and those of its
  // events that stand were settled by `takeBack`.
  const done = Math.min(settled, intent.of - 1);
  return settleGroups(work, { done, of: intent.of }, flight, earlier);
}

const ended =
  'The process ended before the command did. The gateway may not have been asked for the remaining parts.';

const interrupted =
  'The process ended before the change was confirmed. After the restart, the change was not completely in place.';

async function recoverGroup({ acting }: Group, flight: Flight): Promise<RefusedGroup | undefined> {
  const look = async ({ effect }: ActingStage): Promise<boolean> => (await findOutAgain(effect, flight)).done;
  const inPlace = (await lookBack(acting, look)) ?? new Set();
  const aspects = byAspect(acting);
  const then = cases[await findingOf(aspects, inPlace, flight)];
  if (then === 'settle') return undefined;
  const left = then === 'undo' ? tracesOf(aspects, inPlace) : [];
  const inOrder = acting.filter((stage) => left.includes(stage));
  return { reason: interrupted, remaining: await undo(inOrder, flight) };
}

/**
 * Gives the stages whose effects are in place; `undefined` if the host does not say. Deletions are looked at first, the
 * last one first: nothing can be seen of a deleted resource, and its deletion came after all that was done to it.
 *
 * @internal
 */
export async function lookBack(
  stages: readonly ActingStage[],
  look: (stage: ActingStage) => Promise<boolean | undefined>,
): Promise<ReadonlySet<ActingStage> | undefined> {
  const inPlace = new Set<ActingStage>();
  const deleted = new Set<string>();
  const deletions = stages.filter(({ effect }) => deletes(effect)).toReversed();
  for (const stage of new Set([...deletions, ...stages])) {
    const { resource } = stage.effect;
    const isSeen = deleted.has(resource) || deleted.has(ownerOf(resource)) || (await look(stage));
    if (isSeen === undefined) return undefined;
    if (!isSeen) continue;
    inPlace.add(stage);
    if (deletes(stage.effect)) deleted.add(resource);
  }
  return inPlace;
}

/** The effects on each aspect, in order. @internal */
export function byAspect(stages: readonly ActingStage[]): readonly OnAspect[] {
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
  flight: Flight,
): Promise<Finding> {
  if (!aspects.every((stages) => inPlace.has(stages.at(-1) ?? stages[0]))) return 'not done';
  if (aspects.some((stages) => stages.length === 1)) return 'done';
  for (const stages of aspects) if (await isMoved(stages, flight)) return 'done';
  return 'no trace';
}

/**
 * Whether an aspect with several effects differs from its state before the command. The last effect must be in place.
 */
async function isMoved(stages: OnAspect, flight: Flight): Promise<boolean> {
  const inverse = inverseOf(firstChange(stages).effect);
  return inverse === undefined || !(await findOutAgain(inverse, flight)).done;
}

/** The first effect that changes what is wanted. A start of a failed service changes nothing, and has no inverse. */
function firstChange(stages: OnAspect): ActingStage {
  return stages.find(({ effect }) => inverseOf(effect) !== undefined) ?? stages[0];
}

function tracesOf(aspects: readonly OnAspect[], inPlace: ReadonlySet<ActingStage>): readonly ActingStage[] {
  return aspects.flatMap((stages) => traces[relationOf(stages)](stages, inPlace));
}

function relationOf([{ effect }]: OnAspect): Relation {
  if (isIrreversible(effect)) return 'irreversible';
  return inverseOf(effect)?.type === effect.type ? 'successive' : 'alternating';
}
