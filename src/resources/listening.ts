/**
 * Listening: the creation and the deletion of the listeners of a service. The Gateway Administration REST Interface
 * lists listeners; the other endpoints are additions.
 */
import {
  accepted,
  eventHead,
  refused,
  sequenceFor,
  unchanged,
  type Context,
  type DecisionOf,
  type EffectHead,
  type EffectTable,
  type EventHead,
  type EventTable,
} from '../core/decision.ts';
import { encodeSegment } from '../core/link.ts';
import { nameKey } from '../core/name.ts';
import { mapEntries, misplacedFaults } from '../core/secret-entry.ts';
import { oneForEachPointer } from '../core/shape.ts';
import { byName, contentOf, type Validator } from '../core/content.ts';
import { endpoint } from '../http/endpoint.ts';
import type { CommandRoute, PathParameters } from '../http/route.ts';
import { copyJson } from '../json/copy.ts';
import { deepFreeze, sameJson, type Json, type JsonObject } from '../json/value.ts';
import { fail, ok, problem, problemOf, quoted, type Problem, type Result } from '../problem.ts';
import { checkEntry, reservedFaults } from '../snapshot/entry.ts';
import { isSecretIn } from '../snapshot/secret-parameter.ts';
import { find, linkOf, nameFinder, replace, withBirth, withoutBirth } from '../snapshot/state.ts';
import { listenerFields, representListener, type Listener } from './listener.ts';
import { withoutMarks } from '../core/change.ts';
import { leadingBack } from './shared/change-effect.ts';
import type { About, Kind } from './shared/kind.ts';
import { assertName, finder, linkOfCollection, lookUp } from './shared/look-up.ts';
import { notAsCreated } from './shared/membership.ts';
import { creating } from './shared/membership-route.ts';
import type { Surroundings } from './shared/rendering.ts';
import { commandRoute, itemRoute, listingOf, listRoute } from './shared/route.ts';
import { valueLimits } from './shared/settings.ts';
import type { Service } from './service.ts';
import { assertInputs, services, type Snapshot } from './snapshot.ts';

/** A listener of a service that comes, in an event or effect. @internal */
type Coming = About<'service'> & About<'listener'> & { readonly to: Listener };

/** A listener of a service that goes, in an event or effect. @internal */
type Going = About<'service'> & About<'listener'> & { readonly from: Listener };

/** The events of listeners. @internal */
export type ListenerEvent =
  (EventHead<'listener.created'> & Coming) | (EventHead<'listener.deleted'> & Going);

/**
 * The effects on listeners: the host must open the listener of a started service, or close it while the sessions
 * continue. @internal
 */
export type ListenerEffect =
  (EffectHead<'listener.create'> & Coming) | (EffectHead<'listener.delete'> & Going);

/** The decision about a listener. @internal */
export type ListenerDecision = DecisionOf<Snapshot, ListenerEvent, ListenerEffect>;

/** A listener with its service. */
interface Placed {
  readonly service: Service;
  readonly listener: Listener;
}

/** The link of a listener. @internal */
export function linkOfListener(service: Service, { name }: Pick<Listener, 'name'>): string {
  return `${linkOf('services', service)}/listeners/${encodeSegment(name.replace(/\s/g, '-'))}`;
}

/** The listener of a service with a name. @internal */
export function listenerOf({ listeners }: Service, name: string): Listener | undefined {
  return listeners.find((each) => nameKey(each.name) === nameKey(name));
}

function areEqual(one: Listener, other: Listener): boolean {
  return sameJson(one as unknown as Json, other as unknown as Json);
}

function lookUpListener(snapshot: Snapshot, service: string, name: string): Result<Placed> {
  const found = lookUp(snapshot, services, service);
  if (!found.ok) return found;
  const listener = listenerOf(found.value, name);
  if (listener !== undefined) return ok({ service: found.value, listener });
  const link = linkOf('services', found.value);
  const detail = `The service ${quoted(found.value.name)} has no listener named ${quoted(name)}. GET ${link}/listeners lists them.`;
  return fail('listener-not-found', detail);
}

const events: EventTable<Snapshot, ListenerEvent> = {
  'listener.created': {
    effect: 'listener.create',
    revert(snapshot, { service, listener: name, to: definition }, context) {
      const found = lookUpListener(snapshot, service, name);
      if (!found.ok) return unchanged(snapshot, []);
      const { listener } = found.value;
      if (areEqual(listener, definition)) return decide('delete', snapshot, found.value, context);
      const link = linkOfListener(found.value.service, listener);
      return refused(snapshot, notAsCreated('listener', listener.name, link), resourcesOf(found.value));
    },
    evolve(snapshot, event, fold) {
      const { service, listener, to } = event;
      const definition = withoutMarks(to as object as JsonObject) as object as Listener;
      const before = find(snapshot, services, service);
      if (before === undefined || listenerOf(before, listener) !== undefined) return snapshot;
      const next = replace(snapshot, services, service, fold, (present) => ({
        ...present,
        listeners: deepFreeze([...present.listeners, definition]),
      }));
      return withBirth(next, event, fold);
    },
  },
  'listener.deleted': {
    effect: 'listener.delete',
    revert: (snapshot, { service, from }, context) => createListener(snapshot, service, from, context),
    evolve: (snapshot, { resource, service, listener }, fold) =>
      withoutBirth(
        replace(snapshot, services, service, fold, (before) => ({
          ...before,
          listeners: Object.freeze(before.listeners.filter(({ name }) => nameKey(name) !== listener)),
        })),
        resource,
        fold,
      ),
  },
};

