/**
 * The history: the settled commands, and the way back. The Gateway Administration REST Interface has no such chapter:
 * the endpoints are additions.
 */
import * as z from 'zod/mini';

import type { Context, DecisionOf } from '../core/decision.ts';
import { countOf, firstShown } from '../core/excerpt.ts';
import { defineFields, representFields } from '../core/field.ts';
import * as shape from '../core/shape.ts';
import { endpoint } from '../http/endpoint.ts';
import { plainCommand, type Listing, type SearchValues, type Use } from '../http/route.ts';
import type { Operation } from '../json/patch.ts';
import type { JsonObject } from '../json/value.ts';
import { ok, problem } from '../problem.ts';
import type { State } from '../snapshot/state.ts';
import type { Note } from '../core/note.ts';
import type { Kind } from './shared/kind.ts';
import type { Surroundings } from './shared/rendering.ts';
import { itemRoute, listingOf, listRoute, type KindRoute } from './shared/route.ts';

/** What is kept of an event: enough to tell and to undo the change. @internal */
export interface EntryEvent {
  readonly type: string;
  readonly resource: string;
  /** The number of closed sessions or connections. */
  readonly count?: number;
  /**
   * The parts that differ, before and after. Of a creation, `to` alone is there, with the whole definition; of a
   * deletion, `from` alone. In the place of what was declared secret since is `null`.
   */
  readonly from?: JsonObject;
  readonly to?: JsonObject;
  /** The operations of an update. */
  readonly operations?: readonly Operation[];
  /** There if the event changed nothing: a service or monitor that had failed was started. */
  readonly already?: true;
}

/** A settled command. @internal */
export interface Entry {
  /** Id of the command. */
  readonly id: string;
  /** The time of the settlement, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly at: number;
  readonly actor?: string;
  /** Id of the command that this one has undone. */
  readonly undoes?: string;
  readonly revision: number;
  readonly events: readonly EntryEvent[];
}

/**
 * An entry of the history in a response: a settled command that has changed something.
 *
 * @see docs/plan-and-undo.md; docs/spec-choices.md 50.
 *
 * @public
 */
export interface HistoryEntryRepresentation {
  /** Id of the command. The events of the command have the same id. */
  readonly id: string;
  /** The time of the settlement, such as `2016-08-29T12:52:31+03:00`. */
  readonly at: string;
  /** Name of the principal who sent the command; left out if the caller is not known. */
  readonly actor?: string;
  /**
   * The revision that the change has made, or an earlier one: others can settle while the store is asked. That of the
   * fleet for what the nodes share.
   */
  readonly revision: number;
  /** Links of the resources of the shown events. */
  readonly resources: readonly string[];
  /**
   * What has happened, with secrets redacted: of an update, the parts that differ. Of closed sessions or connections,
   * their number as `count`. With `already`, the event changed nothing that was wanted: what had failed was to run. A
   * list of entries has the first 100 events of each; `GET /history/:id` has all of them, or those of a range.
   */
  readonly events: readonly {
    readonly type: string;
    readonly resource: string;
    readonly [member: string]: unknown;
  }[];
  /** The number of events of each type; left out if all events are shown. */
  readonly count?: Readonly<Record<string, number>>;
  /**
   * Whether the entry can be undone now. An undo is `refused` if it would take back a later change too, if the entry
   * was undone already, or if the command has left everything as it was. It is `irreversible` if the command has closed
   * or flushed something, or has changed a user.
   */
  readonly undo: 'possible' | 'refused' | 'irreversible';
  /** Id of the command that this one has undone; left out if it has undone none. */
  readonly undoes?: string;
  /**
   * Id of the command that has undone this one; left out if none has, or if an undo of the undo has brought it back.
   */
  readonly undone_by?: string;
}

/** The problem of an id without an entry. @internal */
export const entryNotFound = problem(
  'entry-not-found',
  'The history has no entry with this id. GET /history lists the entries.',
);

/** The history around an interface, as its own endpoints show and use it. @internal */
export interface RunningHistory {
  /** The entries with the wanted values, the newest one first. */
  list(this: void, values?: SearchValues): readonly Entry[];
  /** The last entry that has changed a member of the resource of an event, and that was not undone. */
  lastChangeOf(this: void, event: EntryEvent, member: string): Entry | undefined;
  /** Finds an entry. */
  find(this: void, id: string): Entry | undefined;
  /** What is shown of the events of an entry, and of a later undo. */
  shown(this: void, entry: Entry): Pick<HistoryEntryRepresentation, 'events' | 'undone_by'>;
  /** Whether an undo would be accepted now. To decide that takes much longer than to write what is stored. */
  undoOf(this: void, entry: Entry): HistoryEntryRepresentation['undo'];
  /** The commands that an undo stands for. */
  usesOf(this: void, id: string): readonly Use[];
  /** Decides an undo. Refused with `entry-not-found` or `undo-refused`. */
  undo(this: void, id: string, snapshot: State, context: Context): DecisionOf<State>;
  /** Gives the decision that brings back the configuration right after an entry. Refused as an undo. */
  restore(this: void, id: string): Promise<Restoring>;
}

