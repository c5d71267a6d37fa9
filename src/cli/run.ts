/**
 * Runs the command that the arguments name, and prints the help: what the table of commands says, for people.
 */
import { createRequire } from 'node:module';
import { PassThrough } from 'node:stream';

import { nearestName } from '../core/member.ts';
import {
  argumentAt,
  CommandError,
  connectionOptions,
  exitCodes,
  helpOption,
  optionsOf,
  optionsTopic,
  placeOfCommand,
  program,
  tokensOf,
  wrongUse,
  type Argument,
  type Call,
  type Command,
  type GivenOption,
  type Surroundings,
} from './command.ts';
import { commands } from './commands.ts';
import { completionsOf } from './completion.ts';
import { parsePath } from './json-path.ts';
import { columns, jsonText, Output, safeLines } from './output.ts';

/**
 * Runs the command that the arguments name. What goes wrong goes to the standard error output.
 *
 * @returns the exit code
 */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { stdout, stderr } = surroundings;
  const isJson = isForPrograms(args);
  try {
    const [name, rest] = commandIn(args);
    if (name === undefined) stdout.write(`${rest.includes('--version') ? versionOf() : help(commands)}\n`);
    else if (name === 'help') stdout.write(`${helpFor(rest[0])}\n`);
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

/** Whether a program reads the output: also of a call with a mistake. */
function isForPrograms(args: readonly string[]): boolean {
  const written = args.map((word, at) => (/^(?:-o|--output)$/.test(args[at - 1] ?? '') ? `-o${word}` : word));
  return written.some((word) => word === '--json' || /^(?:-o|--output=)json/.test(word));
}

/** The name of the command, and the other arguments. Options can stand before the command. */
function commandIn(args: readonly string[]): readonly [name: string | undefined, rest: readonly string[]] {
  const { place, unknown } = placeOfCommand(commands, args);
  if (unknown !== undefined)
    throw wrongUse(
      `There is no option ${unknown.slice(0, 100)}.${meantOption(unknown, optionsOf(commands))}`,
      'help',
    );
  return place === undefined ? [undefined, args] : [args[place], args.toSpliced(place, 1)];
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
  // By its name: the program is in one of several files of the build.
  const own = createRequire(import.meta.url)('gateway-admin-core/package.json') as {
    readonly version: string;
  };
  return own.version;
}

function helpFor(name: string | undefined): string {
  if (name === undefined) return help(commands);
  return name === optionsTopic ? connectionHelp() : helpOf(...find(name));
}

async function call(name: string, args: readonly string[], surroundings: Surroundings): Promise<void> {
  const [found, command] = find(name);
  const { words, options } = parse(found, command, args);
  const called = callOf(words, options, surroundings);
  if (called.has('help')) surroundings.stdout.write(`${helpOf(found, command)}\n`);
  else await command.run({ ...called, words: checked(found, command.arguments ?? [], words) });
}

/** The form of the output that the options of a call ask for. */
function formOf(options: readonly GivenOption[]): ConstructorParameters<typeof Output>[1] {
  const given = options.findLast(({ name }) => name === 'output')?.value;
  if (options.some(({ name }) => name === 'json')) {
    if (given !== undefined && given !== 'json') throw wrongUse('Give --json or --output, not both.');
    return { name: 'json' };
  }
  if (given === undefined) return {};
  const [, name = given, text] = /^(jsonpath)=([^]*)$/.exec(given) ?? [];
  if (text === undefined) return { name };
  const path = parsePath(text);
  if (path !== undefined) return { name, path };
  throw wrongUse(
    'A path has names, places and *, such as {.parameters.weight}, {[0].name} or {[*].name}, and not ' +
      `${text.slice(0, 100)}. Choose rows with --where.`,
  );
}

function callOf(words: readonly string[], options: readonly GivenOption[], surroundings: Surroundings): Call {
  const has = (name: string): boolean => options.some((given) => given.name === name);
  return {
    words,
    options,
    has,
    valueOf: (name) => options.findLast((given) => given.name === name)?.value,
    surroundings,
    output: new Output(surroundings, formOf(options)),
  };
}

/** What a shell asks for: `complete -- <words>`. */
async function completions([, ...words]: readonly string[], surroundings: Surroundings): Promise<string> {
  // Nobody can be asked for a password while a word is completed.
  const silent = { ...surroundings, stdin: new PassThrough().end() as unknown as NodeJS.ReadStream };
  const found = await completionsOf(commands, words, (name, args) => {
    const { words: given, options } = parse(name, find(name)[1], args);
    return callOf(given, options, silent);
  });
  return found.map((word) => `${word}\n`).join('');
}

function find(name: string): readonly [string, Command] {
  const command = commands.get(name);
  if (command !== undefined) return [name, command];
  const meant = meantWord(name, [...commands.keys()]);
  throw wrongUse(`There is no command "${name.slice(0, 100)}".${meant}`, 'help');
}

interface Parsed {
  readonly words: readonly string[];
  readonly options: readonly GivenOption[];
}

function parse(name: string, command: Command, args: readonly string[]): Parsed {
  const known: Command['options'] = { ...command.options, help: helpOption };
  // Not strict: the messages of Node quote arguments, and an argument can be a password by mistake.
  const { positionals, tokens } = tokensOf(known, args);
  const options = tokens.flatMap((token) => (token.kind === 'option' ? [token] : []));
  for (const option of options) assertOption(name, known, option);
  if (positionals.length > 0 && command.arguments === undefined)
    throw wrongUse(`${name} takes no arguments, only options.`, `help ${name}`);
  return { words: positionals, options: options.map(({ name: option, value }) => ({ name: option, value })) };
}

interface OptionToken extends GivenOption {
  readonly rawName: string;
  readonly inlineValue: boolean | undefined;
}

function assertOption(
  name: string,
  known: Command['options'],
  { name: option, rawName, value, inlineValue }: OptionToken,
): void {
  const refuse = (message: string): CommandError => wrongUse(`${name} ${message}`, `help ${name}`);
  if (!Object.hasOwn(known, option))
    throw refuse(`takes no option ${rawName.slice(0, 100)}.${meantOption(rawName, known)}`);
  const form = known[option]?.value;
  if (form === undefined && value !== undefined) throw refuse(`takes no value after ${rawName}.`);
  // What looks like an option is one, unless it is written with an equals sign.
  const isMissing = value === undefined || (inlineValue === false && /^-./.test(value));
  if (form !== undefined && isMissing) throw refuse(`needs a value after ${rawName}: ${rawName} ${form}.`);
  const { choices } = known[option] ?? {};
  if (value === undefined || choices === undefined) return;
  const isTaken = choices.some((each) => (each.endsWith('=') ? value.startsWith(each) : value === each));
  if (isTaken) return;
  const taken = choices.map((each) => (each.endsWith('=') ? `${each}…` : each)).join(', ');
  throw refuse(
    `takes ${taken} after ${rawName}, and not ${value.slice(0, 100)}.${meantWord(value, choices)}`,
  );
}

/** The option that a user has misspelt: without a hyphen, too short, too long, or with other letters. */
function meantOption(given: string, known: Command['options']): string {
  const lettersOf = (option: string): string => option.replaceAll('-', '');
  const [written, names] = [lettersOf(given), Object.keys(known)];
  const begun = names.find((each) => {
    const letters = lettersOf(each);
    return written.length > 1 && (letters.startsWith(written) || written.startsWith(letters));
  });
  const meant = begun ?? nearestName(written, names);
  return hintOf(meant === undefined ? undefined : `--${meant}`);
}

/** The word that a user has misspelt, or the command that shows what the word names. */
function meantWord(given: string, words: readonly string[]): string {
  if (/^alerts?$/i.test(given)) return ` The alerts are in: ${program} status.`;
  return hintOf(nearestName(given, words));
}

function hintOf(meant: string | undefined): string {
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

/** The arguments, if they fit the table. Of an argument with choices, the choice. */
function checked(name: string, expected: readonly Argument[], words: readonly string[]): readonly string[] {
  if (words.includes('')) throw wrongUse(`${name} got an empty argument.`, `help ${name}`);
  if (words.length > expected.length && !expected.some(({ multiple }) => multiple)) {
    const taken = expected.map(nounOf).join(' and ');
    throw wrongUse(`${name} takes ${taken}; the rest are options.`, `help ${name}`);
  }
  // Before what is missing: who leaves the kind out has written the name in its place.
  const given = words.map((word, at) =>
    choiceOf(name, argumentAt(expected, at, words.length) as Argument, word),
  );
  const missing = expected.filter(({ optional }) => optional !== true)[words.length];
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
  const meant = meantWord(word, choices);
  throw wrongUse(
    `${name} does not take "${word.slice(0, 100)}"${choicesOf(argument)}.${meant}`,
    `help ${name}`,
  );
}

/** The list of all commands. */
function help(commands: ReadonlyMap<string, Command>): string {
  const list = [...commands].map(([name, { does }]) => [`  ${name}`, does]);
  return [
    `Usage: ${program} <command> [options]`,
    '',
    'Operates a gateway over its administration interface.',
    '',
    ...columns(list),
    '',
    `${program} help <command> says more, and ${program} help ${optionsTopic} how to reach an interface.`,
    'The interface is at --url or GATEWAY_ADMIN_URL, the user is --user or GATEWAY_ADMIN_USER.',
    'Exit codes: 0 done, 1 refused, 2 wrong use, 3 not reachable, 4 outcome unknown, 5 not allowed,',
    '6 differs (plan --exit-code), 7 done in part or wrong, 130 interrupted.',
  ].join('\n');
}

/** What one command does. The options of the connection stand elsewhere, once for all commands. */
function helpOf(name: string, command: Command): string {
  const { does, options, notes = [], examples, arguments: given = [] } = command;
  const choices = given.flatMap(({ name: argument, choices: words }) =>
    words === undefined ? [] : [[`  <${argument}>`, words.join(', ')]],
  );
  const isConnecting = Object.keys(connectionOptions).every((option) => Object.hasOwn(options, option));
  const common: Command['options'] = isConnecting ? connectionOptions : {};
  const own = Object.entries({ ...options, help: helpOption }).filter(
    ([option, row]) => common[option] !== row,
  );
  return [
    `Usage: ${[program, name, ...given.map(usageOf), '[options]'].join(' ')}`,
    '',
    does,
    '',
    ...columns([...choices, ...own.map(optionCells)]),
    ...(isConnecting
      ? ['', `The options of the connection and the output: ${program} help ${optionsTopic}`]
      : []),
    ...(notes.length === 0 ? [] : ['', ...notes]),
    '',
    'Examples:',
    ...examples.map((line) => `  ${program} ${line}`),
  ].join('\n');
}

/** The options of every command that asks an interface. */
function connectionHelp(): string {
  return [
    'Options of every command that asks an interface. They stand before or after the command.',
    '',
    ...columns(Object.entries(connectionOptions).map(optionCells)),
  ].join('\n');
}

function optionCells([name, { short, value, does }]: readonly [
  string,
  Command['options'][string],
]): readonly string[] {
  const letter = short === undefined ? '' : `, -${short}`;
  return [`  --${name}${letter}${value === undefined ? '' : ` ${value}`}`, does];
}

function usageOf({ name, optional, multiple }: Argument): string {
  const more = multiple === true ? ' …' : '';
  return optional === true ? `[${name}${more}]` : `<${name}${more}>`;
}
