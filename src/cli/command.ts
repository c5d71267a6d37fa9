/**
 * Commands: what the command line can do, as data. Help and argument checks follow from the table of commands.
 */
import type { ParseArgsConfig } from 'node:util';

/** The streams of a program. */
export interface Streams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** The exit codes. Scripts rely on them. */
export const exitCodes = { done: 0, refused: 1, wrongUse: 2, interrupted: 130 } as const;

/** An option of a command. */
interface Option {
  /** What the option needs, such as `FILE`; left out for a switch. */
  readonly value?: string;
  /** What the option does, in a line. */
  readonly does: string;
}

/** What a user has given to a command: the value of each option, or `true` for a switch. */
export type Given = Readonly<Record<string, string | boolean | undefined>>;

/** A command. */
export interface Command {
  /** What the command does, in a line. */
  readonly does: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Lines that follow the options in the help. */
  readonly notes: readonly string[];
  /** Runs the command. Gives what goes to the standard output. */
  run(given: Given, streams: Streams): Promise<string>;
}

/** The options of a command, as `parseArgs` takes them. */
export function parsedOptions({ options }: Command): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { value }]) => [
      name,
      { type: value === undefined ? 'boolean' : 'string' },
    ]),
  );
}

/** A failure that the user can understand, with the exit code of the program. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}
