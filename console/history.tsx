/**
 * The history: settled commands, by whom, and the way back.
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { linkTo } from 'gateway-admin-core';
import {
  sentencesOf,
  textOf,
  type Client,
  type HistorySearch,
  type ResultOf,
  type Told,
} from 'gateway-admin-core/client';

import { restoring, undoing } from './act.ts';
import { useAsking } from './asking.ts';
import { rowFits } from './find.ts';
import { chosenAtFirst } from './field.tsx';
import { Menu } from './menu.tsx';
import { rowsOf, type Collection } from './model.ts';
import { nameAt } from './name.ts';
import { usePage, type Page } from './page.ts';
import { pastCriteria, type Past } from './place.ts';
import { changesIn, type Change } from './plan.ts';
import { Sentences, tellingOf } from './sentence.tsx';
import { useStore } from './store.ts';
import { text } from './text.ts';
import { dayText, inputText, instantIn, timeText, whenText } from './time.ts';

type Entry = ResultOf<'history.list'>;

/** The number of entries that are read at first, and that a person adds. */
const entriesAtOnce = 200;

/** The view: the criteria, and the entries that they find. */
export function History() {
  const page = usePage();
  const { past } = useStore(page.place);
  return (
    <>
      <Criteria past={past} />
      <HistoryList search={past} key={JSON.stringify(past)} />
    </>
  );
}

interface ListProps {
  readonly search: Past & Pick<HistorySearch, 'field'>;
  /** Whether the list is a part of a drawer, with little room. */
  readonly isPart?: true;
  readonly most?: number;
}

/** The entries of the history that a search finds; read anew after each event. */
export function HistoryList({ search, isPart, most: first = entriesAtOnce }: ListProps) {
  const page = usePage();
  const client = useStore(page.client);
  const { events } = useStore(page.model, 'events');
  const { find } = useStore(page.place);
  const [read, setRead] = useState<ReadEntries>();
  const [most, setMost] = useState(first);
  const [fault, setFault] = useState('');
  const newest = events.find(({ event }) => event.command !== undefined)?.id;
  const { resource, field } = search;
  useAsking(
    client && (() => readEntries(client, search, most)),
    (next) => {
      if (typeof next !== 'string') setRead(next);
      setFault(typeof next === 'string' ? next : '');
    },
    [client, resource, field, most],
    [newest],
  );
  const { elements = [], total = 0 } = read ?? {};
  const shown = isPart ? elements : elements.filter((entry) => rowFits(find, entry));
  const oldest = elements.at(-1);
  return (
    <section class={`history ${isPart ? 'part' : ''}`} aria-label={text.views.history}>
      {!isPart && <Chips shown={shown.length} total={total} isRead={read !== undefined} />}
      {fault !== '' && <p class="bad">{fault}</p>}
      {read !== undefined && shown.length === 0 && <p class="none">{text.find.none}</p>}
      {shown.length > 0 && <Entries entries={shown} isPart={isPart === true} />}
      {oldest !== undefined && elements.length < total && (
        <p class="more">
          {text.history.back(elements.length, total, whenText(Date.parse(oldest.at)))}{' '}
          <button class="plain" onClick={() => setMost(most + entriesAtOnce)}>
            {text.history.more(Math.min(entriesAtOnce, total - elements.length))}
          </button>
        </p>
      )}
    </section>
  );
}

/** Entries, and how many there are. */
interface ReadEntries {
  readonly elements: readonly Entry[];
  readonly total: number;
}

/** Reads the newest entries; gives why, if that is not possible. */
async function readEntries(
  client: Client,
  search: HistorySearch,
  most: number,
): Promise<ReadEntries | string> {
  try {
    const answer = await client.history.list({ ...search, range: [0, most - 1] });
    return answer.ok ? answer.value : answer.problem.detail;
  } catch (error) {
    return (error as Error).message;
  }
}

interface ChipsProps {
  readonly shown: number;
  readonly total: number;
  readonly isRead: boolean;
}

