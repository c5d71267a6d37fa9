/**
 * Logging: the log configuration, and the command that flushes the logs.
 *
 * Implements the chapter "Logging information" of the Gateway Administration REST Interface.
 */
import * as z from 'zod/mini';

import { contentOf, type Validator } from '../core/content.ts';
import {
  accepted,
  eventHead,
  type Context,
  type DecisionOf,
  type EffectHead,
  type EventHead,
  type EventTable,
} from '../core/decision.ts';
import { endpoint } from '../http/endpoint.ts';
import { ok } from '../problem.ts';
import * as shape from '../core/shape.ts';
import { commandRoute, itemRoute } from './shared/route.ts';
import { assertInputs, type Snapshot } from './snapshot.ts';
import { defineFields, loadFields, saveFields, representFields } from '../core/field.ts';
import type { Kind } from './shared/kind.ts';

/**
 * The logging in a snapshot.
 *
 * @public
 */
export interface Logs {
  /** The revision of the last change. */
  readonly revision: number;
  /** Time of the last flush, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly last_flushed?: number;
  /** The other fields, with their names in a response. */
  readonly attributes: Omit<LogsRepresentation, 'last_flushed'>;
}

/**
 * The logging in a response.
 *
 * @see Gateway Administration REST Interface, "Logging information".
 *
 * @public
 */
export interface LogsRepresentation {
  /** Path of the log directory. */
  readonly logdir?: string;
  /** Whether the instance writes its log file. */
  readonly maxlog?: boolean;
  /** Whether the instance writes to the system log. */
  readonly syslog?: boolean;
  /** The enabled levels: `error`, `warning`, `notice`, `info`, `debug`. */
  readonly log_levels?: Readonly<Record<'error' | 'warning' | 'notice' | 'info' | 'debug', boolean>>;
  /** Whether messages contain the name of the `function`. */
  readonly log_augmentation?: { readonly function: boolean };
  /** Limits on repeated messages. */
  readonly log_throttling?: Readonly<Record<'limit' | 'window' | 'suppression', number>>;
  /** Time of the last flush, such as `Wed, 31 Aug 2016 23:29:26 +0300`. */
  readonly last_flushed?: string;
}

/** The event of the logs: they were flushed. `at` is the time of the confirmation by the host. @internal */
export type LogEvent = EventHead<'logs.flushed'>;

/** The effect on the logs: the host must write pending messages to disk and reopen the log files. @internal */
export type LogEffect = EffectHead<'logs.flush'>;

/** The decision about the logs. @internal */
export type LogDecision = DecisionOf<Snapshot, LogEvent, LogEffect>;

const fields = defineFields<{
  representation: LogsRepresentation;
  document: LogsRepresentation;
  state: Omit<Logs, 'revision' | 'attributes'> & Logs['attributes'];
}>()({
  logdir: { shape: shape.text(4096), optional: true },
  maxlog: { shape: z.boolean(), optional: true },
  syslog: { shape: z.boolean(), optional: true },
  log_levels: {
    shape: z.strictObject({
      error: z.boolean(),
      warning: z.boolean(),
      notice: z.boolean(),
      info: z.boolean(),
      debug: z.boolean(),
    }),
    optional: true,
  },
  log_augmentation: { shape: z.strictObject({ function: z.boolean() }), optional: true },
  log_throttling: {
    shape: z.strictObject({ limit: shape.number, window: shape.number, suppression: shape.number }),
    optional: true,
  },
  last_flushed: { shape: shape.instant, time: 'rfc5322', optional: true },
});

const document = { logs: z.exactOptional(fields.document) };

function load({ logs = {} }: { readonly logs?: LogsRepresentation }): Pick<Snapshot, 'logs'> {
  const { last_flushed, ...attributes } = loadFields(fields, logs).rest as Logs['attributes'] & {
    last_flushed?: number;
  };
  const flushed = last_flushed === undefined ? {} : { last_flushed };
  return { logs: { revision: 0, ...flushed, attributes } };
}

function save({ logs: { last_flushed, attributes } }: Snapshot): object {
  return { logs: saveFields(fields, { ...attributes, last_flushed }) };
}

const events: EventTable<Snapshot, LogEvent> = {
  'logs.flushed': {
    scope: 'node',
    effect: 'logs.flush',
    revert: 'irreversible',
    evolve: (snapshot, { at }, fold) => ({
      ...snapshot,
      logs: Object.freeze({
        ...snapshot.logs,
        last_flushed: at,
        revision: fold.revision,
      }),
    }),
  },
};

const resource = '/gateway/logs';

/** A flush changes no content. */
const validator = (_snapshot: Snapshot, { attributes, revision }: Logs): Validator => ({
  content: contentOf(attributes),
  revision,
});

/**
 * Flushes the logs: the host writes pending messages to disk and reopens the log files. Always accepted.
 *
 * @param snapshot - the snapshot to decide on
 * @param context - the time, which becomes `last_flushed`, and the caller
 * @returns the decision, with one `logs.flushed` and one `logs.flush`
 *
 * @example
 * ```ts
 * import { createSnapshot, flushLogs } from 'gateway-admin-core';
 *
 * flushLogs(createSnapshot({}), { now: 1000 }).next.logs.last_flushed; // => 1000
 * ```
 *
 * @see Gateway Administration REST Interface, "Endpoints", "Instance".
 *
 * @public
 */
export function flushLogs(snapshot: Snapshot, context: Context): LogDecision {
  assertInputs(snapshot, context);
  return accepted(events, snapshot, [resource], {
    events: [{ type: 'logs.flushed', ...eventHead(resource, context) }],
  });
}

/** The kind "logging". @internal */
export const logKind: Kind<Snapshot, LogEvent, LogEffect, never> = {
  whole: { document, load, save },
  fields: { logging: fields },
  events,
  effects: { 'logs.flush': 'irreversible' },
  reports: {},
  routes: [
    itemRoute({
      ...endpoint('gateway.logs'),
      role: 'reader',
      summary: 'Gives the state of logging.',
      shape: fields.representation,
      find: ({ logs }: Snapshot) => ok(logs),
      validator,
      read: (_snapshot, { attributes, last_flushed }, { times }) =>
        representFields(fields, { rest: { ...attributes, last_flushed }, times }),
    }),
    commandRoute({
      ...endpoint('gateway.flushLogs'),
      role: 'operator',
      summary: 'Writes pending log messages to disk and reopens the log files.',
      find: ({ logs }: Snapshot) => ok(logs),
      validator,
      link: () => resource,
      decide: (snapshot: Snapshot, _logs, context) => flushLogs(snapshot, context),
    }),
  ],
};