const effects: EffectTable<ListenerEffect> = {
  'listener.create': {
    aspect: 'membership',
    undo: (effect) => leadingBack(effect, 'listener.delete'),
  },
  'listener.delete': {
    aspect: 'membership',
    deletes: true,
    undo: (effect) => leadingBack(effect, 'listener.create'),
  },
};

/**
 * Creates a listener of a service. The host opens the listener of a started service, and nothing of a stopped one.
 *
 * Unchanged if the listener exists with an equal definition. Refused with `service-not-found` if there is no such
 * service, with `resource-exists` if another listener of the service has the name, and with every fault of the
 * definition otherwise.
 *
 * @param snapshot - the snapshot to decide on
 * @param service - name of the service, compared by {@link nameKey}
 * @param definition - the listener as in a gateway document, with sealed secrets
 * @param context - the time and the caller
 * @returns the decision, with one `listener.created` and one `listener.create`
 *
 * @example
 * ```ts
 * import { createListener, createSnapshot } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] });
 * const listener = { name: 'second', protocol: 'pg', address: '::', port: 5434 };
 * createListener(snapshot, 'Sales', listener, { now: 0 }).next.services.find('sales')?.listeners.length; // => 1
 * ```
 *
 * @see docs/create-delete-drain.md; docs/spec-choices.md 51.
 *
 * @public
 */
export function createListener(
  snapshot: Snapshot,
  service: string,
  definition: Listener,
  context: Context,
): ListenerDecision {
  assertInputs(snapshot, context);
  assertName(services, service);
  const json = copyJson(definition, valueLimits);
  if (!json.ok) return refused(snapshot, json.problem);
  const found = lookUp(snapshot, services, service);
  if (!found.ok) return refused(snapshot, found.problem, [linkOfCollection(services)]);
  return decideCreation(snapshot, found.value, json.value, context);
}

/**
 * Deletes a listener of a service. Its sessions continue.
 *
 * Refused with `service-not-found` or `listener-not-found` if there is none.
 *
 * @param snapshot - the snapshot to decide on
 * @param service - name of the service, compared by {@link nameKey}
 * @param name - name of the listener, compared by {@link nameKey}
 * @param context - the time and the caller
 * @returns the decision, with one `listener.deleted` and one `listener.delete`
 *
 * @example
 * ```ts
 * import { createSnapshot, deleteListener } from 'gateway-admin-core';
 *
 * const listeners = [{ name: 'first', protocol: 'pg', address: '::', port: 5433 }];
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute', listeners }] });
 * deleteListener(snapshot, 'Sales', 'first', { now: 0 }).next.services.find('sales')?.listeners.length; // => 0
 * ```
 *
 * @see docs/create-delete-drain.md; docs/spec-choices.md 51.
 *
 * @public
 */
export function deleteListener(
  snapshot: Snapshot,
  service: string,
  name: string,
  context: Context,
): ListenerDecision {
  assertInputs(snapshot, context);
  assertName(services, service);
  if (typeof name !== 'string') throw new TypeError('The name of a listener must be a string');
  const found = lookUpListener(snapshot, service, name);
  if (found.ok) return decide('delete', snapshot, found.value, context);
  const present = lookUp(snapshot, services, service);
  const resources = present.ok ? [linkOf('services', present.value)] : [];
  return refused(snapshot, found.problem, [linkOfCollection(services), ...resources]);
}

/** A decision about a listener rests on the service too: the service is not patched, started or deleted meanwhile. */
function resourcesOf({ service, listener }: Placed): readonly string[] {
  return [linkOf('services', service), linkOfListener(service, listener)];
}

function decideCreation(
  snapshot: Snapshot,
  service: Service,
  definition: Json,
  context: Context,
): ListenerDecision {
  const { entry, faults } = checkEntry(listenerFields, definition, [], nameFinder(snapshot));
  const all = oneForEachPointer([
    ...reservedFaults(definition),
    ...faults,
    // A secret parameter comes in sealed, and only a declared name is secret.
    ...misplacedFaults(mapEntries(listenerFields.all, definition), isSecretIn(snapshot)),
  ]);
  if (entry === undefined || all.length > 0)
    return refused(snapshot, problemOf(all), [linkOf('services', service)]);
  const listener = deepFreeze(entry as Listener);
  const present = listenerOf(service, listener.name);
  const resources = resourcesOf({ service, listener });
  if (present === undefined) return decide('create', snapshot, { service, listener }, context);
  return areEqual(present, listener)
    ? unchanged(snapshot, resources)
    : refused(snapshot, exists(service, present), resources);
}

