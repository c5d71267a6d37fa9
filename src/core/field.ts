/**
 * Fields: one table for each kind of resource. The shapes, the document form, the representation and the patch view of
 * the kind all follow from that table.
 *
 * A table reads like a field table of the Gateway Administration REST Interface: one row for each field, in the order
 * in which clients see the fields. A kind writes a function beside its table for anything that does not fit a row.
 */
import * as z from 'zod/mini';

import { hasReservedKey } from '../json/pointer.ts';
import { deepFreeze, isObject, type Json, type JsonObject } from '../json/value.ts';
import { isTextList } from './reference.ts';
import { isSealed } from './secret.ts';
import * as shape from './shape.ts';
import { formatInstant, parseInstant, type TimeFormat } from './time.ts';

/** The rules of one field: one row of a table. */
interface FieldRules {
  /** Shape of the value. For a time: {@link shape.instant}, the form in a document. For a secret: the sealed form. */
  readonly shape: z.core.$ZodType;
  /** A gateway may close sessions by itself when the field changes. */
  readonly closes?: true;
  /** A JSON Patch can change the field. A text is the name in patches and settings, if that name differs. */
  readonly setting?: true | string;
  /** No JSON Patch can change the setting: commands of its own do. */
  readonly patched?: false;
  /** The value is a secret: clients write it and never read it, and it is stored as {@link Sealed}. */
  readonly secret?: true;
  /** The secret is stored as a hash. One value can have several hashes: its content is the command that has set it. */
  readonly hashed?: true;
  /**
   * The field is a map, of which the host declares entries secret by their names. Clients write and never read such an
   * entry, and it is stored sealed. A text is the member of an entry that is sealed; `true` means the whole entry.
   */
  readonly secretEntries?: true | string;
  /** Shape of the map as clients see and write it, without sealed values. Needs `secretEntries`. */
  readonly open?: z.core.$ZodType;
  /** Shape of the map in a definition from a client, if it differs from `open`. */
  readonly given?: z.core.$ZodType;
  /** The collection that the links of the field belong to, such as `servers`. */
  readonly links?: string;
  /** The fields of each entry of the list. */
  readonly entries?: Fields;
  /** The field may be absent. */
  readonly optional?: true;
  /** The field may be absent only where another field replaces it. Needs `optional`. */
  readonly required?: shape.Requirement;
  /** A rule about the field and others, for an entry of a document. */
  readonly rule?: z.core.$ZodCheck<Readonly<Record<string, unknown>>>;
  /** The value if a document leaves the field out. */
  readonly default?: Json;
  /** The field is not shown while it is empty, and a patch that removes the field empties it. Needs a `default`. */
  readonly hiddenWhenEmpty?: true;
  /** The field is stored as an instant and shown in this form. */
  readonly time?: keyof TimeFormat;
  /** The field is computed when it is shown. A document may contain the field; its value there is ignored. */
  readonly derived?: true;
  /** Shape of the value that clients see, which is computed when the field is shown. Needs `setting`. */
  readonly shownAs?: z.core.$ZodType;
  /** The field exists in documents only. */
  readonly shown?: false;
  /** The field is shown only if the client asks for it, and exists in no document. Needs `derived` and `optional`. */
  readonly onRequest?: true;
  /** Shape of the value in a document, if it differs from `shape`. */
  readonly accepts?: z.core.$ZodType;
  /** Brings a valid value into its stored form. */
  readonly normalize?: (value: never) => unknown;
  /** The host sees the value, in one life of the gateway: `seen` of a resource has it, and no definition. */
  readonly seen?: true;
  /**
   * What callers can want of the value: `seen` of a resource has the rest. Clients see a list with the rest behind what
   * is wanted, and in place of any other value the rest, if there is some.
   */
  readonly wanted?: z.core.$ZodType;
}

/** The fields of a kind by name, in the order in which clients see them. @internal */
export type FieldTable = Readonly<Record<string, FieldRules>>;

/** A field with its names. @internal */
export interface Field extends FieldRules {
  /** Name for clients and in documents. */
  readonly name: string;
  /** Name in a JSON Patch and in the snapshot. */
  readonly patchName: string;
}

