/**
 * The acts of alerts: what a person can do about what is wrong. The page of the console has a button for each, and
 * `gateway-admin status` prints their texts.
 */
import { linkTo, parseLink } from '../core/link.ts';
import { oncePer } from '../core/once-per.ts';
import type { CommandId } from '../http/endpoint.ts';
import { roles, type Role } from '../http/route.ts';
import type { AlertCode } from './alert.ts';
import { takesSessions } from './server.ts';
import type { Service } from './service.ts';
import type { Surroundings } from './shared/rendering.ts';
import type { Snapshot } from './snapshot.ts';

/** The acts that alerts have, with the role that the endpoint of each needs. @internal */
export const actRoles = {
  'services.patch': 'administrator',
  'services.start': 'operator',
  'services.resume': 'operator',
  'services.closeSessions': 'operator',
  'servers.drain': 'operator',
  'servers.resume': 'operator',
  'servers.closeConnections': 'operator',
  'monitors.start': 'operator',
  'fleet.retry': 'operator',
  'fleet.forget': 'administrator',
} as const satisfies { readonly [Id in CommandId]?: Role };

/**
 * What a person can do about an alert.
 *
 * @public
 */
export interface AlertAct {
  /** The endpoint that does it, such as `services.start`. */
  readonly id: keyof typeof actRoles;
  /** Link of the resource that the act is about. */
  readonly resource: string;
  /** What must be chosen first; left out if nothing must. */
  readonly inputs?: readonly AlertInput[];
  /** What is done, for people, such as `Start Sales again`. */
  readonly text: string;
}

/**
 * What a person chooses before an act.
 *
 * @public
 */
export interface AlertInput {
  /** What is chosen: a `server` is added to the servers of the resource. */
  readonly name: 'server';
  /** The collection from which one is chosen. */
  readonly choices: 'servers';
}

/** What an act needs to know of its alert. */
interface Found {
  readonly resource: string;
}

type Find = (this: void, found: Found, snapshot: Snapshot, around: Surroundings) => readonly AlertAct[];

/** The acts of each kind of alert that has some. */
const actTable: { readonly [C in AlertCode]?: Find } = {
  'server-down'({ resource }, snapshot) {
    const { name = '', settings } = snapshot.servers.find(parseLink(resource, 'servers') ?? '') ?? {};
    const others = (soleUsersOf(snapshot).get(resource) ?? []).slice(0, mostServices);
    const drain: AlertAct = { id: 'servers.drain', resource, text: `Drain ${name}` };
    return [
      ...others.flatMap((service) => giving(service, snapshot)),
      ...(settings?.drain === undefined ? [drain] : []),
    ];
  },
  'service-failed': ({ resource }, { services }) => starting('services', resource, services),
  'service-without-server'({ resource }, snapshot) {
    const service = snapshot.services.find(parseLink(resource, 'services') ?? '');
    return service === undefined ? [] : giving(service, snapshot);
  },
  'monitor-failed': ({ resource }, { monitors }) => starting('monitors', resource, monitors),
  'monitor-stopped': ({ resource }, { monitors }) => starting('monitors', resource, monitors),
  'drain-overdue'({ resource }, { services, servers }) {
    const service = services.find(parseLink(resource, 'services') ?? '');
    if (service !== undefined)
      return [
        { id: 'services.closeSessions', resource, text: `Close the sessions of ${service.name}` },
        { id: 'services.resume', resource, text: `Resume ${service.name}` },
      ];
    const { name = '' } = servers.find(parseLink(resource, 'servers') ?? '') ?? {};
    return [
      { id: 'servers.closeConnections', resource, text: `Close the connections to ${name}` },
      { id: 'servers.resume', resource, text: `Resume ${name}` },
    ];
  },
  'node-behind'(_found, _snapshot, { fleet }) {
    // Each node retries for itself.
    const [own] = fleet?.nodes() ?? [];
    return own === undefined || own.behind.length === 0
      ? []
      : [{ id: 'fleet.retry', resource: '/', text: `Retry what ${own.node} is behind` }];
  },
  'node-silent'({ resource }, _snapshot, { fleet }) {
    const node = fleet?.nodes().find((each) => !each.alive && `/fleet/${each.node}` === resource);
    return node === undefined ? [] : [{ id: 'fleet.forget', resource, text: `Forget ${node.node}` }];
  },
};

/** What the caller can do about an alert. @internal */
export function actsFor(
  code: AlertCode,
  found: Found,
  snapshot: Snapshot,
  around: Surroundings,
): readonly AlertAct[] {
  const role = around.caller?.().role ?? 'administrator';
  const acts = actTable[code]?.(found, snapshot, around) ?? [];
  return acts.filter(({ id }) => roles.indexOf(role) >= roles.indexOf(actRoles[id]));
}

/** So many services without another server have an act in the alert of a server. */
const mostServices = 2;

function starting(
  collection: 'services' | 'monitors',
  resource: string,
  things: Snapshot['services'] | Snapshot['monitors'],
): readonly AlertAct[] {
  const thing = things.find(parseLink(resource, collection) ?? '');
  if (thing === undefined) return [];
  const text = `Start ${thing.name}${thing.seen.state === 'failed' ? ' again' : ''}`;
  return [{ id: `${collection}.start`, resource, text }];
}

/** The act that gives a service another server; none if no other server takes sessions. */
function giving({ name, settings }: Service, { servers }: Snapshot): readonly AlertAct[] {
  const isOther = (link: string): boolean => !settings.servers.includes(link);
  const hasOther = [...servers].some((each) => takesSessions(each) && isOther(linkTo('servers', each.name)));
  if (!hasOther) return [];
  const inputs = [{ name: 'server', choices: 'servers' }] as const;
  return [
    { id: 'services.patch', resource: linkTo('services', name), inputs, text: `Give ${name} another server` },
  ];
}

/** The services that have one server alone, by its link: made once for a snapshot, and asked by each alert. */
const soleUsersOf = oncePer((snapshot: Snapshot): ReadonlyMap<string, readonly Service[]> => {
  const users = new Map<string, Service[]>();
  for (const service of snapshot.services) {
    const [only, second] = service.settings.servers;
    if (only === undefined || second !== undefined) continue;
    const before = users.get(only);
    if (before === undefined) users.set(only, [service]);
    else before.push(service);
  }
  return users;
});
