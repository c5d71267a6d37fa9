/**
 * The way back: undoes a settled command, and brings back the configuration of an earlier moment.
 */
import { isStartOrStop } from '../../core/change.ts';
import { refused, unchanged, type Context } from '../../core/decision.ts';
import { isWithin, linkKey } from '../../core/link.ts';
import { parseInstant } from '../../core/time.ts';
import type { SearchValues, Use } from '../../http/route.ts';
import { sameJson } from '../../json/value.ts';
import type { Clock } from '../../ports/port.ts';
import { problem, type Problem } from '../../problem.ts';
import {
  entryNotFound,
  type Entry,
  type EntryEvent,
  type HistoryEntryRepresentation,
  type Restoring,
  type RunningHistory,
} from '../../resources/history.ts';
import {
  canRevert,
  combineNamed,
  redactSecrets,
  restoreConfiguration,
  revert,
  routes,
  type AdminEvent,
  type Decision,
  type Transition,
} from '../../resources/index.ts';
import type { Note } from '../../core/note.ts';
import { isOver } from '../../resources/shared/returning-drain.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { Entries } from '../journal/entries.ts';
import {
  endpointBack,
  isDeletion,
  keyIn,
  kindOf,
  memberNamed,
  membersOf,
  netOf,
  ownerKey,
  subjectKey,
} from '../journal/entry-event.ts';
import { subjectOf, wantedOf } from '../journal/entry-fold.ts';
import { withoutSessions } from '../journal/journal-state.ts';
import type { Standing } from '../journal/standing.ts';
import { beginPiece } from '../host/waiting.ts';
import type { Acceptance } from './turn.ts';

/** The entries of an interface. @internal */
export type KeptEntries = Pick<Entries, 'all' | 'isRecent' | 'find' | 'standing'>;

/** What the history of an interface needs. */
interface Around {
  readonly entries: KeptEntries;
  /** The configuration that the entries have led to. */
  readonly configuration: () => Snapshot;
  /** What the interface shows. */
  readonly snapshot: () => Snapshot;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Refuses what the gateway does not support. */
  readonly refuse: (decision: Acceptance) => Problem | undefined;
  /** Takes in what others have settled; left out if the interface runs alone. */
  readonly readOn: (() => Promise<unknown>) | undefined;
}

/** Creates what the endpoints of the history need. @internal */
export function createHistory(around: Around): RunningHistory {
  const { entries } = around;
  return Object.freeze({
    list: (values?: SearchValues) =>
      (values === undefined ? entries.all : entries.all.filter(matching(values))).toReversed(),
    lastChangeOf: (event: EntryEvent, member: string) => entries.standing.lastChangeOf(event, member),
    find: (id: string) => entries.find(id),
    shown: (entry: Entry) => shown(entry, entries.standing),
    undoOf: (entry: Entry) => undoOf(entry, around),
    usesOf: (id: string) => (entries.find(id)?.events ?? []).flatMap(useOf),
    undo(id: string, snapshot: Snapshot, context: Context) {
      return undo(entries, id, snapshot, { ...context, undoes: id });
    },
    restore: (id: string) => restore(around, id),
  });
}

/** Makes the filter of a search. */
function matching({ resource, field, actor, type, since, before }: SearchValues): (entry: Entry) => boolean {
  const [from, until] = [since, before].map((text) => (text === undefined ? undefined : parseInstant(text)));
  const place = resource === undefined ? undefined : linkKey(resource);
  // To its service, a listener is one of the listeners.
  const membersAt = (event: EntryEvent): readonly string[] =>
    kindOf(event) === 'listener' && place === ownerKey(event) ? ['listeners'] : membersOf(event);
  const isMeant = (event: EntryEvent): boolean =>
    // Without a first segment, every link would be below the place.
    (resource === undefined || (place !== '' && isWithin(event.resource, resource))) &&
    (type === undefined || `${event.type}.`.startsWith(`${type}.`)) &&
    (field === undefined || membersAt(event).includes(memberNamed(event, field)));
  return (entry) =>
    (actor === undefined || entry.actor === actor) &&
    (from === undefined || entry.at >= from) &&
    (until === undefined || entry.at < until) &&
    entry.events.some(isMeant);
}

