/**
 * Telemetry: the figures that the host can give live, with the threads and tasks of the gateway.
 *
 * Implements the chapters "Thread information" and "Task" of the Gateway Administration REST Interface.
 */
import * as z from 'zod/mini';

import { defineFields } from '../core/field.ts';
import * as shape from '../core/shape.ts';
import type { ConnectionStatistics } from '../snapshot/session/table.ts';

/**
 * The threads and their load, in a snapshot and in a response.
 *
 * @see Gateway Administration REST Interface, "Thread information".
 *
 * @public
 */
export interface Threads {
  /** Load averages: `historic`, `current`, `1min`, `5min`, `15min`. */
  readonly load_average: Readonly<Record<'historic' | 'current' | '1min' | '5min' | '15min', number>>;
  /** The threads. */
  readonly threads: readonly Thread[];
}

/**
 * One thread.
 *
 * @public
 */
export interface Thread {
  /** Number of the thread. */
  readonly id: number;
  /** State of the thread, such as `processing` or `polling`. */
  readonly state: string;
  /** Number of file descriptors that the thread serves. */
  readonly file_descriptors: number;
  /** The events that the thread handles, such as `in` and `out`; empty for an idle thread. */
  readonly event: readonly string[];
  /** Run time; a plain number. */
  readonly run_time: number;
}

/**
 * A task queued for execution, in a snapshot.
 *
 * @see Gateway Administration REST Interface, "Task".
 *
 * @public
 */
export interface Task {
  /** Name of the task. */
  readonly name: string;
  /** Type of the task, such as `repeated`. */
  readonly type: string;
  /** Frequency of the task; a plain number. */
  readonly frequency: number;
  /** Time of the next run, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly next_due: number;
}

/**
 * A task in a response.
 *
 * @public
 */
export interface TaskRepresentation extends Omit<Task, 'next_due'> {
  /** Time of the next run, such as `Fri Sep  9 14:12:37 2016`. */
  readonly next_due: string;
}

/**
 * A task in a gateway document: `next_due` is an ISO 8601 instant with an offset.
 *
 * @internal
 */
export interface TaskDocument extends Omit<Task, 'next_due'> {
  /** Time of the next run. */
  readonly next_due: string;
}

/**
 * Live figures, which the library reads from the host when it renders a response.
 *
 * Every reader is optional and synchronous. If a reader is missing or returns `undefined`, the response shows the
 * stored figure.
 *
 * @public
 */
export interface Telemetry {
  /** The threads and their load. */
  threads?(): Threads | undefined;
  /** The tasks queued for execution. */
  tasks?(): readonly Task[] | undefined;
  /** Idle time of the session with this id; a plain number. */
  idle?(session: number): number | undefined;
  /** Counters of a backend connection, by the id of its session and its own id. */
  statistics?(session: number, connection: number): ConnectionStatistics | undefined;
}

/** Fields of the chapter "Thread information". @internal */
export const threadsFields = defineFields<{
  representation: Threads;
  document: Threads;
  state: Threads;
}>()({
  load_average: {
    shape: z.strictObject({
      historic: shape.number,
      current: shape.number,
      '1min': shape.number,
      '5min': shape.number,
      '15min': shape.number,
    }),
  },
  threads: {
    shape: z.array(
      z.strictObject({
        id: shape.number,
        state: shape.text(255),
        file_descriptors: shape.number,
        event: z.array(shape.text(255)),
        run_time: shape.number,
      }),
    ),
  },
});

/** Fields of the chapter "Task". @internal */
export const taskFields = defineFields<{
  representation: TaskRepresentation;
  document: TaskDocument;
  state: Task;
}>()({
  name: { shape: shape.text(255) },
  type: { shape: shape.text(255) },
  frequency: { shape: shape.number },
  next_due: { shape: shape.instant, time: 'asctime' },
});

/** The shapes of the figures that telemetry gives for a whole gateway. @internal */
export const telemetryShapes = {
  threads: threadsFields.representation as unknown as z.ZodMiniType<Threads>,
  tasks: z.array(
    z.strictObject({
      name: shape.text(255),
      type: shape.text(255),
      frequency: shape.number,
      next_due: shape.milliseconds,
    }),
  ),
} as const;
