/**
 * The laws of the reports and the telemetry of a gateway with clients: each row of the table is one requirement.
 */
import {
  nameKey,
  systemClock,
  type HostReport,
  type Monitor,
  type Server,
  type Snapshot,
} from '../../index.ts';
import {
  clientServices,
  eventually,
  expectReported,
  hintOf,
  isSame,
  isShown,
  linkedServers,
  patienceMs,
  restMs,
  runs,
  type ConnectedClient,
  type OpenedGateway,
} from './audited-gateway.ts';
import type { Need } from './law.ts';

/** One row of the table of audits of reports. @internal */
export interface ReportLaw {
  readonly id: string;
  /** The requirement, in a sentence. */
  readonly name: string;
  /** The options and the words of `supports` without which nothing is audited; `connect` if left out. */
  readonly needs?: readonly Need[];
  /** Whether the document has something to audit. */
  readonly covers: (snapshot: Snapshot) => boolean;
  /** Throws or rejects if the gateway does not meet the requirement. */
  readonly check: (opened: OpenedGateway) => unknown;
}

/** The requirements for the reports of a gateway. @internal */
export const reportLaws: readonly ReportLaw[] = [
  {
    id: 'service',
    name: 'a session is reported on the service that its client has connected to',
    covers: hasClients,
    check({ admin, clients }) {
      for (const client of clients?.all ?? []) expectService(admin.snapshot, client);
    },
  },
  {
    id: 'taken',
    name: 'the interface takes every report',
    covers: hasClients,
    async check({ faults }) {
      await systemClock.sleep(restMs);
      if (faults.length > 0) throw new Error(`the interface must take every report${hintOf(faults)}`);
    },
  },
  {
    id: 'time',
    name: 'the connect time of a session is when its client has connected',
    covers: hasClients,
    check({ clients, openedAt }) {
      for (const { id, connected } of clients?.all ?? []) {
        const awayMs = Math.max(openedAt - connected, connected - systemClock.now());
        if (awayMs > longestAwayMs)
          throw new Error(
            `the gateway must report as connect time of session ${String(id)} when its client has connected, in milliseconds since 1970-01-01T00:00:00Z, not ${String(connected)}`,
          );
      }
    },
  },
  {
    id: 'end',
    name: 'the end of a session is reported within a second after its client has left, and no other end',
    covers: hasClients,
    async check(opened) {
      for (let left = opened.clients?.all ?? []; left.length > 0; left = left.slice(1))
        await leave(opened, left);
    },
  },
  {
    id: 'status',
    name: 'the status of each server of a started monitor is reported within a second after the start',
    covers: (snapshot) => monitoredServers(snapshot).length > 0,
    async check({ admin, reports }) {
      for (const { monitor, server } of monitoredServers(admin.snapshot)) {
        const isReported = (): boolean =>
          reports.some((each) => each.type === 'server.reported' && nameKey(each.server) === server.key);
        if ((await eventually(() => isReported() || undefined)) === undefined)
          throw new Error(
            `the gateway must report the status of ${server.name} within a second, because the monitor ${monitor.name} is started`,
          );
      }
    },
  },
  {
    id: 'lost',
    name: 'a server that goes away is reported, and reported again when it is back',
    needs: ['interrupt'],
    covers: (snapshot) => monitoredServers(snapshot).length > 0,
    async check({ admin, interrupt }) {
      for (const { monitor, server } of monitoredServers(admin.snapshot)) {
        const mostMs = monitor.settings.monitor_interval + patienceMs;
        const isUp = (): boolean =>
          admin.snapshot.servers.find(server.key)?.seen.status.includes('running') === true;
        const becomes = (expected: boolean): Promise<true | undefined> =>
          eventually(() => (isUp() === expected ? true : undefined), mostMs);
        if ((await becomes(true)) === undefined) continue;
        const restore = await interrupt(server);
        const isNoticed = await becomes(false);
        await restore();
        const rule = `the gateway must report ${server.name} within ${String(mostMs)} ms`;
        if (isNoticed === undefined) throw new Error(`${rule} when it is gone`);
        if ((await becomes(true)) === undefined) throw new Error(`${rule} when it is back`);
      }
    },
  },
  {
    id: 'complete',
    name: 'a gateway that can drain reports sessions.complete within a second after its start, and all open sessions before that',
    needs: ['connect', 'drain'],
    covers: hasClients,
    async check({ reports, clients }) {
      const isComplete = ({ type }: HostReport): boolean => type === 'sessions.complete';
      if ((await eventually(() => reports.find(isComplete))) === undefined)
        throw new Error('the gateway must report sessions.complete within a second after its start');
      await systemClock.sleep(restMs);
      const later = reports.slice(reports.findIndex(isComplete));
      for (const report of later) {
        // The clients have connected after the start.
        if (report.type !== 'session.opened' || clients?.all.some((each) => isSame(each, report)) === true)
          continue;
        throw new Error(
          `the gateway must report session ${String(report.id)} before sessions.complete, because the session was open by then`,
        );
      }
    },
  },
  {
    id: 'idle',
    name: 'telemetry.idle, if the gateway has it, knows each session, and grows while the client is silent',
    covers: hasClients,
    async check({ gateway: { telemetry }, clients }) {
      if (telemetry?.idle === undefined) return;
      for (const { id } of clients?.all ?? []) {
        const session = `session ${String(id)}`;
        const idle = (): unknown => telemetry.idle?.(id);
        expectFigure('telemetry.idle', session, idle());
        if ((await eventually(() => idle() !== 0 || undefined, silenceMs)) === undefined)
          throw new Error(
            `telemetry.idle must grow while the client of ${session} is silent, but still answers 0.`,
          );
      }
    },
  },
  {
    id: 'figures',
    name: 'telemetry.threads and telemetry.tasks, if the gateway has them, answer at once',
    needs: [],
    covers: () => true,
    check({ gateway: { telemetry } }) {
      const [threads, tasks] = [telemetry?.threads?.(), telemetry?.tasks?.()];
      if (threads !== undefined) expectList('telemetry.threads().threads', threads.threads);
      if (tasks !== undefined) expectList('telemetry.tasks()', tasks);
    },
  },
  {
    id: 'statistics',
    name: 'telemetry.statistics, if the gateway has it, knows each connection',
    covers: hasClients,
    check({ admin, gateway: { telemetry }, clients }) {
      if (telemetry?.statistics === undefined) return;
      for (const { id } of clients?.all ?? []) {
        for (const connection of admin.snapshot.sessions.find(id)?.connections ?? [])
          expectFigure(
            'telemetry.statistics',
            `connection ${String(connection.id)} of session ${String(id)}`,
            telemetry.statistics(id, connection.id)?.reads,
          );
      }
    },
  },
];

