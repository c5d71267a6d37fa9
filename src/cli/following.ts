/**
 * The commands that use the event stream: `events` and `watch`.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { sentenceOf, textOf, type Client, type EventStreamItem } from '../client/index.ts';
import type { Problem } from '../index.ts';
import { isPassing, messageOf, refusal } from './answer.ts';
import { CommandError, connectionOptions, wrongUse, type Call, type Command } from './command.ts';
import { connect } from './connection.ts';
import { timesOf } from './input.ts';
import { kindOf, kinds, type EventTypes } from './kind.ts';
import { Names } from './naming.ts';
import { safeText, timeText } from './output.ts';
import { partLines } from './plan.ts';
import { list, listingOf, print, read, type Listing, type Page } from './reading.ts';

type Item = Exclude<EventStreamItem, { readonly gap: true }>;

/** The command `events`. */
export const events: Command = {
  does: 'Prints the events of the gateway, as they happen.',
  options: {
    types: {
      value: 'A,B',
      does: 'only these types, such as service.stopped, or their first words, such as service',
    },
    after: { value: 'ID', does: 'begin after this event; otherwise with the next one' },
    ...connectionOptions,
  },
  async run(call) {
    const { output } = call;
    // The interface may have types that this program does not know.
    const types = call.valueOf('types')?.split(',') as EventTypes | undefined;
    const after = call.valueOf('after');
    if (after !== undefined) assertEventId(after);
    const given = {
      ...(types === undefined ? {} : { types }),
      ...(after === undefined ? {} : { after }),
      signal: leavingOf(call).signal,
    };
    const client = await connect(call);
    const timeOf = output.isJson ? String : await clockOf(client);
    const names = new Names(client);
    for await (const item of following(call, client, given)) {
      if (output.isJson) output.jsonLine(item);
      else if ('event' in item) {
        await names.read([item.event.resource]);
        output.lines(eventLine(call, item, timeOf, names));
      } else output.lines(output.style('yellow', 'Events are missing here: look at the state.'));
    }
  },
};

/** Writes a time in the time zone of the gateway. */
async function clockOf(client: Client): Promise<(at: number) => string> {
  const { iso8601 } = await timesOf(client);
  return (at) => timeText(iso8601(at));
}

/** Aborts when nobody reads the output any more, as after `head`. */
function leavingOf({ surroundings }: Call): AbortController {
  const leaving = new AbortController();
  surroundings.stdout.once('error', () => leaving.abort());
  return leaving;
}

type Options = Parameters<Client['events']>[0];

/** The events; a refusal of the stream ends the command. Says when the stream has broken, and when it is open again. */
async function* following(
  { output }: Call,
  client: Client,
  options: Options,
): AsyncGenerator<EventStreamItem, void, undefined> {
  let told = '';
  const onState = (state: 'open' | 'waiting', reason: Error | undefined): void => {
    if (state === 'open') {
      if (told !== '') output.note('The events come again.');
      told = '';
      return;
    }
    const why = reason === undefined ? '' : ` ${messageOf(reason).replace(/\.?$/, '.')}`;
    const text = `The stream of events has broken, and is tried again.${why}`;
    // Each try may fail for the same reason.
    if (text !== told) output.note(text);
    told = text;
  };
  try {
    yield* client.events({ ...options, onState });
  } catch (error) {
    const { cause } = error as { readonly cause?: Partial<Problem> };
    throw error instanceof CommandError || cause?.code === undefined ? error : refusal(cause as Problem);
  }
}

const colours: ReadonlyMap<string, 'yellow' | 'red' | 'green'> = new Map([
  ['stopped', 'yellow'],
  ['failed', 'red'],
  ['closed', 'yellow'],
  ['deleted', 'yellow'],
  ['started', 'green'],
]);

function eventLine(
  { output }: Call,
  { id, event }: Item,
  timeOf: (at: number) => string,
  { nameOf }: Names,
): string {
  const { type, at, actor } = event;
  const [, verb = ''] = type.split('.');
  const colour = colours.get(verb);
  const telling = { tense: actor === undefined ? ('was' as const) : ('did' as const), who: actor, nameOf };
  const sentence = safeText(textOf(sentenceOf(event, telling)));
  const parts = partLines(event);
  return [
    ...[timeOf(at), safeText(id)],
    ...[colour === undefined ? sentence : output.style(colour, sentence), ...parts],
  ].join('  ');
}

const watched = Object.entries(kinds).flatMap(([word, kind]) => ('events' in kind ? [`${word}s`] : []));

/** A watch lists again at most and at least this often, in milliseconds: no event tells of idle times. */
const [restMs, staleMs] = [1000, 10_000];

/** The connection for the events keeps the program running; a timer that nobody waits for any more does not. */
const unneeded = { ref: false } as const;

/** The command `watch`. */
export const watch: Command = {
  does: 'Lists again whenever something has changed.',
  arguments: [{ name: 'kind', choices: watched }],
  options: list.options,
  async run(call) {
    const client = await connect(call);
    const listing = listingOf(call);
    const { events: types = [] } = kindOf(call.words[0] ?? '');
    const leaving = leavingOf(call);
    let due = (): void => undefined;
    const stream = following(call, client, { types, signal: leaving.signal });
    const changes = (async () => {
      for (;;) {
        const { done } = await stream.next();
        due();
        if (done === true) return;
      }
    })();
    // Also while a list is read, where nobody waits for the stream.
    changes.catch(() => undefined);
    try {
      for (let isFirst = true; !leaving.signal.aborted; isFirst = false) {
        const changed = new Promise<void>((resolve) => {
          due = resolve;
        });
        const page = await read(client, listing).catch((error: unknown) => {
          // Once it has answered, the interface comes back: a gateway that restarts is what somebody watches.
          if (isFirst || !isPassing(error)) throw error;
          call.output.note(messageOf(error));
        });
        if (page !== undefined) show(call, listing, page, isFirst);
        await Promise.all([
          Promise.race([changed, changes, sleep(staleMs, undefined, unneeded)]),
          sleep(restMs),
        ]);
      }
    } finally {
      leaving.abort();
    }
  },
};

function show(call: Call, listing: Listing, page: Page, isFirst: boolean): void {
  if (call.output.isJson) return call.output.jsonLine(page.elements);
  if (!isFirst) call.output.clear();
  print(call, listing, page);
}

function assertEventId(id: string): void {
  if (/^[0-9a-f]+\.\d{1,15}\.\d{1,15}$/.test(id)) return;
  throw wrongUse('An event id has the form 5f0c8e21a9b3.7.0: see gateway-admin events.');
}
