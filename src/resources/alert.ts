/**
 * Alerts: what is wrong with the gateway now. The Gateway Administration REST Interface has no such chapter: the
 * endpoint is an addition.
 *
 * Alerts are derived at each look, so an alert vanishes with its cause.
 */
import * as z from 'zod/mini';

import { defineFields, representFields } from '../core/field.ts';
import { linkKey, parseLink } from '../core/link.ts';
import * as shape from '../core/shape.ts';
import { parseInstant } from '../core/time.ts';
import { endpoint } from '../http/endpoint.ts';
import { cut, longestTexts, ok } from '../problem.ts';
import { drainingIn, linkOf, type State } from '../snapshot/state.ts';
import { actRoles, actsFor, type AlertAct } from './alert-act.ts';
import type { RunningInterface } from './interface.ts';
import { isDown, takesSessions, type Server } from './server.ts';
import type { Service } from './service.ts';
import { leftToClose } from './shared/drain.ts';
import type { Kind } from './shared/kind.ts';
import { shownState, type Lived } from './shared/lifecycle.ts';
import type { Surroundings } from './shared/rendering.ts';
import { listingOf, listRoute } from './shared/route.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * The code of an alert: what kind of thing is wrong.
 *
 * @public
 */
export type AlertCode =
  | 'server-down'
  | 'service-failed'
  | 'service-without-server'
  | 'monitor-failed'
  | 'monitor-stopped'
  | 'server-not-seen'
  | 'server-unwatched'
  | 'drain-overdue'
  | 'sessions-not-reported'
  | 'outcome-unknown'
  | 'node-behind'
  | 'effect-not-supported'
  | 'node-silent'
  | 'hints-failing'
  | 'clocks-differ'
  | 'store-retrying'
  | 'audit-not-kept';

/**
 * Something that is wrong now, in a response.
 *
 * @public
 */
export interface AlertRepresentation {
  /** What kind of thing is wrong. */
  readonly code: AlertCode;
  /** Link of the resource that the alert is about; `/` for the interface itself. */
  readonly resource: string;
  /** Since when, such as `2016-08-29T12:52:31+03:00`; left out if that is not known. */
  readonly since?: string;
  /** What is wrong, for people. */
  readonly detail: string;
  /** `error`: clients or changes suffer. `warning`: they do not suffer yet. */
  readonly level: 'error' | 'warning';
  /** What the caller can do about it; left out if there is nothing. */
  readonly acts?: readonly AlertAct[];
}

/** Something that is wrong now. */
interface Alert extends Omit<AlertRepresentation, 'since'> {
  /** Since when, in milliseconds since 1970-01-01T00:00:00Z; left out if that is not known. */
  readonly since?: number;
}

/** What a row of the table finds. */
type Finding = Pick<Alert, 'resource' | 'detail'> & { readonly since?: Alert['since'] | undefined };

/** How the alerts with one code are found. */
interface AlertRow {
  readonly level: Alert['level'];
  readonly find: (this: void, snapshot: Snapshot, around: Surroundings) => readonly Finding[];
}

