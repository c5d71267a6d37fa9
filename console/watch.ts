/**
 * The watch: keeps the model true. What events tell of is read after an event, and what no event tells of in turns.
 */
import type { Client, EventOptions, ShownEvent } from 'gateway-admin-core/client';
import type { Problem } from 'gateway-admin-core';

import { otherMs, Reader, type Listener, type Readable, type Surroundings } from './reader.ts';
import { collections, isOfLogIn, type Collection, type Model } from './model.ts';

/** Everything but what every client of a service causes. */
const types = [
  ...(['service', 'server', 'monitor', 'filter', 'listener', 'user', 'command', 'logs'] as const),
  ...(['sessions', 'connections'] as const),
] satisfies EventOptions['types'];

/** The list that an event tells of, by its type. */
function toldBy(type: ShownEvent['type']): Collection | undefined {
  const [word = ''] = type.split('.');
  // A listener or a session is a part of its service.
  if (word === 'listener' || word === 'sessions') return 'services';
  return collections.find((each) => each === `${word}s`);
}

/** How long after an event a list is read, so that the events of one change count as one. In milliseconds. */
const settleMs = 60;
const alertsSettleMs = 400;

/** How long until a stream that was refused is tried again: at first, and at most. In milliseconds. */
const againMs = 2000;
const longestAgainMs = 30_000;

export interface Watch {
  /** Reads everything soon: this page has changed something. */
  refresh(this: void): void;
  /** Reads something soon. */
  want(this: void, readable: Readable): void;
  stop(this: void): void;
}

/** Keeps a model true until the watch is stopped, or until the interface wants another log-in. */
export function watch(
  client: Client,
  { tell, model, wanted }: Omit<Listener, 'refuse'>,
  surroundings: Surroundings,
): Watch {
  const ending = new AbortController();
  const { signal } = ending;
  const { now } = surroundings;
  const refuse = (problem: Problem): void => {
    if (isOfLogIn(problem)) {
      ending.abort();
      tell({ type: 'closed', problem });
    } else tell({ type: 'failed', detail: problem.detail, at: now() });
  };
  const reader = new Reader(client, { tell, model, wanted, refuse }, surroundings, signal);
  const refresh = (afterMs = 0): void => {
    // What is wrong comes first.
    for (const each of ['alerts', 'gateway', 'sessions', ...collections] as const) reader.want(each, afterMs);
  };
  void reader.run();
  void followEvents(client, signal, surroundings, {
    onState: (state) => {
      tell({ type: 'stream', state, at: now() });
      // No event tells of what happens while the stream is not open.
      if (state !== 'connecting')
        refresh(state === 'open' || model().lists.services === undefined ? 0 : otherMs);
    },
    onGap: (isRestart) => tell({ type: 'gap', isRestart, at: now() }),
    onEvent: (id, event) => {
      tell({ type: 'event', id, event });
      const collection = toldBy(event.type);
      if (collection !== undefined) reader.want(collection, settleMs);
      if (event.command !== undefined) reader.want('commands', settleMs);
      reader.want('alerts', alertsSettleMs);
    },
    onFailure: (error) => {
      const { cause, message } = error as { readonly cause?: Partial<Problem>; readonly message: string };
      if (cause?.code === undefined) tell({ type: 'failed', detail: message, at: now() });
      else refuse(cause as Problem);
    },
  });
  return { refresh, want: (readable) => reader.want(readable), stop: () => ending.abort() };
}

/** What comes of following the events. */
interface Followed {
  onState(this: void, state: Model['stream']['state']): void;
  onGap(this: void, isRestart: boolean): void;
  onEvent(this: void, id: string, event: ShownEvent): void;
  onFailure(this: void, error: unknown): void;
}

/** Follows the events until the signal aborts. A stream that is refused or was never open is tried again. */
async function followEvents(
  client: Client,
  signal: AbortSignal,
  surroundings: Surroundings,
  followed: Followed,
): Promise<void> {
  const { onState, onGap, onEvent, onFailure } = followed;
  let last: string | undefined;
  let waitMs = againMs;
  const onStreamState = (state: 'open' | 'waiting', reason: Error | undefined): void => {
    waitMs = againMs;
    if (signal.aborted || surroundings.isHidden()) return;
    onState(state);
    const { status, code } = (reason?.cause ?? {}) as Partial<Problem>;
    // A break says enough by itself. Something else that answers does not.
    if (status !== undefined && code === undefined) onFailure(reason);
  };
  while (!signal.aborted) {
    // A browser has few connections to an address, and a tab that nobody sees must not hold one.
    await untilSeen(surroundings, signal);
    const seen = whileSeen(surroundings, signal);
    onState('connecting');
    try {
      const from = last === undefined ? {} : { after: last };
      for await (const item of client.events({ types, signal: seen, onState: onStreamState, ...from })) {
        if ('gap' in item) {
          onGap(item.isRestart);
          continue;
        }
        last = item.id;
        onEvent(item.id, item.event);
      }
    } catch (error) {
      if (isOver(signal)) return;
      onState('waiting');
      if (isOver(seen)) continue;
      onFailure(error);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      // An interface with too many readers is not asked all the time by the pages that it has refused.
      waitMs = Math.min(2 * waitMs, longestAgainMs);
    }
  }
}

/** How long a page may be hidden and still follow the events, in milliseconds. */
const hiddenMs = 5000;

/** Waits until somebody sees the page. */
async function untilSeen({ isHidden, onChange }: Surroundings, signal: AbortSignal): Promise<void> {
  while (isHidden() && !signal.aborted)
    await new Promise<void>((resolve) => {
      const heard = new AbortController();
      const end = (): void => {
        heard.abort();
        resolve();
      };
      onChange(end, heard.signal);
      signal.addEventListener('abort', end, { once: true });
    });
}

/** Gives a signal that aborts when the page was hidden for a while, or when another signal aborts. */
function whileSeen({ isHidden, onChange }: Surroundings, signal: AbortSignal): AbortSignal {
  const end = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (isHidden()) timer = setTimeout(() => end.abort(), hiddenMs);
  };
  onChange(look, end.signal);
  signal.addEventListener('abort', () => end.abort(), { once: true });
  return end.signal;
}

/** Asked as a function, because the signal aborts while the loop waits. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}
