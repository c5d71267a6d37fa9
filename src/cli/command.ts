/**
 * Commands: what the command line can do, as data. The help, the checks of arguments and the completion follow from the
 * table of commands.
 */
import { parseArgs } from 'node:util';

import type { Output } from './output.ts';

/** The streams, the environment and the signals of a program. */
export interface Surroundings extends Pick<NodeJS.Process, 'once' | 'off'> {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The exit codes. Scripts rely on them. */
export const exitCodes = {
  /** Done, or nothing was to do. */
  done: 0,
  /** Refused: nothing was changed. */
  refused: 1,
  /** The command line has a mistake: nothing was sent. */
  wrongUse: 2,
  /** Nobody answers, or somebody else: nothing was changed. */
  unreachable: 3,
  /** The change was sent, and its outcome is unknown. */
  unknown: 4,
  /** The user is not known, or may not do this. */
  notAllowed: 5,
  /**
   * `plan --exit-code`: the gateway is not as the document says. With `--yes`: it is not as the plan showed any more.
   */
  differs: 6,
  /** Refused in the middle: the message names what is done. */
  partlyDone: 7,
  /** `status`: an alert is an error. */
  wrong: 7,
  /** `drain --wait`: the drain has ended before all was drained. */
  undrained: 7,
  /** A signal of the user ended the program. What the gateway has begun goes on. */
  interrupted: 130,
} as const;

/** An option of a command. */
interface Option {
  /** What the option needs, such as `FILE`; left out for a switch. */
  readonly value?: string;
  /** What the option does, in a line. */
  readonly does: string;
  /** Whether the option can be given several times. */
  readonly multiple?: true;
  /** The letter that stands for the option after one hyphen. */
  readonly short?: string;
  /** The values that the option takes; of one that ends with `=`, more follows. Any text if left out. */
  readonly choices?: readonly string[];
  /** What the value names, for the completion. */
  readonly names?: Named;
}

/** What a word names: a kind of resources in the singular, or one of the `sources` of the completion. */
export type Named = string;

/** An argument of a command, such as the name of a service. */
export interface Argument {
  /** What the argument is, such as `name`. */
  readonly name: string;
  /** The words that the argument can be; any text if left out. */
  readonly choices?: readonly string[];
  /** What the argument names, by the first argument of the command: `{ sessions: 'service' }`. */
  readonly names?: Readonly<Record<string, Named>>;
  readonly optional?: true;
  /** The argument can be given several times. Only of one of them. */
  readonly multiple?: true;
}

/**
 * The argument at a place among all words: one that can be given several times takes what the others leave.
 *
 * @param count - the number of words
 */
export function argumentAt(expected: readonly Argument[], at: number, count: number): Argument | undefined {
  const several = expected.findIndex(({ multiple }) => multiple === true);
  if (several < 0 || at < several) return expected[at];
  return expected[Math.max(several, expected.length - (count - at))];
}

/** An option as it was given, in the order of the command line. */
export interface GivenOption {
  readonly name: string;
  readonly value: string | undefined;
}

/** A command as a user has called it. */
export interface Call {
  /** The arguments, in order. Those with choices are one of the choices. */
  readonly words: readonly string[];
  /** The options, in order. */
  readonly options: readonly GivenOption[];
  /** Whether a switch was given. */
  has(this: void, name: string): boolean;
  /** The value of an option; `undefined` if the option was not given. */
  valueOf(this: void, name: string): string | undefined;
  readonly surroundings: Surroundings;
  readonly output: Output;
}

/** A command. */
export interface Command {
  /** What the command does, in a line. */
  readonly does: string;
  readonly arguments?: readonly Argument[];
  readonly options: Readonly<Record<string, Option>>;
  /** Lines that follow the options in the help. */
  readonly notes?: readonly string[];
  /** Calls of the command, without the name of the program, for the help. */
  readonly examples: readonly string[];
  run(call: Call): Promise<void>;
}

/** The word after `help` that shows the options of the connection. */
export const optionsTopic = 'options';

/** The option that every command has. */
export const helpOption = { does: 'print this' } as const satisfies Option;

/** The options of all commands, by name. A name means the same everywhere. */
export function optionsOf(commands: ReadonlyMap<string, Command>): Command['options'] {
  const tables = [...commands.values()].map(({ options }) => options);
  return Object.assign(
    { help: helpOption, version: { does: 'print the version' } },
    ...tables,
  ) as Command['options'];
}

/** What `parseArgs` gets of a table of options. */
type ParsedTable = Record<string, { type: 'boolean' | 'string'; multiple: true; short?: string }>;

/** The arguments as options and words. An option that the table does not have counts as a switch. */
export function tokensOf(
  known: Command['options'],
  args: readonly string[],
): ReturnType<typeof parseArgs<{ options: ParsedTable; args: string[]; strict: false; tokens: true }>> {
  const options: ParsedTable = {};
  for (const [name, { value, short }] of Object.entries(known)) {
    const type = value === undefined ? 'boolean' : 'string';
    options[name] = { type, multiple: true, ...(short === undefined ? {} : { short }) };
  }
  options['help'] = { type: 'boolean', multiple: true, short: 'h' };
  return parseArgs({ options, args: [...args], strict: false, tokens: true });
}

/** Where the command stands among the arguments: behind the options that stand before it. */
export function placeOfCommand(
  commands: ReadonlyMap<string, Command>,
  args: readonly string[],
): { readonly place?: number; readonly unknown?: string } {
  const known = optionsOf(commands);
  for (const token of tokensOf(known, args).tokens) {
    if (token.kind === 'positional') return { place: token.index };
    if (token.kind === 'option' && !Object.hasOwn(known, token.name)) return { unknown: token.rawName };
  }
  return {};
}

/** A failure that the user can understand, with the exit code of the program. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  /** @param cause - the problem that the interface answered, for `--json` */
  constructor(message: string, exitCode: number, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** Name of the program. */
export const program = 'gateway-admin';

/**
 * The error about a command line with a mistake.
 *
 * @param message - what is wrong, in a sentence
 * @param next - the command that helps, such as `help drain`; left out if the message says what helps
 */
export function wrongUse(message: string, next?: string): CommandError {
  const hint = next === undefined ? '' : ` Try: ${program} ${next}`;
  return new CommandError(`${message}${hint}`, exitCodes.wrongUse);
}

/** The error about something that is refused. Nothing was changed. */
export function refused(message: string, cause?: unknown): CommandError {
  return new CommandError(message, exitCodes.refused, cause);
}

/** Options of every command that prints something. */
export const printOptions = {
  json: { does: 'print JSON for programs, as -o json' },
  output: {
    short: 'o',
    value: 'FORM',
    does: 'json, or jsonpath=PATH for single values, such as -o "jsonpath={[*].name}"',
    choices: ['json', 'jsonpath='],
  },
} as const satisfies Command['options'];

/** Options that say where an interface is, and how to reach it. */
export const placeOptions = {
  url: {
    value: 'URL',
    does: 'address of the interface with the path of its mount; also GATEWAY_ADMIN_URL; default http://127.0.0.1:8989',
  },
  user: { value: 'NAME', does: 'user to log in; also GATEWAY_ADMIN_USER' },
  'password-file': {
    value: 'FILE',
    does: 'file with the password of the user; also GATEWAY_ADMIN_PASSWORD_FILE; otherwise the password is asked for',
  },
  cacert: {
    value: 'FILE',
    does: 'certificates of the authorities to trust instead of those of the system, in PEM',
  },
  cert: { value: 'FILE', does: 'certificate of the user for the server, in PEM' },
  key: { value: 'FILE', does: 'key of --cert, in PEM; left out if the file of --cert has it' },
  timeout: { value: 'SECONDS', does: 'end if nothing comes for so long; default 10, and 300 for a change' },
} as const satisfies Command['options'];

/** Options of every command that asks an interface. */
export const connectionOptions = {
  ...placeOptions,
  context: {
    value: 'NAME',
    does: 'connection of gateway-admin context; also GATEWAY_ADMIN_CONTEXT; otherwise the one in use',
    names: 'context',
  },
  ...printOptions,
} as const satisfies Command['options'];

/** Options of every command that makes a change. */
export const changeOptions = {
  'dry-run': { does: 'say what would happen, and do nothing' },
  yes: { does: 'do not ask first' },
  'confirm-name': {
    value: 'NAME',
    does: 'do nothing unless this is the name that production asks for; --yes needs it there',
  },
  ...connectionOptions,
} as const satisfies Command['options'];
