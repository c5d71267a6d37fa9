/**
 * `patch`, `create` and `delete`: JSON Patches and definitions from a command line.
 */
import {
  listedBy,
  type Answer,
  type Client,
  type CommandId,
  type EndpointId,
  type SequenceCommand,
} from '../client/index.ts';
import type { Operation, Plan, Problem } from '../index.ts';
import { parseJson, parsePointer, type Json } from '../json/index.ts';
import { givenTag, shownTag, valueOrEnd } from './answer.ts';
import { changing } from './change.ts';
import { wrongUse, type Call, type Command, type CommandError, type GivenOption } from './command.ts';
import { methodOf } from './connection.ts';
import { isObject, readGiven, readJson } from './input.ts';
import { configured, listenerOf, subjectOf, type Configured } from './kind.ts';
import { loadSchemas } from './schema.ts';
import {
  changeOfEach,
  noneMeets,
  subjectOptions,
  subjectsIn,
  subjectsText,
  subjectsWith,
} from './subjects.ts';

/** The options that set something. */
const setOptions = {
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
  does: 'Changes settings of services, servers, monitors or filters.',
  arguments: subjectsWith('patch'),
  options: {
    ...setOptions,
    unset: { value: 'PATH', does: 'remove the setting', multiple: true },
    test: { value: 'PATH=VALUE', does: 'change nothing if the setting has another value', multiple: true },
    file: { value: 'FILE', does: 'send the JSON Patch in the file instead; - is the standard input' },
    'if-match': {
      value: 'TAG',
      does: 'change nothing if the resource has another entity tag than show and --dry-run print',
    },
    ...subjectOptions,
  },
  notes: [
    'PATH is a setting such as max_connection, a member of a map such as parameters/weight, or an element of a list',
    'such as servers/0. servers/- adds an element. The operations are sent in the order in which they are given.',
  ],
  examples: [
    'patch service sales --set max_connection=50 --dry-run',
    'patch service sales --test servers/0=/servers/db-1 --set servers/0=/servers/db-2',
    'patch service --where servers=db-1 --set connection_timeout=600',
  ],
  change(call) {
    const [kind = '', ...names] = call.words;
    const chosen = subjectsIn(call, { verb: 'patch', kind, names });
    const act = `${kind}s.patch` as CommandId;
    return async (client) => {
      const subjects = await chosen(client);
      const [name = '', ...others] = subjects.names;
      if (name === '') return noneMeets(subjects);
      const isOne = others.length === 0;
      const read = async (): Promise<Answer<unknown>> => {
        if (isOne) return methodOf(client, `${kind}s.get` as EndpointId)(name);
        throw wrong('patch', 'takes a place in a list, such as servers/0, of one resource alone');
      };
      const operations = await operationsOf(call, act, async () => valueOrEnd(await read()) as Resource);
      const ifMatch = call.valueOf('if-match');
      if (ifMatch !== undefined && !isOne) throw wrong('patch', 'takes --if-match for one resource alone');
      const present = call.has('dry-run') && isOne ? await read() : undefined;
      return {
        ...changeOfEach(subjects, { title: `patch ${subjectsText(subjects)}`, act, body: operations }),
        ...(ifMatch === undefined ? {} : { options: { ifMatch: givenTag(ifMatch) } }),
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
async function operationOf(
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

/** Where a value goes. */
interface ValuePlace extends Pick<Verb, 'verb' | 'id'> {
  readonly path: string;
}

/**
 * Whether a place of a resource takes values of the type of the given one. The answer to a patch shows the types, and
 * the body of a creation.
 */
async function isTaken(value: Json, { verb, id, path }: ValuePlace): Promise<boolean> {
  const schemas = await loadSchemas();
  const found = (parsePointer(path) ?? []).reduce(
    (inside, token) => schemas.inside(inside, token),
    schemas.of(id, verb === 'create' ? 'body' : 'answer'),
  );
  return found.some(({ type }) => type === typeOf(value, type));
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

/** The kinds, each with the kind whose name comes first: a listener has the name of its service first. */
const kinds = {
  ...Object.fromEntries(configured.map((word) => [word.slice(0, -1), word.slice(0, -1)])),
  listener: 'service',
};

/** The argument that only a listener has. */
const listenerName = { name: 'listener', optional: true } as const;

/** The words and the act of a command, and the names that the method gets: that of the owner of a listener is first. */
function aboutOf(verb: 'create' | 'delete', { words }: Call) {
  const [kind = '', name = '', listener] = words;
  const title = `${verb} ${words.join(' ')}`;
  if (kind !== 'listener' && listener === undefined) {
    const act = `${kind}s.${verb}` as CommandId;
    return { change: { title, subject: subjectOf(kind, name), act }, owner: [], name };
  }
  if (kind === 'listener' && listener !== undefined) {
    const act = `services.${verb}Listener` as const;
    return { change: { title, subject: listenerOf(name, listener), act }, owner: [name], name: listener };
  }
  const names = 'A listener needs the name of its service and its own name, such as "listener sales second".';
  throw wrongUse(`${names} Every other kind needs one name.`);
}

/** The command `create`. */
export const create = changing({
  does: 'Creates a service, server, monitor or filter, or a listener of a service.',
  arguments: [{ name: 'kind', choices: Object.keys(kinds) }, { name: 'name' }, listenerName],
  options: {
    ...setOptions,
    in: {
      value: 'services/NAME',
      does: 'add the server or filter to this list, or to several with commas between them',
      multiple: true,
      names: 'link',
    },
    file: { value: 'FILE', does: 'read the definition from a file (JSON); - is the standard input' },
  },
  notes: [
    'The definition is the entry of the resource in a gateway document. PATH names a member of the definition such as',
    'address, a member of a map such as parameters/weight, or an element of a list: servers/- adds an element. A new',
    'service or monitor is started, unless its state is set to stopped. With --in, the resource is created and added to',
    'each list, or nothing is done: --in services/sales,monitors/main-monitor.',
  ],
  examples: [
    'create server db-3 --set address=10.0.0.3 --set port=5432 --set protocol=pg --in services/sales',
    'create service archive --set router=readconnroute --set servers/-=/servers/db-3',
    'create listener sales second --set protocol=pg --set address=127.0.0.1 --set port=5441',
  ],
  async change(call) {
    const { change, owner, name } = aboutOf('create', call);
    const lists = listsIn(call);
    const definition = await definitionOf(call, change.act, name);
    if (lists.length === 0) return { ...change, given: [...owner, definition] };
    const collection = `${call.words[0] ?? ''}s`;
    return async (client) => {
      const commands = [
        { method: 'POST', path: `/${collection}`, body: definition },
        ...(await listing(client, lists, collection, name)),
      ];
      return { ...change, id: 'sequence.send', given: [{ commands }] };
    };
  },
});

/** The collections that can list a resource of a kind. */
function listsOf(kind: string): readonly string[] {
  return Object.entries(listedBy).find(([collection]) => collection === `${kind}s`)?.[1] ?? [];
}

/** A resource that gets another element in a list. */
interface ListPlace {
  readonly collection: Configured;
  readonly name: string;
}

/** The lists that the options `--in` name. */
function listsIn({ words: [kind = ''], options }: Call): readonly ListPlace[] {
  const places = options.flatMap(({ name, value = '' }) => (name === 'in' ? value.split(',') : []));
  const collections = listsOf(kind);
  return places.map((place) => {
    const [, collection = '', name = ''] = /^\/?([a-z]+)\/(.+)$/.exec(place) ?? [];
    if (collections.includes(collection)) return { collection: collection as Configured, name };
    const taken = collections.map((word) => `--in ${word}/NAME`).join(' and ');
    throw wrongUse(
      `create ${kind} ${taken === '' ? 'takes no --in' : `takes ${taken}, and not --in ${place}`}.`,
      'help create',
    );
  });
}

/** The commands that add a resource to lists, but to those that have the resource. */
async function listing(
  client: Client,
  lists: readonly ListPlace[],
  member: string,
  name: string,
): Promise<readonly SequenceCommand[]> {
  // The whole library takes longer to load than everything else that the program does.
  const { linkTo } = await import('../index.ts');
  const value = linkTo(member, name);
  const commands: SequenceCommand[] = [];
  for (const { collection, name: user } of lists) {
    const present = valueOrEnd(await methodOf(client, `${collection}.get`)(user)) as LinkLists;
    if (present[member]?.includes(value) === true) continue;
    const body = [{ op: 'add', path: `/${member}/-`, value }];
    commands.push({ method: 'PATCH', path: linkTo(collection, user), body });
  }
  return commands;
}

type LinkLists = Readonly<Partial<Record<string, readonly string[]>>>;

async function definitionOf(call: Call, id: EndpointId, name: string): Promise<Json> {
  const file = call.valueOf('file');
  let definition: Json = { ...(file === undefined ? {} : await readDefinition(file, call)), name };
  for (const option of call.options.filter((given) => Object.hasOwn(setOptions, given.name))) {
    const { path, ...operation } = await operationOf(call, option, { verb: 'create', id });
    const value = 'value' in operation ? operation.value : null;
    const place = parsePointer(path) ?? [];
    if (place[0] === 'name')
      throw wrongUse('create takes the name as an argument, and not as a setting.', 'help create');
    // As in a patch, a text as the parameter of a filter is its value.
    const isShort = id === 'filters.create' && place[0] === 'parameters' && place.length === 2;
    definition = placed(
      definition,
      isShort && typeof value === 'string' ? [...place, 'value'] : place,
      value,
    );
  }
  return definition;
}

async function readDefinition(file: string, { surroundings }: Call): Promise<Readonly<Record<string, Json>>> {
  const wrong = ({ detail }: Pick<Problem, 'detail'>): CommandError =>
    wrongUse(`The file is no definition: ${detail}`);
  const definition = await readJson(file, surroundings, { depth: 32, wrong });
  if (!isObject(definition)) throw wrong({ detail: 'It must be a JSON object.' });
  return definition;
}

/** A copy of a value with another value at a place. Creates the maps and lists on the way. */
function placed(whole: Json | undefined, [token, ...inner]: readonly string[], value: Json): Json {
  if (token === undefined) return value;
  const isPlace = token === '-' || /^(?:0|[1-9]\d*)$/.test(token);
  if (Array.isArray(whole) || (whole === undefined && isPlace)) {
    const list = [...((whole ?? []) as readonly Json[])];
    const at = token === '-' ? list.length : Number(token);
    if (!isPlace || at > list.length)
      throw wrongUse(`create has no place "${token}" in a list. Write - for the next one.`);
    list[at] = placed(list[at], inner, value);
    return list;
  }
  const map = isObject(whole) ? (whole as Readonly<Record<string, Json>>) : {};
  return { ...map, [token]: placed(Object.hasOwn(map, token) ? map[token] : undefined, inner, value) };
}

/** The command `delete`. */
export const deletion = changing({
  does: 'Deletes a service, server, monitor or filter, or a listener of a service. Asks first.',
  arguments: [{ name: 'kind', choices: Object.keys(kinds) }, { name: 'name', names: kinds }, listenerName],
  options: { detach: { does: 'take the resource out of the lists of all others first' } },
  notes: [
    'A resource in use is not deleted, and the refusal names each use. Stop a service or monitor first. Close the',
    'sessions of a service and the connections to a server first.',
  ],
  examples: ['delete service archive', 'delete server db-3 --detach', 'delete listener sales second'],
  change(call) {
    const [kind = ''] = call.words;
    const { change, owner, name } = aboutOf('delete', call);
    if (call.has('detach') && listsOf(kind).length === 0)
      throw wrongUse(`No list names a ${kind}: leave out --detach.`);
    const options = call.has('detach') ? { detach: true } : {};
    return { ...change, given: [...owner, name], options, more: detachedText };
  },
});

/** The resources whose lists lose the deleted one; empty if there are none. */
function detachedText({ effects }: Plan): string {
  const links = (effects as readonly { readonly resource: string; readonly to?: object }[])
    .filter(({ to }) => to !== undefined)
    .map(({ resource }) => resource);
  return links.length === 0 ? '' : ` It leaves the lists of ${links.join(', ')}.`;
}
