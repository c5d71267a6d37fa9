/**
 * The guarded store: the shared store of the host, with answers of the right form. A wrong answer counts as a failed
 * call: the operator gets an error, and the call is made again.
 */
import { isObject, isText } from '../runtime/host/check.ts';
import { answerText } from '../runtime/host/host-error.ts';
import type { Json } from '../json/value.ts';
import type { SharedStore } from '../ports/port.ts';
import { isNodeName } from './members.ts';

/** The number of hints that may be pending: a store that ignores the signal must not collect them without end. */
const mostHints = 10;

/**
 * Guards a shared store. No function of the result throws: each one rejects with an Error.
 *
 * @internal
 */
export function guardStore(store: SharedStore): SharedStore {
  let hints = 0;
  return {
    durable: store.durable,
    load: async () => answerOf('load', isHistory, () => store.load()),
    append: async (records, where) => answerOf('append', isPosition, () => store.append(records, where)),
    compact: async (state, where) => answerOf('compact', isPosition, () => store.compact(state, where)),
    read: async (after) => {
      const isAnswer = (answer: unknown): boolean => answer === 'gone' || areSteps(answer, after);
      return answerOf('read', isAnswer, () => store.read(after));
    },
    changed: async (after, signal) => {
      if (hints >= mostHints) throw new Error('The calls of changed() do not end with their signals.');
      hints += 1;
      try {
        await store.changed(after, signal);
      } catch (error) {
        throw saying('changed', error);
      } finally {
        hints -= 1;
      }
    },
    announce: async (node, status) => {
      const all = await answerOf('announce', isIterable, () => store.announce(node, status));
      // A name of another form would be written into headers.
      return new Map<string, Json>([...all].filter(([name]) => isNodeName(name)));
    },
    [Symbol.asyncDispose]: async () => store[Symbol.asyncDispose](),
  };
}

const wanted = {
  load: 'an object with records and a position',
  append: 'a position: 1 to 255 visible ASCII characters',
  compact: 'a position: 1 to 255 visible ASCII characters',
  read: "'gone', or the steps behind the position, each with records and a position of its own",
  announce: 'a Map with what each node says',
} as const;

async function answerOf<T>(
  call: keyof typeof wanted,
  isRight: (answer: unknown) => boolean,
  make: () => Promise<T>,
): Promise<T> {
  let answer: T;
  try {
    answer = await make();
  } catch (error) {
    throw saying(call, error);
  }
  if (isRight(answer)) return answer;
  // A text can be a record, with its secrets.
  const shown = isText(answer) ? 'a text of another form' : answerText(answer);
  throw new Error(`The shared store answered ${call}() with ${shown} instead of ${wanted[call]}.`);
}

/** The error of a call that has failed: a host may reject with nothing. */
function saying(call: keyof SharedStore, error: unknown): Error {
  return (error ?? new Error(`The shared store rejected ${call as string}() and did not say why.`)) as Error;
}

function isPosition(value: unknown): value is string {
  return isText(value) && /^[!-~]{1,255}$/.test(value);
}

function isHistory(value: unknown): boolean {
  return isObject(value) && Array.isArray(value['records']) && isPosition(value['position']);
}

function areSteps(value: unknown, after: string): boolean {
  if (!Array.isArray(value) || !value.every(isHistory)) return false;
  const positions = new Set([after, ...value.map(({ position }: { position: string }) => position)]);
  return positions.size === value.length + 1;
}

function isIterable(value: unknown): boolean {
  return isObject(value) && typeof value[Symbol.iterator] === 'function';
}
