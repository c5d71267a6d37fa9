/**
 * Forms: the values of a resource as texts that a person edits, and the patch or definition that the texts stand for.
 */
import { linkTo, type Fault, type Operation } from 'gateway-admin-core';

import type { Field } from './meaning.ts';

/** The values of inputs, as they are typed. */
export type Typed = Readonly<Record<string, string>>;

type Values = Readonly<Record<string, unknown>>;

/** The values of a resource as texts. A secret is never shown, so its text is empty. */
export function textsOf(fields: readonly Field[], resource: Values): Typed {
  return Object.fromEntries(fields.map((field) => [field.name, textOf(field, resource[field.name])]));
}

function textOf({ type }: Field, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (type === 'names') return linksText(value as readonly string[]);
  if (type === 'words') return (value as readonly string[]).join(', ');
  if (type === 'map')
    return Object.entries(value as Values)
      .map(lineOf)
      .join('\n');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Links as a text, with commas between them. */
export function linksText(links: readonly string[]): string {
  return links.map((link) => link.replaceAll(',', '%2C')).join(', ');
}

/** The links in a text. A name stands for its link. */
export function linksIn(collection: string, text: string): readonly string[] {
  return wordsOf(text).map((each) =>
    each.startsWith('/') ? each.replaceAll('%2C', ',') : linkTo(collection, each),
  );
}

/** The line of a value by name, such as `weight = 2`. A parameter of a filter has its value in an object. */
function lineOf([name, given]: readonly [string, unknown]): string {
  const value = isParameter(given) ? given.value : given;
  return `${name} = ${typeof value === 'string' ? value : JSON.stringify(value)}`;
}

function isParameter(value: unknown): value is { readonly value: unknown } {
  return typeof value === 'object' && value !== null && 'value' in value;
}

/**
 * The patch that makes a resource as the texts say: an operation for each changed field. An emptied field is removed,
 * but an emptied list or map is set to empty. A value that its field cannot have is sent as it is: the interface says
 * what is wrong.
 */
export function patchOf(fields: readonly Field[], resource: Values, typed: Typed): readonly Operation[] {
  const before = textsOf(fields, resource);
  return fields.flatMap((field): readonly Operation[] => {
    const { name, type } = field;
    const text = typed[name] ?? '';
    if (text === before[name]) return [];
    // Without text, a list or map is empty, and not absent.
    if (text.trim() === '' && type !== 'names' && type !== 'words' && type !== 'map')
      return resource[name] === undefined ? [] : [{ op: 'remove', path: `/${name}` }];
    return [{ op: 'add', path: `/${name}`, value: valueOf(field, text, resource[name]) as never }];
  });
}

/** The definition of a new resource. Fields that are empty are left out. */
export function definitionOf(fields: readonly Field[], typed: Typed): Values {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const given = typed[field.name] ?? '';
      // A password may begin or end with a space.
      const text = field.isSecret === true ? given : given.trim();
      return text === '' ? [] : [[field.name, valueOf(field, text, undefined)]];
    }),
  );
}

function valueOf({ name, type, values }: Field, text: string, before: unknown): unknown {
  switch (type) {
    case 'number':
      return numberOf(text);
    case 'flag':
      return text === 'true';
    case 'names':
      return linksIn(name, text);
    case 'words':
      return wordsOf(text);
    case 'map':
      return mapOf(text, (before ?? {}) as Values, values);
    default:
      return text;
  }
}

/** A number; the text itself if it is none. */
export function numberOf(text: string): number | string {
  return /^\s*-?\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : text;
}

function wordsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/**
 * The values of lines such as `weight = 2`; the text itself if a line has no value. An unchanged line keeps its value,
 * with the type that the text does not show.
 */
function mapOf(text: string, before: Values, values: Field['values']): Values | string {
  const left = Object.entries(before);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (!lines.every((line) => line.includes('='))) return text;
  return Object.fromEntries(
    lines.map((line) => {
      const at = left.findIndex((entry) => lineOf(entry) === line);
      return (at === -1 ? undefined : left.splice(at, 1)[0]) ?? entryOf(line, before, values);
    }),
  );
}

/** The value in a line, by its name. A value that was a text stays a text. */
function entryOf(line: string, before: Values, values: Field['values']): [string, unknown] {
  const [name = '', value = ''] = line
    .split(line.includes(' = ') ? / = (.*)/s : /=(.*)/s)
    .map((each) => each.trim());
  const was = before[name];
  if (values === 'parameters') return [name, { configurable: true, ...(was as object | undefined), value }];
  return [name, values === 'texts' || typeof was === 'string' ? value : plainOf(value)];
}

function plainOf(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return numberOf(text);
}

/** The faults of a patch by the field that they are about; those about no field under the empty name. */
export function faultsByField(faults: readonly Fault[], patch: readonly Operation[]): Typed {
  const found: Record<string, string> = {};
  for (const { operation, pointer, detail } of faults) {
    const path = operation === undefined ? pointer : (patch[operation]?.path ?? pointer);
    const name = path.split('/')[1] ?? '';
    found[name] = found[name] === undefined ? detail : `${found[name]}; ${detail}`;
  }
  return found;
}
