/**
 * Conditions: the checks before the decision of a command. First the resource must exist (404). Then one of the entity
 * tags in `If-Match` must match, and none of the tags in `If-None-Match` (412). Then the transition decides. The 412 of
 * a mark comes after that: see `writer.ts`.
 */
import { refused, type Context } from '../../core/decision.ts';
import type { Validator } from '../../core/content.ts';
import { formatEtag, satisfiesIfMatch, satisfiesIfNoneMatch } from '../../http/etag.ts';
import type { PathParameters } from '../../http/route.ts';
import { nextTurn } from '../../ports/system-clock.ts';
import { problem, type Problem, type Result } from '../../problem.ts';
import type { BoundResourceRoute, Decision, Transition } from '../../resources/index.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { summing } from '../../snapshot/validator.ts';

/** A route with the path parameters of a request. @internal */
export interface Place {
  readonly route: BoundResourceRoute;
  readonly parameters: PathParameters;
}

type Tags = '*' | readonly string[];

/** The conditions of a command; each is left out if the command does not have it. @internal */
export interface Conditions {
  /** The entity tags of `If-Match`, or the problem with them. */
  readonly ifMatch?: Result<Tags>;
  /** The entity tags of `If-None-Match`. */
  readonly ifNoneMatch?: Tags;
}

/**
 * Makes a transition that checks the conditions and then decides. The resource is looked up once.
 *
 * @param place - the place of the resource
 * @param conditions - the conditions, in the order in which they are checked
 * @param decide - decides the command, given the resource
 * @internal
 */
export function transitionAt(
  { route, parameters }: Place,
  conditions: Conditions,
  decide: (snapshot: Snapshot, thing: unknown, context: Context) => Decision,
): Transition {
  return (snapshot, context) => {
    const found = route.find(snapshot, parameters);
    // The refusal rests on the collection, because a command in flight may create the resource.
    if (!found.ok) return refused(snapshot, found.problem, [collectionOf(route)]);
    const etagOf = (): string | undefined =>
      tagOf(route, found.value, snapshot.epoch, route.validator?.(snapshot, found.value));
    const failed = failureOf(conditions, etagOf);
    if (failed !== undefined) return refused(snapshot, failed, [route.link(found.value)]);
    return decide(snapshot, found.value, context);
  };
}

/**
 * The problem of the first condition that fails, in the order of RFC 9110 §13.2.2.
 *
 * @param etagOf - gives the entity tag of the resource; `undefined` if the resource has none
 * @internal
 */
export function failureOf(
  { ifMatch, ifNoneMatch }: Conditions,
  etagOf: () => string | undefined,
): Problem | undefined {
  if (ifMatch?.ok === false) return ifMatch.problem;
  if (ifMatch !== undefined && !satisfiesIfMatch(ifMatch.value, etagOf())) return changedSince;
  if (ifNoneMatch === undefined) return undefined;
  return satisfiesIfNoneMatch(ifNoneMatch, etagOf()) ? undefined : stillTheSame;
}

/**
 * The entity tag of a resource; `undefined` if the resource has none.
 *
 * @param validator - what the tag says of the representation, in the snapshots of the epoch
 * @param projection - what is shown of the resource; left out if all is
 * @internal
 */
export function tagOf(
  { conditionTag }: BoundResourceRoute,
  thing: unknown,
  epoch: string,
  validator: Validator | undefined,
  projection?: string,
): string | undefined {
  return validator === undefined ? conditionTag?.(thing) : formatEtag(epoch, validator, projection);
}

/** The number of leaves of a list that one turn of the event loop sums: some hundred resources. */
const leavesOfTurn = 16;

/**
 * Makes the digests that the tag of the list of a route needs, in pieces, so that the event loop is not blocked.
 *
 * @returns resolves when they are made; `undefined` if only a few were missing
 * @internal
 */
export function digestsFor({ ofList }: BoundResourceRoute, snapshot: Snapshot): Promise<void> | undefined {
  if (ofList === undefined) return undefined;
  const steps = summing(snapshot, ofList);
  return hasEnded(steps) ? undefined : endOf(steps);
}

function hasEnded(steps: Iterator<undefined>): boolean {
  for (let left = leavesOfTurn; left > 0; left -= 1) if (steps.next().done === true) return true;
  return false;
}

async function endOf(steps: Iterator<undefined>): Promise<void> {
  do await nextTurn();
  while (!hasEnded(steps));
}

const stillTheSame = problem(
  'precondition-failed',
  'The resource has an entity tag that If-None-Match names, so the command was refused. If-None-Match on a writing ' +
    'request allows the command only if no tag matches; * matches every resource that exists.',
);

const changedSince = problem(
  'precondition-failed',
  'The resource has changed since you read the entity tag in If-Match. Read the resource again, and try again if that ' +
    'still makes sense.',
);

/** Link of the collection of a route. The id of a route starts with the name of the collection. */
function collectionOf({ id }: BoundResourceRoute): string {
  return `/${id.slice(0, id.indexOf('.'))}`;
}

/**
 * What the tag of the resource at a place says; `undefined` if its representation has no entity tag.
 *
 * @param found - the resource, if it was looked up before
 * @internal
 */
export function validatorAt(
  { route, parameters }: Place,
  snapshot: Snapshot,
  found = route.find(snapshot, parameters),
): Validator | undefined {
  if (found.ok) return route.validator?.(snapshot, found.value);
  return route.kind === 'command' ? route.validatorWhenGone?.(snapshot, parameters) : undefined;
}
