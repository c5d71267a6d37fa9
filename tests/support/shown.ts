/**
 * Resources of a snapshot as clients see them.
 */
import type { LifecycleState, Monitor, Server, Service } from 'gateway-admin-core';

type Thing = Server | Service | Monitor;

/** What is wanted of a resource and what the host has seen, in the members that clients see. */
export type Shown<T extends Thing> = Omit<T, 'state' | 'seen'> &
  Omit<T['seen'], 'state'> &
  (T extends { readonly state: string } ? { readonly state: LifecycleState } : unknown);

/** A resource as clients see it; `undefined` if there is none. */
export function shown<T extends Thing>(thing: T | undefined): Shown<T> | undefined {
  return thing && allShown([thing])[0];
}

/** Resources as clients see them. */
export function allShown<T extends Thing>(things: Iterable<T>): readonly Shown<T>[] {
  return Array.from(things, ({ seen, ...thing }) => ({ ...thing, ...seen }) as unknown as Shown<T>);
}
