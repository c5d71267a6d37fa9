/**
 * A running interface: one object with everything that its parts share. Each part takes the object whole, as far as the
 * parts before it have made it.
 */
import type { Surroundings } from '../resources/shared/rendering.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { Audit } from './audit/audit.ts';
import type { Coordinator } from './command/coordinator.ts';
import type { Drains } from './command/drains.ts';
import type { KeptEntries } from './command/way-back.ts';
import type { Writer } from './command/writer.ts';
import type { Ground } from './ground.ts';
import type { EventStreams } from './handler/event-stream.ts';
import type { TextCache } from './handler/text-cache.ts';
import type { Passwords } from './password/passwords.ts';
import type { WatchedServers } from './read/watched-servers.ts';

/** A coordinator, from the beginning of its interface to the end. @internal */
export interface RunningCoordinator extends Coordinator {
  /** The parts of the interface exist. `closing` aborts when the interface begins to close. */
  connect(writer: Writer, closing: AbortSignal): void;
  /** The commands of the last process are settled. A rejection ends the start. */
  begin(): Promise<void>;
  /** The interface is open. */
  run(): void;
  /** The last command has ended. Never rejects. */
  end(): Promise<void>;
}

/** The parts of a running interface. @internal */
export interface Parts extends Ground {
  readonly coordinator: RunningCoordinator | undefined;
  readonly writer: Writer;
  readonly audit: Audit;
  readonly entries: KeptEntries;
  /** Gives the configuration that the entries have led to. */
  readonly configuration: () => Snapshot;
  readonly passwords: Passwords;
  readonly drains: Drains;
  readonly watched: WatchedServers;
  readonly streams: EventStreams;
  readonly texts: TextCache;
}

/** A running interface, as the handler of requests takes it. @internal */
export interface Running extends Parts {
  /** What the routes see besides the snapshot. */
  readonly surroundings: Surroundings;
}
