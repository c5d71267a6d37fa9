/**
 * What a patch of a resource comes to, to compare with: the naive JSON Patch of `patch-model.ts` on the patch view,
 * and the rules of docs/spec-choices.md 21 to 29 in their plainest form. It shares no code with the sources.
 */
import type { Json, Operation } from 'gateway-admin-core';

import {
  isMembers,
  modifiableFields,
  type Kind,
  type Links,
  type ModifiableField,
} from '../contract/modifiable-field.ts';
import { modelEqual, modelPatch } from './patch-model.ts';

/** JSON with members. */
export type Members = Readonly<Record<string, unknown>>;

/** A resource as the model sees it. */
export interface ModelResource {
  readonly kind: Kind;
  /** What GET shows. */
  readonly shown: Members;
  /** The modifiable fields that are set, each secret as `{ sealed }` in its place. */
  readonly settings: Members;
  /** The canonical forms of links, by every spelling that is used. */
  readonly links: Links;
}

/** What becomes of a resource: new settings, or a refusal. */
export type ModelUpdate =
  { readonly done: false } | { readonly done: true; readonly changed: boolean; readonly settings: Members };

const fieldsByKind = new Map<Kind, Map<string, ModifiableField>>();
for (const row of modifiableFields) {
  const fields = fieldsByKind.get(row.kind) ?? new Map<string, ModifiableField>();
  fieldsByKind.set(row.kind, fields.set(row.field, row));
}

/** The modifiable fields of a kind, by name. */
export function modelFields(kind: Kind): ReadonlyMap<string, ModifiableField> {
  return fieldsByKind.get(kind) ?? new Map<string, ModifiableField>();
}

/** The word of a status that comes first. */
const first = 'maintenance';

const reserved = new Set(['__proto__', 'constructor', 'prototype']);
const refusal = { done: false } as const;

/** Says what a patch does to a resource. */
export function modelUpdate(resource: ModelResource, given: readonly Operation[]): ModelUpdate {
  const operations = given.map(bare);
  const { kind, shown, settings: old } = resource;
  const fields = modelFields(kind);
  if (operations.some((operation) => isForbidden(resource, operation))) return refusal;
  let view: Members = { ...shown, ...openPart(kind, old) };
  let secrets: Members = secretPart(kind, old);
  for (const operation of operations) {
    const outcome = modelPatch(view, openOperations(kind, view, operation));
    const hidden = modelPatch(secrets, secretOperations(kind, secrets, operation));
    if (!outcome.done || !hidden.done) return refusal;
    [view, secrets] = [outcome.document as Members, hidden.document as Members];
    // RFC 6902 §4.4: a move removes, and removing a list such as the filters empties it.
    for (const { field, removed } of fields.values())
      if (removed === 'empty' && !Object.hasOwn(view, field)) view = { ...view, [field]: emptyOf(field) };
  }
  const open = Object.fromEntries(Object.entries(view).filter(([name]) => fields.has(name)));
  if (!isValid(resource, open, secrets)) return refusal;
  const settings = together(kind, canonical(resource, open), secrets);
  if (kind === 'filter' && !keepsParameters(old, settings)) return refusal;
  const isWritten = operations.some(
    (operation) =>
      operation.op !== 'remove' &&
      (isSecret(kind, operation.path.slice(1)) || entriesIn(kind, operation).length > 0),
  );
  return { done: true, changed: isWritten || !modelEqual(settings, old), settings };
}

/** The settings without what no client sees. */
function openPart(kind: Kind, settings: Members): Members {
  const open = Object.entries(settings).filter(([field]) => !isSecret(kind, field));
  return Object.fromEntries(open.map(([field, value]) => [field, entriesOf(kind, field, value, false)]));
}

/** What no client sees of the settings: secrets, and of each map that can have some the secret entries. */
function secretPart(kind: Kind, settings: Members): Members {
  const some = Object.entries(settings).filter(([field]) => isSecret(kind, field) || isMap(kind, field));
  return Object.fromEntries(some.map(([field, value]) => [field, entriesOf(kind, field, value, true)]));
}

/** A map with its secret entries alone, or without them; any other value as it is. */
function entriesOf(kind: Kind, field: string, value: unknown, secret: boolean): unknown {
  if (!isMap(kind, field) || !isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => isSecretEntry(kind, field, name) === secret),
  );
}

/** Both parts of the settings: each secret in its place. */
function together(kind: Kind, open: Members, secrets: Members): Members {
  const placed = Object.entries(secrets).map(([field, secret]) => [
    field,
    isMap(kind, field) ? { ...(open[field] as Members), ...(secret as Members) } : secret,
  ]);
  return { ...open, ...Object.fromEntries(placed) };
}

