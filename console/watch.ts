/**
 * The watch: keeps the model true. What events tell is read after an event and never otherwise. What no event tells is read
 * in turns: one request at a time, at most every two seconds, and none while nobody looks at the page.
 */
import type { Answer, Client, Elements, EventOptions, ShownEvent } from 'gateway-admin-core/client';
import type { InterfaceRepresentation } from 'gateway-admin-core';

import { collections, rowsOf, type Collection, type Message, type Model } from './model.ts';

/** Everything but what every client causes. */
export const watchedTypes = [
  ...(['service', 'server', 'monitor', 'filter', 'listener', 'user', 'command', 'logs'] as const),
  ...(['sessions', 'connections'] as const),
] satisfies EventOptions['types'];

/** A page reads at most so many elements of a list. */
export const mostRows = 1000;

/** The lists that an event tells of, by the first word of its type; each event can change what is wrong. */
const toldBy: Readonly<Record<string, readonly Collection[]>> = {
  service: ['services'],
  listener: ['services'],
  server: ['servers'],
  monitor: ['monitors'],
  filter: ['filters'],
  user: ['users'],
};

/** How long after an event a list is read, so that the events of one change count as one. In milliseconds. */
const settleMs = 60;
const alertsSettleMs = 400;

/** How often a list is read that no event tells of, in milliseconds; left out for a list that events tell of. */
function paceOf(model: Model, collection: Collection): number | undefined {
  switch (collection) {
    case 'services':
      return 4000;
    case 'servers':
      // What is left of a drain.
      return rowsOf(model, 'servers').some(({ drain }) => drain !== undefined) ? 4000 : undefined;
    case 'commands':
      return rowsOf(model, 'commands').length > 0 ? 2000 : 15_000;
    case 'alerts':
      return 15_000;
    case 'fleet':
      return rowsOf(model, 'fleet').length > 0 ? 5000 : undefined;
    default:
      return undefined;
  }
}

/** What the watch uses of a browser. */
export interface Surroundings {
  /** Milliseconds of a clock that never goes back. */
  now(this: void): number;
  /** Whether nobody looks at the page. */
  isHidden(this: void): boolean;
  /** Calls a function when somebody begins to look at the page. */
  onVisible(this: void, listener: () => void): () => void;
}

export interface Watch {
  /** Reads lists soon: a change of this page was made. */
  refresh(this: void, ...lists: readonly Collection[]): void;
  stop(this: void): void;
}

/** Keeps the model true until it is stopped, or until the interface wants another log-in. */
export function watch(
  client: Client,
  { tell, model }: { readonly tell: (message: Message) => void; readonly model: () => Model },
  { now, isHidden, onVisible }: Surroundings,
): Watch {
  const ending = new AbortController();
  const { signal } = ending;
  const due = new Map<Collection, number>();
  let wake = (): void => undefined;

  function want(collection: Collection, at: number): void {
    due.set(collection, Math.min(at, due.get(collection) ?? Infinity));
    wake();
  }

  function wantAll(): void {
    for (const collection of collections) want(collection, now());
    void readGateway();
  }

  async function readGateway(): Promise<void> {
    await attempt(async () => {
      const answer = await client.interface.get({ signal });
      if (answer.ok) tell({ type: 'gateway', gateway: answer.value as InterfaceRepresentation, at: now() });
      else refuse(answer.problem);
    });
  }

  function refuse(problem: Extract<Message, { type: 'closed' }>['problem']): void {
    if (problem.code !== 'unauthenticated' && problem.code !== 'forbidden')
      return tell({ type: 'failed', detail: problem.detail, at: now() });
    ending.abort();
    tell({ type: 'closed', problem });
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) tell({ type: 'failed', detail: (error as Error).message, at: now() });
    }
  }

  function read(collection: Collection): Promise<void> {
    return attempt(async () => {
      const answer = await listOf(client, collection)({ range: [0, mostRows - 1], signal });
      if (!answer.ok) return refuse(answer.problem);
      const { elements, total } = answer.value;
      tell({ type: 'list', collection, elements, total, at: now() });
    });
  }

  /** Reads what is due, one list after the other. */
  async function run(): Promise<void> {
    while (!signal.aborted) {
      const [next] = [...due].sort(([, one], [, other]) => one - other);
      const wait = next === undefined || isHidden() ? Infinity : next[1] - now();
      if (next === undefined || wait > 0) {
        await sleep(wait);
        continue;
      }
      const [collection] = next;
      due.delete(collection);
      await read(collection);
      const pace = paceOf(model(), collection);
      if (pace !== undefined) want(collection, now() + pace);
    }
  }

  /** Waits for a time, or until something else is wanted. */
  function sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      // No timer takes a longer time.
      const timer = setTimeout(resolve, Math.min(milliseconds, 2 ** 31 - 1));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function followEvents(): Promise<void> {
    let last: string | undefined;
    while (!signal.aborted) {
      tell({ type: 'stream', state: 'connecting', at: now() });
      try {
        const options = {
          types: watchedTypes,
          signal,
          onState: (state: 'open' | 'waiting') => {
            if (signal.aborted) return;
            tell({ type: 'stream', state, at: now() });
            // What has happened before the stream was open, no event tells.
            if (state === 'open') wantAll();
          },
          ...(last === undefined ? {} : { after: last }),
        };
        for await (const item of client.events(options)) {
          if ('gap' in item) {
            tell({ type: 'gap', isRestart: false, at: now() });
            continue;
          }
          if (last !== undefined && lifeOf(item.id) !== lifeOf(last))
            tell({ type: 'gap', isRestart: true, at: now() });
          last = item.id;
          tell({ type: 'event', id: item.id, event: item.event });
          wantAfter(item.event);
        }
      } catch (error) {
        const { cause, message } = error as { readonly cause?: { readonly code?: string }; readonly message: string };
        if (signal.aborted) return;
        tell({ type: 'stream', state: 'waiting', at: now() });
        if (cause?.code === 'unauthenticated') await readGateway();
        else tell({ type: 'failed', detail: message, at: now() });
        await sleepAside(2000);
      }
    }
  }

  function sleepAside(milliseconds: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, milliseconds));
  }

  function wantAfter({ type, command }: ShownEvent): void {
    for (const collection of toldBy[type.split('.')[0] ?? ''] ?? []) want(collection, now() + settleMs);
    if (command !== undefined) want('commands', now() + settleMs);
    want('alerts', now() + alertsSettleMs);
  }

  const unfollow = onVisible(() => wake());
  void run();
  void followEvents();
  return {
    refresh: (...lists) => {
      for (const each of lists) want(each, now());
    },
    stop: () => {
      ending.abort();
      unfollow();
      wake();
    },
  };
}

/** The method that reads a list, whatever its elements. */
function listOf(client: Client, collection: Collection) {
  return client[collection].list as (options: object) => Promise<Answer<Elements<object>>>;
}

/** The life of the interface in the id of an event. */
function lifeOf(id: string): string {
  return id.split('.')[0] ?? '';
}
