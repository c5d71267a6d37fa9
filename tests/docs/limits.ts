/**
 * The page about limits: written from the table that the contract tests try.
 */
import { limits } from '../contract/limit.ts';
import type { Limit, Unit } from '../support/limit.ts';

const head = `# Limits

Every limit of the library. The value in the table is accepted, and one more gets the answer in the last column. For a
time, the last column applies when the time has elapsed.

This page is written by \`npm run pages\` from the tables of the contract tests, which try every row at the limit and one
past the limit.

## Change a limit

- **An option such as \`maxQueued\`** is a member of the option \`limits\` of \`createAdmin\` and \`openAdmin\`. A limit is a
  whole number from 1 on. Any other value is a \`RangeError\`. An unknown limit is a \`TypeError\` whose message names the
  known ones.
- **An option of \`applyPatch\`** can be set in \`gateway-admin-core/json\` only. In requests this limit is fixed.
- **A fixed limit** cannot be changed.

Times of options are given in milliseconds.

**Timeouts of clients.** A command takes the time until its turn, then at most twice \`effectDeadlineMs\` for each effect,
then the time of the store. Give clients and proxies a longer timeout. Otherwise they disconnect before a 504 arrives.
`;

const columns = ['Option', 'Default', 'Bounds', 'Beyond the limit'];

/** Writes the whole page. */
export function limitsPage(): string {
  return [head, ...Object.entries(limits).map(([title, rows]) => chapter(title, rows))].join('\n');
}

function chapter(title: string, rows: readonly Limit[]): string {
  const lines = [columns, columns.map(() => '---'), ...rows.map(cells)];
  return [`## ${title}\n`, ...lines.map((line) => `| ${line.join(' | ')} |`), ''].join('\n');
}

function cells(limit: Limit): readonly string[] {
  return [optionOf(limit), written[limit.unit ?? 'number'](limit.value), limit.bounds, answerOf(limit)];
}

function optionOf({ option, rule }: Limit): string {
  if (option !== undefined) return `\`${option}\``;
  return rule === undefined ? 'fixed' : `\`${rule}\` of \`applyPatch\``;
}

/** The code of a problem and the name of an error are code; words stay words. */
function answerOf({ beyond, note = '' }: Limit): string {
  const answer = beyond.replace(/(?<=^\d{3} ).*|^[A-Z]\w*Error$/, '`$&`');
  return note === '' ? answer : `${answer}${/^[A-Z]/.test(note) ? '.' : ','} ${note}`;
}

const written: Readonly<Record<Unit, (value: number) => string>> = {
  number: (value) => (value === Number.MAX_SAFE_INTEGER ? '2^53 − 1' : value.toLocaleString('en-US')),
  characters: (value) => `${value.toLocaleString('en-US')} characters`,
  bytes: inBytes,
  milliseconds: (value) => (value >= 60_000 ? `${String(value / 60_000)} min` : `${String(value / 1000)} s`),
  instant: (value) => `the end of the year ${String(new Date(value).getUTCFullYear())}`,
  'power of two': (value) => `2^${String(value)}`,
};

function inBytes(value: number): string {
  if (value % 1_048_576 === 0) return `${String(value / 1_048_576)} MiB`;
  return `${String(value / 1024)} KiB`;
}
