/**
 * The page about bad input: written from the tables that the contract tests send.
 */
import { problemTable } from 'gateway-admin-core';

import { badInputs, fineInputs } from '../contract/bad-input.ts';
import type { BadInput, Input } from '../support/input.ts';

const head = `# Bad input

What the interface answers to input that is damaged, hostile or simply wrong. After each of these answers nothing has
changed: no event, no call of the gateway, no record in the store, the same revision. The reasons are in
[spec-choices.md](spec-choices.md).

This page is written by \`npm run pages\` from the tables of the contract tests, which send every row. An answer with
many rows shows the first ones and their number. A patch is written in short form: \`replace /port 0\` is
\`{"op":"replace","path":"/port","value":0}\`.
`;

/** The chapters, by the kind of input. */
const titles: Readonly<Record<string, string>> = {
  'bytes and JSON': 'Bytes and JSON',
  'no patch': 'JSON that is no patch',
  'a patch': 'Patches',
  'a value': 'Values in patches',
  'a user': 'Admin users',
  'a target': 'Paths and queries',
  'a command while read-only': 'Commands to a read-only interface',
};

const mostExamples = 10;
const longestExample = 70;

/** Writes the whole page. */
export function badInputPage(): string {
  const chapters = Object.entries(badInputs).map(([kind, rows]) => chapter(titles[kind] ?? kind, rows));
  const fine = listOf(fineInputs, fineInputs.length);
  return [head, ...chapters, '## Accepted, although unusual\n', fine].join('\n');
}

function chapter(title: string, rows: readonly BadInput[]): string {
  const answers = [...new Set(rows.map(({ code }) => code))].map((code) => {
    const inputs = rows.filter((row) => row.code === code);
    return `### ${String(problemTable[code].status)} \`${code}\`\n\n${listOf(inputs, mostExamples)}`;
  });
  return [`## ${title}\n`, ...answers].join('\n');
}

function listOf(inputs: readonly Input[], most: number): string {
  const all = [...new Set(inputs.map(({ what }) => shown(what)))];
  const more = all.length > most ? [`and ${String(all.length - most)} more`] : [];
  return [...all.slice(0, most), ...more].map((each) => `- ${each}\n`).join('');
}

const code =
  /^(?:GET|HEAD|PUT|POST|DELETE|PATCH|PROPFIND|PURGE|LOCK|add|remove|test|move|copy|replace)\b|[^\w ,'()/+.-]/;

/** Text for people stays text, and what a client sends becomes code. */
function shown(what: string): string {
  if (!code.test(what) && what.length <= longestExample) return what;
  const visible = what.replace(/[^\x20-\x7e]/gu, (character) => JSON.stringify(character).slice(1, -1));
  const short = visible.length > longestExample ? `${visible.slice(0, longestExample)}…` : visible;
  const fence = short.includes('`') ? '``' : '`';
  return `${fence}${short.trim()}${fence}`;
}
