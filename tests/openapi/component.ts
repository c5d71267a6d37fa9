/**
 * Components: the schemas of representations, patches, plans and problems.
 */
import * as z from 'zod/mini';

import {
  problemTable,
  type Fault,
  type May,
  type Plan,
  type Problem,
  type ProblemCode,
} from 'gateway-admin-core';

import { schemaOptions, withRules } from '../docs/document-schema.ts';
import {
  boundRoutes,
  fieldTables,
  maxListedFaults,
  secretNames,
  type BoundRoute,
  type Fields,
} from '../docs/tables.ts';
import { componentDescriptions, documentDescriptions, pascalCase, type Texts } from './description.ts';

/** A part of the document. */
export type Members = Readonly<Record<string, unknown>>;

/** A route that reads. */
export type ReadRoute = Extract<BoundRoute, { readonly kind: 'item' | 'list' }>;

type Section = 'schemas' | 'parameters' | 'headers' | 'responses' | 'examples';

/** A reference to a component. */
export function ref(section: Section, name: string): Members {
  return { $ref: `#/components/${section}/${name}` };
}

/** The tables of fields by the name of their component. */
const tables: ReadonlyMap<string, Fields> = new Map(
  Object.entries(fieldTables).map(([chapter, fields]) => [pascalCase(chapter), fields]),
);

const count = z.int().check(z.minimum(0));
const changeShape = z.looseObject({ type: z.string() });

const faultShape = z.strictObject({
  pointer: z.string(),
  operation: z.exactOptional(count),
  code: z.enum(Object.keys(problemTable) as ProblemCode[]),
  detail: z.string(),
} satisfies Record<keyof Fault, z.ZodMiniType>);

const problemShape = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int().check(z.minimum(400), z.maximum(599)),
  detail: z.string(),
  code: z.string(),
  errors: z.exactOptional(z.array(faultShape).check(z.minLength(1), z.maxLength(maxListedFaults))),
  command: z.exactOptional(z.string()),
  plan: z.exactOptional(z.lazy(() => planShape)),
} satisfies Record<keyof Problem, z.ZodMiniType>);

const noteShape = z.strictObject({
  code: z.string(),
  resource: z.exactOptional(z.string()),
  count: z.exactOptional(count),
  detail: z.string(),
} satisfies Record<keyof NonNullable<Plan['notes']>[number], z.ZodMiniType>);

const planShape = z.strictObject({
  outcome: z.enum(['accepted', 'unchanged'] satisfies Plan['outcome'][]),
  mark: z.string(),
  patch: z.exactOptional(z.array(z.looseObject({ op: z.string(), path: z.string() }))),
  events: z.array(changeShape),
  effects: z.array(changeShape),
  count: z.exactOptional(z.record(z.string(), count)),
  etag: z.exactOptional(z.string()),
  closes: z.strictObject({ sessions: count, connections: count } satisfies Record<
    keyof Plan['closes'],
    unknown
  >),
  stays: z.strictObject({ sessions: count } satisfies Record<keyof Plan['stays'], unknown>),
  notes: z.exactOptional(z.array(noteShape)),
} satisfies Record<keyof Plan, z.ZodMiniType>);

const mayShape = z.strictObject({
  id: z.string(),
  allowed: z.boolean(),
  code: z.exactOptional(z.string()),
  detail: z.exactOptional(z.string()),
} satisfies Record<keyof Extract<May, { readonly code: string }>, z.ZodMiniType>);

const outcomeShape = z.strictObject({
  outcome: z.enum(['accepted', 'unchanged'] satisfies Plan['outcome'][]),
  command: z.exactOptional(z.string()),
  closed: z.strictObject({ sessions: count, connections: count } satisfies Record<
    keyof Plan['closes'],
    unknown
  >),
});

/** The type of an outcome is of the client, and not of the main entry. */
const outcomeTexts: Texts = {
  '': 'What a command has done.',
  outcome: 'Whether anything has changed.',
  command: 'Id of the command; left out if nothing was settled.',
  closed: 'What the command has closed.',
  'closed.sessions': 'Number of sessions.',
  'closed.connections': 'Number of backend connections, including the connections of the closed sessions.',
};

/** The name of the component of each shape. */
const shapes = new Map<z.core.$ZodType, string>([
  ...[...tables].map(([name, { representation }]) => [representation, name] as const),
  [planShape, 'Plan'],
  [mayShape, 'May'],
  [outcomeShape, 'Outcome'],
  [problemShape, 'Problem'],
  [faultShape, 'Fault'],
]);

