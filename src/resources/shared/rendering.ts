/**
 * Rendering: the inputs of a representation besides the snapshot, which are the time zone and live figures of the host.
 */
import type { TimeFormat } from '../../core/time.ts';
import type { Range } from '../../http/range.ts';
import type { Role } from '../../http/route.ts';
import type { CommandTable } from '../command.ts';
import type { RunningFleet } from '../fleet.ts';
import type { RunningHistory } from '../history.ts';
import type { RunningInterface } from '../interface.ts';
import type { Telemetry } from '../telemetry.ts';

/**
 * The inputs of a representation besides the snapshot.
 *
 * @public
 */
export interface Rendering {
  /** Writes instants in the time zone of the readers. */
  readonly times: TimeFormat;
  /** Live figures of the host, `undefined` where it has none; left out if there are only stored figures. */
  readonly telemetry?: Required<Telemetry>;
  /** The fields that the client asks for; left out for those that a representation has if nobody asks. */
  readonly fields?: readonly string[];
}

/**
 * What a route sees besides the snapshot: the inputs of a representation, and the running interface.
 *
 * @internal
 */
export interface Surroundings extends Rendering {
  /** Gives the present time, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly now: (this: void) => number;
  /** The commands in flight. */
  readonly commands: CommandTable;
  /** The fleet; left out if the interface runs alone. */
  readonly fleet?: RunningFleet;
  /** The positions that the client asks for, in the list of an item; left out for all. */
  readonly range?: Range;
  /** The settled commands. */
  readonly history: RunningHistory;
  /** Gives who has sent the request; left out without a log-in. */
  readonly caller?: (this: void) => { readonly user: string; readonly role?: Role };
  /** The running interface itself. */
  readonly self: RunningInterface;
}
