/**
 * The settings of a connection, from options, contexts and the environment, and the command `context`. A context is a
 * named connection of a user, so that a command needs no address. No password is in the file of contexts.
 */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  CommandError,
  placeOptions,
  printOptions,
  refused,
  wrongUse,
  type Call,
  type Command,
  type Surroundings,
} from './command.ts';
import { isObject } from './input.ts';
import { cellOf, safeText } from './output.ts';

/** The command `context`. */
export const context: Command = {
  does: 'Keeps connections by name: adds, lists, uses or removes one.',
  arguments: [
    { name: 'what', choices: ['add', 'list', 'use', 'remove'] },
    { name: 'name', names: { use: 'context', remove: 'context' }, optional: true },
  ],
  options: { ...placeOptions, ...printOptions },
  notes: [
    'context add NAME --url URL --user NAME keeps a connection; context use NAME makes it that of every command.',
    'A command takes another one with --context NAME or GATEWAY_ADMIN_CONTEXT. No password is kept.',
  ],
  examples: [
    'context add prod --url https://127.0.0.1:8989/admin --user ada --cacert ca.pem',
    'context use prod',
    'context list',
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
      value === undefined || !Object.hasOwn(placeOptions, option)
        ? []
        : [[option, files.has(option) && value !== '-' ? resolve(value) : value]],
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

/** A connection: the options of a command that reach an interface, by name. */
type Context = Readonly<Record<string, string>>;

/** The contents of the file. */
interface Contexts {
  /** Name of the context of a command that names neither a context nor an address. */
  readonly current?: string;
  readonly contexts: Readonly<Record<string, Context>>;
}

/** Path of the file: below the directory of the XDG standard, or as `GATEWAY_ADMIN_CONFIG` says. */
function contextFile({ env }: Surroundings): string {
  const { GATEWAY_ADMIN_CONFIG: own = '', XDG_CONFIG_HOME: given = '', HOME: home = homedir() } = env;
  if (own !== '') return own;
  // The standard ignores a relative path.
  return join(isAbsolute(given) ? given : join(home, '.config'), 'gateway-admin', 'contexts.json');
}

/** Reads the file; without a file, there are no contexts. */
function readContexts(surroundings: Surroundings): Contexts {
  const file = contextFile(surroundings);
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isContexts(value)) throw new Error('it does not have the form that gateway-admin context writes');
    return value;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { contexts: {} };
    throw refused(`The file of contexts ${safeText(file)} cannot be read: ${safeText(message)}`);
  }
}

function isContexts(value: unknown): value is Contexts {
  const { current = '', contexts } = Object(value) as Partial<Contexts>;
  return typeof current === 'string' && isObject(contexts) && Object.values(contexts).every(isContext);
}

function isContext(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

/**
 * Changes the file: whole or not at all, and for the user alone. The new contents are written to a draft. Only one
 * process at a time can create the draft, so no change of another process is lost.
 *
 * @param change - gives the new contents; a throw leaves the file as it is
 */
async function changeContexts(
  surroundings: Surroundings,
  change: (contexts: Contexts) => Contexts,
): Promise<void> {
  const path = contextFile(surroundings);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // A link stays a link.
    const file = existsSync(path) ? realpathSync(path) : path;
    const draft = `${file}.lock`;
    await createDraft(draft, path);
    try {
      writeFileSync(draft, `${JSON.stringify(change(readContexts(surroundings)), undefined, 2)}\n`);
      renameSync(draft, file);
    } catch (error) {
      rmSync(draft);
      throw error;
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw refused(`The file of contexts cannot be written: ${safeText((error as Error).message)}`);
  }
}

/** How long a change waits for those of other processes, and how long between two looks, in milliseconds. */
const [patienceMs, lookMs] = [2000, 10];

/** Creates the draft, once no other process has one. */
async function createDraft(draft: string, file: string): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      writeFileSync(draft, '', { flag: 'wx', mode: 0o600 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (performance.now() > end)
        throw refused(
          `Another gateway-admin changes the file of contexts ${safeText(file)}, or was ended while it did. ` +
            `Nothing was ` +
            `changed. Try again. If no other one runs, remove ${safeText(draft)}.`,
        );
    }
    await sleep(lookMs);
  }
}

