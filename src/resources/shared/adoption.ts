/**
 * Adoption: a running interface takes over the part of a gateway document that can change at run time.
 */
import {
  refused,
  sequenceFor,
  unchanged,
  type Context,
  type DecisionOf,
  type EffectBase,
  type EventBase,
} from '../../core/decision.ts';
import { formatPointer } from '../../json/pointer.ts';
import { ok, problem, problemOf, type Fault, type Problem, type Result } from '../../problem.ts';
import { find, linkOf, type Settled, type State } from '../../snapshot/state.ts';
import {
  documentDifferences,
  fixedMember,
  keyOf,
  selectedIn,
  type DocumentDifference,
  type Selection,
} from './document-difference.ts';
import type { AdoptionSteps, NamedResources } from './kind.ts';
import { definitionOf, type Membership } from './membership.ts';
import { relistingSteps } from './use.ts';

/**
 * The options of {@link adoptDocument}.
 *
 * @public
 */
export interface AdoptOptions {
  /** Links of the resources to take over, such as `/services/Sales`; all resources by default. */
  readonly only?: readonly string[];
  /** Deletes the resources that the document lacks; by default they stay as they are. */
  readonly prune?: boolean;
}

/** The options of an adoption in this library. */
interface AdoptionOptions extends AdoptOptions {
  /** Deletes a resource that differs where no running gateway can change it, and creates it as in the document. */
  readonly replace?: boolean;
}

type Decision<S> = DecisionOf<S, EventBase, EffectBase>;
type Transition<S> = (snapshot: S, context: Context) => Decision<S>;

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
): (snapshot: S, given: S, context: Context, options: AdoptionOptions) => Decision<S> {
  const adopting = compared.filter(({ adoption }) => adoption !== undefined);
  const combine = sequenceFor(membership.events, membership.effects, (reason) => reason);
  return (snapshot, given, context, { only, prune = false, replace = false }) => {
    const selection = selectionOf(only, adopting, [snapshot, given]);
    if (!selection.ok) return refused(snapshot, selection.problem);
    const differences = documentDifferences(adopting, snapshot, given, selection.value);
    const isFixed = ({ obstacle }: DocumentDifference): boolean => replace && obstacle === fixedMember;
    const others = new Set(differences.filter(isFixed).map(({ resource }) => resource));
    const chosen = adopting
      .flatMap((named) => chosenIn(named, { snapshot, given }, selection.value, prune))
      .map((one) => ({ ...one, isOther: others.has(linkOf(one.named.collection, one.thing)) }));
    const resources = [
      ...chosen.map(({ named, thing }) => linkOf(named.collection, thing)),
      // That nothing else is there rests on the lists.
      ...(prune && only === undefined ? adopting.map(({ collection }) => `/${collection}`) : []),
    ];
    const obstacles = differences.filter((each) => !isFixed(each)).flatMap(faultOf);
    if (obstacles.length > 0) return refused(snapshot, problemOfObstacles(obstacles), resources);
    const restsOn: Transition<S> = () => unchanged(snapshot, resources);
    const replacements = chosen
      .filter(({ isOther }) => isOther)
      .map(
        (one): Transition<S> =>
          (now, then) =>
            combine(...replacing(one, adopting, now, membership))(now, then),
      );
    return combine(restsOn, ...replacements, ...stepsOf(chosen, membership))(snapshot, context);
  };
}

/** A resource that an adoption is about. */
interface Chosen<S extends State> {
  readonly named: NamedResources<S>;
  /** The resource in use; the one of the document if there is none in use. */
  readonly thing: Settled;
  /** The resource in the document; left out if the resource must go. */
  readonly wanted?: Settled;
  readonly isNew: boolean;
}

function chosenIn<S extends State>(
  named: NamedResources<S>,
  { snapshot, given }: { readonly snapshot: S; readonly given: S },
  selection: Selection,
  prune: boolean,
): readonly Chosen<S>[] {
  const present = selectedIn(snapshot, named, selection).flatMap((thing): readonly Chosen<S>[] => {
    const wanted = find<Settled>(given, named, thing.key);
    if (wanted !== undefined) return [{ named, thing, wanted, isNew: false }];
    return prune ? [{ named, thing, isNew: false }] : [];
  });
  const added = selectedIn(given, named, selection).filter(
    ({ key }) => find(snapshot, named, key) === undefined,
  );
  return [...present, ...added.map((wanted) => ({ named, thing: wanted, wanted, isNew: true }))];
}

