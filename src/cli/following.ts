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
import { cellOf, safeText, timeText } from './output.ts';
import { partLines } from './plan.ts';
import { list, listingOf, print, read, shownText, type Listing, type Page } from './reading.ts';

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
  examples: ['events', 'events --types service,server'],
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
  does: 'Lists, and then prints the rows that change.',
  arguments: [{ name: 'kind', choices: watched }],
  options: list.options,
  examples: ['watch services', 'watch servers --where status=down'],
  async run(call) {
    const client = await connect(call);
    const listing = listingOf(call);
    const { events: types = [] } = kindOf(call.words[0] ?? '');
    const show = await showing(call, client, listing);
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
        const page = await read(client, call, listing).catch((error: unknown) => {
          // Once it has answered, the interface comes back: a gateway that restarts is what somebody watches.
          if (isFirst || !isPassing(error)) throw error;
          call.output.note(messageOf(error));
        });
        if (page !== undefined) show(page);
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

/**
 * Gives what shows a list again and again: the whole list first, then the time and the rows that have changed. Nothing
 * on the screen is erased. Programs get each list in a line.
 */
async function showing(call: Call, client: Client, listing: Listing): Promise<(page: Page) => void> {
  const { output } = call;
  if (output.isJson) return ({ elements }) => output.jsonLine(elements);
  const timeOf = await clockOf(client);
  const { id = 'name' } = kindOf(call.words[0] ?? '');
  let before: ReadonlyMap<string, string> | undefined;
  return (page) => {
    const now = new Map(page.elements.map((row) => [cellOf(row[id]), shownText(listing, row)]));
    const elements = page.elements.filter((row) => before?.get(cellOf(row[id])) !== now.get(cellOf(row[id])));
    const gone = [...(before?.keys() ?? [])].filter((name) => !now.has(name));
    const isChanged = elements.length + gone.length > 0;
    if (before !== undefined && isChanged) output.lines('', output.style('dim', timeOf(Date.now())));
    if (before === undefined || elements.length > 0) print(call, listing, { ...page, elements });
    if (gone.length > 0) output.lines(`No longer listed: ${gone.join(', ')}.`);
    before = now;
  };
}

function assertEventId(id: string): void {
  if (/^[0-9a-f]+\.\d{1,15}\.\d{1,15}$/.test(id)) return;
  throw wrongUse('An event id has the form 5f0c8e21a9b3.7.0: see gateway-admin events.');
}
