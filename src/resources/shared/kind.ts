/**
 * Kinds: the declaration that each file of a resource exports. `resources/index.ts` builds everything else from these
 * declarations.
 */
import type * as z from 'zod/mini';

import type { Named } from '../../core/collection.ts';
import {
  unchanged,
  type Context,
  type DecisionOf,
  type EffectBase,
  type EffectTable,
  type EventBase,
  type EventTable,
  type FoldContext,
  type TransitionOf,
} from '../../core/decision.ts';
import type { Fields } from '../../core/field.ts';
import type { ReportBase, ReportTable } from '../../core/report.ts';
import { find, type ConfiguredEntity, type State } from '../../snapshot/state.ts';
import type { Written } from '../../core/change.ts';
import type { DrainOptions } from './drain-setting.ts';
import type { KindRoute } from './route.ts';

/** A kind of resource. `S` is the snapshot. @internal */
export interface Kind<S extends State, E extends EventBase, F extends EffectBase, R extends ReportBase> {
  /** The named resources; left out for a kind that has none. */
  readonly resources?: NamedResources<S>;
  /** The members about the whole gateway; left out for a kind that has none. */
  readonly whole?: Whole<S>;
  /** The tables of fields: of the kind itself, and of its parts. */
  readonly fields: Readonly<Record<string, Fields>>;
  /** The change of a snapshot by each event. */
  readonly events: EventTable<S, E>;
  /** The undo of each effect. */
  readonly effects: EffectTable<F>;
  /** The events that follow from each report. The opening of a session also opens connections. */
  readonly reports: ReportTable<S, R, EventBase>;
  /** The endpoints. */
  readonly routes: readonly KindRoute[];
}

/** How the definitions of a kind change. @internal */
export interface Changing<
  S extends State = State,
  T extends ConfiguredEntity = ConfiguredEntity,
> extends Named<T> {
  readonly fields: Fields;
  /** Changes the snapshot further when links of a resource come or go; left out if nothing else changes. */
  onLinks?(
    this: void,
    snapshot: S,
    settings: { readonly before: object; readonly after: object },
    fold: FoldContext,
  ): State;
  /** What the members that a change has written at a time mean for the rest of a resource; left out if nothing. */
  entered?(this: void, thing: T, written: Written & { readonly at: number }): T;
}

/** How a snapshot, a gateway document and a running interface have the named resources of a kind. @internal */
export interface NamedResources<S extends State = State> extends Changing<S> {
  /** How a running interface takes a gateway document over; left out if it takes nothing of this kind. */
  readonly adoption?: AdoptionSteps;
  /** How a resource drains; left out if none does. */
  readonly draining?: Draining<State, never>;
  /** Saves the members of a document entry that are not in the resource; left out if there are none. */
  saveMore?(this: void, snapshot: S, thing: ConfiguredEntity): object;
}

/** The drains of a kind. @internal */
export interface Draining<S extends State = State, T = ConfiguredEntity> {
  /** Drains a resource, or changes its drain. */
  begin(this: void, snapshot: S, thing: T, options: DrainOptions, context: Context): DecisionOf<S>;
  /** Ends the drain of a resource. */
  end(this: void, snapshot: S, thing: T, context: Context): DecisionOf<S>;
  /** Decides a start or stop of a resource that drains; `undefined` if the resource does not drain. */
  instead(
    this: void,
    command: 'start' | 'stop',
    snapshot: S,
    thing: T,
    context: Context,
  ): DecisionOf<S> | undefined;
}

/**
 * The steps of an adoption, for the resources of a kind; `remove` and `add` are about the parts of a resource.
 * @internal
 */
export type AdoptionSteps = Partial<Record<'stop' | 'remove' | 'update' | 'add' | 'start', Step['decide']>>;

/** Decides one step for one resource; unchanged if the resource is already as the document wants it. */
interface Step {
  decide(
    this: void,
    snapshot: State,
    present: ConfiguredEntity,
    wanted: ConfiguredEntity,
    context: Context,
  ): DecisionOf<State>;
}

/**
 * Takes a step for one resource. Changes nothing if the resource is gone, or if its kind has no such step.
 *
 * @param key - key of the resource
 * @param wantedOf - gives the resource as it must become
 * @internal
 */
export function takeStep<S extends State>(
  step: keyof AdoptionSteps,
  named: NamedResources,
  key: string,
  wantedOf: (present: ConfiguredEntity) => ConfiguredEntity,
): TransitionOf<S> {
  return (snapshot, context) => {
    const present = find(snapshot, named, key);
    const decide = named.adoption?.[step];
    return present === undefined || decide === undefined
      ? unchanged(snapshot, [])
      : (decide(snapshot, present, wantedOf(present), context) as DecisionOf<S>);
  };
}

/** Members of a snapshot and of a gateway document about the whole gateway. @internal */
export interface Whole<S extends State> {
  /** The shapes of the members of the document. */
  readonly document: Readonly<Record<string, z.core.$ZodType>>;
  /** Loads the members of the snapshot from a valid document. */
  load(this: void, document: object): object;
  /** Saves the members of the document. */
  save(this: void, snapshot: S): object;
}

/** The member that names the resource in an event or effect: the kind, with the key of the resource. @internal */
export type About<K extends string> = { readonly [P in K]: string };
