/**
 * One operation: the effects of a decision in order, taken back when the host refuses, settled when they are done.
 */
import type { Accepted } from '../core/decision.ts';
import { effectTable, eventTable, type Effect, type Event } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { carryOut, type EffectOutcome, type Performance } from './effect.ts';

/** What came of an operation. @internal */
export interface Performed {
  /** What happened, as it was recorded. */
  readonly events: readonly Event[];
  /** Why the host refused, and what became of the rest; left out when all was done. */
  readonly refusal?: string;
}

/** @internal */
export interface OperationOptions extends Performance {
  /** Makes facts part of the snapshot; gives them as they were recorded. */
  readonly settle: (events: readonly Event[]) => readonly Event[];
}

/** A fact, with the effect that makes it true; facts about our own records need none. */
interface Stage {
  readonly event: Event;
  readonly effect?: Effect;
}

/**
 * Performs a decision.
 *
 * Effects that can be taken back settle together, as one revision, once all are done. Each irreversible one settles
 * when it is done, so that a long teardown shows its progress and others get a turn in between.
 *
 * @internal
 */
export async function perform(
  decision: Pick<Accepted<Snapshot, Event, Effect>, 'events' | 'effects'>,
  options: OperationOptions,
): Promise<Performed> {
  const groups = groupsOf(stagesOf(decision));
  const events: Event[] = [];
  for (const [done, group] of groups.entries()) {
    if (done > 0) await options.clock.sleep(0);
    const refused = await performGroup(group, options);
    if (refused === undefined) {
      events.push(...options.settle(group.map(({ event }) => event)));
      continue;
    }
    if (refused.kept.length > 0) options.settle(refused.kept);
    return { events, refusal: refusalText(refused, { done, of: groups.length }) };
  }
  return { events };
}

/** Pairs each event with its effect: both are in the same order. */
function stagesOf({
  events,
  effects,
}: Pick<Accepted<Snapshot, Event, Effect>, 'events' | 'effects'>): readonly Stage[] {
  const left = effects.values();
  return events.map((event) => {
    if (eventTable[event.type].effect === undefined) return { event };
    const { value: effect } = left.next();
    return effect === undefined ? { event } : { event, effect };
  });
}

/** Cuts behind each irreversible effect; facts that follow the last one settle with it. */
function groupsOf(stages: readonly Stage[]): readonly (readonly Stage[])[] {
  const groups: Stage[][] = [[]];
  for (const stage of stages) {
    const group = groups.at(-1) ?? [];
    const complete = group.some(({ effect }) => effect !== undefined && isIrreversible(effect));
    if (complete && stage.effect !== undefined) groups.push([stage]);
    else group.push(stage);
  }
  return groups;
}

function isIrreversible(effect: Effect): boolean {
  return effectTable[effect.type] === 'irreversible';
}

interface RefusedGroup {
  readonly reason: string;
  /** Facts whose effects could not be taken back, and so are true. */
  readonly kept: readonly Event[];
}

async function performGroup(
  group: readonly Stage[],
  options: OperationOptions,
): Promise<RefusedGroup | undefined> {
  const done: Stage[] = [];
  for (const stage of group) {
    const outcome = stage.effect === undefined ? undefined : await keeping(done, options, stage.effect);
    if (outcome?.done === false) return { reason: outcome.reason, kept: await takeBack(done, options) };
    done.push(stage);
  }
  return undefined;
}

/** Takes effects back, the last one first. @returns the facts that stay true because the host would not */
async function takeBack(done: readonly Stage[], options: OperationOptions): Promise<readonly Event[]> {
  const kept: Stage[] = [];
  const left = [...done];
  for (let stage = left.pop(); stage !== undefined; stage = left.pop()) {
    if (stage.effect === undefined) continue;
    const outcome = await keeping([...left, ...kept], options, inverseOf(stage.effect));
    if (!outcome.done) kept.unshift(stage);
  }
  return kept.map(({ event }) => event);
}

/** Carries an effect out. When the interface closes before its outcome is known, what is true by then is settled. */
async function keeping(
  done: readonly Stage[],
  options: OperationOptions,
  effect: Effect,
): Promise<EffectOutcome> {
  try {
    return await carryOut(effect, options);
  } catch (error) {
    const events = done.filter((stage) => stage.effect !== undefined).map(({ event }) => event);
    if (events.length > 0) options.settle(events);
    throw error;
  }
}

function inverseOf(effect: Effect): Effect {
  // The row of an effect takes that very effect; the compiler cannot see it through the index.
  const inverse = effectTable[effect.type] as 'irreversible' | ((effect: Effect) => Effect);
  if (inverse === 'irreversible') throw new TypeError(`"${effect.type}" cannot be taken back`);
  return inverse(effect);
}

function refusalText(
  { reason, kept }: RefusedGroup,
  { done, of }: { readonly done: number; readonly of: number },
): string {
  const said = `The gateway refused: ${reason}`;
  if (kept.length > 0) {
    const what = kept.map(({ type, resource }) => `${type} of ${resource}`).join(', ');
    return `${said} What had been done before could not all be taken back: ${what}.`;
  }
  if (done > 0) return `${said} ${String(done)} of ${String(of)} parts were done before, and stay done.`;
  return `${said} Nothing was changed.`;
}
