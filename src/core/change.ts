/**
 * Changes: what happens to the configuration of one resource, as one record.
 *
 * A definition is the entry of a resource in a gateway document, with its secrets sealed. A change has the definition
 * before and after; of an update, only the members that differ. A change is used in two ways:
 *
 * - {@link applied} is for what a gateway has done: it takes the members as they are. The fold of events does the same
 *   with resources: `withMembers` of `field.ts`.
 * - {@link merged} is for what is wanted of a definition that may have moved on: it takes the parts of the members.
 *
 * The fields of the kind say which members have parts: the entries of a map, the things of a list by their names, the
 * words and the links of a list. Any other member is one value.
 */
import { formatPointer } from '../json/pointer.ts';
import {
  asObject,
  deepFreeze,
  isArray,
  isContainer,
  isObject,
  pick,
  sameJson,
  type Json,
  type JsonObject,
} from '../json/value.ts';
import { isWantedPart, type Fields, type PartsForm } from './field.ts';
import {
  joinedMoves,
  haveMovedMeanwhile,
  movesBetween,
  withMoves,
  type Moves,
  type Places,
} from './link-place.ts';
import { nameKey } from './name.ts';
import { oncePer } from './once-per.ts';
import { isTextList } from './reference.ts';
import { movedWords, withWordsMoved } from './word-list.ts';

/**
 * What happens to one resource. Without `from`, it is created; without `to`, it is deleted.
 *
 * @internal
 */
export interface Change {
  /** Link of the resource. */
  readonly link: string;
  /** The definition before; of an update, the members that differ. */
  readonly from?: JsonObject;
  /** The definition after; of an update, the members that differ. */
  readonly to?: JsonObject;
}

/** What a change leads from and to. An event and an effect have these members too. */
type Sides = Pick<Change, 'from' | 'to'>;

/** The members that an update writes, before and after. @internal */
export type Written = Required<Sides>;

/** Gives the change that leads from one definition to another; `undefined` if they are equal. @internal */
export function changeBetween(
  fields: Fields,
  link: string,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): Change | undefined {
  if (before === undefined || after === undefined)
    return before === after ? undefined : changeOf(link, differingOf(before, after));
  const differing = membersOf(fields).between(before, after);
  if (differing === undefined) return undefined;
  const names = keysIn(differing.from, differing.to);
  const isMeant = (name: string): boolean => names.has(name);
  return changeOf(link, { from: pick(before, isMeant), to: pick(after, isMeant) });
}

/**
 * Gives the members in which two definitions differ. What only one of them has is left out of the other side.
 *
 * @internal
 */
export function differingMembers(before: object, after: object): Written {
  return (map.between(before as JsonObject, after as JsonObject) ?? { from: {}, to: {} }) as Written;
}

/** What a change does; `undefined` for an event or an effect that is about no definition. @internal */
export function verbOf(change: object): 'create' | 'update' | 'delete' | undefined {
  const { from, to }: Partial<Change> = change;
  if (from === undefined) return to === undefined ? undefined : 'create';
  return to === undefined ? 'delete' : 'update';
}

/** Whether a change is an update that starts or stops the resource, and does nothing else. @internal */
export function isStartOrStop(change: object): boolean {
  const { from, to }: Partial<Change> = change;
  const names = Object.keys({ ...from, ...to });
  return verbOf(change) === 'update' && names.length === 1 && names[0] === 'state';
}

/**
 * Whether members lack a value: `null` marks the place of a secret that redaction has left out, or that was declared
 * since. No definition has `null`.
 *
 * @internal
 */
export function lacksValue(members: Json = {}): boolean {
  return members === null || (isContainer(members) && Object.values(members as JsonObject).some(lacksValue));
}

/** Members without the marks of {@link lacksValue}; the same object if there are none. @internal */
export function withoutMarks<T extends Json>(members: T): T {
  if (!lacksValue(members)) return members;
  if (isArray(members)) return members.map(withoutMarks) as Json as T;
  if (!isObject(members)) return members;
  const rest = Object.entries(members).filter(([, member]) => member !== null);
  return Object.fromEntries(rest.map(([name, member]) => [name, withoutMarks(member)])) as T;
}

