/**
 * A JSON Patch to compare with: naive, slow, copying everything at every transition, and written from RFC 6901 and
 * RFC 6902 alone. It shares no code with the sources. And the random documents and patches to compare it on.
 */

import * as fc from 'fast-check';
import type { Json, Operation } from 'gateway-admin-core/json';

/** What an operation cannot be done for. */
class Impossible extends Error {}

/** The outcome of a patch: the new document, or none. */
export type ModelOutcome = { readonly done: true; readonly document: unknown } | { readonly done: false };

type Members = Record<string, unknown>;

/** Applies operations one after the other, to copies; the first that cannot be done undoes all. */
export function modelPatch(document: unknown, operations: readonly object[]): ModelOutcome {
  try {
    return {
      done: true,
      document: operations.reduce<unknown>(
        (now, operation) => transition(now, operation as Members),
        copyOf(document),
      ),
    };
  } catch (error) {
    if (error instanceof Impossible) return { done: false };
    throw error;
  }
}

/** Whether two values are equal by RFC 6902 §4.6. */
export function modelEqual(a: unknown, b: unknown): boolean {
  return textOf(a) === textOf(b);
}

/** JSON text with the members of every object in one order, so that equal values have equal texts. */
export function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${textOf((value as Members)[key])}`);
  return `{${members.join(',')}}`;
}

/** The members in which two objects differ: those of the one, and those of the other. */
export function differingMembers(one: object, other: object): readonly [Members, Members] {
  const pick = (of: object, than: object): Members =>
    Object.fromEntries(
      Object.entries(of).filter(
        ([name, value]) => !modelEqual(value, Object.hasOwn(than, name) && than[name as never]),
      ),
    );
  return [pick(one, other), pick(other, one)];
}

/** Pointers to all values in a document, the document itself first. */
export function placesIn(value: unknown, place = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [place];
  const children = Object.entries(value).map(([key, child]) => placesIn(child, `${place}/${escaped(key)}`));
  return [place, ...children.flat()];
}

/** The value at a pointer; `undefined` when there is none. */
export function modelValueAt(document: unknown, pointer: string): unknown {
  try {
    return tokensOf(pointer).reduce(childAt, document);
  } catch {
    return undefined;
  }
}

function transition(document: unknown, operation: Members): unknown {
  const path = tokensOf(operation['path']);
  switch (operation['op']) {
    case 'add':
      return add(document, path, needed(operation, 'value'));
    case 'remove':
      return remove(document, path);
    case 'replace':
      return replace(document, path, needed(operation, 'value'));
    case 'move':
      return move(document, tokensOf(operation['from']), path);
    case 'copy':
      return add(document, path, tokensOf(operation['from']).reduce(childAt, document));
    case 'test':
      if (!modelEqual(path.reduce(childAt, document), needed(operation, 'value'))) throw new Impossible();
      return document;
    default:
      throw new Impossible();
  }
}

function needed(operation: Members, name: string): unknown {
  if (!Object.hasOwn(operation, name)) throw new Impossible();
  return operation[name];
}

/** RFC 6901 §3: a reference token, and how `~` and `/` are written in it. */
function tokensOf(pointer: unknown): readonly string[] {
  if (typeof pointer !== 'string' || !/^(?:\/(?:[^~/]|~0|~1)*)*$/u.test(pointer)) throw new Impossible();
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replace(/~1/g, '/').replace(/~0/g, '~'));
}

function escaped(key: string): string {
  return key.replace(/~/g, '~0').replace(/\//g, '~1');
}

/** RFC 6901 §4: what a reference token refers to. */
function childAt(node: unknown, token: string): unknown {
  if (Array.isArray(node)) return node[indexIn(node.length - 1, token)] as unknown;
  if (typeof node !== 'object' || node === null || !Object.hasOwn(node, token)) throw new Impossible();
  return (node as Members)[token];
}

function indexIn(last: number, token: string): number {
  const index = /^(?:0|[1-9][0-9]*)$/.test(token) ? Number(token) : Infinity;
  if (index > last) throw new Impossible();
  return index;
}

/** A copy of the document in which the container of a place has been changed. */
function changed(
  document: unknown,
  path: readonly string[],
  change: (container: unknown[] | Members, token: string) => void,
): unknown {
  const copy = copyOf(document);
  const container = path.slice(0, -1).reduce(childAt, copy);
  if (typeof container !== 'object' || container === null) throw new Impossible();
  change(container as unknown[] | Members, path.at(-1) ?? '');
  return copy;
}

function add(document: unknown, path: readonly string[], value: unknown): unknown {
  if (path.length === 0) return copyOf(value);
  return changed(document, path, (container, token) => {
    if (!Array.isArray(container)) define(container, token, copyOf(value));
    else
      container.splice(token === '-' ? container.length : indexIn(container.length, token), 0, copyOf(value));
  });
}

function remove(document: unknown, path: readonly string[]): unknown {
  // Without its root there is no document left.
  if (path.length === 0) throw new Impossible();
  path.reduce(childAt, document);
  return changed(document, path, (container, token) => {
    if (Array.isArray(container)) container.splice(Number(token), 1);
    else Reflect.deleteProperty(container, token);
  });
}

/** RFC 6902 §4.3: a removal, then an addition at the same place; the order of members does not matter. */
function replace(document: unknown, path: readonly string[], value: unknown): unknown {
  return path.length === 0 ? copyOf(value) : add(remove(document, path), path, value);
}

/** RFC 6902 §4.4: a removal, then an addition; never into what is moved. */
function move(document: unknown, from: readonly string[], path: readonly string[]): unknown {
  const value = from.reduce(childAt, document);
  const starts = from.every((token, depth) => token === path[depth]);
  if (starts && from.length < path.length) throw new Impossible();
  return starts ? document : add(remove(document, from), path, value);
}

function copyOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

function define(object: Members, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

/** Random documents whose members have some of these names. */
export function trees(keys: readonly string[]): fc.Arbitrary<Json> {
  return fc.letrec<{ tree: Json }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>(null, true, false, 0, -0, 1, 1.5, '', 'a', '1'),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...keys), tie('tree'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).tree;
}

/** A random document and operations on it, most of which can be done when their turn comes. */
export function patches(keys: readonly string[]): fc.Arbitrary<readonly [Json, readonly Operation[]]> {
  const wish = fc.record({
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
    at: fc.nat(),
    from: fc.nat(),
    beyond: fc.option(fc.constantFrom(...keys), { freq: 2, nil: undefined }),
    same: fc.boolean(),
    value: trees(keys),
    hopeless: fc.nat({ max: 9 }).map((chance) => chance === 0),
  });
  return fc.tuple(trees(keys), fc.array(wish, { maxLength: 8 })).map(([document, wishes]) => {
    const operations: Operation[] = [];
    let current: unknown = document;
    for (const { op, at, from, beyond, same, value, hopeless } of wishes) {
      const places = placesIn(current);
      const path = (places[at % places.length] ?? '') + (beyond === undefined ? '' : `/${escaped(beyond)}`);
      const there = same || op === 'test' ? (modelValueAt(current, path) as Json | undefined) : undefined;
      const source = places[from % places.length] ?? '';
      const operation = { op, path, from: source, value: there ?? value } as Operation;
      const outcome = modelPatch(current, [operation]);
      if (outcome.done) current = outcome.document;
      if (outcome.done || hopeless) operations.push(operation);
    }
    return [document, operations];
  });
}

/** An operation in short: `add /a 1`, `remove /a`, `move /a /b` (from, then path). */
export function short(text: string): Operation {
  const [op = '', first = '', ...rest] = text.split(' ');
  if (op === 'move' || op === 'copy') return { op, from: first, path: rest.join(' ') };
  if (op === 'remove') return { op, path: first };
  return { op, path: first, value: JSON.parse(rest.join(' ')) as Json } as Operation;
}
