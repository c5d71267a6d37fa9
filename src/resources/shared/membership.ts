/**
 * Membership: the creation and the deletion of a resource, the same for every kind that a document configures.
 *
 * The event and the effect have the whole definition of the resource, as an entry of a gateway document. Creation and
 * deletion are each the inverse of the other, so undo, recovery and a refusal of the gateway need no code of their own.
 */
import {
  accepted,
  eventHead,
  refused,
  sequenceFor,
  unchanged,
  type EventsAndEffects,
  type Context,
  type DecisionOf,
  type EffectBase,
  type EffectTable,
  type EventBase,
  type EventTable,
  type FoldContext,
  type TransitionOf,
} from '../../core/decision.ts';
import { changeBetween, withoutMarks } from '../../core/change.ts';
import { definitionIn, type Field, type Fields } from '../../core/field.ts';
import { hasSecret } from '../../core/secret.ts';
import { mapEntries, misplacedFaults } from '../../core/secret-entry.ts';
import { oneForEachPointer, parseShape } from '../../core/shape.ts';
import { formatPointer } from '../../json/pointer.ts';
import { assertText, isObject, type Json, type JsonObject } from '../../json/value.ts';
import { ok, problem, problemOf, quoted, type Fault, type Problem, type Result } from '../../problem.ts';
import { checkEntry, loadEntity, reservedFaults } from '../../snapshot/entry.ts';
import { isSecretIn } from '../../snapshot/secret-parameter.ts';
import {
  find,
  linkOf,
  nameFinder,
  put,
  remove,
  withBirth,
  withoutBirth,
  withSessions,
  type ConfiguredEntity,
  type State,
} from '../../snapshot/state.ts';
import { takeStep, type About, type NamedResources } from './kind.ts';
import { linkOfCollection, unresolvedCollections } from './look-up.ts';
import { asBroughtBack, broughtBack } from './returning-drain.ts';
import { detachAll, detachingSteps, linksOf, refusalInUse } from './use.ts';

/**
 * What a creation or a deletion changes. `D` is the whole entry of the resource in a gateway document; a service or
 * monitor in it is stopped.
 *
 * @internal
 */
type WholeChange<K extends string, D, Creation extends string, Deletion extends string> = About<K> &
  (
    | { readonly type: `${K}.${Creation}`; readonly to: D }
    | { readonly type: `${K}.${Deletion}`; readonly from: D }
  );

/** The events of a creation and of a deletion. @internal */
export type MembershipEvent<K extends string, D> = EventBase & WholeChange<K, D, 'created', 'deleted'>;

/** The effects of a creation and of a deletion: the host must create or delete the resource. @internal */
export type MembershipEffect<K extends string, D> = EffectBase & WholeChange<K, D, 'create', 'delete'>;

/**
 * The options of {@link deleteResource}.
 *
 * @public
 */
export interface DeletionOptions {
  /** Takes the resource out of the lists of all others first, in the same decision. */
  readonly detach?: boolean;
}

/** The creations and deletions of all kinds. @internal */
export interface Membership<S extends State> {
  readonly events: EventTable<S, EventBase>;
  readonly effects: EffectTable<EffectBase>;
  /** Combines transitions into one: all or nothing. */
  combine(this: void, transitions: readonly TransitionOf<S>[]): TransitionOf<S>;
  /** Decides the creation of a resource. A service or monitor is created stopped, and then started. */
  create(
    this: void,
    named: NamedResources<S>,
    definition: Json,
    snapshot: S,
    context: Context,
  ): DecisionOf<S>;
  /** Decides the deletion of a resource. */
  delete(
    this: void,
    named: NamedResources<S>,
    thing: ConfiguredEntity,
    options: DeletionOptions,
    snapshot: S,
    context: Context,
  ): DecisionOf<S>;
}

/**
 * Creates the membership of the kinds that a document configures.
 *
 * @param events - the table of all events; gets the rows of the membership
 * @param effects - the table of all effects
 * @param kinds - the kinds
 * @internal
 */
