/**
 * Rendering: what a reader needs besides the snapshot to write a representation.
 */
import type { TimeFormat } from '../../core/time.ts';
import type { Task, Threads } from '../gateway.ts';
import type { ConnectionStatistics } from '../../snapshot/session-table.ts';

/**
 * Figures that change by themselves, asked of the host when a response is rendered. Every reader is optional, is
 * synchronous, and may answer `undefined`: then the stored figure is shown.
 *
 * @public
 */
export interface Telemetry {
  /** The threads and their load. */
  threads?(): Threads | undefined;
  /** The tasks queued for execution. */
  tasks?(): readonly Task[] | undefined;
  /** How long the session with this id has been idle; a plain number. */
  idle?(session: number): number | undefined;
  /** The counters of a backend connection, by the ids of its session and of itself. */
  statistics?(session: number, connection: number): ConnectionStatistics | undefined;
}

/**
 * How representations are written.
 *
 * @public
 */
export interface Rendering {
  /** Writes instants in the zone that the readers expect. */
  readonly times: TimeFormat;
  /** Figures of the host; left out when there are only the stored ones. */
  readonly telemetry?: Telemetry;
}
