/**
 * The transitions that drain services and servers, and end drains.
 */
import { refused, type Context } from '../core/decision.ts';
import { parseShape } from '../core/shape.ts';
import { copyJson } from '../json/copy.ts';
import { ok, problemOf, type Result } from '../problem.ts';
import { namedResources, type Decision } from './index.ts';
import type { DrainOptions } from './shared/drain-setting.ts';
import { drainOptions } from './shared/drain.ts';
import type { Draining } from './shared/kind.ts';
import { lookUp } from './shared/look-up.ts';
import { valueLimits } from './shared/settings.ts';
import type { State } from '../snapshot/state.ts';
import { assertInputs, type Snapshot } from './snapshot.ts';

export type { DrainOptions };

/**
 * Drains a service or server: it takes no new sessions, and what is open ends by itself. With `timeout`, the rest is
 * closed at the deadline, or the drain ends then.
 *
 * A service is stopped, and started again when the drain ends. A drain that is there gets the new deadline and reason,
 * and keeps its beginning; equal ones are unchanged. Refused with `service-not-found` or `server-not-found` if there is
 * no such resource, and with `validation-failed` for options that do not fit.
 *
 * @param snapshot - the snapshot to decide on
 * @param collection - `services` or `servers`
 * @param name - name of the resource, compared by {@link nameKey}
 * @param options - the deadline, what happens then, and the reason
 * @param context - the time and the caller, who becomes `by`
 * @returns the decision, with one `<kind>.updated` and one `<kind>.update`; before that the stop of a service
 * @throws TypeError for another collection
 *
 * @example
 * ```ts
 * import { createSnapshot, drain } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const options = { timeout: 600, then: 'close' } as const;
 * drain(snapshot, 'services', 'Sales', options, { now: 0 }).next.services.find('sales')?.state; // => 'stopped'
 * ```
 *
 * @see docs/create-delete-drain.md; docs/spec-choices.md 53.
 *
 * @public
 */
export function drain(
  snapshot: Snapshot,
  collection: 'services' | 'servers',
  name: string,
  options: DrainOptions,
  context: Context,
): Decision {
  const found = lookUpDraining(snapshot, collection, name, context);
  if (!found.ok) return refused(snapshot, found.problem, [`/${collection}`]);
  const json = copyJson(options, valueLimits);
  if (!json.ok) return refused(snapshot, json.problem);
  const parsed = parseShape(drainOptions, json.value);
  if (!parsed.ok) return refused(snapshot, problemOf(parsed.faults));
  const { draining, thing } = found.value;
  return draining.begin(snapshot, thing, parsed.value, context) as Decision;
}

/**
 * Ends the drain of a service or server. A service that was started before is started again.
 *
 * Unchanged if the resource does not drain. Refused with `service-not-found` or `server-not-found` if there is no such
 * resource.
 *
 * @param snapshot - the snapshot to decide on
 * @param collection - `services` or `servers`
 * @param name - name of the resource, compared by {@link nameKey}
 * @param context - the time and the caller
 * @returns the decision, with one `<kind>.updated` and one `<kind>.update`; after that the start of a service
 * @throws TypeError for another collection
 *
 * @example
 * ```ts
 * import { createSnapshot, drain, resume } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const drained = drain(snapshot, 'services', 'Sales', {}, { now: 0 }).next;
 * resume(drained, 'services', 'Sales', { now: 1 }).next.services.find('sales')?.state; // => 'started'
 * ```
 *
 * @see docs/create-delete-drain.md; docs/spec-choices.md 53.
 *
 * @public
 */
export function resume(
  snapshot: Snapshot,
  collection: 'services' | 'servers',
  name: string,
  context: Context,
): Decision {
  const found = lookUpDraining(snapshot, collection, name, context);
  if (!found.ok) return refused(snapshot, found.problem, [`/${collection}`]);
  const { draining, thing } = found.value;
  return draining.end(snapshot, thing, context) as Decision;
}

/** Finds a resource that can drain, and how. */
function lookUpDraining(
  snapshot: Snapshot,
  collection: string,
  name: string,
  context: Context,
): Result<{ readonly thing: never; readonly draining: Draining<State, never> }> {
  assertInputs(snapshot, context);
  const named = namedResources.find((each) => each.collection === collection);
  if (named?.draining === undefined) throw new TypeError('The collection must be services or servers');
  const { draining } = named;
  const found = lookUp(snapshot, named, name);
  return found.ok ? ok({ thing: found.value as never, draining }) : found;
}
