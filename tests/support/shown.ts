/**
 * Resources of a snapshot as clients see them.
 */
import type { LifecycleState, Monitor, Server, ServerSettings, Service } from 'gateway-admin-core';

type Thing = Server | Service | Monitor;

/** What is wanted of a resource and what the host has seen, in the members that clients see. */
export type Shown<T extends Thing> = Omit<T, 'state' | 'seen' | 'settings'> &
  Omit<T['seen'], 'state' | 'status'> &
  (T extends Server
    ? { readonly settings: ServerSettings }
    : { readonly settings: T['settings']; readonly state: LifecycleState });

/** A resource as clients see it; `undefined` if there is none. */
export function shown<T extends Thing>(thing: T | undefined): Shown<T> | undefined {
  return thing && allShown([thing])[0];
}

/** Resources as clients see them. */
export function allShown<T extends Thing>(things: Iterable<T>): readonly Shown<T>[] {
  return Array.from(things, ({ seen, settings, ...thing }) => {
    const { status, ...own } = seen as { readonly status?: readonly string[] };
    const words = status && 'state' in settings ? { state: [...settings.state, ...status] } : {};
    return { ...thing, ...own, settings: { ...settings, ...words } } as unknown as Shown<T>;
  });
}

/** Settings by their names in a gateway document, which changes have too: the status of a server is `status`. */
export function documentSettings(settings: object = {}): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]: [string, unknown]) => [
      name === 'state' ? 'status' : name,
      value,
    ]),
  );
}
