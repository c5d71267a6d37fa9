/**
 * Freezing: nothing that a snapshot, an event or an effect is made of can be changed.
 */

/**
 * Freezes plain data and all that it holds, however deep. What is frozen already is taken to be so to the bottom.
 *
 * @internal
 */
export function deepFreeze<T>(value: T): T {
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const each = pending.pop();
    if (typeof each !== 'object' || each === null || Object.isFrozen(each)) continue;
    Object.freeze(each);
    for (const member of Object.values(each) as unknown[]) pending.push(member);
  }
  return value;
}
