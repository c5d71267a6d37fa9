/**
 * The JSON Schema of the gateway document, for editors and other tools: from the tables of fields and the comments of
 * the interfaces. The schema accepts every document that `createSnapshot` accepts. What it cannot say, such as that a
 * link must resolve, `createSnapshot` alone refuses.
 */
import * as z from 'zod/mini';

import { documentDescriptions } from '../openapi/description.ts';
import {
  fieldTables,
  instantText,
  maxNameLength,
  namedResources,
  sessionDocument,
  shape,
  wholes,
  type Fields,
} from './tables.ts';

/** A part of a JSON schema, with the words for a value whose rules JSON Schema cannot say. */
export interface Schema {
  readonly type?: string;
  readonly words?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | false;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

/** What a function gets that changes a part of a schema. */
export interface Overridden {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: object;
}

/** How a schema is made of what a client writes. */
export const schemaOptions = { io: 'input', unrepresentable: 'any', reused: 'inline' } as const;

/**
 * Gives the JSON Schema of a whole document.
 *
 * @param override - adds to a part of the schema what zod does not
 */
export function schemaOf(override: (each: Overridden) => void): Schema {
  const lists = namedResources.map(({ collection, fields }) => [collection, z.array(fields.document)]);
  const optional = Object.entries({
    $schema: z.string(),
    format: z.literal(2),
    ...(Object.fromEntries(lists) as Readonly<Record<string, z.ZodMiniArray>>),
    sessions: z.array(sessionDocument),
  }).map(([name, part]) => [name, z.exactOptional(part)]);
  const whole = z.strictObject({
    ...Object.assign({}, ...wholes.map(({ document }) => document)),
    ...(Object.fromEntries(optional) as Readonly<Record<string, z.ZodMiniType>>),
  });
  return z.toJSONSchema(whole, { target: 'draft-7', ...schemaOptions, override }) as Schema;
}

/** Writes the schema that the package has. */
export function documentSchema(): string {
  const { $schema, ...schema } = described(schemaOf(withRules), documentDescriptions()) as Schema & {
    readonly $schema: string;
  };
  return JSON.stringify({
    $schema,
    title: 'Gateway document',
    ...schema,
  });
}

const tables = new Map(
  Object.values(fieldTables).map((fields) => [fields.document as z.core.$ZodType, fields]),
);

/** Adds the rules that zod checks with functions. */
export function withRules({ zodSchema, jsonSchema }: Overridden): void {
  const fields = tables.get(zodSchema);
  if (fields !== undefined) Object.assign(jsonSchema, rulesOf(fields, jsonSchema as Schema));
  if (zodSchema === shape.name) Object.assign(jsonSchema, { minLength: 1, maxLength: maxNameLength });
  if (zodSchema === shape.instant) Object.assign(jsonSchema, { pattern: instantText.source });
  if (zodSchema === shape.sealableOptions || zodSchema === shape.sealableParameters)
    Object.assign(jsonSchema, { not: { required: ['sealed'] } });
  // The secrets of a map are counted apart.
  if (zodSchema._zod.def.type === 'record')
    Object.assign(jsonSchema, { maxProperties: 2 * shape.mostMembers });
}

/** The links of a kind, and the members that another one can replace. */
function rulesOf({ all }: Fields, { properties = {} }: Schema): object {
  const links = all.flatMap(({ name, links: collection }) => {
    if (collection === undefined) return [];
    const { items, ...list } = properties[name] ?? {};
    return [[name, { ...list, items: { ...items, pattern: `^/${collection}/[^/?#]+$` } }] as const];
  });
  const required = all.flatMap(({ name, required: rule }) =>
    rule === undefined
      ? []
      : {
          anyOf: [
            { required: [name] },
            { properties: { [rule.member]: { type: 'string', pattern: rule.pattern.source } } },
          ],
        },
  );
  return {
    properties: { ...properties, ...Object.fromEntries(links) },
    ...(required.length === 0 ? {} : { allOf: required }),
  };
}

/** The description of a time in a document. All times have the same form there, and other forms in answers. */
export function inDocument(description: string): string {
  return description.replace(/(?:, such as|: ISO 8601|: an ISO 8601)[^;]*?(?=;|\.$)/, '');
}

/** Adds the description of each field, by its path. */
function described(schema: Schema, texts: Readonly<Record<string, string>>, path = ''): Schema {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const properties = Object.entries(schema.properties ?? {}).map(
    ([name, member]) => [name, described(member, texts, at(name))] as const,
  );
  const { items, additionalProperties: members, anyOf } = schema;
  const description = schema.pattern === instantText.source ? inDocument(texts[path] ?? '') : texts[path];
  return {
    ...(description === undefined ? {} : { description }),
    ...schema,
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
    ...(items === undefined ? {} : { items: described(items, texts, at('*')) }),
    ...(typeof members === 'object' ? { additionalProperties: described(members, texts, at('*')) } : {}),
    // The first alternative is the form of the answers.
    ...(anyOf === undefined
      ? {}
      : { anyOf: anyOf.map((each, form) => (form === 0 ? described(each, texts, path) : each)) }),
  };
}
