/**
 * Adoption: a running interface becomes as another configuration, as far as that can change at run time. The other one
 * comes from a gateway document, from an earlier moment, or from the other nodes of a fleet.
 */
import { refused, unchanged, type Context, type DecisionOf, type TransitionOf } from '../../core/decision.ts';
import { formatPointer } from '../../json/pointer.ts';
import type { Note } from '../../core/note.ts';
import { ok, problem, problemOf, type Fault, type Problem, type Result } from '../../problem.ts';
import { collectionOf, find, linkOf, type ConfiguredEntity, type State } from '../../snapshot/state.ts';
import {
  documentDifferences,
  fixedMember,
  keyIn,
  selectedIn,
  type DocumentDifference,
  type Scope,
} from './document-difference.ts';
import { takeStep, type NamedResources } from './kind.ts';
import { linkOfCollection } from './look-up.ts';
import { definitionOf, type DeletionOptions, type Membership } from './membership.ts';
import { relistingSteps } from './use.ts';

/**
 * The options of {@link adoptDocument}.
 *
 * @public
 */
export interface AdoptOptions {
  /** Links of the resources to take over, such as `/services/Sales`; all resources by default. */
  readonly only?: readonly string[];
  /**
   * Deletes the resources that the document lacks; by default they stay as they are. A kind of which the document has
   * no list stays as it is too.
   */
  readonly prune?: boolean;
  /** Allows `prune` to leave no resource at all; by default that is refused with `document-empty`. */
  readonly allowEmpty?: boolean;
}

/** The options of {@link adoptDocument} and of what else adopts a snapshot. @internal */
export interface AdoptionOptions extends AdoptOptions {
  /** Tests whether a collection is compared; by default each one is. */
  readonly isCompared?: (named: NamedResources) => boolean;
  /** Deletes a resource that differs where no running gateway can change it, and creates it as in the document. */
  readonly replace?: boolean;
}

/**
 * Creates the transition that takes a document over: one decision about all resources.
 *
 * @param membership - creates and deletes resources
 * @param compared - the collections of a document
 * @internal
 */
export function adoptionFor<S extends State>(
  membership: Membership<S>,
  compared: readonly NamedResources<S>[],
): (snapshot: S, given: S, context: Context, options: AdoptionOptions) => DecisionOf<S> {
  const adopting = compared.filter(({ adoption }) => adoption !== undefined);
  const { combine } = membership;
  return (snapshot, given, context, options) => {
    const { only, prune = false, allowEmpty = false, replace = false, isCompared = () => true } = options;
    const scope = scopeOf(only, adopting, [snapshot, given]);
    if (!scope.ok) return refused(snapshot, scope.problem);
    if (!adopting.some(isCompared)) return unchanged(snapshot, [], [nothingCompared(adopting)]);
    // What is named is looked at, if only to say that it stays.
    const kinds = only === undefined ? adopting.filter(isCompared) : adopting;
    const differences = documentDifferences(kinds, snapshot, given, scope.value);
    const isReplaced = ({ obstacle }: DocumentDifference): boolean => replace && obstacle === fixedMember;
    const replaced = new Set(differences.filter(isReplaced).map(({ resource }) => resource));
    const all = kinds.flatMap((named) => chosenIn(named, { snapshot, given }, scope.value));
    const isLeft = ({ named, wanted }: Chosen<S>): boolean =>
      wanted === undefined && !(prune && isCompared(named));
    const [chosen, left] = [all.filter((one) => !isLeft(one)), all.filter(isLeft)];
    const resources = [
      ...chosen.map(linkOfChosen),
      // That nothing else is there rests on the collections.
      ...(prune && only === undefined ? kinds.map(linkOfCollection) : []),
    ];
    const empties = leavesNothing(chosen, adopting, snapshot);
    if (!allowEmpty && empties) return refused(snapshot, problemOfEmpty(chosen), resources);
    const obstacles = differences.filter((each) => !isReplaced(each)).flatMap(faultOf);
    if (obstacles.length > 0) return refused(snapshot, problemOfObstacles(obstacles), resources);
    const notes = [...(empties ? [deletesEverything] : []), ...leftNotes(left.map(linkOfChosen))];
    const restsOn: TransitionOf<S> = () => unchanged(snapshot, resources, notes);
    return combine([restsOn, ...stepsOf(chosen, replaced, adopting, membership)])(snapshot, context);
  };
}

