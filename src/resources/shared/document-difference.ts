/**
 * Document differences: the places where a gateway document differs from the configuration in use, in words for an
 * operator.
 */
import type { Named } from '../../core/collection.ts';
import { changeBetween } from '../../core/change.ts';
import { asShown, definitionIn, storedValue, type Field } from '../../core/field.ts';
import { parseLink } from '../../core/link.ts';
import { nameKey } from '../../core/name.ts';
import { isSealed, maskSecrets } from '../../core/secret.ts';
import { formatPointer } from '../../json/pointer.ts';
import { isArray, isObject, sameJson, type Json, type JsonObject } from '../../json/value.ts';
import {
  collectionOf,
  find,
  linkOf,
  nameFinder,
  type ConfiguredEntity,
  type State,
} from '../../snapshot/state.ts';
import type { NamedResources } from './kind.ts';
import { linksIn } from './use.ts';

/**
 * A place where a gateway document differs from the configuration in use.
 *
 * @public
 */
export interface DocumentDifference {
  /** Link of the resource, such as `/services/Sales`. */
  readonly resource: string;
  /**
   * JSON Pointer (RFC 6901) into the document, such as `/services/0/max_connection`. For a resource that the document
   * lacks, the pointer of the list without the resource.
   */
  readonly pointer: string;
  /** For people: both values, but no secret. Completes a sentence that starts with the place. */
  readonly detail: string;
  /**
   * For people: why {@link adoptDocument} cannot take the place over; left out if `adoptDocument` can. Continues the
   * sentence of `detail` after a semicolon.
   */
  readonly obstacle?: string;
}

/** The detail of the difference of a resource that only the document has. @internal */
export const onlyInDocument = 'is only in the document';

/** The obstacle of a difference in a member that no running gateway changes. @internal */
export const fixedMember = 'this field cannot change while the gateway runs';

/** The keys of the resources that count, by collection; `undefined` for all resources. @internal */
export type Scope = ReadonlyMap<string, ReadonlySet<string>> | undefined;

/** The resources of a collection that count, in the order of the scope. Looks at no other resource. @internal */
export function selectedIn(
  snapshot: State,
  named: Named<ConfiguredEntity>,
  scope: Scope,
): readonly ConfiguredEntity[] {
  if (scope === undefined) return [...collectionOf(snapshot, named)];
  return [...(scope.get(named.collection) ?? [])].flatMap((key) => find(snapshot, named, key) ?? []);
}

type Path = readonly (string | number)[];

/**
 * Compares a document with the configuration in use: resources by their keys, in any order, and each field that
 * outlives the process.
 *
 * @param compared - the collections to compare
 * @param snapshot - the configuration in use
 * @param given - the snapshot of the document
 * @param scope - the resources to compare; all by default
 * @internal
 */
export function documentDifferences(
  compared: readonly NamedResources[],
  snapshot: State,
  given: State,
  scope?: Scope,
): readonly DocumentDifference[] {
  return compared.flatMap((each) => {
    const { collection, adoption } = each;
    const wantedOnes = collectionOf(given, each);
    const found = selectedIn(given, each, scope).flatMap((wanted) => {
      const position = wantedOnes.positionOf(wanted.key) ?? 0;
      const present = find(snapshot, each, wanted.key);
      return present === undefined
        ? [
            lone(each, wanted, [collection, position], {
              detail: onlyInDocument,
              obstacle: strayLinkIn(each, wanted, { snapshot, given, scope }),
            }),
          ]
        : fieldDifferences({ ...each, snapshot, given, scope, present, wanted, position });
    });
    // Users come into being over the interface, so a document need not have them.
    const used = adoption === undefined ? [] : selectedIn(snapshot, each, scope);
    const gone = used.filter(({ key }) => wantedOnes.positionOf(key) === undefined);
    const detail = 'is not in the document';
    return [...found, ...gone.map((present) => lone(each, present, [collection], { detail }))];
  });
}

/** A resource that is only in one of the two. */
function lone(
  { collection, adoption }: NamedResources,
  entity: ConfiguredEntity,
  path: Path,
  { detail, obstacle }: { readonly detail: string; readonly obstacle?: string | undefined },
): DocumentDifference {
  const reason = adoption === undefined ? notTaken(collection) : obstacle;
  return Object.freeze({
    resource: linkOf(collection, entity),
    pointer: formatPointer(path),
    detail,
    ...(reason === undefined ? {} : { obstacle: reason }),
  });
}

/** Why a new resource cannot be created; `undefined` if each of its links names what is in use or taken over. */
function strayLinkIn(
  { fields }: NamedResources,
  { settings }: ConfiguredEntity,
  around: Around,
): string | undefined {
  const isStray = ([name, collection]: readonly [string, string]): boolean =>
    !linksIn(settings, name).every((link) => isTaken(link, collection, around));
  return Object.entries(fields.links).some(isStray) ? strayLink : undefined;
}

const strayLink = 'a link names a resource that is only in the document';

/** What a link can name: resources in use, and those of the document that are taken over. */
interface Around {
  readonly snapshot: State;
  readonly given: State;
  readonly scope: Scope;
}

function isTaken(link: string, collection: string, { snapshot, given, scope }: Around): boolean {
  const key = keyIn(link, collection);
  return (
    nameFinder(snapshot)(collection, key) !== undefined ||
    (nameFinder(given)(collection, key) !== undefined &&
      (scope === undefined || scope.get(collection)?.has(key) === true))
  );
}

