/**
 * Performs one command: asks the host for the effects of a decision in order, and settles the events. If the host
 * refuses an effect, the effects before it are undone.
 */
import type { Changes } from '../../core/decision.ts';
import type { AdminEvent, Effect } from '../../resources/index.ts';
import { carryOut } from './effect.ts';
import type { Flight, Place } from './flight.ts';
import {
  groupsIn,
  inverseOf,
  aspectOf,
  isActing,
  isIrreversible,
  obstacleTo,
  wayBack,
  type ActingStage,
  type Group,
  type Stage,
} from './stage.ts';

/** The result of a performed command. @internal */
export interface Performed {
  /** The settled events, as recorded. */
  readonly events: readonly AdminEvent[];
  /** Why the host refused, and which events stand anyway; left out if every effect was applied. */
  readonly refusal?: string;
  /** Whether a part was done before the host refused, and stays done. */
  readonly isPart?: true;
}

/** A group with an effect that was not applied. @internal */
export interface RefusedGroup {
  /** Why, in a sentence for the client. */
  readonly reason: string;
  /** Events that stand because the host refused to undo their effects. Usually empty. */
  readonly kept: readonly AdminEvent[];
}

/** Performs one group; gives `undefined` if every effect of the group was applied. @internal */
export type FinishGroup = (
  group: Group,
  flight: Flight,
  progress: Pick<Progress, 'done' | 'of'>,
) => Promise<RefusedGroup | undefined>;

/**
 * Performs a decision: asks the host for the effects, and settles the events group by group.
 *
 * @throws SearchEnded if the search for an outcome ends before the outcome is known. The group in flight stays open then:
 *   nothing of it is published, and the next life finds out the outcome
 * @internal
 */
export function perform(decision: Changes<AdminEvent, Effect>, flight: Flight): Promise<Performed> {
  const { count, make } = groupsIn(decision, flight.runtime.snapshot);
  return settleGroups(make(), { done: 0, of: count, rest: stoppedAfterUnknown }, performGroup, flight);
}

/** Where a command stands. @internal */
export interface Progress {
  /** The number of groups that have settled. */
  readonly done: number;
  /** The number of all groups. */
  readonly of: number;
  /** Why the groups that are not begun are left out, in a sentence for the client. */
  readonly rest: string;
}

const stoppedAfterUnknown =
  'The outcome of one part was unknown for a time. The gateway was not asked for the parts after it.';

/**
 * Finishes and settles groups in order. A refused group ends the command.
 *
 * A command whose outcome was announced as unknown begins no further group: the caller may have sent another command
 * meanwhile.
 *
 * @param groups - the groups to finish
 * @param progress - where the command stands before these groups
 * @param finish - performs a group, or finds out its outcome
 * @param flight - the command
 * @internal
 */
export async function settleGroups(
  groups: Iterable<Group>,
  progress: Progress,
  finish: FinishGroup,
  flight: Flight,
): Promise<Performed> {
  const { of, rest } = progress;
  let { done } = progress;
  const events: AdminEvent[] = [];
  // What can be taken back; `undefined` once something cannot.
  let settled: readonly Stage[] | undefined = [];
  const end = async (refused: RefusedGroup): Promise<Performed> => {
    const back = await takeBack(settled, of, flight);
    if (back.isWhole) done = 0;
    const kept = [...refused.kept, ...back.kept];
    const refusal = refusalText({ reason: refused.reason, kept }, { done, of, back });
    events.push(...back.events, ...(await flight.settle(kept, { at: 'end', refusal })));
    const isPart = done > 0 || kept.length > 0;
    return { events, refusal, ...(isPart ? { isPart } : {}) };
  };
  for (const group of groups) {
    // Each part of a long teardown has a turn of the event loop to itself, the first part too: it follows the decision.
    const isTeardown = group.length === 0 || group.some(isFinal);
    if (of > 1 && isTeardown) await flight.runtime.clock.sleep(0);
    const refused = await finish(group, flight, { done, of });
    if (refused !== undefined) return end(refused);
    done += 1;
    settled = group.some(isFinal) ? undefined : settled?.concat(group);
    const place: Place = done === of ? { at: 'end' } : { at: 'part', done, of };
    // A part that closes nothing needs no record, unless it ends the command.
    if (group.length > 0 || done === of) events.push(...(await flight.settle(eventsOf(group), place)));
    if (done < of && flight.isUnknown) return end({ reason: rest, kept: [] });
  }
  return done < of ? end({ reason: rest, kept: [] }) : { events };
}

function isFinal(stage: Stage): boolean {
  return isActing(stage) && isIrreversible(stage.effect);
}