/** Every kind of alert, by its code; the errors first, as they are shown. @internal */
export const alertTable: Readonly<Record<AlertCode, AlertRow>> = {
  'server-down': {
    level: 'error',
    find: (snapshot, around) =>
      downServers(snapshot, around)
        .filter(({ isPassing }) => !isPassing)
        .map(({ server: { name, seen }, resource, awaited }) => ({
          resource,
          since: seen.status_since ?? awaited,
          detail: sentence(
            `${name} is down`,
            seen.status_reason ?? (seen.status_since === undefined ? 'not seen running yet' : ''),
          ),
        })),
  },
  'service-failed': {
    level: 'error',
    find: ({ services }) => failed('services', services),
  },
  'service-without-server': { level: 'error', find: withoutServer },
  'monitor-failed': {
    level: 'error',
    find: ({ monitors }) => failed('monitors', monitors),
  },
  'drain-overdue': { level: 'error', find: overdue },
  'outcome-unknown': {
    level: 'error',
    find: (_snapshot, { commands }) =>
      commands
        .list()
        .filter(({ outcome }) => outcome === 'unknown')
        .map(({ id, type, resource, since }) => ({
          ...{ resource, since },
          detail: `The outcome of ${type} is unknown. Until it is known, the resource takes no command (command ${id}).`,
        })),
  },
  'effect-not-supported': {
    level: 'error',
    find: (_snapshot, around) => behind(around, (code) => !canFollow(code)),
  },
  'node-silent': { level: 'error', find: silent },
  'store-retrying': {
    level: 'error',
    find(_snapshot, { self }) {
      const next =
        self.state().store === 'lost' ? 'Only a restart of the gateway helps' : 'It is tried again';
      return outage(
        self,
        'store',
        'The configuration store does not answer',
        `Changes are refused. ${next}.`,
      );
    },
  },
  'audit-not-kept': {
    level: 'error',
    find: (_snapshot, { self }) =>
      outage(self, 'audit', 'The audit sink does not keep records', 'It is tried again.'),
  },
  'monitor-stopped': { level: 'warning', find: stopped },
  'server-not-seen': {
    level: 'warning',
    find: (snapshot, around) =>
      downServers(snapshot, around)
        .filter(({ isPassing }) => isPassing)
        .map(({ server: { name, seen }, resource, awaited }) => ({
          resource,
          since: awaited,
          detail: sentence(`${name} was not seen running yet`, seen.status_reason),
        })),
  },
  'server-unwatched': { level: 'warning', find: unwatched },
  'sessions-not-reported': { level: 'warning', find: notReported },
  'node-behind': {
    level: 'warning',
    find: (_snapshot, around) => [...behind(around, canFollow), ...lagging(around)],
  },
  'hints-failing': {
    level: 'warning',
    find(_snapshot, { fleet }) {
      const failure = fleet?.hintFailure();
      return failure === undefined ? [] : [{ resource: '/', ...failure }];
    },
  },
  'clocks-differ': { level: 'warning', find: apart },
};

const rows = Object.entries(alertTable) as readonly [AlertCode, AlertRow][];

const actShape = z.strictObject({
  id: z.enum(Object.keys(actRoles) as AlertAct['id'][]),
  resource: shape.text(4096),
  inputs: z.exactOptional(
    z.array(z.strictObject({ name: z.literal('server'), choices: z.literal('servers') })),
  ),
  text: z.string(),
});

const fields = defineFields<{
  representation: AlertRepresentation;
  document: AlertRepresentation;
  state: Alert;
}>()({
  code: { shape: z.enum(rows.map(([code]) => code)) },
  resource: { shape: shape.text(4096) },
  since: { shape: shape.instant, time: 'iso8601', optional: true },
  detail: { shape: z.string() },
  level: { shape: z.enum(['error', 'warning']) },
  acts: { shape: z.array(actShape), optional: true },
});

/** The largest number of alerts in a response. */
const mostAlerts = 1000;

/** Everything that is wrong, the errors first, as a response shows it. @internal */
export function alertsOf(snapshot: Snapshot, around: Surroundings): readonly AlertRepresentation[] {
  return rows.flatMap(([code, { level, find }]) =>
    find(snapshot, around).map(({ since, ...found }) => {
      const detail = cut(found.detail, longestTexts.detail);
      const acts = actsFor(code, found, snapshot, around);
      const rest = {
        ...{ ...found, code, level, detail },
        ...(since !== undefined && { since }),
        ...(acts.length > 0 && { acts }),
      };
      return representFields(fields, { rest, times: around.times }) as AlertRepresentation;
    }),
  );
}

/** A sentence with a reason in the words of the host, if there is one, and one full stop. */
function sentence(what: string, reason = ''): string {
  return `${what}: ${reason}`.replace(/:? ?\.?$/, '.');
}

