/**
 * The JSON parser: turns a text into plain, frozen JSON, or refuses the text.
 *
 * `JSON.parse` accepts texts that do harm later: a repeated key, a number that changes when parsed, a million brackets.
 * A scan in linear time refuses such texts before `JSON.parse` sees them.
 */
import { assertObject, assertText, deepFreeze, type Json, type JsonLimits } from './value.ts';
import { ok, problem, type Problem, type ProblemCode, type Result } from '../problem.ts';

/**
 * The limits of `parseJson`.
 *
 * @public
 */
export interface ParseLimits extends JsonLimits {
  /** Largest number of values: texts, numbers, words, arrays and objects, nested ones included. No limit by default. */
  readonly values?: number;
}

/**
 * Parses a JSON text.
 *
 * Refused when
 * - the text is empty (`body-missing`) or not JSON (`body-not-json`),
 * - the text is nested too deeply (`body-too-deep`), or has too many values (`content-too-large`),
 * - an object has two members of one name, however the names are escaped (`body-duplicate-key`),
 * - a number is not finite, or is an integer beyond ±(2^53 - 1) (`number-out-of-range`).
 *
 * A lone surrogate, written as an escape, is JSON and accepted.
 *
 * @param body - the text, with or without a byte order mark
 * @param limits - how deep the text may be nested, and how many values it may have
 * @returns the value, deeply frozen; `__proto__` is a member like any other
 *
 * @example
 * ```ts
 * import { parseJson } from 'gateway-admin-core/json';
 *
 * const parsed = parseJson('{"port": 1, "port": 2}', { depth: 32 });
 * parsed.ok || parsed.problem.code; // => 'body-duplicate-key'
 * ```
 *
 * @see RFC 8259; docs/spec-choices.md 35.
 *
 * @public
 */
export function parseJson(body: string, limits: ParseLimits): Result<Json> {
  assertText(body, 'body');
  assertObject(limits, 'limits');
  const parsing = parsingJson(body, limits);
  for (;;) {
    const { done, value } = parsing.next();
    if (done === true) return value.ok ? ok(deepFreeze(value.value)) : value;
  }
}

/**
 * Parses a JSON text as {@link parseJson} does, in steps: a caller can pause after each. The value is not frozen,
 * because that would take as long again.
 *
 * @internal
 */
export function* parsingJson(body: string, limits: ParseLimits): Generator<undefined, Result<Json>> {
  const text = body.startsWith('\ufeff') ? body.slice(1) : body;
  const { depth, values = Infinity } = limits;
  const refusal = yield* scanText({ text, depth, left: values, at: 0, due: true, open: [] });
  return refusal === undefined ? ok(JSON.parse(text) as Json) : { ok: false, problem: refusal };
}

/** The number of values and ends of values between two steps. */
const stride = 4096;

/** The progress of a scan. */
interface Scan {
  readonly text: string;
  readonly depth: number;
  /** How many more values the text may have. */
  left: number;
  /** Offset of the next character. */
  at: number;
  /** Whether a value must come next. */
  due: boolean;
  /** The open containers, outermost first: the keys seen in an object, `undefined` for an array. */
  readonly open: (string[] | Set<string> | undefined)[];
}

/** Why a text was refused. */
type Refusal = Problem<ProblemCode>;

function* scanText(scan: Scan): Generator<undefined, Refusal | undefined> {
  skipSpace(scan);
  if (scan.at === scan.text.length) return problem('body-missing', 'The body is empty. Send a JSON value.');
  for (let count = 1; scan.due || scan.open.length > 0; count += 1) {
    const refusal = scan.due ? scanValue(scan) : scanNext(scan);
    if (refusal !== undefined) return refusal;
    skipSpace(scan);
    if (count % stride === 0) yield;
  }
  return scan.at === scan.text.length ? undefined : notJson(scan, 'the end of the text');
}

function scanValue(scan: Scan): Refusal | undefined {
  scan.left -= 1;
  if (scan.left < 0) return refuse(scan, 'content-too-large', 'The body has too many values');
  const first = scan.text.charAt(scan.at);
  if (first === '{' || first === '[') return scanOpening(scan, first === '{');
  scan.due = false;
  if (first === '"') return scanString(scan);
  if (first === '-' || isDigit(first.charCodeAt(0))) return scanNumber(scan);
  const word = ['true', 'false', 'null'].find((each) => scan.text.startsWith(each, scan.at));
  scan.at += word?.length ?? 0;
  return word === undefined ? notJson(scan, 'a value') : undefined;
}

