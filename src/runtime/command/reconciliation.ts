/**
 * Reconciliation: an abandoned command has not happened. The gateway is made as the interface shows it, whatever the
 * last call of the command has left there. The same holds for a call that ends when nobody waits for it any more.
 *
 * The call can have landed or not, or it was an undo, and later commands can have changed the same resources before or
 * after it. So the ways to what is shown are decided: as if the call had landed, and as if it had been taken back. Of
 * each way, the gateway is asked for what is not in place. No event of a command is folded or published: the interface
 * has shown all along what is wanted. What was closed stays closed.
 */
import { verbOf, type Change } from '../../core/change.ts';
import { linkKey, ownerOf } from '../../core/link.ts';
import type { Problem } from '../../problem.ts';
import type { Behind } from '../../resources/command.ts';
import {
  combineNamed,
  evolve,
  eventTable,
  followResources,
  namedResources,
  type AdminEvent,
  type Decision,
  type Effect,
  type Transition,
} from '../../resources/index.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { collectionOf, linkOf } from '../../snapshot/state.ts';
import type { Ground } from '../ground.ts';
import { withoutSessions } from '../journal/journal-state.ts';
import { endWithoutEvents } from '../journal/journal.ts';
import type { Performed } from './command.ts';
import { carryOut, inspect } from './effect.ts';
import { refusal, type Execution } from './execution.ts';
import type { Command, Flight } from './flight.ts';
import { Follower, type Task } from './follower.ts';
import { byAspect, lookBack } from './recovery.ts';
import {
  aspectKey,
  aspectOf,
  deletes,
  groupsOf,
  inverseOf,
  isIrreversible,
  settlesFirst,
  type ActingStage,
} from './stage.ts';
import type { CommandRequest } from './turn.ts';

/** What a command may have left at the gateway. @internal */
export interface Leftover {
  readonly command: Command;
  /** The effects of which calls may have landed. Of an abandoned command, those of the part in flight. */
  readonly effects: readonly Effect[];
  /** Where the command stands: on the list of the store, from an earlier life or this one, or nowhere. */
  readonly list: 'earlier' | 'own' | 'none';
}

/** What {@link Reconciliation} needs. @internal */
interface Around {
  readonly ground: Pick<Ground, 'clock' | 'journal' | 'onError' | 'onRecovered'>;
  readonly present: () => Snapshot;
  readonly execute: (request: CommandRequest) => Promise<Execution>;
}

/** Makes the gateway as the interface shows it. @internal */
export class Reconciliation {
  readonly #around: Around;
  readonly #follower: Follower;
  /** What is reconciled, by the keys of the tasks. */
  readonly #leftovers = new Map<string, Leftover>();
  #count = 0;
  /** What waits for the end of a call, by the id of its command: an abandoned one, or one that reconciles. */
  readonly #waiting = new Map<string, { readonly task: Task; readonly since: number }>();

