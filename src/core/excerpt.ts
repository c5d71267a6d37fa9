/**
 * Excerpts: of a long list of events or effects, a reader sees the first ones, and the number of all by type.
 */

/** The largest number of events, and of effects, that are shown. @internal */
export const mostShown = 100;

/** The first of a list, as many as are shown. @internal */
export function firstShown<T>(list: readonly T[]): readonly T[] {
  return list.length > mostShown ? list.slice(0, mostShown) : list;
}

/** The number of events of each type, if not all of them are shown. @internal */
export function countOf(
  events: readonly { readonly type: string }[],
  shown: number,
): { readonly count?: Readonly<Record<string, number>> } {
  if (events.length <= shown) return {};
  const count: Record<string, number> = {};
  for (const { type } of events) count[type] = (count[type] ?? 0) + 1;
  return { count };
}
