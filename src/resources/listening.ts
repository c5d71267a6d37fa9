/**
 * Listening: the listeners of a service come and go. The Gateway Administration REST Interface shows listeners, and has no
 * endpoint that changes them: the endpoints are additions.
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
import { asClientsDefine, definitionShape, sealDefinition } from '../core/definition-seal.ts';
import { encodeSegment } from '../core/link.ts';
import { nameKey } from '../core/name.ts';
import type { Version } from '../core/version.ts';
import { endpoint } from '../http/endpoint.ts';
import { commandQuery, type CommandRoute, type PathParameters } from '../http/route.ts';
import { copyJson } from '../json/copy.ts';
import { deepFreeze, isObject, sameJson, type Json } from '../json/value.ts';
import { fail, ok, problem, problemOf, quoted, type Problem, type Result } from '../problem.ts';
import { checkEntry } from '../snapshot/entry.ts';
import { reservedFaults } from '../snapshot/reserved-key.ts';
import { isSecretIn, misplacedSecrets } from '../snapshot/secret-parameter.ts';
import { linkOf, nameFinder, replace } from '../snapshot/state.ts';
import { listenerFields, representListener, type Listener } from './listener.ts';
import type { About, Kind } from './shared/kind.ts';
import { assertName, finder, listOf, lookUp } from './shared/look-up.ts';
import { insideOf } from './shared/membership.ts';
import type { Surroundings } from './shared/rendering.ts';
import { commandRoute, itemRoute, listingOf, listRoute } from './shared/route.ts';
import { valueLimits } from './shared/settings.ts';
import type { Service } from './service.ts';
import { assertInputs, services, type Snapshot } from './snapshot.ts';

/** A listener of a service, in an event or effect. @internal */
type OfListener = About<'service'> & About<'listener'> & { readonly definition: Listener };

/** The events of listeners. @internal */
export type ListenerEvent = OfListener & EventHead<'listener.created' | 'listener.deleted'>;

/** The effects on listeners: the host must open the listener of a started service, or close it while the sessions continue. @internal */
export type ListenerEffect = OfListener & EffectHead<'listener.create' | 'listener.delete'>;

/** The decision about a listener. @internal */
export type ListenerDecision = DecisionOf<Snapshot, ListenerEvent, ListenerEffect>;

/** A listener with its service. */
interface Placed {
  readonly service: Service;
  readonly listener: Listener;
}

function linkOfListener(service: Service, { name }: Pick<Listener, 'name'>): string {
  return `${linkOf('services', service)}/listeners/${encodeSegment(name.replace(/\s/g, '-'))}`;
}

function listenerOf({ listeners }: Service, name: string): Listener | undefined {
  return listeners.find((each) => nameKey(each.name) === nameKey(name));
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
    origin: 'command',
    effect: 'listener.create',
    revert(snapshot, { service, listener: name, definition }, context) {
      const found = lookUpListener(snapshot, service, name);
      if (!found.ok) return unchanged(snapshot, []);
      const { listener } = found.value;
      if (sameJson(listener as unknown as Json, definition as unknown as Json))
        return decideDeletion(snapshot, found.value, context);
      const link = linkOfListener(found.value.service, listener);
      const detail = `The listener ${quoted(listener.name)} is not as it was created. To remove it all the same: DELETE ${link}.`;
      return refused(snapshot, problem('patch-test-failed', detail), restsOn(found.value));
    },
    evolve: (snapshot, { service, listener, definition }, change) =>
      replace(snapshot, services, service, change, (before) =>
        listenerOf(before, listener) === undefined
          ? { ...before, listeners: deepFreeze([...before.listeners, definition]) }
          : before,
      ),
  },
  'listener.deleted': {
    origin: 'command',
    effect: 'listener.delete',
    revert: (snapshot, { service, definition }, context) =>
      createListener(snapshot, service, definition, context),
    evolve: (snapshot, { service, listener }, change) =>
      replace(snapshot, services, service, change, (before) =>
        listenerOf(before, listener) === undefined
          ? before
          : {
              ...before,
              listeners: deepFreeze(before.listeners.filter(({ name }) => nameKey(name) !== listener)),
            },
      ),
  },
};

const effects: EffectTable<ListenerEffect> = {
  'listener.create': { aspect: 'membership', undo: (effect) => ({ ...effect, type: 'listener.delete' }) },
  'listener.delete': {
    aspect: 'membership',
    deletes: true,
    undo: (effect) => ({ ...effect, type: 'listener.create' }),
  },
};

/**
 * Creates a listener of a service. The host opens the listener of a started service, and nothing of a stopped one.
 *
 * Unchanged if the listener exists with an equal definition. Refused with `service-not-found` if there is no such service, with
 * `resource-exists` if another listener of the service has the name, and with every fault of the definition otherwise.
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
 * @see docs/spec-choices.md 51.
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
  if (!found.ok) return refused(snapshot, found.problem, [listOf(services)]);
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
 * @see docs/spec-choices.md 51.
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
  if (found.ok) return decideDeletion(snapshot, found.value, context);
  const present = lookUp(snapshot, services, service);
  const resources = present.ok ? [linkOf('services', present.value)] : [];
  return refused(snapshot, found.problem, [listOf(services), ...resources]);
}

/** A listener rests on its service: no patch, start or deletion of the service comes in between. */
function restsOn({ service, listener }: Placed): readonly string[] {
  return [linkOf('services', service), linkOfListener(service, listener)];
}

