/**
 * Fleet history: the kept log, as one reader follows it, whichever node the reader asks.
 */
import type { AdminEvent } from '../resources/index.ts';
import type { LogStep } from '../ports/port.ts';
import { onAbort } from '../runtime/host/waiting.ts';
import { parseRecord, type SharedRecord } from './fleet-state.ts';

/**
 * What one call of a node has added to the log of the fleet.
 *
 * @beta
 */
export interface FleetStep {
  /** The place in the log behind the step: `after`, to go on there. */
  readonly position: string;
  /** The records, in order; none for a step that replaced records by the state that they led to. */
  readonly records: readonly FleetRecord[];
}

/**
 * A record of the log of the fleet. A command that asks a gateway has an `intent` before its `settlement`.
 *
 * @beta
 */
export interface FleetRecord {
  /**
   * `intent`: a node is about to ask its gateway. `settlement`: a command, or a part of a large one, has ended. A
   * settlement without events says that nothing has changed: the command was refused, unless `why` says something else.
   */
  readonly type: 'intent' | 'settlement';
  /** The node that was asked for the change. */
  readonly node: string;
  /** Id of the command. */
  readonly command: string;
  /** Links of the resources that the command changes. */
  readonly resources: readonly string[];
  /** The events: what the command would do, or what has happened. */
  readonly events: readonly AdminEvent[];
  /**
   * `abandoned` if an administrator has abandoned the command, or other nodes have, because its node was silent;
   * `forgotten` if the node was forgotten.
   */
  readonly why?: 'abandoned' | 'forgotten';
}

/**
 * The item that a reader of the history gets in place of missing steps: the place was compacted away, or the store was
 * set back.
 *
 * @beta
 */
export interface FleetGap {
  /** Tells a gap from a step. */
  readonly gap: true;
  /** The place in the log from which the history goes on. */
  readonly position: string;
}

/**
 * The options of `Fleet.history`.
 *
 * @beta
 */
export interface FleetHistoryOptions {
  /** A position of this fleet, from any node; the end of the log if left out. */
  readonly after?: string;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

/** What {@link readHistory} needs of this node. @internal */
export interface HistorySource {
  /** The end of the log that this node has read. */
  position(this: void): string;
  read(this: void, after: string): Promise<readonly LogStep[] | 'gone'>;
  /** Calls a function whenever the end has moved. Returns a function that ends that. */
  watch(this: void, look: () => void): () => void;
}

/** Reads the history until the signal aborts. @internal */
export async function* readHistory(
  source: HistorySource,
  { after, signal }: { readonly after?: string; readonly signal: AbortSignal },
): AsyncGenerator<FleetStep | FleetGap, void, undefined> {
  const { position, read } = source;
  let at = after ?? position();
  while (!signal.aborted) {
    const seen = position();
    const steps = await untilAborted(read(at), signal);
    if (steps === undefined) return;
    if (steps === 'gone') {
      // This node has not found out yet that the store was set back.
      if (at === seen) await moved(source, seen, signal);
      at = position();
      yield Object.freeze({ gap: true, position: at });
      continue;
    }
    for (const step of steps) {
      at = step.position;
      yield Object.freeze({
        position: at,
        records: step.records.flatMap((json) => shown(parseRecord(json))),
      });
      if (isAborted(signal)) return;
    }
    // Not from `at`: a reader can be ahead of this node.
    if (steps.length === 0) await moved(source, seen, signal);
  }
}

/** Resolves when the end of the log has moved away from a position, or the signal aborts. */
async function moved({ position, watch }: HistorySource, from: string, signal: AbortSignal): Promise<void> {
  if (position() !== from || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      stopWatching();
      stopListening();
      resolve();
    };
    const stopWatching = watch(() => {
      if (position() !== from) end();
    });
    const stopListening = onAbort(signal, end);
  });
}

/** Gives what a promise gives; `undefined` if the signal aborts first. The store may not answer for a long time. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, () => {
      resolve(undefined);
    });
    void promise.then(resolve, reject).finally(stop);
  });
}

function isAborted({ aborted }: AbortSignal): boolean {
  return aborted;
}

function shown(record: SharedRecord): readonly FleetRecord[] {
  if (record.type !== 'intent' && record.type !== 'settlement') return [];
  const { type, node, command, resources, events } = record;
  const why = record.type === 'settlement' ? record.why : undefined;
  return [Object.freeze({ type, node, command, resources, events, ...(why === undefined ? {} : { why }) })];
}
