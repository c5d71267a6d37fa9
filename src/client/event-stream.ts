/**
 * Events over a connection: reads server-sent events, and connects again after a break.
 *
 * @see WHATWG HTML, "Server-sent events".
 */
import { endpoints } from '../http/endpoint.ts';
import type { AdminEvent, AdminRequest, Problem } from '../index.ts';
import { refusalOf, textOf, textsOf } from './answer.ts';
import type { Send } from './send.ts';

/**
 * The options of `client.events`.
 *
 * @public
 */
export interface EventOptions {
  /** The id of the last event that you know: the stream goes on after it. Left out for the events from now on. */
  readonly after?: string;
  /** The types of events, such as `service.updated`, or their beginnings, such as `service`; all if left out. */
  readonly types?: readonly string[];
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

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

/** One event of the stream, with its fields. */
type Frame = Partial<Record<'id' | 'event' | 'data', string>>;

/** Reads events until the signal aborts. @internal */
export async function* readEvents(
  send: Send,
  { after, types = [], signal }: EventOptions = {},
): AsyncGenerator<EventStreamItem, void, undefined> {
  let last = after;
  let wasConnected = false;
  for (;;) {
    try {
      for await (const { id, event, data = '' } of connect(send, last, types, signal)) {
        wasConnected = true;
        if (id !== undefined) last = id;
        if (event === 'gap') yield { gap: true };
        else if (event !== undefined && id !== undefined) yield { id, event: JSON.parse(data) as ShownEvent };
      }
    } catch (error) {
      const problem = (error as { readonly cause?: Problem }).cause;
      // A break of the connection has no problem, and a refusal of the kind 503 passes.
      const isRefused = problem !== undefined && problem.status < 500;
      if ((isRefused || !wasConnected) && signal?.aborted !== true) throw error;
    }
    await wait(signal);
    if (signal?.aborted === true) return;
  }
}

/** Opens the stream once, and reads to its end. */
async function* connect(
  send: Send,
  after: string | undefined,
  types: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame, void, undefined> {
  const { status, headers, body } = await send({
    method: 'GET',
    target: types.length === 0 ? path : `${path}?types=${encodeURIComponent(types.join())}`,
    headers: { 'last-event-id': after },
    signal,
  } as AdminRequest);
  if (status !== 200 || typeof body !== 'object') {
    const { problem } = refusalOf(status, headers, await textOf(body));
    throw new Error(problem.detail, { cause: problem });
  }
  let rest = '';
  for await (const text of textsOf(body)) {
    const frames = (rest + text).split('\n\n');
    // What follows the last empty line is not complete.
    rest = frames.pop() as string;
    for (const frame of frames) yield frameOf(frame);
  }
}

function frameOf(text: string): Frame {
  const lines = text.matchAll(/^(\w+): ?(.*)/gm);
  return Object.fromEntries(Array.from(lines, ([, ...nameAndValue]) => nameAndValue)) as Frame;
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
