/**
 * Records: the shapes of what a store contains about commands. The format is public API: later versions must read it.
 * What versions before 0.1 have written is refused.
 */
import * as z from 'zod/mini';

import { verbOf } from '../../core/change.ts';
import { isArray, isObject, type Json } from '../../json/value.ts';
import { eventTable, type AdminEvent } from '../../resources/index.ts';

/** The shape of a revision, and of a number of things. @internal */
export const natural = z.number().check(z.int(), z.gte(0));

const eventList = z.custom<readonly AdminEvent[]>(areEvents);

/** The members of an intent: a command, or a part of one, is about to ask the host for effects. @internal */
export const intentMembers = {
  type: z.literal('intent'),
  /** Id of the command. */
  command: z.string(),
  /**
   * Links of the resources that no other command may use until the command is settled. Empty if an earlier intent of
   * the command has them.
   */
  resources: z.readonly(z.array(z.string())),
  /**
   * The part of the command, from 0 on. Each part with effects has an intent. Most commands have one part. A long
   * teardown has several, and so have some commands that create or delete.
   */
  part: natural,
  /** The number of parts. */
  of: natural,
  events: eventList,
};

/** The members of a settlement: a command, or a part of one, has ended. @internal */
export const settlementMembers = {
  type: z.literal('settlement'),
  /** Id of the command. */
  command: z.string(),
  /** The events that happened; empty if nothing happened. */
  events: eventList,
  /** Whether the command ends here; false for each part but the last one. */
  last: z.boolean(),
};

const intentShape = z.object(intentMembers).check(z.refine(isWhole));

/** The records of one interface, by type. @internal */
export const recordShapes = {
  intent: intentShape,
  /** `revision` is that of the snapshot when the record was written. The events make a later revision. */
  settlement: z.object({ ...settlementMembers, revision: natural }),
  /** A command of unknown outcome was abandoned: its resources are free, and are made as they are shown. */
  abandonment: z.object({ type: z.literal('abandonment'), command: z.string() }),
};

type RecordShapes = typeof recordShapes;

/** A command, or a part of one, is about to ask the host for effects. @internal */
export type Intent = Readonly<z.infer<typeof intentShape>>;

/** One record of the journal. @internal */
export type JournalRecord = {
  [T in keyof RecordShapes]: Readonly<z.infer<RecordShapes[T]>>;
}[keyof RecordShapes];

/** A command with an intent and without a last settlement. @internal */
export interface Open<I> {
  /** The last intent. */
  readonly intent: I;
  /**
   * The number of settled parts. If the number is greater than the part of the intent, no part is in flight. A part
   * that closes nothing has no record.
   */
  readonly settled: number;
  /** The events of the settled parts, to be taken back if a later part fails; left out after what cannot be. */
  readonly done?: readonly AdminEvent[] | undefined;
}

/** A command of one interface with an intent and without a last settlement. @internal */
export type OpenCommand = Open<Intent>;

/** The shape of an {@link OpenCommand}. @internal */
export const openShape = z
  .object({ intent: intentShape, settled: natural, done: z.exactOptional(eventList) })
  .check(z.refine(({ intent: { part, of }, settled }) => settled >= part && settled <= of));

/** Whether the members of an intent fit together. @internal */
export function isWhole({
  part,
  of,
  events,
}: Readonly<Record<'part' | 'of', number> & Record<'events', readonly unknown[]>>): boolean {
  return part < of && events.length > 0;
}

/** The types of events of which each says `from` or `to`. A user has a password, which is never told. */
const leading = /^(?!user\.)[a-z]+\.(?:created|deleted|updated|started|stopped)$/;

/**
 * Whether a record is of a version before 0.1: it has effects beside its events, or an event of a change says neither
 * what the change leads from nor what it leads to. Other records have the same form in every version.
 *
 * @internal
 */
export function hasEarlierForm({ effects, events }: Readonly<Record<string, Json | undefined>>): boolean {
  return effects !== undefined || (events !== undefined && isArray(events) && events.some(leadsNowhere));
}

function leadsNowhere(event: Json): boolean {
  if (!isObject(event)) return false;
  const { type } = event;
  return typeof type === 'string' && leading.test(type) && verbOf(event) === undefined;
}

/** Whether a value is a list of events of known types. @internal */
export function areEvents(value: unknown): value is readonly AdminEvent[] {
  const isKnown = (event: unknown): boolean =>
    Object.hasOwn(eventTable, String((event as { type?: unknown } | null)?.type));
  return Array.isArray(value) && value.every(isKnown);
}