/** How many entries there are, and the searches that are made most. */
function Chips({ shown, total, isRead }: ChipsProps) {
  const page = usePage();
  const { past } = useStore(page.place);
  const { gateway } = useStore(page.model, 'gateway');
  const chip = (label: string, name: keyof Past, value: string) => (
    <button
      class="chip"
      aria-pressed={past[name] === value}
      onClick={() => page.go({ past: { ...past, [name]: past[name] === value ? undefined : value } })}
    >
      {label}
    </button>
  );
  return (
    <div class="head">
      <h2>
        {text.views.history}{' '}
        <span class="soft">
          {isRead && (shown === total ? total.toLocaleString('en') : text.find.shown(shown, total))}
        </span>
      </h2>
      <div class="chips" role="group" aria-label={text.history.often}>
        {gateway?.user !== undefined && chip(text.history.byMe, 'actor', gateway.user)}
        {chip(text.history.closings, 'type', 'sessions')}
      </div>
    </div>
  );
}

/** Who, what, of what, and when. */
function Criteria({ past }: { readonly past: Past }) {
  const page = usePage();
  const form = useRef<HTMLFormElement>(null);
  // Before a person can type.
  useLayoutEffect(() => form.current?.reset(), [past]);
  function send(event: Event): void {
    event.preventDefault();
    const given = new FormData(form.current ?? undefined);
    const next = pastCriteria.flatMap((name) => {
      const value = given.get(name);
      if (typeof value !== 'string' || value.trim() === '') return [];
      if (name === 'resource') return [[name, linkOf(page, value.trim())]];
      return [[name, isTime(name) ? instantIn(value) : value.trim()]];
    });
    page.go({ past: Object.fromEntries(next) as Past });
  }
  return (
    <form class="criteria" ref={form} onSubmit={send}>
      {pastCriteria.map((name) => (
        <label key={name}>
          {text.history.criteria[name]}
          {name === 'type' ? (
            <select name={name} onChange={send}>
              {Object.entries({ '': text.history.anything, ...text.history.kinds }).map(([value, words]) => (
                <option key={value} value={value} {...chosenAtFirst(value === (past.type ?? ''))}>
                  {words}
                </option>
              ))}
            </select>
          ) : (
            <input
              name={name}
              type={isTime(name) ? 'datetime-local' : 'text'}
              autocomplete="off"
              list={name === 'resource' ? 'names' : name === 'actor' ? 'actors' : undefined}
              defaultValue={shownValue(page, name, past[name])}
              onChange={isTime(name) ? send : undefined}
            />
          )}
        </label>
      ))}
      <KnownNames />
      <button type="submit">{text.find.label}</button>
      {Object.keys(past).length > 0 && (
        <button type="button" class="plain" onClick={() => page.go({ past: {} })}>
          {text.history.clear}
        </button>
      )}
    </form>
  );
}

