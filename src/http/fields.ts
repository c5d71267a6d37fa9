/**
 * Projections: the `fields` parameter.
 */
import { fail, ok, type Result } from '../problem.ts';

/** How much of an unknown name is repeated in the answer. */
const quotedLength = 40;

/**
 * Reads the `fields` parameter: top-level names separated by commas, white space around them ignored, repeated
 * parameters united. An unknown name and an empty list are refused with `fields-invalid`, whose detail lists the
 * names that exist.
 *
 * @param values - the value of each occurrence of the parameter, percent-decoded
 * @param known - names of all fields that the representation can have
 * @returns the names that were asked for, in the order of `known`, each once
 *
 * @see docs/spec-choices.md 13.
 *
 * @internal
 */
export function parseFields(values: readonly string[], known: readonly string[]): Result<readonly string[]> {
  const names = values.flatMap((value) => value.split(',')).map((name) => name.trim());
  const asked = new Set(names);
  const stranger = names.find((name) => !known.includes(name));
  if (stranger === undefined && asked.size > 0) return ok(known.filter((name) => asked.has(name)));
  return fail('fields-invalid', `${explain(stranger ?? '')} The fields are: ${known.join(', ')}.`);
}

function explain(stranger: string): string {
  if (stranger === '')
    return 'The parameter "fields" takes names separated by commas, and a name is missing.';
  const quoted = JSON.stringify(stranger.slice(0, quotedLength));
  return `There is no field ${quoted}${stranger.length > quotedLength ? '…' : ''} here.`;
}

/**
 * Gives the projection to some fields. A field that a representation does not have is left out.
 *
 * @param fields - names of the fields to keep, in the order to show them
 * @param aliases - other spellings of fields, each with the field that it stands for
 * @returns a function from a representation to a new object with those of its own properties
 *
 * @internal
 */
export function selectFields(
  fields: readonly string[],
  aliases: Readonly<Record<string, string>> = {},
): (representation: object) => Record<string, unknown> {
  const sources = fields.map(
    (name) => [name, Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name] as const,
  );
  return (representation) => {
    const source = representation as Readonly<Record<string, unknown>>;
    const own = sources.filter(([, name]) => Object.hasOwn(source, name));
    // fromEntries defines properties, so that a field named __proto__ is a field like any other.
    return Object.fromEntries(own.map(([name, from]) => [name, source[from]]));
  };
}