/** The note about a document that says nothing of any of these kinds. @internal */
export function nothingCompared(adopting: readonly NamedResources[]): Note {
  const members = adopting.map(({ collection }) => collection).join(', ');
  const detail = `Nothing was compared: the document has none of the members ${members}`;
  return { code: 'nothing-compared', detail };
}

/** Whether an adoption deletes all that there is, and creates nothing. */
function leavesNothing<S extends State>(
  chosen: readonly Chosen<S>[],
  adopting: readonly NamedResources<S>[],
  snapshot: S,
): boolean {
  const present = adopting.reduce((sum, named) => sum + collectionOf(snapshot, named).size, 0);
  return present > 0 && present === chosen.length && chosen.every(({ wanted }) => wanted === undefined);
}

function problemOfEmpty<S extends State>(chosen: readonly Chosen<S>[]): Problem {
  const counts = new Map<string, number>();
  for (const { named } of chosen) counts.set(named.singular, (counts.get(named.singular) ?? 0) + 1);
  const all = [...counts].map(([kind, count]) => `${String(count)} ${kind}${count === 1 ? '' : 's'}`);
  return problem(
    'document-empty',
    `The document would delete everything: ${all.join(', ')}. Nothing was changed. To delete all that there is, allow ` +
      'that nothing is left: with allow_empty=true beside prune=true or, in a program, with allowEmpty beside prune.',
  );
}

const deletesEverything: Note = {
  code: 'deletes-everything',
  detail: 'No server, service, monitor or filter is left then.',
};

/** The largest number of resources that notes name as left behind. */
const mostLeftBehind = 10;

/** The notes about resources that a document lacks, and that stay. */
function leftNotes(links: readonly string[]): readonly Note[] {
  const code = 'left-as-it-is';
  const why = 'not in the document, left as';
  const count = links.length - mostLeftBehind;
  return [
    ...links
      .slice(0, mostLeftBehind)
      .map((resource) => ({ code, resource, detail: `${resource}: ${why} it is` })),
    ...(count > 0 ? [{ code, count, detail: `${String(count)} more: ${why} they are` }] : []),
  ];
}

/** A resource that an adoption is about. */
interface Chosen<S extends State> {
  readonly named: NamedResources<S>;
  /** The resource in use; the one of the document if there is none in use. */
  readonly thing: ConfiguredEntity;
  /** The resource in the document; left out if the resource must go. */
  readonly wanted?: ConfiguredEntity;
  readonly isNew: boolean;
}

function linkOfChosen<S extends State>({ named, thing }: Chosen<S>): string {
  return linkOf(named.collection, thing);
}

function chosenIn<S extends State>(
  named: NamedResources<S>,
  { snapshot, given }: { readonly snapshot: S; readonly given: S },
  scope: Scope,
): readonly Chosen<S>[] {
  const present = selectedIn(snapshot, named, scope).map((thing): Chosen<S> => {
    const wanted = find(given, named, thing.key);
    return { named, thing, ...(wanted && { wanted }), isNew: false };
  });
  const added = selectedIn(given, named, scope).filter(({ key }) => find(snapshot, named, key) === undefined);
  return [...present, ...added.map((wanted) => ({ named, thing: wanted, wanted, isNew: true }))];
}

/**
 * The steps of an adoption. Stops come before starts, because a start may need a port that a stop frees. A resource
 * that others list is created before them, and deleted after them.
 *
 * @param replaced - the links of the resources that are deleted and created
 */
