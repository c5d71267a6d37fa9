/**
 * Metrics: the figures of the gateway at one moment, as text for Prometheus.
 *
 * Every figure is a state or a count that is at hand, or a count of alerts, so no session is visited.
 */
import type { Entity } from '../core/collection.ts';
import { sessionsOf } from '../snapshot/state.ts';
import { alertTable, type AlertRepresentation } from './alert.ts';
import { serverStatusWords } from './server.ts';
import { lifecycle, shownState, type Lived } from './shared/lifecycle.ts';
import { assertSnapshot, type Snapshot } from './snapshot.ts';

/** One line of a metric: the value, and the values of the labels. */
type Sample = readonly [value: number, ...labels: readonly string[]];

/** What is measured: the running interface of a gateway. */
interface Measured {
  readonly snapshot: Snapshot;
  alerts(): readonly AlertRepresentation[];
}

/** Metrics by name. */
type MetricTable = Readonly<
  Record<
    string,
    {
      readonly type: 'counter' | 'gauge';
      /** The meaning, in one line. */
      readonly help: string;
      /** The names of the labels. None is `service`, a label that Kubernetes set-ups give to every target. */
      readonly labels: readonly string[];
      readonly samples: (snapshot: Snapshot, admin: Measured) => readonly Sample[];
    }
  >
>;

/** Every metric of the gateway. A name has the unit in it if there is one; a counter ends in `_total`. @internal */
export const metricTable: MetricTable = {
  gateway_revision: {
    type: 'gauge',
    help: 'Number of the snapshot; each change raises it by one',
    labels: [],
    samples: ({ revision }) => [[revision]],
  },
  gateway_alerts: {
    type: 'gauge',
    help: 'How many alerts have the code',
    labels: ['code', 'level'],
    samples(_snapshot, admin) {
      const alerts = admin.alerts();
      return Object.entries(alertTable).map(([code, { level }]) => [
        alerts.filter((alert) => alert.code === code).length,
        ...[code, level],
      ]);
    },
  },
  gateway_service_state: {
    type: 'gauge',
    help: '1 for the state of the service, 0 for each other state',
    labels: ['name', 'state'],
    samples: ({ services }) => statesOf(services),
  },
  gateway_service_draining: {
    type: 'gauge',
    help: '1 while the service drains, 0 otherwise; what is left are its sessions',
    labels: ['name'],
    samples: ({ services }) => valuesOf(services, ({ settings }) => Number('drain' in settings)),
  },
  gateway_service_sessions: {
    type: 'gauge',
    help: 'Open sessions of the service',
    labels: ['name'],
    samples: ({ services, sessions }) => valuesOf(services, ({ key }) => sessions.countOfService(key)),
  },
  gateway_service_sessions_limit: {
    type: 'gauge',
    help: 'How many sessions the service may have open (max_connection); left out without a limit',
    labels: ['name'],
    samples: ({ services }) =>
      valuesOf(services, ({ settings }) => settings.max_connection).filter(([limit]) => limit > 0),
  },
  gateway_service_sessions_opened_total: {
    type: 'counter',
    help: 'Sessions ever opened on the service',
    labels: ['name'],
    samples: ({ services, sessions }) => valuesOf(services, ({ key }) => sessions.totalOfService(key)),
  },
  gateway_service_connections: {
    type: 'gauge',
    help: 'Open connections to servers, of all sessions of the service',
    labels: ['name'],
    samples(snapshot) {
      const sessions = sessionsOf(snapshot);
      return valuesOf(snapshot.services, ({ key }) => sessions.countConnectionsOfService(key));
    },
  },
  gateway_server_status: {
    type: 'gauge',
    help: '1 for each word of the status of the server, 0 for each other word; all are 0 if the server is down',
    labels: ['name', 'status'],
    samples: ({ servers }) =>
      wordsOf(servers, serverStatusWords, ({ settings, seen }, word) =>
        [...settings.state, ...seen.status].includes(word),
      ),
  },
  gateway_server_draining: {
    type: 'gauge',
    help: '1 while the server drains, 0 otherwise; what is left are its connections',
    labels: ['name'],
    samples: ({ servers }) => valuesOf(servers, ({ settings }) => Number('drain' in settings)),
  },
  gateway_server_connections: {
    type: 'gauge',
    help: 'Open connections to the server',
    labels: ['name'],
    samples: ({ servers, sessions }) => valuesOf(servers, ({ key }) => sessions.countOfServer(key)),
  },
  gateway_monitor_state: {
    type: 'gauge',
    help: '1 for the state of the monitor, 0 for each other state',
    labels: ['name', 'state'],
    samples: ({ monitors }) => statesOf(monitors),
  },
};

/**
 * Writes the figures of the gateway for Prometheus: the sessions, connections and states of services, servers and
 * monitors, and how many alerts there are.
 *
 * The text is in the Prometheus text format, version 0.0.4. Send it as `text/plain; version=0.0.4; charset=utf-8`. The
 * cost does not grow with the number of sessions. No label has a user or an address of a client.
 *
 * @param admin - the running interface
 * @returns the text, with a line for each figure
 * @throws TypeError if the argument is no interface
 *
 * @example
 * ```ts
 * import { createAdmin, createSnapshot, metricsOf } from 'gateway-admin-core';
 *
 * const admin = createAdmin({
 *   snapshot: createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] }),
 *   gateway: { apply: async () => {}, inspect: async () => 'in-place' },
 * });
 * metricsOf(admin).includes('gateway_service_sessions{name="Sales"} 0\n'); // => true
 * await admin.close();
 * ```
 *
 * @see docs/observability.md, "Figures for Prometheus"; Prometheus, "Exposition formats".
 *
 * @beta
 */
export function metricsOf(admin: {
  readonly snapshot: Snapshot;
  alerts(): readonly AlertRepresentation[];
}): string {
  assertSnapshot((admin as Partial<Measured> | undefined)?.snapshot, 'admin.snapshot');
  return metricText(metricTable, admin);
}

/** Writes the metrics of a table. */
function metricText(table: MetricTable, admin: Measured): string {
  // Each figure is of one moment: the snapshot can change at each look.
  const { snapshot } = admin;
  let text = '';
  for (const [name, { type, help, labels, samples }] of Object.entries(table)) {
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const [value, ...values] of samples(snapshot, admin))
      text += `${name}${labelText(labels, values)} ${String(value)}\n`;
  }
  return text;
}

function labelText(labels: readonly string[], values: readonly string[]): string {
  if (labels.length === 0) return '';
  return `{${labels.map((label, at) => `${label}="${escaped(values[at] ?? '')}"`).join()}}`;
}

/** A label value, escaped as the text format says. Most names need no escape. */
function escaped(value: string): string {
  return /[\\"\n]/.test(value) ? value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n') : value;
}

/** A sample for each thing that has a value. */
function valuesOf<T extends Entity>(
  things: Iterable<T>,
  valueOf: (thing: T) => number | undefined,
): readonly Sample[] {
  return [...things].map((thing) => [valueOf(thing) ?? 0, thing.name]);
}

/** Samples for each thing and word. Alert rules can compare each with 0 and with 1. */
function wordsOf<T extends Entity, W extends string>(
  things: Iterable<T>,
  words: readonly W[],
  has: (thing: T, word: W) => boolean,
): readonly Sample[] {
  return [...things].flatMap((thing) =>
    words.map((word): Sample => [Number(has(thing, word)), thing.name, word]),
  );
}

function statesOf(things: Iterable<Lived>): readonly Sample[] {
  return wordsOf(things, Object.keys(lifecycle), (thing, word) => shownState(thing) === word);
}