/** The fields that a route patches; `undefined` if its body is no JSON Patch. */
export function patchedBy({ method, id }: BoundRoute): Fields | undefined {
  return method === 'PATCH' ? fieldTables[id.replace(/s?\..*$/, '')] : undefined;
}

/** The fields of the resource that a route creates; `undefined` if a route creates none. */
export function definedBy({ method, id }: BoundRoute): Fields | undefined {
  const [, collection = '', part = ''] = /^(\w+)s\.create(\w*)$/.exec(id) ?? [];
  return method === 'POST' ? fieldTables[part.toLowerCase() || collection] : undefined;
}

/** The JSON Patches of the interface: what is patched, and the answer to the patch. */
const patches = boundRoutes.flatMap((route) => {
  const fields = patchedBy(route);
  if (fields === undefined || route.kind !== 'command') return [];
  return [{ name: componentOf(fields), fields, answer: route.answerShape }];
});
for (const { name, answer } of patches)
  if (answer !== undefined && !shapes.has(answer)) shapes.set(answer, `Patched${name}`);

/** The definitions of resources: the bodies that create them. */
const definitions = boundRoutes.flatMap((route) => {
  const fields = definedBy(route);
  if (fields === undefined || route.kind !== 'command' || route.bodyShape === undefined) return [];
  const name = `${componentOf(fields)}Definition`;
  const place = route.path.slice(1).replace(':name', '*').replaceAll('/', '.');
  return [{ name, fields, shape: route.bodyShape, place, kind: componentOf(fields).toLowerCase() }];
});
const definitionNames = new Map(definitions.map(({ name, shape }) => [shape, name]));

/** The name of the component with some fields. */
export function componentOf({ representation }: Fields): string {
  const name = shapes.get(representation);
  if (name === undefined) throw new RangeError('These fields are in no field table');
  return name;
}

/** The schema of an answer, or of an element of a list: a reference, or the schema of a text. */
export function answerSchema(shape: z.core.$ZodType): Members {
  const name = shapes.get(shape);
  return name === undefined ? plain(z.toJSONSchema(shape)) : ref('schemas', name);
}

/** The schema of a part of a representation: what the parameter `fields` gives. */
export function partSchema(shape: z.core.$ZodType): Members {
  return ref('schemas', `${shapes.get(shape) ?? ''}Part`);
}

/** The schema of a body that is no JSON Patch. No answer contains a password. */
export function bodySchema(shape: z.core.$ZodType): Members {
  const name = definitionNames.get(shape);
  if (name !== undefined) return ref('schemas', name);
  const schema = plain(z.toJSONSchema(shape));
  return withProperties(schema, (name, member) => (name === 'password' ? secretMember(member) : member));
}

function secretMember(member: Members): Members {
  return { ...member, format: 'password', writeOnly: true };
}

/** The schemas of definitions, with the descriptions of a gateway document. */
function definitionSchemas(): Members {
  const texts = Object.entries(documentDescriptions());
  return Object.fromEntries(
    definitions.map(({ name, fields, shape, place, kind }) => {
      const start = `${place}.*.`;
      const own = texts.filter(([path]) => path.startsWith(start));
      const descriptions = {
        '': `The definition of a new ${kind}. Secrets are in plain text, and are never shown.`,
        ...Object.fromEntries(own.map(([path, text]) => [path.slice(start.length), text])),
      };
      const schema = plain(z.toJSONSchema(shape, { ...schemaOptions, override: withRules }));
      const secrets = secretNames([fields]);
      const defaults = new Map(fields.all.map((field) => [field.name, field.default]));
      const whole = withProperties(schema, (member, value) =>
        secrets.has(member)
          ? secretMember({ description: 'The secret in plain text.', ...value })
          : { ...value, ...(defaults.get(member) !== undefined && { default: defaults.get(member) }) },
      );
      return [name, described(name, whole, { [name]: descriptions })];
    }),
  );
}

/** The schemas of the document. */
export function schemas(): Members {
  const registry = z.registry<{ id: string }>();
  for (const [shape, id] of shapes) registry.add(shape, { id });
  const uri = (id: string): string => `#/components/schemas/${id}`;
  const descriptions = { ...componentDescriptions(), Outcome: outcomeTexts };
  const named = Object.entries(z.toJSONSchema(registry, { uri }).schemas);
  return {
    ...Object.fromEntries(
      named.map(([name, schema]) => [name, described(name, withTimes(name, plain(schema)), descriptions)]),
    ),
    ...Object.fromEntries(
      boundRoutes.flatMap((route) =>
        (route.kind === 'item' || route.kind === 'list') && route.fields.length > 0 ? [partOf(route)] : [],
      ),
    ),
    ...Object.fromEntries(patches.map(({ name, fields }) => [`${name}Patch`, patchSchema(fields)])),
    ...definitionSchemas(),
  };
}