/** What a person may mean while typing a name. */
function KnownNames() {
  const page = usePage();
  const { lists } = useStore(page.model, 'lists');
  const names = named.flatMap((kind) => rowsOf({ lists }, kind).map(({ name }) => name));
  return (
    <>
      <datalist id="names">
        {[...new Set(names)].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <datalist id="actors">
        {rowsOf({ lists }, 'users').map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

/** The collections whose resources have a history. */
const named = ['services', 'servers', 'monitors', 'filters'] as const satisfies readonly Collection[];

function isTime(name: keyof Past): boolean {
  return name === 'since' || name === 'before';
}

function shownValue({ model }: Page, name: keyof Past, value = ''): string {
  if (value === '') return '';
  if (name === 'resource') return nameAt(model.get(), value);
  return isTime(name) ? inputText(Date.parse(value)) : value;
}

/** The link of the resource with a name; of a service that is gone, if no resource has the name. */
function linkOf({ model }: Page, name: string): string {
  if (name.startsWith('/')) return name;
  const found = named.find((collection) =>
    rowsOf(model.get(), collection).some((row) => row.name.toLowerCase() === name.toLowerCase()),
  );
  return linkTo(found ?? 'services', name);
}

interface EntriesProps {
  readonly entries: readonly Entry[];
  readonly isPart: boolean;
}

function Entries({ entries, isPart }: EntriesProps) {
  const { time, who, what, changed } = text.history.columns;
  let day = '';
  return (
    <table class="log" aria-label={text.views.history}>
      <colgroup>
        {['time', 'who', 'said', ...(isPart ? [] : ['changed']), 'way'].map((each) => (
          <col key={each} class={each} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {[time, who, what, ...(isPart ? [] : [changed])].map((each) => (
            <th key={each} scope="col">
              {each}
            </th>
          ))}
          <td />
        </tr>
      </thead>
      <tbody>
        {entries.flatMap((entry) => {
          const own = dayText(Date.parse(entry.at));
          const isNew = own !== day && !isPart;
          day = own;
          const row = <EntryRow key={entry.id} entry={entry} entries={entries} isPart={isPart} />;
          if (!isNew) return [row];
          const head = (
            <tr key={own} class="day">
              <td colSpan={5}>{own}</td>
            </tr>
          );
          return [head, row];
        })}
      </tbody>
    </table>
  );
}

interface RowProps extends EntriesProps {
  readonly entry: Entry;
}

function EntryRow({ entry, entries, isPart }: RowProps) {
  const page = usePage();
  const { id, at, actor, undoes, undone_by: undoneBy } = entry;
  const events = entry.events as readonly Told[];
  const instant = Date.parse(at);
  const title = titleOf(page, entry);
  const undone = undoes === undefined ? undefined : entries.find((each) => each.id === undoes);
  const undoneAt = entries.find((each) => each.id === undoneBy)?.at;
  const nameOf = (link: string): string => nameAt(page.model.get(), link);
  const changes = events.slice(0, mostChanges).flatMap((event) => changesIn(event, nameOf));
  return (
    <tr id={`entry-${id}`} class={undoneBy === undefined ? '' : 'undone'} tabIndex={-1} data-row>
      <td class="time">
        <time dateTime={at}>{isPart ? whenText(instant) : timeText(instant)}</time>
      </td>
      <td class="who">{actor}</td>
      <td class="said">
        {undoes === undefined ? (
          <Sentences events={events} tense="did" />
        ) : (
          <>
            {text.history.undid(undone && titleOf(page, undone), undone && whenText(Date.parse(undone.at)))}{' '}
            <span class="soft">
              <Sentences events={events} tense="was" />
            </span>
          </>
        )}
        {isPart && changes.length > 0 && (
          <span class="soft">
            : <Changes changes={changes} />
          </span>
        )}
      </td>
      {!isPart && (
        <td class="changed">
          <Changes changes={changes} />
        </td>
      )}
      <td class="way">
        <Way entry={entry} title={title} undoneAt={undoneAt} />{' '}
        {!isPart && (
          <Menu label="…" of={`${text.history.moreOf} ${title}, ${whenText(instant)}`}>
            <button class="plain" onClick={() => page.ask(restoring(id, whenText(instant)))}>
              {text.verbs.restore}
            </button>
            <p>{text.history.restoreWarning}</p>
          </Menu>
        )}
      </td>
    </tr>
  );
}

interface WayProps {
  readonly entry: Entry;
  readonly title: string;
  /** When it was undone, if that entry is shown. */
  readonly undoneAt: string | undefined;
}

/** The way back, or why there is none. */
function Way({ entry: { id, undo, undone_by: undoneBy }, title, undoneAt }: WayProps) {
  const page = usePage();
  if (undo === 'possible')
    return (
      <button class="plain" onClick={() => page.ask(undoing(id, title))}>
        {text.verbs.undo} <span class="hidden">“{title}”</span>
      </button>
    );
  if (undoneBy === undefined) return <span class="soft">{text.history.undo[undo]}</span>;
  if (undoneAt === undefined) return <span class="soft">{text.history.undoneLater}</span>;
  return (
    <>
      {text.history.undone}{' '}
      <button class="plain" onClick={() => showEntry(undoneBy)}>
        {whenText(Date.parse(undoneAt))}
      </button>
    </>
  );
}

/** The changes of so many events are in a line. */
const mostChanges = 20;

/** What an entry is about, in words. */
function titleOf(page: Page, { events }: Pick<Entry, 'events'>): string {
  const all = sentencesOf(events as readonly Told[], tellingOf(page, 'did')).map(textOf);
  return all.length > 3 ? text.history.several(all.length) : all.join('; ');
}

function showEntry(id: string): void {
  const row = document.getElementById(`entry-${id}`);
  row?.scrollIntoView({ block: 'center' });
  row?.focus();
}

function Changes({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <>
      {changes.map(({ name, from, to }, at) => (
        <span key={name}>
          {at > 0 && '; '}
          {name}
          {from !== undefined && to !== undefined && (
            <>
              {' '}
              <del>{from}</del> → <ins>{to}</ins>
            </>
          )}
        </span>
      ))}
    </>
  );
}
