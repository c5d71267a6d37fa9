/**
 * `context`: named connections, so that a command needs no address.
 */
import { resolve } from 'node:path';

import { placeOptions, printOptions, refused, wrongUse, type Call, type Command } from './command.ts';
import { timeoutFrom, urlFrom, userFrom } from './connection.ts';
import { changeContexts, contextFile, contextNamed, readContexts, type Context } from './context-file.ts';
import { cellOf, safeText } from './output.ts';

/** The command `context`. */
export const context: Command = {
  does: 'Keeps connections by name: adds, lists, uses or removes one.',
  arguments: [
    { name: 'what', choices: ['add', 'list', 'use', 'remove'] },
    { name: 'name', optional: true },
  ],
  options: { ...placeOptions, ...printOptions },
  notes: [
    'context add NAME --url URL --user NAME keeps a connection; context use NAME makes it that of every command.',
    'A command takes another one with --context NAME or GATEWAY_ADMIN_CONTEXT. No password is kept.',
  ],
  async run(call) {
    const [what = '', name] = call.words;
    if (what === 'list') list(call);
    else if (name === undefined) throw wrongUse(`context ${what} needs a name.`, 'help context');
    else if (what === 'add') await add(call, name);
    else if (what === 'use') await use(call, name);
    else await remove(call, name);
  },
};

function list({ surroundings, output }: Call): void {
  const contexts = readContexts(surroundings);
  const rows = Object.entries(contexts.contexts).map(([name, { url, user }]) => [
    name === contexts.current ? '*' : '',
    safeText(name),
    safeText(url ?? ''),
    cellOf(user),
  ]);
  if (output.isJson) output.json(contexts);
  else if (rows.length === 0) output.note(`There are no contexts in ${safeText(contextFile(surroundings))}.`);
  else output.table(['current', 'name', 'url', 'user'], rows);
}

const files: ReadonlySet<string> = new Set(['password-file', 'cacert', 'cert', 'key']);

async function add({ options, valueOf, surroundings, output }: Call, name: string): Promise<void> {
  if (!/^[\w.-]{1,64}$/.test(name))
    throw wrongUse('The name of a context has letters, digits, ".", "_" and "-".');
  const url = valueOf('url');
  if (url === undefined) throw wrongUse('context add needs --url URL.');
  urlFrom(url);
  userFrom(valueOf('user'));
  const timeout = valueOf('timeout');
  if (timeout !== undefined) timeoutFrom(timeout);
  const given: Context = Object.fromEntries(
    options.flatMap(({ name: option, value }) =>
      value === undefined ? [] : [[option, files.has(option) && value !== '-' ? resolve(value) : value]],
    ),
  );
  await changeContexts(surroundings, ({ contexts, ...rest }) => {
    if (Object.hasOwn(contexts, name))
      throw refused(`There is a context "${name}" already. Try: gateway-admin context remove ${name}`);
    return { ...rest, contexts: Object.fromEntries([...Object.entries(contexts), [name, given]]) };
  });
  output.note(`Done: added context ${name}. Use it with: gateway-admin context use ${name}`);
}

async function use({ surroundings, output }: Call, name: string): Promise<void> {
  await changeContexts(surroundings, (contexts) => {
    contextNamed(contexts, name);
    return { ...contexts, current: name };
  });
  output.note(`Done: every command uses context ${safeText(name)}, in all terminals.`);
}

async function remove({ surroundings, output }: Call, name: string): Promise<void> {
  await changeContexts(surroundings, ({ current, contexts }) => {
    contextNamed({ contexts }, name);
    const rest = Object.fromEntries(Object.entries(contexts).filter(([each]) => each !== name));
    return { ...(current === undefined || current === name ? {} : { current }), contexts: rest };
  });
  output.note(`Done: removed context ${safeText(name)}.`);
}
