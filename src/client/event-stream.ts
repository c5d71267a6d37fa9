/**
 * Events over a connection: reads server-sent events, and connects again after a break.
 *
 * @see WHATWG HTML, "Server-sent events".
 */
import { endpoints } from '../http/endpoint.ts';
import type { AdminEvent } from '../index.ts';
import { hasType, refusalOf, strangeAnswer, textsOf, valueOf } from './answer.ts';
import { requestOf } from './request.ts';
import { onAbort, type ReceivedResponse, type Send } from './send.ts';

/**
 * The options of `client.events`.
 *
 * @public
 */
export interface EventOptions {
  /** The id of the last event that you know: the stream goes on after it. Left out for the events from now on. */
  readonly after?: string;
  /** The types of events, such as `service.updated`, or their first words, such as `service`; all if left out. */
  readonly types?: readonly WithFirstWord<ShownEvent['type']>[];
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** Called when the stream is open, and when it has broken and the client waits before it connects again. */
  readonly onState?: (state: 'open' | 'waiting') => void;
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
export type ShownEvent = Without<AdminEvent, 'passwordHash'>;

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
      /** Events are missing. Read the present state. */
      readonly gap: true;
      /** Whether they are missing because the interface was started again. */
      readonly isRestart: boolean;
    };

type Timer = ReturnType<typeof setTimeout>;

/** The fields of a block: an event, a gap, or an id to go on from. */
type Block = Partial<Record<string, string>>;

/** A line with a field. Browsers skip comments, and the heartbeat is one. */
const field = /^(: heartbeat(?=: \d+$)|\w+): ?(.*)/s;

/** Reads events until the signal aborts. A connection without three heartbeats is dead. @internal */
export async function* readEvents(
  send: Send,
  { after, types, signal, onState }: EventOptions = {},
): AsyncGenerator<EventStreamItem, void, undefined> {
  let last = after;
  let wasConnected = false;
  do {
    const left = new AbortController();
    const ignore = onAbort(signal, () => left.abort());
    // Three heartbeats of 15 seconds, if the stream names no other.
    let silenceMs = 45_000;
    let timer: Timer | undefined;
    const listen = (): void => {
      timer = setTimeout(() => left.abort(new Error(`Nothing came for ${String(silenceMs)} ms`)), silenceMs);
      // The connection keeps the process alive, and the timer does not.
      (timer as { unref?: () => void }).unref?.();
    };
    listen();
    try {
      const options = { types: types?.[0] && types, last, signal: left.signal };
      const response = await open(send, options);
      onState?.('open');
      const blocksOf = splitter(response);
      for await (const text of textsOf(response.body)) {
        clearTimeout(timer);
        for (const { id, event, data = '', ': heartbeat': heartbeat } of blocksOf(text)) {
          // No header could carry the id when the stream goes on.
          if (/[^!-~]/.test(id ?? '')) throw strangeAnswer(response, `the event id ${String(id)}`);
          wasConnected = true;
          // The life of the interface is the first part of an id.
          const isRestart = last?.split('.')[0] !== id?.split('.')[0];
          last = id ?? last;
          // No timer takes a longer time.
          if (heartbeat !== undefined) silenceMs = Math.min(3 * Number(heartbeat), 2 ** 31 - 1);
          if (event === 'gap') yield { gap: true, isRestart };
          else if (event !== undefined && id !== undefined)
            yield { id, event: valueOf(response, data) as ShownEvent };
        }
        listen();
      }
    } catch (error) {
      // A break of the connection has no status, and a refusal of the kind 503 passes.
      const status = (error as { readonly cause?: { readonly status?: number } }).cause?.status ?? 500;
      if ((status < 500 || !wasConnected) && !signal?.aborted) throw error;
    } finally {
      clearTimeout(timer);
      ignore();
    }
    onState?.('waiting');
    await wait(signal);
  } while (!signal?.aborted);
}

/** Opens the stream. */
async function open(send: Send, options: object): Promise<ReceivedResponse> {
  const response = await send(requestOf(endpoints['events.stream'], [options]));
  if (hasType(response, 'text/event-stream')) return response;
  const { problem } = await refusalOf(response);
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
    if (size + line.length > 2 ** 26) throw strangeAnswer(response, 'an event over 64 MiB');
  };
}

/** Waits until the next connection, or until the signal aborts. */
function wait(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    // As long as the interface asks for.
    const timer = setTimeout(() => {
      ignore();
      resolve();
    }, 2000);
    const ignore = onAbort(signal, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
