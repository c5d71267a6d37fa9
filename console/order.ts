/**
 * The order of a list, and the part of the list that is shown.
 */
import { isWrong, type Health } from './health.ts';

/** The places of columns, from left to right. */
export const places = ['name', 'state', 'since', 'up', 'number', 'links', 'address'] as const;
export type ColumnPlace = (typeof places)[number];

/** A row with how it is, and with what it is sorted by. */
export interface Ranked<R> {
  readonly row: R;
  readonly name: string;
  readonly health: Health;
  readonly key: string | number;
}

// Made once: to compare by itself takes a string ten times as long.
const { compare } = new Intl.Collator('en', { numeric: true });

/** The rows in their order: the largest numbers first, texts from A to Z, and the other way if it is turned. */
export function ordered<R>(rows: readonly Ranked<R>[], isTurned: boolean): readonly Ranked<R>[] {
  const way = isTurned ? -1 : 1;
  return rows.toSorted(
    (one, other) => way * compareKeys(one.key, other.key) || compare(one.name, other.name),
  );
}

function compareKeys(one: string | number, other: string | number): number {
  return typeof one === 'number' && typeof other === 'number'
    ? other - one
    : compare(String(one), String(other));
}

/** The word that stands for everything that is wrong, where another word is a state. */
export const wrong = 'wrong';

/** In each list that has states, what is wrong. */
export const onlyWrong = { services: wrong, servers: wrong, monitors: wrong, fleet: wrong } as const;

/** Whether a state is among those that are shown: one state, `wrong`, or all. */
export function isShown(health: Health, only: string | undefined): boolean {
  return !only || (only === wrong ? isWrong(health) : health.state === only);
}

/** How every list is sorted unless a person sorts it: the worst first. */
export const firstSort = 'state';

/** The word of the address after another press on the head of a column: by it, the other way, and as at first. */
export function nextSort(column: string, sort: string): string | undefined {
  if (sort === column) return `-${column}`;
  return column === firstSort || sort === `-${column}` ? undefined : column;
}
