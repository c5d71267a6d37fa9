/**
 * `create` and `delete`: create and delete resources of a running gateway.
 */
import type { Client, CommandId, EndpointId, SequenceCommand } from '../client/index.ts';
import type { Problem } from '../index.ts';
import { parsePointer, type Json } from '../json/index.ts';
import { valueOf } from './answer.ts';
import { changing } from './change.ts';
import { CommandError, wrongUse, type Call } from './command.ts';
import { methodOf } from './connection.ts';
import { isObject, readJson } from './input.ts';
import { configured, listenerOf, subjectOf, type Configured, type Subject } from './kind.ts';
import { operationOf, setOptions } from './patching.ts';
import type { Accepted } from './plan.ts';

/** The kinds, each with the kind whose name comes first: a listener has the name of its service first. */
const kinds = {
  ...Object.fromEntries(configured.map((word) => [word.slice(0, -1), word.slice(0, -1)])),
  listener: 'service',
};

/** The argument that only a listener has. */
const listenerName = { name: 'listener', optional: true } as const;

/** The name of the listener that a command is about; `undefined` for another kind. */
function listenerIn({ words: [kind, , listener] }: Call): string | undefined {
  if ((kind === 'listener') === (listener !== undefined)) return listener;
  const names = 'A listener needs the name of its service and its own name, such as "listener sales second".';
  throw wrongUse(`${names} Every other kind needs one name.`);
}

/** The resource that a command is about. */
function subjectIn({ words: [kind = '', name = '', listener] }: Call): Subject {
  return listener === undefined ? subjectOf(kind, name) : listenerOf(name, listener);
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
    },
    file: { value: 'FILE', does: 'read the definition from a file (JSON); - is the standard input' },
  },
  notes: [
    'The definition is the entry of the resource in a gateway document. PATH names a member of the definition such as',
    'address, a member of a map such as parameters/weight, or an element of a list: servers/- adds an element. A new',
    'service or monitor is started, unless its state is set to stopped. With --in, the resource is created and added to',
    'each list, or nothing is done: --in services/sales,monitors/main-monitor.',
  ],
  async change(call) {
    const [kind = '', name = ''] = call.words;
    const listener = listenerIn(call);
    const act = listener === undefined ? (`${kind}s.create` as CommandId) : 'services.createListener';
    const lists = listsIn(call);
    const definition = await definitionOf(call, act, listener ?? name);
    const change = { title: `create ${call.words.join(' ')}`, subject: subjectIn(call), act };
    if (lists.length === 0)
      return { ...change, given: listener === undefined ? [definition] : [name, definition] };
    return async (client) => {
      const commands = [
        { method: 'POST', path: `/${kind}s`, body: definition },
        ...(await listing(client, lists, `${kind}s`, name)),
      ];
      return { ...change, id: 'sequence.send', given: [{ commands }] };
    };
  },
});

/** What can list a resource, by the kind of the resource. */
const listedBy: ReadonlyMap<string, readonly string[]> = new Map([
  ['server', ['services', 'monitors']],
  ['filter', ['services']],
]);

/** A resource that gets another element in a list. */
interface ListPlace {
  readonly collection: Configured;
  readonly name: string;
}

/** The lists that the options `--in` name. */
function listsIn({ words: [kind = ''], options }: Call): readonly ListPlace[] {
  const places = options.flatMap(({ name, value = '' }) => (name === 'in' ? value.split(',') : []));
  const collections = listedBy.get(kind) ?? [];
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
    const present = valueOf(await methodOf(client, `${collection}.get`)(user)) as LinkLists;
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
  change(call) {
    const [kind = '', name = ''] = call.words;
    const listener = listenerIn(call);
    if (call.has('detach') && !listedBy.has(kind))
      throw wrongUse(`No list names a ${kind}: leave out --detach.`);
    return {
      title: `delete ${call.words.join(' ')}`,
      subject: subjectIn(call),
      act: listener === undefined ? (`${kind}s.delete` as CommandId) : 'services.deleteListener',
      given: listener === undefined ? [name] : [name, listener],
      options: call.has('detach') ? { detach: true } : {},
      more: detachedText,
    };
  },
});

/** The resources whose lists lose the deleted one; empty if there are none. */
function detachedText({ effects }: Accepted): string {
  const links = (effects as readonly { readonly type: string; readonly resource: string }[])
    .filter(({ type }) => type.endsWith('.update'))
    .map(({ resource }) => resource);
  return links.length === 0 ? '' : ` It leaves the lists of ${links.join(', ')}.`;
}