/** The fields of a kind, and the shapes that follow from them. @internal */
export interface Fields {
  /** Every field, in the order of the table. */
  readonly all: readonly Field[];
  /** Shape of the representation. */
  readonly representation: shape.ObjectShape;
  /** Shape of an entry in a gateway document. */
  readonly document: shape.ObjectShape;
  /** Shape of a resource of which only the rules about several fields are checked. */
  readonly whole: z.core.$ZodType;
  /** The collection of each field with links, by the name of the field. */
  readonly links: Readonly<Record<string, string>>;
  /** The fields whose values have parts, which a change can touch one by one. */
  readonly parts: Readonly<Record<string, PartsForm>>;
  /** The fields by name. */
  readonly byName: ReadonlyMap<string, Field>;
  /** The settings that have another name in a JSON Patch and in a snapshot. */
  readonly renames: readonly Field[];
  /** The fields of which the host sees something: the settings, and the others. */
  readonly seen: Readonly<Record<'settings' | 'rest', readonly Field[]>>;
}

/** The form of a value with parts: a map, a list of things with names, of links, or of words. @internal */
export type PartsForm = 'map' | 'things' | 'links' | 'words';

/** The interfaces that document a kind. The table must agree with each of them. */
interface Interfaces {
  /** The settings; left out for a kind without settings. */
  readonly settings?: object;
  readonly representation: object;
  readonly document: object;
  /** The members of the resource in a snapshot, without the settings and what the host sees. */
  readonly state: object;
  /** What the host alone sees; left out for a kind of which it sees nothing. */
  readonly seen?: object;
}

/**
 * Declares the fields of a kind. A table that differs from one of the interfaces does not compile; the compiler error
 * names the interface and the members that differ.
 *
 * @internal
 */
export function defineFields<I extends Interfaces>(): <const T extends FieldTable>(
  table: T & Agreement<T, I>,
) => Fields {
  return (table): Fields => {
    const all = Object.entries<FieldRules>(table).map(([name, rules]) => fieldOf(name, rules));
    const rules = all.flatMap(({ rule }) => rule ?? []);
    const seen = all.filter((field) => field.seen ?? field.wanted);
    return Object.freeze({
      all,
      representation: objectOf(all.filter(isShown), 'name', representationShape),
      document: objectOf(all.filter(isInDocument), 'name', documentShape).check(...rules),
      whole: z.looseObject({}).check(...rules),
      links: linksOf(all),
      parts: partsOf(all),
      byName: new Map(all.map((field) => [field.name, field])),
      renames: all.filter((field) => isSetting(field) && field.patchName !== field.name),
      seen: { settings: seen.filter(isSetting), rest: seen.filter((field) => !isSetting(field)) },
    });
  };
}

function isSetting({ setting }: Field): boolean {
  return setting !== undefined;
}

function isInDocument({ onRequest }: Field): boolean {
  return onRequest !== true;
}

function fieldOf(name: string, rules: FieldRules): Field {
  const { setting } = rules;
  return deepFreezeRules({ ...rules, name, patchName: typeof setting === 'string' ? setting : name });
}

/** The default is frozen too, because snapshots store it. The shapes belong to zod and stay as they are. */
function deepFreezeRules(field: Field): Field {
  deepFreeze(field.default);
  return Object.freeze(field);
}

/** A value as its field stores it: a client can write a map of parameters as a single entry. @internal */
export function asStored({ accepts }: Pick<Field, 'accepts'>, value: Json): Json {
  // A shape of a map leaves `__proto__` out without a word, and the fault of the key would be gone with it.
  if (accepts === undefined || hasReservedKey(value) !== undefined) return value;
  const parsed = z.safeParse(accepts, value);
  return parsed.success ? (parsed.data as Json) : value;
}

/** Gives the shape of an object with one member for each field, named by one of the names of the field. @internal */
export function objectOf(
  fields: readonly Field[],
  nameBy: 'name' | 'patchName',
  shapeOf: (field: Field) => z.core.SomeType,
): shape.ObjectShape {
  const members = Object.fromEntries(fields.map((field) => [field[nameBy], shapeOf(field)]));
  const checks = fields.flatMap(({ required, [nameBy]: name }) =>
    required === undefined ? [] : [shape.requiredMember(name, required)],
  );
  return z.strictObject(members).check(...checks) as shape.ObjectShape;
}

