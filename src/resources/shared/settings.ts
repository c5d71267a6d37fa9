/**
 * Settings: the JSON Patch of a resource, its event and effect, and its undo, for every kind with settings.
 */
import type { Named, Singular } from '../../core/collection.ts';
import {
  accepted,
  eventHead,
  refused,
  unchanged,
  type Context,
  type DecisionOf,
  type EffectHead,
  type EffectTable,
  type EventHead,
  type EventTable,
  type Fold,
} from '../../core/decision.ts';
import { shownSettings, type Fields } from '../../core/field.ts';
import type { SealedOperation } from '../../core/patch-rule.ts';
import {
  adoptSettings,
  patchSettings,
  patchViewOf,
  revertSettings,
  withSecretEntries,
  type Patched,
  type PatchHooks,
  type PatchView,
} from '../../core/patch-view.ts';
import type { Note } from '../../core/note.ts';
import { sealOperations } from '../../core/seal.ts';
import { parseShape, type ObjectShape } from '../../core/shape.ts';
import { createTimeFormat } from '../../core/time.ts';
import {
  invertUpdate,
  mergeUpdate,
  type Changed,
  type ReversibleUpdate,
  type Update,
} from '../../core/update.ts';
import { commandQuery, patchMediaTypes, type Route } from '../../http/route.ts';
import { copyOperations, parseOperations, type Operation, type ParsedOperation } from '../../json/patch.ts';
import { assertObject, type JsonObject } from '../../json/value.ts';
import { fail, ok, problemOf, type Result } from '../../problem.ts';
import { isSecretIn } from '../../snapshot/secret-parameter.ts';
import {
  find,
  linkOf,
  nameFinder,
  replace,
  shownVersion,
  type ConfiguredEntity,
  type State,
} from '../../snapshot/state.ts';
import type { About, AdoptionSteps } from './kind.ts';
import { finder, linkOfCollection, lookUp, unresolvedCollections } from './look-up.ts';
import type { Rendering } from './rendering.ts';
import { broughtBack, inverseAsBroughtBack } from './returning-drain.ts';
import { endpointOf, type KindRoute } from './route.ts';
import { linksIn } from './use.ts';

/** The event of a change of settings. @internal */
export type UpdateEvent<K extends string, T> = About<K> & EventHead<`${K}.updated`> & ReversibleUpdate<T>;

/** The effect of a change of settings. @internal */
export type UpdateEffect<K extends string, T> = About<K> & EffectHead<`${K}.update`> & Update<T>;

/** The parts of the settings of a kind that do not follow from its fields. */
interface Rules<S extends State, T extends ConfiguredEntity> extends PatchHooks<T['settings']> {
  /** Shape of the answer to a patch, if that is not the representation. */
  readonly answerShape?: ObjectShape;
  /** Gives the representation, which is the answer to a patch. A `test` may read its fields. */
  represent(this: void, snapshot: S, thing: T, rendering: Rendering): object;
  /**
   * Applies an update to a copy of a resource that may have changed since the decision. Default: {@link mergeUpdate}.
   */
  merge?(this: void, present: T, update: Changed<T['settings']> & { readonly at: number }): T;
  /** A further change of the snapshot together with the settings. */
  after?(this: void, snapshot: S, update: Changed<T['settings']>, fold: Fold): S;
}

/** The settings of a kind. `S` is the snapshot, and `T` a resource. @internal */
export interface KindSettings<S extends State, T extends ConfiguredEntity, K extends Singular> extends Rules<
  S,
  T
> {
  readonly named: Named<T, K>;
  readonly fields: Fields;
  readonly view: PatchView<T['settings']>;
  readonly events: EventTable<S, UpdateEvent<K, T['settings']>>;
  readonly effects: EffectTable<UpdateEffect<K, T['settings']>>;
}

/** Creates the settings of a kind: the patch view, the event and the effect of an update. @internal */
export function settingsOf<S extends State, T extends ConfiguredEntity, K extends Singular>(
  named: Named<T, K>,
  fields: Fields,
  rules: Rules<S, T>,
): KindSettings<S, T, K> {
  const kind = named.singular;
  const { merge = withUpdate, after = (snapshot: S) => snapshot } = rules;
  const updated = {
    origin: 'command',
    effect: `${kind}.update`,
    revert: (snapshot: S, event: UpdateEvent<K, T['settings']>, context: Context) =>
      revertUpdate(settings, snapshot, event, context),
    evolve(snapshot: S, event: UpdateEvent<K, T['settings']>, fold: Fold) {
      const key = event[kind];
      // Also if the resource is gone: an event from a store can be damaged.
      for (const each of [event.before, event.after]) assertObject(each, 'The settings');
      // Read first: a fold changes the collection in place.
      const then = find(snapshot, named, key);
      const next = replace(snapshot, named, key, fold, (present) => merge(present, event));
      const now = find(next, named, key);
      return then && now ? after(next, { before: then.settings, after: now.settings }, fold) : next;
    },
  };
  // The casts are needed because the compiler does not see that the computed keys are the types of the kind.
  const settings: KindSettings<S, T, K> = {
    ...rules,
    named,
    fields,
    view: patchViewOf<T['settings']>(fields, rules),
    events: { [`${kind}.updated`]: updated } as unknown as KindSettings<S, T, K>['events'],
    effects: {
      [`${kind}.update`]: { aspect: 'settings', undo: invertUpdate },
    } as unknown as KindSettings<S, T, K>['effects'],
  };
  return settings;
}

