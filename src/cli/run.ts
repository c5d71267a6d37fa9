/**
 * Runs the command that the arguments name.
 */
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { parseArgs } from 'node:util';

import {
  CommandError,
  exitCodes,
  type Argument,
  type Call,
  type Command,
  type GivenOption,
  type Surroundings,
} from './command.ts';
import { commands } from './commands.ts';
import { completionsOf } from './completion.ts';
import { help, helpOf, program } from './help.ts';
import { jsonText, Output, safeLines } from './output.ts';

/**
 * Runs the command that the arguments name. What goes wrong goes to the standard error output.
 *
 * @returns the exit code
 */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { stdout, stderr } = surroundings;
  const [name = 'help', ...rest] = args;
  const isJson = rest.includes('--json');
  try {
    if (name === '--version') stdout.write(`${versionOf()}\n`);
    else if (/^(help|--help|-h)$/.test(name)) stdout.write(`${helpFor(rest[0])}\n`);
    else if (name === 'complete') stdout.write(await completions(rest, surroundings));
    else await call(name, rest, surroundings);
    return exitCodes.done;
  } catch (error) {
    const { message, cause, exitCode } = failureOf(error);
    stderr.write(
      isJson ? `${jsonText(cause ?? { detail: message })}\n` : safeLines(`${program}: ${message}\n`),
    );
    return exitCode;
  }
}

/** An interface of another version, or a server that is no interface, can answer anything. */
function failureOf(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  return new CommandError(
    `The answer cannot be understood (${String(error)}). ` +
      `Try: ${program} show interface --json, which says who answers.`,
    exitCodes.unreachable,
  );
}

function versionOf(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

function helpFor(name: string | undefined): string {
  return name === undefined ? help(commands) : helpOf(...find(name));
}

async function call(name: string, args: readonly string[], surroundings: Surroundings): Promise<void> {
  const [found, command] = find(name);
  const { words, options } = parse(found, command, args);
  const called = callOf(words, options, surroundings);
  if (called.has('help')) surroundings.stdout.write(`${helpOf(found, command)}\n`);
  else await command.run({ ...called, words: checked(found, command.arguments ?? [], words) });
}

function callOf(words: readonly string[], options: readonly GivenOption[], surroundings: Surroundings): Call {
  const has = (name: string): boolean => options.some((given) => given.name === name);
  return {
    words,
    options,
    has,
    valueOf: (name) => options.findLast((given) => given.name === name)?.value,
    surroundings,
    output: new Output(surroundings, has('json')),
  };
}

/** What a shell asks for: `complete -- <words>`. */
async function completions([, ...words]: readonly string[], surroundings: Surroundings): Promise<string> {
  // Nobody can be asked for a password while a word is completed.
  const silent = { ...surroundings, stdin: new PassThrough().end() as unknown as NodeJS.ReadStream };
  const found = await completionsOf(commands, words, (args) => {
    const { words: given, options } = parse(words[0] ?? '', find(words[0] ?? '')[1], args);
    return callOf(given, options, silent);
  });
  return found.map((word) => `${word}\n`).join('');
}

function find(name: string): readonly [string, Command] {
  const command = commands.get(name);
  if (command !== undefined) return [name, command];
  throw wrongUse(`There is no command "${name.slice(0, 100)}".`, 'help');
}

interface Parsed {
  readonly words: readonly string[];
  readonly options: readonly GivenOption[];
}

function parse(name: string, command: Command, args: readonly string[]): Parsed {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([option, row]) => [
      option,
      { type: 'value' in row ? ('string' as const) : ('boolean' as const), multiple: true },
    ]),
  );
  const help = { type: 'boolean', short: 'h', multiple: true } as const;
  try {
    const { positionals, tokens } = parseArgs({
      options: { ...options, help },
      args: [...args],
      allowPositionals: command.arguments !== undefined,
      tokens: true,
    });
    const given = tokens.flatMap((token) =>
      token.kind === 'option' ? [{ name: token.name, value: token.value }] : [],
    );
    return { words: positionals, options: given };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const meant = code === unknownOption ? meantBy(args, Object.keys(options)) : undefined;
    const next = meant === undefined ? `help ${name}` : `${name} --${meant}`;
    throw wrongUse(`${name} ${mistakes[code] ?? 'got options that it does not take'}.`, next);
  }
}

const unknownOption = 'ERR_PARSE_ARGS_UNKNOWN_OPTION';

/** The option that somebody has misspelt: without a hyphen, too short or too long. */
function meantBy(args: readonly string[], known: readonly string[]): string | undefined {
  const { tokens } = parseArgs({ args: [...args], strict: false, tokens: true });
  const given = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  const written = given.find((name) => !known.includes(name))?.replaceAll('-', '') ?? '';
  return known.find((name) => {
    const letters = name.replaceAll('-', '');
    return written.length > 1 && (letters.startsWith(written) || written.startsWith(letters));
  });
}

/** Not the messages of Node: they quote the argument, which can be a password by mistake. */
const mistakes: Readonly<Record<string, string>> = {
  ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL: 'takes no arguments, only options',
  ERR_PARSE_ARGS_INVALID_OPTION_VALUE: 'got an option without its value, or a switch with a value',
  [unknownOption]: 'got an option that it does not take',
};

/** The arguments, if they fit the table. Of an argument with choices, the choice. */
function checked(name: string, expected: readonly Argument[], words: readonly string[]): readonly string[] {
  if (words.includes('')) throw wrongUse(`${name} got an empty argument.`, `help ${name}`);
  if (words.length > expected.length) {
    const taken = expected.map(nounOf).join(' and ');
    throw wrongUse(`${name} takes ${taken}; the rest are options.`, `help ${name}`);
  }
  // Before what is missing: who leaves the kind out has written the name in its place.
  const given = words.map((word, at) => choiceOf(name, expected[at] as Argument, word));
  const missing = expected.find((argument, at) => argument.optional !== true && words[at] === undefined);
  if (missing !== undefined)
    throw wrongUse(`${name} needs ${nounOf(missing)}${choicesOf(missing)}.`, `help ${name}`);
  return given;
}

function nounOf({ name }: Argument): string {
  return /^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`;
}

function choicesOf({ choices }: Argument): string {
  return choices === undefined ? '' : `: ${choices.join(', ')}`;
}

/** A kind can be written in the singular and in the plural. */
function choiceOf(name: string, argument: Argument, word: string): string {
  const { choices, names } = argument;
  if (names !== undefined && /^\.\.?$/.test(word))
    throw wrongUse(`${name} got "${word}", and no URL can name such a resource.`, `help ${name}`);
  if (choices === undefined || choices.includes(word)) return word;
  const other = choices.find((choice) => `${choice}s` === word || choice === `${word}s`);
  if (other !== undefined) return other;
  throw wrongUse(`${name} does not take "${word.slice(0, 100)}"${choicesOf(argument)}.`, `help ${name}`);
}

function wrongUse(message: string, next: string): CommandError {
  return new CommandError(`${message} Try: ${program} ${next}`, exitCodes.wrongUse);
}
