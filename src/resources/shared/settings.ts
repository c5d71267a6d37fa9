/**
 * Settings: the JSON Patch of a resource, its event and effect, and its undo, for every kind with settings.
 */
import {
  accepted,
  eventHead,
  refused,
  unchanged,
  type Change,
  type Context,
  type EffectHead,
  type EffectTable,
  type EventHead,
  type EventTable,
} from '../../core/decision.ts';
import type { Fields } from '../../core/field.ts';
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
import { sealOperations } from '../../core/patch-seal.ts';
import type { ObjectShape } from '../../core/shape.ts';
import { createTimeFormat } from '../../core/time.ts';
import { invertUpdate, mergeUpdate, type ReversibleUpdate, type Update } from '../../core/update.ts';
import { endpoint } from '../../http/endpoint.ts';
import { patchMediaTypes, type Route } from '../../http/route.ts';
import { copyOperations, parseOperations, type Operation, type ParsedOperation } from '../../json/patch.ts';
import type { JsonObject } from '../../json/value.ts';
import { ok, problem, type Result } from '../../problem.ts';
import { isSecretIn } from '../../snapshot/secret-parameter.ts';
import {
  assertInputs,
  linkOf,
  nameFinder,
  replaceSettings,
  shownVersion,
  singular,
  type Collections,
  type Snapshot,
} from '../../snapshot/snapshot.ts';
import type { Decision } from '../index.ts';
import type { Adoption, AdoptionSteps } from './adoption.ts';
import type { About } from './kind.ts';
import { finder, lookUp } from './look-up.ts';
import type { Rendering } from './rendering.ts';
import type { BoundRoute } from './route.ts';

/** The collections whose resources have settings. */
type Patchables = Exclude<keyof Collections, 'users'>;
type KindOf<C extends Patchables> = (typeof singular)[C];
type SettingsOf<C extends Patchables> = Collections[C]['settings'];

/** The event of a change of settings. @internal */
export type UpdateEvent<K extends string, T> = About<K> & EventHead<`${K}.updated`> & ReversibleUpdate<T>;

/** The effect of a change of settings. @internal */
export type UpdateEffect<K extends string, T> = About<K> & EffectHead<`${K}.update`> & Update<T>;

type Event<C extends Patchables> = UpdateEvent<KindOf<C>, SettingsOf<C>>;
type Effect<C extends Patchables> = UpdateEffect<KindOf<C>, SettingsOf<C>>;

/** The parts of the settings of a kind that do not follow from its fields. */
interface Rules<C extends Patchables> extends PatchHooks<SettingsOf<C>> {
  /** Shape of the answer to a patch, if that is not the representation. */
  readonly answerShape?: ObjectShape;
  /** Gives the representation, which is the answer to a patch. A `test` may read its fields. */
  represent(this: void, snapshot: Snapshot, thing: Collections[C], rendering: Rendering): object;
  /** Applies an update to settings that may have changed since the decision. Default: {@link mergeUpdate}. */
  merge?(this: void, present: SettingsOf<C>, update: Update<SettingsOf<C>>): SettingsOf<C>;
  /** Gives the settings of a document, with everything that the host reports as at present. Default: `given`. */
  adopted?(this: void, present: SettingsOf<C>, given: SettingsOf<C>): SettingsOf<C>;
  /** A further change of the snapshot together with the settings. */
  after?(this: void, snapshot: Snapshot, update: Update<SettingsOf<C>>, change: Change): Snapshot;
}

/** The settings of a kind. @internal */
export interface KindSettings<C extends Patchables> extends Rules<C> {
  readonly collection: C;
  readonly fields: Fields;
  readonly view: PatchView<SettingsOf<C>>;
  readonly events: EventTable<Snapshot, Event<C>>;
  readonly effects: EffectTable<Effect<C>>;
}

