/**
 * Performs one command: asks the host for the effects of a decision in order, and settles the events. If the host
 * refuses an effect, the effects of its group before it are undone, and the groups that have settled are taken back.
 */
import type { EventsAndEffects } from '../../core/decision.ts';
import type { AdminEvent, Effect } from '../../resources/index.ts';
import { carryOut } from './effect.ts';
import type { Flight, PartOrEnd, Progress } from './flight.ts';
import {
  deletes,
  groupsIn,
  groupsTakingBack,
  hasIrreversible,
  inverseOf,
  isIrreversible,
  obstacleTo,
  undoLists,
  type ActingStage,
  type Group,
} from './stage.ts';

/** The result of a performed command. @internal */
export interface Performed {
  /** The settled events, as recorded. */
  readonly events: readonly AdminEvent[];
  /** Why the host refused, and which events stand anyway; left out if every effect was applied. */
  readonly refusal?: string;
  /** Whether a change that was made before the refusal stays. */
  readonly isPartlyDone?: true;
}

/** A group with an effect that was not applied. @internal */
export interface RefusedGroup {
  /** Why, in a sentence for the client. */
  readonly reason: string;
  /** Events that stand because the host refused to undo their effects. Usually empty. */
  readonly remaining: readonly AdminEvent[];
}

/** The groups of a command that are not settled yet. @internal */
export interface Work {
  readonly groups: Iterable<Group>;
  /**
   * Performs a group, or finds out its outcome; gives `undefined` if every effect of the group was applied. With
   * `waits`, groups have settled that can be taken back: then the command goes on once the store answers.
   */
  readonly finish: (group: Group, progress: Progress, waits: boolean) => Promise<RefusedGroup | undefined>;
  /** Why the groups that are not begun are left out, in a sentence for the client. */
  readonly rest: string;
}

/**
 * Performs a decision: asks the host for the effects, and settles the events group by group.
 *
 * @throws SearchEnded if the search for an outcome ends before the outcome is known. The group in flight stays open
 *   then: nothing of it is published, and the next life finds out the outcome
 * @internal
 */
export function perform(decision: EventsAndEffects<AdminEvent, Effect>, flight: Flight): Promise<Performed> {
  const { present, telemetry } = flight.runtime;
  const { count, groups } = groupsIn(decision, present, telemetry?.idle);
  const finish: Work['finish'] = async (group, progress, waits) => {
    await flight.intend(group, progress, waits);
    // A node of a fleet can stand still here for so long that the others end the command. Nothing looks at that before
    // the gateway is asked, because a node can also stand still in the call. The settlement is fenced, and taken back.
    return performGroup(group, flight);
  };
  const work = { groups, finish, rest: stoppedAfterUnknown };
  return settleGroups(work, { done: 0, of: count }, flight, []);
}

/** The largest number of creations in one turn of the event loop. */
const mostInTurn = 16;

const stoppedAfterUnknown =
  'The outcome of one part was unknown for a time. The gateway was not asked for the parts after it.';

/**
 * Finishes and settles groups in order. A refused group ends the command.
 *
 * A command whose outcome was announced as unknown goes on when the outcome is known: no other command can use its
 * resources meanwhile. Only what cannot be undone is not begun any more.
 *
 * @param progress - where the command stands before these groups
 * @param earlier - the events of an earlier life that can be taken back; `undefined` after one that cannot
 * @internal
 */
export async function settleGroups(
  { groups, finish, rest }: Work,
  { done: before, of }: Progress,
  flight: Flight,
  earlier: readonly AdminEvent[] | undefined,
): Promise<Performed> {
  let done = before;
  const events: AdminEvent[] = [];
  // `undefined` after an event that cannot be taken back.
  let revertible = earlier && [...earlier];
  const end = async (refused: RefusedGroup): Promise<Performed> => {
    const back = await takeBack(revertible, refused.remaining, { done, of }, flight);
    const { remaining } = back;
    const left = back.isWhole ? 0 : done;
    const refusal = refusalText({ reason: refused.reason, remaining }, { done: left, of, back });
    events.push(...back.events, ...(await flight.settle(back.unsettled, { at: 'end', refusal })));
    const isPartlyDone = left > 0 || remaining.length > 0;
    return { events, refusal, ...(isPartlyDone ? { isPartlyDone } : {}) };
  };
  for (const group of groups) {
    const isFinal = hasIrreversible(group);
    // Each group of a long teardown has a turn of the event loop to itself, and a few creations share one. The first
    // group follows the decision.
    const needsTurn = isFinal || group.events.length === 0 || done % mostInTurn === mostInTurn - 1;
    if (of > 1 && needsTurn) await flight.runtime.clock.sleep(0);
    const waits = revertible !== undefined && revertible.length > 0;
    const refused = await finish(group, { done, of }, waits);
    if (refused !== undefined) return end(refused);
    done += 1;
    if (isFinal) revertible = undefined;
    else revertible?.push(...group.events);
    const which: PartOrEnd = done === of ? { at: 'end' } : { at: 'group', done, of };
    // A group that closes nothing needs no record, unless it ends the command.
    if (group.events.length > 0 || done === of) events.push(...(await flight.settle(group.events, which)));
  }
  return done < of ? end({ reason: rest, remaining: [] }) : { events };
}