export function membershipOf<S extends State>(
  events: EventTable<S, EventBase>,
  effects: EffectTable<EffectBase>,
  kinds: readonly NamedResources<S>[],
): Membership<S> {
  const combine = sequenceFor(events, effects, (problem) => problem);

  const creating =
    (named: NamedResources<S>, wanted: ConfiguredEntity): TransitionOf<S> =>
    (snapshot, context) => {
      const link = linkOf(named.collection, wanted);
      const resources = [linkOfCollection(named), link, ...linksOf(named, wanted)];
      const present = find(snapshot, named, wanted.key);
      if (present === undefined)
        return accepted(events, snapshot, resources, changesOf('created', named, wanted, context));
      const differing = differingFields(named, present, wanted);
      return differing.length === 0
        ? unchanged(snapshot, resources)
        : refused(snapshot, exists(named, present, differing), resources);
    };

  const deleting =
    (named: NamedResources<S>, thing: ConfiguredEntity): TransitionOf<S> =>
    (snapshot, context) => {
      const resources = [linkOfCollection(named), linkOf(named.collection, thing)];
      const problem = refusalInUse(snapshot, kinds, named, thing);
      return problem === undefined
        ? accepted(events, snapshot, resources, changesOf('deleted', named, thing, context))
        : refused(snapshot, problem, resources);
    };

  const membership: Membership<S> = {
    events,
    effects,
    combine,
    create(named, definition, snapshot, context) {
      const checked = checkDefinition(snapshot, named, definition);
      if (!checked.ok) {
        const collections = unresolvedCollections(named.fields, checked.problem);
        return refused(snapshot, checked.problem, [linkOfCollection(named), ...collections]);
      }
      const { value: wanted } = checked;
      const create = creating(named, wanted);
      if (named.adoption?.start === undefined) return create(snapshot, context);
      const start = takeStep<S>('start', named, wanted.key, () => wanted);
      return combine([create, start])(snapshot, context);
    },
    delete(named, thing, { detach = false }, snapshot, context) {
      const link = linkOf(named.collection, thing);
      const steps = detach ? detachingSteps(snapshot, kinds, named.collection, link) : [];
      const drop = deleting(named, thing);
      return (steps.length === 0 ? drop : combine([...steps, drop]))(snapshot, context);
    },
  };
  for (const named of kinds) Object.assign(events, eventRows(named, membership, kinds));
  return membership;
}

/** The creation or deletion of a resource. */
function changesOf(
  verb: 'created' | 'deleted',
  named: NamedResources,
  thing: ConfiguredEntity,
  context: Context,
): Pick<EventsAndEffects<EventBase, never>, 'events'> {
  const { collection, singular: kind } = named;
  const head = { type: `${kind}.${verb}`, ...eventHead(linkOf(collection, thing), context) };
  const side = verb === 'created' ? 'to' : 'from';
  return { events: [{ ...head, [kind]: thing.key, [side]: definitionOf(named, thing) }] };
}

/** An event of this file. The compiler loses the computed member with the key of the resource. */
type Defined = EventBase & Readonly<Record<string, string>> & Partial<Record<'from' | 'to', JsonObject>>;

function eventRows<S extends State>(
  named: NamedResources<S>,
  membership: Membership<S>,
  kinds: readonly NamedResources<S>[],
): Partial<EventTable<S, EventBase>> {
  const { collection, singular: kind } = named;
  const created = {
    effect: `${kind}.create`,
    revert(
      snapshot: S,
      { resource, [kind]: key = '', to: definition = {} }: Defined,
      context: Context,
    ): DecisionOf<S> {
      const thing = find(snapshot, named, key);
      if (thing === undefined) return unchanged(snapshot, [linkOfCollection(named)]);
      const asCreated = asBroughtBack(definition, context.now, thing.settings);
      if (changeBetween(named.fields, resource, definitionOf(named, thing), asCreated) === undefined)
        return membership.delete(named, thing, {}, snapshot, context);
      const link = linkOf(collection, thing);
      return refused(snapshot, notAsCreated(kind, thing.name, link), [link]);
    },
    evolve(snapshot: S, event: Defined, fold: FoldContext): S {
      const { [kind]: key = '', to: definition = {} } = event;
      if (find(snapshot, named, key) !== undefined) return snapshot;
      // Also of a redacted event: without its secrets.
      const entry = withoutMarks(definition);
      assertText(entry['name'], 'The name of a created resource');
      const thing = Object.freeze(loadEntity(named.fields, entry, fold.revision));
      const born = withBirth(put(snapshot, named, thing, fold), event, fold);
      const next = withSessions(born, fold, (table, within) => table.withKey(collection, key, within));
      return relinked(named, next, withoutLinks(named, thing), thing.settings, fold);
    },
  };
  const deleted = {
    effect: `${kind}.delete`,
    revert(snapshot: S, { resource, from: definition = {} }: Defined, context: Context): DecisionOf<S> {
      const { settings, notes } = broughtBack(resource, definition, context.now);
      return membership.combine([
        () => unchanged(snapshot, [], notes),
        (now) => membership.create(named, settings, now, context),
      ])(snapshot, context);
    },
    evolve(snapshot: S, { [kind]: key = '' }: Defined, fold: FoldContext): S {
      const thing = find(snapshot, named, key);
      if (thing === undefined) return snapshot;
      const link = linkOf(collection, thing);
      const removed = withoutBirth(remove(snapshot, named, key, fold), link, fold);
      const gone = withSessions(removed, fold, (table, within) => table.withoutKey(collection, key, within));
      const next = detachAll(gone, kinds, collection, link, fold);
      return relinked(named, next, thing.settings, withoutLinks(named, thing), fold);
    },
  };
  // The casts are needed because the compiler does not see that the computed keys are types of events.
  return { [`${kind}.created`]: created, [`${kind}.deleted`]: deleted } as unknown as EventTable<
    S,
    EventBase
  >;
}