/** Creates the settings of a kind: the patch view, the event and the effect of an update. @internal */
export function settingsOf<C extends Patchables>(
  collection: C,
  fields: Fields,
  rules: Rules<C>,
): KindSettings<C> {
  const kind: KindOf<C> = singular[collection];
  const { merge = mergeUpdate, after = (snapshot: Snapshot) => snapshot } = rules;
  const updated = {
    origin: 'command',
    effect: `${kind}.update`,
    revert: (snapshot: Snapshot, event: Event<C>, context: Context) =>
      revertUpdate(settings, snapshot, event, context),
    evolve(snapshot: Snapshot, event: Event<C>, change: Change) {
      const next = replaceSettings(snapshot, collection, event[kind], change, (present) =>
        merge(present, event),
      );
      return after(next, event, change);
    },
  };
  // The cast is needed because the compiler does not see that the computed keys are the types of the kind.
  const settings: KindSettings<C> = {
    ...rules,
    collection,
    fields,
    view: patchViewOf<SettingsOf<C>>(fields, rules),
    events: { [`${kind}.updated`]: updated } as unknown as EventTable<Snapshot, Event<C>>,
    effects: { [`${kind}.update`]: { aspect: 'settings', undo: invertUpdate } } as unknown as EffectTable<
      Effect<C>
    >,
  };
  return settings;
}

/** The patch view in which the secret parameters of a snapshot are secret. */
function viewIn<C extends Patchables>(
  { view }: KindSettings<C>,
  snapshot: Snapshot,
): PatchView<SettingsOf<C>> {
  return snapshot.secretParameters === undefined ? view : withSecretEntries(view, isSecretIn(snapshot));
}

const utc = createTimeFormat('UTC');

/** A body may be 32 levels deep. The list and the operation are two of them. @internal */
export const valueLimits = { depth: 30 };

/** Decides a patch from a program: one event and one effect, unchanged, or refused with every fault. @internal */
export function decidePatch<C extends Patchables>(
  settings: KindSettings<C>,
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
): Decision {
  assertInputs(snapshot, context);
  const parsed = copyOperations(operations, valueLimits);
  if (!parsed.ok) return refused(snapshot, parsed.problem);
  const found = lookUp(snapshot, settings.collection, name);
  if (!found.ok) return refused(snapshot, found.problem);
  return decideFound(settings, snapshot, found.value, parsed.value, context);
}

function decideFound<C extends Patchables>(
  settings: KindSettings<C>,
  snapshot: Snapshot,
  thing: Collections[C],
  operations: readonly ParsedOperation[],
  context: Context,
): Decision {
  const shown = (): JsonObject =>
    settings.represent(snapshot, thing, { times: context.times ?? utc }) as unknown as JsonObject;
  const patched = patchSettings(
    viewIn(settings, snapshot),
    shown,
    thing.settings as SettingsOf<C>,
    operations,
    nameFinder(snapshot),
  );
  return decideUpdate(settings, snapshot, thing, patched, context);
}

/** An inverse has up to two operations for each operation of a patch, and its pointers lead to sealed texts too. */
const inverseRules = { maxOperations: Infinity, maxPointerLength: Infinity };

/**
 * Decides the undo of an update: applies its inverse, with one event and one effect, as for a patch. Refused if a value
 * that the update changed has changed since.
 */
function revertUpdate<C extends Patchables>(
  settings: KindSettings<C>,
  snapshot: Snapshot,
  event: Event<C>,
  context: Context,
): Decision {
  // An event from a journal is not frozen, so its operations are copied.
  const parsed = copyOperations(event.inverse, valueLimits, inverseRules);
  if (!parsed.ok) return refused(snapshot, parsed.problem);
  // A copy could show a secret under another name, and several copies could multiply the size of a value.
  if (parsed.value.some(({ op }) => op === 'copy' || op === 'move')) {
    const detail =
      'The inverse of an event must not contain copy or move. Pass the event as it was published.';
    return refused(snapshot, problem('op-not-allowed', detail));
  }
  const { collection } = settings;
  const found = lookUp(snapshot, collection, event[singular[collection] as KindOf<C>]);
  if (!found.ok) return refused(snapshot, found.problem);
  const present = found.value.settings as SettingsOf<C>;
  const reverted = revertSettings(viewIn(settings, snapshot), present, parsed.value, nameFinder(snapshot));
  return decideUpdate(settings, snapshot, found.value, reverted, context);
}