/** RFC 6902 §4: members that an operation does not know are ignored. */
function bare(operation: Operation): Operation {
  const { op, path, from, value } = operation as Members;
  if (op === 'remove') return { op, path } as Operation;
  return (op === 'move' || op === 'copy' ? { op, path, from } : { op, path, value }) as Operation;
}

/** Choices 22, 24 and 29: what no state of the resource would make good. */
function isForbidden({ kind, shown }: ModelResource, operation: Operation): boolean {
  const { op, path } = operation;
  if (entriesIn(kind, operation).some((entry) => op === 'test' || !isWhole(kind, entry))) return true;
  const value = 'value' in operation ? operation.value : null;
  if (hasReserved(value)) return true;
  return [path, ...('from' in operation ? [operation.from] : [])].some((pointer) => {
    const tokens = pointer.split('/').slice(1);
    const [field = '', ...below] = tokens;
    if (tokens.length === 0 || tokens.some((token) => reserved.has(token))) return true;
    const name = nameOf(kind, field);
    if (isSecret(kind, name)) {
      const writes = op === 'add' || op === 'replace';
      return below.length > 0 || !(op === 'remove' || (writes && isSealed(value)));
    }
    if (isSecretEntry(kind, name, below[0])) return 'from' in operation || op === 'test';
    if (modelFields(kind).has(name)) return false;
    return !(op === 'test' && Object.hasOwn(shown, field));
  });
}

/** Whether a field is a map that can have secret entries. */
function isMap(kind: Kind, field: string): boolean {
  return modelFields(kind).get(field)?.secretEntries !== undefined;
}

/** The one name of secret entries in the sample. */
function isSecretEntry(kind: Kind, field: string, name: string | undefined): boolean {
  return isMap(kind, field) && name?.toLowerCase() === 'password';
}

/** What an operation gives for a secret entry of a map: below the entry, for it, or in the value for the whole map. */
interface SecretEntry {
  readonly name: string;
  readonly below: readonly string[];
  /** The value without shorthands; left out when the entry is removed. */
  readonly value?: unknown;
}

function entriesIn(kind: Kind, operation: Operation): readonly SecretEntry[] {
  const [field = '', name, ...below] = operation.path.split('/').slice(1);
  const value: unknown = 'value' in operation ? operation.value : undefined;
  if (isSecretEntry(kind, field, name)) {
    const given = below.length === 0 && value !== undefined ? fullEntry(kind, value) : value;
    return [{ name: name ?? '', below, ...(given === undefined ? {} : { value: given }) }];
  }
  if (name !== undefined) return [];
  const map = kind === 'filter' && operation.op !== 'test' ? fullMap(value) : value;
  return Object.entries(isMembers(map) ? map : {}).flatMap(([each, entry]) =>
    isSecretEntry(kind, field, each) ? [{ name: each, below: [], value: entry }] : [],
  );
}

/** Whether an operation gives a whole secret, sealed, or removes one. */
function isWhole(kind: Kind, { below, value }: SecretEntry): boolean {
  if (kind !== 'filter' || below.join() === 'value')
    return (kind === 'filter' || below.length === 0) && (value === undefined || isSealed(value));
  return below.length === 0 && (value === undefined || (isMembers(value) && isSealed(value['value'])));
}

function isSealed(value: unknown): boolean {
  return isMembers(value) && typeof value['sealed'] === 'string' && Object.keys(value).length === 1;
}

function hasReserved(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, member]) => reserved.has(key) || hasReserved(member));
}

function isSecret(kind: Kind, field: string): boolean {
  return modelFields(kind).get(field)?.secret === true;
}

/** The name of a field in a patch: that of the status of a server is `state`, and it may be called as it is shown. */
function nameOf(kind: Kind, field: string): string {
  return [...modelFields(kind).values()].find(({ shownAs }) => shownAs === field)?.field ?? field;
}

/** What an operation does to secrets, in the terms of RFC 6902 alone. */
function secretOperations(kind: Kind, secrets: Members, operation: Operation): readonly Operation[] {
  const { op, path } = operation;
  const [field = '', name] = path.split('/').slice(1);
  if (isSecret(kind, field)) return op === 'replace' ? [{ ...operation, op: 'add' }] : [operation];
  return entriesIn(kind, operation).map(({ name: entry, below, value }): Operation => {
    const place = ['', field, entry, ...below].join('/');
    const isNew = op === 'add' && below.length > 0 && !Object.hasOwn(secrets[field] as Members, entry);
    if (isNew) return { op, path: `/${field}/${entry}`, value: { value, configurable: true } } as Operation;
    return { op: name === undefined ? 'add' : op, path: place, value } as Operation;
  });
}

