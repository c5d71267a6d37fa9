/**
 * The help: what the table of commands says, for people.
 */
import { helpOption, program, type Argument, type Command } from './command.ts';
import { columns } from './output.ts';

/** The list of all commands. */
export function help(commands: ReadonlyMap<string, Command>): string {
  const list = [...commands].map(([name, { does }]) => [`  ${name}`, does]);
  return [
    `Usage: ${program} <command> [options]`,
    '',
    'Operates a gateway over its administration interface.',
    '',
    ...columns(list),
    '',
    `${program} help <command> says more.`,
    'The interface is at --url or GATEWAY_ADMIN_URL, the user is --user or GATEWAY_ADMIN_USER.',
    'Exit codes: 0 done, 1 refused, 2 wrong use, 3 not reachable, 4 outcome unknown, 5 not allowed,',
    '6 differs (plan --exit-code), 7 done in part or wrong, 130 interrupted.',
  ].join('\n');
}

/** What one command does. */
export function helpOf(name: string, command: Command): string {
  const { does, options, notes = [], arguments: given = [] } = command;
  const choices = given.flatMap(({ name: argument, choices: words }) =>
    words === undefined ? [] : [[`  <${argument}>`, words.join(', ')]],
  );
  const list = Object.entries({ ...options, help: helpOption }).map(
    ([option, row]: [string, Command['options'][string]]) => [
      `  --${option}${row.value === undefined ? '' : ` ${row.value}`}`,
      row.does,
    ],
  );
  return [
    `Usage: ${[program, name, ...given.map(usageOf), '[options]'].join(' ')}`,
    '',
    does,
    '',
    ...columns([...choices, ...list]),
    ...(notes.length === 0 ? [] : ['', ...notes]),
  ].join('\n');
}

function usageOf({ name, optional, multiple }: Argument): string {
  const more = multiple === true ? ' …' : '';
  return optional === true ? `[${name}${more}]` : `<${name}${more}>`;
}
