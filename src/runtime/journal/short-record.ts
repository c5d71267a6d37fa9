/**
 * Short records: of an update, a store gets only the settings that it changes. A reader takes the others from the
 * configuration: until a command ends, no other command changes its resources.
 */
import { changedBy, wholeUpdate, type ReversibleUpdate } from '../../core/update.ts';
import { eventTable, evolve, type AdminEvent, type Effect } from '../../resources/index.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { settingsAt, subjectOf } from './entry-fold.ts';
import type { Intent, Open } from './record.ts';

type UpdateEvent = Extract<AdminEvent, ReversibleUpdate<object>>;

type WithEffects = Pick<Intent, 'events' | 'effects'>;

/** The form of a record for a store. @internal */
export function shortRecord<R extends object>(record: R): R {
  const { events, effects } = record as { events?: readonly AdminEvent[]; effects?: readonly Effect[] };
  if (events === undefined) return record;
  const asking = events.filter(isAsking);
  const short = effects?.map((effect, at) => shortEffect(effect, asking[at]));
  return { ...record, events: events.map(shortEvent), ...(short && { effects: short }) };
}

function shortEvent(event: AdminEvent): AdminEvent {
  return isUpdate(event) ? ({ ...event, ...changedBy<object>(event) } as AdminEvent) : event;
}

/** What an update effect asks for is in its event. */
function shortEffect(effect: Effect, event: AdminEvent | undefined): Effect {
  if (!('before' in effect) || !isUpdate(event)) return effect;
  const { before, after, operations, ...rest } = effect;
  const isSame = before === event.before && after === event.after && operations === event.operations;
  return isSame ? (rest as Effect) : effect;
}

/**
 * A command with its events and effects as they were decided.
 *
 * @param snapshot - the configuration that the command is to change
 * @internal
 */
export function wholeCommand<I extends WithEffects>(command: Open<I>, snapshot: Snapshot): Open<I> {
  const { intent } = command;
  let now = snapshot;
  const events = intent.events.map((event) => {
    const whole = wholeEvent(event, now);
    now = evolve(now, [event]);
    return whole;
  });
  return { ...command, intent: { ...intent, events, effects: wholeEffects(intent.effects, events) } };
}

function wholeEvent(event: AdminEvent, snapshot: Snapshot): AdminEvent {
  const present = isUpdate(event) ? subjectOf(event, snapshot) : undefined;
  if (present === undefined) return event;
  return { ...event, ...wholeUpdate(settingsAt(event, present), event as UpdateEvent) } as AdminEvent;
}

function wholeEffects(effects: readonly Effect[], events: readonly AdminEvent[]): readonly Effect[] {
  const asking = events.filter(isAsking);
  return effects.map((effect, at) => {
    const event = asking[at];
    if ('before' in effect || !isUpdate(event)) return effect;
    const { before, after, operations } = event;
    return { ...effect, before, after, operations } as unknown as Effect;
  });
}

function isAsking({ type }: AdminEvent): boolean {
  return eventTable[type].effect !== undefined;
}

function isUpdate(event: AdminEvent | undefined): event is UpdateEvent {
  return event !== undefined && 'inverse' in event;
}
