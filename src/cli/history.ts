/**
 * `history`, `why` and `undo`: what was changed, by whom, and the way back.
 */
import { sentencesOf, textOf, type Client, type EndpointId, type HistorySearch } from '../client/index.ts';
import type { Update } from '../index.ts';
import { applyPatch, type Json } from '../json/index.ts';
import type { HistoryEntryRepresentation } from '../resources/history.ts';
import { valueOrEnd } from './answer.ts';
import { changing } from './change.ts';
import { connectionOptions, refused, wrongUse, type Call, type Command } from './command.ts';
import { connect, methodOf } from './connection.ts';
import { instantIn } from './input.ts';
import { configured, decodedName, plurals, subjectOf } from './kind.ts';
import { Names, type NameOf } from './naming.ts';
import { safeText, timeText } from './output.ts';
import { changeCountOf, partLines } from './plan.ts';
import { rangeOf } from './reading.ts';

type Event = HistoryEntryRepresentation['events'][number];

/** The number of entries that a person sees if nobody says how many. */
const firstEntries = 20;

const searches = [
  'resource',
  'field',
  'actor',
  'type',
  'since',
  'before',
] as const satisfies readonly (keyof HistorySearch)[];

/** The command `history`. */
export const history: Command = {
  does: 'Lists what was changed, by whom, with the newest change first.',
  options: {
    resource: {
      value: 'LINK',
      does: 'only changes of this resource, such as /services/Sales',
      names: 'link',
    },
    field: { value: 'NAME', does: 'only changes of this field, such as max_connection' },
    actor: { value: 'NAME', does: 'only changes of this user' },
    type: { value: 'TYPE', does: 'only events of this type, such as service.stopped, or its first word' },
    since: {
      value: 'TIME',
      does: 'only changes from this time on, such as 2016-08-29T12:52:31+03:00 or 1h30m',
    },
    before: { value: 'TIME', does: 'only changes before this time' },
    range: {
      value: '0-99',
      does: `only the entries at these positions; the first ${String(firstEntries)} if left out`,
    },
    ...connectionOptions,
  },
  notes: [
    'A time can be a span before now, such as 30s, 10m, 1h30m or 2d, or a day: 2016-08-29, today, yesterday. A day begins',
    'at midnight, and 2016-08-29 12:52 is a time of the day, in the time zone of the gateway.',
  ],
  examples: ['history', 'history --since yesterday --actor ada', "history -o 'jsonpath={[0].id}'"],
  async run(call) {
    const range = rangeOf(call.valueOf('range')) ?? ([0, firstEntries - 1] as const);
    const client = await connect(call);
    const search = await searchOf(call, client);
    const found = valueOrEnd(await client.history.list({ ...search, range }));
    await show(call, client, found.elements);
    const { length } = found.elements;
    if (length < found.total)
      call.output.note(`${length.toLocaleString('en')} of ${found.total.toLocaleString('en')}`);
  },
};

/** The command `why`. */
export const why: Command = {
  does: 'Shows the last change of a resource, or of one of its settings.',
  arguments: [{ name: 'place', names: { '': 'link' } }],
  options: connectionOptions,
  notes: [
    'The place is a link, such as /services/Sales, a link with a field, such as /services/Sales/max_connection, or a part',
    'of a field, such as /filters/Log/parameters/match. A listener is /services/Sales/listeners/second.',
  ],
  examples: ['why /services/Sales/max_connection', 'why /filters/Log/parameters/match'],
  async run(call) {
    const [text = ''] = call.words;
    const place = placeIn(text);
    const client = await connect(call);
    const last = await lastChangeOf(client, place);
    if (last !== undefined) {
      await show(call, client, [last]);
      return;
    }
    await assertPlace(client, place);
    throw refused(
      `The history has no change of ${safeText(text)}: the gateway has begun with what it is now, or has reported ` +
        'it. Try: gateway-admin status',
    );
  },
};

