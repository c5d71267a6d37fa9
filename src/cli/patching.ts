/**
 * `patch`, `set` and `clear`: JSON Patches from a command line.
 */
import type { Answer, CommandId, EndpointId } from '../client/index.ts';
import type { Operation, Problem } from '../index.ts';
import { parseJson, parsePointer, type Json } from '../json/index.ts';
import { givenTag, shownTag, valueOf } from './answer.ts';
import { changing } from './change.ts';
import { CommandError, wrongUse, type Call, type Command, type GivenOption } from './command.ts';
import { methodOf } from './connection.ts';
import { readGiven, readJson } from './input.ts';
import { resourceWith, subjectOf } from './kind.ts';

/** The options that set something. */
export const setOptions = {
  set: {
    value: 'PATH=VALUE',
    does: 'set the setting; the value is JSON where the setting takes more than a text',
    multiple: true,
  },
  'set-from': {
    value: 'PATH=FILE',
    does: 'set the setting to the text of the file, for passwords; - is the standard input',
    multiple: true,
  },
} as const satisfies Command['options'];

const changes = [...Object.keys(setOptions), 'unset', 'test'];

/** The command `patch`. */
export const patch = changing({
  does: 'Changes settings of a service, server, monitor or filter.',
  arguments: resourceWith('patch'),
  options: {
    ...setOptions,
    unset: { value: 'PATH', does: 'remove the setting', multiple: true },
    test: { value: 'PATH=VALUE', does: 'change nothing if the setting has another value', multiple: true },
    file: { value: 'FILE', does: 'send the JSON Patch in the file instead; - is the standard input' },
    'if-match': {
      value: 'TAG',
      does: 'change nothing if the resource has another entity tag than show and --dry-run print',
    },
  },
  notes: [
    'PATH is a setting such as max_connection, a member of a map such as parameters/weight, or an element of a list',
    'such as servers/0. servers/- adds an element. The operations are sent in the order in which they are given.',
  ],
  change(call) {
    const [kind = '', name = ''] = call.words;
    const act = `${kind}s.patch` as CommandId;
    return async (client) => {
      const read = (): Promise<Answer<unknown>> => methodOf(client, `${kind}s.get` as EndpointId)(name);
      const operations = await operationsOf(call, act, async () => valueOf(await read()) as Resource);
      const ifMatch = call.valueOf('if-match');
      const present = call.has('dry-run') ? await read() : undefined;
      return {
        title: `patch ${kind} ${name}`,
        subject: subjectOf(kind, name),
        act,
        given: [name, operations],
        ...(ifMatch === undefined ? {} : { ifMatch: givenTag(ifMatch) }),
        ...(present?.ok === true && present.etag !== undefined ? { tag: shownTag(present.etag) } : {}),
      };
    };
  },
});

type Resource = Readonly<Record<string, unknown>>;

async function operationsOf(call: Call, id: EndpointId, readPresent: () => Promise<Resource>): Promise<Json> {
  const file = call.valueOf('file');
  const given = call.options.filter(({ name }) => changes.includes(name));
  if (file !== undefined && given.length > 0)
    throw wrong('patch', 'takes --file, or single operations, but not both');
  if (file !== undefined) return readJson(file, call.surroundings, { depth: 32, wrong: notPatch });
  if (given.length === 0) throw wrong('patch', 'needs an operation, such as --set max_connection=50');
  // A number in a path is the place of an element only if there is a list.
  const hasPlace = given.some(({ value = '' }) => /\/(?:0|[1-9]\d*)(?:=|$)/.test(value));
  const present = hasPlace ? await readPresent() : {};
  const operations: Operation[] = [];
  for (const option of given)
    operations.push(await operationOf(call, option, { verb: 'patch', id, present }));
  return operations;
}

function notPatch({ detail }: Problem): CommandError {
  return wrongUse(`The file is no JSON Patch: ${detail}`);
}

/** The command that an operation belongs to, its endpoint, and what there is. */
interface Verb {
  readonly verb: 'patch' | 'create';
  readonly id: EndpointId;
  readonly present?: Resource;
}

