/**
 * Stages: each event of a decision with the effect that makes it true, cut into groups that settle together.
 */
import type { Accepted } from '../core/decision.ts';
import { effectTable, eventTable, type AdminEvent, type Effect } from '../resources/index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** An event with its effect. An event about our own records needs none. @internal */
export interface Stage {
  readonly event: AdminEvent;
  readonly effect?: Effect;
}

/** A stage that asks the host for something. @internal */
export type ActingStage = Required<Stage>;

/** Stages that settle together, as one revision. @internal */
export type Group = readonly Stage[];

/**
 * Cuts a decision into groups: behind each irreversible effect, so that a long teardown shows its progress and others
 * get a turn in between. Events without an effect that follow the last irreversible effect settle with it.
 *
 * @internal
 */
export function groupsOf(
  decision: Pick<Accepted<Snapshot, AdminEvent, Effect>, 'events' | 'effects'>,
): readonly Group[] {
  const groups: Stage[][] = [[]];
  for (const stage of stagesOf(decision)) {
    const group = groups.at(-1) ?? [];
    const complete = group.some((each) => isActing(each) && isIrreversible(each.effect));
    if (complete && isActing(stage)) groups.push([stage]);
    else group.push(stage);
  }
  return groups;
}

/** Pairs each event with its effect: both are in the same order. */
function stagesOf({ events, effects }: Parameters<typeof groupsOf>[0]): readonly Stage[] {
  const left = effects.values();
  return events.map((event) => {
    if (eventTable[event.type].effect === undefined) return { event };
    const { value: effect } = left.next();
    return effect === undefined ? { event } : { event, effect };
  });
}

/** @internal */
export function isActing(stage: Stage): stage is ActingStage {
  return stage.effect !== undefined;
}

/** Whether nothing undoes an effect: something is closed, or written away. @internal */
export function isIrreversible(effect: Effect): boolean {
  return effectTable[effect.type] === 'irreversible';
}

/**
 * Gives the effect that undoes another one.
 *
 * @throws TypeError for an irreversible effect
 * @internal
 */
export function inverseOf(effect: Effect): Effect {
  // The row of an effect takes that very effect; the compiler cannot see it through the index.
  const inverse = effectTable[effect.type] as 'irreversible' | ((effect: Effect) => Effect);
  if (inverse === 'irreversible') throw new TypeError(`"${effect.type}" cannot be undone`);
  return inverse(effect);
}

/**
 * Says which aspect of a resource an effect changes, such as the settings of a service, or whether it runs. An effect and
 * its inverse change the same aspect. An irreversible effect shares its aspect with no other.
 *
 * @returns what is equal (`===`) for effects on the same aspect
 * @internal
 */
export function aspectOf(effect: Effect): unknown {
  if (isIrreversible(effect)) return effect;
  return [effect.resource, ...[effect.type, inverseOf(effect).type].sort()].join(' ');
}
