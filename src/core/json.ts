/**
 * JSON that comes from outside: bytes or any JavaScript value in, plain frozen JSON or a problem out.
 *
 * What the language's own parser lets through and what hurts later (a key given twice, a number that changes when it
 * is read, a million brackets) is refused here before anything else sees it, and in linear time.
 */
import { deepFreeze } from './freeze.ts';
import { formatPointer, isPlain, setMember, type JsonContainer } from './pointer.ts';
import { fail, ok, problem, problemOf, type Problem, type ProblemCode, type Result } from './problem.ts';

/**
 * A JSON value. Nothing in this library changes one.
 *
 * @public
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * How much JSON is accepted.
 *
 * @public
 */
export interface JsonLimits {
  /** How many arrays and objects may be inside one another; one that holds no other is depth 1. */
  readonly depth: number;
}

/**
 * Reads a JSON text.
 *
 * It is refused when it is empty (`body-missing`), not UTF-8 (`body-encoding-invalid`), not JSON (`body-not-json`) or
 * nested too deeply (`body-too-deep`), when an object names a member twice, however it is escaped
 * (`body-duplicate-key`), and when a number is not finite or an integer that is not safe (`number-out-of-range`).
 * A surrogate without its partner, written as an escape, is JSON and accepted.
 *
 * @param body - UTF-8 bytes or text, with or without a byte order mark
 * @param limits - how deep it may be
 * @returns the value, deeply frozen; `__proto__` is a member like any other
 *
 * RFC 8259; docs/spec-choices.md 35.
 *
 * @internal
 */
export function parseJson(body: Uint8Array | string, limits: JsonLimits): Result<Json> {
  const decoded = typeof body === 'string' ? body : decodeUtf8(body);
  if (typeof decoded === 'number') {
    return fail(
      'body-encoding-invalid',
      `The byte at offset ${String(decoded)} is not UTF-8. Send JSON as UTF-8.`,
    );
  }
  const text = decoded.startsWith('\ufeff') ? decoded.slice(1) : decoded;
  const refusal = scanText({ text, depth: limits.depth, at: 0, due: true, open: [] });
  return refusal === undefined ? ok(deepFreeze(JSON.parse(text) as Json)) : { ok: false, problem: refusal };
}

/** Where the scan of a text stands. */
interface Scan {
  readonly text: string;
  readonly depth: number;
  /** Offset of the next character. */
  at: number;
  /** Whether a value must come next. */
  due: boolean;
  /** What is open, outermost first: the keys of an object so far, `undefined` for an array. */
  readonly open: (string[] | Set<string> | undefined)[];
}

function scanText(scan: Scan): Problem | undefined {
  skipSpace(scan);
  if (scan.at === scan.text.length) return problem('body-missing', 'The body is empty. Send a JSON value.');
  while (scan.due || scan.open.length > 0) {
    const refusal = scan.due ? scanValue(scan) : scanNext(scan);
    if (refusal !== undefined) return refusal;
    skipSpace(scan);
  }
  return scan.at === scan.text.length ? undefined : notJson(scan, 'nothing more');
}

function scanValue(scan: Scan): Problem | undefined {
  const first = scan.text.charAt(scan.at);
  if (first === '{' || first === '[') return scanOpening(scan, first === '{');
  scan.due = false;
  if (first === '"') return scanString(scan);
  if (first === '-' || isDigit(first.charCodeAt(0))) return scanNumber(scan);
  const word = ['true', 'false', 'null'].find((each) => scan.text.startsWith(each, scan.at));
  scan.at += word?.length ?? 0;
  return word === undefined ? notJson(scan, 'a value') : undefined;
}