/** The same the other way round: what leads from a definition leads to it. @internal */
export function inverse<T extends Sides>({ from, to, ...rest }: T): T {
  return Object.freeze({ ...rest, ...(to && { from: to }), ...(from && { to: from }) }) as Sides as T;
}

/**
 * A change with the parts that differ in place of whole members: of a map the entries, of a list with names the things
 * by the keys of their names, of a list of links {@link Moves}. An entry of the history keeps changes so, because one
 * entry of a long map is short. A pruned change stays as it is.
 *
 * @internal
 */
export function pruned(fields: Fields, change: Change): Change {
  const { link, from, to } = change;
  if (from === undefined || to === undefined) return change;
  return changeOf(link, membersOf(fields).between(from, to) ?? { from: {}, to: {} });
}

/**
 * What a change that a gateway has done makes of a definition. An update of what is gone changes nothing, and neither
 * does the creation of what is there.
 *
 * @param change - a change that is not pruned
 * @internal
 */
export function applied(present: JsonObject | undefined, { from, to }: Change): JsonObject | undefined {
  if (to === undefined) return undefined;
  if (from === undefined) return present ?? to;
  if (present === undefined) return undefined;
  const rest = pick(present, (name) => Object.hasOwn(to, name) || !Object.hasOwn(from, name));
  return deepFreeze({ ...rest, ...to });
}

/**
 * What a change makes of a definition that may have moved on: the parts that the change does not touch stay.
 *
 * @param change - a change, pruned or not
 * @internal
 */
export function merged(
  fields: Fields,
  present: JsonObject | undefined,
  change: Change,
): JsonObject | undefined {
  const { from, to } = change;
  if (from === undefined || to === undefined || present === undefined) return applied(present, change);
  const members = membersOf(fields);
  const differing = members.between(from, to);
  return differing === undefined ? present : (deepFreeze(members.merged(present, differing)) as JsonObject);
}

/**
 * The places in the way of a change: their present value is not the one that the change leads from. A definition as a
 * whole is in the way as the place of the empty pointer.
 *
 * @param change - a change, pruned or not
 * @returns JSON Pointers into the definition
 * @internal
 */
export function conflicts(
  fields: Fields,
  present: JsonObject | undefined,
  change: Change,
): readonly string[] {
  const { from, to } = change;
  const members = membersOf(fields);
  if (from === undefined || present === undefined) return from === present ? [] : [''];
  if (to === undefined) return members.between(present, from) === undefined ? [] : [''];
  return members.conflicts(present, members.between(from, to) ?? {}).map(formatPointer);
}

/**
 * Joins the changes of one resource, in order, into what they amount to: none, one, or a deletion and a creation, if
 * these differ in a member that no update can change.
 *
 * @param changes - changes, pruned or not
 * @returns pruned changes
 * @internal
 */
export function joined(fields: Fields, changes: readonly Change[]): readonly Change[] {
  const all: Change[] = [];
  for (const change of changes) {
    const last = all.pop();
    const next = pruned(fields, change);
    all.push(...(last === undefined ? [next] : joinedTwo(fields, last, next)));
  }
  return all;
}

function joinedTwo(fields: Fields, first: Change, second: Change): readonly Change[] {
  switch (`${String(verbOf(first))}, ${String(verbOf(second))}`) {
    case 'create, delete':
      return [];
    case 'create, update':
      return [changeOf(first.link, differingOf(undefined, merged(fields, first.to, second)))];
    case 'update, update':
      return updateOf(first.link, membersOf(fields).joined(first, second));
    case 'update, delete':
      return [changeOf(first.link, differingOf(merged(fields, second.from, inverse(first)), undefined))];
    case 'delete, create': {
      const update = membersOf(fields).between(first.from, second.to);
      return isFixedIn(fields, update) ? [first, second] : updateOf(first.link, update);
    }
    default:
      // What is gone is not updated and not deleted, and what is there is not created.
      return [first];
  }
}

