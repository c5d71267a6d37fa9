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
  /** The modifiable fields that are set; the password of a service as its sealed text. */
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
  const fields = modelFields(resource.kind);
  if (operations.some((operation) => isForbidden(resource, operation))) return refusal;
  let view: Members = { ...resource.shown, ...resource.settings };
  for (const operation of operations) {
    const outcome = modelPatch(view, translated(resource, view, operation));
    if (!outcome.done) return refusal;
    view = outcome.document as Members;
    // RFC 6902 §4.4: a move removes, and removing a list such as the filters empties it.
    for (const { field, removed } of fields.values())
      if (removed === 'empty' && !Object.hasOwn(view, field)) view = { ...view, [field]: emptyOf(field) };
  }
  const sealed = new Set([...fields.values()].map(({ entriesSealedAs }) => entriesSealedAs));
  const result = Object.fromEntries(
    Object.entries(view).filter(([name]) => fields.has(name) || sealed.has(name)),
  );
  if (!isValid(resource, result)) return refusal;
  const settings = canonical(resource, result);
  const written = operations.some(
    (operation) =>
      operation.op !== 'remove' &&
      (isSecret(resource.kind, operation.path.slice(1)) || entriesIn(resource.kind, operation).length > 0),
  );
  return { done: true, changed: written || !modelEqual(settings, resource.settings), settings };
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
      return (
        below.length > 0 ||
        !(op === 'remove' || (writes && isMembers(value) && typeof value['sealed'] === 'string'))
      );
    }
    if (isSecretEntry(kind, name, below[0])) return 'from' in operation || op === 'test';
    if (modelFields(kind).has(name)) return false;
    return !(op === 'test' && Object.hasOwn(shown, field));
  });
}

/** The one name of secret entries in the sample. */
function isSecretEntry(kind: Kind, field: string, name: string | undefined): boolean {
  const { entriesSealedAs } = modelFields(kind).get(field) ?? {};
  return entriesSealedAs !== undefined && name?.toLowerCase() === 'password';
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

function isSealed(value: unknown): value is { readonly sealed: string } {
  return isMembers(value) && typeof value['sealed'] === 'string';
}

function unsealed(value: unknown): unknown {
  if (isMembers(value) && isSealed(value['value'])) return { ...value, value: value['value'].sealed };
  return isSealed(value) ? value.sealed : value;
}

function hasReserved(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, member]) => reserved.has(key) || hasReserved(member));
}

function isSecret(kind: Kind, field: string): boolean {
  return modelFields(kind).get(field)?.sealedAs !== undefined;
}

/** The name of a field in a patch: that of the status of a server is `state`, and it may be called as it is shown. */
function nameOf(kind: Kind, field: string): string {
  return [...modelFields(kind).values()].find(({ shownAs }) => shownAs === field)?.field ?? field;
}

/** The operation in the terms of RFC 6902 alone: of those on secret entries, on the maps that store them. */
function translated(resource: ModelResource, view: Members, operation: Operation): readonly Operation[] {
  const { kind } = resource;
  const [field = '', name] = operation.path.split('/').slice(1);
  const { entriesSealedAs: stored = '' } = modelFields(kind).get(field) ?? {};
  const entries = entriesIn(kind, operation).map((entry): Operation => {
    const place = [stored, entry.name, ...entry.below].map((token) => `/${token}`).join('');
    const map = view[stored] as Members;
    const value = unsealed(entry.value);
    if (name === undefined) return { op: 'add', path: place, value } as Operation;
    if (entry.below.length > 0 && operation.op === 'add' && !Object.hasOwn(map, entry.name))
      return {
        op: 'add',
        path: `/${stored}/${entry.name}`,
        value: { value, configurable: true },
      } as Operation;
    return { op: operation.op, path: place, value } as Operation;
  });
  if (entries.length === 0) return [open(resource, view, operation)];
  if (name !== undefined) return entries;
  const value: unknown = 'value' in operation ? operation.value : undefined;
  const others = Object.entries((kind === 'filter' ? fullMap(value) : value) as Members).filter(
    ([each]) => !isSecretEntry(kind, field, each),
  );
  const rest = { op: 'add', path: operation.path, value: Object.fromEntries(others) } as Operation;
  return [rest, ...entries];
}

function open({ kind }: ModelResource, view: Members, operation: Operation): Operation {
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
  if (named.op !== 'add' && named.op !== 'replace') return named;
  const value = isSecret(kind, field) ? ((named.value as Members)['sealed'] as string) : named.value;
  return { op: 'add', path: named.path, value };
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

function isValid(resource: ModelResource, result: Members): boolean {
  const sound = [...modelFields(resource.kind).values()].every(({ field, is, removed }) =>
    Object.hasOwn(result, field) ? is(result[field], resource.links) : mayBeAbsent(removed, result),
  );
  const sealed = [...modelFields(resource.kind).values()].every(({ entriesSealedAs }) => {
    const entries = entriesSealedAs === undefined ? {} : (result[entriesSealedAs] as Members);
    return Object.values(entries).every((entry) =>
      resource.kind === 'filter' ? isSealedParameter(entry) : typeof entry === 'string',
    );
  });
  return sound && sealed && (resource.kind !== 'filter' || keepsParameters(resource, result));
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
  return typeof entry['value'] === 'string' && typeof entry['configurable'] === 'boolean';
}

/** What is not configurable stays as it is, and nothing changes whether it is. */
function keepsParameters({ settings }: ModelResource, result: Members): boolean {
  return ['parameters', 'parametersSealed'].every((map) => {
    const after = result[map] as Readonly<Record<string, Members>>;
    return Object.entries(settings[map] as Readonly<Record<string, Members>>).every(([name, old]) => {
      const now = Object.hasOwn(after, name) ? after[name] : undefined;
      if (old['configurable'] === false) return modelEqual(now ?? null, old);
      return now === undefined || now['configurable'] === true;
    });
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
