/**
 * Logging: what is logged, and writing what is pending to disk.
 *
 * The chapter "Logging information" of the Gateway Administration REST Interface.
 */
import * as z from 'zod/mini';

import { initialVersion, nextVersion, type Version } from '../core/version.ts';
import {
  accepted,
  eventHead,
  type Context,
  type DecisionOf,
  type EffectOf,
  type EffectTable,
  type EventOf,
  type EventTable,
} from '../core/decision.ts';
import { ok } from '../problem.ts';
import type { RouteOf } from '../http/route.ts';
import * as shape from '../core/shape.ts';
import { formatInstant, parseInstant, type TimeFormat } from '../core/time.ts';
import type { Rendering } from './shared/rendering.ts';
import { commandRoute, itemRoute } from './shared/route.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/**
 * Logging, as the snapshot keeps it.
 *
 * @public
 */
export interface Logs {
  /** When it last changed. */
  readonly version: Version;
  /** When the logs were last flushed, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly last_flushed?: number;
  /** What else is known of it, in the words of the representation. */
  readonly facts: Omit<LogsRepresentation, 'last_flushed'>;
}

/**
 * Logging, as clients see it.
 *
 * @public
 */
export interface LogsRepresentation {
  /** Path of the directory of the logs. */
  readonly logdir?: string;
  /** Whether the log file of the instance is written. */
  readonly maxlog?: boolean;
  /** Whether the system log is written. */
  readonly syslog?: boolean;
  /** Which levels are logged: `error`, `warning`, `notice`, `info`, `debug`. */
  readonly log_levels?: Readonly<Record<'error' | 'warning' | 'notice' | 'info' | 'debug', boolean>>;
  /** What is added to messages: the name of the `function`. */
  readonly log_augmentation?: { readonly function: boolean };
  /** How repeated messages are held back. */
  readonly log_throttling?: Readonly<Record<'limit' | 'window' | 'suppression', number>>;
  /** When the logs were last flushed, such as `Wed, 31 Aug 2016 23:29:26 +0300`. */
  readonly last_flushed?: string;
}

/**
 * What can happen to the logs: they are flushed. `at` is the time at which the host confirmed.
 *
 * @public
 */
export type LogEvent = EventOf<'logs.flushed'>;

/**
 * What the host is asked to do with itself: write pending messages to disk and reopen the log files.
 *
 * @public
 */
export type LogEffect = EffectOf<'logs.flush'>;

/**
 * The answer of a transition of logging.
 *
 * @public
 */
export type LogDecision = DecisionOf<Snapshot, LogEvent, LogEffect>;

const path = z.exactOptional(shape.text(4096));
const logFacts = {
  logdir: path,
  maxlog: z.exactOptional(z.boolean()),
  syslog: z.exactOptional(z.boolean()),
  log_levels: z.exactOptional(
    z.strictObject({
      error: z.boolean(),
      warning: z.boolean(),
      notice: z.boolean(),
      info: z.boolean(),
      debug: z.boolean(),
    }),
  ),
  log_augmentation: z.exactOptional(z.strictObject({ function: z.boolean() })),
  log_throttling: z.exactOptional(
    z.strictObject({ limit: z.number(), window: z.number(), suppression: z.number() }),
  ),
};
const logsShape = z.strictObject({
  ...logFacts,
  last_flushed: z.exactOptional(z.string()),
}) satisfies z.core.$ZodType<LogsRepresentation>;

const documentShape = z.strictObject({ ...logFacts, last_flushed: z.exactOptional(shape.instant) });

/** How logging stands in a gateway document. @internal */
export const logDocument = { logs: z.exactOptional(documentShape) };

/** Makes the part of a snapshot that tells of logging. @internal */
export function loadLogs({
  logs = {},
}: {
  readonly logs?: z.infer<typeof documentShape>;
}): Pick<Snapshot, 'logs'> {
  const { last_flushed, ...facts } = logs;
  const at = last_flushed === undefined ? undefined : parseInstant(last_flushed);
  return { logs: { version: initialVersion, ...(at === undefined ? {} : { last_flushed: at }), facts } };
}

/** Writes the part of a document that tells of logging. @internal */
export function saveLogs({ logs: { last_flushed, facts } }: Snapshot): object {
  return {
    logs: last_flushed === undefined ? facts : { ...facts, last_flushed: formatInstant(last_flushed) },
  };
}

function toLogs({ logs: { last_flushed, facts } }: Snapshot, times: TimeFormat): LogsRepresentation {
  return last_flushed === undefined ? facts : { ...facts, last_flushed: times.rfc5322(last_flushed) };
}

/** @internal */
export const logEvents: EventTable<Snapshot, LogEvent> = {
  'logs.flushed': {
    origin: 'command',
    effect: 'logs.flush',
    revert: 'irreversible',
    evolve: (snapshot, { at }, change) => ({
      ...snapshot,
      logs: Object.freeze({
        ...snapshot.logs,
        last_flushed: at,
        version: nextVersion(snapshot.logs.version, change),
      }),
    }),
  },
};

/** @internal */
export const logEffects: EffectTable<LogEffect> = { 'logs.flush': 'irreversible' };

/**
 * Flushes the logs: pending messages go to disk and the log files are opened anew.
 *
 * @param snapshot - the state to start from
 * @param context - the time, which becomes `last_flushed`, and who asked
 * @returns the decision, always accepted, with one `logs.flushed` and one `logs.flush`
 *
 * @example
 * ```ts
 * import { createSnapshot, flushLogs } from 'gateway-admin-core';
 *
 * flushLogs(createSnapshot({}), { now: 1000 }).next.logs.last_flushed; // => 1000
 * ```
 *
 * @public
 */
export function flushLogs(snapshot: Snapshot, context: Context): LogDecision {
  const resource = '/gateway/logs';
  return accepted(logEvents, snapshot, [resource], {
    events: [{ type: 'logs.flushed', ...eventHead(resource, context) }],
    effects: [{ type: 'logs.flush', resource }],
  });
}

/** @internal */
export const logRoutes: readonly RouteOf<Snapshot, LogEvent, LogEffect, Rendering>[] = [
  itemRoute(
    {
      id: 'gateway.logs',
      path: '/gateway/logs',
      summary: 'Gives the state of logging.',
      shape: logsShape,
      version: (snapshot) => snapshot.logs.version,
    },
    (snapshot, _subject, { times }) => ok(toLogs(snapshot, times)),
  ),
  commandRoute(
    {
      id: 'gateway.flushLogs',
      method: 'POST',
      path: '/gateway/logs/flush',
      aliases: [],
      about: '/gateway/logs',
      summary: 'Writes pending log messages to disk and reopens the log files.',
    },
    (snapshot, _subject, context) => flushLogs(snapshot, context),
  ),
];
