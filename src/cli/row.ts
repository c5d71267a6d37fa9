/**
 * Rows: what an event of a plan or of the history changes, in words.
 */
import type { Operation } from '../index.ts';
import { applyPatch, type Json } from '../json/index.ts';
import { jsonText, safeText } from './output.ts';

/** What happens to a resource. */
export interface Row {
  readonly resource: string;
  /** The settings that change, a line for each; empty if something else happens. */
  readonly settings: readonly string[];
  /** Everything that happens, a line for each. */
  readonly changes: readonly string[];
}

/** An event of a plan. */
export interface ShownEvent {
  readonly type: string;
  readonly resource: string;
  readonly operations?: readonly Operation[];
  readonly inverse?: readonly Operation[];
  readonly definition?: Place & { readonly listeners?: readonly (Place & { readonly name: string })[] };
}

/** Where something can be reached. */
interface Place {
  readonly address?: string;
  readonly port?: number;
}

/** An event of a plan in words. */
export function rowOf(event: Json): Row {
  const { type, resource, operations, inverse = [], definition } = event as unknown as ShownEvent;
  const settings = operationLines(operations ?? [], inverse);
  return { resource, settings, changes: operations === undefined ? eventLines(type, definition) : settings };
}

function eventLines(type: string, definition: ShownEvent['definition'] = {}): readonly string[] {
  const place = placeText(definition);
  const verb = verbOf({ type });
  if (verb === 'delete') return [place === '' ? verb : `${verb} (was ${place})`];
  const { listeners = [] } = definition;
  return [
    `${verb} ${place}`.trimEnd(),
    ...listeners.map(({ name, ...listener }) => `+ listener ${name} ${placeText(listener)}`.trimEnd()),
  ];
}

function placeText({ address = '', port }: Place): string {
  if (port === undefined) return address;
  return `${address.includes(':') ? `[${address}]` : address}:${String(port)}`;
}

const verbs: ReadonlyMap<string, string> = new Map([
  ['started', 'start'],
  ['stopped', 'stop'],
  ['created', 'create'],
  ['deleted', 'delete'],
]);

/** The word of the command that an event stands for. */
export function verbOf({ type }: Pick<ShownEvent, 'type'>): string {
  const word = type.replace(/^\w+\./, '');
  return verbs.get(word) ?? word;
}

const signs: ReadonlyMap<string, string> = new Map([
  ['add', '+'],
  ['remove', '-'],
  ['replace', '~'],
]);

/**
 * The operations of a patch in lines, with the value before each: `~ /max_connection = 50 (was 100)`.
 *
 * @param inverse - the operations that lead back, as an event has them: one for each operation, or the replacement of a
 *   whole list for several
 */
export function operationLines(
  operations: readonly Operation[],
  inverse: readonly Operation[],
): readonly string[] {
  const ways = inverse.filter(({ op }) => op !== 'test');
  let list: { readonly path: string; readonly items: Json } | undefined;
  return operations.map((operation) => {
    const { op, path } = operation;
    if (list === undefined || !path.startsWith(`${list.path}/`)) {
      const way = ways.shift();
      const old = way !== undefined && 'value' in way ? way.value : undefined;
      list =
        way !== undefined && path.startsWith(`${way.path}/`)
          ? { path: way.path, items: old ?? [] }
          : undefined;
      if (list === undefined) return operationLine(operation, old);
    }
    const inside = path.slice(list.path.length);
    const was = op === 'add' ? undefined : (list.items as readonly Json[])[Number(inside.slice(1))];
    const applied = applyPatch(list.items, [{ ...operation, path: inside }]);
    if (applied.ok) list = { ...list, items: applied.value };
    return operationLine(operation, was);
  });
}

/** An operation of a patch in a line. */
export function operationLine(operation: Operation, was?: Json): string {
  const { op, path } = operation;
  const value = 'value' in operation ? ` = ${jsonText(operation.value)}` : '';
  const from = 'from' in operation ? ` from ${operation.from}` : '';
  const before = was === undefined ? '' : ` (was ${jsonText(was)})`;
  return safeText(`${signs.get(op) ?? op} ${path}${value}${from}${before}`);
}
