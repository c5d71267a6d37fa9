/**
 * Places: what differs between two lists of links, as the links that come, go or move, each with the link before it.
 *
 * Such a list is a set with an order. Links are compared by {@link linkKey}; their spelling is no difference.
 */
import { linkKey } from './link.ts';

/**
 * Links of a list, each with the link before it; an empty text stands before the first. So
 * `{ "/servers/b": "/servers/a" }` says that b follows a.
 *
 * @internal
 */
export type Places = Readonly<Record<string, string>>;

/** The links that differ between two lists: their places in the one, and in the other. @internal */
export interface Moves {
  readonly from: Places;
  readonly to: Places;
}

/** A link of a list, with the link before it. */
interface Placed {
  readonly link: string;
  readonly behind: string;
}

/** Links of a list by their keys. */
type PlacedLinks = ReadonlyMap<string, Placed>;

/** Links that follow each other in a list, behind a link that is not one of them. */
interface Chain {
  /** The link before the chain. Empty if the chain begins the list. */
  readonly anchor: string;
  readonly links: readonly string[];
}

/** Gives the moves that lead from one list to another; `undefined` if none differs. @internal */
export function movesBetween(before: readonly string[], after: readonly string[]): Moves | undefined {
  const most = Math.min(before.length, after.length);
  let [start, end] = [0, 0];
  // Most often, few links of a long list differ, and maps of the others would take long.
  while (start < most && before[start] === after[start]) start += 1;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return withoutEqual(placedIn(before, start, end), placedIn(after, start, end));
}

/** Gives a list after moves. A link whose place is gone comes last. @internal */
export function withMoves(list: readonly string[], { from, to }: Moves): readonly string[] {
  const [left, placed] = [placesOf(from), placesOf(to)];
  const chains = chainsOf(placed);
  const rest = list.filter((link) => !left.has(linkKey(link)) && !placed.has(linkKey(link)));
  const inPlace = ['', ...rest].flatMap((link) => {
    const links = chains.get(linkKey(link))?.links ?? [];
    chains.delete(linkKey(link));
    return [link, ...links];
  });
  return [...inPlace.slice(1), ...[...chains.values()].flatMap(({ links }) => links)];
}

/**
 * Whether a list is not as moves expect it: a link that comes is there, one that goes is not, or one that moves has
 * moved already.
 *
 * @internal
 */
export function haveMovedMeanwhile(list: readonly string[], { from, to }: Moves): boolean {
  const [present, old, next] = [placedIn(list), placesOf(from), placesOf(to)];
  return [...keysOf(old, next)].some((key) => {
    const [here, expected] = [present.get(key), old.get(key)];
    if ((here === undefined) !== (expected === undefined)) return true;
    if (here === undefined || expected === undefined) return false;
    return next.has(key) && linkKey(here.behind) !== linkKey(expected.behind);
  });
}

/** Gives the moves that amount to two moves of one list; `undefined` if nothing is left. @internal */
export function joinedMoves(first: Moves, second: Moves): Moves | undefined {
  const back = carried(reversed(second), reversed(first));
  return withoutEqual(back, carried(first, second));
}

function reversed({ from, to }: Moves): Moves {
  return { from: to, to: from };
}

/** The places of the links of two moves in the list after both. */
function carried(first: Moves, second: Moves): PlacedLinks {
  const [left, placed] = [placesOf(second.from), placesOf(second.to)];
  const anchors = anchorsOf(chainsOf(left));
  const chains = chainsOf(placed);
  // What was before a link may have left, and other links may have come between.
  const nowBehind = (behind: string): string => {
    const anchor = anchors.get(linkKey(behind)) ?? behind;
    return chains.get(linkKey(anchor))?.links.at(-1) ?? anchor;
  };
  const stayed = [...placesOf(first.to)].filter(([key]) => !left.has(key) && !placed.has(key));
  return new Map([
    ...stayed.map(([key, { link, behind }]) => [key, { link, behind: nowBehind(behind) }] as const),
    ...placed,
  ]);
}

/**
 * Leaves out the links that are in both lists and in the same order: between the same links, those that begin or end
 * both chains.
 */
function withoutEqual(before: PlacedLinks, after: PlacedLinks): Moves | undefined {
  const [old, now] = [chainsOf(before), chainsOf(after)];
  const [oldAnchors, anchors] = [anchorsOf(old), anchorsOf(now)];
  const settledKeys = new Set<string>();
  for (const [anchor, chain] of old) {
    const inBoth = (links: readonly string[] = [], others: ReadonlyMap<string, string>): readonly string[] =>
      links.map(linkKey).filter((key) => others.has(key) && linkKey(others.get(key) ?? '') === anchor);
    const [one, other] = [inBoth(chain.links, anchors), inBoth(now.get(anchor)?.links, oldAnchors)];
    const differs = one.findIndex((key, at) => key !== other[at]);
    const start = differs === -1 ? one.length : differs;
    const end = one.findLastIndex((key, at) => key !== other[at]) + 1;
    for (const key of [...one.slice(0, start), ...one.slice(end)]) settledKeys.add(key);
  }
  const [from, to] = [before, after].map((placed) => writtenPlaces(placed, settledKeys)) as [Places, Places];
  return Object.keys({ ...from, ...to }).length === 0 ? undefined : { from, to };
}

function writtenPlaces(placed: PlacedLinks, without: ReadonlySet<string>): Places {
  const rest = [...placed].filter(([key]) => !without.has(key));
  return Object.fromEntries(rest.map(([, { link, behind }]) => [link, behind]));
}

function placesOf(places: Places): PlacedLinks {
  return new Map(Object.entries(places).map(([link, behind]) => [linkKey(link), { link, behind }]));
}

/** The links of a list, without some at its start and at its end. */
function placedIn(list: readonly string[], start = 0, end = 0): PlacedLinks {
  const links = list.slice(start, list.length - end);
  return new Map(
    links.map((link, at) => [linkKey(link), { link, behind: links[at - 1] ?? list[start - 1] ?? '' }]),
  );
}

function keysOf(one: PlacedLinks, other: PlacedLinks): ReadonlySet<string> {
  return new Set([...one.keys(), ...other.keys()]);
}

/** The chains of links by the key of the link before each. A circle, which no list has, belongs to no chain. */
function chainsOf(placed: PlacedLinks): Map<string, Chain> {
  const followers = new Map([...placed.values()].map(({ link, behind }) => [linkKey(behind), link]));
  const chains = new Map<string, Chain>();
  for (const { behind } of placed.values()) {
    const anchor = linkKey(behind);
    if (placed.has(anchor)) continue;
    const links: string[] = [];
    for (let link = followers.get(anchor); link !== undefined; link = followers.get(linkKey(link)))
      links.push(link);
    chains.set(anchor, { anchor: behind, links });
  }
  return chains;
}

/** The link before the chain of each link, by the key of the link. */
function anchorsOf(chains: ReadonlyMap<string, Chain>): ReadonlyMap<string, string> {
  const all = [...chains.values()];
  return new Map(all.flatMap(({ anchor, links }) => links.map((link) => [linkKey(link), anchor] as const)));
}
