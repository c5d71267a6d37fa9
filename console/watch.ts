/**
 * The watch: keeps the model true. What events tell of is read after an event, and what no event tells of in turns.
 */
import type { Client, EventOptions, ShownEvent } from 'gateway-admin-core/client';
import type { Problem } from 'gateway-admin-core';

import { otherMs, Reader, type Listener, type Readable, type Surroundings } from './reader.ts';
import { collections, isOfLogIn, type Collection, type Told } from './model.ts';
import { share, type Hold } from './sharing.ts';

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

/**
 * Keeps a model true until the watch is stopped, or until the interface wants another log-in.
 *
 * @param name - names the stream of events: tabs that may see the same have the same
 */
export function watch(
  client: Client,
  name: string,
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
  const hear = (told: Told): void => {
    tell({ ...told, at: now() });
    // No event tells of what happens while the stream is not open.
    if (told.type === 'stream' && told.state !== 'connecting')
      refresh(told.state === 'open' || model().lists.services === undefined ? 0 : otherMs);
    if (told.type !== 'event') return;
    const collection = toldBy(told.event.type);
    if (collection !== undefined) reader.want(collection, settleMs);
    if (told.event.command !== undefined) reader.want('commands', settleMs);
    reader.want('alerts', alertsSettleMs);
  };
  const onFailure = (error: unknown): void => {
    const { cause, message } = error as { readonly cause?: Partial<Problem>; readonly message: string };
    if (cause?.code === undefined) tell({ type: 'failed', detail: message, at: now() });
    else refuse(cause as Problem);
  };
  void reader.run();
  const hold: Hold = (tellAll, last, held) => void followEvents(client, last, held, tellAll, onFailure);
  share(name, surroundings, signal, { hear, hold });
  return { refresh, want: (readable) => reader.want(readable), stop: () => ending.abort() };
}

/** Follows the events until the signal aborts. A stream that is refused or was never open is tried again. */
async function followEvents(
  client: Client,
  first: string | undefined,
  signal: AbortSignal,
  tell: (told: Told) => void,
  onFailure: (error: unknown) => void,
): Promise<void> {
  let last = first;
  let waitMs = againMs;
  const onState = (state: 'open' | 'waiting', reason: Error | undefined): void => {
    waitMs = againMs;
    tell({ type: 'stream', state });
    const { status, code } = (reason?.cause ?? {}) as Partial<Problem>;
    // A break says enough by itself. Something else that answers does not.
    if (!signal.aborted && status !== undefined && code === undefined) onFailure(reason);
  };
  while (!signal.aborted) {
    tell({ type: 'stream', state: 'connecting' });
    try {
      for await (const item of client.events({ types, signal, onState, after: last })) {
        last = item.id;
        tell('gap' in item ? { type: 'gap', ...item } : { type: 'event', ...item });
      }
    } catch (error) {
      if (isOver(signal)) return;
      tell({ type: 'stream', state: 'waiting' });
      onFailure(error);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      // An interface with too many readers is not asked all the time by the pages that it has refused.
      waitMs = Math.min(2 * waitMs, longestAgainMs);
    }
  }
}

/** Asked as a function, because the signal aborts while the loop waits. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}