/** The first three of some texts, and how many more there are. @internal */
export function firstOf(texts: readonly string[]): string {
  const others = texts.length - 3;
  return others > 0 ? `${texts.slice(0, 3).join(', ')} and ${String(others)} more` : texts.join(', ');
}

function failed(collection: string, things: Iterable<Lived>): readonly Finding[] {
  return [...things]
    .filter(({ seen }) => seen.state === 'failed')
    .map((thing) => ({
      resource: linkOf(collection, thing),
      since: thing.seen.state_since,
      detail: sentence(`${thing.name} has failed`, thing.seen.state_reason),
    }));
}

/** How long a monitor may take to see a server for the first time: in milliseconds, and in intervals of the monitor. */
const firstSight = { ms: 60_000, intervals: 3 } as const;

/** A server whose status is empty. */
interface DownServer {
  readonly server: Server;
  readonly resource: string;
  /** Since when a monitor looks at a server that was not seen yet; left out for a server that was. */
  readonly awaited?: number;
  /** Whether a monitor may still see the server running for the first time. */
  readonly isPassing: boolean;
}

/** The servers that are down. A server that was not seen yet is left out while nobody looks: other alerts say that. */
function downServers({ servers, monitors }: Snapshot, { self, now }: Surroundings): readonly DownServer[] {
  const down = [...servers].filter(isDown);
  if (down.length === 0) return [];
  const watched = watchedIn({ monitors });
  return down.flatMap((server): readonly DownServer[] => {
    const resource = linkOf('servers', server);
    if (server.seen.status_since !== undefined) return [{ server, resource, isPassing: false }];
    const awaited = self.watchedSince(resource);
    if (awaited === undefined) return [];
    const graceMs = Math.max(firstSight.ms, firstSight.intervals * (watched.get(resource) ?? 0));
    return [{ server, resource, awaited, isPassing: now() - awaited < graceMs }];
  });
}

/**
 * The servers at which a monitor looks, by link, each with the shortest interval in milliseconds. Only a started
 * monitor looks: a failed one looks at nothing.
 *
 * @internal
 */
export function watchedIn({ monitors }: Pick<Snapshot, 'monitors'>): ReadonlyMap<string, number> {
  const watched = new Map<string, number>();
  for (const monitor of monitors) {
    if (shownState(monitor) !== 'started') continue;
    const { settings } = monitor;
    for (const link of settings.servers)
      watched.set(link, Math.min(settings.monitor_interval, watched.get(link) ?? Infinity));
  }
  return watched;
}

/**
 * The servers that no monitor lists, and whose status a report has changed, or that were not seen yet. A status of the
 * document is that of the host.
 */
function unwatched({ servers, monitors }: Snapshot): readonly Finding[] {
  const onLists = new Set([...monitors].flatMap(({ settings }) => settings.servers));
  return [...servers].flatMap((server) => {
    const { name, seen } = server;
    const resource = linkOf('servers', server);
    const isReported = (seen.status_since ?? seen.status_reason) !== undefined;
    if (onLists.has(resource) || !(isReported || isDown(server))) return [];
    const status = isReported ? 'stays as it was' : 'is not known';
    return { resource, detail: `No monitor looks at ${name}, so its status ${status}.` };
  });
}

function serverAt(servers: Snapshot['servers'], link: string): Server | undefined {
  return servers.find(parseLink(link, 'servers') ?? '');
}

/** The started services of which no server takes new sessions. A service that never had a server needs none. */
function withoutServer({ services, servers, monitors }: Snapshot, around: Surroundings): readonly Finding[] {
  const watched = watchedIn({ monitors });
  return [...services].flatMap((service) => {
    if (shownState(service) !== 'started') return [];
    const own = service.settings.servers.flatMap((link) => serverAt(servers, link) ?? []);
    if (own.length === 0) return emptied(service, around);
    if (own.some(takesSessions)) return [];
    const losses = own.map((server) => lossOf(server, watched));
    // One time that is not known makes the last one unknown.
    const since = Math.max(...losses.map(([, at = NaN]) => at));
    return {
      resource: linkOf('services', service),
      since: isNaN(since) ? undefined : since,
      detail: `No server of ${service.name} takes new sessions: ${firstOf(losses.map(([reason]) => reason))}.`,
    };
  });
}