/**
 * Gives the shape of a definition from a client: configuration, with secrets in plain text, and what is ignored because
 * the gateway computes it.
 *
 * @internal
 */
export function definitionShape({ all }: Fields): shape.ObjectShape {
  const defined = all.filter(
    (field) =>
      (field.derived !== true || field.accepts === undefined) &&
      field.seen !== true &&
      field.patched !== false,
  );
  return objectOf(
    defined,
    'name',
    ({
      shape,
      secretEntries,
      open = shape,
      accepts = shape,
      given = secretEntries === undefined ? accepts : open,
      wanted = given,
      secret,
      entries,
      derived,
      optional,
      default: empty,
    }) => {
      if (derived === true) return z.exactOptional(z.unknown());
      const written = secret === true ? z.string() : wanted;
      const value = entries === undefined ? written : z.array(definitionShape(entries));
      return optional === true || empty !== undefined ? z.exactOptional(value) : value;
    },
  );
}

function representationShape(field: Field): z.core.SomeType {
  const value = field.time === undefined ? (field.shownAs ?? field.open ?? field.shape) : z.string();
  return field.optional === true || field.hiddenWhenEmpty === true ? z.exactOptional(value) : value;
}

function documentShape(field: Field): z.core.SomeType {
  if (field.derived === true) return z.exactOptional(field.accepts ?? z.unknown());
  const value = field.accepts ?? field.shape;
  return field.optional === true || field.default !== undefined ? z.exactOptional(value) : value;
}

/** Tells whether clients see a field. @internal */
export function isShown({ secret, shown }: Field): boolean {
  return secret !== true && shown !== false;
}

/** Stored values by name. */
type Stored = Readonly<Record<string, unknown>>;

/** The stored values of an entry: the settings, what the host sees, and the rest. */
interface Loaded {
  readonly settings: Stored;
  readonly seen: Stored;
  readonly rest: Stored;
}

/**
 * Loads a valid entry of a gateway document: fills in the defaults, turns times into instants and leaves out derived
 * fields.
 *
 * @internal
 */
export function loadFields({ all }: Fields, entry: object): Loaded {
  const settings: Record<string, unknown> = {};
  const seen: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const field of all) {
    if (field.derived === true) continue;
    const given = (entry as Stored)[field.name] ?? field.default;
    if (given === undefined) continue;
    const value = fromDocument(field, given);
    const parts = field.seen === true ? { seen: value } : split(field, value);
    if (parts.seen !== undefined) seen[field.name] = parts.seen;
    const target = field.setting === undefined ? rest : settings;
    if ('wanted' in parts) target[field.patchName] = parts.wanted;
  }
  return { settings, seen, rest };
}

/** Whether callers can want a value of a field; of a list, all of its items. @internal */
export function isWantedPart({ wanted: shape }: Field, value: unknown): boolean {
  return shape === undefined || z.safeParse(shape, value).success;
}

/** What callers want of a value, and what the host sees of it. */
function split(field: Field, value: unknown): { wanted: unknown; seen?: unknown } {
  const { wanted: shape, default: empty } = field;
  const isWanted = (part: unknown): boolean => isWantedPart(field, part);
  if (shape === undefined || !Array.isArray(value))
    return isWanted(value) ? { wanted: value } : { wanted: empty, seen: value };
  const partOf = (is: boolean): readonly unknown[] =>
    value.filter((item: unknown) => isWanted([item]) === is);
  return { wanted: partOf(true), seen: partOf(false) };
}

/** A resource, as far as its fields are concerned. @internal */
export type Thing = Readonly<{ seen?: object; settings: object }>;

/** A resource as clients see it: with what the host sees in the place where clients see it. @internal */
export function asShown<T extends Thing>(fields: Fields, thing: T): T {
  const { seen, ...rest } = thing;
  if (seen === undefined) return thing;
  return {
    ...withSeen(fields.seen.rest, rest, seen),
    settings: shownSettings(fields, thing),
  } as unknown as T;
}

/** The settings of a resource as clients see and patch them. @internal */
export function shownSettings<T extends Thing>(
  { seen: { settings: fields } }: Fields,
  thing: T,
): T['settings'] {
  const { settings, seen = {} } = thing;
  return fields.length === 0 ? settings : deepFreeze(withSeen(fields, settings, seen));
}

