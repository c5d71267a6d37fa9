/**
 * Conditions: the order in which a command on a resource is judged. The resource exists (404), one of the entity tags
 * fits (412, `If-Match`), and then the transition decides.
 */
import { refused, type Context } from '../core/decision.ts';
import type { Version } from '../core/version.ts';
import { satisfiesIfMatch } from '../http/etag.ts';
import type { PathParameters } from '../http/route.ts';
import { problem, type Result } from '../problem.ts';
import type { Decision, Transition } from '../resources/index.ts';
import type { BoundRoute } from '../resources/shared/route.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** A place in the interface: a route with the values of the variable segments of its path. @internal */
export interface Place {
  readonly route: BoundRoute;
  readonly parameters: PathParameters;
}

/**
 * Makes the transition of a command on a place. The resource is looked up once.
 *
 * @param place - where the resource is
 * @param tags - the entity tags of `If-Match`, or the problem with them; left out without a condition
 * @param decide - decides about the resource that was found
 * @internal
 */
export function transitionAt(
  { route, parameters }: Place,
  tags: Result<'*' | readonly string[]> | undefined,
  decide: (snapshot: Snapshot, thing: unknown, context: Context) => Decision,
): Transition {
  return (snapshot, context) => {
    const found = route.find(snapshot, parameters);
    // The refusal rests on the collection: a command in flight may be about to create the resource.
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
  'The resource has changed since the entity tag in If-Match was read. Read it again, then decide again.',
);

/** Link of the collection of a route, which the id of the route begins with. */
function collectionOf({ id }: BoundRoute): string {
  return `/${id.split('.')[0] ?? ''}`;
}

/** The version of the resource at a place, in any snapshot; `undefined` where it carries none. @internal */
export function versionAt({ route, parameters }: Place, snapshot: Snapshot): Version | undefined {
  const found = route.find(snapshot, parameters);
  if (found.ok) return route.version?.(snapshot, found.value);
  return route.kind === 'command' ? route.versionWhenGone?.(snapshot) : undefined;
}
