/**
 * The settings that kinds share: how a JSON Patch changes them, how that is told, and how it is undone.
 */
import {
  accepted,
  eventHead,
  refused,
  unchanged,
  type Change,
  type Context,
  type EffectOf,
  type EffectTable,
  type EventOf,
  type EventTable,
} from '../../core/decision.ts';
import type { Fields } from '../../core/field.ts';
import {
  patchSettings,
  patchShape,
  patchViewOf,
  revertSettings,
  sealOperations,
  type Patched,
  type PatchHooks,
  type PatchView,
} from '../../core/patch-view.ts';
import { createTimeFormat } from '../../core/time.ts';
import { invertUpdate, mergeUpdate, type ReversibleUpdate, type Update } from '../../core/update.ts';
import { patchMediaTypes, type Route } from '../../http/route.ts';
import { copyOperations, parseOperations, type Operation, type ParsedOperation } from '../../json/patch.ts';
import type { JsonObject } from '../../json/value.ts';
import { ok, problem, type Result } from '../../problem.ts';
import {
  linkOf,
  nameFinder,
  replaceSettings,
  shownVersion,
  singular,
  type Collections,
  type Snapshot,
} from '../../snapshot/snapshot.ts';
import type { Decision } from '../index.ts';
import type { About } from './kind.ts';
import { finder, lookUp } from './look-up.ts';
import type { Rendering } from './rendering.ts';
import type { BoundRoute } from './route.ts';

/** The collections whose things have settings. */
type Patchables = Exclude<keyof Collections, 'users'>;
type KindOf<C extends Patchables> = (typeof singular)[C];
type SettingsOf<C extends Patchables> = Collections[C]['settings'];

/** What happens to a thing whose settings change. @internal */
export type UpdateEvent<K extends string, T> = About<K> & EventOf<`${K}.updated`> & ReversibleUpdate<T>;

/** What the host is asked to do with a thing whose settings change. @internal */
export type UpdateEffect<K extends string, T> = About<K> & EffectOf<`${K}.update`> & Update<T>;

type Event<C extends Patchables> = UpdateEvent<KindOf<C>, SettingsOf<C>>;
type Effect<C extends Patchables> = UpdateEffect<KindOf<C>, SettingsOf<C>>;

/** What a kind says of its settings beyond its fields. */
interface Rules<C extends Patchables> extends PatchHooks<SettingsOf<C>> {
  /** The representation: it answers a patch, and a `test` may read its fields. */
  represent(this: void, snapshot: Snapshot, thing: Collections[C], rendering: Rendering): object;
  /** Puts an update into settings that may have changed since it was decided; {@link mergeUpdate} by default. */
  merge?(this: void, present: SettingsOf<C>, update: Update<SettingsOf<C>>): SettingsOf<C>;
  /** What else changes with the settings. */
  after?(this: void, snapshot: Snapshot, update: Update<SettingsOf<C>>, change: Change): Snapshot;
}

/** The settings of a kind. @internal */
export interface KindSettings<C extends Patchables> extends Rules<C> {
  readonly collection: C;
  readonly view: PatchView<SettingsOf<C>>;
  readonly events: EventTable<Snapshot, Event<C>>;
  readonly effects: EffectTable<Effect<C>>;
}

/** Gives a kind its settings. @internal */
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
  // The keys are computed, so the compiler cannot see that they are the types of the kind.
  const settings: KindSettings<C> = {
    ...rules,
    collection,
    view: patchViewOf<SettingsOf<C>>(fields, rules),
    events: { [`${kind}.updated`]: updated } as unknown as EventTable<Snapshot, Event<C>>,
    effects: { [`${kind}.update`]: invertUpdate } as unknown as EffectTable<Effect<C>>,
  };
  return settings;
}

const utc = createTimeFormat('UTC');

/** A body is at most 32 deep, of which the list and the operation are two. */
const valueLimits = { depth: 30 };

/** Decides a patch that a program gives: one event and one effect, or unchanged, or refused with every fault. @internal */
export function decidePatch<C extends Patchables>(
  settings: KindSettings<C>,
  snapshot: Snapshot,
  name: string,
  operations: readonly Operation[],
  context: Context,
): Decision {
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
  const { view, represent } = settings;
  const shown = (): JsonObject =>
    represent(snapshot, thing, { times: context.times ?? utc }) as unknown as JsonObject;
  const patched = patchSettings(
    view,
    shown,
    thing.settings as SettingsOf<C>,
    operations,
    nameFinder(snapshot),
  );
  return decideUpdate(settings, snapshot, thing, patched, context);
}

/** There may be two operations for each that a patch may have, and sealed texts are where no client can point. */
const inverseRules = { maxOperations: Infinity, maxPointerLength: Infinity };

/**
 * Decides what undoes an update that happened: its inverse, with one event and one effect, as for a patch; refused
 * when what the update changed has changed since.
 */
function revertUpdate<C extends Patchables>(
  settings: KindSettings<C>,
  snapshot: Snapshot,
  event: Event<C>,
  context: Context,
): Decision {
  // An event may come out of a journal: what it holds is not frozen then.
  const parsed = copyOperations(event.inverse, valueLimits, inverseRules);
  if (!parsed.ok) return refused(snapshot, parsed.problem);
  // Copies could show a secret under another name, and grow without end.
  if (parsed.value.some(({ op }) => op === 'copy' || op === 'move')) {
    const detail = 'The inverse of an event has no copy and no move. Take the event as it was published.';
    return refused(snapshot, problem('op-not-allowed', detail));
  }
  const { collection, view } = settings;
  const found = lookUp(snapshot, collection, event[singular[collection] as KindOf<C>]);
  if (!found.ok) return refused(snapshot, found.problem);
  const present = found.value.settings as SettingsOf<C>;
  const reverted = revertSettings(view, present, parsed.value, nameFinder(snapshot));
  return decideUpdate(settings, snapshot, found.value, reverted, context);
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
  // A computed member is lost on the types.
  const told = { events: [event as unknown as Event<C>], effects: [effect as unknown as Effect<C>] };
  return accepted(events, snapshot, [resource], told) as unknown as Decision;
}

/** The endpoint `PATCH` of one thing. @internal */
export function patchRoute<C extends Patchables>(
  settings: KindSettings<C>,
  paths: Pick<Route, 'path' | 'aliases'>,
): BoundRoute {
  const { collection, view, represent } = settings;
  return {
    ...paths,
    kind: 'command',
    id: `${collection}.patch`,
    method: 'PATCH',
    query: ['dry_run'],
    fields: [],
    mediaTypes: patchMediaTypes,
    summary: `Modifies a ${singular[collection]} with a JSON Patch: ${view.names}.`,
    bodyShape: patchShape,
    find: finder(collection),
    version: (snapshot, thing: Collections[C]) => shownVersion(snapshot, collection, thing),
    link: (thing: Collections[C]) => linkOf(collection, thing),
    async command(_parameters, body, secrets) {
      const parsed = parseOperations(body);
      if (!parsed.ok) return parsed;
      const operations = await sealOperations(view, parsed.value, secrets);
      if (!operations.ok) return operations;
      return ok({
        decide: (snapshot, thing: Collections[C], context) =>
          decideFound(settings, snapshot, thing, operations.value, context),
      });
    },
    answer: (snapshot, thing: Collections[C], rendering) => represent(snapshot, thing, rendering),
  };
}
