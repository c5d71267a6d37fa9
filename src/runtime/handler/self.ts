/**
 * Self: the running interface as `GET /` shows it and `PATCH /` changes it.
 */
import { routes } from '../../resources/index.ts';
import type { InterfaceRepresentation, RunningInterface } from '../../resources/interface.ts';
import type { Acted } from '../../http/route.ts';
import type { Clock } from '../../ports/port.ts';
import type { Audit } from '../audit/audit.ts';
import type { Drains } from '../command/drains.ts';
import { causeText, HostError } from '../host/host-error.ts';
import type { Outage } from '../host/outbox.ts';
import type { Journal } from '../journal/journal.ts';
import type { WatchedServers } from '../read/watched-servers.ts';
import { libraryVersion } from '../version.ts';
import type { Writer } from '../command/writer.ts';

/** The mode of an interface. @internal */
export interface Mode {
  /** Whether the interface refuses to change anything. */
  readonly isReadOnly: boolean;
  /** Name of the user who has begun the read-only mode; `undefined` if the program has, or if the user is not known. */
  readonly by: string | undefined;
  /** Begins or ends the read-only mode at once, for the host. */
  set(this: void, readOnly: boolean): void;
  /** Begins or ends the read-only mode, for a client. Rejects with `Overruled` if the client must be checked again. */
  change(this: void, readOnly: boolean, actor?: string): Promise<Acted>;
}

/** The mode of an interface that shares its mode with nobody. @internal */
export function createMode(): Mode {
  let isReadOnly = false;
  let by: string | undefined;
  const set = (readOnly: boolean, actor?: string): void => {
    // A second request for the mode does not make its user the one who has begun it.
    if (readOnly !== isReadOnly) by = readOnly ? actor : undefined;
    isReadOnly = readOnly;
  };
  return {
    get isReadOnly() {
      return isReadOnly;
    },
    get by() {
      return by;
    },
    set,
    change: (readOnly, actor) => {
      set(readOnly, actor);
      return Promise.resolve({ outcome: 'accepted' });
    },
  };
}

/** The parts of a running interface that its own endpoints show. @internal */
export interface SelfOptions {
  readonly writer: Pick<Writer, 'commands' | 'refuseClosed'>;
  readonly journal: Journal;
  readonly audit: Pick<Audit, 'outage'>;
  readonly drains: Pick<Drains, 'failuresOf'>;
  readonly watched: Pick<WatchedServers, 'since'>;
  readonly clock: Clock;
  readonly mode: Mode;
  /** Where the interface runs. */
  readonly place: Pick<InterfaceRepresentation, 'name' | 'environment'>;
  /** The zone of all times. */
  readonly timeZone: string;
  /** The refusal of every command at this moment; `undefined` if commands are possible. */
  readonly refuseAll: () => object | undefined;
}

/** Creates what the endpoints of the interface itself need. @internal */
export function createSelf({
  writer,
  journal,
  audit,
  drains,
  watched,
  clock,
  mode,
  place,
  timeZone,
  refuseAll,
}: SelfOptions): RunningInterface {
  return Object.freeze({
    state: () => ({
      ...place,
      ready: writer.refuseClosed() === undefined && journal.outage === undefined && refuseAll() === undefined,
      read_only: mode.isReadOnly,
      ...(mode.by === undefined ? {} : { read_only_by: mode.by }),
      ...(journal.hasStore ? { store: storeState(journal) } : {}),
      unknown_outcomes: writer.commands().filter(({ outcome }) => outcome === 'unknown').length,
      time_zone: timeZone,
      version: libraryVersion,
      links,
    }),
    begun: clock.now(),
    outages: () => ({ ...outageOf('store', journal), ...outageOf('audit', audit) }),
    deadlineFailures: drains.failuresOf,
    watchedSince: watched.since,
    setReadOnly: mode.change,
  });
}

function outageOf(
  port: 'store' | 'audit',
  { outage }: { readonly outage: Outage | undefined },
): ReturnType<RunningInterface['outages']> {
  return outage === undefined ? {} : { [port]: { since: outage.since, reason: reasonOf(outage) } };
}

/** The words of the port itself, if the library has wrapped its error. */
function reasonOf({ error }: Outage): string {
  return causeText(error instanceof HostError && error.cause !== undefined ? error.cause : error);
}

function storeState({ outage }: Journal): NonNullable<InterfaceRepresentation['store']> {
  if (outage === undefined) return 'ok';
  return outage.retryAfterMs === undefined ? 'lost' : 'retrying';
}

/** The links of everything that is read without a name or an id, by their last words. */
const links: InterfaceRepresentation['links'] = Object.freeze(
  Object.fromEntries(
    routes
      .filter(
        ({ kind, path }) => kind !== 'command' && kind !== 'probe' && path !== '/' && !path.includes(':'),
      )
      .map(({ path }) => [path.slice(path.lastIndexOf('/') + 1), path]),
  ),
);
