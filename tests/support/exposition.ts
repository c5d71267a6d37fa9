/**
 * A strict reader of the text format of Prometheus, version 0.0.4. It knows only the grammar of the documentation of
 * Prometheus ("Exposition formats", "Text format details"), and refuses what that page leaves to chance.
 */

/** The lines of one metric. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const name = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const label = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^\\\\"]|\\\\[\\\\"n])*"';
const helpLine = new RegExp(`^# HELP (${name}) ((?:[^\\\\]|\\\\[\\\\n])*)$`);
const typeLine = new RegExp(`^# TYPE (${name}) (counter|gauge|histogram|summary|untyped)$`);
const sampleLine = new RegExp(`^(${name})(?:\\{(${label}(?:,${label})*)\\})? (\\S+)$`);
const number = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/;

/** Reads a text. Each metric must have its help and its type in front of its samples, each once. */
export function readExposition(text: string): readonly Family[] {
  if (!text.endsWith('\n')) throw new SyntaxError('The last line does not end with a line feed');
  const families: (Family & { readonly samples: Sample[] })[] = [];
  const lines = text.slice(0, -1).split('\n').values();
  const known = new Set<string>();
  for (const line of lines) {
    const family = families.at(-1);
    if (line.startsWith('#')) {
      const next = headOf(line, lines.next().value ?? '');
      if (families.some(({ name }) => name === next.name)) refuse(line);
      families.push({ ...next, samples: [] });
    } else if (family === undefined) refuse(line);
    else family.samples.push(sampleOf(line, family.name, known));
  }
  return families;
}

function headOf(first: string, second: string): Omit<Family, 'samples'> {
  const [, of = '', help = ''] = helpLine.exec(first) ?? refuse(first);
  const [, name = '', type = ''] = typeLine.exec(second) ?? refuse(second);
  return name === of ? { name, help: unescaped(help), type } : refuse(second);
}

/** Reads a line. No two lines of a metric have the same labels: those that are known are added to a set. */
function sampleOf(line: string, of: string, known: Set<string>): Sample {
  const [, metric, written = '', value = ''] = sampleLine.exec(line) ?? refuse(line);
  const pairs = [...written.matchAll(new RegExp(label, 'g'))].map(([pair]) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), unescaped(pair.slice(at + 2, -1))] as const;
  });
  const labels = Object.fromEntries(pairs);
  const place = JSON.stringify([metric, ...Object.entries(labels).toSorted()]);
  const isNew = !known.has(place);
  known.add(place);
  if (metric !== of || !number.test(value) || Object.keys(labels).length < pairs.length || !isNew)
    refuse(line);
  return { labels, value: Number(value.replace('Inf', 'Infinity')) };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_pair, letter: string) => (letter === 'n' ? '\n' : letter));
}

function refuse(line: string): never {
  throw new SyntaxError(`No line of the text format: ${line}`);
}