/** A copy of a resource with an update of its settings. @internal */
export function withUpdate<T extends ConfiguredEntity>(present: T, update: Changed<T['settings']>): T {
  return { ...present, settings: Object.freeze(mergeUpdate(present.settings, update)) };
}

/** The decision about a change of settings. */
type UpdateDecision<S, T extends ConfiguredEntity, K extends Singular> = DecisionOf<
  S,
  UpdateEvent<K, T['settings']>,
  UpdateEffect<K, T['settings']>
>;

/** The patch view in which the secret parameters of a snapshot are secret. */
function viewIn<S extends State, T extends ConfiguredEntity, K extends Singular>(
  { view }: KindSettings<S, T, K>,
  snapshot: S,
): PatchView<T['settings']> {
  return snapshot.secretParameters === undefined ? view : withSecretEntries(view, isSecretIn(snapshot));
}

const utc = createTimeFormat('UTC');

/** A body may be 32 levels deep. The list and the operation are two of them. @internal */
export const valueLimits = { depth: 30 };

/** Decides a patch from a program: one event and one effect, unchanged, or refused with every fault. @internal */
export function decidePatch<S extends State, T extends ConfiguredEntity, K extends Singular>(
  settings: KindSettings<S, T, K>,
  snapshot: S,
  name: string,
  operations: readonly Operation[],
  context: Context,
): UpdateDecision<S, T, K> {
  const parsed = copyOperations(operations, valueLimits);
  if (!parsed.ok) return refused(snapshot, parsed.problem);
  const found = lookUp(snapshot, settings.named, name);
  if (!found.ok) return refused(snapshot, found.problem, [linkOfCollection(settings.named)]);
  return decideFound(settings, snapshot, found.value, parsed.value, context);
}

function decideFound<S extends State, T extends ConfiguredEntity, K extends Singular>(
  settings: KindSettings<S, T, K>,
  snapshot: S,
  found: T,
  operations: readonly SealedOperation[],
  context: Context,
): UpdateDecision<S, T, K> {
  const thing = asPatched(settings, found);
  const shown = (): JsonObject =>
    settings.represent(snapshot, found, { times: context.times ?? utc }) as unknown as JsonObject;
  const patched = patchSettings(
    viewIn(settings, snapshot),
    shown,
    thing.settings,
    operations,
    nameFinder(snapshot),
  );
  return decideUpdate(settings, snapshot, thing, patched, context);
}

/** An inverse has up to two operations for each operation of a patch, and its pointers lead to sealed texts too. */
const inverseRules = { maxOperations: Infinity, maxPointerLength: Infinity };

/**
 * The operations of the inverse of an update, as a host has passed them. Refused if they are none, or are operations
 * that no inverse has.
 *
 * @internal
 */
export function parsedInverse(inverse: readonly Operation[]): Result<readonly ParsedOperation[]> {
  // An event from a journal is not frozen, so its operations are copied.
  const parsed = copyOperations(inverse, valueLimits, inverseRules);
  // A copy could show a secret under another name, and several copies could multiply the size of a value.
  if (!parsed.ok || !parsed.value.some(({ op }) => op === 'copy' || op === 'move')) return parsed;
  return fail(
    'op-not-allowed',
    'The inverse of an event must not contain copy or move. Pass the event as it was published.',
  );
}

/**
 * Decides the undo of an update: applies its inverse, with one event and one effect, as for a patch. Refused if a value
 * that the update changed has changed since.
 */
function revertUpdate<S extends State, T extends ConfiguredEntity, K extends Singular>(
  settings: KindSettings<S, T, K>,
  snapshot: S,
  event: UpdateEvent<K, T['settings']>,
  context: Context,
): UpdateDecision<S, T, K> {
  const parsed = parsedInverse(event.inverse);
  if (!parsed.ok) return refused(snapshot, parsed.problem);
  const { named } = settings;
  const found = lookUp(snapshot, named, event[named.singular]);
  if (!found.ok) return refused(snapshot, found.problem, [linkOfCollection(named)]);
  const [view, names, thing] = [
    viewIn(settings, snapshot),
    nameFinder(snapshot),
    asPatched(settings, found.value),
  ];
  const { settings: present } = thing;
  const inverse = inverseAsBroughtBack(parsed.value, context.now, present);
  const reverted = revertSettings(view, present, inverse, names);
  if (!reverted.ok) return decideUpdate(settings, snapshot, thing, reverted, context);
  const { after } = reverted.value;
  const back = broughtBack(linkOf(named.collection, thing), after, context.now, present);
  const taken = back.settings === after ? reverted : adoptSettings(view, present, back.settings, names);
  return decideUpdate(settings, snapshot, thing, taken, context, back.notes);
}

