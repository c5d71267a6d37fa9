/**
 * Conditions: the checks before the decision of a command. First the resource must exist (404), then one of the entity
 * tags in `If-Match` must match (412). Then the transition decides.
 */
import { refused, type Context } from '../core/decision.ts';
import type { Version } from '../core/version.ts';
import { satisfiesIfMatch } from '../http/etag.ts';
import type { PathParameters } from '../http/route.ts';
import { problem, type Result } from '../problem.ts';
import type { Decision, Transition } from '../resources/index.ts';
import type { BoundRoute } from '../resources/shared/route.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** A route with the path parameters of a request. @internal */
export interface Place {
  readonly route: BoundRoute;
  readonly parameters: PathParameters;
}

/**
 * Makes a transition that checks the conditions and then decides. The resource is looked up once.
 *
 * @param place - the place of the resource
 * @param tags - the entity tags of `If-Match`, or the problem with them; left out without a condition
 * @param decide - decides the command, given the resource
 * @internal
 */
export function transitionAt(
  { route, parameters }: Place,
  tags: Result<'*' | readonly string[]> | undefined,
  decide: (snapshot: Snapshot, thing: unknown, context: Context) => Decision,
): Transition {
  return (snapshot, context) => {
    const found = route.find(snapshot, parameters);
    // The refusal rests on the collection, because a command in flight may create the resource.
    if (!found.ok) return refused(snapshot, found.problem, [collectionOf(route)]);
    if (tags?.ok === false) return refused(snapshot, tags.problem, [route.link(found.value)]);
    if (tags !== undefined) {
      const version = route.version?.(snapshot, found.value);
      if (!satisfiesIfMatch(tags.value, snapshot.epoch, version))
        return refused(snapshot, changedSince, [route.link(found.value)]);
    }
    return decide(snapshot, found.value, context);
  };
}

const changedSince = problem(
  'precondition-failed',
  'The resource has changed since you read the entity tag in If-Match, so the command was refused. Read the resource ' +
    'again, and send the command again if it still makes sense.',
);

/** Link of the collection of a route. The id of a route starts with the name of the collection. */
function collectionOf({ id }: BoundRoute): string {
  return `/${id.split('.')[0] ?? ''}`;
}

/** The version of the resource at a place; `undefined` if its representation has no entity tag. @internal */
export function versionAt({ route, parameters }: Place, snapshot: Snapshot): Version | undefined {
  const found = route.find(snapshot, parameters);
  if (found.ok) return route.version?.(snapshot, found.value);
  return route.kind === 'command' ? route.versionWhenGone?.(snapshot) : undefined;
}