/** The names of all contexts. */
export function contextNames(surroundings: Surroundings): readonly string[] {
  return Object.keys(readContexts(surroundings).contexts);
}

/** The context of a name. */
function contextNamed({ contexts }: Contexts, name: string): Context {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context !== undefined) return context;
  throw wrongUse(`There is no context "${safeText(name.slice(0, 100))}". Try: gateway-admin context list`);
}

/** A context with its name. */
interface NamedContext {
  readonly name: string;
  readonly context: Context;
}

/**
 * The context of a call; `undefined` if the call names an address, or if there is no context. An address is never mixed
 * with the log-in of a context, because the password would go to another place.
 */
export function contextIn({ valueOf, surroundings }: Call): NamedContext | undefined {
  const { env } = surroundings;
  const [url, name] = [valueOf('url'), valueOf('context')];
  if (url !== undefined && name !== undefined) throw wrongUse('Give --url or --context, not both.');
  if (url !== undefined) return undefined;
  if (name === undefined && env['GATEWAY_ADMIN_URL'] !== undefined) return undefined;
  const given = name ?? env['GATEWAY_ADMIN_CONTEXT'];
  const contexts = readContexts(surroundings);
  const chosen = given ?? contexts.current;
  return chosen === undefined ? undefined : { name: chosen, context: contextNamed(contexts, chosen) };
}

/** The address of the interface. */
export function urlOf(call: Call): URL {
  return urlFrom(settingsOf(call)('url') ?? 'http://127.0.0.1:8989');
}

/** How long a command that waits for the gateway takes silence, in milliseconds. */
export function patienceMsOf(call: Call): number {
  return timeoutFrom(settingsOf(call)('timeout') ?? '300');
}

/** Gives the value of an option of a connection. */
export type Settings = (name: keyof typeof placeOptions) => string | undefined;

const variables: Readonly<Record<string, string>> = {
  url: 'GATEWAY_ADMIN_URL',
  user: 'GATEWAY_ADMIN_USER',
  'password-file': 'GATEWAY_ADMIN_PASSWORD_FILE',
};

/** An option counts most. Then the context counts, or the environment if there is no context. */
export function settingsOf(call: Call): Settings {
  const { valueOf, surroundings } = call;
  const context = contextIn(call)?.context;
  return (name) => {
    const given = valueOf(name);
    if (given !== undefined) return given;
    // The password of the context is that of its own user.
    if (name === 'password-file' && context !== undefined && valueOf('user') !== undefined) return undefined;
    return context === undefined ? surroundings.env[variables[name] ?? ''] : context[name];
  };
}

/** The address in a text. */
function urlFrom(text: string): URL {
  const url = parsedUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw wrongUse('The address must be a URL such as http://127.0.0.1:8989.');
  if (url.username !== '' || url.password !== '')
    throw wrongUse(
      'The address must not contain a user or a password: other users of this machine can read arguments. ' +
        'Use --user and --password-file.',
    );
  if (url.search !== '') throw wrongUse('The address must end with a path: no "?".');
  // The address of the console has the place of the page there.
  url.hash = '';
  return url;
}

function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** The user to log in; `undefined` without a log-in. */
export function userFrom(user: string | undefined): string | undefined {
  // Basic authentication ends the name at the first colon (RFC 7617, 2): the rest would count as the password.
  if (user?.includes(':') === true) throw wrongUse('The name of a user to log in has no colon.');
  return user === '' ? undefined : user;
}

/** A day: nobody waits longer. */
const longestSeconds = 86_400;

/** The milliseconds of a number of seconds in a text. */
export function timeoutFrom(text: string): number {
  const seconds = text.trim() === '' ? NaN : Number(text);
  if (seconds > 0 && seconds <= longestSeconds) return Math.ceil(seconds * 1000);
  const taken = Number.isNaN(seconds)
    ? 'a number of seconds, such as 30'
    : `more than 0 and at most ${String(longestSeconds)} seconds`;
  throw wrongUse(`--timeout takes ${taken}, and not ${safeText(text)}.`);
}