  constructor(around: Around) {
    this.#around = around;
    const { clock, onError } = around.ground;
    this.#follower = new Follower({
      clock,
      attempt: (task) => this.#try(task),
      onStuck: (resource, problem) => {
        onError(new Error(notMade(resource, problem)));
      },
      onFollowed: ([key]) => {
        this.#leftovers.delete(key);
      },
    });
  }

  /** Where the gateway is not as the interface shows it, or may not be: a call of an abandoned command is running. */
  get behind(): readonly Behind[] {
    const hanging = [...this.#waiting.values()].filter(
      ({ task: [key] }) => this.#follower.find(key) === undefined,
    );
    return [
      ...hanging.map(({ task: [, resource], since }) => ({ resource, since, problem: notEnded })),
      ...this.#follower.behind.map(([, behind]) => behind),
    ];
  }

  /**
   * Whether a call that nobody waits for can put an effect of a command in place: a call on the same aspect that writes
   * one of its members, or a call that makes or deletes the resource. The calls of what a command reconciles itself
   * have ended.
   */
  hasLeftover(effect: Effect, commandId: string): boolean {
    if (this.#leftovers.size === 0 || isIrreversible(effect)) return false;
    const own = this.#waiting.get(commandId)?.task[0];
    const aspects = [aspectOf(effect), aspectKey(linkKey(ownerOf(effect.resource)), 'membership')];
    return [...this.#leftovers].some(
      ([key, { effects }]) =>
        key !== own && effects.some((each) => aspects.includes(aspectOf(each)) && meet(each, effect)),
    );
  }

  /** Reconciles at once. Resolves after the first try of each. */
  async begin(leftovers: readonly Leftover[]): Promise<void> {
    await this.#follower.note(leftovers.map((each) => this.#taskOf(each)))();
  }

  /** Takes a command in that was abandoned: its last call may be running. */
  add({ id, command, effects, hasCallEnded }: Flight): void {
    const task = this.#waiting.get(id)?.task ?? this.#taskOf({ command, effects, list: 'own' });
    // Who abandons a command that reconciles wants its resources.
    this.#follower.drop(task[0]);
    this.#wait(id, task);
    if (hasCallEnded) this.callEnded(id);
  }

  /** The last call of an abandoned command has ended: nothing else can land. */
  callEnded(id: string): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting !== undefined) void this.#follower.note([waiting.task])();
  }

  /** Tries at once what the gateway has not made. */
  retry(): void {
    this.#follower.retry();
  }

  close(): void {
    this.#follower.close();
  }

  #wait(id: string, task: Task): void {
    this.#waiting.set(id, { task, since: this.#around.ground.clock.now() });
  }

  #taskOf(leftover: Leftover): Task {
    this.#count += 1;
    const key = String(this.#count);
    this.#leftovers.set(key, leftover);
    return [key, leftover.command.resource];
  }

  /** Tries once. Gives the reason if the gateway is not as the interface shows it. Never rejects. */
  async #try(task: Task): Promise<Problem | undefined> {
    const leftover = this.#leftovers.get(task[0]);
    if (leftover === undefined) return undefined;
    let ways: readonly Decision[] = [];
    const transition: Transition = (snapshot, context) => {
      ways = waysTo(snapshot, leftover.effects, context.now);
      const refused = ways.find(({ outcome }) => outcome === 'refused');
      return refused ?? combineNamed(ways.map((way) => () => way))(snapshot, context);
    };
    const perform = (flight: Flight): Promise<Performed> => {
      this.#wait(flight.id, task);
      return makeAsShown(ways.flatMap(stagesOf), flight).then((performed) => {
        this.#waiting.delete(flight.id);
        // A service that had failed, and was started here, runs.
        flight.runtime.foldCrossing(flight.id);
        // The try has ended as unknown: the next one sees that all is as shown.
        if (flight.isUnknown && performed.refusal === undefined)
          void flight.left.then(() => this.#follower.note([task])());
        return performed;
      });
    };
    try {
      const execution = await this.#around.execute({ transition, isDecided: true, perform });
      if (execution.outcome === 'refused' || execution.outcome === 'unknown') return execution.problem;
      await this.#end(leftover);
      return undefined;
    } catch (error) {
      this.#around.ground.onError(error);
      return refusal('internal', 'The log of the gateway has the error.').problem;
    }
  }

  /** Takes a command off the list of the store. */
  async #end({ command, list }: Leftover): Promise<void> {
    if (list === 'none') return;
    const { ground, present } = this.#around;
    // If the store fails, the next start finds the command on the list again.
    await endWithoutEvents(ground.journal, command, present().revision);
    if (list === 'earlier') ground.onRecovered(command, refusal('effect-refused', notHappened));
  }
}

const notHappened =
  'The command was abandoned, so it has not happened: the gateway is as it was before, or as later commands made it.';

const { problem: notEnded } = refusal('outcome-unknown', 'Its last call has not ended.');

function notMade(resource: string, { detail }: Problem): string {
  return (
    `An earlier command may have changed ${resource} at the gateway, and the gateway was not made as the interface ` +
    `shows it. ${detail} The interface tries again, at the latest after a minute, and after each start.`
  );
}

/**
 * Decides the ways to what is shown: as if effects had been taken back, and as if they had landed. Of several effects
 * on one resource, such as a start and a stop, each can have been the last one to land.
 *
 * @param now - the present time, for the decisions
 */
function waysTo(shown: Snapshot, effects: readonly Effect[], now: number): readonly Decision[] {
  // Nothing is in use on paper: what the gateway refuses now is tried again.
  const goal = withoutSessions(shown);
  const acting = effects.filter((effect) => !isIrreversible(effect));
  const takenBack = acting.toReversed().flatMap((effect) => inverseOf(effect) ?? []);
  return [takenBack, ...landedOf(acting)].map((each) => {
    const left = leftBy(each, goal, now);
    return followResources(left, goal, { now }, differing(left, goal));
  });
}

/**
 * The effects that can have landed: of each resource all, all but the last one, and so on, down to the first one. What
 * came later can hide what came before: a start hides a drain, and a deletion all else, also that others list what it
 * deletes.
 */
