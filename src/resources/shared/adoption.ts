/**
 * Adoption: a running interface takes over the part of a gateway document that can change at run time.
 */
import {
  accepted,
  refused,
  unchanged,
  type Context,
  type DecisionOf,
  type EffectBase,
  type EventBase,
  type EventTable,
} from '../../core/decision.ts';
import { formatPointer } from '../../json/pointer.ts';
import { ok, problem, problemOf, type Fault, type Problem, type Result } from '../../problem.ts';
import { find, linkOf, type Settled, type State } from '../../snapshot/state.ts';
import {
  documentDifferences,
  keyOf,
  selectedIn,
  type DocumentDifference,
  type Selection,
} from './document-difference.ts';
import type { AdoptionSteps, NamedResources, StepDecision } from './kind.ts';

/**
 * The options of {@link adoptDocument}.
 *
 * @public
 */
export interface AdoptOptions {
  /** Links of the resources to take over, such as `/services/Sales`; all resources by default. */
  readonly only?: readonly string[];
}

/** All that must stop stops first, because what starts may need its place, such as a port. */
const order = ['stop', 'update', 'start'] as const satisfies readonly (keyof AdoptionSteps)[];

/**
 * Creates the transition that takes a document over: one decision about all resources.
 *
 * @param events - the table of all events
 * @param compared - the collections of a document
 * @internal
 */
export function adoptionFor<S extends State, E extends EventBase, F extends EffectBase>(
  events: EventTable<S, E>,
  compared: readonly NamedResources[],
): (snapshot: S, given: S, context: Context, options: AdoptOptions) => DecisionOf<S, E, F> {
  const adopting = compared.filter(({ adoption }) => adoption !== undefined);
  return (snapshot, given, context, { only }) => {
    const selection = selectionOf(only, adopting, [snapshot, given]);
    if (!selection.ok) return refused(snapshot, selection.problem);
    const chosen = adopting.flatMap((each) => chosenIn(each, snapshot, selection.value));
    const resources = chosen.map(({ collection, present }) => linkOf(collection, present));
    const obstacles = documentDifferences(adopting, snapshot, given, selection.value).flatMap(faultOf);
    if (obstacles.length > 0) return refused(snapshot, problemOfObstacles(obstacles), resources);
    const decisions = order.flatMap((step) =>
      chosen.map((each) => decideStep(step, each, snapshot, given, context)),
    );
    const refusal = decisions.find((decision) => decision.outcome === 'refused');
    if (refusal !== undefined) return refused(snapshot, refusal.problem, resources);
    const changes = decisions.filter((decision) => decision.outcome === 'accepted');
    if (changes.length === 0) return unchanged(snapshot, resources);
    // The events and effects are those of kinds in the table.
    return accepted<S, E, F>(events, snapshot, resources, {
      events: changes.flatMap((change) => change.events as readonly E[]),
      effects: changes.flatMap((change) => change.effects as readonly F[]),
    });
  };
}

/** A resource in use that an adoption is about. */
interface Chosen extends NamedResources {
  readonly present: Settled;
}

function chosenIn(compared: NamedResources, snapshot: State, selection: Selection): readonly Chosen[] {
  return selectedIn(snapshot, compared, selection).map((present) => ({ ...compared, present }));
}

function decideStep(
  step: keyof AdoptionSteps,
  { present, ...named }: Chosen,
  snapshot: State,
  given: State,
  context: Context,
): StepDecision {
  const wanted = find<Settled>(given, named, present.key);
  const decide = named.adoption?.steps[step];
  if (wanted === undefined || decide === undefined) return unchanged(snapshot, []);
  return decide(snapshot, present, wanted, context);
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
