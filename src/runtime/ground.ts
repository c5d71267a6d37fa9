/**
 * The ground of a running interface: its options, and what exists before the first command. The parts are added to the
 * same object; `running.ts` has them all, and `assembly.ts` the order in which they are made.
 */
import type { SecretPorts } from '../core/secret.ts';
import type { TimeFormat } from '../core/time.ts';
import type { Authenticate, Authorize, GatewayPort, Hasher, Veto } from '../ports/port.ts';
import type { CommandInFlight } from '../resources/command.ts';
import type { Surroundings } from '../resources/shared/rendering.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { DrainingResource } from '../snapshot/state.ts';
import type { AuditOptions } from './audit/sink-queue.ts';
import type { Coordinator } from './command/coordinator.ts';
import type { Execution, Refusal } from './command/execution.ts';
import type { Origins } from './handler/origin.ts';
import type { GuardedClock, GuardedForesee, GuardedRoleOf } from './host/guard.ts';
import type { DifferingDocumentError } from './host/host-error.ts';
import type { Instruments } from './instrumentation/instruments.ts';
import type { Journal } from './journal/journal.ts';
import type { Limits } from './limits.ts';
import type { EventLog } from './read/event-log.ts';

/** The options with all defaults filled in. @internal */
export interface CompleteOptions {
  /** The real gateway. */
  readonly gateway: GatewayPort;
  /** The given snapshot, with the declared secret parameters. */
  readonly given: Snapshot;
  readonly authenticate: Authenticate | undefined;
  /** Whether no caller has to log in at a state. Never throws. */
  readonly isOpenAt: (snapshot: Snapshot) => boolean;
  readonly authorize: Authorize | undefined;
  /** Left out if the rule knows no roles. Never throws. */
  readonly roleOf: GuardedRoleOf | undefined;
  /** Never throws. */
  readonly veto: Veto | undefined;
  readonly foresee: GuardedForesee;
  /** Where the interface runs, as far as the host says so. */
  readonly place: { readonly name?: string; readonly environment?: string };
  readonly clock: GuardedClock;
  readonly timeZone: string;
  readonly times: TimeFormat;
  readonly hasher: Hasher;
  readonly secrets: SealingPorts;
  readonly origins: Origins;
  readonly limits: Limits;
  /** Keeps the audit records outside the process. */
  readonly auditing: AuditOptions | undefined;
  /** Left out if neither a logger nor a hook for measurements is given. */
  readonly instruments: Instruments | undefined;
  /** Never throws. */
  readonly onError: (error: unknown) => void;
  /** Reports where the given document differs from the configuration in use. */
  readonly onDifferences: (...told: ConstructorParameters<typeof DifferingDocumentError>) => void;
}

/** The ports for secrets that need no running interface. @internal */
export type SealingPorts = Pick<SecretPorts, 'seal' | 'objection'> & {
  /** Whether sealed text can be opened after a restart, as far as a restart matters. */
  readonly isStorable: boolean;
};

/** What a running interface has before its writer. @internal */
export interface Ground extends CompleteOptions {
  /** The snapshot with which the interface begins; the writer has the current one. */
  readonly first: Snapshot;
  /** Different in each life, so that no id of an event or record is used twice, and no mark of another life fits. */
  readonly life: string;
  readonly journal: Journal;
  readonly coordinator?: Coordinator | undefined;
  /** The events for readers. */
  readonly log: EventLog;
  /** The live figures of the host; `undefined` if there are only stored figures. */
  readonly telemetry: Surroundings['telemetry'] | undefined;
  /** Aborts when the interface begins to close, and ends the reading of bodies. */
  readonly closing: AbortSignal;
  /**
   * The refusal of every command at this moment, for a reason outside the writer; `undefined` if commands are possible.
   */
  readonly refuseAll: () => Refusal | undefined;
  /** The snapshot is another one. Gets what drains and shows something else than before. Never throws. */
  readonly onChanged: (drains: readonly DrainingResource[]) => void;
  /** Gets the outcome of each command of an earlier life. */
  readonly onRecovered: (
    command: Omit<CommandInFlight, 'outcome' | 'progress'>,
    execution: Execution,
  ) => void;
}