/** What was taken back of a command. */
interface TakenBack {
  /** The settled events: those that take it back, and those that stand. */
  readonly events: readonly AdminEvent[];
  /** Events that stand because the host refused to undo their effects. */
  readonly remaining: readonly AdminEvent[];
  /** The events of `remaining` that are not settled yet. */
  readonly unsettled: readonly AdminEvent[];
  /** Whether everything that had settled was taken back. */
  readonly isWhole: boolean;
}

/**
 * Takes back what has settled of a command whose later group was refused, or was not begun, such as a creation.
 *
 * @param remaining - the events of the refused group that stand. They settle before the way back begins: its intents
 *   replace that of the group, and a later life looks at the last intent alone
 * @param of - the number of the groups of the command: in the records, the groups of the way back come after them
 */
async function takeBack(
  revertible: readonly AdminEvent[] | undefined,
  remaining: readonly AdminEvent[],
  { done, of }: Progress,
  flight: Flight,
): Promise<TakenBack> {
  const untouched = { events: [], remaining, unsettled: remaining, isWhole: false };
  if (revertible === undefined || revertible.length === 0) return untouched;
  const events: AdminEvent[] = [];
  if (remaining.length > 0)
    events.push(...(await flight.settle(remaining, { at: 'group', done: done + 1, of })));
  const groups = groupsBack(revertible, flight);
  if (groups === undefined) return { events, remaining, unsettled: [], isWhole: false };
  // One more than there are: a later life that finishes the last of them must still end the command as refused.
  const all = of + groups.length + 1;
  for (const [index, group] of groups.entries()) {
    const progress = { done, of, takingBack: { part: of + index, of: all } };
    await flight.intend(group, progress, true);
    const refused = await performGroup(group, flight);
    if (refused !== undefined)
      return {
        events,
        remaining: [...remaining, ...refused.remaining],
        unsettled: refused.remaining,
        isWhole: false,
      };
    events.push(...(await flight.settle(group.events, { at: 'group', ...progress })));
  }
  return { events, remaining, unsettled: [], isWhole: true };
}

function groupsBack(settled: readonly AdminEvent[], flight: Flight): readonly Group[] | undefined {
  const { actor } = flight.command;
  const context = { now: flight.runtime.clock.now(), ...(actor === undefined ? {} : { actor }) };
  return groupsTakingBack(settled, flight.runtime.present(), context);
}

/**
 * Asks for the effects of a group in order. If the host refuses an effect, the effects before it are undone; also if an
 * effect cannot be undone and the outcome of the command is unknown by then.
 */
async function performGroup({ acting }: Group, flight: Flight): Promise<RefusedGroup | undefined> {
  const done: ActingStage[] = [];
  for (const stage of acting) {
    if (flight.isUnknown && isIrreversible(stage.effect))
      return { reason: stoppedAfterUnknown, remaining: await undo(done, flight) };
    const obstacle = obstacleTo(stage.effect, flight.runtime.present());
    if (obstacle !== undefined) return { reason: obstacle, remaining: await undo(done, flight) };
    flight.runtime.crossings.begin(flight.id, stage.effect);
    flight.countClosing(stage.effect);
    const outcome = await carryOut(stage.effect, flight);
    if (!outcome.done) return { reason: outcome.reason, remaining: await undo(done, flight) };
    flight.runtime.crossings.done(stage.effect);
    done.push(stage);
  }
  return undefined;
}

/**
 * Undoes effects, the last one first.
 *
 * If a later effect on a resource cannot be undone, earlier effects on that resource stay too; undoing them would
 * create a state that never existed, such as a started service that drains. So do effects whose undo lists a
 * resource that stays deleted: nothing may link to what is gone.
 *
 * @returns the events that stand because the host refused to undo their effects
 * @internal
 */
export async function undo(done: readonly ActingStage[], flight: Flight): Promise<readonly AdminEvent[]> {
  const remaining: ActingStage[] = [];
  const left = [...done];
  for (let stage = left.pop(); stage !== undefined; stage = left.pop()) {
    const { effect } = stage;
    const isKept = remaining.some(
      (each) =>
        each.effect.resource === effect.resource ||
        (deletes(each.effect) && undoLists(effect, each.effect.resource)),
    );
    const isUndone = !isKept && (await undoOne(effect, flight));
    if (!isUndone) remaining.unshift(stage);
  }
  return remaining.map(({ event }) => event);
}

/** Undoes one effect; tells whether the host did. */
async function undoOne(effect: Effect, flight: Flight): Promise<boolean> {
  const inverse = inverseOf(effect);
  if (inverse === undefined) return false;
  flight.runtime.crossings.begin(flight.id, inverse);
  const { done } = await carryOut(inverse, flight);
  if (done) flight.runtime.crossings.appliedWithoutEvent(inverse);
  return done;
}

function refusalText(
  { reason, remaining }: RefusedGroup,
  { done, of, back }: Progress & { readonly back: TakenBack },
): string {
  if (remaining.length > 0) {
    const changes = remaining.map(({ type, resource }) => `${type} of ${resource}`).join(', ');
    return `${reason} Some earlier changes stand, because the gateway refused to undo them: ${changes}.`;
  }
  if (done > 0 && back.events.length > 0)
    return `${reason} Only some of what was done before that could be taken back: the events say what.`;
  if (done > 0)
    return `${reason} ${String(done)} of ${String(of)} parts were done before that, and stay done.`;
  return `${reason} Nothing was changed.`;
}