/** Creates the adoption of a kind: its settings, and the steps that start and stop. @internal */
export function adoptionOf<C extends Patchables>(
  settings: KindSettings<C>,
  lifecycle: Pick<AdoptionSteps, 'stop' | 'start'> = {},
): Adoption {
  const { collection } = settings;
  const adopted = (present: Collections[C], wanted: Collections[C]): SettingsOf<C> => {
    const [now, then] = [present.settings as SettingsOf<C>, wanted.settings as SettingsOf<C>];
    return settings.adopted?.(now, then) ?? then;
  };
  const update: AdoptionSteps['update'] = (
    snapshot,
    present: Collections[C],
    wanted: Collections[C],
    context,
  ) => {
    const before = present.settings as SettingsOf<C>;
    const view = viewIn(settings, snapshot);
    const taken = adoptSettings(view, before, adopted(present, wanted), nameFinder(snapshot));
    return decideUpdate(settings, snapshot, present, taken, context);
  };
  return { collection, adopted, steps: { update, ...lifecycle } };
}

function decideUpdate<C extends Patchables>(
  { collection, events }: KindSettings<C>,
  snapshot: Snapshot,
  thing: Collections[C],
  patched: Result<Patched<SettingsOf<C>>>,
  context: Context,
): Decision {
  const resource = linkOf(collection, thing);
  if (!patched.ok) return refused(snapshot, patched.problem, [resource]);
  const before = thing.settings as SettingsOf<C>;
  const { after, operations, inverse } = patched.value;
  if (after === before) return unchanged(snapshot, [resource]);
  const kind = singular[collection];
  const about = { [kind]: thing.key };
  const update: Update<SettingsOf<C>> = { before, after, operations };
  const event = { type: `${kind}.updated`, ...eventHead(resource, context), ...about, ...update, inverse };
  const effect = { type: `${kind}.update`, resource, ...about, ...update };
  // The casts are needed because a computed member is lost on the types.
  const change = { events: [event as unknown as Event<C>], effects: [effect as unknown as Effect<C>] };
  return accepted(events, snapshot, [resource], change) as unknown as Decision;
}

/** Creates the route `PATCH` of a resource. @internal */
export function patchRoute<C extends Patchables>(
  settings: KindSettings<C>,
  aliases: Route['aliases'] = [],
): BoundRoute {
  const { collection, fields, view, represent, answerShape = fields.representation } = settings;
  const id: `${Patchables}.patch` = `${collection}.patch`;
  return {
    ...endpoint(id),
    role: 'administrator',
    aliases,
    query: ['dry_run'],
    search: [],
    fields: [],
    mediaTypes: patchMediaTypes,
    summary: `Modifies a ${singular[collection]} with a JSON Patch: ${view.names}.`,
    answerShape,
    find: finder(collection),
    version: (snapshot, thing: Collections[C]) => shownVersion(snapshot, collection, thing),
    link: (thing: Collections[C]) => linkOf(collection, thing),
    async command(_parameters, body, secrets) {
      const parsed = parseOperations(body);
      if (!parsed.ok) return parsed;
      const safe = withSecretEntries(view, (name) => secrets.isSecretParameter(name));
      const operations = await sealOperations(safe, parsed.value, secrets);
      if (!operations.ok) return operations;
      return ok({
        decide: (snapshot, thing: Collections[C], context) =>
          decideFound(settings, snapshot, thing, operations.value, context),
      });
    },
    answer: (snapshot, thing: Collections[C], rendering) => represent(snapshot, thing, rendering),
  };
}
