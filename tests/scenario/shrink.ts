/**
 * Makes a list that fails smaller and simpler while it fails.
 */

/**
 * Takes items out while what is left fails: all but a few at the end, then many at once, then one by one.
 *
 * @param fails - whether a list still fails
 * @returns a list that fails, from which no single item can be taken
 */
export async function shrink<T>(
  items: readonly T[],
  fails: (items: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let left = await shortEnd(items, fails);
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    let isSmaller = true;
    while (isSmaller) {
      isSmaller = false;
      // From the end, because later steps rest on earlier ones.
      for (let end = left.length; end > 0; end -= size) {
        const tried = [...left.slice(0, Math.max(0, end - size)), ...left.slice(end)];
        if (tried.length === left.length || !(await fails(tried))) continue;
        left = tried;
        isSmaller = true;
      }
      if (size > 1) break;
    }
  }
  return left;
}

/** The last items, as few as fail, by powers of two: often the fault is near the end, and few items are tried soon. */
async function shortEnd<T>(
  items: readonly T[],
  fails: (items: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  for (let size = 1; size < items.length; size *= 2)
    if (await fails(items.slice(-size))) return items.slice(-size);
  return items;
}

/**
 * Puts simpler items in the place of items while the list fails, and then takes out what is not needed any more.
 *
 * @param simpler - the items that are simpler than an item
 * @param fails - whether a list still fails
 */
export async function simplify<T>(
  items: readonly T[],
  simpler: (item: T) => readonly T[],
  fails: (items: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  for (const [at, item] of items.entries())
    for (const each of simpler(item)) {
      const tried = items.with(at, each);
      if (await fails(tried)) return simplify(await shrink(tried, fails), simpler, fails);
    }
  return items;
}
