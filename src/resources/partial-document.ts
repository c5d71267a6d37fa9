/**
 * Partial documents: what a client gives of a gateway document, to be taken over by a running interface.
 *
 * A client sees no secrets, so a document that was read over the interface has none. It may also lack kinds, resources,
 * and the listeners of a service. What it lacks stays as it is, and a link may name what is in use.
 */
import { Batch } from '../core/batch.ts';
import { unchanged, type Context } from '../core/decision.ts';
import { isEntrySealed, type Field, type Fields } from '../core/field.ts';
import { nameKey } from '../core/name.ts';
import type { Note } from '../core/note.ts';
import type { FindName } from '../core/reference.ts';
import { formatPointer } from '../json/pointer.ts';
import { asObject, isArray, isObject, pick, sizeOf, type Json, type JsonObject } from '../json/value.ts';
import { ok, problemOf, type Fault, type Result } from '../problem.ts';
import { collectionOf, find, nameFinder, put, type ConfiguredEntity } from '../snapshot/state.ts';
import { loadDocument } from './document.ts';
import { adoptDocument, combineNamed, namedResources, wholes, type Decision } from './index.ts';
import { nothingCompared } from './shared/adoption.ts';
import type { NamedResources } from './shared/kind.ts';
import { withOwnDrains } from './shared/returning-drain.ts';
import type { Snapshot } from './snapshot.ts';

/** The kinds that a running interface takes over from a document. @internal */
export const adopted: readonly NamedResources<Snapshot>[] = namedResources.filter(
  ({ adoption }) => adoption !== undefined,
);

/** How far a document goes. @internal */
export interface Extent {
  /** The collections to compare, and `listeners` beside services; everything by default. */
  readonly only?: readonly string[] | undefined;
  /** Whether resources that the document lacks are deleted, of the kinds that it has. */
  readonly prune: boolean;
  /** Whether no resource at all may be left. */
  readonly allowEmpty: boolean;
}

/** The kinds that a document of this extent is compared in. @internal */
export function comparedIn({ only }: Pick<Extent, 'only'>): readonly NamedResources<Snapshot>[] {
  return adopted.filter(({ collection }) => only?.includes(collection) !== false);
}

/** Whether the lists of parts are compared, which are the listeners of services. @internal */
export function comparesParts({ only }: Pick<Extent, 'only'>): boolean {
  return only?.includes('listeners') !== false;
}

/** A document that was read. @internal */
export interface PartialDocument {
  /** The snapshot of the document, which has the lists that are compared. */
  readonly given: Snapshot;
  /** The lists of parts that stay as they are, such as the listeners of a service, by the resource of the parts. */
  readonly kept: ReadonlyMap<string, readonly KeptList[]>;
  /** What is not taken over. */
  readonly notes: readonly Note[];
}

/** A list of parts that stays as it is. */
interface KeptList {
  /** The name of the field. */
  readonly name: string;
  /** The pointer of the list in the document; left out if the document lacks the list. */
  readonly pointer?: string;
}

/**
 * Reads a document. Yields after each resource, so that a caller can pause there.
 *
 * @param document - the document, with sealed secrets
 * @param snapshot - the configuration in use, whose resources a link may name
 * @returns the document; refused with every fault, each with a pointer into the document of the client
 * @internal
 */
export function* readPartial(
  document: Json,
  { only, prune }: Extent,
  snapshot: Snapshot,
): Generator<undefined, Result<PartialDocument>> {
  const { users, sessions, ...members } = asObject(document);
  const others = Object.entries(members).filter(([name]) =>
    adopted.every((each) => each.collection !== name),
  );
  const hasParts = comparesParts({ only });
  const lists = comparedIn({ only }).flatMap((named) => {
    const { [named.collection]: list } = members;
    return list === undefined ? [] : [listOf(named, list, hasParts)];
  });
  const whole = Object.fromEntries([...others.flatMap(checkedPart), ...lists.map(({ member }) => member)]);
  const pruned = new Set(prune ? lists.map(({ member: [collection] }) => collection) : []);
  const findPresent = nameFinder(snapshot);
  // No link can name what goes.
  const around: FindName = (collection, key) =>
    pruned.has(collection) ? undefined : findPresent(collection, key);
  const { secretParameters = [] } = snapshot;
  const loading = yield* loadDocument(isObject(document) ? whole : document, [], secretParameters, {
    around,
    mostFaults,
  });
  const faults = [
    ...(users === undefined ? [] : [usersGiven]),
    ...('faults' in loading ? loading.faults : []),
  ];
  if ('faults' in loading || faults.length > 0) return { ok: false, problem: problemOf(faults) };
  const ignored = [...others.map(([name]) => name), ...(sessions === undefined ? [] : ['sessions'])];
  return ok({
    given: loading.build(''),
    kept: new Map(lists.flatMap(({ kept }) => kept)),
    notes: ignored.filter((name) => name !== 'format' && name !== '$schema').map(notTaken),
  });
}