/** The operation that an option stands for. */
export async function operationOf(
  call: Call,
  { name, value: text = '' }: GivenOption,
  { verb, id, present = {} }: Verb,
): Promise<Operation> {
  if (name === 'unset') return { op: 'remove', path: pointerOf(text) };
  const [, place, given] = /^([^=]+)=([^]*)$/.exec(text) ?? [];
  if (place === undefined || given === undefined)
    throw wrong(verb, `needs a path and a value: --${name} PATH=VALUE`);
  const path = pointerOf(place);
  const op = isElement(path, present) ? 'replace' : 'add';
  if (name === 'set-from') return { op, path, value: await readGiven(given, call) };
  if (path.split('/').includes('password'))
    throw wrong(verb, 'takes no password as an argument, which others can read: use --set-from PATH=FILE');
  return {
    op: name === 'test' ? 'test' : op,
    path,
    value: await valueFrom(given, { verb, id, path }),
  };
}

/** A path with or without the first slash. */
function pointerOf(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

/** Whether a path leads to an element of a list: there, `add` would insert another element. */
function isElement(path: string, present: Resource): boolean {
  const [, field = '', place = '', ...further] = path.split('/');
  return (
    further.length === 0 &&
    /^\d+$/.test(place) &&
    Array.isArray(present[field === 'state' ? 'status' : field])
  );
}

/** A number that JSON allows, also one that would become another number. */
const numberText = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** The value that a text stands for: JSON of a type that the place takes, or else the text as it stands. */
async function valueFrom(text: string, place: ValuePlace): Promise<Json> {
  const { verb, path } = place;
  const parsed = parseJson(text, { depth: 32 });
  if (parsed.ok && typeof parsed.value === 'string') return parsed.value;
  const given = parsed.ok ? parsed.value : numberText.test(text) ? Number(text) : undefined;
  if (given === undefined || !(await isTaken(given, place))) return text;
  if (parsed.ok) return parsed.value;
  const plain = text.replace(/^(-?)0+(?=\d)/, '$1');
  if (plain !== text)
    throw wrong(verb, `got ${text} for ${path}, and no number begins with 0: write ${plain}`);
  throw wrong(
    verb,
    `got a number for ${path} that no program reads back exactly; write a text in double quotes`,
  );
}

/** The part of a JSON Schema that says which types a value can have. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operating>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Content {
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operating {
  readonly operationId: string;
  readonly requestBody?: Content;
  readonly responses: { readonly 200: Content };
}

/** Where a value goes. */
interface ValuePlace extends Pick<Verb, 'verb' | 'id'> {
  readonly path: string;
}

/**
 * Whether a place of a resource takes values of the type of the given one. The answer to a patch shows the types, and
 * the body of a creation.
 */
async function isTaken(value: Json, { verb, id, path }: ValuePlace): Promise<boolean> {
  // The document is large: it is loaded only for a value that is not certainly a text.
  const { createOpenApi } = await import('../openapi/index.ts');
  const { paths, components } = createOpenApi() as OpenApi;
  const endpoint = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .find(({ operationId }) => operationId === id);
  const shown = verb === 'create' ? endpoint?.requestBody : endpoint?.responses[200];
  const answer = shown?.content['application/json']?.schema;
  const found = (parsePointer(path) ?? []).reduce(
    (schemas, token) =>
      alternativesIn(schemas, components.schemas).flatMap((schema) => memberOf(schema, token)),
    answer === undefined ? [] : [answer],
  );
  return alternativesIn(found, components.schemas).some(({ type }) => type === typeOf(value, type));
}

/** The schemas without references and alternatives. */
function alternativesIn(
  schemas: readonly Schema[],
  named: OpenApi['components']['schemas'],
): readonly Schema[] {
  return schemas.flatMap(({ $ref, anyOf, ...schema }) => {
    const inner = $ref === undefined ? anyOf : [named[$ref.replace(/^.*\//, '')] ?? {}];
    return inner === undefined ? [schema] : alternativesIn(inner, named);
  });
}

function memberOf(
  { properties = {}, additionalProperties, items }: Schema,
  token: string,
): readonly Schema[] {
  const member = Object.hasOwn(properties, token) ? properties[token] : (additionalProperties ?? items);
  return typeof member === 'object' ? [member] : [];
}

/**
 * The type of a value in the words of JSON Schema. Where integers are taken, the interface refuses a fraction itself.
 */
function typeOf(value: Json, wanted: string | undefined): string {
  if (typeof value === 'number') return wanted === 'integer' ? 'integer' : 'number';
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}

function wrong(verb: Verb['verb'], what: string): CommandError {
  return wrongUse(`${verb} ${what}.`, `help ${verb}`);
}
