/**
 * Meanings: the fields of each kind with what they mean and how they change, and the command `explain`.
 */
import type { EndpointId } from '../client/index.ts';
import { nearestName } from '../core/member.ts';
import { endpoints } from '../http/endpoint.ts';
import { printOptions, program, wrongUse, type Command, type CommandError } from './command.ts';
import { configured, kinds, partLists, singles } from './kind.ts';
import { columns, jsonText, safeText, type Output } from './output.ts';
import { loadSchemas, type Schema, type Schemas } from './schema.ts';

/** The endpoint that shows a kind, by the word of the kind in the singular. */
const shownBy: Readonly<Record<string, EndpointId>> = {
  ...Object.fromEntries(Object.entries(kinds).map(([word, { list }]) => [word, list])),
  ...Object.fromEntries(Object.entries(partLists).map(([words, { id }]) => [words.slice(0, -1), id])),
  ...singles,
  alert: 'alerts.list',
};

/** The words of the kinds that have fields. */
export const kindsWithFields: readonly string[] = Object.keys(shownBy);

/** What is known of a field. */
interface Meaning {
  readonly field: string;
  readonly meaning: string;
  readonly type: string;
  /** What a new resource has if its definition leaves the field out; left out for what no definition has. */
  readonly default?: string;
  /** When the field changes, and by which command. */
  readonly changes: string;
}

/** The command `explain`. */
export const explain: Command = {
  does: 'Says what a field means, its type and default, and when and how it changes.',
  arguments: [{ name: 'kind.field', names: { '': 'meaning' }, optional: true }],
  options: printOptions,
  notes: ['A kind alone lists its fields. The gateway is not asked.'],
  examples: ['explain service.max_connection', 'explain server', 'explain service.drain.until'],
  async run({ words: [given = ''], output }) {
    if (given === '') print(output, kindsWithFields, (words) => output.lines(...words));
    else await explainPlace(output, given);
  },
};

async function explainPlace(output: Output, given: string): Promise<void> {
  // The completion leaves a dot behind a kind.
  const [word = '', ...path] = given.replace(/\.$/, '').split('.');
  const [kind, name, owner] = [kindNamed(word), path.at(-1), path.slice(0, -1)];
  const fields = fieldsIn(await loadSchemas(), kind, owner);
  if (name === undefined) {
    print(output, fields, () => printFields(output, fields));
    return;
  }
  const found = fields.find(({ field }) => isSame(field, name));
  if (found === undefined) throw noField([kind, ...owner].join('.'), name, fields);
  const whole = { ...found, field: [kind, ...owner, found.field].join('.') };
  print(output, whole, () => output.lines(...columns(Object.entries(whole))));
}

function print<T>(output: Output, value: T, asText: (value: T) => void): void {
  if (output.isJson) output.json(value);
  else asText(value);
}

