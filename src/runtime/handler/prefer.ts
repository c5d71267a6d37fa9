/**
 * Preferences: the header `Prefer` (RFC 7240).
 */
import type { AdminRequest } from '../../http/message.ts';

/**
 * The value of a preference. The first one of a name counts, and one that is malformed does not count (RFC 7240 §2).
 *
 * @param name - the name, in lower case
 * @returns the value without its quotes; `undefined` if the request has no such preference
 * @internal
 */
export function preferenceOf({ headers: { prefer = '' } }: AdminRequest, name: string): string | undefined {
  // A comma in a quoted text separates nothing.
  const preferences = prefer.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? [];
  const named = preferences.map((each) =>
    /^\s*([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*(?:([^\s;"]+)|"([^"\\]*)")\s*)?(?:;|$)/.exec(each),
  );
  const first = named.find((found) => found?.[1]?.toLowerCase() === name);
  return first?.[2] ?? first?.[3];
}

/** Whether the answer to a command says what was done. @internal */
export function wantsRepresentation(request: AdminRequest): boolean {
  return preferenceOf(request, 'return') === 'representation';
}
