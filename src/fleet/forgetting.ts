/**
 * Forgetting: takes a node that will not come back out of the fleet.
 */
import type { NotDone } from '../http/route.ts';
import { isConflict } from '../ports/port-error.ts';
import type { NodeStanding } from '../resources/fleet.ts';
import { beforeDeadline, late } from '../runtime/host/waiting.ts';
import { storeUnavailable } from '../runtime/command/execution.ts';
import type { Writer } from '../runtime/command/writer.ts';
import type { CompleteOptions } from '../runtime/ground.ts';
import { beatMs, type Members } from './members.ts';
import type { SharedJournal } from './shared-journal.ts';
import type { SharedLog } from './shared-log.ts';

/** What {@link forget} needs of this node. @internal */
export interface ForgettingNode {
  readonly members: Members;
  readonly node: string;
  readonly leaseMs: number;
  readonly complete: CompleteOptions;
  readonly log: SharedLog;
  readonly journal: SharedJournal;
  readonly writer: Pick<Writer, 'retry'>;
}

/** What this node knows of a node; `undefined` for a name that the fleet does not know. @internal */
export function standingOf(
  name: string,
  { members, node, leaseMs, log }: ForgettingNode,
): NodeStanding | undefined {
  if (name === node) return 'own';
  if (members.isAnnounced(name)) return members.countedSilence(name) < leaseMs ? 'alive' : 'silent';
  return log.knows(name) ? 'silent' : undefined;
}

/**
 * Takes a node out of the list, and ends its commands.
 *
 * @throws the error of the store
 * @internal
 */
export async function forget(name: string, around: ForgettingNode): Promise<void> {
  await around.members.remove(name);
  await forgetInLog(name, around);
  // Commands may wait for those of the node.
  around.writer.retry();
}

async function forgetInLog(name: string, around: ForgettingNode): Promise<void> {
  try {
    await around.journal.inTurn((ask) => around.log.forget(name, ask));
  } catch (error) {
    if (!isConflict(error)) throw error;
    // The journal first reads what the others have appended.
    return forgetInLog(name, around);
  }
}

/** Does the same for a client, who does not wait for a store that is out of reach. @internal */
export async function forgetInTime(name: string, around: ForgettingNode): Promise<NotDone | undefined> {
  const { clock, limits } = around.complete;
  const forgotten = await beforeDeadline(clock, limits.storeDeadlineMs, () => forget(name, around)).catch(
    () => late,
  );
  if (forgotten === undefined) return undefined;
  const { retryAfterMs } = around.journal.outage ?? { retryAfterMs: beatMs };
  return storeUnavailable(retryAfterMs, 'The node is taken out if the store gets the record.');
}
