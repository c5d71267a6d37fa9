/**
 * `patch`, `set` and `clear`: JSON Patches from a command line.
 */
import type { Client, EndpointId } from '../client/index.ts';
import type { Operation } from '../index.ts';
import { parseJson, type Json } from '../json/index.ts';
import { valueOf } from './answer.ts';
import { make } from './change.ts';
import {
  changeOptions,
  CommandError,
  exitCodes,
  type Call,
  type Command,
  type GivenOption,
  type Surroundings,
} from './command.ts';
import { connect, methodOf } from './connection.ts';
import { longestDocument, readText } from './input.ts';
import { readGiven } from './password-input.ts';

const patchable = { service: 'service', server: 'server', monitor: 'monitor', filter: 'filter' } as const;

const changes = ['set', 'set-from', 'unset', 'test'];

/** The command `patch`. */
export const patch: Command = {
  does: 'Changes settings of a service, server, monitor or filter.',
  arguments: [
    { name: 'kind', choices: Object.keys(patchable) },
    { name: 'name', names: patchable },
  ],
  options: {
    set: { value: 'PATH=VALUE', does: 'set the setting; the value is JSON, or else a text', multiple: true },
    'set-from': {
      value: 'PATH=FILE',
      does: 'set the setting to the text of the file, for passwords; - is the standard input',
      multiple: true,
    },
    unset: { value: 'PATH', does: 'remove the setting', multiple: true },
    test: { value: 'PATH=VALUE', does: 'change nothing if the setting has another value', multiple: true },
    file: { value: 'FILE', does: 'send the JSON Patch in the file instead; - is the standard input' },
    'if-match': { value: 'TAG', does: 'change nothing if the resource has another entity tag' },
    ...changeOptions,
  },
  notes: [
    'PATH is a setting such as max_connection, a member of a map such as parameters/weight, or an element of a list',
    'such as servers/0. servers/- adds an element. The operations are sent in the order in which they are given.',
  ],
  async run(call) {
    const [kind = '', name = ''] = call.words;
    const id = `${kind as keyof typeof patchable}s.patch` as const;
    const client = await connect(call);
    const operations = await operationsOf(call, () => readResource(client, kind, name));
    const ifMatch = call.valueOf('if-match');
    await make(call, client, { title: `patch ${kind} ${name}`, id, given: [name, operations], ifMatch });
  },
};

type Resource = Readonly<Record<string, unknown>>;

async function readResource(client: Client, kind: string, name: string): Promise<Resource> {
  return valueOf(await methodOf(client, `${kind}s.get` as EndpointId)(name)) as Resource;
}

async function operationsOf(call: Call, readPresent: () => Promise<Resource>): Promise<Json> {
  const file = call.valueOf('file');
  const given = call.options.filter(({ name }) => changes.includes(name));
  if (file !== undefined && given.length > 0)
    throw wrongPatch('takes --file, or single operations, but not both');
  if (file !== undefined) return parsePatch(await readText(file, call.surroundings, longestDocument));
  if (given.length === 0) throw wrongPatch('needs an operation, such as --set max_connection=50');
  // A number in a path is the place of an element only if there is a list.
  const hasPlace = given.some(({ value = '' }) => /\/(?:0|[1-9]\d*)(?:=|$)/.test(value));
  const present = hasPlace ? await readPresent() : {};
  const operations: Operation[] = [];
  for (const option of given) operations.push(await operationOf(option, present, call.surroundings));
  return operations;
}

function parsePatch(text: string): Json {
  const parsed = parseJson(text, { depth: 32 });
  if (parsed.ok) return parsed.value;
  throw new CommandError(`The file is no JSON Patch: ${parsed.problem.detail}`, exitCodes.wrongUse);
}

async function operationOf(
  { name, value: text = '' }: GivenOption,
  present: Resource,
  surroundings: Surroundings,
): Promise<Operation> {
  if (name === 'unset') return { op: 'remove', path: pointerOf(text) };
  const [, place, given] = /^([^=]+)=([^]*)$/.exec(text) ?? [];
  if (place === undefined || given === undefined)
    throw wrongPatch(`needs a path and a value: --${name} PATH=VALUE`);
  const path = pointerOf(place);
  const op = isElement(path, present) ? 'replace' : 'add';
  if (name === 'set-from') return { op, path, value: await readGiven(given, surroundings) };
  if (path.endsWith('/password'))
    throw wrongPatch('takes no password as an argument, which others can read: use --set-from PATH=FILE');
  return { op: name === 'test' ? 'test' : op, path, value: valueFrom(given) };
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

function valueFrom(text: string): Json {
  const parsed = parseJson(text, { depth: 32 });
  return parsed.ok ? parsed.value : text;
}

function wrongPatch(what: string): CommandError {
  return new CommandError(`patch ${what}. Try: gateway-admin help patch`, exitCodes.wrongUse);
}

function maintenanceCommand(verb: 'set' | 'clear', does: string): Command {
  return {
    does,
    arguments: [
      { name: 'kind', choices: ['server'] },
      { name: 'name', names: { server: 'server' } },
      { name: 'status', choices: ['maintenance'] },
    ],
    options: changeOptions,
    async run(call) {
      const [, name = '', word = ''] = call.words;
      const client = await connect(call);
      const { status } = valueOf(await client.servers.get(name, { fields: ['status'] }));
      await make(call, client, {
        title: `${verb} ${word} of server ${name}`,
        id: 'servers.patch',
        given: [name, maintenancePatch(verb, status)],
      });
    },
  };
}

/** The patch that sets or clears the word. If nothing is to do, the patch says so too. */
function maintenancePatch(verb: 'set' | 'clear', status: readonly string[]): readonly Operation[] {
  const place = status.indexOf('maintenance');
  if ((verb === 'set') === place >= 0) return [];
  if (verb === 'set') return [{ op: 'add', path: '/state/-', value: 'maintenance' }];
  const path = `/state/${String(place)}`;
  return [
    { op: 'test', path, value: 'maintenance' },
    { op: 'remove', path },
  ];
}

/** The command `set`. */
export const set = maintenanceCommand('set', 'Puts a server into maintenance.');

/** The command `clear`. */
export const clear = maintenanceCommand('clear', 'Takes a server out of maintenance.');
