/**
 * The page about limits: written from the table that the contract tests try.
 */
import { limits } from '../contract/limit.ts';
import type { Limit, Unit } from '../support/limit.ts';

const head = `# Limits

The value in a table is accepted, and one more gets the answer in the last column. For a time, the last column applies
when the time has elapsed.

## Change a limit

\`createAdmin({ limits: { maxQueued: 100 } })\` sets a limit, and so does \`openAdmin\`. A limit is a whole number from 1 on;
times are in milliseconds. Any other value is a \`RangeError\`, and an unknown limit a \`TypeError\` that names the known ones.

**Timeouts of clients.** A command takes the time until its turn, then at most twice \`effectDeadlineMs\` for each effect,
then the time of the store. Give clients and proxies a longer timeout. Otherwise they disconnect before a 504 arrives.

## Limits that you can change
`;

const fixedHead = `## Fixed limits

[document.md](document.md) has the bounds of each field, [patching.md](patching.md#find-out-why-a-patch-is-refused) the
refusals of a patch, and [plan-and-undo.md](plan-and-undo.md) how long an entry of the history is kept. A sentence for people
is cut, at the earliest after 255 characters. The rules of \`applyPatch\` can be set in \`gateway-admin-core/json\` only.
`;

const columns = ['Default', 'Bounds', 'Beyond the limit'];

/** The chapters whose fixed limits are on the pages of the fields and of the answers. */
const elsewhere: readonly string[] = ['Values', 'Answers'];

/** Writes the whole page. */
export function limitsPage(): string {
  const all = Object.values(limits).flat();
  const fixed = Object.entries(limits)
    .filter(([title]) => !elsewhere.includes(title))
    .flatMap(([, rows]) =>
      rows.filter(({ option, beyond }) => option === undefined && beyond !== 'the text is cut'),
    );
  const options = all.filter(({ option }) => option !== undefined);
  return [
    head,
    table(
      ['Option', ...columns],
      options.map((limit) => [`\`${limit.option ?? ''}\``, ...cells(limit)]),
    ),
    fixedHead,
    table(columns.with(0, 'Limit'), fixed.map(cells)),
  ].join('\n');
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles, titles.map(() => '---'), ...rows];
  return [...lines.map((line) => `| ${line.join(' | ')} |`), ''].join('\n');
}

function cells(limit: Limit): readonly string[] {
  const rule = limit.rule === undefined ? '' : ` (\`${limit.rule}\`)`;
  return [written[limit.unit ?? 'number'](limit.value), `${limit.bounds}${rule}`, answerOf(limit)];
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
