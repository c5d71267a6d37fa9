/**
 * Adoption: a running interface takes over the part of a gateway document that can change at run time.
 */
import type { Entity } from '../../core/collection.ts';
import { accepted, refused, unchanged, type Context, type EventTable } from '../../core/decision.ts';
import { formatPointer } from '../../json/pointer.ts';
import { ok, problem, problemOf, type Fault, type Problem, type Result } from '../../problem.ts';
import { find, linkOf, singular, type Collections, type Snapshot } from '../../snapshot/snapshot.ts';
import type { AdminEvent, Decision, Effect } from '../index.ts';
import {
  documentDifferences,
  keyOf,
  selectedIn,
  type ComparedCollection,
  type DocumentDifference,
  type Selection,
} from './document-difference.ts';

/**
 * The options of {@link adoptDocument}.
 *
 * @public
 */
export interface AdoptOptions {
  /** Links of the resources to take over, such as `/services/Sales`; all resources by default. */
  readonly only?: readonly string[];
}

/** Decides one step for one resource; unchanged if the resource is already as the document wants it. */
interface Step {
  decide(this: void, snapshot: Snapshot, present: Entity, wanted: Entity, context: Context): Decision;
}

/** The steps of an adoption, for the resources of a kind. @internal */
export type AdoptionSteps = Partial<Record<'stop' | 'update' | 'start', Step['decide']>>;

/** All that must stop stops first, because what starts may need its place, such as a port. */
const order = ['stop', 'update', 'start'] as const satisfies readonly (keyof AdoptionSteps)[];

/** The part of a kind that a running interface can take over. @internal */
export interface Adoption {
  readonly collection: keyof Collections;
  /** The settings of the document, with everything that the host reports as at present. */
  adopted(this: void, present: Entity, wanted: Entity): object;
  readonly steps: AdoptionSteps;
}

/**
 * Creates the transition that takes a document over: one decision about all resources.
 *
 * @param events - the table of all events
 * @param compared - the collections of a document
 * @internal
 */
export function adoptionFor(
  events: EventTable<Snapshot, AdminEvent>,
  compared: readonly ComparedCollection[],
): (snapshot: Snapshot, given: Snapshot, context: Context, options: AdoptOptions) => Decision {
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
    return accepted<Snapshot, AdminEvent, Effect>(events, snapshot, resources, {
      events: changes.flatMap((change) => change.events),
      effects: changes.flatMap((change) => change.effects),
    });
  };
}

/** A resource in use that an adoption is about. */
interface Chosen extends ComparedCollection {
  readonly present: Entity;
}

function chosenIn(compared: ComparedCollection, snapshot: Snapshot, selection: Selection): readonly Chosen[] {
  return selectedIn(snapshot, compared.collection, selection).map((present) => ({ ...compared, present }));
}

function decideStep(
  step: keyof AdoptionSteps,
  { collection, adoption, present }: Chosen,
  snapshot: Snapshot,
  given: Snapshot,
  context: Context,
): Decision {
  const wanted = find(given, collection, present.key);
  const decide = adoption?.steps[step];
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
  adopting: readonly ComparedCollection[],
  snapshots: readonly Snapshot[],
): Result<Selection> {
  if (only === undefined) return ok(undefined);
  const keys = new Map(adopting.map(({ collection }) => [collection, new Set<string>()]));
  const faults: Fault[] = [];
  for (const [position, link] of only.entries()) {
    let isFound = false;
    for (const [collection, chosen] of keys) {
      const key = keyOf(link, collection);
      if (!snapshots.some((each) => find(each, collection, key))) continue;
      chosen.add(key);
      isFound = true;
    }
    if (isFound) continue;
    const detail = `must be the link of a ${kindsIn(adopting)} that is in use or in the document`;
    faults.push({ pointer: formatPointer(['only', position]), code: 'link-unresolved', detail });
  }
  if (faults.length > 0) return { ok: false, problem: problemOf(faults) };
  return ok(keys);
}

function kindsIn(adopting: readonly ComparedCollection[]): string {
  const kinds = adopting.map(({ collection }) => singular[collection]);
  return `${kinds.slice(0, -1).join(', ')} or ${kinds.slice(-1).join('')}`;
}
