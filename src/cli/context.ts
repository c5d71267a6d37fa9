/**
 * `context`: named connections, so that a command needs no address.
 */
import { resolve } from 'node:path';

import { CommandError, exitCodes, placeOptions, printOptions, type Call, type Command } from './command.ts';
import { urlFrom, userFrom } from './connection.ts';
import { contextFile, contextNamed, readContexts, writeContexts, type Context } from './context-file.ts';
import { wrongUse } from './help.ts';
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
    await Promise.resolve();
    const [what = '', name] = call.words;
    if (what === 'list') list(call);
    else if (name === undefined) throw wrongUse(`context ${what} needs a name.`, 'help context');
    else if (what === 'add') add(call, name);
    else if (what === 'use') use(call, name);
    else remove(call, name);
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

function add({ options, valueOf, surroundings, output }: Call, name: string): void {
  const before = readContexts(surroundings);
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new CommandError(
      'The name of a context has letters, digits, ".", "_" and "-".',
      exitCodes.wrongUse,
    );
  if (Object.hasOwn(before.contexts, name))
    throw new CommandError(
      `There is a context "${name}" already. Try: gateway-admin context remove ${name}`,
      exitCodes.refused,
    );
  const url = valueOf('url');
  if (url === undefined) throw new CommandError('context add needs --url URL.', exitCodes.wrongUse);
  urlFrom(url);
  userFrom(valueOf('user'));
  const given: Context = Object.fromEntries(
    options.flatMap(({ name: option, value }) =>
      value === undefined ? [] : [[option, files.has(option) && value !== '-' ? resolve(value) : value]],
    ),
  );
  const contexts = Object.fromEntries([...Object.entries(before.contexts), [name, given]]);
  writeContexts(surroundings, { ...before, contexts });
  output.note(`Done: added context ${name}. Use it with: gateway-admin context use ${name}`);
}

function use({ surroundings, output }: Call, name: string): void {
  const contexts = readContexts(surroundings);
  contextNamed(contexts, name);
  writeContexts(surroundings, { ...contexts, current: name });
  output.note(`Done: every command uses context ${safeText(name)}.`);
}

function remove({ surroundings, output }: Call, name: string): void {
  const { current, contexts } = readContexts(surroundings);
  contextNamed({ contexts }, name);
  const rest = Object.fromEntries(Object.entries(contexts).filter(([each]) => each !== name));
  writeContexts(surroundings, {
    ...(current === undefined || current === name ? {} : { current }),
    contexts: rest,
  });
  output.note(`Done: removed context ${safeText(name)}.`);
}
