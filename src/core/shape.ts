/**
 * Shapes: the zod schemas of single values, and the messages for values that do not fit.
 *
 * Messages quote no text from a value, because the value may be a secret or a megabyte long.
 */
import * as z from 'zod/mini';

import { compile } from './shape-compiler.ts';
import { nameFault } from './name.ts';
import { formatPointer } from '../json/pointer.ts';
import { isObject, type Json } from '../json/value.ts';
import type { Fault } from '../problem.ts';
import { mostLinks } from './reference.ts';
import { hasSecret } from './secret.ts';
import { parseInstant } from './time.ts';

// eslint-disable-next-line no-control-regex -- the pattern must match control characters
const control = /[\u0000-\u001f\u007f-\u009f]/;
const hostName = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_.])?$/u;

/** The messages that shapes have of their own, and not of the language that a host has chosen for zod. */
const said = new Set<string>();

/** The message for a value of a wrong type: the rest of a sentence. */
export function saying(error: string): { readonly error: string } {
  said.add(error);
  return { error };
}

/** One line of text of at most `length` UTF-16 code units, without control characters or lone surrogates. */
export function text(length: number): z.ZodMiniString<string> {
  return z.string().check(
    z.maxLength(length),
    z.refine((value) => !control.test(value) && value.isWellFormed(), {
      error: 'must not contain control characters or lone surrogates',
    }),
  );
}

/** Why an operator does something, in words for others. */
export const reason = text(1024).check(z.minLength(1));

/** A name to declare; see {@link nameFault}. */
export const name = z.string().check((context) => {
  const fault = nameFault(context.value);
  if (fault !== undefined) context.issues.push({ code: 'custom', message: fault, input: context.value });
});

/** A number that every JSON parser reads back unchanged: an integer is at most 2^53 - 1. */
export const number = z
  .number()
  .check(z.minimum(-Number.MAX_SAFE_INTEGER), z.maximum(Number.MAX_SAFE_INTEGER));

/** How many there are. */
export const count = z.int().check(z.minimum(0));

/** A TCP port: 1 to 65535. */
export const port = z.int().check(z.minimum(1), z.maximum(65_535));

/** The id of a session or connection: a safe integer from 0. */
export const id = z.int().check(z.minimum(0));

/** A count or a time, from 0; 0 means no limit. */
export const unlimited = z.int().check(z.minimum(0));

/** A host name, an IPv4 or IPv6 address without port, or the path of a socket. */
export const address = z.string().check(
  z.minLength(1),
  z.maxLength(255),
  z.refine((value) => value.startsWith('/') || isHost(value), {
    error: 'must be a host name, an IP address without port, or the path of a socket',
  }),
  z.refine((value) => !control.test(value) && !/\s/u.test(value) && value.isWellFormed(), {
    error: 'must not contain white space or control characters',
  }),
);

/** The largest number of members of a map, and of its secrets, which are counted apart: clients do not see them. */
export const mostMembers = 1000;

/** Whether a map has too many members. To find the secrets can take long, and is left out where it decides nothing. */
export function isTooLarge<T>(members: readonly T[], isSecret: (member: T) => boolean): boolean {
  if (members.length <= mostMembers || members.length > 2 * mostMembers) return members.length > mostMembers;
  const secrets = members.filter(isSecret).length;
  return Math.max(secrets, members.length - secrets) > mostMembers;
}

/** What the fault of a map with too many members says. */
export const tooManyMembers = `must have at most ${String(mostMembers)} members`;

/** A map with free names and values of one shape, at most 1,000 members. */
export function mapOf<T extends z.core.$ZodType>(value: T) {
  return z.record(text(255).check(z.minLength(1)), value).check(
    z.refine((map) => !isTooLarge(Object.values(map), (each) => hasSecret(each as Json)), {
      error: tooManyMembers,
    }),
  );
}

/** A map of plain values, of which no name is the mark of a secret. */
function plainMapOf<T extends z.core.$ZodType>(value: T) {
  return mapOf(value).check(({ value: map, issues }) => {
    const message = 'is not allowed as a name, because { "sealed": … } is a secret; choose another name';
    if (Object.hasOwn(map, 'sealed')) issues.push({ code: 'custom', message, path: ['sealed'], input: map });
  });
}

/** A value of a map of parameters: a number, a text or a boolean. */
const parameter = [number, text(4096), z.boolean()] as const;
const notParameter = saying('must be a number, a string or a boolean');

/** Options as clients see them: texts by name. */
export const options = plainMapOf(text(4096));

/** Parameters as clients see them: numbers, texts or booleans by name. */
export const parameters = plainMapOf(z.union(parameter, notParameter));

/** A member of an object that another member can replace, such as a port. */
export interface Requirement {
  /** The other member. */
  readonly member: string;
  /** The text of the other member where it replaces this one. */
  readonly pattern: RegExp;
  /** The same in words, after "is required unless". */
  readonly unless: string;
}

/** A port is required unless the address is the path of a socket. */
export const portUnlessSocket: Requirement = Object.freeze({
  member: 'address',
  pattern: /^\//,
  unless: 'the address is the path of a socket',
});

