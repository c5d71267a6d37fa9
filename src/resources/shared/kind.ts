/**
 * Kinds: the declaration that each file of a resource exports. `resources/index.ts` builds everything else from these
 * declarations.
 */
import type { EffectBase, EffectTable, EventBase, EventTable } from '../../core/decision.ts';
import type { Fields } from '../../core/field.ts';
import type { ReportBase, ReportTable } from '../../core/report.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import type { AdminEvent } from '../index.ts';
import type { Adoption } from './adoption.ts';
import type { BoundRoute } from './route.ts';

/** A kind of resource. @internal */
export interface Kind<E extends EventBase, F extends EffectBase, R extends ReportBase> {
  /** The tables of fields: of the kind itself, and of its parts. */
  readonly fields: Readonly<Record<string, Fields>>;
  /** The change of a snapshot by each event. */
  readonly events: EventTable<Snapshot, E>;
  /** The undo of each effect. */
  readonly effects: EffectTable<F>;
  /** The events that follow from each report. The opening of a session also opens connections. */
  readonly reports: ReportTable<Snapshot, R, AdminEvent>;
  /** The part that a running interface takes over from a gateway document; left out if there is none. */
  readonly adoption?: Adoption;
  /** The endpoints, in the order of the interface. */
  readonly routes: readonly BoundRoute[];
}

/** The member that names the resource in an event or effect: the kind, with the key of the resource. @internal */
export type About<K extends string> = { readonly [P in K]: string };