function scanOpening(scan: Scan, isObject: boolean): Problem | undefined {
  if (scan.open.length >= scan.depth) {
    return refuse(
      scan,
      'body-too-deep',
      `More than ${String(scan.depth)} arrays and objects are inside one another`,
    );
  }
  scan.open.push(isObject ? [] : undefined);
  scan.at += 1;
  skipSpace(scan);
  if (scan.text.charAt(scan.at) === (isObject ? '}' : ']')) return scanClosing(scan);
  return isObject ? scanKey(scan) : undefined;
}

function scanClosing(scan: Scan): Problem | undefined {
  scan.open.pop();
  scan.at += 1;
  scan.due = false;
  return undefined;
}

/** What follows a complete value inside an array or object. */
function scanNext(scan: Scan): Problem | undefined {
  const next = scan.text.charAt(scan.at);
  const inObject = scan.open.at(-1) !== undefined;
  if (next === (inObject ? '}' : ']')) return scanClosing(scan);
  if (next !== ',') return notJson(scan, inObject ? '"," or "}"' : '"," or "]"');
  scan.at += 1;
  scan.due = true;
  skipSpace(scan);
  return inObject ? scanKey(scan) : undefined;
}

function scanKey(scan: Scan): Problem | undefined {
  const start = scan.at;
  if (scan.text.charAt(start) !== '"') return notJson(scan, 'a member name in double quotes');
  const refusal = scanString(scan);
  if (refusal !== undefined) return refusal;
  if (!takeKey(scan, start)) {
    return refuse(
      { ...scan, at: start },
      'body-duplicate-key',
      'An object names a member for the second time',
    );
  }
  skipSpace(scan);
  if (scan.text.charAt(scan.at) !== ':') return notJson(scan, '":"');
  scan.at += 1;
  skipSpace(scan);
  return undefined;
}

/** Notes the key that ends here. False when the object has it already. */
function takeKey(scan: Scan, start: number): boolean {
  const raw = scan.text.slice(start + 1, scan.at - 1);
  const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
  const keys = scan.open.at(-1) ?? [];
  if (keys instanceof Set) return keys.size < keys.add(key).size;
  if (keys.includes(key)) return false;
  // A few keys are found fastest by looking at each, many only by a set.
  if (keys.push(key) > 16) scan.open[scan.open.length - 1] = new Set(keys);
  return true;
}

/** Stands on the opening quote, ends behind the closing one. */
function scanString(scan: Scan): Problem | undefined {
  const { text } = scan;
  scan.at += 1;
  for (let code = text.charCodeAt(scan.at); code !== 0x22; code = text.charCodeAt(scan.at)) {
    const width = code === 0x5c ? escapeLength(text, scan.at) : 1;
    // Written so that the end of the text, where there is no code, is refused too.
    if (width === 0 || !(code >= 0x20)) return notJson(scan, 'a character of a string');
    scan.at += width;
  }
  scan.at += 1;
  return undefined;
}

/** How long the escape at a backslash is; 0 when there is no such escape. */
function escapeLength(text: string, at: number): 0 | 2 | 6 {
  if (text.charAt(at + 1) === 'u') return /^[\da-f]{4}$/i.test(text.slice(at + 2, at + 6)) ? 6 : 0;
  return /["\\/bfnrt]/.test(text.charAt(at + 1)) ? 2 : 0;
}

function scanNumber(scan: Scan): Problem | undefined {
  const start = scan.at;
  skipOne(scan, '-');
  if (!skipOne(scan, '0') && !skipDigits(scan)) return notJson(scan, 'a digit');
  if (skipOne(scan, '.') && !skipDigits(scan)) return notJson(scan, 'a digit');
  if (skipOne(scan, 'eE')) {
    skipOne(scan, '+-');
    if (!skipDigits(scan)) return notJson(scan, 'a digit');
  }
  const number = Number(scan.text.slice(start, scan.at));
  if (Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number)) return undefined;
  const rule = 'A number is not finite, or an integer beyond 2^53 - 1 in one direction or the other';
  return refuse({ ...scan, at: start }, 'number-out-of-range', rule);
}