/** A place in the configuration: a resource, one of its fields, or a part of a field. */
interface Place {
  /** The link of the resource. */
  readonly resource: string;
  readonly field?: string;
  /** The tokens of the part; none for a whole field. */
  readonly part: readonly string[];
}

function placeIn(text: string): Place {
  const [before, collection = '', name = '', ...fields] = text.split('/');
  if (before !== '' || name === '' || fields.includes(''))
    throw wrongUse('why takes a link, with or without a field: /services/Sales/max_connection.');
  const owner = `/${collection}/${name}`;
  const [first, second] = fields;
  const isListener = first === 'listeners' && second !== undefined;
  const resource = isListener ? `${owner}/listeners/${second}` : owner;
  const [field, ...part] = isListener ? fields.slice(2) : fields;
  return { resource, ...(field === undefined ? {} : { field }), part };
}

/** The newest entry about a place. The interface finds a field, and not a part of one. */
async function lastChangeOf(
  client: Client,
  { resource, field, part }: Place,
): Promise<HistoryEntryRepresentation | undefined> {
  const search = { resource, ...(field === undefined ? {} : { field }) };
  if (part.length === 0)
    return valueOrEnd(await client.history.list({ ...search, range: [0, 0] })).elements[0];
  // The whole library takes longer to load than everything else that the program does.
  const { nameKey } = await import('../index.ts');
  const keyOf = (link: string): string => link.split('/').map(decodedName).map(nameKey).join('/');
  const pointer = `/${[field, ...part].join('/')}`;
  for await (const listed of entriesOf(client, search)) {
    // A list has the first events of an entry.
    const entry = listed.count === undefined ? listed : valueOrEnd(await client.history.get(listed.id));
    if (entry.events.some((event) => keyOf(event.resource) === keyOf(resource) && isAbout(event, pointer)))
      return entry;
  }
  return undefined;
}

/** Whether an event has changed what is at a pointer, something in it, or something around it. */
function isAbout(event: Event, pointer: string): boolean {
  const { operations, from, to = from } = event as Partial<Update<Record<string, Json>>>;
  // What is created or deleted is a whole definition.
  if (operations === undefined) return to !== undefined && hasPlace(to as Json, pointer);
  const wanted = anyElement(pointer);
  const isNear = (place: string): boolean => place.startsWith(wanted) || wanted.startsWith(place);
  return operations.some(({ path }) => isNear(anyElement(path)));
}

/** A pointer that ends with a slash. Elements of a list change their places, so all of them are the same. */
function anyElement(pointer: string): string {
  return `${pointer}/`.replaceAll(/(?<=\/)\d+(?=\/)/g, '-');
}

function hasPlace(value: Json, pointer: string): boolean {
  return applyPatch(value, [{ op: 'remove', path: pointer }]).ok;
}

/** Fields that the history has, and no representation of a resource. */
const neverShown = ['listeners', 'password'];

/** Ends the command if the gateway has no such resource, the resource no such field, or the field no such part. */
async function assertPlace(client: Client, { resource, field, part }: Place): Promise<void> {
  const [, collection = '', name = '', , listener] = resource.split('/');
  if (!plurals.includes(collection))
    throw refused(
      `There is no place /${safeText(collection)}. Try: /services/NAME, or ${configured.slice(1).join(', ')}.`,
    );
  const known = configured.find((each) => each === collection);
  if (known === undefined) return;
  const fields = field === undefined || neverShown.includes(field) ? ['name'] : [field];
  const subject = [name, ...(listener === undefined ? [] : [listener])].map(decodedName);
  const id = listener === undefined ? (`${known}.get` as EndpointId) : 'services.listener';
  const shown = valueOrEnd(await methodOf(client, id)(...subject, { fields })) as Json;
  const place = `/${[field, ...part].join('/')}`;
  const { look } = subjectOf(known.slice(0, -1), decodedName(name));
  if (part.length > 0 && !hasPlace(shown, place))
    throw refused(
      `There is no ${safeText(place.slice(1))} in ${safeText(resource)}. Try: gateway-admin ${safeText(look)}`,
    );
}