/** The schema as a part of this document, which has one dialect and names its schemas itself. */
function plain({ $schema: _dialect, $id: _id, ...schema }: Members): Members {
  return schema;
}

function withProperties(schema: Members, change: (name: string, member: Members) => Members): Members {
  const properties = schema['properties'] as Readonly<Record<string, Members>> | undefined;
  if (properties === undefined) return schema;
  const changed = Object.entries(properties).map(([name, member]) => [name, change(name, member)]);
  return { ...schema, properties: Object.fromEntries(changed) as Members };
}

/** The other formats of times have no name in JSON Schema. */
function withTimes(component: string, schema: Members): Members {
  const fields = tables.get(component)?.all ?? [];
  return withProperties(schema, (name, member) =>
    fields.some((field) => field.name === name && field.time === 'iso8601')
      ? { ...member, format: 'date-time' }
      : member,
  );
}

/** Adds the descriptions of a component to its schema and, by the path to them, to the schemas inside. */
function described(
  component: string,
  schema: Members,
  descriptions: Readonly<Record<string, Texts>>,
): Members {
  const whole = component.replace(/^Patched/, '');
  const own = descriptions[whole] ?? {};
  // A patch may call a field by another name than the representation does.
  const renamed = (tables.get(whole)?.all ?? []).map(({ name, patchName }) => [patchName, own[name]]);
  const texts = { ...(Object.fromEntries(renamed) as Readonly<Record<string, string>>), ...own };
  const at = (path: string, here: Members): Members => {
    const inside = withProperties(here, (name, member) => at(path === '' ? name : `${path}.${name}`, member));
    const deeper = Object.fromEntries(
      (['items', 'additionalProperties'] as const).flatMap((name) => {
        const member = inside[name];
        return typeof member === 'object' && member !== null
          ? [[name, at(`${path}.*`, member as Members)]]
          : [];
      }),
    );
    const description = texts[path];
    return { ...(description === undefined || '$ref' in here ? {} : { description }), ...inside, ...deeper };
  };
  return at('', schema);
}

const mayText =
  'With `may=true`: each command at this path or below, and whether the caller may use the command now.';

/** A representation with some of its fields. */
function partOf({ shape, fields, fieldAliases = {} }: ReadRoute): readonly [string, Members] {
  const name = shapes.get(shape) ?? '';
  const properties = fields.map((field) => [
    field,
    { $ref: `#/components/schemas/${name}/properties/${fieldAliases[field] ?? field}` },
  ]);
  // A list of the same things shares the component.
  const isItem = boundRoutes.some((route) => route.kind === 'item' && route.shape === shape);
  const may = isItem ? [['may', { type: 'array', items: ref('schemas', 'May'), description: mayText }]] : [];
  const description = `The selected fields of a ${name}${isItem ? ', or all of them with `may`' : ''}.`;
  return [
    `${name}Part`,
    {
      description,
      type: 'object',
      properties: Object.fromEntries([...properties, ...may]) as Members,
      additionalProperties: false,
    },
  ];
}

/** A JSON Patch of some fields. A `test` may also read the fields that no patch can change. */
function patchSchema({ all }: Fields): Members {
  const shown = all.filter((field) => field.secret !== true && field.shown !== false);
  const settings = all.filter((field) => field.setting !== undefined);
  const names = settings.flatMap((field) => [
    field.patchName,
    ...(shown.includes(field) ? [field.name] : []),
  ]);
  const pointer = (tokens: readonly string[]): Members => ({
    type: 'string',
    pattern: `^/(?:${[...new Set(tokens)].join('|')})(?:/|$)`,
  });
  const [path, anyPath] = [pointer(names), pointer([...names, ...shown.map(({ name }) => name)])];
  const operation = (ops: readonly string[], members: Members): Members => ({
    type: 'object',
    properties: { op: { type: 'string', enum: ops }, ...members },
    required: ['op', ...Object.keys(members)],
  });
  return {
    description: `A JSON Patch (RFC 6902) of these fields: ${settings.map(({ patchName }) => patchName).join(', ')}.`,
    type: 'array',
    items: {
      anyOf: [
        operation(['add', 'replace'], { path, value: {} }),
        operation(['test'], { path: anyPath, value: {} }),
        operation(['remove'], { path }),
        operation(['move', 'copy'], { from: anyPath, path }),
      ],
    },
  };
}