/** What was taken back of a command. */
interface TakenBack {
  /** The events that take it back. */
  readonly events: readonly AdminEvent[];
  /** Events on the way back that stand because the host refused to undo their effects. */
  readonly kept: readonly AdminEvent[];
  /** Whether everything was taken back. */
  readonly isWhole: boolean;
}

/**
 * Takes back what has settled before a later part was refused: what a creation has made for the parts after it, and what a
 * deletion has taken away.
 *
 * @param of - the number of the parts of the command: the parts of the way back come after them
 */
async function takeBack(
  settled: readonly Stage[] | undefined,
  of: number,
  flight: Flight,
): Promise<TakenBack> {
  const events: AdminEvent[] = [];
  // The caller of an unknown command may have counted on what is there.
  if (settled === undefined || settled.length === 0 || flight.isUnknown)
    return { events, kept: [], isWhole: false };
  const { actor } = flight.command;
  const context = { now: flight.runtime.now(), ...(actor === undefined ? {} : { actor }) };
  const groups = wayBack(settled, flight.runtime.snapshot(), context);
  const all = of + groups.length + 1;
  for (const [index, group] of groups.entries()) {
    const refused = await performGroup(group, flight, { done: of + index, of: all });
    if (refused !== undefined) return { events, kept: refused.kept, isWhole: false };
    events.push(...(await flight.settle(eventsOf(group), { at: 'part', done: of + index + 1, of: all })));
  }
  return { events, kept: [], isWhole: groups.length > 0 };
}

/**
 * Asks for the effects of a group in order. If the host refuses an effect, the effects before it are undone; also if an
 * effect cannot be undone and the outcome of the command is unknown by then.
 */
async function performGroup(
  group: Group,
  flight: Flight,
  { done: part, of }: Pick<Progress, 'done' | 'of'>,
): Promise<RefusedGroup | undefined> {
  await flight.intend(group, part, of);
  const done: ActingStage[] = [];
  for (const stage of group.filter(isActing)) {
    if (flight.isUnknown && isIrreversible(stage.effect))
      return { reason: stoppedAfterUnknown, kept: await undo(done, flight) };
    const obstacle = obstacleTo(stage.effect, flight.runtime.snapshot());
    if (obstacle !== undefined) return { reason: obstacle, kept: await undo(done, flight) };
    flight.runtime.crossings.begin(flight.id, stage.effect);
    flight.countClosing(stage.effect);
    const outcome = await carryOut(stage.effect, flight);
    if (!outcome.done) return { reason: outcome.reason, kept: await undo(done, flight) };
    flight.runtime.crossings.done(stage.effect);
    done.push(stage);
  }
  return undefined;
}

/**
 * Undoes effects, the last one first.
 *
 * If a later effect on an aspect of a resource cannot be undone, earlier effects on that aspect are kept too; undoing
 * them would create a state that never existed.
 *
 * @returns the events that stand because the host refused to undo their effects
 * @internal
 */
export async function undo(done: readonly ActingStage[], flight: Flight): Promise<readonly AdminEvent[]> {
  const kept: ActingStage[] = [];
  const left = [...done];
  for (let stage = left.pop(); stage !== undefined; stage = left.pop()) {
    const { effect } = stage;
    const isKept = kept.some((each) => aspectOf(each.effect) === aspectOf(effect));
    const isUndone = !isKept && (await undoOne(effect, flight));
    if (!isUndone) kept.unshift(stage);
  }
  return eventsOf(kept);
}

/** Undoes one effect; tells whether the host did. */
async function undoOne(effect: Effect, flight: Flight): Promise<boolean> {
  const inverse = inverseOf(effect);
  if (inverse === undefined) return false;
  flight.runtime.crossings.begin(flight.id, inverse);
  const { done } = await carryOut(inverse, flight);
  if (done) flight.runtime.crossings.undone(inverse);
  return done;
}

/** The events of stages. @internal */
export function eventsOf(stages: Group): readonly AdminEvent[] {
  return stages.map(({ event }) => event);
}

function refusalText(
  { reason, kept }: RefusedGroup,
  { done, of, back }: Pick<Progress, 'done' | 'of'> & { readonly back: TakenBack },
): string {
  if (kept.length > 0) {
    const changes = kept.map(({ type, resource }) => `${type} of ${resource}`).join(', ');
    return `${reason} Some earlier changes stand, because the gateway refused to undo them: ${changes}.`;
  }
  if (done > 0 && back.events.length > 0)
    return `${reason} Only some of what was done before that could be taken back: the events say what.`;
  if (done > 0)
    return `${reason} ${String(done)} of ${String(of)} parts were done before that, and stay done.`;
  return `${reason} Nothing was changed.`;
}
