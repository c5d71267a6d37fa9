/**
 * Validators: what the entity tags of resources and lists say.
 */
import type { Entity } from '../core/collection.ts';
import { Digests, type Validator } from '../core/content.ts';
import { formatDigest } from '../core/digest.ts';
import type { Fields } from '../core/field.ts';
import {
  collectionOf,
  sessionsOf,
  shownRevision,
  type ConfiguredEntity,
  type State,
  type Where,
} from './state.ts';

/** The digests of each kind, by its fields. */
const known = new WeakMap<Fields, Digests>();

function digestsIn(state: State, { collection }: Where<Entity>): Digests {
  const { fields } = collectionOf(state, { collection });
  if (fields === undefined) throw new TypeError('A collection of a snapshot has fields');
  const digests = known.get(fields) ?? new Digests(collection, fields);
  known.set(fields, digests);
  return digests;
}

/** What the entity tag of a resource says. @internal */
export function validatorOf(state: State, named: Where<Entity>, entity: Entity): Validator {
  const content = digestsIn(state, named).textOf(entity as ConfiguredEntity, state.births);
  return { content, revision: shownRevision(state, named, entity) };
}

/** What the entity tag of a list says. @internal */
export function listValidator(state: State, named: Where<Entity>): Validator {
  const steps = summing(state, named);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  // The counters of all services together: to ask each service takes longer than to write its representation.
  const live = named.collection === 'services' ? sessionsOf(state).index.live : 0;
  const { revision } = collectionOf(state, named);
  return { content: formatDigest(step.value), revision: Math.max(revision, live) };
}

/** The members of a route whose entity tag is that of a list. @internal */
export function taggedByList(named: Where<Entity>): {
  readonly validator: (snapshot: State) => Validator;
  readonly ofList: Where<Entity>;
} {
  return { validator: (snapshot) => listValidator(snapshot, named), ofList: named };
}

/** Sums the digests of a list. Yields after each few that were not known. @internal */
export function summing(state: State, named: Where<Entity>): Generator<undefined, bigint> {
  const { births } = state;
  const digests = digestsIn(state, named);
  return collectionOf(state, named).summing(
    (entity) => digests.of(entity as ConfiguredEntity, births),
    digests.sumsBy(births),
  );
}
