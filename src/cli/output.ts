/**
 * Output: tables for people, JSON for programs. Only a terminal with colours gets colours. Control characters in texts
 * of a gateway are never printed.
 */
import { createInterface, type Interface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { styleText } from 'node:util';

import { valuesAt, type Path } from './json-path.ts';
import { plurals } from './kind.ts';

type Style = Parameters<typeof styleText>[0];

/** A row of a table, from the name of a column to the text. */
export type Cells = readonly string[];

/** The form of an output. */
interface Form {
  /** `json` or `jsonpath`; of a list also `wide` or `name`; left out for a table. */
  readonly name?: string;
  /** The path of the values that are printed in place of all JSON. */
  readonly path?: Path;
}

/** Writes to the standard output, and remarks to the standard error output. */
export class Output {
  /** Whether programs read the output. */
  readonly isJson: boolean;
  readonly #form: Form;
  readonly #stdout: NodeJS.WriteStream;
  readonly #stderr: NodeJS.WriteStream;

  constructor(
    { stdout, stderr }: { readonly stdout: NodeJS.WriteStream; readonly stderr: NodeJS.WriteStream },
    form: Form = {},
  ) {
    this.#form = form;
    this.isJson = form.name?.startsWith('json') === true;
    this.#stdout = stdout;
    this.#stderr = stderr;
  }

  /** Prints lines. */
  lines(...lines: readonly string[]): void {
    this.#stdout.write(lines.map((line) => `${line}\n`).join(''));
  }

  /** Prints a value for programs. */
  json(value: unknown): void {
    this.#value(value, 2);
  }

  /** Prints a value for programs, in one line. */
  jsonLine(value: unknown): void {
    this.#value(value);
  }

  /** Whether a list has this form. */
  is(form: 'wide' | 'name'): boolean {
    return this.#form.name === form;
  }

  #value(value: unknown, indent?: number): void {
    const { path } = this.#form;
    if (path === undefined) return this.lines(jsonText(value, indent));
    const texts = valuesAt(value, path).map((each) =>
      typeof each === 'string' ? safeText(each) : jsonText(each),
    );
    // One text: a call takes only so many arguments.
    if (texts.length > 0) this.lines(texts.join('\n'));
  }

  /** Prints a table, without borders. A state has a colour. */
  table(header: Cells, rows: readonly Cells[]): void {
    const titles = header.map((title) => safeText(title).replaceAll('_', ' ').toUpperCase());
    const [head = '', ...lines] = columns([titles, ...rows], (cell, at) => {
      const style = stateStyles.find(
        ({ titled, words }) => titled.includes(header[at] ?? '') && words.test(cell),
      );
      return style === undefined ? cell : this.style(style.style, cell);
    });
    // One text: a call takes only so many arguments.
    this.lines([this.style('dim', head), ...lines].join('\n'));
  }

  /** Tells the user something that is no result. Programs do not get it. */
  note(text: string): void {
    if (!this.isJson) this.#stderr.write(`${text}\n`);
  }

  /** Shows something on the last line of the terminal, until the next call; nothing if the user does not look. */
  progress(text: string): void {
    if (!this.isJson && this.#stderr.isTTY) this.#stderr.write(`\r\x1b[K${text}`);
  }

  style(style: Style, text: string): string {
    // The default of styleText looks at the terminal of the process, not at this stream.
    const hasColours = this.#stdout.isTTY && this.#stdout.hasColors();
    return hasColours ? styleText(style, text, { validateStream: false }) : text;
  }
}

/** A wider cell stands out of its column: a single long name would push the other columns off every screen. */
const widestColumn = 60;

/** The colours of states, the worst one first. */
const stateStyles: readonly {
  readonly titled: readonly string[];
  readonly words: RegExp;
  readonly style: Style;
}[] = [
  { titled: ['state', 'status', 'level'], words: /^(?:failed|down|error|silent)\b/, style: 'red' },
  {
    titled: ['state', 'status', 'level'],
    words: /\b(?:stopped|maintenance|draining|drained|warning)\b/,
    style: 'yellow',
  },
  { titled: ['state', 'status'], words: /\b(?:started|running|alive)\b/, style: 'green' },
];

/**
 * Lays rows out in columns, two spaces apart.
 *
 * @param paint - gives a cell its colour
 */
export function columns(
  rows: readonly Cells[],
  paint: (cell: string, column: number) => string = (cell) => cell,
): readonly string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) {
      const width = widthOf(cell);
      widths[at] = Math.max(widths[at] ?? 0, width > widestColumn ? 0 : width);
    }
  return rows.map((row) =>
    row
      .map((cell, at) => paint(cell, at) + ' '.repeat(Math.max((widths[at] ?? 0) - widthOf(cell), 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** Knows how wide a terminal shows each character: the place of the cursor behind a text. */
let ruler: Interface | undefined;

/** The number of columns of a terminal that a text needs: two for a wide character. */
function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  ruler ??= createInterface(new PassThrough());
  ruler.setPrompt(text);
  return ruler.getCursorPos().cols;
}

/** Characters that change the terminal, or the direction of the writing. JSON leaves some of them as they are. */
const unsafe = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A value as JSON. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(unsafe, (character) =>
    character === '\n' ? character : escaped(character),
  );
}

/** A text of the interface for a terminal: a name must not move the cursor. */
export function safeText(text: string): string {
  return text.replace(unsafe, escaped);
}

/** A text that has lines. */
export function safeLines(text: string): string {
  return text.split('\n').map(safeText).join('\n');
}

/** The escape of JSON. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** A value of a representation in a cell of a table. */
export function cellOf(value: unknown): string {
  if (value === undefined || value === '') return '-';
  if (typeof value === 'string') return safeText(shortLink(value));
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cellOf).join(', ');
  if (typeof value !== 'object' || value === null) return jsonText(value);
  const members = Object.entries(value).map(([name, member]) => `${safeText(name)}=${cellOf(member)}`);
  return members.length === 0 ? '-' : members.join(' ');
}

/** A field of a resource in a cell: times in one form, and a word for a server that is down. */
export function fieldCell(name: string, value: unknown): string {
  if (name === 'progress' && isProgress(value)) return `${String(value.done)} of ${String(value.of)} parts`;
  if (name === 'status' && Array.isArray(value) && value.length === 0) return 'down';
  return typeof value === 'string' ? timeText(value) : cellOf(value);
}

function isProgress(value: unknown): value is Record<'done' | 'of', unknown> {
  return typeof value === 'object' && value !== null && 'done' in value && 'of' in value;
}

const months = 'JanFebMarAprMayJunJulAugSepOctNovDec';

/** The three forms in which the interface writes times, all of them in its own time zone. */
const timeForms = [
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)T(?<time>[\d:]{8})[+-]\d\d:\d\d$/,
  /^[A-Z][a-z]{2}, (?<day>\d\d) (?<name>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>[\d:]{8}) [+-]\d{4}$/,
  /^[A-Z][a-z]{2} (?<name>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>[\d:]{8}) (?<year>\d{4})$/,
];

/** A time of the interface in one form, such as `2016-09-09 14:12:37`; any other text as a cell has it. */
export function timeText(text: string): string {
  for (const form of timeForms) {
    const { year = '', month, name = '', day = '', time = '' } = form.exec(text)?.groups ?? {};
    const number = month ?? String(months.indexOf(name) / 3 + 1).padStart(2, '0');
    if (year !== '') return `${year}-${number}-${day.replace(' ', '0')} ${time}`;
  }
  return cellOf(text);
}

const ofOneResource = new RegExp(`^/(?:${plurals.join('|')})/(?=[^/]+$)`);

/** A link without its collection: the column says what the link names. */
function shortLink(text: string): string {
  return text.replace(ofOneResource, '');
}

/** A number of things, such as `1 session`. An answer can have a text in place of the number. */
export function counted(count: number, thing: string): string {
  return safeText(`${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`);
}
