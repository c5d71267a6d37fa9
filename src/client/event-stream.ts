/**
 * Events over a connection: reads server-sent events, and connects again after a break.
 *
 * @see WHATWG HTML, "Server-sent events".
 */
import { endpoints } from '../http/endpoint.ts';
import type { AdminEvent, Problem } from '../index.ts';
import { hasType, jsonOf, readRefusal, requestOf, strangeAnswer, textsOf } from './message.ts';
import { longestTimerMs, onAbort, wait, type ReceivedResponse, type Send } from './send.ts';

/**
 * The options of `client.events`.
 *
 * @public
 */
export interface EventOptions {
  /** The id of the last event that you know: the stream goes on after it. `undefined` for the events from now on. */
  readonly after?: string | undefined;
  /** The types of events, such as `service.updated`, or their first words, such as `service`; all if left out. */
  readonly types?: readonly WithFirstWord<ShownEvent['type']>[];
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /**
   * Called when the stream is open, and when the client waits before it connects again: the stream has broken, or
   * something else has answered, such as a proxy on the way. `reason` is the error; `undefined` if the stream is open,
   * or has ended without an error.
   */
  readonly onState?: (state: 'open' | 'waiting', reason: Error | undefined) => void;
}

/** Types of events, and their first words. @internal */
type WithFirstWord<T extends string> = T extends `${infer Word}.${string}` ? T | Word : never;

/** Leaves a member out of each type of a union. @internal */
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/**
 * An event as the interface shows it: without secrets.
 *
 * @public
 */
export type ShownEvent = Without<AdminEvent, 'password'>;

/**
 * An event, or a gap: events that the interface no longer has.
 *
 * @public
 */
export type EventStreamItem =
  | {
      /** The id of the event, for `after`. */
      readonly id: string;
      readonly event: ShownEvent;
    }
  | {
      /** The id to go on after, for `after`. */
      readonly id: string;
      /** Events are missing. Read the present state. */
      readonly gap: true;
      /** Whether they are missing because the interface was started again. */
      readonly isRestart: boolean;
      /** Number of missing events of all types; `undefined` if that is not known, because the stream has resumed. */
      readonly missed: number | undefined;
      /**
       * The time of the last event before the gap, in milliseconds since 1970; `undefined` if this call has given no
       * event yet.
       */
      readonly since: number | undefined;
    };

/** Where a stream stands: the connections of a stream share it. */
interface Place {
  /** The id to go on after. */
  last: string | undefined;
  /** The time of the last event; `undefined` before the first one. */
  lastAt: number | undefined;
  /** Whether the interface has sent something. */
  wasConnected: boolean;
  /** The pause before the next connection, in milliseconds. */
  pauseMs: number;
}

/** The fields of a block: an event, a gap, or an id to go on from. */
type Block = Partial<Record<string, string>>;

/** A line with a field. Browsers skip comments, and the heartbeat is one. */
const field = /^(: heartbeat(?=: \d+$)|\w+): ?(.*)/s;

/** The pauses before the next connections: the first one is as long as the interface asks for. In milliseconds. */
const [firstPauseMs, longestPauseMs] = [2000, 30_000];

/** The longest silence of a connection, in milliseconds, if the stream names no other: three heartbeats of 15 s. */
const firstSilenceMs = 45_000;

/** An event that the client does not read. After a break, the same event would come again. */
class EventTooLarge extends Error {}

/**
 * Reads events until the signal aborts, the interface refuses the stream, or an event is too large. Once the interface
 * has sent something, no other answer ends the stream.
 *
 * @internal
 */
export async function* readEvents(
  send: Send,
  options: EventOptions = {},
): AsyncGenerator<EventStreamItem, void, undefined> {
  const { after, signal, onState } = options;
  const place: Place = { last: after, lastAt: undefined, wasConnected: false, pauseMs: firstPauseMs };
  do {
    let reason: Error | undefined;
    try {
      yield* readConnection(send, options, place);
    } catch (error) {
      if (!signal?.aborted && (!place.wasConnected || isFinal(error))) throw error;
      reason = error as Error;
    }
    onState?.('waiting', reason);
    await wait(place.pauseMs, signal);
    place.pauseMs = Math.min(2 * place.pauseMs, longestPauseMs);
  } while (!signal?.aborted);
}

