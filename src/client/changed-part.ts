/**
 * Changed parts: what an update has changed, with the values before and after. The command line and the console show
 * the updates of plans, of the history and of the stream of events with them.
 */
import { parsePointer, valueAt } from '../json/pointer.ts';
import { isArray, type Json } from '../json/value.ts';
import type { Operation, Update } from '../index.ts';

/**
 * A part of a resource that an update changes.
 *
 * @beta
 */
export interface ChangedPart {
  /** What happens to the part. */
  readonly op: Operation['op'];
  /**
   * JSON Pointer of the part, such as `/parameters/zone`. A link in a list has itself, such as `/servers/db-1`, and a
   * word of a status one such as `/status/maintenance`.
   */
  readonly path: string;
  /** The value before; left out of what was not there, and of a secret. */
  readonly from?: string;
  /** The value after; left out of what is gone, and of a secret. */
  readonly to?: string;
  /** There for a link or a word in a list, which is `first`, or `after` another one. */
  readonly isListed?: true;
}

type Members = Readonly<Record<string, Json>>;

/**
 * Gives what an update has changed, part by part.
 *
 * @param event - an event of a plan, of an entry of the history or of the stream of events
 * @param textOf - writes a value
 * @returns the parts; none for an event that is no update
 *
 * @example
 * ```ts
 * import { changedParts } from 'gateway-admin-core/client';
 *
 * const operations = [{ op: 'replace', path: '/max_connection', value: 50 }];
 * const event = { from: { max_connection: 100 }, to: { max_connection: 50 }, operations };
 * changedParts(event, JSON.stringify); // => [{ op: 'replace', path: '/max_connection', from: '100', to: '50' }]
 * ```
 *
 * @beta
 */
export function changedParts(event: object, textOf: (value: Json) => string): readonly ChangedPart[] {
  const { from = {}, to = {}, operations } = event as Partial<Update<Members>>;
  if (operations === undefined) return [];
  // An operation on a list says where something changes, and not what.
  const others = operations.filter(({ path }) => !/^\/(?:servers|filters|state)(?:\/|$)/.test(path));
  return [
    ...others.map(({ op, path }) => {
      const tokens = parsePointer(path) ?? [];
      // In the place of what was declared secret since is `null`.
      const [old, now] = [from, to].map((members) => valueAt(members as Members, tokens) ?? undefined);
      return { op, path, ...textsOf(old, now, textOf) };
    }),
    ...['servers', 'filters', 'status'].flatMap((name) => listedParts(name, from[name], to[name])),
  ];
}

function textsOf<T extends Json>(
  from: T | undefined,
  to: T | undefined,
  textOf: (value: T) => string,
): Pick<ChangedPart, 'from' | 'to'> {
  return { ...(from !== undefined && { from: textOf(from) }), ...(to !== undefined && { to: textOf(to) }) };
}

/** What differs in a list of links or of words. */
function listedParts(name: string, from: Json = [], to: Json = []): readonly ChangedPart[] {
  const [old, now] = [placesIn(from, to), placesIn(to, from)];
  const textOf = (behind: string): string => (behind === '' ? 'first' : `after ${behind}`);
  return Object.keys({ ...old, ...now }).flatMap((key) => {
    const texts = textsOf(old[key], now[key], textOf);
    if (texts.from === texts.to) return [];
    const op = texts.from === undefined ? 'add' : texts.to === undefined ? 'remove' : 'replace';
    return [{ op, path: name === 'status' ? `/status/${key}` : key, ...texts, isListed: true as const }];
  });
}

/** What a list has and another has not, or has at another position, each with what stands before it. */
function placesIn(list: Json, other: Json): Readonly<Record<string, string>> {
  // An entry of the history has the places of links already.
  if (!isArray(list) || !isArray(other)) return list as Readonly<Record<string, string>>;
  const [here, there] = [new Set(list), new Set(other)];
  const order = other.filter((each) => here.has(each));
  const stays = new Set(list.filter((each) => there.has(each)).filter((each, at) => each === order[at]));
  const places = list.flatMap((each, at) => (stays.has(each) ? [] : [[each, list[at - 1] ?? '']]));
  return Object.fromEntries(places) as Readonly<Record<string, string>>;
}
