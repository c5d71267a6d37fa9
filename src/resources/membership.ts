/**
 * The transitions that create and delete the resources that a document configures.
 */
import type { Context } from '../core/decision.ts';
import { copyJson } from '../json/copy.ts';
import { refused } from '../core/decision.ts';
import { assertMembers } from '../core/member.ts';
import { membership, namedResources, type Decision, type Effect } from './index.ts';
import type { GatewayDocument } from './document.ts';
import type { NamedResources } from './shared/kind.ts';
import { assertName, linkOfCollection, lookUp } from './shared/look-up.ts';
import type { DeletionOptions } from './shared/membership.ts';
import { valueLimits } from './shared/settings.ts';
import { assertInputs, type Snapshot } from './snapshot.ts';

/** The collection of a kind that has an effect for its creation. @internal */
type CollectionOf<Type> = Type extends `${infer Kind}.create` ? `${Kind}s` : never;

/** A collection whose resources can be created and deleted. @internal */
type Configured = Extract<keyof GatewayDocument, CollectionOf<Effect['type']>>;

/** The definition of a resource: its entry in a gateway document. @internal */
type DefinitionOf<C extends Configured> = NonNullable<GatewayDocument[C]>[number];

/**
 * Creates a service, server, monitor or filter.
 *
 * A service or monitor is created stopped and then started; with `state: 'stopped'` in the definition it stays stopped.
 * The status of a server may have `maintenance` alone: a monitor reports the other words.
 *
 * Unchanged if the resource exists with an equal definition. Refused with `resource-exists` if another one has the
 * name, and with every fault of the definition otherwise: a wrong value, a link that does not resolve, a secret
 * parameter in plain text, or a value that the gateway counts or sees.
 *
 * @param snapshot - the snapshot to decide on
 * @param collection - `services`, `servers`, `monitors` or `filters`
 * @param definition - the resource as in a gateway document, with sealed secrets
 * @param context - the time and the caller
 * @returns the decision, with one `<kind>.created` and one `<kind>.create`; then the start, if there is one
 * @throws TypeError for another collection
 *
 * @example
 * ```ts
 * import { createResource, createSnapshot } from 'gateway-admin-core';
 *
 * const definition = { name: 'db-3', address: '10.0.0.3', port: 5432, protocol: 'pg' };
 * createResource(createSnapshot({}), 'servers', definition, { now: 0 }).next.servers.size; // => 1
 * ```
 *
 * @see docs/create-delete-drain.md; docs/spec-choices.md 51.
 *
 * @public
 */
export function createResource<C extends Configured>(
  snapshot: Snapshot,
  collection: C,
  definition: DefinitionOf<C>,
  context: Context,
): Decision {
  assertInputs(snapshot, context);
  const json = copyJson(definition, valueLimits);
  if (!json.ok) return refused(snapshot, json.problem, [`/${collection}`]);
  return membership.create(named(collection), json.value, snapshot, context) as Decision;
}

/**
 * Deletes a service, server, monitor or filter.
 *
 * Refused with a problem such as `server-not-found` if there is no such resource, and with `resource-in-use` if the
 * resource is in use, with a fault for each use: a list that names it, a service or monitor that is not stopped, open
 * sessions of a service, open connections to a server.
 *
 * @param snapshot - the snapshot to decide on
 * @param collection - `services`, `servers`, `monitors` or `filters`
 * @param name - name of the resource, compared by {@link nameKey}
 * @param context - the time and the caller
 * @param options - `detach`: takes the resource out of the lists of all others first, in the same decision
 * @returns the decision, with one `<kind>.deleted` and one `<kind>.delete`
 * @throws TypeError for another collection or an unknown option
 *
 * @example
 * ```ts
 * import { createSnapshot, deleteResource } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ filters: [{ name: 'Hint', module: 'hintfilter' }] });
 * deleteResource(snapshot, 'filters', 'hint', { now: 0 }).next.filters.size; // => 0
 * ```
 *
 * @see docs/create-delete-drain.md; docs/spec-choices.md 51.
 *
 * @public
 */
export function deleteResource(
  snapshot: Snapshot,
  collection: Configured,
  name: string,
  context: Context,
  options: DeletionOptions = {},
): Decision {
  assertInputs(snapshot, context);
  assertDeletionOptions(options);
  const kind = named(collection);
  assertName(kind, name);
  const found = lookUp(snapshot, kind, name);
  if (!found.ok) return refused(snapshot, found.problem, [linkOfCollection(kind)]);
  return membership.delete(kind, found.value, options, snapshot, context) as Decision;
}

/** @throws TypeError for an unknown option, and for anything but true and false: each text would count as true */
function assertDeletionOptions(options: DeletionOptions): void {
  assertMembers(options, ['detach'] satisfies readonly (keyof DeletionOptions)[], 'option of deleteResource');
  const { detach = false }: { readonly detach?: unknown } = options;
  if (typeof detach !== 'boolean') throw new TypeError('detach must be true or false');
}

function named(collection: string): NamedResources<Snapshot> {
  const found = namedResources.find((each) => each.collection === collection && each.adoption !== undefined);
  if (found === undefined)
    throw new TypeError('The collection must be one that a gateway document configures');
  return found;
}
