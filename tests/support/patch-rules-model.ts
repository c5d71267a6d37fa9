/**
 * What a patch of a resource comes to, to compare with: the naive JSON Patch of `patch-model.ts` on the patch view,
 * and the rules of docs/spec-choices.md 21 to 29 in their plainest form. It shares no code with the sources.
 */
import { isIP } from 'node:net';

import type { Operation } from 'gateway-admin-core';

import { modelEqual, modelPatch } from './patch-model.ts';

/** JSON with members. */
export type Members = Readonly<Record<string, unknown>>;

/** The kinds of resources that can be patched. */
export type Kind = 'service' | 'server' | 'monitor' | 'filter';

/** A resource as the model sees it. */
export interface ModelResource {
  readonly kind: Kind;
  /** What GET shows. */
  readonly shown: Members;
  /** The modifiable fields that are set; the password of a service as its sealed text. */
  readonly settings: Members;
  /** The canonical forms of links, by every spelling that is used. */
  readonly links: ReadonlyMap<string, string>;
}

/** What becomes of a resource: new settings, or a refusal. */
export type ModelUpdate =
  { readonly done: false } | { readonly done: true; readonly changed: boolean; readonly settings: Members };

type Check = (value: unknown, { links }: ModelResource) => boolean;

const isText =
  (most: number): Check =>
  (value) =>
    typeof value === 'string' && Array.from(value).length <= most && !/\p{Cc}|\p{Cs}/u.test(value);
const isBetween =
  (least: number, most: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
const isMap =
  (check: Check): Check =>
  (value, resource) =>
    isMembers(value) &&
    Object.keys(value).length <= 1000 &&
    Object.entries(value).every(
      ([key, member]) => key !== '' && isText(255)(key, resource) && check(member, resource),
    );
const isLimit = isBetween(0, Number.MAX_SAFE_INTEGER);
const isFlag: Check = (value) => typeof value === 'boolean';
const isLinks =
  (collection: string): Check =>
  (value, { links }) => {
    const found = Array.isArray(value) ? value.map((each) => links.get(each as string)) : [undefined];
    return found.every((link) => link?.startsWith(`/${collection}/`)) && new Set(found).size === found.length;
  };
const isAddress: Check = (value, resource) =>
  typeof value === 'string' &&
  value !== '' &&
  isText(255)(value, resource) &&
  !/\s/.test(value) &&
  (isIP(value) !== 0 ||
    value.startsWith('/') ||
    /^[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_.])?$/u.test(value));
const words: unknown[] = ['master', 'slave', 'synced', 'running', 'maintenance'];
const isParameter: Check = (value, resource) =>
  isMembers(value) &&
  Object.keys(value).sort().join() === 'configurable,value' &&
  isText(4096)(value['value'], resource) &&
  isFlag(value['configurable'], resource);

/** The modifiable fields of each kind, with what each must be. */
export const modelFields: Readonly<Record<Kind, Readonly<Record<string, Check>>>> = {
  service: {
    servers: isLinks('servers'),
    router_options: isMap(isText(4096)),
    filters: isLinks('filters'),
    user: isText(255),
    password: isText(8192),
    root_user: isFlag,
    version_string: isText(255),
    weightby: isText(255),
    connection_timeout: isLimit,
    max_connection: isLimit,
    strip_db_esc: isFlag,
  },
  server: {
    address: isAddress,
    port: isBetween(1, 65535),
    parameters: isMap((value, resource) => Number.isFinite(value) || isText(4096)(value, resource)),
    state: (value) =>
      Array.isArray(value) && value.length <= 16 && value.every((word) => words.includes(word)),
  },
  monitor: {
    servers: isLinks('servers'),
    monitor_interval: isBetween(1, 2_147_483_647),
    connect_timeout: isLimit,
    read_timeout: isLimit,
    write_timeout: isLimit,
  },
  filter: { parameters: isMap(isParameter) },
};

/** The fields that may be absent. */
const optional = new Set(
  [
    'user',
    'password',
    'root_user',
    'version_string',
    'weightby',
    'connection_timeout',
    'max_connection',
  ].concat('strip_db_esc'),
);
const reserved = new Set(['__proto__', 'constructor', 'prototype']);
const refusal = { done: false } as const;

/** Says what a patch does to a resource. */
export function modelUpdate(resource: ModelResource, given: readonly Operation[]): ModelUpdate {
  const operations = given.map(bare);
  if (operations.some((operation) => isForbidden(resource, operation))) return refusal;
  let view: Members = { ...resource.shown, ...resource.settings };
  for (const operation of operations) {
    const outcome = modelPatch(view, [translated(resource, view, operation)]);
    if (!outcome.done) return refusal;
    view = outcome.document as Members;
    // RFC 6902 §4.4: a move removes, and removing the filters empties them.
    if (resource.kind === 'service' && !Object.hasOwn(view, 'filters')) view = { ...view, filters: [] };
  }
  const fields = Object.keys(modelFields[resource.kind]);
  const result = Object.fromEntries(Object.entries(view).filter(([name]) => fields.includes(name)));
  if (!isValid(resource, result)) return refusal;
  const settings = canonical(resource, result);
  const written = operations.some(({ op, path }) => path === '/password' && op !== 'remove');
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
    if (kind === 'service' && name === 'password') {
      const writes = op === 'add' || op === 'replace';
      return (
        below.length > 0 ||
        !(op === 'remove' || (writes && isMembers(value) && typeof value['sealed'] === 'string'))
      );
    }
    if (Object.hasOwn(modelFields[kind], name)) return false;
    return !(op === 'test' && Object.hasOwn(shown, field));
  });
}

function hasReserved(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, member]) => reserved.has(key) || hasReserved(member));
}

function nameOf(kind: Kind, field: string): string {
  return kind === 'server' && field === 'status' ? 'state' : field;
}

/** The operation in the terms of RFC 6902 alone. */
function translated({ kind }: ModelResource, view: Members, operation: Operation): Operation {
  const renamed = (pointer: string): string =>
    kind === 'server' ? pointer.replace(/^\/status(?=\/|$)/, '/state') : pointer;
  const moved = 'from' in operation ? { from: renamed(operation.from) } : {};
  const named = { ...operation, path: renamed(operation.path), ...moved } as Operation;
  const [field = '', ...below] = named.path.split('/').slice(1);
  if (kind === 'filter' && 'value' in named && named.op !== 'test')
    return parameterOperation(view, named, below);
  if (below.length > 0) return named;
  if (named.op === 'remove' && field === 'filters') return { op: 'replace', path: named.path, value: [] };
  if (named.op !== 'add' && named.op !== 'replace') return named;
  const value = field === 'password' ? ((named.value as Members)['sealed'] as string) : named.value;
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
  const sound = Object.entries(modelFields[resource.kind]).every(([name, check]) =>
    Object.hasOwn(result, name) ? check(result[name], resource) : optional.has(name),
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
    return name === 'servers' || name === 'filters'
      ? (value as string[]).map((link) => links.get(link))
      : value;
  };
  return Object.fromEntries(Object.entries(result).map(([name, value]) => [name, each(name, value)]));
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