function stepsOf<S extends State>(
  chosen: readonly Chosen<S>[],
  replaced: ReadonlySet<string>,
  kinds: readonly NamedResources<S>[],
  membership: Membership<S>,
): readonly TransitionOf<S>[] {
  const isListing = ({ named }: Chosen<S>): boolean => Object.keys(named.fields.links).length > 0;
  const [listed, listing] = [chosen.filter((one) => !isListing(one)), chosen.filter(isListing)];
  const deleted = [...listing, ...listed].filter(({ wanted }) => wanted === undefined);
  const kept = chosen.filter(({ wanted }) => wanted !== undefined);
  // What is created is stopped, and has every setting.
  const isThere = ({ isNew }: Chosen<S>): boolean => !isNew;
  return [
    ...[...listed, ...listing].flatMap((one): readonly TransitionOf<S>[] => {
      if (one.isNew) return [creation(one, membership)];
      const replace: TransitionOf<S> = (now, context) =>
        membership.combine(replacing(one, kinds, now, membership))(now, context);
      return replaced.has(linkOfChosen(one)) ? [replace] : [];
    }),
    ...chosen.filter(isThere).map((one) => step('stop', one)),
    ...(['remove', 'update', 'add'] as const).flatMap((name) =>
      kept.filter(isThere).map((one) => step(name, one)),
    ),
    ...kept.map((one) => step('start', one)),
    ...deleted.map((one) => deletion(one, membership)),
  ];
}

/** The steps that put a resource in the place of another one with its name, in every list. */
function replacing<S extends State>(
  { named, thing, wanted = thing }: Chosen<S>,
  kinds: readonly NamedResources<S>[],
  snapshot: S,
  membership: Membership<S>,
): readonly TransitionOf<S>[] {
  const gone = { named, thing, isNew: false };
  return [
    step('stop', gone),
    deletion(gone, membership, { detach: true }),
    creation({ named, thing: wanted, isNew: true }, membership),
    ...relistingSteps(snapshot, kinds, named.collection, linkOfChosen(gone)),
  ];
}

function creation<S extends State>({ named, thing }: Chosen<S>, { create }: Membership<S>): TransitionOf<S> {
  return (snapshot, context) => create(named, definitionOf(named, thing), snapshot, context);
}

function deletion<S extends State>(
  { named, thing: { key } }: Chosen<S>,
  membership: Membership<S>,
  options: DeletionOptions = {},
): TransitionOf<S> {
  return (snapshot, context) => {
    const present = find(snapshot, named, key);
    return present === undefined
      ? unchanged(snapshot, [])
      : membership.delete(named, present, options, snapshot, context);
  };
}

/** A step for a resource. A resource that must go is only stopped. */
function step<S extends State>(
  name: Parameters<typeof takeStep>[0],
  { named, thing, wanted }: Chosen<S>,
): TransitionOf<S> {
  return takeStep(name, named, thing.key, (present) => wanted ?? { ...present, state: 'stopped' });
}

function faultOf({ pointer, detail, obstacle }: DocumentDifference): readonly Fault[] {
  return obstacle === undefined
    ? []
    : [{ pointer, code: 'op-not-allowed', detail: `${detail}; ${obstacle}` }];
}

function problemOfObstacles(obstacles: readonly Fault[]): Problem {
  const { code, detail } = problemOf(obstacles);
  const remedy =
    'Nothing was changed. Leave the resources of these places out, or start the gateway with this document and an ' +
    'empty store.';
  return problem(code, `${detail}. ${remedy}`, obstacles);
}

/** Gives the resources that the option `only` names; refused if a link names none. */
function scopeOf(
  only: readonly string[] | undefined,
  adopting: readonly NamedResources[],
  snapshots: readonly State[],
): Result<Scope> {
  if (only === undefined) return ok(undefined);
  const keys = new Map(adopting.map(({ collection }) => [collection, new Set<string>()]));
  const faults: Fault[] = [];
  for (const [position, link] of only.entries()) {
    let isFound = false;
    for (const named of adopting) {
      const key = keyIn(link, named.collection);
      if (!snapshots.some((each) => find(each, named, key))) continue;
      keys.get(named.collection)?.add(key);
      isFound = true;
    }
    if (isFound) continue;
    const detail = `must be the link of a ${kindsIn(adopting)} that is in use or in the document`;
    faults.push({ pointer: formatPointer(['only', position]), code: 'link-unresolved', detail });
  }
  if (faults.length > 0) return { ok: false, problem: problemOf(faults) };
  return ok(keys);
}

function kindsIn(adopting: readonly NamedResources[]): string {
  const kinds = adopting.map(({ singular }) => singular);
  return `${kinds.slice(0, -1).join(', ')} or ${kinds.slice(-1).join('')}`;
}
