/**
 * Uses of a resource: what keeps it from being deleted, and the steps that take its link out of lists and put it back.
 */
import type { FoldContext, TransitionOf } from '../../core/decision.ts';
import { linkKey } from '../../core/link.ts';
import { formatPointer } from '../../json/pointer.ts';
import { problem, quoted, type Fault, type Problem } from '../../problem.ts';
import {
  collectionOf,
  linkOf,
  replace,
  sessionsOf,
  type ConfiguredEntity,
  type State,
} from '../../snapshot/state.ts';
import { takeStep, type NamedResources } from './kind.ts';

/** The links in a field of a resource; none if the kind has no such field. @internal */
export function linksIn(settings: object, field: string): readonly string[] {
  return (settings as Readonly<Record<string, readonly string[] | undefined>>)[field] ?? [];
}

/** All links of a resource, or of its definition. @internal */
export function linksOf(
  { fields }: NamedResources,
  { settings }: Pick<ConfiguredEntity, 'settings'>,
): readonly string[] {
  return Object.keys(fields.links).flatMap((field) => linksIn(settings, field));
}

/**
 * Gives the refusal to delete a resource, with a fault for each use; `undefined` if nothing uses the resource.
 *
 * @param kinds - the kinds whose resources can list others
 * @internal
 */
export function refusalInUse(
  snapshot: State,
  kinds: readonly NamedResources[],
  named: NamedResources,
  thing: ConfiguredEntity,
): Problem | undefined {
  const referrers = referrersIn(snapshot, kinds, named.collection, linkOf(named.collection, thing));
  const faults = [...usesOf(snapshot, named, thing), ...referrers.map(listedIn)];
  return faults.length === 0 ? undefined : inUse(named, thing, faults);
}

/** Gives the steps that take a link out of the lists of all resources. @internal */
export function detachingSteps<S extends State>(
  snapshot: S,
  kinds: readonly NamedResources[],
  collection: string,
  link: string,
): readonly TransitionOf<S>[] {
  return referrersIn(snapshot, kinds, collection, link).map(({ named, thing: { key }, field }) =>
    takeStep('update', named, key, withoutLink(field, link)),
  );
}

/**
 * Takes a link out of the lists of all resources, because what it names is deleted. Nothing lists what a decision
 * deletes. But what the gateway has deleted for a command that is over may be listed by then.
 *
 * @internal
 */
export function detachAll<S extends State>(
  snapshot: S,
  kinds: readonly NamedResources[],
  collection: string,
  link: string,
  fold: FoldContext,
): S {
  return referrersIn(snapshot, kinds, collection, link).reduce(
    (next, { named, thing: { key }, field }) => replace(next, named, key, fold, withoutLink(field, link)),
    snapshot,
  );
}

function withoutLink(field: string, link: string): <T extends ConfiguredEntity>(thing: T) => T {
  const key = linkKey(link);
  return (thing) => {
    const links = Object.freeze(linksIn(thing.settings, field).filter((each) => linkKey(each) !== key));
    return { ...thing, settings: Object.freeze({ ...thing.settings, [field]: links }) };
  };
}

/** Gives the steps that put a link back into every list of a snapshot that has it. @internal */
export function relistingSteps<S extends State>(
  before: S,
  kinds: readonly NamedResources[],
  collection: string,
  link: string,
): readonly TransitionOf<S>[] {
  return referrersIn(before, kinds, collection, link).map(({ named, thing }) =>
    takeStep('update', named, thing.key, () => thing),
  );
}

/** A resource that lists another one. */
interface Referrer {
  readonly named: NamedResources;
  readonly thing: ConfiguredEntity;
  readonly field: string;
  readonly position: number;
}

/** The resources that list a link, with each field that lists it. */
function referrersIn(
  snapshot: State,
  kinds: readonly NamedResources[],
  collection: string,
  link: string,
): readonly Referrer[] {
  const key = linkKey(link);
  const found: Referrer[] = [];
  for (const named of kinds) {
    const listing = Object.entries(named.fields.links).flatMap(([name, target]) =>
      target === collection ? [name] : [],
    );
    if (listing.length === 0) continue;
    for (const thing of collectionOf(snapshot, named))
      for (const field of listing) {
        const position = positionOf(key, linksIn(thing.settings, field));
        if (position !== undefined) found.push({ named, thing, field, position });
      }
  }
  return found;
}

/**
 * Compares links by their keys: a name used again can be spelt in another way. A loop, because it looks at every link
 * of a gateway, and the methods of frozen arrays are slow on Node 20.
 */
function positionOf(key: string, links: readonly string[]): number | undefined {
  let position = 0;
  for (const link of links) {
    if (linkKey(link) === key) return position;
    position += 1;
  }
  return undefined;
}

function listedIn({ named: { collection, singular }, thing, field, position }: Referrer): Fault {
  return {
    pointer: formatPointer([collection, thing.name, field, position]),
    code: 'resource-in-use',
    detail: `is listed by the ${singular} ${quoted(thing.name)}`,
  };
}

/** What keeps a resource from being deleted, besides the lists of others. */
function usesOf(snapshot: State, named: NamedResources, thing: ConfiguredEntity): readonly Fault[] {
  const { state = 'stopped' } = thing as { readonly state?: string };
  const open = openOn(snapshot, named, thing);
  const detail = `is not stopped: stop the ${named.singular} first`;
  return [
    ...(state === 'stopped' ? [] : [faultAt(named, thing, 'state', detail)]),
    ...(open === undefined ? [] : [open]),
  ];
}

/** The fault of a resource on which something is open; `undefined` if nothing is. @internal */
export function openOn(snapshot: State, named: NamedResources, thing: ConfiguredEntity): Fault | undefined {
  const table = sessionsOf(snapshot);
  const fault = (what: string, count: number): Fault | undefined =>
    count === 0
      ? undefined
      : faultAt(named, thing, what, `has open ${what} (${String(count)}): close them first`);
  if (named.collection === 'services') return fault('sessions', table.countOfService(thing.key));
  if (named.collection === 'servers') return fault('connections', table.countOfServer(thing.key));
  return undefined;
}

function faultAt(
  { collection }: NamedResources,
  { name }: ConfiguredEntity,
  member: string,
  detail: string,
): Fault {
  return { pointer: formatPointer([collection, name, member]), code: 'resource-in-use', detail };
}

function inUse({ singular }: NamedResources, thing: ConfiguredEntity, faults: readonly Fault[]): Problem {
  const [first] = faults;
  const more = faults.length > 1 ? ` (and ${String(faults.length - 1)} more)` : '';
  const detail = `The ${singular} ${quoted(thing.name)} cannot be deleted: it ${first?.detail ?? 'is in use'}${more}.`;
  return problem('resource-in-use', `${detail} Nothing was changed.`, faults);
}