/** After so many faults of a list, its later entries are not looked at: an answer shows fewer. @internal */
export const mostFaults = 1000;

/** The largest size of an ignored member whose contents are checked all the same, in characters of JSON. */
const mostChecked = 65_536;

/** The members that are ignored. */
const ignorable: ReadonlySet<string> = new Set([
  '$schema',
  'format',
  ...wholes.flatMap((whole) => Object.keys(whole.document)),
]);

/** An ignored member as far as it is checked. Of a large one the name is, so that no misspelt list is ignored. */
function checkedPart([name, value]: readonly [string, Json]): readonly (readonly [string, Json])[] {
  if (sizeOf(value, mostChecked) <= mostChecked) return [[name, value]];
  return ignorable.has(name) ? [] : [[name, null]];
}

const usersGiven: Fault = {
  pointer: '/users',
  code: 'op-not-allowed',
  detail: 'users are never taken over from a document: leave the member out, and change users at /users',
};

function notTaken(name: string): Note {
  const kinds = adopted.map(({ collection }) => collection).join(', ');
  return leftOut(`/${name}`, `only ${kinds} are taken over`);
}

function leftOut(pointer: string, why: string): Note {
  return { code: 'left-out', detail: `Left out: ${pointer}, because ${why}.` };
}

/** A list of a document, and which parts of its entries stay as they are. */
interface List {
  readonly member: readonly [collection: string, entries: Json];
  readonly kept: readonly (readonly [resource: string, lists: readonly KeptList[]])[];
}

/** @param hasParts - whether lists of parts are compared */
function listOf({ collection, fields }: NamedResources, list: Json, hasParts: boolean): List {
  const parts = fields.all.filter(({ entries }) => entries !== undefined).map(({ name }) => name);
  if (!isArray(list) || parts.length === 0) return { member: [collection, list], kept: [] };
  const kept = list.flatMap((entry, at) => {
    if (!isObject(entry) || typeof entry['name'] !== 'string') return [];
    const lacked = parts.filter((name) => !Object.hasOwn(entry, name));
    const pointed = parts.map((name) => ({ name, pointer: formatPointer([collection, at, name]) }));
    const own = lacked
      .map((name): KeptList => ({ name }))
      .concat(hasParts ? [] : pointed.filter(({ name }) => !lacked.includes(name)));
    return [[placeOf(collection, nameKey(entry['name'])), own] as const];
  });
  const entries = hasParts ? list : list.map((entry) => (isObject(entry) ? without(entry, parts) : entry));
  return { member: [collection, entries], kept };
}

/** A text for a resource. */
function placeOf(collection: string, key: string): string {
  return `${collection} ${key}`;
}

function without(entry: JsonObject, names: readonly string[]): JsonObject {
  return pick(entry, (name) => !names.includes(name));
}

/**
 * Decides to take a document over, as {@link adoptDocument} does. What the document lacks stays as it is: secrets, and
 * lists of parts such as listeners.
 *
 * @internal
 */
export function adoptPartial(
  snapshot: Snapshot,
  partial: PartialDocument,
  context: Context,
  { only, prune, allowEmpty }: Extent,
): Decision {
  const { given, notes } = partial;
  if (adopted.every((named) => collectionOf(given, named).isAbsent)) {
    return unchanged(snapshot, [], [...notes, nothingCompared(comparedIn({ only }))]);
  }
  const whole = withOwnDrains(snapshot, completed(partial, snapshot), context);
  const decision = adoptDocument(snapshot, whole, context, { prune, allowEmpty });
  const all = [...notes, ...newPartsLeft(partial, snapshot)];
  if (all.length === 0) return decision;
  return combineNamed([() => unchanged(snapshot, [], all), () => decision])(snapshot, context);
}

