/**
 * Results that are kept: what follows from an object is made once, and lives as long as the object.
 */

/**
 * Makes a function that keeps its results.
 *
 * @param make - gives what follows from an object, always the same
 * @internal
 */
export function oncePer<K extends object, V extends NonNullable<unknown>>(
  make: (key: K) => V,
): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) made.set(key, (value = make(key)));
    return value;
  };
}
