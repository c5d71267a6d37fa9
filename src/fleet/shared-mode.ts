/**
 * Shared mode: the read-only mode of all nodes, in the log that they share.
 */
import type { Acted } from '../http/route.ts';
import { storeUnavailable } from '../runtime/command/execution.ts';
import { callerLinks } from '../runtime/journal/basis.ts';
import { NotKept } from '../runtime/journal/record-queue.ts';
import type { Mode } from '../runtime/handler/mode.ts';
import { modePending } from './refusal.ts';
import { modeRecord, type SharedRecord, type Writing } from './shared-history.ts';
import type { SharedJournal } from './shared-journal.ts';
import type { SharedLog } from './shared-log.ts';

/** What {@link createSharedMode} needs of this node. */
interface ModeParts {
  readonly writing: Writing;
  readonly log: () => SharedLog;
  readonly journal: () => SharedJournal;
  readonly onError: (error: unknown) => void;
}

/**
 * Creates the mode of a node. What the host sets holds at this node at once, and at the other nodes once it is stored.
 * What a client changes holds once it is stored, for all nodes.
 *
 * @internal
 */
export function createSharedMode({ writing, log, journal, onError }: ModeParts): Mode {
  let changes = 0;
  /** What the host has set, until the log has it. */
  let set: { readonly readOnly: boolean } | undefined;
  const recordOf = (readOnly: boolean, actor?: string): SharedRecord => {
    changes += 1;
    return modeRecord(writing, `mode ${writing.life}-${String(changes)}`, { readOnly, actor });
  };
  return {
    get isReadOnly() {
      return set?.readOnly ?? log().history.isReadOnly;
    },
    get by() {
      return set === undefined ? log().history.readOnlyBy : undefined;
    },
    set(readOnly) {
      const own = { readOnly };
      set = own;
      const then = (): void => {
        if (set === own) set = undefined;
      };
      journal()
        .enter(log().entryOf(recordOf(readOnly)), { use: 'result', then })
        .catch(onError);
    },
    async change(readOnly, actor) {
      // The caller was checked in this turn of the event loop.
      const entry = log().entryOn(recordOf(readOnly, actor), callerLinks);
      const pending: Acted = { outcome: 'refused', problem: modePending };
      return new Promise((resolve, reject) => {
        const onLate = (): void => {
          resolve(pending);
        };
        journal()
          .enter(entry, { use: 'change', then: (): Acted => ({ outcome: 'accepted' }), onLate })
          .catch((error: unknown) => {
            if (!(error instanceof NotKept)) throw error;
            return error.isPossible ? pending : storeUnavailable(error.outage.retryAfterMs);
          })
          .then(resolve, reject);
      });
    },
  };
}