/** Steps over one of some characters. False when none of them is here. */
function skipOne(scan: Scan, characters: string): boolean {
  const here = scan.text.charAt(scan.at);
  if (here === '' || !characters.includes(here)) return false;
  scan.at += 1;
  return true;
}

/** Steps over digits. False when there is none. */
function skipDigits(scan: Scan): boolean {
  const start = scan.at;
  while (isDigit(scan.text.charCodeAt(scan.at))) scan.at += 1;
  return scan.at > start;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function skipSpace(scan: Scan): void {
  for (;;) {
    const code = scan.text.charCodeAt(scan.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    scan.at += 1;
  }
}

function notJson(scan: Scan, expected: string): Problem {
  const found = scan.at < scan.text.length ? 'something else' : 'the end of the text';
  return refuse(scan, 'body-not-json', `JSON has ${expected} where there is ${found}`);
}

/** Says where and never what: the body may hold a secret. */
function refuse(scan: Scan, code: ProblemCode, detail: string): Problem {
  return problem(code, `${detail}, at character ${String(scan.at)} (counted from 0).`);
}

/** The text, or the offset of the first byte that is not UTF-8. */
function decodeUtf8(bytes: Uint8Array): string | number {
  // A JSON text starts with an ASCII character, so a NUL this early means UTF-16 or UTF-32.
  if (bytes[0] === 0) return 0;
  if (bytes[1] === 0) return 1;
  if (isAscii(bytes)) return textOf(bytes);
  const units = new Uint16Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length;) {
    const more = continuationCount(bytes[at] ?? 0);
    const point = more === undefined ? undefined : codePointAt(bytes, at, more);
    if (more === undefined || point === undefined) return at;
    if (point > 0xffff) units[length++] = 0xd7c0 + (point >> 10);
    units[length++] = point > 0xffff ? 0xdc00 | (point & 0x3ff) : point;
    at += more + 1;
  }
  return textOf(units.subarray(0, length));
}

function isAscii(bytes: Uint8Array): boolean {
  let at = 0;
  while (at < bytes.length && (bytes[at] ?? 0) < 0x80) at += 1;
  return at === bytes.length;
}

/** How many bytes follow a lead byte; `undefined` when it cannot lead. */
function continuationCount(lead: number): 0 | 1 | 2 | 3 | undefined {
  if (lead < 0x80) return 0;
  if (lead < 0xc2 || lead > 0xf4) return undefined;
  if (lead < 0xe0) return 1;
  return lead < 0xf0 ? 2 : 3;
}

/** The code point, or `undefined` when it is cut off, overlong, a surrogate or beyond Unicode. */
function codePointAt(bytes: Uint8Array, at: number, more: 0 | 1 | 2 | 3): number | undefined {
  const lead = bytes[at] ?? 0;
  if (more === 0) return lead;
  let point = lead & (0x3f >> more);
  for (let next = at + 1; next <= at + more; next += 1) {
    const byte = bytes[next] ?? 0;
    if ((byte & 0xc0) !== 0x80) return undefined;
    point = (point << 6) | (byte & 0x3f);
  }
  const overlong = point < ([0, 0x80, 0x800, 0x1_0000] as const)[more];
  return overlong || (point >= 0xd800 && point <= 0xdfff) || point > 0x10_ffff ? undefined : point;
}

function textOf(units: Uint8Array | Uint16Array): string {
  let text = '';
  // In pieces, because arguments lie on the stack.
  for (let at = 0; at < units.length; at += 4096) {
    text += Reflect.apply(String.fromCharCode, undefined, units.subarray(at, at + 4096)) as string;
  }
  return text;
}

/**
 * Takes any JavaScript value of an in-process caller and gives plain JSON.
 *
 * Refused with `patch-malformed`: functions, symbols, bigints, `undefined`, numbers that are not finite, instances of
 * classes, arrays with holes, cycles, what is nested too deeply, and whatever throws when it is read. Each property
 * is read once at most, also when an object is in two places. Members that are not enumerable or have a symbol as key
 * are left out.
 *
 * @param value - the value; it is never changed
 * @param limits - how deep it may be. Copying is as deeply recursive
 * @returns a deeply frozen copy
 *
 * docs/spec-choices.md 28.
 *
 * @internal
 */
export function checkJson(value: unknown, limits: JsonLimits): Result<Json> {
  if (isScalar(value)) return ok(value);
  const walk: Walk = { depth: limits.depth, path: [], open: new Set(), done: new Map(), deepest: 0 };
  let copy: Json | undefined;
  try {
    copy = copyOf(walk, value);
  } catch {
    walk.reason = 'cannot be read: a getter or a proxy throws';
  }
  if (copy !== undefined) return ok(copy);
  const fault = {
    pointer: formatPointer(walk.path),
    code: 'patch-malformed',
    detail: walk.reason ?? 'must be JSON',
  } as const;
  return { ok: false, problem: problemOf([fault]) };
}

/** Where the copying of a value stands. */
interface Walk {
  readonly depth: number;
  /** Tokens of the place that is read. */
  readonly path: (string | number)[];
  /** The arrays and objects around it. */
  readonly open: Set<object>;
  /** The finished copies, each with how many containers are inside one another in it. */
  readonly done: Map<object, { readonly copy: JsonContainer; readonly height: number }>;
  /** How deep the walk has been inside the innermost open container. */
  deepest: number;
  /** Why the value is refused, once it is. */
  reason?: string;
}

/** The copy, or `undefined` when the value is refused. */
function copyOf(walk: Walk, value: unknown): Json | undefined {
  if (isScalar(value)) return value;
  if (typeof value === 'object') return copyOfContainer(walk, value);
  const kind = typeof value === 'number' ? 'number that is not finite' : typeof value;
  return refuseValue(walk, `must be JSON, which has no ${kind}`);
}

function isScalar(value: unknown): value is string | number | boolean | null {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' || typeof value === 'boolean' || value === null;
}

function copyOfContainer(walk: Walk, source: object): JsonContainer | undefined {
  if (walk.open.has(source)) return refuseValue(walk, 'must not contain itself');
  const known = walk.done.get(source);
  const depth = walk.open.size + (known?.height ?? 1);
  if (depth > walk.depth) return refuseValue(walk, `must not be nested more than ${String(walk.depth)} deep`);
  walk.deepest = Math.max(walk.deepest, depth);
  if (known !== undefined) return known.copy;
  if (!isPlain(source)) return refuseValue(walk, 'must be a plain object or array');
  const { deepest } = walk;
  walk.deepest = depth;
  walk.open.add(source);
  const copy = Array.isArray(source) ? copyOfArray(walk, source) : copyOfObject(walk, source);
  if (copy === undefined) return undefined;
  walk.open.delete(source);
  walk.done.set(source, { copy, height: walk.deepest - depth + 1 });
  walk.deepest = Math.max(walk.deepest, deepest);
  return Object.freeze(copy);
}

function copyOfArray(walk: Walk, source: readonly unknown[]): Json[] | undefined {
  const copy: Json[] = [];
  const { length } = source;
  // A hole reads as `undefined`, which is refused.
  for (let index = 0; index < length; index += 1) {
    walk.path.push(index);
    const child = copyOf(walk, source[index]);
    if (child === undefined) return undefined;
    walk.path.pop();
    copy.push(child);
  }
  return copy;
}

function copyOfObject(walk: Walk, source: object): Record<string, Json> | undefined {
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(source)) {
    walk.path.push(key);
    const child = copyOf(walk, (source as Readonly<Record<string, unknown>>)[key]);
    if (child === undefined) return undefined;
    walk.path.pop();
    setMember(copy, key, child);
  }
  return copy;
}

function refuseValue(walk: Walk, reason: string): JsonContainer | undefined {
  walk.reason = reason;
  return undefined;
}
