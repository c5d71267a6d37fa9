/**
 * The file of contexts: named connections of a user, so that a command needs no address. No password is in the file.
 */
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

import { CommandError, exitCodes, type Call, type Surroundings } from './command.ts';
import { safeText } from './output.ts';
import { isObject } from './input.ts';

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
    throw new CommandError(
      `The file of contexts ${safeText(file)} cannot be read: ${safeText(message)}`,
      exitCodes.refused,
    );
  }
}

function isContexts(value: unknown): value is Contexts {
  const { current = '', contexts } = Object(value) as Partial<Contexts>;
  return typeof current === 'string' && isObject(contexts) && Object.values(contexts).every(isContext);
}

function isContext(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

/** Writes the file: whole or not at all, and for the user alone. */
export function writeContexts(surroundings: Surroundings, contexts: Contexts): void {
  const path = contextFile(surroundings);
  try {
    // A link stays a link.
    const file = existsSync(path) ? realpathSync(path) : path;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${String(process.pid)}`;
    writeFileSync(draft, `${JSON.stringify(contexts, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    throw new CommandError(
      `The file of contexts cannot be written: ${safeText((error as Error).message)}`,
      exitCodes.refused,
    );
  }
}

/** The context of a name. */
export function contextNamed({ contexts }: Contexts, name: string): Context {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context !== undefined) return context;
  throw new CommandError(
    `There is no context "${safeText(name.slice(0, 100))}". Try: gateway-admin context list`,
    exitCodes.wrongUse,
  );
}

/**
 * The context of a call; `undefined` if the call names an address, or if there is no context. An address is never mixed
 * with the log-in of a context, because the password would go to another place.
 */
export function contextOf({ valueOf, surroundings }: Call): Context | undefined {
  const { env } = surroundings;
  const [url, name] = [valueOf('url'), valueOf('context')];
  if (url !== undefined && name !== undefined)
    throw new CommandError('Give --url or --context, not both.', exitCodes.wrongUse);
  if (url !== undefined) return undefined;
  if (name === undefined && env['GATEWAY_ADMIN_URL'] !== undefined) return undefined;
  const given = name ?? env['GATEWAY_ADMIN_CONTEXT'];
  const contexts = readContexts(surroundings);
  const chosen = given ?? contexts.current;
  return chosen === undefined ? undefined : contextNamed(contexts, chosen);
}