function landedOf(effects: readonly Effect[]): readonly (readonly Effect[])[] {
  const counts = new Map<string, number>();
  let mostBefore = 0;
  const places = effects.map((effect) => {
    const key = linkKey(ownerOf(effect.resource));
    const count = counts.get(key) ?? 0;
    const place = 1 + (deletes(effect) ? Math.max(count, mostBefore) : count);
    counts.set(key, place);
    if (!deletes(effect)) mostBefore = Math.max(mostBefore, place);
    return place;
  });
  const most = places.reduce((one, other) => Math.max(one, other), 1);
  return Array.from({ length: most }, (_, left) =>
    effects.filter((_effect, at) => (places[at] ?? 0) <= most - left),
  );
}

/**
 * The state that effects leave, whatever else is there: what they create takes the place of what has its name. A
 * service that they let drain counts as stopped, because no other service drains in a snapshot.
 */
function leftBy(effects: readonly Effect[], snapshot: Snapshot, now: number): Snapshot {
  const made = effects.flatMap((effect): readonly Effect[] => {
    if (effect.type === 'service.update' && effect.to.drain !== undefined) {
      const { resource, service } = effect;
      const stop = { from: { state: 'started' }, to: { state: 'stopped' } } as const;
      return [{ type: 'service.stop', resource, service, ...stop }, effect];
    }
    const before = verbOf(effect) === 'create' ? inverseOf(effect) : undefined;
    return before === undefined ? [effect] : [before, effect];
  });
  return evolve(
    snapshot,
    made.map((effect) => eventOf(effect, now)),
  );
}

/** Whether two effects on one resource write a member in common. A creation and a deletion write all. */
function meet(one: Effect, other: Effect): boolean {
  if (verbOf(one) !== 'update' || verbOf(other) !== 'update') return true;
  const [names = [], others = []] = [one, other].map((effect) => {
    const { from, to } = effect as Partial<Change>;
    return Object.keys({ ...from, ...to });
  });
  return names.some((name) => others.includes(name));
}

/** The event that settles with an effect, as far as a fold reads it: an effect has what its event has. */
function eventOf(effect: Effect, at: number): AdminEvent {
  return { ...effect, type: eventTypes.get(effect.type), at } as unknown as AdminEvent;
}

const eventTypes: ReadonlyMap<string, string> = new Map(
  Object.entries(eventTable).flatMap(([type, { effect }]) => (effect === undefined ? [] : [[effect, type]])),
);

/** The links of the resources that are not the same object in two states. */
function differing(one: Snapshot, other: Snapshot): readonly string[] {
  return namedResources.flatMap((named) => {
    const [here, there] = [collectionOf(one, named), collectionOf(other, named)];
    return [...here.since(there), ...there.since(here)].map((thing) => linkOf(named.collection, thing));
  });
}

function stagesOf(way: Decision): readonly (readonly ActingStage[])[] {
  return way.outcome === 'accepted' ? [groupsOf(way.events).flatMap(({ acting }) => acting)] : [];
}

/**
 * Asks the gateway for what is not in place of each way. A way from where the gateway is not can be refused, and then
 * be at its end once the gateway has taken another one.
 */
async function makeAsShown(all: readonly (readonly ActingStage[])[], flight: Flight): Promise<Performed> {
  const refused: (readonly ActingStage[])[] = [];
  let refusal: string | undefined;
  for (const stages of all) {
    const reason = await makeMissing(stages, flight);
    if (reason !== undefined) refused.push(stages);
    refusal ??= reason;
  }
  if (refusal === undefined || refused.length === all.length)
    return { events: [], ...(refusal && { refusal }) };
  return makeAsShown(refused, flight);
}

/**
 * Asks for all effects on each resource that is not where the way ends; what is there as defined is not created again.
 * Gives why the gateway has not got there.
 */
async function makeMissing(stages: readonly ActingStage[], flight: Flight): Promise<string | undefined> {
  const ends = byAspect(stages).map((onAspect) => onAspect.at(-1) ?? onAspect[0]);
  const inPlace = await lookBack(ends, async ({ effect }) => {
    const answer = await inspect(effect, flight);
    return answer === undefined ? undefined : answer === 'in-place';
  });
  if (inPlace === undefined) return 'The gateway did not say what is in place.';
  const missing = new Set(
    ends.filter((end) => !inPlace.has(end)).map(({ effect }) => linkKey(effect.resource)),
  );
  const created = new Set(
    ends.filter((end) => inPlace.has(end) && settlesFirst(end.effect)).map(({ effect }) => aspectOf(effect)),
  );
  for (const { effect } of stages) {
    if (!missing.has(linkKey(effect.resource)) || created.has(aspectOf(effect))) continue;
    flight.runtime.crossings.begin(flight.id, effect);
    const outcome = await carryOut(effect, flight);
    if (!outcome.done) return outcome.reason;
    flight.runtime.crossings.appliedWithoutEvent(effect);
  }
  return undefined;
}