/** Creates the adoption of a kind: its settings, and the other steps. @internal */
export function adoptionOf<S extends State, T extends ConfiguredEntity, K extends Singular>(
  settings: KindSettings<S, T, K>,
  others: Omit<AdoptionSteps, 'update'> = {},
): AdoptionSteps {
  const update = (snapshot: S, present: T, wanted: T, context: Context): UpdateDecision<S, T, K> =>
    decideSettings(settings, snapshot, present, wanted.settings, context);
  return { update, ...others };
}

/**
 * Decides other settings for a resource: one event and one effect, unchanged, or refused with every fault. @internal
 */
export function decideSettings<S extends State, T extends ConfiguredEntity, K extends Singular>(
  settings: KindSettings<S, T, K>,
  snapshot: S,
  thing: T,
  wanted: T['settings'],
  context: Context,
): UpdateDecision<S, T, K> {
  const present = asPatched(settings, thing);
  const after = asPatched(settings, { ...thing, settings: wanted });
  const taken = adoptSettings(
    viewIn(settings, snapshot),
    present.settings,
    after.settings,
    nameFinder(snapshot),
  );
  return decideUpdate(settings, snapshot, present, taken, context);
}

/** A resource with the settings that a patch sees. */
function asPatched<S extends State, T extends ConfiguredEntity, K extends Singular>(
  { fields }: KindSettings<S, T, K>,
  thing: T,
): T {
  const settings = shownSettings(fields, thing);
  return settings === thing.settings ? thing : { ...thing, settings };
}

/** @param thing - the resource with the settings that a patch sees */
function decideUpdate<S extends State, T extends ConfiguredEntity, K extends Singular>(
  { named: { collection, singular: kind }, fields, events }: KindSettings<S, T, K>,
  snapshot: S,
  thing: T,
  patched: Result<Patched<T['settings']>>,
  context: Context,
  notes: readonly Note[] = [],
): UpdateDecision<S, T, K> {
  const resource = linkOf(collection, thing);
  if (!patched.ok)
    return refused(snapshot, patched.problem, [resource, ...unresolvedCollections(fields, patched.problem)]);
  const { settings: before } = thing;
  const { after, operations, inverse } = patched.value;
  if (after === before) return unchanged(snapshot, [resource], notes);
  // An undo comes later than the event, so another field can be in the way.
  const whole = parseShape(fields.whole, { ...thing, ...after });
  if (!whole.ok) return refused(snapshot, problemOf(whole.faults), [resource]);
  const about = { [kind]: thing.key };
  const update: Update<T['settings']> = { before, after, operations };
  const event = { type: `${kind}.updated`, ...eventHead(resource, context), ...about, ...update, inverse };
  const effect = { type: `${kind}.update`, resource, ...about, ...update };
  // The casts are needed because a computed member is lost on the types.
  const change = { events: [event] as never, effects: [effect] as never };
  return accepted(events, snapshot, [resource, ...addedLinks(fields, before, after)], change, notes);
}

/** The links that an update adds: the decision rests on the existence of what they name. */
function addedLinks({ links }: Fields, before: object, after: object): readonly string[] {
  return Object.keys(links).flatMap((name) => {
    const [old, now] = [linksIn(before, name), linksIn(after, name)];
    return old === now ? [] : now.filter((link) => !old.includes(link));
  });
}

/** Creates the route `PATCH` of a resource. @internal */
export function patchRoute<S extends State, T extends ConfiguredEntity, K extends Singular>(
  settings: KindSettings<S, T, K>,
  aliases: Route['aliases'] = [],
): KindRoute {
  const { named, fields, view, represent, answerShape = fields.representation } = settings;
  const { collection, singular } = named;
  return {
    ...endpointOf(named, 'patch'),
    role: 'administrator',
    aliases,
    query: commandQuery,
    search: [],
    fields: [],
    mediaTypes: patchMediaTypes,
    summary: `Modifies a ${singular} with a JSON Patch: ${view.names}.`,
    answerShape,
    find: finder(named),
    version: (snapshot, thing: T) => shownVersion(snapshot, collection, thing),
    link: (thing: T) => linkOf(collection, thing),
    async command(_parameters, body, secrets) {
      const parsed = parseOperations(body);
      if (!parsed.ok) return parsed;
      const sealed = await sealOperations(view, parsed.value, secrets);
      return ok({
        decide: (snapshot: S, thing: T, context) => decideFound(settings, snapshot, thing, sealed, context),
        asked: sealed.map(({ op, path, from, value }) => ({ op, path, from, value })),
      });
    },
    answer: (snapshot: S, thing: T, rendering) => represent(snapshot, thing, rendering),
  };
}
