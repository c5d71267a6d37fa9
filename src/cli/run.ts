/**
 * Runs a command of the table, and prints the help.
 */
import { parseArgs } from 'node:util';

import { CommandError, exitCodes, parsedOptions, type Command, type Given, type Streams } from './command.ts';
import { hashPassword } from './hash-password.ts';

const program = 'gateway-admin';

/** All commands, by name. */
const commands: ReadonlyMap<string, Command> = new Map([['hash-password', hashPassword]]);

/**
 * Runs the command that the arguments name. What goes wrong goes to the standard error output.
 *
 * @returns the exit code
 */
export async function run(args: readonly string[], streams: Streams): Promise<number> {
  try {
    const text = await outputOf(args, streams);
    streams.stdout.write(`${text}\n`);
    return exitCodes.done;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    streams.stderr.write(`${program}: ${error.message}\n`);
    return error.exitCode;
  }
}

async function outputOf([name = 'help', ...rest]: readonly string[], streams: Streams): Promise<string> {
  if (/^(help|--help|-h)$/.test(name)) return rest[0] === undefined ? help() : helpOf(...find(rest[0]));
  const [found, command] = find(name);
  const given = parse(found, command, rest);
  return given['help'] === true ? helpOf(found, command) : command.run(given, streams);
}

function find(name: string): readonly [string, Command] {
  const command = commands.get(name);
  if (command !== undefined) return [name, command];
  throw wrongUse(`There is no command "${name.slice(0, 100)}".`, 'help');
}

function parse(name: string, command: Command, args: readonly string[]): Given {
  const options = { ...parsedOptions(command), help: { type: 'boolean' as const } };
  try {
    return parseArgs({ options, args: [...args] }).values;
  } catch (error) {
    // Not the message of Node: it quotes the argument, which can be a password by mistake.
    const isArgument = (error as NodeJS.ErrnoException).code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL';
    const what = isArgument
      ? 'takes no arguments, only options'
      : 'got an option that it does not take, or a wrong one';
    throw wrongUse(`${name} ${what}.`, `help ${name}`);
  }
}

function wrongUse(message: string, next: string): CommandError {
  return new CommandError(`${message} Try: ${program} ${next}`, exitCodes.wrongUse);
}

function help(): string {
  const list = [...commands].map(([name, { does }]) => [name, does] as const);
  return [
    `Usage: ${program} <command> [options]`,
    '',
    ...table(list),
    '',
    `${program} help <command> says more.`,
  ].join('\n');
}

function helpOf(name: string, { does, options, notes }: Command): string {
  const list = Object.entries(options).map(
    ([option, { value, does: what }]) =>
      [value === undefined ? `--${option}` : `--${option} ${value}`, what] as const,
  );
  return [`Usage: ${program} ${name} [options]`, '', does, '', ...table(list), '', ...notes].join('\n');
}

/** Two columns, without borders. */
function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`);
}
