/**
 * Drains that an undo, a restore or a document brings back, and those that a document leaves in use. A drain whose
 * deadline has passed meanwhile comes back without the deadline, so that nothing is closed at once.
 */
import { Batch } from '../../core/batch.ts';
import type { Named } from '../../core/collection.ts';
import type { Context } from '../../core/decision.ts';
import type { Note } from '../../core/note.ts';
import { parseInstant } from '../../core/time.ts';
import { pick, sameJson } from '../../json/value.ts';
import { drainingIn, drains, find, linkOf, put, type State } from '../../snapshot/state.ts';
import type { Written } from '../../core/change.ts';
import type { AnyDrain, Drainable } from './drain.ts';

/** Settings that a change brings back, and the note about a deadline that they have lost. @internal */
export interface BroughtBack<T> {
  readonly settings: T;
  readonly notes: readonly Note[];
}

/**
 * Settings as they come back, without a deadline that has passed. One that is in use stays: what it does is done.
 *
 * @param resource - link of the resource, for the note
 * @param settings - the settings that come back, or the definition of a resource that does
 * @param now - the time, in milliseconds since 1970-01-01T00:00:00Z
 * @param present - the settings in use; left out for a resource that comes back itself
 * @internal
 */
export function broughtBack<T extends object>(
  resource: string,
  settings: T,
  now: number,
  present: object = {},
): BroughtBack<T> {
  const { until, then } = drainIn(settings) ?? {};
  const inUse = drainIn(present);
  if (until === undefined || (until === inUse?.until && then === inUse.then)) return { settings, notes: [] };
  const after = withoutPassed(settings, now);
  if (after === settings) return { settings, notes: [] };
  const detail =
    `The deadline ${until} of the drain of ${resource} has passed: ` +
    'the drain comes back without a deadline.';
  return { settings: after, notes: [{ code: 'deadline-passed', resource, detail }] };
}

/**
 * A definition as it is in use, if a drain in it has come back without its deadline; see {@link broughtBack}. @internal
 */
export function asBroughtBack<T extends object>(definition: T, now: number, present: object): T {
  const drain = drainIn(present);
  return drain !== undefined && drain.until === undefined ? withoutPassed(definition, now) : definition;
}

/**
 * Whether nothing is left of an update: it has set a deadline only, and that deadline has passed, and the one before
 * too. An update that has taken the deadline away stays in force.
 *
 * @param present - the settings in use
 * @internal
 */
export function isOver({ from, to }: Written, now: number, present: object): boolean {
  const drain = drainIn(present);
  const [before, after] = [drainIn(from), drainIn(to)];
  if (drain === undefined || drain.until !== undefined || before === undefined || after === undefined)
    return false;
  if (Object.keys({ ...from, ...to }).length > 1) return false;
  const [old, left] = [before, after].map((each) => drainBroughtBack(each, now));
  return left !== after && [old, left].every((each) => each !== undefined && sameJson(each, drain));
}

function drainBroughtBack(drain: AnyDrain, now: number): AnyDrain {
  return withoutPassed({ drain }, now).drain;
}

/** A snapshot that is taken over, with every drain as {@link broughtBack} gives it. @internal */
export function drainsBroughtBack<S extends State>(
  snapshot: S,
  given: S,
  now: number,
): { readonly given: S; readonly notes: readonly Note[] } {
  const notes: Note[] = [];
  const next = withDrains(snapshot, given, drainingIn(given), (wanted, present, collection) => {
    const back = broughtBack(linkOf(collection, wanted), wanted.settings, now, present?.settings);
    notes.push(...back.notes);
    return back.settings === wanted.settings ? wanted : { ...wanted, settings: back.settings };
  });
  return { given: next, notes };
}

/**
 * A snapshot that is taken over, with other drains.
 *
 * @param drainAs - gives a resource with its drain, from the resource as it is taken over and as it is in use
 */
function withDrains<S extends State>(
  snapshot: S,
  given: S,
  places: ReturnType<typeof drainingIn>,
  drainAs: (wanted: Drainable, present: Drainable | undefined, collection: string) => Drainable,
): S {
  const change = { revision: given.revision, batch: new Batch() };
  const next = places.reduce((taken, { collection, key }) => {
    const named = { collection } as Named<Drainable>;
    const wanted = find(given, named, key);
    const after = wanted && drainAs(wanted, find(snapshot, named, key), collection);
    return after === undefined || after === wanted ? taken : put(taken, named, Object.freeze(after), change);
  }, given);
  change.batch.end();
  return Object.freeze(next);
}

/**
 * The snapshot of a document, with the present drains where the document has none: a document from before a drain does
 * not end the drain. The state in the document is then the state after the drain.
 *
 * @internal
 */
export function keepingDrains<S extends State>(snapshot: S, given: S): S {
  return withDrains(snapshot, given, drainingIn(snapshot), (wanted, present) => {
    const drain = present?.settings.drain;
    return drain === undefined || drains(wanted) ? wanted : withDrainOf(drain, wanted);
  });
}

/**
 * The snapshot of a document from a client. A drain that is not in use yet is that of the client, and not of the user
 * whom the document names: what the drain closes later is closed in the name of `by`.
 *
 * @param actor - the client; `undefined` if the client is unknown
 * @internal
 */
export function withOwnDrains<S extends State>(
  snapshot: S,
  given: S,
  { now, actor }: Pick<Context, 'now' | 'actor'>,
): S {
  return withDrains(snapshot, given, drainingIn(given), (wanted, present) => {
    if (wanted.settings.drain === undefined) return wanted;
    const { by: _by, ...asked } = wanted.settings.drain;
    const own = { ...asked, ...(actor === undefined ? {} : { by: actor }) };
    const inUse = present?.settings.drain;
    const drain = Object.freeze(isEqualTo(inUse, asked, now) ? inUse : own);
    return { ...wanted, settings: Object.freeze({ ...wanted.settings, drain }) };
  });
}

/** Whether a drain in use is as a client asks for: with the deadline, or without a deadline that has passed. */
function isEqualTo(inUse: AnyDrain | undefined, asked: AnyDrain, now: number): inUse is AnyDrain {
  if (inUse === undefined) return false;
  const { by: _by, ...present } = inUse;
  return sameJson(present, asked) || sameJson(present, drainBroughtBack(asked, now));
}

function withDrainOf(drain: AnyDrain, wanted: Drainable): Drainable {
  const { state } = wanted;
  const [stopped, after] = state === undefined ? [{}, {}] : [{ state: 'stopped' } as const, { from: state }];
  const settings = { ...wanted.settings, drain: Object.freeze({ ...drain, ...after }) };
  return { ...wanted, ...stopped, settings: Object.freeze(settings) };
}

/** The members of a drain that make its deadline. */
const deadline: ReadonlySet<string> = new Set<keyof AnyDrain>(['timeout', 'until', 'then']);

/** Takes a passed deadline out of settings or of a definition. Without such a deadline, gives the same object. */
function withoutPassed<T extends object>(settings: T, now: number): T {
  const drain = drainIn(settings);
  if (drain?.until === undefined || !isPassed(drain.until, now)) return settings;
  const rest = pick({ ...drain }, (member) => !deadline.has(member));
  return Object.freeze({ ...settings, drain: Object.freeze(rest) });
}

/** The drain in settings, or in a definition. */
function drainIn(settings: object): AnyDrain | undefined {
  return (settings as { readonly drain?: AnyDrain }).drain;
}

function isPassed(until: string, now: number): boolean {
  return (parseInstant(until) ?? Infinity) <= now;
}
