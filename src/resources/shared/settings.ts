/**
 * Settings: the JSON Patch of a resource, its event and effect, and its undo, for every kind with settings.
 */
import { conflicts, inverse, merged, type Written } from '../../core/change.ts';
import type { Named, Singular } from '../../core/collection.ts';
import {
  accepted,
  eventHead,
  refused,
  unchanged,
  type Context,
  type DecisionOf,
  type EffectHead,
  type EventHead,
  type EventTable,
} from '../../core/decision.ts';
import { membersIn, settingsIn, shownSettings, type Fields, type PartsForm } from '../../core/field.ts';
import type { SealedOperation } from '../../core/patch-rule.ts';
import {
  replaceSettings,
  patchSettings,
  patchViewOf,
  withSecretEntries,
  type PatchHooks,
  type PatchView,
} from '../../core/patch-view.ts';
import type { Note } from '../../core/note.ts';
import { isTextList, type FindName } from '../../core/reference.ts';
import { sealOperations } from '../../core/seal.ts';
import { oneForEachPointer, parseShape, type ObjectShape } from '../../core/shape.ts';
import { createTimeFormat } from '../../core/time.ts';
import { updateBetween, type Update } from '../../core/update.ts';
import { patchMediaTypes, plainCommand, type Route } from '../../http/route.ts';
import { copyOperations, parseOperations, type Operation } from '../../json/patch.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';
import { fail, ok, problemOf, type Fault, type Result } from '../../problem.ts';
import { reservedFaults } from '../../snapshot/entry.ts';
import { isSecretIn } from '../../snapshot/secret-parameter.ts';
import { linkOf, nameFinder, type ConfiguredEntity, type State } from '../../snapshot/state.ts';
import { foldOf } from './change-fold.ts';
import type { About, AdoptionSteps, Changing } from './kind.ts';
import { linkOfCollection, lookUp, unresolvedCollections } from './look-up.ts';
import type { Rendering } from './rendering.ts';
import { asBroughtBack, broughtBack } from './returning-drain.ts';
import { atResource, endpointOf, type KindRoute } from './route.ts';
import { linksIn } from './use.ts';

/** The event of a change of settings. @internal */
export type UpdateEvent<K extends string, T extends object> = About<K> &
  EventHead<`${K}.updated`> &
  Update<T>;

/** The effect of a change of settings. @internal */
export type UpdateEffect<K extends string, T extends object> = About<K> &
  EffectHead<`${K}.update`> &
  Update<T>;

/** The parts of the settings of a kind that do not follow from its fields. */
interface Rules<S extends State, T extends ConfiguredEntity> extends PatchHooks<T['settings']> {
  /** Shape of the answer to a patch, if that is not the representation. */
  readonly answerShape?: ObjectShape;
  /** Gives the representation, which is the answer to a patch. A `test` may read its fields. */
  represent(this: void, snapshot: S, thing: T, rendering: Rendering): object;
}

/** The settings of a kind. `S` is the snapshot, and `T` a resource. @internal */
export interface KindSettings<
  S extends State,
  T extends ConfiguredEntity,
  K extends Singular,
  M extends object = T['settings'],
> extends Rules<S, T> {
  readonly named: Named<T, K>;
  readonly fields: Fields;
  readonly view: PatchView<T['settings']>;
  readonly events: EventTable<S, UpdateEvent<K, M>>;
}

/**
 * Creates the settings of a kind: the patch view, the event and the effect of an update. `M` has the settings by the
 * names of their fields.
 *
 * @internal
 */
export function settingsOf<
  S extends State,
  T extends ConfiguredEntity,
  K extends Singular,
  M extends object = T['settings'],
>(named: Changing<S, T> & Named<T, K>, rules: Rules<S, T>): KindSettings<S, T, K, M> {
  const { singular: kind, fields } = named;
  const updated = {
    effect: `${kind}.update`,
    revert: (snapshot: S, event: AnyUpdate<K>, context: Context) =>
      revertUpdate(settings, snapshot, event, context),
    evolve: foldOf(named),
  };
  // The casts are needed because the compiler does not see that the computed keys are the types of the kind.
  const settings: KindSettings<S, T, K, M> = {
    ...rules,
    named,
    fields,
    view: patchViewOf<T['settings']>(fields, rules),
    events: { [`${kind}.updated`]: updated } as unknown as KindSettings<S, T, K, M>['events'],
  };
  return settings;
}

/** An update of a resource of a kind, of which only the fields say what the members are. */
type AnyUpdate<K extends string> = About<K> & { readonly resource: string } & Update<object>;

/** The decision about a change of settings. */
type UpdateDecision<S, K extends Singular, M extends object> = DecisionOf<
  S,
  UpdateEvent<K, M>,
  UpdateEffect<K, M>
>;