/** A started service that has lost the last server of its list. Only the history tells that it had one. */
function emptied(service: Service, { history }: Surroundings): readonly Finding[] {
  const resource = linkOf('services', service);
  const entry = history.lastChangeOf({ type: 'service.updated', resource }, 'servers');
  const isUpdate = entry?.events.some(
    (event) => event.type === 'service.updated' && linkKey(event.resource) === linkKey(resource),
  );
  if (isUpdate !== true) return [];
  const detail = `${service.name} has lost the last server of its list, so no server takes its new sessions.`;
  return [{ resource, since: entry?.at, detail }];
}

/** Why a server takes no new sessions, and since when; the time is left out if it is not known. */
function lossOf(
  server: Server,
  watched: ReadonlyMap<string, number>,
): readonly [reason: string, since?: number | undefined] {
  const { name, settings, seen } = server;
  const drains = settings.drain && parseInstant(settings.drain.since);
  const { status, status_since: down } = seen;
  const isUnknown = down === undefined && !watched.has(linkOf('servers', server));
  if (isDown(server) && isUnknown) return [`the status of ${name} is not known`];
  if (isDown(server)) return [`${name} is down`, down && Math.min(down, drains ?? down)];
  if (settings.state.length > 0) return [`${name} is in maintenance`];
  return status.includes('running') ? [`${name} drains`, drains] : [`${name} is not running`];
}

/** The stopped monitors with servers that no started monitor has. */
function stopped(snapshot: Snapshot): readonly Finding[] {
  const { monitors, servers } = snapshot;
  const watched = watchedIn(snapshot);
  return [...monitors].flatMap((monitor) => {
    const unwatched = monitor.settings.servers.filter((link) => !watched.has(link));
    if (monitor.state !== 'stopped' || unwatched.length === 0) return [];
    const names = unwatched.flatMap((link) => serverAt(servers, link)?.name ?? []);
    const detail = `${monitor.name} is stopped, and no other monitor looks at ${firstOf(names)}.`;
    return { resource: linkOf('monitors', monitor), detail };
  });
}

/** How long after its deadline a drain is overdue, in milliseconds. */
const overdueMs = 10_000;

/** The drains whose deadline has passed with something left to do. */
function overdue(snapshot: Snapshot, { self, now }: Surroundings): readonly Finding[] {
  return drainingIn(snapshot).flatMap((open) => {
    const { collection, key } = open;
    const thing = snapshot[collection].find(key);
    const { until, then } = thing?.settings.drain ?? {};
    const since = until === undefined ? undefined : parseInstant(until);
    if (thing === undefined || since === undefined || since + overdueMs > now()) return [];
    const left = leftToClose(snapshot, open);
    if (then === 'close' && left === 0) return [];
    const what =
      then === 'close'
        ? `${thing.name} was to be drained. Still open: ${String(left)}.`
        : `The drain of ${thing.name} was to end, and goes on.`;
    const detail = [what, ...self.deadlineFailures(open), 'It is tried again.'].join(' ');
    return { resource: linkOf(collection, thing), since, detail };
  });
}

/** How long after its start a gateway may take to report everything that is open, in milliseconds. */
const unreportedMs = 60_000;

/** The gateway has not said that it has reported everything that is open. */
function notReported({ sessionsIncomplete }: Snapshot, { self, now }: Surroundings): readonly Finding[] {
  if (sessionsIncomplete !== true || now() - self.begun < unreportedMs) return [];
  const detail = 'The gateway has not reported sessions.complete. Until then, nothing is shown as drained.';
  return [{ resource: '/sessions', since: self.begun, detail }];
}