/** A check that an object has a member, unless another member replaces it. */
export function requiredMember(
  name: string,
  { member, pattern, unless }: Requirement,
): z.core.$ZodCheck<Members> {
  return memberIf(
    name,
    `unless ${unless}`,
    ({ [member]: other }) => typeof other !== 'string' || !pattern.test(other),
  );
}

type Members = Readonly<Record<string, unknown>>;

/** A check that an object has a member if others demand it. Made also if other members have faults. */
export function memberIf(
  name: string,
  condition: string,
  isNeeded: (value: Members) => boolean,
): z.core.$ZodCheck<Members> {
  return z.refine((value) => value[name] !== undefined || !isNeeded(value), {
    path: [name],
    error: `is required ${condition}`,
    when: ({ value }) => isObject(value as Json),
  });
}

/** The longest hash of a password, and the longest sealed text, in characters. */
export const [longestHash, longestSealed] = [4096, 8192] as const;

/** A hash of a password, or a sealed text, as a port of the host gives it: one line of 1 to `longest` characters. */
export function hiddenText(longest: number): z.ZodMiniString<string> {
  return text(longest).check(z.minLength(1));
}

/**
 * A secret as it is stored; see {@link Sealed}.
 *
 * @param longest - the longest text, in characters
 * @param made - says how the text is made, for a fault: the rest of a sentence
 */
export function sealed(longest: number, made: string) {
  return z.strictObject(
    { sealed: hiddenText(longest) },
    saying(`is a secret, and must not be plain text: write { "sealed": … } ${made}`),
  );
}

/** What the fault of a secret in plain text advises. */
export const asSealed = 'with the output of gateway-admin seal';

const sealedText = sealed(longestSealed, asSealed);

/** A text, or a sealed secret in its place. */
export const sealable = (length: number) => z.union([text(length), sealedText]);

/** Options as they are stored: those with secret names are sealed. */
export const sealableOptions = plainMapOf(sealable(4096));

/** Parameters as they are stored: those with secret names are sealed. */
export const sealableParameters = plainMapOf(z.union([...parameter, sealedText], notParameter));

/** An instant as documents write it: ISO 8601 with an offset. */
export const instant = z.string().check(
  z.refine((value) => parseInstant(value) !== undefined, {
    error: 'must be a time with an offset, such as 2016-08-29T12:52:31+03:00',
  }),
);

/** An instant in milliseconds since 1970-01-01T00:00:00Z, in the years 1 to 9999, which documents can write. */
export const milliseconds = z.int().check(z.minimum(-62_135_596_800_000), z.maximum(253_402_300_799_999));

/** Links to resources of one collection, in order. {@link resolveLinks} checks whether the links resolve. */
export const links = z.array(text(4096)).check(z.maxLength(mostLinks));

/** Made once: to make a shape takes ten times as long as to use it. */
const ipv6 = z.ipv6();

function isHost(value: string): boolean {
  return value.includes(':')
    ? z.safeParse(ipv6, value.replace(/%[\w.-]+$/, '')).success
    : hostName.test(value);
}

/** The shape of an object with known fields. */
export type ObjectShape = z.ZodMiniObject;

/** The names of the fields of a shape, in the order of the shape. */
export function fieldNames(shape: ObjectShape): readonly string[] {
  return Object.freeze(Object.keys(shape.shape));
}

/** A value that fits a shape, or every fault of a value that does not fit. */
export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly faults: readonly Fault[] };

/**
 * Checks a value against a shape.
 *
 * @param shape - the shape
 * @param value - plain JSON
 * @param path - the place of the value in the JSON that was sent
 */
export function parseShape<T>(
  shape: z.core.$ZodType<T>,
  value: unknown,
  path: readonly (string | number)[] = [],
): Parsed<T> {
  const result = check(shape, value);
  if (result === undefined) return { ok: false, faults: faultsOfMembers(shape, value, path) };
  if (result.success) return { ok: true, value: result.data };
  const faults = result.error.issues.flatMap((issue) => faultsOf(issue, value, path));
  return { ok: false, faults: oneForEachPointer(faults) };
}

/** How often a shape was used, and its compiled form. */
interface Use {
  count: number;
  compiled?: z.core.$ZodType;
}

/** A shape is compiled after so many uses. To compile takes as long as some hundred checks. */
const usesBeforeCompiling = 100;

const uses = new WeakMap<z.core.$ZodType, Use>();

/**
 * The compiled form of a shape that is used often. Where programs may not be made at run time, zod gives the shape
 * back.
 */
function compiledOf<T>(shape: z.core.$ZodType<T>): z.core.$ZodType<T> {
  const use = uses.get(shape) ?? { count: 0 };
  if (use.compiled !== undefined) return use.compiled as z.core.$ZodType<T>;
  use.count += 1;
  uses.set(shape, use);
  if (use.count < usesBeforeCompiling) return shape;
  const compiled = compile(shape);
  use.compiled = compiled;
  return compiled;
}