/** What the settings of a patch are checked with: the patch view with the secret parameters, and all names. */
function around<S extends State, T extends ConfiguredEntity, K extends Singular, M extends object>(
  { view }: KindSettings<S, T, K, M>,
  snapshot: S,
): { readonly view: PatchView<T['settings']>; readonly names: FindName } {
  const hasSecrets = snapshot.secretParameters !== undefined;
  return {
    view: hasSecrets ? withSecretEntries(view, isSecretIn(snapshot)) : view,
    names: nameFinder(snapshot),
  };
}

const utc = createTimeFormat('UTC');

/** A body may be 32 levels deep. The list and the operation are two of them. @internal */
export const valueLimits = { depth: 30 };

/** Decides a patch from a program: one event and one effect, unchanged, or refused with every fault. @internal */
export function decidePatch<
  S extends State,
  T extends ConfiguredEntity,
  K extends Singular,
  M extends object,
>(
  settings: KindSettings<S, T, K, M>,
  snapshot: S,
  name: string,
  operations: readonly Operation[],
  context: Context,
): UpdateDecision<S, K, M> {
  const parsed = copyOperations(operations, valueLimits);
  if (!parsed.ok) return refused(snapshot, parsed.problem);
  const found = lookUp(snapshot, settings.named, name);
  if (!found.ok) return refused(snapshot, found.problem, [linkOfCollection(settings.named)]);
  return decideFound(settings, snapshot, found.value, parsed.value, context);
}

function decideFound<S extends State, T extends ConfiguredEntity, K extends Singular, M extends object>(
  settings: KindSettings<S, T, K, M>,
  snapshot: S,
  found: T,
  operations: readonly SealedOperation[],
  context: Context,
): UpdateDecision<S, K, M> {
  const thing = asPatched(settings, found);
  const shown = (): JsonObject =>
    settings.represent(snapshot, found, { times: context.times ?? utc }) as unknown as JsonObject;
  const { view, names } = around(settings, snapshot);
  const patched = patchSettings(view, shown, thing.settings, operations, names);
  return decideUpdate(settings, snapshot, thing, patched, context);
}

/**
 * Decides the undo of an update: what it has changed becomes what it was, and everything else stays. Refused if one of
 * these members has changed since, or a part of it.
 */
function revertUpdate<S extends State, T extends ConfiguredEntity, K extends Singular, M extends object>(
  settings: KindSettings<S, T, K, M>,
  snapshot: S,
  event: AnyUpdate<K>,
  context: Context,
): UpdateDecision<S, K, M> {
  const { named, fields } = settings;
  const found = lookUp(snapshot, named, event[named.singular]);
  if (!found.ok) return refused(snapshot, found.problem, [linkOfCollection(named)]);
  const thing = asPatched(settings, found.value);
  const link = linkOf(named.collection, thing);
  const present = membersIn(fields, thing.settings);
  const { now } = context;
  const asLeft = (members: object | undefined): object | undefined =>
    members && asBroughtBack(members, now, present);
  const back = reverted(fields, link, present, { from: asLeft(event.from), to: asLeft(event.to) });
  if (!back.ok) return refused(snapshot, back.problem, [link]);
  const after = broughtBack(link, back.value, now, present);
  const { view, names } = around(settings, snapshot);
  const taken = replaceSettings(view, thing.settings, settingsIn(fields, after.settings), names);
  return decideUpdate(settings, snapshot, thing, taken, context, after.notes);
}

/**
 * Gives members once an update is taken back: what it has changed becomes what it was, and everything else stays.
 *
 * @param update - what a host has passed as an update
 * @returns the members; refused if the update cannot be of these fields, and if what it has changed has changed since
 * @internal
 */
export function reverted(
  fields: Fields,
  link: string,
  present: JsonObject,
  update: Partial<Record<'from' | 'to', object | undefined>>,
): Result<JsonObject> {
  const checked = checkedUpdate(fields, update);
  if (!checked.ok) return checked;
  const back = { link, ...inverse(checked.value) };
  const places = conflicts(fields, present, back);
  return places.length > 0 ? changedSince(link, places) : ok(merged(fields, present, back) ?? present);
}

/** An update that a host has passed; refused if it cannot be of these fields. */
function checkedUpdate(
  { byName, parts }: Fields,
  { from, to }: Partial<Record<'from' | 'to', object | undefined>>,
): Result<Written> {
  const isOfSettings = [from, to].every(
    (members) =>
      members !== undefined &&
      Object.entries(members).every(
        ([name, value]) => byName.get(name)?.setting !== undefined && hasForm(value as Json, parts[name]),
      ),
  );
  if (!isOfSettings)
    return fail(
      'op-not-allowed',
      'The update must be of settings alone. Pass the event as it was published, with its secrets.',
    );
  const faults = [from, to].flatMap((members = {}) => reservedFaults(members as Json));
  return faults.length === 0
    ? ok({ from, to } as Written)
    : { ok: false, problem: problemOf(oneForEachPointer(faults)) };
}