/** What is shown of an entry, besides whether it can be undone. */
function shown(entry: Entry, standing: Standing): Pick<HistoryEntryRepresentation, 'events' | 'undone_by'> {
  const by = standing.undoneBy(entry);
  return {
    events: redactSecrets(entry.events) as unknown as HistoryEntryRepresentation['events'],
    ...(by === undefined ? {} : { undone_by: by.id }),
  };
}

/** Whether an undo would be accepted now. */
function undoOf(
  entry: Entry,
  { entries, snapshot, refuse, clock }: Around,
): HistoryEntryRepresentation['undo'] {
  if (!entry.events.every(isReversible)) return 'irreversible';
  const { decision } = judge(entry, entries.standing, snapshot(), { now: clock.now() });
  return decision?.outcome === 'accepted' && refuse(decision) === undefined ? 'possible' : 'refused';
}

/** Whether an undo would change nothing, or what the command has created and deleted itself would come and go again. */
function isInVain(events: readonly EntryEvent[], { outcome }: Decision): boolean {
  return outcome === 'unchanged' || netOf(events).every(({ already }) => already === true);
}

/** Whether an event can be undone. The hashes of passwords are not kept, so no user comes back or goes. */
function isReversible(event: EntryEvent): boolean {
  return kindOf(event) !== 'user' && canRevert(event as AdminEvent);
}

/** Takes an event back. An event that has changed nothing needs no way back. */
function takingBack(event: EntryEvent): Transition {
  return event.already ? (snapshot) => unchanged(snapshot, [event.resource]) : revert(event as AdminEvent);
}

/**
 * Takes events back, the last one first.
 *
 * @param ask - gets each event before it is taken back
 */
function takingBackAll(events: readonly EntryEvent[], ask?: (event: EntryEvent) => void): Transition {
  const steps = events.toReversed().map((event): Transition => {
    const takeBack = takingBack(event);
    return (snapshot, context) => {
      ask?.(event);
      return takeBack(snapshot, context);
    };
  });
  return combineNamed(steps);
}

/** The command that an undo of an event stands for. */
function useOf(event: EntryEvent): readonly Use[] {
  if (event.already) return [];
  const kind = kindOf(event);
  const verb = endpointBack(event) ?? endpointFor(event);
  const isListener = kind === 'listener';
  const ids = isListener ? [`services.${verb}Listener`] : [`${kind}s.${verb}`, `${kind}.${verb}`];
  const route = routes.find(({ id }) => ids.includes(id));
  const parameters = isListener
    ? { name: keyIn(event, 'service'), listener: keyIn(event, kind) }
    : { name: keyIn(event, kind) };
  return route === undefined ? [] : [{ route, parameters }];
}

/**
 * The endpoint that takes an update back, without its kind: an operator may drain, and set maintenance, and may not
 * patch.
 */
function endpointFor({ from = {}, to = {} }: EntryEvent): string {
  const [name, ...others] = Object.keys({ ...from, ...to });
  if (others.length > 0) return 'patch';
  if (name === 'drain') return from['drain'] === undefined ? 'resume' : 'drain';
  const [before, after] = [from['status'], to['status']] as readonly (readonly string[] | undefined)[];
  const rest = [before, after].map((words = []) => words.filter((word) => word !== 'maintenance'));
  if (name !== 'status' || !sameJson(rest[0] ?? [], rest[1] ?? [])) return 'patch';
  return after?.includes('maintenance') === true ? 'clearMaintenance' : 'setMaintenance';
}

/** Decides an undo: all events of the entry are taken back, the last one first, or none. */
function undo(entries: KeptEntries, id: string, snapshot: Snapshot, context: Context): Decision {
  const entry = entries.find(id);
  if (entry === undefined) return refused(snapshot, entryNotFound, ['/history']);
  const { decision, why } = judge(entry, entries.standing, snapshot, context);
  if (decision !== undefined) return decision;
  const { reason, later, advice = later && adviceOn(later, snapshot, context) } = why();
  const links = [...new Set(entry.events.map(({ resource }) => resource))];
  return refused(snapshot, undoRefused(entry, reason, later, advice), links);
}

/** Why an undo is refused: with the later entry that is in the way, and what to do if that is not to undo it first. */
interface Why {
  readonly reason: string;
  readonly later?: Entry | undefined;
  readonly advice?: string | undefined;
}

/** What an undo would do, or why it is refused. The reason takes most of the time, and is found out when asked for. */
type Judgement =
  | { readonly decision: Decision; readonly why?: undefined }
  | { readonly decision?: undefined; readonly why: () => Why };