function decideCreation(
  snapshot: Snapshot,
  service: Service,
  definition: Json,
  context: Context,
): ListenerDecision {
  const { entry, faults } = checkEntry(listenerFields, definition, [], nameFinder(snapshot));
  const all = [
    ...reservedFaults(definition),
    ...faults,
    ...(entry === undefined ? [] : secretFaults(snapshot, service, entry as Listener)),
  ];
  if (entry === undefined || all.length > 0)
    return refused(snapshot, problemOf(all), [linkOf('services', service)]);
  const listener = deepFreeze(entry as Listener);
  const present = listenerOf(service, listener.name);
  const rests = restsOn({ service, listener });
  if (present === undefined) return decide('create', snapshot, { service, listener }, context);
  return sameJson(present as unknown as Json, listener as unknown as Json)
    ? unchanged(snapshot, rests)
    : refused(snapshot, exists(service, present), rests);
}

function decideDeletion(snapshot: Snapshot, placed: Placed, context: Context): ListenerDecision {
  return decide('delete', snapshot, placed, context);
}

function decide(
  verb: 'create' | 'delete',
  snapshot: Snapshot,
  placed: Placed,
  context: Context,
): ListenerDecision {
  const { service, listener } = placed;
  const resource = linkOfListener(service, listener);
  const about = { service: service.key, listener: nameKey(listener.name), definition: listener };
  return accepted(events, snapshot, restsOn(placed), {
    events: [{ type: `listener.${verb}d`, ...eventHead(resource, context), ...about }],
    effects: [{ type: `listener.${verb}`, resource, ...about }],
  });
}

function exists(service: Service, present: Listener): Problem {
  const detail =
    `The service ${quoted(service.name)} has a listener named ${quoted(present.name)} already, and it differs from the given ` +
    `one. Choose another name, or delete the listener first: DELETE ${linkOfListener(service, present)}.`;
  return problem('resource-exists', detail);
}

/** A secret parameter comes in sealed, and only a declared name is secret. */
function secretFaults(
  snapshot: Snapshot,
  service: Service,
  listener: Listener,
): ReturnType<typeof misplacedSecrets> {
  const { resources: kind } = listenerPlace;
  const alone = { ...service, listeners: [listener] };
  const resources = [{ ...kind, entities: [[0, alone] as const] }];
  return misplacedSecrets(resources, isSecretIn(snapshot)).map(insideOf(4));
}

/** Where {@link misplacedSecrets} finds the listeners of a service: the only maps of this table. */
const listenerPlace = {
  resources: {
    collection: 'services',
    fields: { all: [{ storedName: 'listeners', entries: listenerFields }] } as never,
  },
};

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
  return combine(...steps)(snapshot, context);
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
  return combine(...steps)(snapshot, context);
}

/** The steps of an adoption for the listeners of a service. @internal */
export const listenerSteps = { remove: removeListeners, add: addListeners };

function isAmong(listeners: readonly Listener[], listener: Listener): boolean {
  return listeners.some((each) => sameJson(each as unknown as Json, listener as unknown as Json));
}

/** A list of listeners changes with its service; another node of a fleet has other listeners. */
function versionOf({ gateway }: Snapshot, { version }: Service): Version {
  const { command, live } = gateway.version;
  return { command: Math.max(command, version.command), live: Math.max(live, version.live) };
}

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
  version: (snapshot: Snapshot, { service }) => versionOf(snapshot, service),
  read: (_snapshot, { listener }, { times }) => representListener(listener, times),
});

const creation: CommandRoute<Snapshot, ListenerDecision, Surroundings, Service> = {
  ...endpoint('services.createListener'),
  role: 'administrator',
  isAddition: true,
  aliases: [],
  query: commandQuery,
  search: [],
  fields: [],
  mediaTypes: ['application/json'],
  summary: 'Creates a listener of a service.',
  bodyShape: definitionShape(listenerFields),
  answerShape: listenerFields.representation,
  find: finder(services),
  version: versionOf,
  link: (service) => linkOf('services', service),
  async command({ name = '' }, body, secrets) {
    const sealed = await sealDefinition(listenerFields, body, secrets);
    if (!sealed.ok) return sealed;
    // Each sealing gives another text.
    const asked = await sealDefinition(listenerFields, body, {
      ...secrets,
      seal: () => Promise.resolve('set'),
    });
    const { name: listener } = isObject(body) ? body : {};
    return ok({
      decide(snapshot, service, context) {
        const decision = decideCreation(snapshot, service, sealed.value, context);
        if (decision.outcome !== 'refused') return decision;
        return { ...decision, problem: asClientsDefine(listenerFields, decision.problem) };
      },
      ...(asked.ok ? { asked: { definition: asked.value } } : {}),
      creates: {
        route: item,
        parameters: { name, listener: typeof listener === 'string' ? listener : '' },
      },
    });
  },
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
      version: (snapshot: Snapshot, service) => versionOf(snapshot, service),
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
      version: (snapshot: Snapshot, { service }) => versionOf(snapshot, service),
      versionWhenGone(snapshot: Snapshot, { name = '' }) {
        const found = lookUp(snapshot, services, name);
        return found.ok ? versionOf(snapshot, found.value) : undefined;
      },
      link: ({ service, listener }) => linkOfListener(service, listener),
      decide: (snapshot: Snapshot, placed, context) => decideDeletion(snapshot, placed, context),
    }),
  ],
};
