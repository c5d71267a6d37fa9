/**
 * Self: the running interface as `GET /` shows it and `PATCH /` changes it.
 */
import { routes } from '../resources/index.ts';
import type { InterfaceRepresentation, RunningInterface } from '../resources/interface.ts';
import type { Audit } from './audit/audit.ts';
import { noJournal, type Journal } from './journal.ts';
import { libraryVersion } from './version.ts';
import type { Writer } from './writer.ts';

/** The mode of an interface. @internal */
export interface Mode {
  /** Whether the interface refuses to change anything. */
  isReadOnly: boolean;
}

/** The parts of a running interface that its own endpoints show. @internal */
export interface SelfOptions {
  readonly writer: Pick<Writer, 'commands' | 'isClosed'>;
  readonly journal: Journal;
  readonly mode: Mode;
  readonly audit: Pick<Audit, 'refuseAll'>;
}

/** Creates what the endpoints of the interface itself need. @internal */
export function createSelf({ writer, journal, mode, audit }: SelfOptions): RunningInterface {
  return Object.freeze({
    state: () => ({
      ready: !writer.isClosed && journal.outage === undefined && audit.refuseAll() === undefined,
      read_only: mode.isReadOnly,
      ...(journal === noJournal ? {} : { store: storeState(journal) }),
      unknown_outcomes: writer.commands().filter(({ outcome }) => outcome === 'unknown').length,
      version: libraryVersion,
      links,
    }),
    setReadOnly: (readOnly: boolean) => {
      mode.isReadOnly = readOnly;
    },
  });
}

function storeState({ outage }: Journal): NonNullable<InterfaceRepresentation['store']> {
  if (outage === undefined) return 'ok';
  return outage.retryAfterMs === undefined ? 'lost' : 'retrying';
}

/** The links of everything that is read without a name or an id, by their last words. */
const links: InterfaceRepresentation['links'] = Object.freeze(
  Object.fromEntries(
    routes
      .filter(({ kind, path }) => kind !== 'command' && path !== '/' && !path.includes(':'))
      .map(({ path }) => [path.slice(path.lastIndexOf('/') + 1), path]),
  ),
);
