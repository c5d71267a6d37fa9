/**
 * Uses: what uses a resource, so that it cannot be deleted.
 */
import {
  unchanged,
  type Context,
  type DecisionOf,
  type EffectBase,
  type EventBase,
} from '../../core/decision.ts';
import { linkKey } from '../../core/link.ts';
import { formatPointer } from '../../json/pointer.ts';
import { problem, quoted, type Fault, type Problem } from '../../problem.ts';
import { collectionOf, find, linkOf, sessionsOf, type Settled, type State } from '../../snapshot/state.ts';
import type { NamedResources } from './kind.ts';

type Decision<S> = DecisionOf<S, EventBase, EffectBase>;

/** A list of links of a resource; empty if the kind has no such list. @internal */
export function listIn(settings: object, name: string): readonly string[] {
  return (settings as Readonly<Record<string, readonly string[] | undefined>>)[name] ?? [];
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
  thing: Settled,
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
): readonly ((snapshot: S, context: Context) => Decision<S>)[] {
  return referrersIn(snapshot, kinds, collection, link).map((each) => detaching<S>(each, link));
}

/** Gives the steps that put a link back into every list of a snapshot that has it. @internal */
export function relistingSteps<S extends State>(
  before: S,
  kinds: readonly NamedResources[],
  collection: string,
  link: string,
): readonly ((snapshot: S, context: Context) => Decision<S>)[] {
  return referrersIn(before, kinds, collection, link).map(({ named, thing }) => (snapshot, context) => {
    const present = find<Settled>(snapshot, named, thing.key);
    const update = named.adoption?.steps.update;
    return present === undefined || update === undefined
      ? unchanged(snapshot, [])
      : (update(snapshot, present, thing, context) as Decision<S>);
  });
}

/** A resource that lists another one. */
interface Referrer {
  readonly named: NamedResources;
  readonly thing: Settled;
  readonly field: string;
  readonly position: number;
}

/** The resources that list a link. */
function referrersIn(
  snapshot: State,
  kinds: readonly NamedResources[],
  collection: string,
  link: string,
): readonly Referrer[] {
  return kinds.flatMap((named) => {
    const listing = Object.entries(named.fields.links).flatMap(([name, target]) =>
      target === collection ? [name] : [],
    );
    if (listing.length === 0) return [];
    return [...collectionOf(snapshot, named)].flatMap((thing) =>
      listing.flatMap((field) => {
        const position = listIn(thing.settings, field).findIndex((each) => isSame(each, link));
        return position === -1 ? [] : [{ named, thing, field, position }];
      }),
    );
  });
}

function listedIn({ named: { collection, singular }, thing, field, position }: Referrer): Fault {
  return {
    pointer: formatPointer([collection, thing.name, field, position]),
    code: 'resource-in-use',
    detail: `is listed by the ${singular} ${quoted(thing.name)}`,
  };
}

/** Links by their keys: a name used again can be spelt in another way. */
function isSame(one: string, other: string): boolean {
  return one === other || linkKey(one) === linkKey(other);
}

/** Takes a link out of the list of a resource. */
function detaching<S extends State>({ named, thing: { key }, field }: Referrer, link: string) {
  return (snapshot: S, context: Context): Decision<S> => {
    const present = find<Settled>(snapshot, named, key);
    const update = named.adoption?.steps.update;
    if (present === undefined || update === undefined) return unchanged(snapshot, []);
    const rest = Object.freeze(listIn(present.settings, field).filter((each) => !isSame(each, link)));
    const wanted = { ...present, settings: { ...present.settings, [field]: rest } };
    return update(snapshot, present, wanted, context) as Decision<S>;
  };
}

/** What keeps a resource from being deleted, besides the lists of others. */
function usesOf(snapshot: State, named: NamedResources, thing: Settled): readonly Fault[] {
  const { singular, adoption } = named;
  const { state } = thing as { readonly state?: string };
  const open = openIn(snapshot, named, thing);
  const runs = adoption?.steps.stop !== undefined && state !== 'stopped';
  return [
    ...(runs ? [faultAt(named, thing, 'state', `is not stopped: stop the ${singular} first`)] : []),
    ...(open === undefined ? [] : [open]),
  ];
}

/** What is open on a resource; `undefined` if nothing is. @internal */
export function openIn(snapshot: State, named: NamedResources, thing: Settled): Fault | undefined {
  const table = sessionsOf(snapshot);
  const { collection } = named;
  const what = collection === 'services' ? 'sessions' : 'connections';
  const count =
    collection === 'services'
      ? table.countOfService(thing.key)
      : collection === 'servers'
        ? table.countOfServer(thing.key)
        : 0;
  const detail = `has open ${what} (${String(count)}): close them first`;
  return count === 0 ? undefined : faultAt(named, thing, what, detail);
}

function faultAt({ collection }: NamedResources, { name }: Settled, member: string, detail: string): Fault {
  return { pointer: formatPointer([collection, name, member]), code: 'resource-in-use', detail };
}

function inUse({ singular }: NamedResources, thing: Settled, faults: readonly Fault[]): Problem {
  const [first] = faults;
  const more = faults.length > 1 ? ` (and ${String(faults.length - 1)} more; see errors)` : '';
  const detail = `The ${singular} ${quoted(thing.name)} cannot be deleted: it ${first?.detail ?? 'is in use'}${more}.`;
  return problem('resource-in-use', `${detail} Nothing was changed.`, faults);
}