function decide(
  verb: 'create' | 'delete',
  snapshot: Snapshot,
  placed: Placed,
  context: Context,
): ListenerDecision {
  const { service, listener } = placed;
  const resource = linkOfListener(service, listener);
  const head = eventHead(resource, context);
  const about = { service: service.key, listener: nameKey(listener.name) };
  const event: ListenerEvent =
    verb === 'create'
      ? { type: 'listener.created', ...head, ...about, to: listener }
      : { type: 'listener.deleted', ...head, ...about, from: listener };
  return accepted(events, snapshot, resourcesOf(placed), { events: [event] });
}

function exists(service: Service, present: Listener): Problem {
  const detail =
    `The service ${quoted(service.name)} has a listener named ${quoted(present.name)} already, and it differs from the given ` +
    `one. Choose another name, or delete the listener first: DELETE ${linkOfListener(service, present)}.`;
  return problem('resource-exists', detail);
}

const combine = sequenceFor(events, effects, (reason) => reason);

/** Takes out the listeners that a wanted service lacks, and those that differ. */
function removeListeners(
  snapshot: Snapshot,
  present: Service,
  wanted: Service,
  context: Context,
): ListenerDecision {
  const gone = present.listeners.filter((listener) => !isAmong(wanted.listeners, listener));
  const steps = gone.map(
    ({ name }) =>
      (now: Snapshot, within: Context) =>
        deleteListener(now, present.key, name, within),
  );
  return combine(steps)(snapshot, context);
}

/** Adds the listeners that only a wanted service has. */
function addListeners(
  snapshot: Snapshot,
  present: Service,
  wanted: Service,
  context: Context,
): ListenerDecision {
  const added = wanted.listeners.filter((listener) => !isAmong(present.listeners, listener));
  const steps = added.map(
    (listener) => (now: Snapshot, within: Context) => createListener(now, present.key, listener, within),
  );
  return combine(steps)(snapshot, context);
}

/** The steps of an adoption for the listeners of a service. @internal */
export const listenerSteps = { remove: removeListeners, add: addListeners };

function isAmong(listeners: readonly Listener[], listener: Listener): boolean {
  return listeners.some((each) => areEqual(each, listener));
}

/** The tag of a listener: others may change while the content stays. */
const listenerValidator = (_snapshot: Snapshot, { service, listener }: Placed): Validator => ({
  content: contentOf(listener),
  revision: service.revision,
});

/** The tag of the listeners of a service, in whatever order they came. */
const listenersValidator = (_snapshot: Snapshot, { listeners, revision }: Service): Validator => ({
  content: contentOf(listeners, byName),
  revision,
});

const findPlaced = (snapshot: Snapshot, { name = '', listener = '' }: PathParameters): Result<Placed> =>
  lookUpListener(snapshot, name, listener);

const item = itemRoute<Placed>({
  ...endpoint('services.listener'),
  role: 'reader',
  isAddition: true,
  summary: 'Gives one listener of a service.',
  shape: listenerFields.representation,
  find: findPlaced,
  link: ({ service, listener }) => linkOfListener(service, listener),
  validator: listenerValidator,
  read: (_snapshot, { listener }, { times }) => representListener(listener, times),
});

const creation: CommandRoute<Snapshot, ListenerDecision, Surroundings, Service> = {
  ...creating(
    listenerFields,
    (definition, service: Service, snapshot: Snapshot, context) =>
      decideCreation(snapshot, service, definition, context),
    item,
    'listener',
  ),
  ...endpoint('services.createListener'),
  summary: 'Creates a listener of a service from its entry in a gateway document.',
  find: finder(services),
  validator: listenersValidator,
  link: (service) => linkOf('services', service),
};

/** The kind "listener". @internal */
export const listenerKind: Kind<Snapshot, ListenerEvent, ListenerEffect, never> = {
  fields: { listener: listenerFields },
  events,
  effects,
  reports: {},
  routes: [
    listRoute<Service>({
      ...endpoint('services.listeners'),
      role: 'reader',
      query: ['fields', 'range'],
      summary: 'Lists the listeners of a service.',
      shape: listenerFields.representation,
      find: finder(services),
      link: (service) => linkOf('services', service),
      validator: listenersValidator,
      list: (_snapshot, { listeners }, { times }) =>
        listingOf(listeners, (listener) => representListener(listener, times)),
    }),
    item,
    creation,
    commandRoute<Placed>({
      ...endpoint('services.deleteListener'),
      role: 'administrator',
      isAddition: true,
      summary: 'Deletes a listener of a service. Its sessions continue.',
      find: findPlaced,
      validator: listenerValidator,
      validatorWhenGone(snapshot: Snapshot, { name = '' }) {
        const found = lookUp(snapshot, services, name);
        return found.ok ? listenersValidator(snapshot, found.value) : undefined;
      },
      link: ({ service, listener }) => linkOfListener(service, listener),
      decide: (snapshot: Snapshot, placed, context) => decide('delete', snapshot, placed, context),
    }),
  ],
};