/** Reads the events of one connection. A connection without three heartbeats is dead. */
async function* readConnection(
  send: Send,
  { types, signal, onState }: EventOptions,
  place: Place,
): AsyncGenerator<EventStreamItem, void, undefined> {
  const left = new AbortController();
  const ignore = onAbort(signal, () => left.abort());
  let silenceMs = firstSilenceMs;
  let stopListening = limitSilence(left, silenceMs);
  try {
    const options = { types: types?.[0] && types, last: place.last, signal: left.signal };
    const response = await open(send, options);
    onState?.('open', undefined);
    const blocksOf = splitter(response);
    for await (const text of textsOf(response.body)) {
      stopListening();
      for (const block of blocksOf(text)) {
        const { ': heartbeat': heartbeat } = block;
        if (heartbeat !== undefined) silenceMs = Math.min(3 * Number(heartbeat), longestTimerMs);
        const item = itemOf(response, block, place);
        if (item !== undefined) yield item;
        place.wasConnected = true;
        place.pauseMs = firstPauseMs;
      }
      stopListening = limitSilence(left, silenceMs);
    }
  } finally {
    stopListening();
    ignore();
  }
}

/** Ends a connection at which nothing comes for some time. The result cancels that. */
function limitSilence(left: AbortController, silenceMs: number): () => void {
  const timer = setTimeout(
    () => left.abort(new Error(`Nothing came for ${String(silenceMs)} ms`)),
    silenceMs,
  );
  // The connection keeps the process alive, and the timer does not.
  (timer as { unref?: () => void }).unref?.();
  return () => clearTimeout(timer);
}

/** The item in a block, if the block has one. The stream goes on after the id of the block. */
function itemOf(
  response: ReceivedResponse,
  { id, event, data = '' }: Block,
  place: Place,
): EventStreamItem | undefined {
  // No header could carry the id when the stream goes on.
  if (/[^!-~]/.test(id ?? '')) throw strangeAnswer(response, `the event id ${String(id)}`);
  // The life of the interface is the first part of an id.
  const isRestart = place.last?.split('.')[0] !== id?.split('.')[0];
  place.last = id ?? place.last;
  if (event === undefined || id === undefined) return undefined;
  const said = jsonOf(response, data) as ShownEvent & { readonly missed?: number };
  if (event === 'gap') return { id, gap: true, isRestart, missed: said.missed, since: place.lastAt };
  place.lastAt = said.at;
  return { id, event: said };
}

/**
 * Whether no later connection can go on: the interface refuses the stream for good, or the next event is too large. A
 * 5xx passes, and so does a log-in that is throttled.
 */
function isFinal(error: unknown): boolean {
  if (error instanceof EventTooLarge) return true;
  const { type, status = 0 } = ((error as Error | undefined)?.cause ?? {}) as Partial<Problem>;
  return String(type).startsWith('urn:problem-type:gateway-admin:') && status < 500 && status !== 429;
}

/** Opens the stream. */
async function open(send: Send, options: object): Promise<ReceivedResponse> {
  const response = await send(requestOf(endpoints['events.stream'], [options]));
  if (hasType(response, 'text/event-stream')) return response;
  const { problem } = await readRefusal(response);
  throw new Error(problem.detail, { cause: problem });
}

/** Gives a function that takes the texts of a stream, and gives the blocks that each of them completes. */
function splitter(response: ReceivedResponse): (text: string) => Generator<Block> {
  let block: Block = {};
  let line = '';
  let size = 0;
  return function* (text) {
    const [first, ...others] = text.split('\n') as [string, ...string[]];
    // No line is looked through before it is complete: that would take quadratic time.
    line += first;
    for (const next of others) {
      const [, name = '', value = ''] = field.exec(line) ?? [];
      block[name] = value;
      size += line.length;
      if (line === '') {
        yield block;
        block = {};
        size = 0;
      }
      line = next;
    }
    // The interface keeps at most 64 MiB of events.
    if (size + line.length > 2 ** 26)
      throw new EventTooLarge(strangeAnswer(response, 'an event over 64 MiB').message, { cause: response });
  };
}
