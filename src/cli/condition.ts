/**
 * Conditions: the option `--where`, which chooses resources by what a list shows of them.
 */
import type { EndpointId } from '../client/index.ts';
import { nameKey } from '../core/name.ts';
import { wrongUse, type Call, type Command } from './command.ts';
import { assertField } from './meaning.ts';
import { cellOf } from './output.ts';

/** The option that chooses resources. */
export const whereOption = {
  where: {
    value: 'FIELD=VALUE',
    does: 'only those whose field has the value, such as state=failed; != for all others; several must all hold',
    multiple: true,
    names: 'condition',
  },
} as const satisfies Command['options'];

/** A resource as a list shows it. */
export type Row = Readonly<Record<string, unknown>>;

/** A condition of a call. */
interface Condition {
  /** The name of a field, or names with dots between them. */
  readonly path: string;
  readonly value: string;
  /** Whether the field must have another value. */
  readonly isNot: boolean;
}

/** The conditions of a call, in order. Ends the command if one is none. */
export function conditionsOf({ options }: Pick<Call, 'options'>): readonly Condition[] {
  return options.flatMap(({ name, value: text = '' }) => {
    if (name !== 'where') return [];
    const [, path, not, value = ''] = /^([^=!]+)(!?)==?([^]*)$/.exec(text) ?? [];
    if (path === undefined)
      throw wrongUse(`--where takes FIELD=VALUE, such as state=failed, and not ${text.slice(0, 100)}.`);
    return [{ path, value, isNot: not === '!' }];
  });
}

/** The conditions of a call as the user has given them. */
export function conditionText({ options }: Pick<Call, 'options'>): string {
  return options.flatMap(({ name, value = '' }) => (name === 'where' ? [value] : [])).join(' and ');
}

/**
 * The rows that meet all conditions of a call.
 *
 * @param id - the list of the rows
 */
export async function meeting<R extends Row>(
  call: Pick<Call, 'options'>,
  id: EndpointId,
  rows: readonly R[],
): Promise<readonly R[]> {
  const conditions = conditionsOf(call);
  if (conditions.length === 0) return rows;
  for (const { path } of conditions) await assertField(id, path.split('.')[0] ?? '', rows);
  return rows.filter((row) =>
    conditions.every(({ path, value, isNot }) => {
      const key = value === '' ? '' : nameKey(cellOf(value));
      return wordsAt(row, path).some((word) => nameKey(word) === key) !== isNot;
    }),
  );
}

/** The words that a table has for a field: each of a list, and that of a drain; an empty one if there are none. */
export function wordsAt(row: Row, path: string): readonly string[] {
  const [field = ''] = path.split('.');
  const value = path.split('.').reduce<unknown>((inner, name) => {
    return typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
      ? (inner as Row)[name]
      : undefined;
  }, row);
  const words = (Array.isArray(value) ? value : [value]).map((each) =>
    each === undefined ? '' : cellOf(each),
  );
  const { drain } = row as { readonly drain?: { readonly state?: string } | null };
  const isState = path === 'state' || path === 'status';
  const own = words.length > 0 ? words : [field === 'status' ? 'down' : ''];
  return isState && typeof drain?.state === 'string' ? [...own, drain.state] : own;
}
