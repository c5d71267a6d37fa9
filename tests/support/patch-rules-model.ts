/**
 * What a patch of a resource comes to, to compare with: the naive JSON Patch of `patch-model.ts` on the patch view,
 * and the rules of docs/spec-choices.md 21 to 29 in their plainest form. It shares no code with the sources.
 */
import type { Operation } from 'gateway-admin-core';

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

const reserved = new Set(['__proto__', 'constructor', 'prototype']);
const refusal = { done: false } as const;

/** Says what a patch does to a resource. */
export function modelUpdate(resource: ModelResource, given: readonly Operation[]): ModelUpdate {
  const operations = given.map(bare);
  const fields = modelFields(resource.kind);
  if (operations.some((operation) => isForbidden(resource, operation))) return refusal;
  let view: Members = { ...resource.shown, ...resource.settings };
  for (const operation of operations) {
    const outcome = modelPatch(view, [translated(resource, view, operation)]);
    if (!outcome.done) return refusal;
    view = outcome.document as Members;
    // RFC 6902 §4.4: a move removes, and removing a list such as the filters empties it.
    for (const { field, removed } of fields.values())
      if (removed === 'empty' && !Object.hasOwn(view, field)) view = { ...view, [field]: [] };
  }
  const result = Object.fromEntries(Object.entries(view).filter(([name]) => fields.has(name)));
  if (!isValid(resource, result)) return refusal;
  const settings = canonical(resource, result);
  const written = operations.some(
    ({ op, path }) => op !== 'remove' && isSecret(resource.kind, path.slice(1)),
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
    if (modelFields(kind).has(name)) return false;
    return !(op === 'test' && Object.hasOwn(shown, field));
  });
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

/** The operation in the terms of RFC 6902 alone. */
function translated({ kind }: ModelResource, view: Members, operation: Operation): Operation {
  const renamed = (pointer: string): string =>
    pointer.replace(/^\/([^/]*)/, (_, field: string) => `/${nameOf(kind, field)}`);
  const moved = 'from' in operation ? { from: renamed(operation.from) } : {};
  const named = { ...operation, path: renamed(operation.path), ...moved } as Operation;
  const [field = '', ...below] = named.path.split('/').slice(1);
  if (kind === 'filter' && 'value' in named && named.op !== 'test')
    return parameterOperation(view, named, below);
  if (below.length > 0) return named;
  if (named.op === 'remove' && modelFields(kind).get(field)?.removed === 'empty')
    return { op: 'replace', path: named.path, value: [] };
  if (named.op !== 'add' && named.op !== 'replace') return named;
  const value = isSecret(kind, field) ? ((named.value as Members)['sealed'] as string) : named.value;
  return { op: 'add', path: named.path, value };
}

/** Choice 25, and the single entry of choice 12. */
function parameterOperation(
  view: Members,
  operation: Extract<Operation, { readonly op: 'add' | 'replace' | 'test' }>,
  [name, member, ...below]: readonly string[],
): Operation {
  const { op, path, value } = operation;
  if (name === undefined) {
    const { name: single, ...entry } = isMembers(value) ? value : {};
    const map = typeof single === 'string' ? { [single]: { configurable: true, ...entry } } : value;
    return { op: 'add', path, value: map };
  }
  if (member === undefined) {
    return {
      op,
      path,
      value: { configurable: true, ...(isMembers(value) ? value : { value }) },
    };
  }
  const { parameters } = view;
  const creates = op === 'add' && isMembers(parameters) && !Object.hasOwn(parameters, name);
  if (!creates || member !== 'value' || below.length > 0) return operation;
  return { op, path: `/parameters/${name}`, value: { value, configurable: true } };
}

function isValid(resource: ModelResource, result: Members): boolean {
  const sound = [...modelFields(resource.kind).values()].every(({ field, is, removed }) =>
    Object.hasOwn(result, field) ? is(result[field], resource.links) : removed === 'absent',
  );
  return sound && (resource.kind !== 'filter' || keepsParameters(resource, result));
}

/** What is not configurable stays as it is, and nothing changes whether it is. */
function keepsParameters({ settings }: ModelResource, result: Members): boolean {
  const after = result['parameters'] as Readonly<Record<string, Members>>;
  return Object.entries(settings['parameters'] as Readonly<Record<string, Members>>).every(([name, old]) => {
    const now = Object.hasOwn(after, name) ? after[name] : undefined;
    if (old['configurable'] === false) return modelEqual(now ?? null, old);
    return now === undefined || now['configurable'] === true;
  });
}

function canonical({ links }: ModelResource, result: Members): Members {
  const each = (name: string, value: unknown): unknown => {
    if (name === 'state') return [...new Set(value as string[])];
    return Array.isArray(value) ? value.map((link: string) => links.get(link)) : value;
  };
  return Object.fromEntries(Object.entries(result).map(([name, value]) => [name, each(name, value)]));
}