function printFields(output: Output, fields: readonly Meaning[]): void {
  const rows = fields.map(({ field, type, meaning }) => [field, type, meaning]);
  output.table(['field', 'type', 'meaning'], rows);
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function kindNamed(given: string): string {
  const found =
    kindsWithFields.find((word) => isSame(word, given)) ??
    kindsWithFields.find((word) => isSame(`${word}s`, given));
  if (found !== undefined) return found;
  const meant = meantOf(given, kindsWithFields);
  throw wrongUse(`There is no kind "${safeText(given.slice(0, 100))}".${meant}`, 'explain');
}

function meantOf(given: string, known: readonly string[]): string {
  const meant = nearestName(given, known);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

/** The error about a field that a kind does not have. */
function noField(of: string, name: string, fields: readonly Pick<Meaning, 'field'>[]): CommandError {
  const known = fields.map(({ field }) => field);
  const all = known.length === 0 ? '' : ` It has ${known.join(', ')}.`;
  return wrongUse(`${of} has no field ${safeText(name.slice(0, 100))}.${meantOf(name, known)}${all}`);
}

/** Ends the command if the resources of a list have no such field, by the table or by what was read. */
export async function assertField(
  id: EndpointId,
  name: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  if (rows.some((row) => Object.hasOwn(row, name))) return;
  const [schema = {}] = shownOf(await loadSchemas(), id);
  const fields = Object.keys(schema.properties ?? {}).map((field) => ({ field }));
  if (!fields.some(({ field }) => field === name)) throw noField('The list', name, fields);
}

/** The names of the fields of a kind, for the completion. */
export async function fieldNamesOf(word: string): Promise<readonly string[]> {
  return fieldsIn(await loadSchemas(), kindNamed(word), []).map(({ field }) => field);
}

/** The words that a field can be; none if it can be anything. */
export async function choicesOf(word: string, field: string): Promise<readonly string[]> {
  const schemas = await loadSchemas();
  const shown = shownOf(schemas, shownBy[kindNamed(word)] as EndpointId);
  const [schema = {}] = schemas.inside(shown, field);
  return schema.enum ?? schema.items?.enum ?? [];
}

/** The schemas of a resource as an endpoint shows it. */
function shownOf(schemas: Schemas, id: EndpointId): readonly Schema[] {
  const answer = schemas.of(id, 'answer');
  return endpoints[id].kind === 'list' ? schemas.inside(answer, '0') : answer;
}

/** The fields of a kind, or of a member that has members: those that only a definition has come first. */
function fieldsIn(schemas: Schemas, kind: string, path: readonly string[]): readonly Meaning[] {
  const inside = (whole: Schema = {}): Schema =>
    path.reduce<Schema>((inner, token) => schemas.inside([inner], token)[0] ?? {}, whole);
  const [shown, defined] = [
    inside(shownOf(schemas, shownBy[kind] as EndpointId)[0]),
    inside(definitionOf(schemas, kind)),
  ];
  const all = Object.entries({ ...defined.properties, ...shown.properties });
  return all.flatMap(([field, schema]) => {
    if ((schema.type ?? schema.anyOf) === undefined) return [];
    const own = defined.properties?.[field];
    const isSecret = own?.writeOnly === true;
    const isRequired = defined.required?.includes(field) === true;
    return {
      field,
      meaning: schema.description ?? '',
      type: isSecret ? 'text, never shown' : typeText(schema),
      ...(own !== undefined && { default: isRequired ? 'none: must be given' : defaultText(own) }),
      changes: changesOf(schemas, kind, [...path, field], own),
    };
  });
}

/** The definition that creates a resource of a kind; `undefined` if none does. */
function definitionOf(schemas: Schemas, kind: string): Schema | undefined {
  const id = kind === 'listener' ? 'services.createListener' : `${kind}s.create`;
  return id in endpoints ? schemas.of(id as EndpointId, 'body')[0] : undefined;
}

function defaultText({ default: value }: Schema): string {
  if (value === undefined) return 'not set';
  if (typeof value === 'object' && Object.keys(value ?? {}).length === 0) return 'empty';
  return typeof value === 'string' ? value : jsonText(value);
}

/** A type in words. */
function typeText({
  type = 'any',
  enum: choices,
  items,
  format,
  minimum,
  maximum = Infinity,
}: Schema): string {
  if (choices !== undefined) return choices.join(' or ');
  if (type === 'array') return `list of ${items?.enum?.join(', ') ?? `${typeText(items ?? {})}s`}`;
  const range = minimum === undefined ? '' : ` from ${String(minimum)}`;
  const end = maximum < Number.MAX_SAFE_INTEGER ? ` to ${String(maximum)}` : '';
  const words: Readonly<Record<string, string>> = {
    ...{ integer: `whole number${range}${end}`, number: 'number', boolean: 'true or false' },
    ...{ string: format === 'date-time' ? 'time' : 'text', object: 'map', any: 'value' },
  };
  return words[type] ?? type;
}

/** The commands that change a field, by the field, with or without its kind: the method of the kind, and the words. */
const commandsOf: Readonly<Record<string, readonly (readonly [method: string, words: string])[]>> = {
  state: [
    ['start', 'start KIND NAME'],
    ['stop', 'stop KIND NAME'],
  ],
  status: [
    ['setMaintenance', 'set KIND NAME maintenance'],
    ['clearMaintenance', 'clear KIND NAME maintenance'],
  ],
  drain: [
    ['drain', 'drain KIND NAME'],
    ['resume', 'resume KIND NAME'],
  ],
  'user.password': [['patch', 'user password NAME']],
};

/** When a field changes, and by which command. */
function changesOf(
  schemas: Schemas,
  kind: string,
  path: readonly string[],
  definition: Schema | undefined,
): string {
  const [top = ''] = path;
  const commands = (commandsOf[`${kind}.${top}`] ?? commandsOf[top] ?? [])
    .filter(([method]) => `${kind}s.${method}` in endpoints)
    .map(([, words]) => `${program} ${words.replace('KIND', kind)}`);
  if (isPatched(schemas, kind, top) && commands.length === 0)
    commands.push(`${program} patch ${kind} NAME ${settingText(path, definition)}`);
  if (commands.length > 0) return `while the gateway runs: ${commands.join(', ')}`;
  return definition === undefined
    ? 'by itself: the gateway counts or sees it'
    : 'never: it is given when the resource is created';
}

/** The option that sets a field, a member of a map or an element of a list. */
function settingText(path: readonly string[], { type, writeOnly }: Schema = {}): string {
  const place = path.join('/');
  if (writeOnly === true) return `--set-from ${place}=FILE`;
  const inner: Readonly<Record<string, string>> = { object: '/NAME', array: '/-' };
  return `--set ${place}${inner[type ?? ''] ?? ''}=VALUE`;
}

/** Whether a patch on the command line can set a field. */
function isPatched(schemas: Schemas, kind: string, field: string): boolean {
  const id = `${kind}s.patch`;
  if (!configured.some((each) => `${each}.patch` === id)) return false;
  return schemas
    .inside(schemas.of(id as EndpointId, 'body'), '0')
    .some(({ properties: { op, path } = {} }) => {
      const isSetting = op?.enum?.includes('add') === true;
      return isSetting && new RegExp(path?.pattern ?? '$.').test(`/${field}`);
    });
}
