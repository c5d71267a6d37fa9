/**
 * Kinds: what the file of a kind of resource declares of it.
 */
import type { EffectBase, EffectTable, EventBase, EventTable } from '../../core/decision.ts';
import type { Fields } from '../../core/field.ts';
import type { ReportBase, ReportTable } from '../../core/report.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import type { BoundRoute } from './route.ts';

/** A kind of resource. @internal */
export interface Kind<E extends EventBase, F extends EffectBase, R extends ReportBase> {
  /** The tables of its fields: its own, and those of its parts. */
  readonly fields: Readonly<Record<string, Fields>>;
  /** What each of its events does to a snapshot. */
  readonly events: EventTable<Snapshot, E>;
  /** How each of its effects is undone. */
  readonly effects: EffectTable<F>;
  /** What follows from each report about it. */
  readonly reports: ReportTable<Snapshot, R, E>;
  /** Its endpoints, in the order of the interface. */
  readonly routes: readonly BoundRoute[];
}

/** The member of an event or effect that names its subject: the kind, with the key of the name. @internal */
export type About<K extends string> = { readonly [P in K]: string };
