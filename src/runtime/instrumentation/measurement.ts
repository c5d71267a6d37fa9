/**
 * Measurements: the table of what is counted and timed, and the guard of the hook that takes the measurements.
 */
import { deepFreeze } from '../../json/value.ts';
import { callGuarded } from '../host/guard.ts';
import type { HostError } from '../host/host-error.ts';

/**
 * Every measurement of the interface, by its name in the style of Prometheus. The unit is in the name.
 *
 * Each label has one of a fixed number of values, which come from the tables of the library: never a name, a user, an
 * id, a path or an address.
 *
 * @see docs/observability.md, "What is measured".
 *
 * @beta
 */
export const measurementTable = tableOf({
  gateway_admin_request_duration_seconds: {
    kind: 'histogram',
    help: 'Time from a request to its response',
    labels: ['route', 'method', 'status'],
  },
  gateway_admin_command_duration_seconds: {
    kind: 'histogram',
    help: 'Time from the turn of a command to its outcome',
    labels: ['type', 'outcome'],
  },
  gateway_admin_effect_duration_seconds: {
    kind: 'histogram',
    help: 'Time until the outcome of one effect is known',
    labels: ['type', 'outcome'],
  },
  gateway_admin_store_duration_seconds: {
    kind: 'histogram',
    help: 'Duration of one call to the store',
    labels: ['call', 'outcome'],
  },
  gateway_admin_store_bytes_total: {
    kind: 'counter',
    help: 'Approximate size of the records that were appended to the store',
    labels: [],
  },
  gateway_admin_logins_total: { kind: 'counter', help: 'Log-ins with a password', labels: ['outcome'] },
  gateway_admin_errors_total: { kind: 'counter', help: 'Errors that went to onError', labels: ['source'] },
  gateway_admin_commands_waiting: {
    kind: 'gauge',
    help: 'Commands that wait for their turn',
    labels: [],
  },
  gateway_admin_commands_in_flight: {
    kind: 'gauge',
    help: 'Commands in flight, those of unknown outcome included',
    labels: [],
  },
  gateway_admin_commands_unknown: {
    kind: 'gauge',
    help: 'Commands in flight whose outcome is unknown',
    labels: [],
  },
  gateway_admin_fleet_behind: {
    kind: 'gauge',
    help: 'Resources at which the gateway of this node has not followed the fleet',
    labels: [],
  },
  gateway_admin_event_readers: { kind: 'gauge', help: 'Open streams of GET /events', labels: [] },
});

/** Freezes the rows. The type has the names, the kinds and the labels, without the texts. */
function tableOf<
  const Rows extends Record<
    string,
    {
      /**
       * `counter`: the value is added. `gauge`: the value replaces the last one. `histogram`: the value is one
       * observation.
       */
      readonly kind: 'counter' | 'gauge' | 'histogram';
      /** What is measured, in a sentence. */
      readonly help: string;
      /** The names of the labels. Each label has one of a fixed number of values. */
      readonly labels: readonly string[];
    }
  >,
>(
  rows: Rows,
): {
  readonly [Name in keyof Rows]: {
    readonly kind: Rows[Name]['kind'];
    readonly help: string;
    readonly labels: Rows[Name]['labels'];
  };
} {
  return deepFreeze(rows);
}

type MeasurementName = Measurement['name'];

/** The labels of a measurement, with their values. */
type LabelsOf<Name extends MeasurementName> = Extract<Measurement, { readonly name: Name }>['labels'];

/**
 * One measurement, distinguished by `name`.
 *
 * @beta
 */
export type Measurement = {
  readonly [Name in keyof typeof measurementTable]: {
    /** The name, as in {@link measurementTable}. */
    readonly name: Name;
    /** `counter`: add the value. `gauge`: replace the last value. `histogram`: the value is one observation. */
    readonly kind: (typeof measurementTable)[Name]['kind'];
    /** The value: seconds, bytes or a number of things, as the name says. */
    readonly value: number;
    /** The value of each label. */
    readonly labels: Readonly<Record<(typeof measurementTable)[Name]['labels'][number], string>>;
  };
}[keyof typeof measurementTable];

/** Takes one measurement. @internal */
export type Measure = <Name extends MeasurementName>(
  name: Name,
  value: number,
  labels: LabelsOf<Name>,
) => void;

/**
 * Guards the hook for measurements: the result never throws, and does nothing without a hook. The hook gets a gauge
 * only when its value has changed.
 *
 * @param onFailure - gets the error of the hook
 * @internal
 */
export function guardMeasurement(
  onMeasurement: ((measurement: Measurement) => void) | undefined,
  onFailure: (error: HostError) => void,
): Measure {
  if (onMeasurement === undefined) return () => undefined;
  const hook: (measurement: Measurement) => unknown = onMeasurement;
  const gauges = new Map<MeasurementName, number>();
  return (name, value, labels) => {
    const { kind } = measurementTable[name];
    if (kind === 'gauge') {
      if (gauges.get(name) === value) return;
      gauges.set(name, value);
    }
    // The compiler does not see that the four members belong to one name.
    const measurement = { name, kind, value, labels } as unknown as Measurement;
    callGuarded('onMeasurement', () => hook(measurement), onFailure);
  };
}
