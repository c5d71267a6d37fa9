/**
 * Answers of HTTP as blocks of a page.
 */
import { STATUS_CODES } from 'node:http';

/** An answer, with the names of its headers in lower case. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** The headers of every answer, and of the connection. The introductions of the pages say that they are left out. */
const hidden: ReadonlySet<string> = new Set([
  'cache-control',
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'x-content-type-options',
]);

/** Writes an answer as a block: the status line, the headers of this answer, and the body. */
export function httpBlock(answer: Answer): string {
  return ['```http', headOf(answer), ...(answer.text === '' ? [] : ['', bodyOf(answer)]), '```\n'].join('\n');
}

function headOf({ status, headers }: Answer): string {
  const names = Object.keys(headers).filter((name) => !hidden.has(name));
  const lines = names.toSorted().map((name) => `${name}: ${headers[name] ?? ''}`);
  return [`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`, ...lines].join('\n');
}

/** JSON on lines of its own; any other text as it is. */
function bodyOf({ headers, text }: Answer): string {
  const isJson = headers['content-type']?.includes('json') === true;
  return isJson ? linesOf(JSON.parse(text), '') : text.trimEnd();
}

const longestMember = 60;

/** JSON with a line for each member, as `jq` shows it; a short member is on one line, as it is sent. */
function linesOf(value: unknown, indent: string): string {
  const sent = JSON.stringify(value);
  const isShort = indent !== '' && sent.length <= longestMember;
  if (typeof value !== 'object' || value === null || sent.length === 2 || isShort) return sent;
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => linesOf(item, inner))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${linesOf(member, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open ?? ''}\n${lines.map((line) => inner + line).join(',\n')}\n${indent}${close ?? ''}`;
}