/** Where a gateway was asked to be as the interface or the fleet has it, and is not. */
function behind({ commands, fleet }: Surroundings, isMeant: (code: string) => boolean): readonly Finding[] {
  const left = commands
    .behind()
    .filter(({ problem }) => problem !== undefined && isMeant(problem.code))
    .map(({ resource, since, problem }) => ({
      ...{ resource, since },
      detail: sentence('What an earlier command may have left was not taken away', problem?.detail),
    }));
  const lags = (fleet?.nodes() ?? []).flatMap(({ node, behind: each }) =>
    each
      .filter(({ code }) => code !== undefined && isMeant(code))
      .map(({ resource, since, detail }) => ({
        ...{ resource, since },
        detail: sentence(`The gateway of the node ${node} has not followed`, detail),
      })),
  );
  return [...left, ...lags];
}

/** What a gateway says that it could not bring into place. @internal */
export const lagShape = z.array(
  z.strictObject({ resource: shape.text(4096), since: shape.milliseconds, reason: z.string() }),
) as unknown as z.ZodMiniType<ReturnType<RunningInterface['lags']>>;

/** What the gateway could not bring into place. */
function lagging({ self }: Surroundings): readonly Finding[] {
  return self.lags().map(({ resource, since, reason }) => ({
    ...{ resource, since },
    detail: `${sentence('The gateway could not bring this into place', reason)} It is tried again.`,
  }));
}

/** The nodes that are not heard: this one, or others. */
function silent(_snapshot: Snapshot, { fleet, self, now }: Surroundings): readonly Finding[] {
  // A node hears nobody while the store does not answer, or does not take what the node announces.
  if (fleet === undefined || self.outages().store !== undefined) return [];
  const [own, ...others] = fleet.nodes();
  const failure = fleet.announcementFailure();
  if (own !== undefined && failure !== undefined) return [{ resource: `/fleet/${own.node}`, ...failure }];
  return others
    .filter(({ alive }) => !alive)
    .map(({ node, seen }) => ({
      resource: `/fleet/${node}`,
      since: now() - seen * 1000,
      detail: `The node ${node} is silent. If it will not come back, forget it.`,
    }));
}

/** How far apart the clocks of two nodes may be, in milliseconds. */
const longestApartMs = 2000;

/** The nodes whose clocks differ from that of this node. */
function apart(_snapshot: Snapshot, { fleet }: Surroundings): readonly Finding[] {
  const [own] = fleet?.nodes() ?? [];
  return (fleet?.clocks() ?? [])
    .filter(({ aheadMs }) => Math.abs(aheadMs) > longestApartMs)
    .map(({ node, aheadMs }) => {
      const seconds = String(Math.round(Math.abs(aheadMs) / 1000));
      const where = aheadMs > 0 ? 'ahead of' : 'behind';
      const what = `The clock of the node ${node} is about ${seconds} s ${where} that of the node ${own?.node ?? ''}`;
      return {
        resource: `/fleet/${node}`,
        detail: `${what}. Each node ends drains by its own clock: set both.`,
      };
    });
}

/** Whether the gateway can follow at a later try. */
function canFollow(code: string): boolean {
  return code !== 'not-supported';
}

/** A port of the host that does not answer. */
function outage(
  { outages }: RunningInterface,
  port: 'store' | 'audit',
  what: string,
  then: string,
): readonly Finding[] {
  const { since, reason } = outages()[port] ?? {};
  return since === undefined ? [] : [{ resource: '/', since, detail: `${sentence(what, reason)} ${then}` }];
}

/** The kind "alert". @internal */
export const alertKind: Kind<State, never, never, never> = {
  fields: { alert: fields },
  events: {},
  effects: {},
  reports: {},
  routes: [
    listRoute({
      ...endpoint('alerts.list'),
      isAddition: true,
      role: 'reader',
      query: ['fields', 'range'],
      summary: 'Lists what is wrong now, the errors first.',
      shape: fields.representation,
      find: () => ok(undefined),
      list: (snapshot: Snapshot, _none, around) =>
        listingOf(alertsOf(snapshot, around).slice(0, mostAlerts), (alert) => alert),
    }),
  ],
};
