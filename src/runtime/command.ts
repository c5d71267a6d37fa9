/**
 * One command: the effects of a decision in order, taken back when the host refuses, settled when they are done.
 */
import type { Accepted } from '../core/decision.ts';
import { effectTable, eventTable, type Effect, type AdminEvent } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { carryOut, findOutAgain, type EffectOptions, type EffectOutcome } from './effect.ts';
import type { OpenCommand } from './history.ts';

/** What came of an command. @internal */
export interface Performed {
  /** What happened and stays, as it was recorded. */
  readonly events: readonly AdminEvent[];
  /** Why the host refused, and what became of the rest; left out when all was done. */
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
  /** Makes facts part of the snapshot; gives them as they were recorded. */
  readonly settle: (events: readonly AdminEvent[], place: Place) => Promise<readonly AdminEvent[]>;
}

/** A fact, with the effect that makes it true; facts about our own records need none. */
interface Stage {
  readonly event: AdminEvent;
  readonly effect?: Effect;
}

type Wishes = Pick<Accepted<Snapshot, AdminEvent, Effect>, 'events' | 'effects'>;

/** Brings a group to its end: nothing when it is done. */
type Finish = (group: readonly Stage[], options: CommandOptions) => Promise<RefusedGroup | undefined>;

/**
 * Performs a decision.
 *
 * Effects that can be taken back settle together, as one revision, once all are done. Each irreversible one settles
 * when it is done, so that a long teardown shows its progress and others get a turn in between.
 *
 * @internal
 */
export function perform(decision: Wishes, options: CommandOptions): Promise<Performed> {
  return performGroups(groupsOf(stagesOf(decision)), 0, performGroup, options);
}

/**
 * Finds out what became of an command that an earlier life of the gateway has begun, and settles it. What was not
 * done is not begun again: nobody waits for it any more.
 *
 * @internal
 */
export function resume({ intent, settled }: OpenCommand, options: CommandOptions): Promise<Performed> {
  return performGroups(groupsOf(stagesOf(intent)), settled, resumeGroup, options);
}

async function performGroups(
  groups: readonly (readonly Stage[])[],
  from: number,
  finish: Finish,
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
    const place: Place =
      done === groups.length - 1 ? { at: 'end' } : { at: 'part', done: done + 1, of: groups.length };
    events.push(
      ...(await options.settle(
        group.map(({ event }) => event),
        place,
      )),
    );
  }
  return { events };
}

/** Pairs each event with its effect: both are in the same order. */
function stagesOf({ events, effects }: Wishes): readonly Stage[] {
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
  readonly kept: readonly AdminEvent[];
}

async function performGroup(
  group: readonly Stage[],
  options: CommandOptions,
): Promise<RefusedGroup | undefined> {
  const done: Stage[] = [];
  for (const stage of group) {
    const { effect } = stage;
    const outcome =
      effect === undefined ? undefined : await keeping(done, options, () => carryOut(effect, options));
    if (outcome?.done === false) return { reason: outcome.reason, kept: await takeBack(done, options) };
    done.push(stage);
  }
  return undefined;
}

/** What was done only in part is taken back: whoever asked for all of it is gone. */
async function resumeGroup(
  group: readonly Stage[],
  options: CommandOptions,
): Promise<RefusedGroup | undefined> {
  const seen = new Set<Stage>();
  for (const stage of group) {
    if (stage.effect !== undefined && (await findOutAgain(stage.effect, options)).done) seen.add(stage);
  }
  const things = stagesByThing(group);
  if (things.every((stages) => stages.slice(-1).every((stage) => seen.has(stage)))) {
    // Where everything is as it was before, too, nothing shows that anything was done.
    if (await anyMoved(things, options)) return undefined;
    return { reason: 'it was not done.', kept: [] };
  }
  const traces = new Set(things.flatMap((stages) => tracesOf(stages, seen)));
  const kept = await takeBack(
    group.filter((stage) => traces.has(stage)),
    options,
  );
  return { reason: 'it was not done.', kept };
}

/** Of several effects on the same thing only the last one that was done can be seen: they are looked at together. */
function stagesByThing(group: readonly Stage[]): readonly (readonly Stage[])[] {
  const things = new Map<unknown, Stage[]>();
  for (const stage of group) {
    if (stage.effect === undefined) continue;
    const thing = thingOf(stage.effect);
    things.set(thing, [...(things.get(thing) ?? []), stage]);
  }
  return [...things.values()];
}

/** An effect and its inverse are about the same thing; what cannot be taken back is about itself. */
function thingOf(effect: Effect): unknown {
  if (isIrreversible(effect)) return effect;
  return [effect.resource, ...[effect.type, inverseOf(effect).type].sort()].join(' ');
}

/** Whether a thing is not as it was before: several effects on one may lead back to where they began. */
async function anyMoved(things: readonly (readonly Stage[])[], options: CommandOptions): Promise<boolean> {
  for (const [first, ...others] of things) {
    if (first?.effect === undefined) continue;
    if (others.length === 0) return true;
    if (!(await findOutAgain(inverseOf(first.effect), options)).done) return true;
  }
  return false;
}

/** What has to be taken back on one thing, given the stages whose effect is in place. */
function tracesOf(stages: readonly Stage[], seen: ReadonlySet<Stage>): readonly Stage[] {
  const [first] = stages;
  if (first?.effect === undefined || isIrreversible(first.effect)) return [];
  // What is started and stopped in turn is either as it was, or as the first stage made it.
  if (inverseOf(first.effect).type !== first.effect.type) return seen.has(first) ? [first] : [];
  return stages.slice(0, stages.findLastIndex((stage) => seen.has(stage)) + 1);
}

/**
 * Takes effects back, the last one first. What was done to a thing before something that stays, stays with it: to undo
 * it would lead to something that never was.
 *
 * @returns the facts that stay true because the host would not
 */
async function takeBack(done: readonly Stage[], options: CommandOptions): Promise<readonly AdminEvent[]> {
  const kept: Stage[] = [];
  const stays = (effect: Effect): boolean =>
    kept.some((stage) => stage.effect !== undefined && thingOf(stage.effect) === thingOf(effect));
  const left = [...done];
  for (let stage = left.pop(); stage !== undefined; stage = left.pop()) {
    if (stage.effect === undefined) continue;
    if (stays(stage.effect)) {
      kept.unshift(stage);
      continue;
    }
    const inverse = inverseOf(stage.effect);
    const outcome = await keeping([...left, ...kept], options, () => carryOut(inverse, options));
    if (!outcome.done) kept.unshift(stage);
  }
  return kept.map(({ event }) => event);
}

/** Waits for an outcome. When the interface closes before its outcome is known, what is true by then is settled. */
async function keeping(
  done: readonly Stage[],
  options: CommandOptions,
  outcome: () => Promise<EffectOutcome>,
): Promise<EffectOutcome> {
  try {
    return await outcome();
  } catch (error) {
    const events = done.filter((stage) => stage.effect !== undefined).map(({ event }) => event);
    await options.settle(events, { at: 'break' });
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
  const said = `The gateway refused: ${asSentence(reason)}`;
  if (kept.length > 0) {
    const what = kept.map(({ type, resource }) => `${type} of ${resource}`).join(', ');
    return `${said} What had been done before could not all be taken back: ${what}.`;
  }
  if (done > 0) return `${said} ${String(done)} of ${String(of)} parts were done before, and stay done.`;
  return `${said} Nothing was changed.`;
}

/** A reason that the host gives need not end as a sentence does, and others follow. */
function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