/** Why a created resource is not deleted again: it has changed since. @internal */
export function notAsCreated(kind: string, name: string, link: string): Problem {
  const detail = `The ${kind} ${quoted(name)} is not as it was created. To remove it all the same: DELETE ${link}.`;
  return problem('patch-test-failed', detail);
}

/** Lets the kind change the snapshot further if the links of a resource have come or gone. */
function relinked<S extends State>(
  { onLinks }: NamedResources<S>,
  snapshot: S,
  before: object,
  after: object,
  fold: FoldContext,
): S {
  return onLinks === undefined ? snapshot : (onLinks(snapshot, { before, after }, fold) as S);
}

function withoutLinks({ fields }: NamedResources, { settings }: ConfiguredEntity): object {
  return { ...settings, ...Object.fromEntries(Object.keys(fields.links).map((name) => [name, []])) };
}

/** The definition of a resource: its entry in a document, without what belongs to a life of the gateway. @internal */
export function definitionOf(named: NamedResources, thing: ConfiguredEntity): JsonObject {
  const entry = definitionIn(named.fields, thing);
  // What starts is created first, so that no report can come before.
  return named.adoption?.start === undefined ? entry : { ...entry, state: 'stopped' };
}

/**
 * The fields in which a resource is not as another definition says. A secret counts always: each sealing differs. What
 * has commands of its own never counts.
 */
function differingFields(
  named: NamedResources,
  present: ConfiguredEntity,
  wanted: ConfiguredEntity,
): readonly Field[] {
  const { fields } = named;
  const [now, then] = [definitionIn(fields, present), definitionIn(fields, wanted)];
  const { from, to } = changeBetween(fields, '', now, then) ?? {};
  const names = new Set(Object.keys({ ...from, ...to }));
  return fields.all.filter(
    ({ name, patched }) => patched !== false && (names.has(name) || hasSecret(then[name] ?? null)),
  );
}

function exists(named: NamedResources, present: ConfiguredEntity, differing: readonly Field[]): Problem {
  const others = differing.filter(({ name }) => name !== 'name');
  if (others.length === 0)
    return problem(
      'resource-exists',
      `The existing ${named.singular} is called ${quoted(present.name)}, which is the same name. Choose another name.`,
    );
  const detail =
    `There is a ${named.singular} named ${quoted(present.name)} already, and it differs from the given one in ` +
    `${others.map(({ name }) => name).join(', ')}. ${remedyFor(named, present, others)}, or choose another name.`;
  return problem('resource-exists', detail);
}

/** How to make a resource as a definition says. */
function remedyFor(
  { collection }: NamedResources,
  present: ConfiguredEntity,
  differing: readonly Field[],
): string {
  const link = linkOf(collection, present);
  const others = differing.filter(({ name }) => name !== 'state');
  if (others.some(({ setting }) => setting === undefined)) return `Delete it first with DELETE ${link}`;
  if (others.length === 0) return 'Start or stop it';
  return `Change it with PATCH ${link}${others.length < differing.length ? ', start or stop it' : ''}`;
}

/** Gives the resource of a definition; refused with every fault of the definition. */
function checkDefinition(
  snapshot: State,
  { fields }: NamedResources,
  definition: Json,
): Result<ConfiguredEntity> {
  const { entry, faults } = checkEntry(fields, definition, [], nameFinder(snapshot));
  const thing = entry && loadEntity(fields, entry);
  const all = oneForEachPointer([
    ...reservedFaults(definition),
    ...seenFaults(fields, definition),
    ...faults,
    // A secret parameter comes in sealed, and only a declared name is secret.
    ...misplacedFaults(mapEntries(fields.all, definition), isSecretIn(snapshot)),
  ]);
  return thing && all.length === 0 ? ok(thing) : { ok: false, problem: problemOf(all) };
}

/** The faults of what the gateway counts or sees: no definition can have these members and values. */
function seenFaults({ all }: Fields, definition: Json): readonly Fault[] {
  const code = 'field-not-modifiable';
  return all.flatMap(({ name, derived, accepts, seen, wanted, shape }): readonly Fault[] => {
    const given = isObject(definition) ? definition[name] : undefined;
    if (given === undefined) return [];
    if (derived === true ? accepts !== undefined : seen === true) {
      const detail = 'is what the gateway counts or sees: leave the member out';
      return [{ pointer: formatPointer([name]), code, detail }];
    }
    const parsed = wanted && parseShape(wanted, given, [name]);
    if (parsed?.ok !== false) return [];
    if (!parseShape(shape, given).ok) return parsed.faults;
    return parsed.faults.map((fault) => ({
      ...fault,
      code,
      detail: `${fault.detail}; the gateway reports others`,
    }));
  });
}
