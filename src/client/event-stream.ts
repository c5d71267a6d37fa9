/**
 * Events over a connection: reads server-sent events, and connects again after a break.
 *
 * @see WHATWG HTML, "Server-sent events".
 */
import { endpoints } from '../http/endpoint.ts';
import type { AdminEvent } from '../index.ts';
import { refusalOf, strangeAnswer, textOf, textsOf, valueOf } from './answer.ts';
import type { ReceivedResponse, Send } from './send.ts';

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
    };

const { path } = endpoints['events.stream'];

/** How long to wait before the next connection: as long as the interface asks for. */
const retryMs = 2000;

/** The time between two heartbeats, if the stream names no other. */
const heartbeatMs = 15_000;

/** The longest time of a timer. */
const longestMs = 2 ** 31 - 1;

/** More characters than any event has: the interface keeps at most 64 MiB of events. */
const longestEvent = 64 * 1024 * 1024;

/** The lines of the stream up to an empty one: an event, a gap, or an id to go on from. */
type Block = Partial<Record<'heartbeat' | 'id' | 'event' | 'data', string>>;

/** Reads events until the signal aborts. @internal */
export async function* readEvents(
  send: Send,
  { after, types = [], signal }: EventOptions = {},
): AsyncGenerator<EventStreamItem, void, undefined> {
  let last = after;
  let wasConnected = false;
  for (;;) {
    try {
      for await (const { id, item } of connect(send, last, types, signal)) {
        wasConnected = true;
        last = id ?? last;
        if (item !== undefined) yield item;
      }
    } catch (error) {
      // A break of the connection has no status, and a refusal of the kind 503 passes.
      const { status = 500 } = (error as { readonly cause?: { readonly status?: number } }).cause ?? {};
      if ((status < 500 || !wasConnected) && signal?.aborted !== true) throw error;
    }
    await wait(signal);
    if (signal?.aborted === true) return;
  }
}

/** What a block brings. */
interface Step {
  readonly id: string | undefined;
  readonly item?: EventStreamItem;
}

/** Opens the stream once, and reads to its end. A connection without three heartbeats is dead. */
async function* connect(
  send: Send,
  after: string | undefined,
  types: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Step, void, undefined> {
  const left = new AbortController();
  const leave = (): void => left.abort(signal?.reason);
  signal?.addEventListener('abort', leave);
  if (signal?.aborted === true) leave();
  let silenceMs = 3 * heartbeatMs;
  const listen = (): Timer =>
    startTimer(() => left.abort(new Error(`Nothing came for ${String(silenceMs)} ms`)), silenceMs);
  let timer = listen();
  try {
    const response = await send({
      method: 'GET',
      target: types.length === 0 ? path : `${path}?types=${encodeURIComponent(types.join())}`,
      headers: { 'last-event-id': after },
      signal: left.signal,
    });
    const { headers, body } = response;
    if (typeof body !== 'object' || headers['content-type']?.startsWith('text/event-stream') !== true) {
      const { problem } = refusalOf(response, await textOf(body));
      throw new Error(problem.detail, { cause: problem });
    }
    const blocksOf = splitter(response);
    for await (const text of textsOf(body)) {
      clearTimeout(timer);
      for (const block of blocksOf(text)) {
        if (block.heartbeat !== undefined) silenceMs = 3 * Number(block.heartbeat);
        yield stepOf(response, block);
      }
      timer = listen();
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
}

/** Gives a function that takes the texts of a stream, and gives the blocks that each of them completes. */
function splitter(response: ReceivedResponse): (text: string) => readonly Block[] {
  let rest = '';
  let last = '';
  return (text) => {
    // To look through the whole rest again and again would take quadratic time.
    const isComplete = (last + text).includes('\n\n');
    last = text.slice(-1) || last;
    rest += text;
    if (rest.length > longestEvent) throw strangeAnswer(response, 'an event of more than 64 MiB');
    if (!isComplete) return [];
    const blocks = rest.split('\n\n');
    // What follows the last empty line is not complete.
    rest = blocks.pop() ?? '';
    return blocks.map(blockOf);
  };
}

/** The fields of a block. A heartbeat stands in a comment, which browsers skip. */
function blockOf(text: string): Block {
  const lines = text.matchAll(/^(?:: (?=heartbeat: \d+$))?(\w+): ?([^\n]*)/gm);
  return Object.fromEntries(Array.from(lines, ([, ...nameAndValue]) => nameAndValue)) as Block;
}

function stepOf(response: ReceivedResponse, { id, event, data = '' }: Block): Step {
  // No header could carry the id when the stream goes on.
  if (/[^!-~]/.test(id ?? '')) throw strangeAnswer(response, `the event id ${String(id)}`);
  if (event === 'gap') return { id, item: { gap: true } };
  if (event === undefined || id === undefined) return { id };
  return { id, item: { id, event: valueOf(response, data) as ShownEvent } };
}

type Timer = ReturnType<typeof setTimeout>;

/** Starts a timer that keeps no process alive: the connection does. */
function startTimer(callback: () => void, milliseconds: number): Timer {
  const timer = setTimeout(callback, Math.min(milliseconds, longestMs));
  (timer as { unref?: () => void }).unref?.();
  return timer;
}

/** Waits until the next connection, or until the signal aborts. */
function wait(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal?.aborted === true ? 0 : retryMs);
    signal?.addEventListener('abort', end);
  });
}
