/**
 * Shared listeners: which listeners of services all nodes have. A listener of the document that a node was given belongs to
 * that node alone, because another machine has other addresses. What nodes create and delete is the same at all of them.
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

/** What has become of a listener of a service that the given documents have. */
interface ListenerChange {
  /** Key of the service. */
  readonly service: string;
  /** Key of the listener. */
  readonly listener: string;
  /** Whether nodes lose the listener of their documents. */
  readonly isGone: boolean;
  /** The listener that nodes have got; left out if there is none. */
  readonly definition?: Listener;
}

type ServiceEntry = NonNullable<GatewayDocument['services']>[number];

/** Keeps which listeners all nodes have. @internal */
export class SharedListeners {
  /** The keys of the services that nodes have created, which have the same listeners everywhere. */
  readonly #created: Set<string>;
  /** The changes of all other services, in their order, by the keys of service and listener. */
  readonly #changes: Map<string, ListenerChange>;

  constructor(created: Iterable<string> = [], changes: Iterable<ListenerChange> = []) {
    this.#created = new Set(created);
    this.#changes = new Map(Array.from(changes, (change) => [keyOf(change), change]));
  }

  /** Reads the part of a state. */
  static of({ services = [] }: GatewayDocument, changes: Iterable<ListenerChange> = []): SharedListeners {
    const created = services.filter(hasListeners).map(({ name }) => nameKey(name));
    return new SharedListeners(created, changes);
  }

  get changes(): readonly ListenerChange[] {
    return [...this.#changes.values()];
  }

  /** Takes in what was settled. */
  take(event: AdminEvent): void {
    if (event.type === 'service.created') this.#created.add(event.service);
    if (event.type === 'service.deleted') this.#forget(event.service);
    if (event.type !== 'listener.created' && event.type !== 'listener.deleted') return;
    const { service, listener, definition } = event;
    if (this.#created.has(service)) return;
    const key = keyOf(event);
    const isGone = this.#changes.get(key)?.isGone === true || event.type === 'listener.deleted';
    // A listener that comes again is the last one of its service.
    this.#changes.delete(key);
    const change = { service, listener, isGone };
    this.#changes.set(key, event.type === 'listener.created' ? { ...change, definition } : change);
  }

  #forget(service: string): void {
    this.#created.delete(service);
    for (const [key, change] of this.#changes) if (change.service === service) this.#changes.delete(key);
  }

  /** The document without the listeners of the documents that the nodes were given. */
  shared(document: GatewayDocument): GatewayDocument {
    const services = (document.services ?? []).map((service): ServiceEntry => {
      const { listeners: _own, ...rest } = service;
      return this.#created.has(nameKey(service.name)) ? service : rest;
    });
    return { ...document, services };
  }

  /** A shared document with the listeners of the document that a node was given. */
  at(document: GatewayDocument, given: Snapshot): GatewayDocument {
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

/** Whether a state has the listeners of a service, because a node has created the service. */
function hasListeners({ listeners }: ServiceEntry): boolean {
  return listeners !== undefined;
}

function keyOf({ service, listener }: Pick<ListenerChange, 'service' | 'listener'>): string {
  return `${service}\n${listener}`;
}
