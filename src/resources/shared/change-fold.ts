/**
 * The fold of changes: what an event makes of the definition of a resource, for every kind.
 *
 * A gateway has done what an event says, so the fold takes whole members as they are. It gives the same snapshot for an
 * update of what is gone, and for a creation of what is there.
 */
import type { Written } from '../../core/change.ts';
import type { EventBase, FoldContext } from '../../core/decision.ts';
import { withMembers } from '../../core/field.ts';
import { assertObject } from '../../json/value.ts';
import { find, replace, type ConfiguredEntity, type State } from '../../snapshot/state.ts';
import type { Changing } from './kind.ts';

/**
 * Gives the fold of the updates of a kind: what is wanted of a resource, and what depends on it.
 *
 * @returns the fold, which throws a TypeError for an event of a damaged store, also if the resource is gone
 * @internal
 */
export function foldOf<S extends State>(
  changing: Changing<S>,
): (snapshot: S, event: EventBase & Written, fold: FoldContext) => S {
  const { fields, entered, onLinks, singular } = changing;
  return (snapshot, event, fold) => {
    const { from, to, at } = event;
    for (const each of [from, to]) assertObject(each, 'The members of an update');
    const { [singular]: key = '' } = event as unknown as Readonly<Record<string, string>>;
    // Read first: a fold changes the collection in place.
    const then = find(snapshot, changing, key);
    const next = replace(snapshot, changing, key, fold, (present): ConfiguredEntity => {
      const written = withMembers(fields, present, { from, to });
      return entered === undefined ? written : entered(written, { from, to, at });
    });
    const now = find(next, changing, key);
    if (then === undefined || now === undefined || onLinks === undefined) return next;
    return onLinks(next, { before: then.settings, after: now.settings }, fold) as S;
  };
}
