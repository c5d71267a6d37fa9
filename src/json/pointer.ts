/**
 * JSON Pointers: the grammar of RFC 6901, and walks through JSON values.
 *
 * A walk sees own members only: members of a prototype (`length`, `map`, `toString`) do not exist for a pointer. Each
 * array index has exactly one spelling. No walk recurses, so no value is too deep.
 */
import { assertText, isArray, isContainer, type Json, type JsonContainer, type JsonObject } from './value.ts';

/**
 * Parses a JSON Pointer into its unescaped reference tokens.
 *
 * Refused when the text does not start with `/`, as in the URI fragment form `#/a`, or contains a `~` that is not
 * followed by `0` or `1`.
 *
 * @param text - the pointer; `''` is the whole document
 * @returns the tokens, from the root on; none for the whole document; `undefined` if the text is no pointer
 *
 * @example
 * ```ts
 * import { parsePointer } from 'gateway-admin-core/json';
 *
 * parsePointer('/router_options/a~1b'); // => ["router_options", "a/b"]
 * parsePointer('servers'); // => undefined
 * ```
 *
 * @see RFC 6901 §3 and §4.
 *
 * @public
 */
export function parsePointer(text: string): readonly string[] | undefined {
  assertText(text, 'text');
  if (text === '') return [];
  if (!text.startsWith('/')) return undefined;
  const tokens = splitTokens(text);
  if (!text.includes('~')) return tokens;
  return /~(?![01])/.test(text) ? undefined : tokens.map(unescape);
}

/** Parsed pointers by their text. */
const recalled = new Map<string, readonly string[]>();

/**
 * Parses a JSON Pointer as `parsePointer` does, and remembers the result, because patches name the same few
 * places again and again. The tokens then are strings that the engine already knows as property names, which saves more
 * time than the parsing.
 *
 * @internal
 */
export function recallPointer(text: string): readonly string[] | undefined {
  const known = recalled.get(text);
  if (known !== undefined) return known;
  const tokens = parsePointer(text);
  // Only short pointers are remembered, and not many, so that no client can fill the memory.
  if (tokens === undefined || text.length > 64) return tokens;
  if (recalled.size === 1000) recalled.clear();
  recalled.set(text, tokens);
  return tokens;
}

/**
 * Writes reference tokens as a JSON Pointer. The inverse of `parsePointer`.
 *
 * @param tokens - member names and array positions, from the root on
 * @returns the pointer; `''` for no tokens
 *
 * @example
 * ```ts
 * import { formatPointer } from 'gateway-admin-core/json';
 *
 * formatPointer(['servers', 0, 'a/b']); // => "/servers/0/a~1b"
 * ```
 *
 * @see RFC 6901 §3.
 *
 * @public
 */
export function formatPointer(tokens: readonly (string | number)[]): string {
  if (!Array.isArray(tokens)) throw new TypeError('tokens must be a list');
  return tokens.map((token) => formatToken(String(token))).join('');
}

/** Writes one token with its leading slash. @internal */
export function formatToken(token: string): string {
  const plain = !token.includes('/') && !token.includes('~');
  return `/${plain ? token : token.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/**
 * Gives the first token that is `__proto__`, `constructor` or `prototype`; `undefined` if there is none. Resources
 * refuse these keys.
 *
 * @see docs/spec-choices.md 29.
 *
 * @internal
 */
export function reservedToken(tokens: readonly string[]): string | undefined {
  for (const token of tokens) {
    if (token === '__proto__' || token === 'constructor' || token === 'prototype') return token;
  }
  return undefined;
}

/** Gives the pointer of the shallowest member with a reserved key; `undefined` if there is none. @internal */
export function hasReservedKey(value: Json): string | undefined {
  if (!isContainer(value)) return undefined;
  // A value from the same process may contain one object many times. Each object is visited once.
  const seen = new Map<JsonContainer, Origin | undefined>([[value, undefined]]);
  for (const [container, origin] of seen) {
    const tokens = Object.keys(container);
    const reserved = isArray(container) ? undefined : reservedToken(tokens);
    if (reserved !== undefined) return formatPointer([...pathOf(origin), reserved]);
    for (const token of tokens) {
      const child = (container as JsonObject)[token] as Json;
      if (isContainer(child) && !seen.has(child)) seen.set(child, { token, above: origin });
    }
  }
  return undefined;
}

/** The path from the root to a value, as a linked list. */
interface Origin {
  readonly token: string;
  readonly above: Origin | undefined;
}

function pathOf(origin: Origin | undefined): readonly string[] {
  const path: string[] = [];
  for (let each = origin; each !== undefined; each = each.above) path.push(each.token);
  return path.reverse();
}

/** The item or own member that a token names; `undefined` if there is none. @internal */
export function childOf(value: Json, token: string): Json | undefined {
  if (!isContainer(value)) return undefined;
  if (!isArray(value)) return Object.hasOwn(value, token) ? value[token] : undefined;
  const index = parseIndex(token);
  return index === undefined ? undefined : value[index];
}

/** The value that the first `length` tokens lead to; `undefined` if there is none. @internal */
export function valueAt(document: Json, tokens: readonly string[], length = tokens.length): Json | undefined {
  let value: Json | undefined = document;
  for (let depth = 0; depth < length && value !== undefined; depth += 1) {
    value = childOf(value, tokens[depth] ?? '');
  }
  return value;
}

/**
 * Says how far the tokens lead, and which token leads nowhere. The message never quotes the values on the way, because
 * a value may be a secret.
 *
 * @internal
 */
export function explainMiss(document: Json, tokens: readonly string[]): string {
  let value = document;
  let depth = 0;
  for (let child = childOf(value, tokens[0] ?? ''); child !== undefined && depth + 1 < tokens.length;) {
    depth += 1;
    value = child;
    child = childOf(value, tokens[depth] ?? '');
  }
  const token = JSON.stringify(tokens[depth] ?? '');
  const place = `does not exist: ${JSON.stringify(formatPointer(tokens.slice(0, depth)))} is`;
  if (isArray(value)) return `${place} a list of ${String(value.length)} items and has no position ${token}`;
  return isContainer(value)
    ? `${place} an object without a member ${token}`
    : `${place} a scalar and has no members`;
}

/** The array index that a token writes, whether or not an array has this index. RFC 6901 §4. @internal */
export function parseIndex(token: string): number | undefined {
  // No array index has more than ten digits.
  return token.length <= 10 && /^(?:0|[1-9]\d*)$/.test(token) ? Number(token) : undefined;
}

/** Splits a pointer at its slashes. `split` takes three times as long for so few tokens. */
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

/** `~1` must come first: otherwise `~01`, which stands for `~1`, would become `/`. */
function unescape(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