/** The notes about parts of new resources that are not created. */
function newPartsLeft({ given, kept }: PartialDocument, snapshot: Snapshot): readonly Note[] {
  return adopted.flatMap((named) =>
    [...collectionOf(given, named)]
      .filter(({ key }) => find(snapshot, named, key) === undefined)
      .flatMap(({ key }) => kept.get(placeOf(named.collection, key)) ?? [])
      .flatMap(({ name, pointer }) =>
        pointer === undefined ? [] : [leftOut(pointer, `${name} were not asked for`)],
      ),
  );
}

/** The snapshot of a document, completed with what stays as it is. */
function completed({ given, kept }: PartialDocument, snapshot: Snapshot): Snapshot {
  const change = { revision: given.revision, batch: new Batch() };
  let next = given;
  for (const named of adopted)
    for (const wanted of collectionOf(given, named)) {
      const present = find(snapshot, named, wanted.key);
      if (present === undefined) continue;
      const lists = kept.get(placeOf(named.collection, wanted.key)) ?? [];
      const { settings, ...rest } = keptMembers(named.fields, wanted, present, lists);
      if (Object.keys(rest).length + Object.keys(settings).length === 0) continue;
      const whole = { ...wanted, ...rest, settings: Object.freeze({ ...wanted.settings, ...settings }) };
      next = put(next, named, Object.freeze(whole), change);
    }
  change.batch.end();
  return Object.freeze(next);
}

/** The members of a resource that stay as they are. */
function keptMembers(
  fields: Fields,
  wanted: ConfiguredEntity,
  present: ConfiguredEntity,
  lists: readonly KeptList[],
): Members & { readonly settings: Members } {
  const now: Members = membersOf(present);
  const all = keptSecrets(fields, membersOf(wanted), now);
  for (const { name } of lists) all[name] = now[name];
  const settings = fields.all.filter(({ setting }) => setting !== undefined);
  const isSetting = (name: string): boolean => settings.some(({ patchName }) => patchName === name);
  return {
    ...pick(all, (name) => !isSetting(name)),
    settings: pick(all, isSetting),
  };
}

type Members = Readonly<Record<string, unknown>>;

function membersOf({ settings, ...rest }: ConfiguredEntity): Members {
  return { ...rest, ...settings };
}

/** The secrets that a resource has and its entry lacks, and the lists whose entries lack some. */
function keptSecrets(fields: Fields, wanted: Members, present: Members): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const field of fields.all) {
    const { [field.patchName]: then } = wanted;
    const { [field.patchName]: now } = present;
    const secret = now === undefined ? undefined : keptSecret(field, then, now);
    if (secret !== undefined) kept[field.patchName] = secret;
  }
  return kept;
}

function keptSecret({ secret, secretEntries: member, entries }: Field, then: unknown, now: unknown): unknown {
  if (entries !== undefined) return keptInList(entries, then as readonly Named[], now as readonly Named[]);
  if (secret === true) return then === undefined ? now : undefined;
  if (member === undefined) return undefined;
  const given = (then ?? {}) as JsonObject;
  const lacking = Object.entries(now as JsonObject).filter(
    ([name, entry]) => isEntrySealed(member, entry) && !Object.hasOwn(given, name),
  );
  return lacking.length === 0 ? undefined : Object.freeze({ ...given, ...Object.fromEntries(lacking) });
}

type Named = Members & { readonly name: string };

function keptInList(
  fields: Fields,
  wanted: readonly Named[],
  present: readonly Named[],
): readonly Named[] | undefined {
  const byKey = new Map(present.map((each) => [nameKey(each.name), each]));
  const kept = wanted.map((each) => keptSecrets(fields, each, byKey.get(nameKey(each.name)) ?? {}));
  if (kept.every((members) => Object.keys(members).length === 0)) return undefined;
  return Object.freeze(wanted.map((each, at) => Object.freeze({ ...each, ...kept[at] })));
}
