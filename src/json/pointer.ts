/**
 * JSON Pointers: the grammar of RFC 6901, and walks through JSON values.
 *
 * A walk sees own properties only: whatever a prototype offers (`length`, `map`, `toString`) is not there, and an
 * array index has exactly one spelling. No walk is recursive, so that no value is too deep for it.
 */
import { isArray, isContainer, type Json, type JsonContainer } from './value.ts';

/**
 * Parses a JSON Pointer into its reference tokens, unescaped.
 *
 * It is refused when it does not start with `/` (the URI fragment form `#/a` does not) or has a `~` that is not
 * followed by `0` or `1`.
 *
 * @param text - the pointer; `''` is the whole document
 * @returns the tokens from the root on, none for the whole document; `undefined` when the text is no pointer
 *
 * @example
 * ```ts
 * import { parsePointer } from 'gateway-admin-core/json';
 *
 * parsePointer('/router_options/a~1b'); // => ["router_options", "a/b"]
 * parsePointer('servers'); // => undefined
 * ```
 *
 * RFC 6901 §3 and §4.
 *
 * @public
 */
export function parsePointer(text: string): readonly string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/')) return undefined;
  const tokens = splitTokens(text);
  if (!text.includes('~')) return tokens;
  return /~(?![01])/.test(text) ? undefined : tokens.map(unescape);
}

/** Pointers that were parsed, by their text. */
const recalled = new Map<string, readonly string[]>();

/**
 * Parses a JSON Pointer as `parsePointer` does, once as a rule: patches name the same few places over and over.
 * More than the parsing, it saves the engine from making property names of freshly cut texts.
 *
 * @internal
 */
export function recallPointer(text: string): readonly string[] | undefined {
  const known = recalled.get(text);
  if (known !== undefined) return known;
  const tokens = parsePointer(text);
  // Few and short, so that nobody can fill the memory with them.
  if (tokens === undefined || text.length > 64) return tokens;
  if (recalled.size === 1000) recalled.clear();
  recalled.set(text, tokens);
  return tokens;
}

/**
 * Writes reference tokens as a JSON Pointer. The inverse of `parsePointer`.
 *
 * @param tokens - names of members and positions in arrays, from the root on
 * @returns the pointer; `''` for no tokens
 *
 * @example
 * ```ts
 * import { formatPointer } from 'gateway-admin-core/json';
 *
 * formatPointer(['servers', 0, 'a/b']); // => "/servers/0/a~1b"
 * ```
 *
 * RFC 6901 §3.
 *
 * @public
 */
export function formatPointer(tokens: readonly (string | number)[]): string {
  return tokens.map((token) => formatToken(String(token))).join('');
}

/** The part of a pointer that one token makes. @internal */
export function formatToken(token: string): string {
  const plain = !token.includes('/') && !token.includes('~');
  return `/${plain ? token : token.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/**
 * The first of `__proto__`, `constructor` and `prototype` among some tokens, if any. Resources refuse them as keys.
 *
 * docs/spec-choices.md 29.
 *
 * @internal
 */
export function reservedToken(tokens: readonly string[]): string | undefined {
  for (const token of tokens) {
    if (token === '__proto__' || token === 'constructor' || token === 'prototype') return token;
  }
  return undefined;
}

/** Pointer into a value, to the shallowest member with a reserved key, if there is one. @internal */
export function hasReservedKey(value: Json): string | undefined {
  if (!isContainer(value)) return undefined;
  // A value of an in-process caller may hold one object many times over: looking once is enough.
  const seen = new Map<JsonContainer, Origin | undefined>([[value, undefined]]);
  for (const [container, origin] of seen) {
    const reserved = isArray(container) ? undefined : reservedToken(Object.keys(container));
    if (reserved !== undefined) return formatPointer([...pathOf(origin), reserved]);
    for (const [token, child] of Object.entries<Json>(container)) {
      if (isContainer(child) && !seen.has(child)) seen.set(child, { token, above: origin });
    }
  }
  return undefined;
}

/** How a walk came to a value. */
interface Origin {
  readonly token: string;
  readonly above: Origin | undefined;
}

function pathOf(origin: Origin | undefined): readonly string[] {
  const path: string[] = [];
  for (let each = origin; each !== undefined; each = each.above) path.push(each.token);
  return path.reverse();
}

/** The item or own member that a token names, if there is one. @internal */
export function childOf(value: Json, token: string): Json | undefined {
  if (!isContainer(value)) return undefined;
  if (!isArray(value)) return Object.hasOwn(value, token) ? value[token] : undefined;
  const index = parseIndex(token);
  return index === undefined ? undefined : value[index];
}

/** The value that the first `length` tokens lead to, if there is one. @internal */
export function valueAt(document: Json, tokens: readonly string[], length = tokens.length): Json | undefined {
  let value: Json | undefined = document;
  for (let depth = 0; depth < length && value !== undefined; depth += 1) {
    value = childOf(value, tokens[depth] ?? '');
  }
  return value;
}

/** Says how far tokens lead and where nothing is. Never what is there: it may be a secret. @internal */
export function explainMiss(document: Json, tokens: readonly string[]): string {
  let value = document;
  let depth = 0;
  for (let child = childOf(value, tokens[0] ?? ''); child !== undefined && depth + 1 < tokens.length;) {
    depth += 1;
    value = child;
    child = childOf(value, tokens[depth] ?? '');
  }
  const token = JSON.stringify(tokens[depth] ?? '');
  const place = `${JSON.stringify(formatPointer(tokens.slice(0, depth)))} is`;
  if (isArray(value)) return `${place} a list of ${String(value.length)}, without a place ${token}`;
  return isContainer(value)
    ? `${place} an object without a member ${token}`
    : `${place} a value, and has no members`;
}

/** The index that a token writes, whether or not an array is that long. RFC 6901 §4. @internal */
export function parseIndex(token: string): number | undefined {
  // No array has an index of more than ten digits.
  return token.length <= 10 && /^(?:0|[1-9]\d*)$/.test(token) ? Number(token) : undefined;
}

/** What is between the slashes. Not by `split`, which takes three times as long for so few. */
function splitTokens(text: string): readonly string[] {
  let end = text.indexOf('/', 1);
  const tokens = [text.slice(1, end === -1 ? text.length : end)];
  while (end !== -1) {
    const start = end + 1;
    end = text.indexOf('/', start);
    tokens.push(text.slice(start, end === -1 ? text.length : end));
  }
  return tokens;
}

/** `~1` first: `~01` stands for `~1` and not for `/`. */
function unescape(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
