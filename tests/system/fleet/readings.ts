/**
 * Clients that read at every node all the time, and the judge of what they have read: what a node shows between two
 * readings of the log must be true too.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { ask } from './ask.ts';
import type { NodeProcess } from './node-process.ts';
import { fieldsOf, type Listed } from './representation.ts';
import { valueAt, type Change, type Fields, type LoggedChange } from './shared-log.ts';

/** A change that a node was asked for. */
export interface Attempt extends Change {
  readonly node: string;
  /** When the client began to ask, and when it had the answer, by `performance.now()`. */
  readonly begun: number;
  readonly ended: number;
}

/** A change that a client got a 2xx for. */
export interface Acknowledged extends Attempt {
  /** The number of `fleet-position`. */
  readonly position: number;
}

/** What clients were told. */
interface Ledger {
  readonly acknowledged: readonly Acknowledged[];
  /** The changes without an answer that says whether they are made. The gateway may do them for a while. */
  readonly open: readonly Attempt[];
}

/** What a node has shown. */
interface Reading {
  readonly node: string;
  readonly target: string;
  readonly tag: string;
  readonly text: string;
  /** The configured values that it shows. */
  readonly fields: Fields;
  readonly begun: number;
  readonly ended: number;
}

/** The clocks of the server and of this process are one, but `at` and the commit are not one moment. */
const slackMs = 50;

/** The readings of a round. */
export class Readings {
  readonly #all: Reading[] = [];
  /** What commands were answered with: not always the whole representation. */
  readonly #answers: Reading[] = [];
  readonly #stopped = new AbortController();

  get count(): number {
    return this.#all.length;
  }

  /** Takes the answer of a command. */
  noteAnswer(answer: Omit<Reading, 'fields'>): void {
    this.#answers.push({ ...answer, fields: fieldsIn(answer.target, answer.text) });
  }