/**
 * The steps of an adoption. What stops comes before what starts, which may need its place, such as a port. What others list is
 * created before them, and deleted after them.
 */
function stepsOf<S extends State>(
  chosen: readonly Chosen<S>[],
  membership: Membership<S>,
): readonly Transition<S>[] {
  const listed = chosen.filter(({ named }) => Object.keys(named.fields.links).length === 0);
  const listing = chosen.filter((each) => !listed.includes(each));
  const each = (step: keyof AdoptionSteps) => chosen.map((one) => stepOf(step, one));
  return [
    ...[...listed, ...listing].flatMap((one) => (one.isNew ? [creation(one, membership)] : [])),
    ...each('stop'),
    ...each('remove'),
    ...each('update'),
    ...each('add'),
    ...each('start'),
    ...[...listing, ...listed].flatMap((one) =>
      one.wanted === undefined ? [deletion(one, membership)] : [],
    ),
  ];
}

/** The steps that put a resource in the place of another one with its name, in every list. */
function replacing<S extends State>(
  { named, thing, wanted = thing }: Chosen<S>,
  kinds: readonly NamedResources<S>[],
  snapshot: S,
  membership: Membership<S>,
): readonly Transition<S>[] {
  const link = linkOf(named.collection, thing);
  const gone = { named, thing, isNew: false };
  return [
    stepOf('stop', gone),
    (now, context) =>
      membership.delete(named, find<Settled>(now, named, thing.key) ?? thing, { detach: true }, now, context),
    creation({ named, thing: wanted, isNew: true }, membership),
    ...relistingSteps(snapshot, kinds, named.collection, link),
  ];
}

function creation<S extends State>({ named, thing }: Chosen<S>, { create }: Membership<S>): Transition<S> {
  return (snapshot, context) => create(named, definitionOf(named, thing), snapshot, context);
}

function deletion<S extends State>(
  { named, thing: { key } }: Chosen<S>,
  membership: Membership<S>,
): Transition<S> {
  return (snapshot, context) => {
    const present = find<Settled>(snapshot, named, key);
    return present === undefined
      ? unchanged(snapshot, [])
      : membership.delete(named, present, {}, snapshot, context);
  };
}

function stepOf<S extends State>(
  step: keyof AdoptionSteps,
  { named, thing, wanted }: Chosen<S>,
): Transition<S> {
  return (snapshot, context) => {
    const present = find<Settled>(snapshot, named, thing.key);
    const decide = named.adoption?.steps[step];
    if (present === undefined || decide === undefined) return unchanged(snapshot, []);
    if (wanted !== undefined) return decide(snapshot, present, wanted, context) as Decision<S>;
    // What runs must stop before it goes.
    const stopped = { ...present, state: 'stopped' };
    return step === 'stop'
      ? (decide(snapshot, present, stopped, context) as Decision<S>)
      : unchanged(snapshot, []);
  };
}

function faultOf({ pointer, detail, obstacle }: DocumentDifference): readonly Fault[] {
  return obstacle === undefined
    ? []
    : [{ pointer, code: 'op-not-allowed', detail: `${detail}; ${obstacle}` }];
}

function problemOfObstacles(obstacles: readonly Fault[]): Problem {
  const { code, detail } = problemOf(obstacles);
  const remedy =
    'Nothing was changed. Name the resources to take over with the option only, or start the gateway with this ' +
    'document and an empty store.';
  return problem(code, `${detail}. ${remedy}`, obstacles);
}

/** Gives the resources that the option `only` names; refused if a link names none. */
function selectionOf(
  only: readonly string[] | undefined,
  adopting: readonly NamedResources[],
  snapshots: readonly State[],
): Result<Selection> {
  if (only === undefined) return ok(undefined);
  const keys = new Map(adopting.map(({ collection }) => [collection, new Set<string>()]));
  const faults: Fault[] = [];
  for (const [position, link] of only.entries()) {
    let isFound = false;
    for (const named of adopting) {
      const key = keyOf(link, named.collection);
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