/** Stored values with what the host sees. */
function withSeen<T extends object>(fields: readonly Field[], stored: T, seen: object): T {
  const whole = { ...stored } as Record<string, unknown>;
  for (const { name, patchName } of fields) {
    const { [name]: own } = seen as Stored;
    if (own !== undefined) whole[patchName] = Array.isArray(own) ? [whole[patchName], own].flat() : own;
  }
  return whole as T;
}

/**
 * A copy of a resource with other members. Of a member that the host sees too, the copy has what callers want. A secret
 * that redaction has left out stays as it is.
 *
 * @param members - those that go, and those that come, by the names of the fields. Other names are ignored
 * @throws TypeError for a value that the field cannot have, and for a field that no update can write
 * @internal
 */
export function withMembers<T extends Thing>(
  { byName }: Fields,
  thing: T,
  { from, to }: { readonly from: object; readonly to: object },
): T {
  const [rest, settings] = [{ ...thing }, { ...thing.settings }] as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  for (const name of Object.keys({ ...from, ...to })) {
    const field = byName.get(name);
    if (field === undefined) continue;
    const target = field.setting === undefined ? rest : settings;
    const { patchName } = field;
    if (Object.hasOwn(to, name))
      target[patchName] = writtenValue(field, (to as Stored)[name] as Json, target[patchName] as Json);
    else Reflect.deleteProperty(target, patchName);
  }
  return { ...rest, settings: Object.freeze(settings) } as unknown as T;
}

/** A value that an update writes, as it is stored. An event of a store can be damaged. */
function writtenValue(field: Field, value: Json, present: Json | undefined): unknown {
  const { name, setting, wanted: shape, links, secretEntries } = field;
  const isWritable = setting !== undefined || shape !== undefined;
  if (!isWritable || (links !== undefined && !isTextList(value)))
    throw new TypeError(`No update gives ${JSON.stringify(name)} this value`);
  if (value === null) return present;
  const whole = secretEntries === undefined || !isObject(value) ? value : withPresent(value, present);
  const { wanted } = split(field, fromDocument(field, whole));
  if (shape !== undefined && !Array.isArray(value) && wanted !== whole)
    throw new TypeError(`No update gives ${JSON.stringify(name)} this value`);
  return deepFreeze(wanted);
}