/** A configuration that is brought back. @internal */
export interface Restoring {
  /** Decides in the turn of the command. */
  decide(this: void, snapshot: State, context: Context): DecisionOf<State>;
  /** What is not brought back. */
  readonly notes: readonly Note[];
}

const fields = defineFields<{
  representation: HistoryEntryRepresentation;
  document: HistoryEntryRepresentation;
  state: Omit<HistoryEntryRepresentation, 'at'> & Pick<Entry, 'at'>;
}>()({
  id: { shape: shape.text(255) },
  at: { shape: shape.instant, time: 'iso8601' },
  actor: { shape: shape.text(255), optional: true },
  revision: { shape: shape.count },
  resources: { shape: z.array(shape.text(4096)) },
  events: { shape: z.array(z.looseObject({ type: shape.text(255), resource: shape.text(4096) })) },
  count: { shape: z.record(shape.text(255), shape.count), optional: true },
  undo: { shape: z.enum(['possible', 'refused', 'irreversible']) },
  undoes: { shape: shape.text(255), optional: true },
  undone_by: { shape: shape.text(255), optional: true },
});

/** @param events - the events that are shown */
function represent(entry: Entry, events: readonly EntryEvent[], around: Surroundings): object {
  const { history, times } = around;
  const resources = [...new Set(events.map(({ resource }) => resource))];
  const undo = showsUndo(around) ? { undo: history.undoOf(entry) } : {};
  const count = countOf(entry.events, events.length);
  const shown = history.shown({ ...entry, events });
  return representFields(fields, { rest: { ...entry, resources, ...shown, ...count, ...undo }, times });
}

function showsUndo({ fields: asked }: Surroundings): boolean {
  return asked === undefined || asked.includes('undo');
}

function listed(around: Surroundings, values?: SearchValues): Listing {
  const listing = listingOf(around.history.list(values), (entry) =>
    represent(entry, firstShown(entry.events), around),
  );
  return showsUndo(around) ? { ...listing, isSlow: true } : listing;
}

type WayBackRoute = Extract<KindRoute, { readonly command: unknown }>;

/** Creates a route that takes something back. */
function wayBackRoute(
  own: Pick<WayBackRoute, 'kind' | 'id' | 'method' | 'path' | 'role' | 'summary' | 'uses'>,
  command: WayBackRoute['command'],
): KindRoute {
  return {
    ...plainCommand,
    isAddition: true,
    ...own,
    find: () => ok(undefined),
    link: () => '/history',
    command,
  };
}

/** The kind "history". @internal */
export const historyKind: Kind<State, never, never, never> = {
  fields: { 'history entry': fields },
  events: {},
  effects: {},
  reports: {},
  routes: [
    listRoute({
      ...endpoint('history.list'),
      isAddition: true,
      role: 'reader',
      query: ['fields', 'range'],
      search: ['resource', 'field', 'actor', 'type', 'since', 'before'],
      summary: 'Lists the settled commands, the newest one first.',
      shape: fields.representation,
      find: () => ok(undefined),
      list: (_snapshot, _none, around) => listed(around),
      select: (_snapshot, _none, around, values) => listed(around, values),
    }),
    itemRoute<Entry>({
      ...endpoint('history.get'),
      isAddition: true,
      role: 'reader',
      query: ['fields', 'range'],
      summary: 'Gives one settled command with all its events, or with those of a range.',
      shape: fields.representation,
      find(_snapshot, { id = '' }, around) {
        const entry = around?.history.find(id);
        return entry === undefined ? { ok: false, problem: entryNotFound } : ok(entry);
      },
      read(_snapshot, entry, around) {
        const { first = 0, last = Infinity } = around.range ?? {};
        return represent(entry, entry.events.slice(first, last + 1), around);
      },
    }),
    wayBackRoute(
      {
        ...endpoint('history.undo'),
        role: 'operator',
        summary: 'Undoes a settled command.',
        uses: ({ history }, { id = '' }) => history.usesOf(id),
      },
      ({ id = '' }, _body, _secrets, { history }) =>
        ok({ decide: (snapshot, _none, context) => history.undo(id, snapshot, context) }),
    ),
    wayBackRoute(
      {
        ...endpoint('history.restore'),
        role: 'administrator',
        summary: 'Brings back the configuration right after a settled command.',
      },
      async ({ id = '' }, _body, _secrets, { history }) => {
        const { decide, notes } = await history.restore(id);
        return ok({ notes, decide: (snapshot, _none, context) => decide(snapshot, context) });
      },
    ),
  ],
};
