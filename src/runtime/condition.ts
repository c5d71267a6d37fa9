/**
 * Conditions: a transition that is only to happen as long as a resource is as somebody has read it (`If-Match`).
 */
import { refused } from '../core/decision.ts';
import type { Version } from '../core/version.ts';
import { satisfiesIfMatch } from '../http/etag.ts';
import { ok, problem, type Result } from '../problem.ts';
import { lookUpUser } from '../resources/user.ts';
import type { Route, Transition } from '../resources/index.ts';
import { linkOf, lookUp, lookUpSessionAt, singular, type Snapshot } from '../snapshot/snapshot.ts';
import { linkTo } from '../core/link.ts';

/** The resource that a condition is about. @internal */
export interface Subject {
  /** Link of the collection that has the resource. */
  readonly collection: string;
  /** Finds the resource, or gives the problem that there is none. */
  find(this: void, snapshot: Snapshot): Result<Found>;
}

interface Found {
  /** The canonical link. */
  readonly link: string;
  /** When the resource last changed; `undefined` where its representation carries no entity tag. */
  readonly version: Version | undefined;
}

/**
 * Puts a condition in front of a transition: the resource exists (404), one of the entity tags fits (412), and then the
 * transition decides.
 *
 * @param subject - the resource that the entity tags are about
 * @param tags - what `parseEntityTags` gives; when it is a problem, that is the refusal
 * @internal
 */
export function onlyIfMatch(
  subject: Subject,
  tags: Result<'*' | readonly string[]>,
  transition: Transition,
): Transition {
  return (snapshot, context) => {
    const found = subject.find(snapshot);
    // It rests on its collection: a command in flight may be about to create it.
    if (!found.ok) return refused(snapshot, found.problem, [subject.collection]);
    const { link, version } = found.value;
    if (!tags.ok) return refused(snapshot, tags.problem, [link]);
    if (satisfiesIfMatch(tags.value, snapshot.epoch, version)) return transition(snapshot, context);
    return refused(snapshot, changedSince, [link]);
  };
}

const changedSince = problem(
  'precondition-failed',
  'It has changed since the entity tag in If-Match was read. Read it again, then decide again.',
);

/**
 * Gives the resource that a route is about.
 *
 * @param route - its path, and the path of the representation whose entity tag counts
 * @param name - what the variable segment of the path stands for
 * @param versionOf - when the representation last changed
 * @internal
 */
export function subjectOf(
  { path, about = path }: Pick<Route, 'path'> & { readonly about?: string },
  name: string,
  versionOf: (snapshot: Snapshot) => Version | undefined,
): Subject {
  const [, collection = ''] = about.split('/');
  return {
    collection: `/${collection}`,
    find(snapshot) {
      const link = path.includes(':') ? findLink(snapshot, collection, name) : ok(about);
      return link.ok ? ok({ link: link.value, version: versionOf(snapshot) }) : link;
    },
  };
}

function findLink(snapshot: Snapshot, collection: string, name: string): Result<string> {
  if (collection === 'sessions') {
    const found = lookUpSessionAt(snapshot, name);
    return found.ok ? ok(linkTo('sessions', found.value.id)) : found;
  }
  if (collection === 'users') {
    const found = lookUpUser(snapshot, name);
    // All users are one resource.
    return found.ok ? ok('/users') : found;
  }
  const named = collection as keyof typeof singular;
  const found = lookUp(snapshot, named, name);
  return found.ok ? ok(linkOf(named, found.value)) : found;
}
