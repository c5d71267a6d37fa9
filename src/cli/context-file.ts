/**
 * The file of contexts: named connections of a user, so that a command needs no address. No password is in the file.
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
import { dirname, isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { CommandError, refused, wrongUse, type Call, type Surroundings } from './command.ts';
import { isObject } from './input.ts';
import { safeText } from './output.ts';

/** A connection: the options of a command that reach an interface, by name. */
export type Context = Readonly<Record<string, string>>;

/** The contents of the file. */
export interface Contexts {
  /** Name of the context of a command that names neither a context nor an address. */
  readonly current?: string;
  readonly contexts: Readonly<Record<string, Context>>;
}

/** Path of the file: below the directory of the XDG standard, or as `GATEWAY_ADMIN_CONFIG` says. */
export function contextFile({ env }: Surroundings): string {
  const { GATEWAY_ADMIN_CONFIG: own = '', XDG_CONFIG_HOME: given = '', HOME: home = homedir() } = env;
  if (own !== '') return own;
  // The standard ignores a relative path.
  return join(isAbsolute(given) ? given : join(home, '.config'), 'gateway-admin', 'contexts.json');
}

/** Reads the file; without a file, there are no contexts. */
export function readContexts(surroundings: Surroundings): Contexts {
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
export async function changeContexts(
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
          `Another gateway-admin changes the file of contexts ${safeText(file)}, or was ended while it did. Nothing was ` +
            `changed. Try again. If no other one runs, remove ${safeText(draft)}.`,
        );
    }
    await sleep(lookMs);
  }
}

/** The context of a name. */
export function contextNamed({ contexts }: Contexts, name: string): Context {
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