/**
 * Checks a value; `undefined` if a member has too many faults. zod passes the faults of a member on as arguments of one
 * call, and a call with more than about 100,000 arguments overflows the stack.
 */
function check<T>(shape: z.core.$ZodType<T>, value: unknown): z.core.util.SafeParseResult<T> | undefined {
  try {
    return z.safeParse(compiledOf(shape), value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The faults of an object with too many faults in a member: each member is checked on its own. */
function faultsOfMembers(
  shape: z.core.$ZodType,
  value: unknown,
  path: readonly (string | number)[],
): readonly Fault[] {
  const members = isObjectShape(shape) ? Object.entries(shape._zod.def.shape) : [];
  const faults = members.flatMap(([name, member]) => {
    if (!Object.hasOwn(value as object, name)) return [];
    const parsed = parseShape(member, (value as Readonly<Record<string, unknown>>)[name], [...path, name]);
    return parsed.ok ? [] : parsed.faults;
  });
  if (faults.length > 0) return faults;
  const detail = 'has too many faults to list';
  return [{ pointer: formatPointer(path), code: 'validation-failed', detail }];
}

/** Not `instanceof z.core.$ZodObject`: a bundler would keep all of zod for the name. */
function isObjectShape(shape: z.core.$ZodType): shape is z.core.$ZodObject {
  return shape._zod.def.type === 'object';
}

/** Keeps the first fault of each place: an empty text is also no host name, and one message is enough. @internal */
export function oneForEachPointer(faults: readonly Fault[]): readonly Fault[] {
  const first = new Map<string, Fault>();
  for (const fault of faults) if (!first.has(fault.pointer)) first.set(fault.pointer, fault);
  return [...first.values()];
}

function faultsOf(
  issue: z.core.$ZodIssue,
  root: unknown,
  path: readonly (string | number)[],
): readonly Fault[] {
  const place = [...path, ...(issue.path as (string | number)[])];
  if (issue.code === 'unrecognized_keys') {
    // zod lists every unknown key. Without this cut, a body with 200,000 unknown keys would get an answer of megabytes.
    return issue.keys.slice(0, 20).map((key) => ({
      pointer: formatPointer([...place, key]),
      code: 'field-unknown',
      detail: `is not a known field (unknown fields here: ${String(issue.keys.length)})`,
    }));
  }
  const meant = issue.code === 'invalid_union' ? meantBy(issue, valueAt(root, issue.path)) : undefined;
  if (meant !== undefined)
    return meant.flatMap((inner) => faultsOf({ ...inner, path: [...issue.path, ...inner.path] }, root, path));
  return [
    {
      pointer: formatPointer(place),
      code: 'validation-failed',
      detail: sentence(issue, valueAt(root, issue.path)),
    },
  ];
}

/**
 * The issues of the form that a value is meant to have: of the last form of the union whose type is right and that
 * lacks no member. A union has the general form first.
 */
function meantBy(
  { errors, message }: z.core.$ZodIssueInvalidUnion,
  value: unknown,
): readonly z.core.$ZodIssue[] | undefined {
  const isOther = ({ code, path }: z.core.$ZodIssue): boolean =>
    code === 'invalid_type' &&
    (path.length === 0 || (path.length === 1 && valueAt(value, path) === undefined));
  const [general] = errors;
  return (
    errors.findLast((issues) => issues.length > 0 && !issues.some(isOther)) ??
    // A union without a message of its own has the general form that people mean.
    (said.has(message) ? undefined : general)
  );
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    root,
  );
}

/** Explains the fault in words, without quoting the value. */
function sentence(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      if (value === undefined) return 'is required';
      if (said.has(issue.message)) return issue.message;
      return `must be ${article(issue.expected)}, not ${article(typeName(value))}`;
    case 'too_small':
      return `must ${bound(issue.origin)} at least ${String(issue.minimum)}${unit(issue.origin, issue.minimum)}`;
    case 'too_big':
      return `must ${bound(issue.origin)} at most ${String(issue.maximum)}${unit(issue.origin, issue.maximum)}`;
    case 'invalid_value':
      if (value === undefined) return 'is required';
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map((each) => JSON.stringify(each)).join(', ')}`;
    case 'invalid_key':
      return `has a key that ${issue.issues.map((each) => sentence(each, '')).join(', ')}`;
    case 'custom':
    case 'invalid_format':
      return issue.message;
    case 'invalid_union':
      return said.has(issue.message) ? issue.message : 'is not valid';
    default:
      return 'is not valid';
  }
}

function bound(origin: string): string {
  return origin === 'string' || origin === 'array' ? 'have' : 'be';
}

function unit(origin: string, count: number | bigint): string {
  const plural = Number(count) === 1 ? '' : 's';
  if (origin === 'string') return ` character${plural}`;
  return origin === 'array' ? ` item${plural}` : '';
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && !Number.isInteger(value) ? 'fraction' : typeof value;
}

function article(type: string): string {
  const name = type === 'int' ? 'integer' : type === 'record' ? 'object' : type;
  if (name === 'null') return name;
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;
}