function updateOf(link: string, differing: Differing | undefined): readonly Change[] {
  return differing === undefined ? [] : [changeOf(link, differing)];
}

/** Whether definitions differ in a member that no update can change, such as the module of a filter. */
function isFixedIn({ all }: Fields, { from, to }: Differing = {}): boolean {
  const names = keysIn(from, to);
  return all.some(
    ({ name, setting, wanted, entries }) => names.has(name) && (setting ?? wanted ?? entries) === undefined,
  );
}

function changeOf(link: string, differing: Differing): Change {
  return deepFreeze({ link, ...differing }) as Change;
}

/** What differs between two values: the values, or their parts by key. What is absent is left out. */
interface Differing {
  readonly from?: Json;
  readonly to?: Json;
}

function differingOf(from: Json | undefined, to: Json | undefined): Differing {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

/** How the values of one form are compared, merged and joined. */
interface Form {
  /** What differs; `undefined` if the values are equal. Of what differs already, the same. */
  between(this: void, before: Json | undefined, after: Json | undefined): Differing | undefined;
  merged(this: void, present: Json | undefined, differing: Differing): Json | undefined;
  /** The paths, below the value, of what is in the way. */
  conflicts(this: void, present: Json | undefined, differing: Differing): readonly (readonly string[])[];
  joined(this: void, first: Differing, second: Differing): Differing | undefined;
}

/** The form of one value: what differs is the whole. */
const whole: Form = {
  between: (before, after) => (isSame(before, after) ? undefined : differingOf(before, after)),
  merged: (_present, { to }) => to,
  conflicts: (present, { from }) => (isSame(present, from) ? [] : [[]]),
  joined: ({ from }, { to }) => whole.between(from, to),
};

/** The form of a value that has parts by key. What differs is an object of the parts that differ. */
function keyed(parts: {
  readonly in: (value: Json | undefined) => JsonObject;
  readonly whole: (parts: JsonObject) => Json;
  readonly formOf: (key: string) => Form;
}): Form {
  const { formOf } = parts;
  const partOf = ({ from, to }: Differing, key: string): Differing =>
    differingOf(own(from, key), own(to, key));
  return {
    between(before, after) {
      if (before === after) return undefined;
      const [old, now] = [parts.in(before), parts.in(after)];
      return gathered(keysIn(old, now), (key) => formOf(key).between(own(old, key), own(now, key)));
    },
    merged(present, differing) {
      const now = parts.in(present);
      const touched = keysIn(differing.from, differing.to);
      const entries = [...keysIn(now, differing.to)].flatMap((key): readonly (readonly [string, Json])[] => {
        const part = own(now, key);
        const next = touched.has(key) ? formOf(key).merged(part, partOf(differing, key)) : part;
        return next === undefined ? [] : [[key, next]];
      });
      return parts.whole(Object.fromEntries(entries));
    },
    conflicts(present, differing) {
      const now = parts.in(present);
      return [...keysIn(differing.from, differing.to)].flatMap((key) => {
        const below = formOf(key).conflicts(own(now, key), partOf(differing, key));
        return below.map((path) => [key, ...path]);
      });
    },
    joined(first, second) {
      const [early, late] = [keysIn(first.from, first.to), keysIn(second.from, second.to)];
      return gathered(new Set([...early, ...late]), (key) => {
        if (!late.has(key)) return partOf(first, key);
        if (!early.has(key)) return partOf(second, key);
        return formOf(key).joined(partOf(first, key), partOf(second, key));
      });
    },
  };
}

/** The form of a map, such as `parameters`. */
const map = keyed({ in: asObject, whole: (entries) => entries, formOf: () => whole });

/** The form of a list of things with names, such as `listeners`. The order of the list is no content. */
const things = keyed({
  in: (value) => (Array.isArray(value) ? Object.fromEntries(value.map(keyedThing)) : asObject(value)),
  whole: (parts) => Object.values(parts),
  formOf: () => whole,
});

function keyedThing(thing: Json): readonly [string, Json] {
  return [nameKey(own(thing, 'name') as string), thing];
}

/**
 * The form of a list of words, such as the status of a server: what differs is the whole, and goes word by word.
 *
 * @param isWanted - whether callers alone say that a word is there; a monitor may have found the others again meanwhile
 */
function wordsOf(isWanted: (word: string) => boolean): Form {
  return {
    ...whole,
    merged: (present, { from, to }) =>
      isSame(present, from) ? to : withWordsMoved(wordsIn(present), wordsIn(from), wordsIn(to)),
    joined: ({ from, to }, later) =>
      whole.between(from, [...withWordsMoved(wordsIn(to), wordsIn(later.from), wordsIn(later.to))]),
    conflicts(present, { from, to }) {
      const [now, before, after] = [wordsIn(present), wordsIn(from), wordsIn(to)];
      const hasGone = before.some((word) => !after.includes(word) && !now.includes(word));
      const isOfMonitor = movedWords(before, after).some((word) => !isWanted(word));
      const isNews = (word: string): boolean =>
        !isWanted(word) && !before.includes(word) && !after.includes(word);
      return hasGone || (isOfMonitor && now.some(isNews)) ? [[]] : [];
    },
  };
}

function wordsIn(value: Json | undefined): readonly string[] {
  return isTextList(value) ? value : [];
}

/** The form of a list of links: a set with an order. */
const links: Form = {
  between(before = [], after = []) {
    if (before === after) return undefined;
    if (isTextList(before) && isTextList(after)) return movesBetween(before, after);
    return { from: asObject(before), to: asObject(after) };
  },
  merged: (present, moves) => withMoves(isTextList(present) ? present : [], movesIn(moves)),
  // No pointer leads to a link that has come or gone.
  conflicts: (present, moves) =>
    haveMovedMeanwhile(isTextList(present) ? present : [], movesIn(moves)) ? [[]] : [],
  joined: (first, second) => joinedMoves(movesIn(first), movesIn(second)),
};

function movesIn({ from, to }: Differing): Moves {
  return { from: asObject(from) as Places, to: asObject(to) as Places };
}

const forms = { map, things, links } as const satisfies Partial<Record<PartsForm, Form>>;

function formOf({ parts, byName }: Fields, name: string): Form {
  const { [name]: form } = parts;
  if (form !== 'words') return form === undefined ? whole : forms[form];
  const field = byName.get(name);
  return wordsOf((word) => field !== undefined && isWantedPart(field, [word]));
}

/** The form of a definition. */
const membersOf = oncePer((fields: Fields): Form => {
  const formByName = new Map(Object.keys(fields.parts).map((name) => [name, formOf(fields, name)]));
  return keyed({
    in: asObject,
    whole: (definition) => definition,
    formOf: (name) => formByName.get(name) ?? whole,
  });
});

/** Collects the parts that differ; `undefined` if there are none. */
function gathered(
  keys: ReadonlySet<string>,
  differingOfPart: (key: string) => Differing | undefined,
): Differing | undefined {
  const all = [...keys].flatMap((key) => {
    const differing = differingOfPart(key);
    return differing === undefined ? [] : [{ key, ...differing }];
  });
  if (all.length === 0) return undefined;
  const side = (name: 'from' | 'to'): JsonObject =>
    Object.fromEntries(all.flatMap(({ key, [name]: part }) => (part === undefined ? [] : [[key, part]])));
  return { from: side('from'), to: side('to') };
}

function keysIn(one: Json | undefined, other: Json | undefined): ReadonlySet<string> {
  return new Set([...Object.keys(asObject(one)), ...Object.keys(asObject(other))]);
}

/** A member that an object itself has: a parameter can be called `constructor`. */
function own(object: Json | undefined, key: string): Json | undefined {
  return isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && sameJson(one, other));
}
