/**
 * Shared listeners: the listeners that all nodes of a fleet have. A listener in the document that a node was given
 * belongs to that node alone, because another machine has other addresses. A listener that one node creates or
 * deletes is created or deleted at all nodes.
 */
import * as z from 'zod/mini';

import { nameKey } from '../core/name.ts';
import { isObject, type Json } from '../json/value.ts';
import type { GatewayDocument } from '../resources/document.ts';
import type { AdminEvent } from '../resources/index.ts';
import type { Listener } from '../resources/listener.ts';
import type { Snapshot } from '../resources/snapshot.ts';

/** The shape of a {@link ListenerChange} in the state of a log. @internal */
export const listenerChangeShape = z.object({
  service: z.string(),
  listener: z.string(),
  isGone: z.boolean(),
  definition: z.exactOptional(z.custom<Listener>((value: unknown) => isObject((value ?? null) as Json))),
});

/** The change of a listener of a service that is in the given documents. */
interface ListenerChange {
  /** Key of the service. */
  readonly service: string;
  /** Key of the listener. */
  readonly listener: string;
  /** Whether the nodes have deleted the listener of their documents. */
  readonly isGone: boolean;
  /** The listener that a node has created; left out if it was deleted since. */
  readonly definition?: Listener;
}

/** The keys of a service and of a listener. @internal */
export type ListenerKeys = Pick<ListenerChange, 'service' | 'listener'>;

type ServiceEntry = NonNullable<GatewayDocument['services']>[number];

/** Keeps the listeners that all nodes have. @internal */
export class SharedListeners {
  /** The keys of the services that nodes have created. Such a service has the same listeners at all nodes. */
  readonly #created: Set<string>;
  /** The changes of the listeners of all other services, in their order, by the keys of service and listener. */
  readonly #changes: Map<string, ListenerChange>;

  constructor(created: Iterable<string> = [], changes: Iterable<ListenerChange> = []) {
    this.#created = new Set(created);
    this.#changes = new Map(Array.from(changes, (change) => [keyOf(change), change]));
  }

  /** Reads the members of a stored state. */
  static of({ services = [] }: GatewayDocument, changes: Iterable<ListenerChange> = []): SharedListeners {
    const created = services.filter(hasListeners).map(({ name }) => nameKey(name));
    return new SharedListeners(created, changes);
  }

  get changes(): readonly ListenerChange[] {
    return [...this.#changes.values()];
  }

  /** Takes in a settled event. */
  take(event: AdminEvent): void {
    if (event.type === 'service.created') this.#created.add(event.service);
    if (event.type === 'service.deleted') this.#forget(event.service);
    if (event.type !== 'listener.created' && event.type !== 'listener.deleted') return;
    const { service, listener } = event;
    if (this.#created.has(service)) return;
    const key = keyOf(event);
    const isGone = this.#changes.get(key)?.isGone === true || event.type === 'listener.deleted';
    // A listener that is created again is the last one of its service.
    this.#changes.delete(key);
    const change = { service, listener, isGone };
    this.#changes.set(key, event.type === 'listener.created' ? { ...change, definition: event.to } : change);
  }

  /** Whether a listener is that of the document that a node was given. */
  isOfDocument({ service, listener }: ListenerKeys, given: Snapshot): boolean {
    if (this.#created.has(service)) return false;
    const isGone = this.#changes.get(keyOf({ service, listener }))?.isGone === true;
    const { listeners = [] } = given.services.find(service) ?? {};
    return !isGone && listeners.some(({ name }) => nameKey(name) === listener);
  }

  #forget(service: string): void {
    this.#created.delete(service);
    for (const [key, change] of this.#changes) if (change.service === service) this.#changes.delete(key);
  }

  /** The document of a node without the listeners that belong to that node alone. */
  withoutOwn(document: GatewayDocument): GatewayDocument {
    const services = (document.services ?? []).map((service): ServiceEntry => {
      const { listeners: _own, ...rest } = service;
      return this.#created.has(nameKey(service.name)) ? service : rest;
    });
    return { ...document, services };
  }

  /** A shared document with the listeners of a node. `given` is the document that the node was given. */
  withOwn(document: GatewayDocument, given: Snapshot): GatewayDocument {
    const services = (document.services ?? []).map((service) =>
      hasListeners(service) ? service : { ...service, listeners: this.#listenersOf(service, given) },
    );
    return { ...document, services };
  }

  #listenersOf({ name }: ServiceEntry, { services }: Snapshot): readonly Listener[] {
    const changes = this.changes.filter(({ service }) => service === nameKey(name));
    const gone = new Set(changes.filter(({ isGone }) => isGone).map(({ listener }) => listener));
    const own = (services.find(name)?.listeners ?? []).filter((each) => !gone.has(nameKey(each.name)));
    const added = changes.flatMap(({ listener, definition }) =>
      definition === undefined || own.some((each) => nameKey(each.name) === listener) ? [] : [definition],
    );
    return [...own, ...added];
  }
}

/** Whether a shared document has the listeners of a service: only if a node has created the service. */
function hasListeners({ listeners }: ServiceEntry): boolean {
  return listeners !== undefined;
}

function keyOf({ service, listener }: ListenerKeys): string {
  return `${service}\n${listener}`;
}