function judge(entry: Entry, standing: Standing, snapshot: Snapshot, context: Context): Judgement {
  const { events } = entry;
  const final = events.find((event) => !isReversible(event));
  if (final !== undefined)
    return { why: () => ({ reason: `${final.type} of ${final.resource} cannot be taken back.` }) };
  const later = laterInTheWay(entry, standing, snapshot, context.now);
  if (later !== undefined) return { why: later };
  let asked: EntryEvent | undefined;
  const decision = takingBackAll(events, (event) => (asked = event))(snapshot, context);
  if (isInVain(events, decision)) return { why: () => ({ reason: nothingToUndo }) };
  const [event, problem] = [asked, decision.outcome === 'refused' ? decision.problem : undefined];
  if (event === undefined || problem === undefined) return { decision };
  return {
    why: () => ({
      reason: reasonOf(event, problem),
      later: laterChangeOf(event, entry, standing, problem),
    }),
  };
}

const nothingToUndo = 'The command has left everything as it was before.';

/** Why a later entry is in the way of an undo, although every value is as the entry has left it. */
function laterInTheWay(
  entry: Entry,
  standing: Standing,
  snapshot: Snapshot,
  now: number,
): (() => Why) | undefined {
  const undoing = standing.undoneBy(entry);
  if (undoing !== undefined) {
    const advice = `To make the change again, undo the entry ${undoing.id}.`;
    return () => ({ reason: undoneAlready(undoing), later: undoing, advice });
  }
  for (const event of entry.events) {
    const deletion = standing.deletionAfter(entry, event);
    const later =
      deletion ?? (isStartOrStop(event) ? standing.changeAfter(entry, event, 'state') : undefined);
    if (later !== undefined) return () => ({ reason: stateChangedSince(event, later), later });
    const drain = drainChangeAfter(entry, event, standing, snapshot, now);
    if (drain !== undefined)
      return () => ({ reason: `${event.resource} has changed since at /drain.`, later: drain });
  }
  return undefined;
}

/**
 * The last entry after another one that has changed a drain. A drain that has come back without its deadline counts as
 * the one before, unless it was changed on purpose: a later deadline that has passed too counts for none.
 */
function drainChangeAfter(
  entry: Entry,
  event: EntryEvent,
  standing: Standing,
  snapshot: Snapshot,
  now: number,
): Entry | undefined {
  if (!membersOf(event).includes('drain')) return undefined;
  const subject = subjectKey(event);
  const { settings = {} } = subjectOf(event, snapshot) ?? {};
  const over = overIn(snapshot, subject);
  return standing.changeAfter(entry, event, 'drain', (later) => {
    if (over.has(later)) return false;
    const counts = later.events.some(
      (each) =>
        subjectKey(each) === subject &&
        membersOf(each).includes('drain') &&
        !(
          each.from !== undefined &&
          each.to !== undefined &&
          isOver({ from: each.from, to: each.to }, now, settings)
        ),
    );
    if (!counts) over.add(later);
    return counts;
  });
}

/** The entries that count no longer, by snapshot and subject: each row of the history would look at all of them. */
const overs = new WeakMap<Snapshot, Map<string, Set<Entry>>>();

function overIn(snapshot: Snapshot, subject: string): Set<Entry> {
  const subjects = overs.get(snapshot) ?? new Map<string, Set<Entry>>();
  const known = subjects.get(subject) ?? new Set<Entry>();
  overs.set(snapshot, subjects.set(subject, known));
  return known;
}

/**
 * The newest change of a member that an event has changed, or that is in the way now, if a later entry has made the
 * change.
 */
function laterChangeOf(
  event: EntryEvent,
  entry: Entry,
  standing: Standing,
  { errors = [] }: Problem,
): Entry | undefined {
  return membersOf(event)
    .concat(errors.map(({ pointer }) => pointer.split('/', 2)[1] ?? ''))
    .map((member) => standing.changeAfter(entry, event, member))
    .find((each) => each !== undefined);
}

function undoneAlready({ id, actor }: Entry): string {
  return `It was undone already by ${id}${actor === undefined ? '' : ` of ${actor}`}.`;
}

function stateChangedSince({ resource }: EntryEvent, { actor, events }: Entry): string {
  const last = events.findLast(
    (event) => isWithin(resource, event.resource) && (isDeletion(event) || endpointBack(event) !== undefined),
  );
  const happened = last?.type.slice(kindOf(last).length + 1) ?? 'changed';
  return `${resource} was ${happened} since${actor === undefined ? '' : ` by ${actor}`}.`;
}

