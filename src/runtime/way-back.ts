/**
 * The way back: undoes a settled command, and brings back the configuration of an earlier moment.
 */
import { refused, unchanged, type Context } from '../core/decision.ts';
import { linkKey } from '../core/link.ts';
import { parseInstant } from '../core/time.ts';
import type { SearchValues, Use } from '../http/route.ts';
import type { Clock } from '../ports/port.ts';
import { problem, type Problem } from '../problem.ts';
import type { Entry, EntryEvent, HistoryEntryRepresentation, RunningHistory } from '../resources/history.ts';
import {
  adoptDocument,
  canRevert,
  redactSecrets,
  revert,
  routes,
  sequence,
  type AdminEvent,
  type Decision,
  type Transition,
} from '../resources/index.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import { isTurn, kindOf, memberNamed, membersOf, type Entries } from './journal/entries.ts';
import type { History } from './journal/history.ts';

/** The entries of an interface. @internal */
export interface KeptEntries extends Pick<
  Entries,
  'all' | 'isRecent' | 'find' | 'lastChangeOf' | 'deletionOf'
> {
  /** The configuration that the entries have led to; left out if what the interface shows is that. */
  readonly snapshot?: (this: void) => Snapshot;
}

/** The entries of an interface with a store of its own. @internal */
export function entriesOf(history: History): KeptEntries {
  const { entries } = history;
  return {
    get all() {
      return entries.all;
    },
    isRecent: (id) => entries.isRecent(id),
    find: (id) => entries.find(id),
    lastChangeOf: (event, member) => entries.lastChangeOf(event, member),
    deletionOf: (event) => entries.deletionOf(event),
    snapshot: () => history.snapshot,
  };
}

/** What the history of an interface needs. */
interface Around {
  readonly entries: KeptEntries;
  readonly clock: Pick<Clock, 'sleep'>;
  /** What the interface shows. */
  readonly snapshot: () => Snapshot;
  /** Takes in what others have settled; left out if the interface runs alone. */
  readonly follow: (() => Promise<unknown>) | undefined;
}

/** Creates what the endpoints of the history need. @internal */
export function createHistory(around: Around): RunningHistory {
  const { entries } = around;
  return Object.freeze({
    list: (values?: SearchValues) => entries.all.filter(matching(values)).toReversed(),
    shown: (entry: Entry) => shown(entry, around),
    usesOf: (id: string) => (entries.find(id)?.events ?? []).flatMap(useOf),
    undo(id: string, snapshot: Snapshot, context: Context) {
      return undo(entries, id, snapshot, context);
    },
    restore: async (id: string) => ({ decide: await restore(around, id) }),
  });
}

/** Makes the filter of a search. */
function matching({ resource, field, actor, type, since, before }: SearchValues = {}): (
  entry: Entry,
) => boolean {
  const [from, until] = [since, before].map((text) => (text === undefined ? undefined : parseInstant(text)));
  const place = resource === undefined ? undefined : linkKey(resource);
  const isMeant = (event: EntryEvent): boolean =>
    (place === undefined || `${linkKey(event.resource)}/`.startsWith(`${place}/`)) &&
    (type === undefined || `${event.type}.`.startsWith(`${type}.`)) &&
    (field === undefined || membersOf(event).includes(memberNamed(event, field)));
  return (entry) =>
    (actor === undefined || entry.actor === actor) &&
    (from === undefined || entry.at >= from) &&
    (until === undefined || entry.at < until) &&
    entry.events.some(isMeant);
}

/** What is shown of an entry. */
function shown(
  entry: Entry,
  { entries, snapshot }: Around,
): Pick<HistoryEntryRepresentation, 'events' | 'undo'> {
  return {
    events: redactSecrets(entry.events) as unknown as HistoryEntryRepresentation['events'],
    undo: standingOf(entry, entries, snapshot()),
  };
}

function standingOf(
  entry: Entry,
  entries: KeptEntries,
  snapshot: Snapshot,
): HistoryEntryRepresentation['undo'] {
  const { events } = entry;
  if (!events.every(isReversible)) return 'irreversible';
  // Without the reasons of a refusal, which take most of the time.
  const isHeld = events.some((event) => laterThan(entry, event, entries) !== undefined);
  return isHeld || wayBackFrom(events)(snapshot, { now: 0 }).outcome === 'refused' ? 'refused' : 'possible';
}

/** Whether an event can be undone. The hashes of passwords are not kept, so no user comes back or goes. */
function isReversible(event: EntryEvent): boolean {
  return kindOf(event) !== 'user' && canRevert(event as AdminEvent);
}

/** Takes an event back. What was so already before the event stays. */
function wayBackOf(event: EntryEvent): Transition {
  return event.already ? (snapshot) => unchanged(snapshot, [event.resource]) : revert(event as AdminEvent);
}

/** Takes events back, the last one first. */
function wayBackFrom(events: readonly EntryEvent[]): Transition {
  const [only, ...more] = events.toReversed().map(wayBackOf);
  return only !== undefined && more.length === 0 ? only : sequence(...events.toReversed().map(wayBackOf));
}