/** Whether a value, or what is left of it in an entry of the history, can be that of a field. */
function hasForm(value: Json, form: PartsForm | undefined): boolean {
  if (form === 'words') return isTextList(value);
  if (form === 'links') return isTextList(value) || (isObject(value) && isTextList(Object.values(value)));
  return form === undefined || isObject(value);
}

/** The refusal of a way back: places have other values now. */
function changedSince(link: string, pointers: readonly string[]): Result<never> {
  const faults = pointers.map((pointer): Fault => ({
    pointer,
    code: 'patch-test-failed',
    detail: 'has changed since',
  }));
  return fail(
    'patch-test-failed',
    `${link} has changed since at ${pointers.join(', ')}. Nothing was changed.`,
    faults,
  );
}

/** Creates the adoption of a kind: its settings, and the other steps. @internal */
export function adoptionOf<S extends State, T extends ConfiguredEntity, K extends Singular, M extends object>(
  settings: KindSettings<S, T, K, M>,
  others: Omit<AdoptionSteps, 'update'> = {},
): AdoptionSteps {
  const update = (snapshot: S, present: T, wanted: T, context: Context): UpdateDecision<S, K, M> =>
    decideSettings(settings, snapshot, present, wanted.settings, context);
  return { update, ...others };
}

/**
 * Decides other settings for a resource: one event and one effect, unchanged, or refused with every fault. @internal
 */
export function decideSettings<
  S extends State,
  T extends ConfiguredEntity,
  K extends Singular,
  M extends object,
>(
  settings: KindSettings<S, T, K, M>,
  snapshot: S,
  thing: T,
  wanted: T['settings'],
  context: Context,
): UpdateDecision<S, K, M> {
  const present = asPatched(settings, thing);
  const after = asPatched(settings, { ...thing, settings: wanted });
  const { view, names } = around(settings, snapshot);
  const taken = replaceSettings(view, present.settings, after.settings, names);
  return decideUpdate(settings, snapshot, present, taken, context);
}

/** A resource with the settings that a patch sees. */
function asPatched<S extends State, T extends ConfiguredEntity, K extends Singular, M extends object>(
  { fields }: KindSettings<S, T, K, M>,
  thing: T,
): T {
  const settings = shownSettings(fields, thing);
  return settings === thing.settings ? thing : { ...thing, settings };
}

/** @param thing - the resource with the settings that a patch sees */
function decideUpdate<S extends State, T extends ConfiguredEntity, K extends Singular, M extends object>(
  { named: { collection, singular: kind }, fields, events }: KindSettings<S, T, K, M>,
  snapshot: S,
  thing: T,
  patched: Result<T['settings']>,
  context: Context,
  notes: readonly Note[] = [],
): UpdateDecision<S, K, M> {
  const resource = linkOf(collection, thing);
  if (!patched.ok)
    return refused(snapshot, patched.problem, [resource, ...unresolvedCollections(fields, patched.problem)]);
  const { settings: before } = thing;
  const { value: after } = patched;
  if (after === before) return unchanged(snapshot, [resource], notes);
  // An undo comes later than the event, so another field can be in the way.
  const whole = parseShape(fields.whole, { ...thing, ...after });
  if (!whole.ok) return refused(snapshot, problemOf(whole.faults), [resource]);
  const update = updateBetween(fields, membersIn(fields, before), membersIn(fields, after));
  // The cast is needed because a computed member is lost on the types.
  const event = { type: `${kind}.updated`, ...eventHead(resource, context), [kind]: thing.key, ...update };
  const change = { events: [event] as never };
  return accepted(events, snapshot, [resource, ...addedLinks(fields, update)], change, notes);
}

/** The links that an update adds: the decision rests on the existence of what they name. */
function addedLinks({ links }: Fields, { from, to }: Update<object>): readonly string[] {
  return Object.keys(links).flatMap((name) => {
    const old = linksIn(from, name);
    return linksIn(to, name).filter((link) => !old.includes(link));
  });
}

/** Creates the route `PATCH` of a resource. @internal */
export function patchRoute<S extends State, T extends ConfiguredEntity, K extends Singular, M extends object>(
  settings: KindSettings<S, T, K, M>,
  aliases: Route['aliases'] = [],
): KindRoute {
  const { named, fields, view, represent, answerShape = fields.representation } = settings;
  return {
    ...plainCommand,
    ...endpointOf(named, 'patch'),
    role: 'administrator',
    aliases,
    mediaTypes: patchMediaTypes,
    summary: `Modifies a ${named.singular} with a JSON Patch: ${view.names}.`,
    answerShape,
    ...atResource(named),
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