function notTaken(collection: string): string {
  return `${collection} are never taken over from a document`;
}

/** A resource that is in use and in the document. */
interface Pair extends NamedResources, Around {
  readonly present: ConfiguredEntity;
  readonly wanted: ConfiguredEntity;
  /** The position of the resource in the document. */
  readonly position: number;
}

function fieldDifferences(pair: Pair): readonly DocumentDifference[] {
  const { fields, present, wanted } = pair;
  const [now, then] = [definitionIn(fields, present), definitionIn(fields, wanted)];
  const change = changeBetween(fields, '', now, then);
  if (change === undefined) return [];
  const { from = {}, to = {} } = change;
  return fields.all.flatMap((field) => {
    const { [field.name]: old } = from;
    const { [field.name]: next } = to;
    if (old === undefined && next === undefined) return [];
    // An operator reads also what is seen.
    if (field.wanted === undefined || field.setting === undefined) return placesIn(pair, field, old, next);
    const [inUse, given] = [present, wanted].map((each) => valueOf(field, asShown(fields, each)));
    return placesIn(pair, field, inUse, given);
  });
}

function valueOf(field: Field, resource: ConfiguredEntity): Json | undefined {
  return storedValue(field, resource, resource.settings) as Json | undefined;
}

/** The key of the name in a link; no key of a resource if the link is malformed. @internal */
export function keyIn(link: string, collection: string): string {
  return nameKey(parseLink(link, collection) ?? '');
}

/** The differences of a field, one for each place in the field. */
function placesIn(
  pair: Pair,
  field: Field,
  now: Json | undefined,
  then: Json | undefined,
): readonly DocumentDifference[] {
  const { collection, present, position } = pair;
  const obstacle = obstacleOf(pair, field, then);
  const place = (path: Path, detail: string): DocumentDifference =>
    Object.freeze({
      resource: linkOf(collection, present),
      pointer: formatPointer([collection, position, field.name, ...path]),
      detail,
      ...(obstacle === undefined ? {} : { obstacle }),
    });
  return leaves(now, then).map(({ path, now: old, then: next }) => {
    if (isSealed(old) || isSealed(next))
      return place(path, secretDetail(field.secret ? field.name : 'secret', old, next));
    const [inUse, given] = [old, next].map((value) => textOf(value && maskSecrets(value)));
    return place(path, `the document has ${String(given)}, and ${String(inUse)} is in use`);
  });
}

/** Why a field cannot be taken over; `undefined` if the field can. */
function obstacleOf(pair: Pair, field: Field, then: Json | undefined): string | undefined {
  const { collection, adoption } = pair;
  if (adoption === undefined) return notTaken(collection);
  const { links, name, setting, entries } = field;
  const { start, add } = adoption;
  const isAdopted =
    setting !== undefined ||
    (name === 'state' && start !== undefined) ||
    (entries !== undefined && add !== undefined);
  if (!isAdopted) return fixedMember;
  if (links === undefined) return undefined;
  return (then as readonly string[]).every((link) => isTaken(link, links, pair)) ? undefined : strayLink;
}

function secretDetail(name: string, now: Json | undefined, then: Json | undefined): string {
  if (now === undefined) return `the document has a ${name}, and none is in use`;
  return then === undefined
    ? `the document has no ${name}, and one is in use`
    : `the document has another ${name} than the one in use`;
}

function textOf(value: Json | undefined): string {
  if (value === undefined) return 'no value';
  const [text, longest] = [JSON.stringify(value), 100];
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

/** A place in a value of the document, with the value there and the value in use. */
interface Leaf {
  readonly path: Path;
  readonly now: Json | undefined;
  readonly then: Json | undefined;
}

/** The differing places of two values: in maps by name, and in lists of named objects by the names of the objects. */
function leaves(now: Json | undefined, then: Json | undefined, path: Path = []): readonly Leaf[] {
  if (now === then || (now !== undefined && then !== undefined && sameJson(now, then))) return [];
  const [old, next] = [membersOf(now), membersOf(then)];
  if (old === undefined || next === undefined) return [{ path, now, then }];
  return [...new Set([...next.keys(), ...old.keys()])].flatMap((name) => {
    // An object that the list of the document lacks has no place of its own there.
    const token = next.get(name)?.token ?? (isArray(then ?? null) ? undefined : name);
    return leaves(old.get(name)?.value, next.get(name)?.value, token === undefined ? path : [...path, token]);
  });
}

/** A member of a value, with its token in a JSON Pointer. */
interface Member {
  readonly token: string | number;
  readonly value: Json;
}

/**
 * The members of a map, or of a list of objects with different names, by name; `undefined` for any other value, and for
 * a secret.
 */
function membersOf(value: Json | undefined): ReadonlyMap<string, Member> | undefined {
  if (isSealed(value)) return undefined;
  if (isObject(value))
    return new Map(Object.entries(value).map(([token, member]) => [token, { token, value: member }]));
  if (value === undefined || !isArray(value) || !value.every(isNamed)) return undefined;
  const members = new Map(value.map((item, token) => [item.name, { token, value: item }]));
  return members.size === value.length ? members : undefined;
}

function isNamed(value: Json): value is JsonObject & { readonly name: string } {
  return isObject(value) && typeof value['name'] === 'string';
}