const opposites: ReadonlyMap<string, string> = new Map([
  ['started', 'stop'],
  ['stopped', 'start'],
]);

/** The command that an undo of an event stands for. */
function useOf(event: EntryEvent): readonly Use[] {
  const [kind = '', happened = ''] = event.type.split('.');
  const id = `${kind}s.${opposites.get(happened) ?? 'patch'}`;
  const { [kind]: name = '' } = event as unknown as Readonly<Record<string, string>>;
  const route = routes.find((each) => each.id === id);
  return route === undefined ? [] : [{ route, parameters: { name } }];
}

/** Decides an undo: all events of the entry are taken back, the last one first, or none. */
function undo(entries: KeptEntries, id: string, snapshot: Snapshot, context: Context): Decision {
  const entry = entries.find(id);
  if (entry === undefined) return refused(snapshot, notFound, ['/history']);
  const { events } = entry;
  const links = [...new Set(events.map(({ resource }) => resource))];
  const refuse = (reason: string, later?: Entry): Decision =>
    refused(snapshot, refusalOf(entry, reason, later), links);
  const final = events.find((event) => !isReversible(event));
  if (final !== undefined) return refuse(`${final.type} of ${final.resource} cannot be taken back.`);
  for (const event of events) {
    const later = laterThan(entry, event, entries);
    if (later !== undefined) return refuse(changedSince(event, later), later);
  }
  const decision = wayBackFrom(events)(snapshot, context);
  if (decision.outcome !== 'refused') return decision;
  const { event, reason } = refusedIn(events, snapshot, context);
  const last = membersOf(event)
    .map((member) => entries.lastChangeOf(event, member))
    .find((each) => each !== undefined && each.id !== id);
  return refuse(reason, last);
}

/** The event that cannot be taken back, and why. */
function refusedIn(
  events: readonly EntryEvent[],
  snapshot: Snapshot,
  context: Context,
): { readonly event: EntryEvent; readonly reason: string } {
  let present = snapshot;
  for (const event of events.toReversed()) {
    const decision = wayBackOf(event)(present, context);
    if (decision.outcome === 'refused')
      return { event, reason: `${event.resource}: ${decision.problem.detail}` };
    present = decision.next;
  }
  throw new TypeError('A refused sequence has a refused transition');
}

/** The later entry after which an event must stay, although every value is as the event has left it. */
function laterThan(entry: Entry, event: EntryEvent, entries: KeptEntries): Entry | undefined {
  const deletion = entries.deletionOf(event);
  if (deletion !== undefined && entries.all.indexOf(deletion) > entries.all.indexOf(entry)) return deletion;
  const last = isTurn(event) ? entries.lastChangeOf(event, 'state') : undefined;
  return last?.id === entry.id ? undefined : last;
}

function changedSince({ resource }: EntryEvent, { actor }: Entry): string {
  const by = actor === undefined ? '' : ` by ${actor}`;
  return `${resource} was started, stopped or deleted since${by}.`;
}

function refusalOf({ id }: Entry, reason: string, later: Entry | undefined): Problem {
  const next =
    later === undefined
      ? 'Nothing was changed.'
      : `Nothing was changed. The later entry is ${later.id}: look at it, and undo it first if it must go too.`;
  const refusal = problem('undo-refused', `The entry ${id} was not undone. ${reason} ${next}`);
  return later === undefined ? refusal : Object.freeze({ ...refusal, command: later.id });
}

const notFound = problem(
  'entry-not-found',
  'The history has no entry with this id. GET /history lists the entries: the last 1,000, and the last change of each ' +
    'member.',
);

/** The number of entries that one turn of the event loop takes back. */
const pieceLength = 25;

/**
 * Goes back on paper, from the present configuration to that of a moment. The configuration of a moment does not change, so
 * the decision in the turn takes it over like a document.
 */
async function restore({ entries, clock, snapshot, follow }: Around, id: string): Promise<Transition> {
  if (entries.find(id) === undefined) await follow?.();
  const { all } = entries;
  const at = all.findIndex((entry) => entry.id === id);
  if (at < 0) return refusing(notFound);
  if (!entries.isRecent(id)) return refusing(problem('undo-refused', tooOld));
  let then = (entries.snapshot ?? snapshot)();
  for (const [count, entry] of all
    .slice(at + 1)
    .toReversed()
    .entries()) {
    if (count % pieceLength === pieceLength - 1) await clock.sleep(0);
    for (const event of entry.events.filter(isReversible).toReversed()) {
      const decision = wayBackOf(event)(then, { now: 0 });
      if (decision.outcome === 'refused')
        return refusing(problem('undo-refused', `${notRestored} ${entry.id}: ${decision.problem.detail}`));
      then = decision.next;
    }
  }
  return (present, context) => adoptDocument(present, then, context);
}

/** In its turn, so that what refuses every command comes first. */
function refusing(reason: Problem): Transition {
  return (snapshot) => refused(snapshot, reason, ['/history']);
}

const tooOld =
  'The configuration after this entry is not known any more, because the history keeps every change of the last 1,000 ' +
  'commands only. Nothing was changed. Restore a backup, or undo single entries.';

const notRestored = 'Nothing was changed. A later entry cannot be taken back, which is';