/** Why an event cannot be taken back. Of a value that has changed since, only the place. */
function reasonOf({ resource }: EntryEvent, { code, detail, errors = [] }: Problem): string {
  // A value that was declared secret since.
  if (code === 'patch-malformed') return `A value of ${resource} was declared secret since.`;
  // The detail of a fault ends without a full stop, and a refusal says that nothing was changed.
  if (!code.startsWith('patch-'))
    return `${resource}: ${detail.replace(/(?:\. Nothing was changed)?\.?$/, '.')}`;
  const places = errors.map(({ pointer }) => pointer).join(', ');
  return `${resource} has changed since${places && ` at ${places}`}.`;
}

function undoRefused(
  { id }: Entry,
  reason: string,
  later: Entry | undefined,
  advice: string | undefined,
): Problem {
  const next = advice === undefined ? '' : ` ${advice}`;
  const refusal = problem(
    'undo-refused',
    `The entry ${id} was not undone. ${reason} Nothing was changed.${next}`,
  );
  return later === undefined ? refusal : Object.freeze({ ...refusal, command: later.id });
}

/** Advises on a later entry that is in the way. An entry whose undo would change nothing cannot be undone away. */
function adviceOn({ id, events }: Entry, snapshot: Snapshot, context: Context): string {
  return events.every(isReversible) && takingBackAll(events)(snapshot, context).outcome !== 'unchanged'
    ? `Undo the later entry ${id} first, if it must go too.`
    : `The later entry ${id} cannot be undone: set the value that you want, or restore an earlier entry.`;
}

/**
 * Goes back on paper, from the present configuration to that of a moment. The configuration of a moment does not
 * change, so the decision in the turn takes it over like a document.
 */
async function restore({ entries, clock, configuration, readOn }: Around, id: string): Promise<Restoring> {
  if (entries.find(id) === undefined) await readOn?.();
  const { all } = entries;
  const at = all.findIndex((entry) => entry.id === id);
  if (at < 0) return refusing(entryNotFound);
  if (!entries.isRecent(id)) return notRestored(tooOld);
  const later = all.slice(at + 1).toReversed();
  // On paper, nothing is open: the decision about the present says what is in the way.
  let then = withoutSessions(configuration());
  let isPieceOver = beginPiece();
  for (const entry of later)
    for (const event of entry.events.filter(isReversible).toReversed()) {
      if (isPieceOver()) {
        await clock.sleep(0);
        isPieceOver = beginPiece();
      }
      // On paper no monitor has found the words of a status, and at time 0 no deadline has passed.
      const decision = takingBack(wantedOf(event))(then, { now: 0 });
      if (decision.outcome === 'refused')
        return notRestored(
          `The later entry ${entry.id} cannot be taken back: ${reasonOf(event, decision.problem)}`,
        );
      then = decision.next;
    }
  return {
    decide: (present: Snapshot, context) => restoreConfiguration(present, then, context),
    notes: notesOf(later),
  };
}

/** The largest number of events that notes name. */
const mostNotes = 10;

/** Names the events that a restore does not take back, the newest one first. */
function notesOf(later: readonly Entry[]): readonly Note[] {
  const code = 'irreversible-entry';
  const notes = later.flatMap(({ id, events }) =>
    events
      .filter((event) => !isReversible(event))
      .map(({ type, resource, count }): Note => {
        const detail = `Cannot be taken back: ${type} of ${resource} (entry ${id}).`;
        return { code, resource, ...(count === undefined ? {} : { count }), detail };
      }),
  );
  if (notes.length <= mostNotes) return notes;
  const detail = `Cannot be taken back: ${String(notes.length - mostNotes)} earlier events.`;
  return [...notes.slice(0, mostNotes), { code, detail }];
}

/** In its turn, so that what refuses every command comes first. */
function refusing(reason: Problem): Restoring {
  return { decide: (snapshot) => refused(snapshot, reason, ['/history']), notes: [] };
}

function notRestored(reason: string): Restoring {
  const next = 'Nothing was changed. Restore a backup, or undo single entries.';
  return refusing(problem('undo-refused', `${reason} ${next}`));
}

const tooOld = 'Some later entries are gone, so the configuration after this entry is not known.';
