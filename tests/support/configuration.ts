/**
 * What of a snapshot a restart brings back.
 */
import { toDocument, type GatewayDocument, type Snapshot } from 'gateway-admin-core';

/** A document, and what no document has: the settings of the interface itself. */
export function wholeDocument(snapshot: Snapshot): GatewayDocument {
  return { ...toDocument(snapshot), ...{ interface: snapshot.interface.settings } };
}

/** What a restart must bring back: not what the host sees, counts or did in this life. */
export function configuration(snapshot: Snapshot): GatewayDocument {
  return configurationIn(toDocument(snapshot));
}

function configurationIn(all: GatewayDocument): GatewayDocument {
  const { sessions: _ended, logs, servers = [], services = [], monitors = [], ...document } = all;
  const { last_flushed: _flushed, ...logging } = logs ?? {};
  return {
    ...document,
    logs: logging,
    servers: servers.map(({ status_reason: _reason, status_since: _since, status = [], ...server }) =>
      inOrder({ ...server, status: status.filter((word) => word === 'maintenance') }),
    ),
    services: services.map(({ total_connections: _counted, started: _since, ...service }) =>
      inOrder(wanted(service)),
    ),
    monitors: monitors.map(wanted),
  };
}

/** The members of a drain in one order: an undo puts back a member behind the others. */
function inOrder<T extends { readonly drain?: object }>(thing: T): T {
  if (thing.drain === undefined) return thing;
  const members = Object.entries(thing.drain).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...thing, drain: Object.fromEntries(members) };
}

interface Lived {
  readonly state?: string;
  readonly state_reason?: string;
  readonly state_since?: string;
}

function wanted<T extends Lived>({ state, state_reason: _reason, state_since: _since, ...thing }: T): T {
  return { ...thing, state: state === 'failed' ? 'started' : state } as unknown as T;
}

/**
 * The configuration as a text. What is created again stands last in its list, and the order means nothing; of listeners
 * within their service too.
 */
export function textInAnyOrder(document: GatewayDocument): string {
  const { services = [], ...rest } = configurationIn(document);
  const parts = Object.entries({
    ...rest,
    services: services.map((each) => ({ ...each, listeners: inAnyOrder(each.listeners ?? []) })),
  });
  return JSON.stringify(parts.map(([name, part]) => [name, Array.isArray(part) ? inAnyOrder(part) : part]));
}

function inAnyOrder(list: readonly unknown[]): readonly string[] {
  return list.map((each) => JSON.stringify(each)).toSorted();
}
