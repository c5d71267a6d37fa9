/**
 * Shared mode: the read-only mode of all nodes, in the log that they share.
 */
import type { Acted } from '../http/route.ts';
import { storeUnavailable } from '../runtime/execution.ts';
import { NotKept, type OpenedJournal } from '../runtime/journal.ts';
import type { Mode } from '../runtime/self.ts';
import { modeRecord, type Writing } from './shared-history.ts';
import type { SharedLog } from './shared-log.ts';

/** What {@link createSharedMode} needs of this node. */
interface ModeParts {
  readonly writing: Writing;
  readonly log: () => SharedLog;
  readonly journal: () => OpenedJournal;
  readonly onError: (error: unknown) => void;
}

/**
 * Creates the mode of a node. What the host sets holds at this node at once; what a client changes holds once it is stored,
 * for all nodes.
 *
 * @internal
 */
export function createSharedMode({ writing, log, journal, onError }: ModeParts): Mode {
  let changes = 0;
  /** What the host has set, until the log has it. */
  let set: boolean | undefined;
  const store = (readOnly: boolean, onLate: () => void): Promise<void> => {
    changes += 1;
    const record = modeRecord(writing, `mode ${writing.life}-${String(changes)}`, readOnly);
    const entry = log().entryOf(record);
    return journal().put(entry, { use: 'change', then: () => undefined, onLate });
  };
  return {
    get isReadOnly() {
      return set ?? log().history.isReadOnly;
    },
    set(readOnly) {
      set = readOnly;
      store(readOnly, () => undefined)
        .catch(onError)
        .finally(() => {
          if (set === readOnly) set = undefined;
        });
    },
    change: (readOnly) =>
      new Promise<Acted>((resolve) => {
        const late = (retryAfterMs?: number): void => {
          resolve(storeUnavailable(retryAfterMs, 'The mode changes if the store gets the change.'));
        };
        store(readOnly, late).then(
          () => {
            resolve({ outcome: 'accepted' });
          },
          (error: unknown) => {
            const isPossible = !(error instanceof NotKept) || error.isPossible;
            const retryAfterMs = error instanceof NotKept ? error.outage.retryAfterMs : undefined;
            if (isPossible) late(retryAfterMs);
            else resolve(storeUnavailable(retryAfterMs));
          },
        );
      }),
  };
}