/** A map whose secrets redaction has left out, with those that are there. */
function withPresent(map: JsonObject, present: Json | undefined): JsonObject {
  if (Object.values(map).every((entry) => entry !== null)) return map;
  const kept = isObject(present ?? null) ? (present as JsonObject) : {};
  return Object.fromEntries(
    Object.entries(map).flatMap(([name, entry]): [string, Json][] => {
      const value = entry ?? (Object.hasOwn(kept, name) ? kept[name] : undefined);
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );
}

function fromDocument({ time, normalize }: Field, value: unknown): unknown {
  if (time !== undefined) return parseInstant(value as string);
  return normalize === undefined ? value : normalize(value as never);
}

/** Writes an entry of a gateway document. The inverse of {@link loadFields}. @internal */
export function saveFields({ all }: Fields, rest: object, settings: object = {}): object {
  const entry: Record<string, unknown> = {};
  for (const field of all) {
    const value = storedValue(field, rest, settings);
    if (value === undefined || field.derived === true) continue;
    entry[field.name] = field.time === undefined ? value : formatInstant(value as number);
  }
  return entry;
}

/** The definition of a resource: its entry in a gateway document, with what callers want. @internal */
export function definitionIn(fields: Fields, thing: Thing): JsonObject {
  return saveFields(fields, thing, thing.settings) as JsonObject;
}

/** The settings of a resource by the names of their fields. @internal */
export function membersIn({ renames }: Fields, settings: object): JsonObject {
  return renamed(renames, settings, 'patchName', 'name');
}

/** Settings by the names that they have in a snapshot. The inverse of {@link membersIn}. @internal */
export function settingsIn({ renames }: Fields, members: object): JsonObject {
  return renamed(renames, members, 'name', 'patchName');
}

function renamed(
  fields: readonly Field[],
  values: object,
  from: 'name' | 'patchName',
  to: 'name' | 'patchName',
): JsonObject {
  if (fields.length === 0) return values as JsonObject;
  const others = { ...values } as Record<string, Json>;
  for (const { [from]: old, [to]: name } of fields) {
    const { [old]: value } = others;
    if (value === undefined) continue;
    Reflect.deleteProperty(others, old);
    others[name] = value;
  }
  return others;
}

/** The values from which {@link representFields} writes a representation. @internal */
export interface Representing {
  /** The stored values that are not settings. */
  readonly rest: object;
  /** The settings; left out for a kind without settings. */
  readonly settings?: object;
  /** The computed fields by name. A field that is `undefined` or missing is not shown. */
  readonly derived?: object;
  readonly times: TimeFormat;
}

/** Writes the representation of a resource, with its members in the order of the table. @internal */
export function representFields({ all }: Fields, representing: Representing): object {
  const { rest, settings = rest, derived = rest, times } = representing;
  const representation: Record<string, unknown> = {};
  for (const field of all) {
    if (!isShown(field)) continue;
    const isComputed = field.derived === true || field.shownAs !== undefined;
    const value = isComputed ? (derived as Stored)[field.name] : shownValue(field, rest, settings);
    if (value === undefined || (field.hiddenWhenEmpty === true && isEmpty(value))) continue;
    representation[field.name] = field.time === undefined ? value : times[field.time](value as number);
  }
  return representation;
}

/** Gives the stored value of a field; `undefined` if the field is absent. @internal */
export function storedValue({ setting, patchName }: Field, rest: object, settings: object): unknown {
  return ((setting === undefined ? rest : settings) as Stored)[patchName];
}

/** The stored value of a field without the secrets in it. */
function shownValue(field: Field, rest: object, settings: object): unknown {
  const value = storedValue(field, rest, settings);
  if (field.secretEntries === undefined || value === undefined) return value;
  return openEntries(field, value as JsonObject);
}

/** The entries of a map that are no secrets; the same object if none is a secret. @internal */
export function openEntries(
  { secretEntries: member }: Pick<Field, 'secretEntries'>,
  map: JsonObject,
): JsonObject {
  const names = Object.keys(map);
  const open = names.filter((name) => !isEntrySealed(member, map[name]));
  return open.length === names.length
    ? map
    : Object.fromEntries(open.map((name) => [name, map[name] ?? null]));
}

/** Whether an entry of a map is sealed, or its member is. @internal */
export function isEntrySealed(member: Field['secretEntries'], entry: Json | undefined): boolean {
  return isSealed(
    typeof member === 'string' && isObject(entry ?? null) ? (entry as JsonObject)[member] : entry,
  );
}

function isEmpty(value: unknown): boolean {
  return Object.keys(value as object).length === 0;
}

function linksOf(all: readonly Field[]): Fields['links'] {
  return Object.fromEntries(all.flatMap(({ name, links }) => (links === undefined ? [] : [[name, links]])));
}

function partsOf(all: readonly Field[]): Fields['parts'] {
  const formOf = ({
    secretEntries,
    entries,
    links,
    wanted,
    default: empty,
  }: Field): PartsForm | undefined => {
    if (entries !== undefined) return 'things';
    if (links !== undefined) return 'links';
    if (wanted !== undefined && Array.isArray(empty)) return 'words';
    return secretEntries === undefined ? undefined : 'map';
  };
  return Object.fromEntries(
    all.flatMap((field) => {
      const form = formOf(field);
      return form === undefined ? [] : [[field.name, form]];
    }),
  );
}

/** Gives the names of the fields that are secret as a whole. @internal */
export function secretNames(tables: readonly Fields[]): ReadonlySet<string> {
  const all = tables.flatMap((table) => table.all);
  return new Set(all.flatMap(({ name, secret }) => (secret === true ? [name] : [])));
}

// The types below follow from a table.

type Value<R> = R extends { readonly shape: z.core.$ZodType<infer T> } ? DeepReadonly<T> : never;
type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;
type Flat<T> = { readonly [K in keyof T]: T[K] };

interface Optional {
  readonly optional: true;
}
interface Hidden {
  readonly hiddenWhenEmpty: true;
}
type Absent = { readonly secret: true } | { readonly shown: false };
interface Derived {
  readonly derived: true;
}
interface Seen {
  readonly seen: true;
}

/** The name, if its row extends `Is` and does not extend `IsNot`; `never` otherwise. */
type When<Name, R, Is, IsNot = never> = R extends Is ? (R extends IsNot ? never : Name) : never;
type StoredName<R, Name> = R extends { readonly setting: infer S extends string } ? S : Name;

interface Setting {
  readonly setting: true | string;
}

/** The settings that a table declares. */
type SettingsOf<T> = Flat<
  {
    readonly [K in keyof T as When<StoredName<T[K], K>, T[K], Setting, Optional>]: Value<T[K]>;
  } & { readonly [K in keyof T as When<StoredName<T[K], K>, T[K], Setting & Optional>]?: Value<T[K]> }
>;

type Wanted<R> = R extends { readonly wanted: z.core.$ZodType<infer T> } ? DeepReadonly<T> : Value<R>;
type InSnapshot<R> = R extends { readonly time: string } ? number : Wanted<R>;
type Elsewhere = Setting | Derived | Seen;

/** What the host alone sees, as a table declares it. */
type SeenOf<T> = Flat<{ readonly [K in keyof T as When<K, T[K], Seen>]?: InSnapshot<T[K]> }>;

/** The members of a resource in a snapshot, without the settings, that a table declares. */
type StateOf<T> = Flat<
  {
    readonly [K in keyof T as When<StoredName<T[K], K>, T[K], unknown, Elsewhere | Optional>]: InSnapshot<
      T[K]
    >;
  } & {
    readonly [K in keyof T as When<StoredName<T[K], K>, T[K], Optional, Elsewhere>]?: InSnapshot<T[K]>;
  }
>;

type Given<R> = R extends { readonly time: string } ? string : Value<R>;
type Shown<R> = R extends { readonly shownAs: z.core.$ZodType<infer T> }
  ? DeepReadonly<T>
  : R extends { readonly open: z.core.$ZodType<infer T> }
    ? DeepReadonly<T>
    : Given<R>;

/** The representation that a table declares. */
type RepresentationOf<T> = Flat<
  { readonly [K in keyof T as When<K, T[K], unknown, Absent | Optional | Hidden>]: Shown<T[K]> } & {
    readonly [K in keyof T as When<K, T[K], Optional | Hidden, Absent>]?: Shown<T[K]>;
  }
>;

type Accepted<R> = R extends { readonly accepts: z.core.$ZodType<unknown, infer In> }
  ? DeepReadonly<In>
  : R extends Derived
    ? unknown
    : Given<R>;
type MaybeGiven = Optional | Derived | { readonly default: unknown };
interface OnRequest {
  readonly onRequest: true;
}

/** The entry of a gateway document that a table declares. */
type DocumentOf<T> = Flat<
  {
    readonly [K in keyof T as When<K, T[K], unknown, MaybeGiven>]: Accepted<T[K]>;
  } & { readonly [K in keyof T as When<K, T[K], MaybeGiven, OnRequest>]?: Accepted<T[K]> }
>;

/**
 * The check of a table against its interfaces: `unknown` if they agree, the names of the differing members otherwise.
 */
type Agreement<T, I extends Interfaces> = Check<'settings', SettingsOf<T>, I> &
  Check<'representation', RepresentationOf<T>, I> &
  Check<'document', DocumentOf<T>, I> &
  Check<'state', StateOf<T>, I> &
  Check<'seen', SeenOf<T>, I>;
type Check<K extends keyof Interfaces, Declared, I extends Interfaces> = CheckWritten<
  K,
  Declared,
  I extends { readonly [P in K]: infer Written } ? Written : object
>;
type CheckWritten<K extends keyof Interfaces, Declared, Written> =
  Differing<Declared, Flat<Written>> extends never
    ? unknown
    : { readonly [P in `these members differ from the ${K}`]: Differing<Declared, Flat<Written>> };
type Differing<A, B> = {
  [K in keyof A | keyof B]-?: K extends keyof A & keyof B
    ? Same<Flat<Pick<A, K>>, Flat<Pick<B, K>>> extends true
      ? never
      : K
    : K;
}[keyof A | keyof B];
/**
 * Whether two types are identical. Mutual assignability is not enough, because `{ a?: 1 }` and `{}` pass that check.
 */
type Same<A, B> = Probe<A> extends Probe<B> ? true : false;
// Two generic functions are assignable only if they use T in the same way.
type Probe<T> = <X>(value: X) => X extends T ? 1 : 2;