function scanOpening(scan: Scan, isObject: boolean): Refusal | undefined {
  if (scan.open.length >= scan.depth) {
    return refuse(scan, 'body-too-deep', `The body is nested more than ${String(scan.depth)} levels deep`);
  }
  scan.open.push(isObject ? [] : undefined);
  scan.at += 1;
  skipSpace(scan);
  if (scan.text.charAt(scan.at) === (isObject ? '}' : ']')) return scanClosing(scan);
  return isObject ? scanKey(scan) : undefined;
}

function scanClosing(scan: Scan): Refusal | undefined {
  scan.open.pop();
  scan.at += 1;
  scan.due = false;
  return undefined;
}

/** Scans the text after a complete value inside an array or object. */
function scanNext(scan: Scan): Refusal | undefined {
  const next = scan.text.charAt(scan.at);
  const inObject = scan.open.at(-1) !== undefined;
  if (next === (inObject ? '}' : ']')) return scanClosing(scan);
  if (next !== ',') return notJson(scan, inObject ? '"," or "}"' : '"," or "]"');
  scan.at += 1;
  scan.due = true;
  skipSpace(scan);
  return inObject ? scanKey(scan) : undefined;
}

function scanKey(scan: Scan): Refusal | undefined {
  const start = scan.at;
  if (scan.text.charAt(start) !== '"') return notJson(scan, 'a member name in double quotes');
  const refusal = scanString(scan);
  if (refusal !== undefined) return refusal;
  if (!takeKey(scan, start)) {
    return refuse({ ...scan, at: start }, 'body-duplicate-key', 'An object has two members of the same name');
  }
  skipSpace(scan);
  if (scan.text.charAt(scan.at) !== ':') return notJson(scan, '":"');
  scan.at += 1;
  skipSpace(scan);
  return undefined;
}

/** Records the key that ends here. False if the object already has this key. */
function takeKey(scan: Scan, start: number): boolean {
  const raw = scan.text.slice(start + 1, scan.at - 1);
  const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
  const keys = scan.open.at(-1) ?? [];
  if (keys instanceof Set) return keys.size < keys.add(key).size;
  if (keys.includes(key)) return false;
  // A list is faster for a few keys, a set for many.
  if (keys.push(key) > 16) scan.open[scan.open.length - 1] = new Set(keys);
  return true;
}

/** Starts at the opening quote, stops after the closing one. */
function scanString(scan: Scan): Refusal | undefined {
  const { text } = scan;
  scan.at += 1;
  for (let code = text.charCodeAt(scan.at); code !== 0x22; code = text.charCodeAt(scan.at)) {
    const width = code === 0x5c ? escapeLength(text, scan.at) : 1;
    // Beyond the end of the text `code` is `NaN`, and this form of the comparison refuses `NaN`.
    if (width === 0 || !(code >= 0x20)) return notJson(scan, 'a valid character or escape of a string');
    scan.at += width;
  }
  scan.at += 1;
  return undefined;
}

/** The length of the escape that starts at a backslash; 0 if the escape is not valid. */
function escapeLength(text: string, at: number): 0 | 2 | 6 {
  if (text.charAt(at + 1) === 'u') return /^[\da-f]{4}$/i.test(text.slice(at + 2, at + 6)) ? 6 : 0;
  return /["\\/bfnrt]/.test(text.charAt(at + 1)) ? 2 : 0;
}

/** The longest text that can begin a number (RFC 8259 §6). It is a number if a digit is last. */
const beginOfNumber = /-?(?:(?:0|\d+)(?:\.(?:\d+(?:[eE][+-]?\d*)?)?|[eE][+-]?\d*)?)?/y;

/** Starts at a minus or a digit. */
function scanNumber(scan: Scan): Refusal | undefined {
  const start = scan.at;
  beginOfNumber.lastIndex = start;
  beginOfNumber.test(scan.text);
  scan.at = beginOfNumber.lastIndex;
  if (!isDigit(scan.text.charCodeAt(scan.at - 1))) return notJson(scan, 'a digit');
  const number = Number(scan.text.slice(start, scan.at));
  if (Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number)) return undefined;
  const rule = 'A number must be finite, and an integer must be from -(2^53 - 1) to 2^53 - 1';
  return refuse({ ...scan, at: start }, 'number-out-of-range', rule);
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

function notJson(scan: Scan, expected: string): Refusal {
  const found = scan.at < scan.text.length ? 'another character' : 'the end of the text';
  return refuse(scan, 'body-not-json', `The body is not JSON: expected ${expected}, found ${found}`);
}

/** Names the position and never quotes the text: the body may contain a secret. */
function refuse(scan: Scan, code: ProblemCode, detail: string): Refusal {
  return problem(code, `${detail}, at character ${String(scan.at)} (counted from 0).`);
}
