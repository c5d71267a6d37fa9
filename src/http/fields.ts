/**
 * Projections: the `fields` parameter, which selects members of a representation.
 */
import { fail, ok, quoted, type Result } from '../problem.ts';

/**
 * Parses the `fields` parameter: names of fields, separated by commas. White space around names is ignored, and
 * repeated parameters are united.
 *
 * Refused with `fields-invalid` for an unknown name and for an empty list; the detail lists the existing names.
 *
 * @param values - the value of each occurrence of the parameter, percent-decoded
 * @param known - names of all fields that the representation can have
 * @returns the selected names, in the order of `known`, each once
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
    return 'The parameter "fields" must be names separated by commas, and one name is empty.';
  return `There is no field ${quoted(stranger)} here.`;
}

/**
 * Creates the projection to some fields. The projection leaves out a field that a representation does not have.
 *
 * @param fields - names of the fields to show, in this order
 * @param aliases - other names of fields, each with its field
 * @returns a function from a representation to a new object with the selected own members
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
    // `fromEntries` defines members instead of assigning them, so a field named `__proto__` is a field like any other.
    return Object.fromEntries(own.map(([name, from]) => [name, source[from]]));
  };
}