  /** Reads at every node until `stop`. */
  async run(nodes: readonly NodeProcess[]): Promise<void> {
    const own = nodes.map(({ name }) => `Own-${name}`);
    const targets = [
      ...['/services', '/servers', '/monitors', '/users', '/servers/Counted', '/services/Shared'],
      ...own.flatMap((name) => [`/services/${name}`, `/monitors/${name}`]),
    ];
    await Promise.all(nodes.map((node) => this.#readAll(node, targets)));
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** What nodes have shown that cannot be, given the log and the answers. */
  lies(begin: Fields, changes: readonly LoggedChange[], { acknowledged, open }: Ledger): readonly string[] {
    return [
      ...contradictions(this.#all, ({ tag, target, text }) => [`${target} ${tag}`, { body: text }]),
      ...contradictions([...this.#all, ...this.#answers], (reading) => [commandOf(reading), reading.fields]),
      ...missing(begin, changes, { acknowledged, open }, this.#all),
      ...disorder(begin, changes, acknowledged),
    ];
  }

  async #readAll(node: NodeProcess, targets: readonly string[]): Promise<void> {
    const latest = new Map<string, Reading>();
    for (let number = 0; !this.#stopped.signal.aborted; number += 1) {
      const target = targets[number % targets.length] ?? '';
      const before = latest.get(target);
      // Every other time as a client that has a copy.
      const reading = await read(node, target, number % 2 === 0 ? before : undefined);
      if (reading === undefined) await sleep(50);
      else latest.set(target, reading);
      if (reading !== undefined) this.#all.push(reading);
      // Most readings would show the same.
      await sleep(10);
    }
  }
}

/** Reads once. A 304 says that the copy is what the node shows. */
async function read(
  node: NodeProcess,
  target: string,
  copy: Reading | undefined,
): Promise<Reading | undefined> {
  const begun = performance.now();
  const headers: Readonly<Record<string, string>> = copy === undefined ? {} : { 'if-none-match': copy.tag };
  const response = await ask(node, 'GET', target, undefined, headers);
  const text = await response?.text().catch(() => undefined);
  const tag = response?.headers.get('etag') ?? undefined;
  if (response === undefined || text === undefined || tag === undefined) return undefined;
  const shown = { node: node.name, target, tag, begun, ended: performance.now() };
  if (response.status === 304 && copy !== undefined) return { ...copy, ...shown };
  return response.status === 200 ? { ...shown, text, fields: fieldsIn(target, text) } : undefined;
}

/** Target, epoch and command: the part of a tag that every node has. */
function commandOf({ target, tag }: Reading): string {
  return `${target} ${tag.split('.').slice(0, 2).join('.')}`;
}

function fieldsIn(target: string, text: string): Fields {
  const [, kind = '', name] = target.split('/');
  const shown = JSON.parse(text) as Listed | readonly Listed[];
  const listed = name === undefined ? (shown as readonly Listed[]) : [shown as Listed];
  return Object.fromEntries(listed.flatMap((each) => fieldsOf(kind, each)));
}

/** Whether a reading would show a field. */
function covers({ target }: Reading, field: string): boolean {
  return field.startsWith(`${target}/`) || field.startsWith(`${target} `);
}

/** Readings that have one tag, and not one content. */
function contradictions(
  readings: readonly Reading[],
  taggedOf: (reading: Reading) => readonly [tag: string, content: Fields],
): readonly string[] {
  const seen = new Map<string, Reading>();
  const lies = new Map<string, string>();
  for (const reading of readings) {
    const [tag, content] = taggedOf(reading);
    const first = seen.get(tag) ?? reading;
    seen.set(tag, first);
    const [, before] = taggedOf(first);
    const differing = Object.keys({ ...before, ...content }).filter(
      (field) => before[field] !== content[field],
    );
    if (differing.length === 0) continue;
    const [one, other] = [before, content].map((all) => JSON.stringify(differing.map((field) => all[field])));
    lies.set(
      tag,
      `The tag ${tag} has two contents: ${differing.join(', ')} is ${String(one)} at ${first.node} and ${String(other)} at ` +
        reading.node,
    );
  }
  return [...lies.values()];
}

/** Readings at a node that show neither what that node had acknowledged before, nor a later change. */
function missing(
  begin: Fields,
  changes: readonly LoggedChange[],
  { acknowledged, open }: Ledger,
  readings: readonly Reading[],
): readonly string[] {
  const lies = new Map<string, string>();
  for (const [field, own] of byField(acknowledged)) {
    const ofField = changes.filter((change) => change.field === field);
    for (const reading of readings.filter((each) => covers(each, field))) {
      const { node, begun, ended } = reading;
      const before = own.filter((each) => each.node === node && each.ended < begun);
      if (before.length === 0) continue;
      const position = Math.max(...before.map((each) => each.position));
      const until = performance.timeOrigin + ended + slackMs;
      const later = ofField.filter((change) => change.position > position && change.at <= until);
      // A node shows what its gateway does, also while the log does not have it yet.
      const begins = Math.max(...before.map((each) => each.begun));
      const tried = open.filter((each) => each.field === field && each.node === node && each.begun > begins);
      const possible = [
        valueAt(begin, ofField, field, position),
        ...[...later, ...tried].map(({ value }) => value),
      ];
      const shown = reading.fields[field];
      if (!possible.includes(shown))
        lies.set(
          `${node} ${field} ${String(position)}`,
          `${node} shows ${field} = ${String(shown)} after it had acknowledged position ${String(position)}, where it can be ` +
            `${JSON.stringify(possible)} only`,
        );
    }
  }
  return [...lies.values()];
}

/** Commands that were asked for after another one was acknowledged, and rest on what was before it. */
function disorder(
  begin: Fields,
  changes: readonly LoggedChange[],
  acknowledged: readonly Acknowledged[],
): readonly string[] {
  return [...byField(acknowledged)].flatMap(([field, commands]) => {
    const ofField = changes.filter((change) => change.field === field);
    return commands.flatMap((command) => {
      const { node, value, begun, position } = command;
      const what = `${node} has acknowledged ${field} = ${String(value)} at position ${String(position)}`;
      const earlier = commands.find((each) => each.ended < begun && each.position > position);
      if (earlier !== undefined)
        return [`${what}, and ${earlier.node} had acknowledged position ${String(earlier.position)} before`];
      const logged = valueAt(begin, ofField, field, position);
      return logged === value ? [] : [`${what}, where it is ${String(logged)}`];
    });
  });
}

function byField(acknowledged: readonly Acknowledged[]): ReadonlyMap<string, readonly Acknowledged[]> {
  const found = new Map<string, Acknowledged[]>();
  for (const each of acknowledged) found.set(each.field, [...(found.get(each.field) ?? []), each]);
  return found;
}