/** What an operation does to what clients see, in the terms of RFC 6902 alone. */
function openOperations(kind: Kind, view: Members, operation: Operation): readonly Operation[] {
  const { path } = operation;
  const [field = '', name] = path.split('/').slice(1);
  if (isSecret(kind, field)) return [];
  if (entriesIn(kind, operation).length === 0) return [open(kind, view, operation)];
  if (name !== undefined) return [];
  const given: unknown = 'value' in operation ? operation.value : undefined;
  const value = entriesOf(kind, field, kind === 'filter' ? fullMap(given) : given, false);
  return [{ op: 'add', path, value } as Operation];
}

function open(kind: Kind, view: Members, operation: Operation): Operation {
  const renamed = (pointer: string): string =>
    pointer.replace(/^\/([^/]*)/, (_, field: string) => `/${nameOf(kind, field)}`);
  const moved = 'from' in operation ? { from: renamed(operation.from) } : {};
  const named = { ...operation, path: renamed(operation.path), ...moved } as Operation;
  const [field = '', ...below] = named.path.split('/').slice(1);
  if (kind === 'filter' && 'value' in named && named.op !== 'test')
    return parameterOperation(view, named, below);
  if (below.length > 0) return named;
  if (named.op === 'remove' && modelFields(kind).get(field)?.removed === 'empty')
    return { op: 'replace', path: named.path, value: emptyOf(field) };
  return named.op === 'replace' ? { op: 'add', path: named.path, value: named.value } : named;
}

/** Choice 12: the single entry. */
function fullMap(value: unknown): unknown {
  const { name: single, ...entry } = isMembers(value) ? value : {};
  return typeof single === 'string' ? { [single]: { configurable: true, ...entry } } : value;
}

/** Choice 25: a text in place of a parameter. */
function fullEntry(kind: Kind, value: unknown): unknown {
  if (kind !== 'filter') return value;
  return { configurable: true, ...(isMembers(value) && !isSealed(value) ? value : { value }) };
}

/** Choice 25, and the single entry of choice 12. */
function parameterOperation(
  view: Members,
  operation: Extract<Operation, { readonly op: 'add' | 'replace' | 'test' }>,
  [name, member, ...below]: readonly string[],
): Operation {
  const { op, path, value } = operation;
  if (name === undefined) return { op: 'add', path, value: fullMap(value) } as Operation;
  if (member === undefined) return { op, path, value: fullEntry('filter', value) } as Operation;
  const { parameters } = view;
  const creates = op === 'add' && isMembers(parameters) && !Object.hasOwn(parameters, name);
  if (!creates || member !== 'value' || below.length > 0) return operation;
  return { op, path: `/parameters/${name}`, value: { value, configurable: true } };
}

function isValid({ kind, links }: ModelResource, open: Members, secrets: Members): boolean {
  return [...modelFields(kind).values()].every((row) => {
    const { field, is, removed, secretEntries } = row;
    if (row.secret === true) return true;
    if (!Object.hasOwn(open, field)) return mayBeAbsent(removed, open);
    const hidden = secretEntries === undefined ? {} : (secrets[field] as Members);
    const isSound = secretEntries === 'value' ? isSealedParameter : isSealed;
    return is(open[field], links) && Object.values(hidden).every(isSound);
  });
}

/** Choice 26: without a port, the address is the path of a socket. */
function mayBeAbsent(removed: ModifiableField['removed'], { address }: Members): boolean {
  return (
    removed === 'absent' || (removed === 'port' && typeof address === 'string' && address.startsWith('/'))
  );
}

/** What is left of a field that is never absent when it is removed. */
function emptyOf(field: string): Json {
  return field === 'parameters' ? {} : [];
}

function isSealedParameter(entry: unknown): boolean {
  if (!isMembers(entry) || Object.keys(entry).sort().join() !== 'configurable,value') return false;
  return isSealed(entry['value']) && typeof entry['configurable'] === 'boolean';
}

/** What is not configurable stays as it is, and nothing changes whether it is. */
function keepsParameters(before: Members, after: Members): boolean {
  const [old, now] = [before, after].map(({ parameters }) => parameters as Readonly<Record<string, Members>>);
  return Object.entries(old ?? {}).every(([name, parameter]) => {
    const present = now !== undefined && Object.hasOwn(now, name) ? now[name] : undefined;
    if (parameter['configurable'] === false) return modelEqual(present ?? null, parameter);
    return present === undefined || present['configurable'] === true;
  });
}

function canonical({ links }: ModelResource, result: Members): Members {
  const each = (name: string, value: unknown): unknown => {
    if (name === 'state')
      return [...new Set(value as string[])].sort(
        (one, other) => Number(other === first) - Number(one === first),
      );
    return Array.isArray(value) ? value.map((link: string) => links.get(link)) : value;
  };
  return Object.fromEntries(Object.entries(result).map(([name, value]) => [name, each(name, value)]));
}
