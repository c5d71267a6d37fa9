/**
 * Freezing: nothing that a snapshot, an event or an effect is made of can be changed.
 */

/**
 * Freezes plain data and all that it holds, however deep. What is frozen already is taken to be so to the bottom.
 *
 * @internal
 */
export function deepFreeze<T>(value: T): T {
  if (!isThawed(value)) return value;
  const pending: object[] = [value];
  for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
    Object.freeze(each);
    if (Array.isArray(each)) {
      for (const item of each as readonly unknown[]) if (isThawed(item)) pending.push(item);
      continue;
    }
    const members = each as Readonly<Record<string, unknown>>;
    // Not `Object.values`, which takes several times as long: most of what is frozen is small and has frozen parts.
    for (const key in members) {
      const member = members[key];
      if (isThawed(member)) pending.push(member);
    }
  }
  return value;
}

function isThawed(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Object.isFrozen(value);
}