/** How far the clocks of a gateway and of its interface may be apart. */
const longestAwayMs = 60_000;

/** The time in which an idle time becomes more than 0. Most gateways count seconds. */
const silenceMs = 3000;

function expectFigure(reader: string, what: string, figure: unknown): void {
  if (Number.isFinite(figure)) return;
  throw new Error(
    `${reader} must know ${what}, whose client is connected, but answers ${String(figure)}. A reader gets the id.`,
  );
}

function expectList(what: string, figures: unknown): void {
  if (Array.isArray(figures)) return;
  throw new Error(`${what} must be a list at once, but is ${String(figures)}. A reader is synchronous.`);
}

function hasClients(snapshot: Snapshot): boolean {
  return clientServices(snapshot).length > 0;
}

function expectService({ sessions }: Snapshot, { id, service }: ConnectedClient): void {
  const reported = sessions.find(id)?.service;
  if (reported === service.key) return;
  throw new Error(
    `the gateway must report the session of a client that connects to ${service.name} on that service, not on "${String(reported)}"`,
  );
}

/** Lets the first client leave, and expects the end of its session alone. */
async function leave(
  { admin }: OpenedGateway,
  [leaver, ...others]: readonly ConnectedClient[],
): Promise<void> {
  if (leaver === undefined) return;
  leaver.client.disconnect();
  const isClosed = (): true | undefined => (isShown(admin.snapshot, leaver) ? undefined : true);
  if ((await eventually(isClosed)) === undefined)
    throw new Error(
      `the gateway must report the end of session ${String(leaver.id)} within a second after its client has left`,
    );
  expectReported(admin, others);
}

/** The servers of the started monitors. */
function monitoredServers(
  snapshot: Snapshot,
): readonly { readonly monitor: Monitor; readonly server: Server }[] {
  const started = [...snapshot.monitors].filter(runs);
  return started.flatMap((monitor) =>
    linkedServers(snapshot, monitor.settings.servers).map((server) => ({ monitor, server })),
  );
}
