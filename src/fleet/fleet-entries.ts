/**
 * The history of a node: the entries that the nodes share, in the order of the log, and those of what only this gateway
 * has done, such as closing sessions, by their time.
 */
import type { Entry } from '../resources/history.ts';
import type { Entries } from '../runtime/journal/entries.ts';
import type { KeptEntries } from '../runtime/command/way-back.ts';

/** The entries of a node. */
interface NodeEntries {
  /** What the node has read of the log. */
  readonly shared: () => Entries;
  readonly own: Entries;
}

/** Creates the history of a node. @internal */
export function fleetEntries({ shared, own }: NodeEntries): KeptEntries {
  const find = (id: string): Entry | undefined => withOwn(shared().find(id), own.find(id));
  const all = (): readonly Entry[] => {
    const entries = shared().all.map((entry) => withOwn(entry, own.find(entry.id)) ?? entry);
    return merged(
      entries,
      own.all.filter(({ id }) => shared().find(id) === undefined),
    );
  };
  return {
    get all() {
      return all();
    },
    find,
    isRecent(id) {
      if (shared().isRecent(id)) return true;
      const entries = all();
      const at = entries.findIndex((entry) => entry.id === id);
      if (at < 0) return false;
      // The configuration after what only this gateway has done is that of the shared entry before.
      const before = entries.slice(0, at).findLast((entry) => shared().find(entry.id) !== undefined);
      return before !== undefined && shared().isRecent(before.id);
    },
    // What only this gateway has done is never undone, and stands in no way.
    get standing() {
      return shared().standing;
    },
  };
}

/** An entry with the events of both; a command can stop a service for all, and close the sessions of one gateway. */
function withOwn(shared: Entry | undefined, own: Entry | undefined): Entry | undefined {
  return shared === undefined || own === undefined
    ? (shared ?? own)
    : { ...shared, events: [...shared.events, ...own.events] };
}

/** Merges two lists by time. Each list keeps its order: the clocks of the nodes differ. */
function merged(shared: readonly Entry[], own: readonly Entry[]): readonly Entry[] {
  const left = [...own];
  const all = shared.flatMap((entry) => {
    const earlier = left.findIndex(({ at }) => at >= entry.at);
    return [...left.splice(0, earlier < 0 ? left.length : earlier), entry];
  });
  return [...all, ...left];
}
