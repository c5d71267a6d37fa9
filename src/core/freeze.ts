/**
 * Freezing: nothing that a snapshot, an event or an effect is made of can be changed.
 */

/**
 * Freezes a value and all that it holds, as far as it is not frozen already: what is frozen is taken to be so to the
 * bottom. Only for plain data whose depth is limited.
 *
 * @internal
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze<unknown>(member);
  return value;
}
