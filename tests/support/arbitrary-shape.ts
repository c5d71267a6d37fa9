/**
 * Arbitrary values of a shape: the fields of a table need no generator of their own.
 */
import * as fc from 'fast-check';
import * as z from 'zod/mini';

/** Instants in the one form in which documents are written, from the year 1 to the year 9999. */
const instants = fc
  .integer({ min: Date.parse('0001-01-02T00:00:00Z'), max: Date.parse('9999-12-30T00:00:00Z') })
  .map((instant) => new Date(instant).toISOString().replace(/(?:\.000)?Z$/, '+00:00'));

/** Texts that a shape may accept: what operators write, what trips programs up, what is no plain text. */
const candidates: readonly {
  readonly weight: number;
  readonly texts: readonly string[] | fc.Arbitrary<string>;
}[] = [
  { weight: 3, texts: ['db-1', 'My Service', 'MY OTHER', 'a', 'B', 'Main Monitor', 'localhost'] },
  {
    weight: 2,
    texts: ['__proto__', 'constructor', 'prototype', 'toString', 'length', '0', ''].concat([
      'eu/west',
      '100%',
      'Köln',
      '...',
      '~1',
    ]),
  },
  { weight: 1, texts: ['127.0.0.1', '::1', 'fe80::1%eth0', '/run/db.sock', 'db_1.example.test'] },
  { weight: 1, texts: instants },
  { weight: 3, texts: fc.string({ unit: 'grapheme', maxLength: 8 }) },
];

/** No document and no patch may have members of these names, whatever the shape of a map says. */
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

/** The shapes of members by name. */
export type Shapes = Readonly<Record<string, z.core.$ZodType>>;

const known = new WeakMap<z.core.$ZodType, fc.Arbitrary<unknown>>();

/**
 * Values that a shape accepts.
 *
 * @param place - what the shape is of, for the message when there are no such values
 */
export function valuesOf<S extends z.core.$ZodType>(
  shape: S,
  place = 'value',
): fc.Arbitrary<z.core.input<S>> {
  const values = known.get(shape) ?? madeFor(shape, place);
  known.set(shape, values);
  return values as fc.Arbitrary<z.core.input<S>>;
}

function madeFor(shape: z.core.$ZodType, place: string): fc.Arbitrary<unknown> {
  const { type, checks = [] } = shape._zod.def;
  const values = unrefined(shape, place);
  // Texts have been looked at one by one, and no list here is too long for any shape.
  const open = type === 'string' ? [] : checks.filter((check) => check._zod.def.check !== 'max_length');
  return open.length === 0 ? values : values.filter((value) => accepts(shape, value));
}

function accepts(shape: z.core.$ZodType, value: unknown): boolean {
  return z.safeParse(shape, value).success;
}

/** Values of the type of a shape; a check may still refuse some. */
function unrefined(shape: z.core.$ZodType, place: string): fc.Arbitrary<unknown> {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'string':
      return textsOf(shape, place);
    case 'number':
      return numbersOf(def);
    case 'boolean':
      return fc.boolean();
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries));
    case 'literal':
      return fc.constantFrom(...def.values);
    case 'array':
      return fc.array(valuesOf(def.element, place), { maxLength: 3 });
    case 'record':
      return fc.dictionary(
        valuesOf(def.keyType as z.core.$ZodType<unknown, string>, place).filter((key) => !reserved.has(key)),
        valuesOf(def.valueType, place),
        { maxKeys: 3, noNullPrototype: true },
      );
    case 'object':
      return objectsOf(def.shape, {}, place);
    case 'optional':
      return valuesOf(def.innerType, place);
    case 'union':
      return fc.oneof(...def.options.map((option) => valuesOf(option, place)));
    case 'pipe':
      return valuesOf(def.in, place);
    case 'unknown':
      return fc.constantFrom<unknown>(null, false, 0, '', 'x', [], [null], {}, { a: [1] });
    default:
      throw new Error(
        `No values are known of the type "${def.type}" (${place}): add them to tests/support/arbitrary-shape.ts`,
      );
  }
}

/**
 * Objects with these members; those that are optional are left out now and then.
 *
 * @param shapes - the shape of each member by name
 * @param own - values that take the place of those of a shape
 * @param place - what the objects are, for messages
 */
export function objectsOf(
  shapes: Shapes,
  own: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  place: string,
): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const names = Object.keys(shapes);
  const members = Object.entries(shapes).map(([name, shape]) => [
    name,
    own[name] ?? valuesOf(shape, `${place}.${name}`),
  ]);
  const requiredKeys = names.filter((name) => shapes[name]?._zod.optin !== 'optional');
  return fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>, { requiredKeys });
}

/** The candidates that the shape accepts. Arbitrary ones are left out when it refuses most of them. */
function textsOf(shape: z.core.$ZodType, place: string): fc.Arbitrary<unknown> {
  const accepted = candidates.flatMap(({ weight, texts }) => {
    if (texts instanceof fc.Arbitrary) {
      const sample = fc.sample(texts, { numRuns: 20, seed: 1 });
      const good = sample.filter((text) => accepts(shape, text));
      return good.length < sample.length / 2
        ? []
        : [{ weight, arbitrary: texts.filter((text) => accepts(shape, text)) }];
    }
    const good = texts.filter((text) => accepts(shape, text));
    return good.length === 0 ? [] : [{ weight, arbitrary: fc.constantFrom(...good) }];
  });
  if (accepted.length === 0)
    throw new Error(
      `No candidate text fits the shape of ${place}: add some to tests/support/arbitrary-shape.ts`,
    );
  return fc.oneof(...accepted);
}

/** Whole numbers are small more often than not, so that some are the same. */
function numbersOf({
  format,
  checks = [],
}: z.core.$ZodNumberDef & { format?: string }): fc.Arbitrary<number> {
  const bound = (check: string, otherwise: number): number =>
    checks
      .map((each) => each._zod.def as { readonly check: string; readonly value: number })
      .find((def) => def.check === check)?.value ?? otherwise;
  const max = bound('less_than', Number.MAX_SAFE_INTEGER);
  if (format === undefined) {
    const finite = fc.double({ min: bound('greater_than', -max), max, noNaN: true });
    // JSON text keeps no negative zero.
    return finite.map((value) => (Object.is(value, -0) ? 0 : value));
  }
  const min = bound('greater_than', -1e9);
  return fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min, max: Math.min(max, min + 9) }) },
    { weight: 1, arbitrary: fc.integer({ min, max }) },
  );
}