/** The command `undo`. */
export const undo = changing({
  does: 'Undoes a change, by the id of its entry in the history.',
  arguments: [{ name: 'id', optional: true }],
  options: { last: { does: 'undo the newest change that can be undone and is no undo' } },
  notes: [
    'Closed sessions, and users, do not come back. A change is not undone if a later one stands in the way.',
  ],
  examples: ['undo --last', 'undo 5f0c8e21a9b3.7'],
  change(call) {
    const [given] = call.words;
    if ((given === undefined) !== call.has('last'))
      throw wrongUse('undo takes the id of an entry, or --last. Try: gateway-admin history');
    return async (client) => {
      const id = given ?? (await lastOf(call, client));
      return { title: `undo ${id}`, act: 'history.undo', given: [id], shown: 'before' };
    };
  },
});

/** The newest entry that can be undone; says what the entry is. */
async function lastOf(call: Call, client: Client): Promise<string> {
  for await (const entry of entriesOf(client)) {
    // An undo is not undone by the next one: that would do the change again.
    if (entry.undo !== 'possible' || entry.undoes !== undefined) continue;
    for (const line of linesOf(entry, await namesIn(client, [entry]))) call.output.note(line);
    return entry.id;
  }
  throw refused('The history has no change that can be undone.');
}

/**
 * The entries, the newest one first. In parts: to find out whether an entry can be undone takes the gateway some time.
 */
async function* entriesOf(
  client: Client,
  search: HistorySearch = {},
): AsyncGenerator<HistoryEntryRepresentation, void, undefined> {
  for (let start = 0, total = 1; start < total; start += firstEntries) {
    const part = valueOrEnd(
      await client.history.list({ ...search, range: [start, start + firstEntries - 1] }),
    );
    yield* part.elements;
    total = part.elements.length === 0 ? 0 : part.total;
  }
}

async function searchOf(call: Call, client: Client): Promise<HistorySearch> {
  const search: Record<string, string> = {};
  for (const name of searches) {
    const text = call.valueOf(name);
    if (text === undefined) continue;
    const isTime = name === 'since' || name === 'before';
    search[name] = isTime ? await instantIn(name, text, client) : text;
  }
  return search;
}

async function show(
  { output }: Call,
  client: Client,
  entries: readonly HistoryEntryRepresentation[],
): Promise<void> {
  if (output.isJson) output.json(entries);
  else if (entries.length === 0) output.lines('No changes.');
  else {
    const nameOf = await namesIn(client, entries);
    output.lines(...entries.flatMap((entry) => linesOf(entry, nameOf)));
  }
}

async function namesIn(client: Client, entries: readonly HistoryEntryRepresentation[]): Promise<NameOf> {
  const names = new Names(client);
  await names.read(entries.flatMap(({ events }) => events.map(({ resource }) => resource)));
  return names.nameOf;
}

/** An entry in lines: who, when, and what. */
function linesOf(entry: HistoryEntryRepresentation, nameOf: NameOf): readonly string[] {
  const { id, at, actor, events } = entry;
  const more = changeCountOf(entry) - events.length;
  const by = actor === undefined ? '' : ` by ${actor}`;
  return [
    safeText(`${timeText(at)}  ${id}${by}${[...standingOf(entry)].map((text) => ` (${text})`).join('')}`),
    ...events.flatMap((event) => [
      ...sentencesOf([event], { tense: 'did', nameOf }).map((parts) => safeText(`  ${textOf(parts)}`)),
      ...partLines(event).map((line) => `    ${line}`),
    ]),
    ...(more > 0 ? [`  and ${more.toLocaleString('en')} more`] : []),
  ];
}

/** What is to be said of an entry and its undo. */
function* standingOf({ undo: standing, undoes, undone_by: undoneBy }: HistoryEntryRepresentation) {
  if (undoes !== undefined) yield `undo of ${undoes}`;
  if (undoneBy !== undefined) yield `undone by ${undoneBy}`;
  else if (standing === 'refused') yield 'changed since';
  if (standing === 'irreversible') yield 'irreversible';
}
