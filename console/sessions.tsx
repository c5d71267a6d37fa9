/**
 * Sessions: a list of any length, of which the visible part is read.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  searchText,
  valueOf,
  type ChosenSession,
  type Client,
  type SessionSearch,
} from 'gateway-admin-core/client';
import { linkTo } from 'gateway-admin-core';

import { actsOnResource, closingChosen, closingOf } from './act.ts';
import { ChooseBox } from './choosing.tsx';
import { ChosenBar } from './chosen.tsx';
import { chosenAtFirst } from './field.tsx';
import { instantOnClocks } from './instant.ts';
import { rowsOf, type Session, type SessionPart } from './model.ts';
import { nameAt } from './name.ts';
import { useWhen } from './now.ts';
import { usePage } from './page.ts';
import { criteria, isNumber, type Chosen } from './place.ts';
import { useStore } from './store.ts';
import { Age, Link, ResourceLink } from './resource.tsx';
import { text } from './text.ts';
import { secondsIn, spanText } from './time.ts';
import { windowOf } from './window.ts';

/** The height of a row, which has two lines on a phone. */
const rowHeight = (): number => (matchMedia('(max-width: 44rem)').matches ? 52 : 26);

/** As many sessions are chosen at once. */
const mostAtOnce = 1000;

export function Sessions() {
  const page = usePage();
  const { search } = useStore(page.place);
  return (
    <section class="found" aria-label={text.views.sessions}>
      <Criteria search={search} />
      {/* A list of other sessions begins at its top, and nothing of it is chosen. */}
      <SessionList key={JSON.stringify(search)} search={search} />
    </section>
  );
}

function SessionList({ search }: { readonly search: SessionSearch }) {
  const page = usePage();
  const { sessions } = useStore(page.model, 'sessions');
  const place = useStore(page.place);
  // What is chosen in other lists does not count here.
  const chosen = new Map([...(place.chosen ?? [])].filter(([key]) => typeof key === 'number'));
  /** Where the last box was pressed: with Shift, a press chooses everything from there. */
  const last = useRef(0);
  useEffect(() => () => page.lookAt(undefined), [page]);
  const part = sessions?.search === search ? sessions : { ...unread, search };
  const choose = (next: Chosen): void => page.go({ chosen: next.size === 0 ? undefined : next }, 'replace');

  /** Chooses all sessions between two positions: those that are not in sight are read for it. */
  async function chooseAll(first: number, end: number): Promise<void> {
    const range = [first, Math.min(end, first + mostAtOnce - 1)] as const;
    const answer = await page.client
      .get()
      ?.sessions.list({ ...search, fields: ['id', 'etag'], range })
      .catch(() => undefined);
    if (answer?.ok !== true || page.place.get().search !== search) return;
    const found = answer.value.elements.map(({ id, etag = '' }) => [id, etag] as const);
    choose(new Map([...(page.place.get().chosen ?? []), ...found]));
  }

  function press(position: number, row: Session, isChosen: boolean, isRange: boolean): void {
    const [from, to] = [Math.min(last.current, position), Math.max(last.current, position)];
    last.current = position;
    if (isRange && isChosen) return void chooseAll(from, to);
    const next = new Map(chosen);
    if (isChosen && row.etag !== undefined) next.set(row.id, row.etag);
    else next.delete(row.id);
    choose(next);
  }

  return (
    <>
      <Bar part={part} search={search} />
      {part.fault !== '' && <p class="bad">{part.fault}</p>}
      <Grid part={part} chosen={chosen} press={press} />
      {chosen.size > 0 && (
        <ChosenBar
          count={chosen.size}
          all={part.total}
          found={part.total}
          most={mostAtOnce}
          chooseAll={() => void chooseAll(0, part.total - 1)}
        >
          <button
            class="danger"
            onClick={() => page.ask(closingChosen(sessionsIn(chosen), () => choose(new Map())))}
          >
            {text.closeChosen(chosen.size)}
          </button>
        </ChosenBar>
      )}
    </>
  );
}

const unread = { first: 0, rows: [], total: 0, at: undefined, fault: '' };

interface BarProps {
  readonly part: SessionPart;
  readonly search: SessionSearch;
}

/** How many sessions there are, and what can be done with all of them. */
function Bar({ part, search }: BarProps) {
  const page = usePage();
  const { lists } = useStore(page.model, 'lists');
  const words = searchText(search);
  const all = rowsOf({ lists }, 'services').reduce((sum, { current_connections: each }) => sum + each, 0);
  return (
    <div class="bar">
      <h2>
        {part.at === undefined ? '' : text.sessions.total(part.total)}
        {words !== '' && all > part.total && <span class="soft"> {text.sessions.ofAll(all)}</span>}
      </h2>
      <Age at={part.at} />
      <Who search={search} />
      {rowsOf({ lists }, 'fleet').length > 0 && <span class="soft">{text.ofThisNode}</span>}
      <button
        class="plain danger"
        disabled={part.total === 0}
        onClick={() => page.ask(closingOf(search, words))}
      >
        {words === '' ? text.closeAllSessions : text.closeSessionsThat(words)}
      </button>
    </div>
  );
}

/** The chosen sessions, each with its entity tag. */
function sessionsIn(chosen: Chosen): readonly ChosenSession[] {
  return [...chosen].map(([id, etag]) => ({ id, etag }));
}

/** By what sessions are counted. */
const counted = ['user', 'address'] as const;

/** So many sessions are counted, and so many of them at a time. */
const [mostCounted, countedAtOnce] = [10_000, 1000];

/** So many users or addresses are shown. */
const mostShown = 8;

interface Counts {
  readonly by: (typeof counted)[number];
  /** The number of sessions of each, the largest first. */
  readonly all: readonly (readonly [value: string, count: number])[];
  readonly read: number;
  readonly of: number;
  /** When they were counted. */
  readonly at: number;
}

/** Whose the sessions are, once a person asks: each user or address finds its own. */
function Who({ search }: { readonly search: SessionSearch }) {
  const page = usePage();
  const [counts, setCounts] = useState<Counts>();
  async function count(by: Counts['by']): Promise<void> {
    const client = page.client.get();
    setCounts(client && (await countSessions(client, search, by).catch(() => undefined)));
  }
  const { by: shown, all = [], read = 0, of = 0 } = counts ?? {};
  return (
    <>
      {counted.map((by) => (
        <button key={by} class="plain" aria-pressed={by === shown} onClick={() => void count(by)}>
          {text.sessions.by[by]}
        </button>
      ))}
      {shown !== undefined && (
        <div class="chips" role="group" aria-label={text.sessions.sessionsBy(shown)}>
          {all.slice(0, mostShown).map(([value, number]) => (
            <button
              key={value}
              class="chip"
              onClick={() => page.go({ search: { ...search, [shown]: value } })}
            >
              {value} <b>{number.toLocaleString('en')}</b>
            </button>
          ))}
          {all.length > mostShown && (
            <span class="soft">{text.sessions.others(all.length - mostShown, shown)}</span>
          )}
          <Age at={counts?.at} />
          {read < of && <span class="soft">{text.sessions.ofFirst(read, of)}</span>}
        </div>
      )}
    </>
  );
}

/** Counts the sessions that a search finds by their users or addresses. */
async function countSessions(client: Client, search: SessionSearch, by: Counts['by']): Promise<Counts> {
  const found = new Map<string, number>();
  let [read, of] = [0, 1];
  while (read < Math.min(of, mostCounted)) {
    const range = [read, read + countedAtOnce - 1] as const;
    const { elements, total } = valueOf(await client.sessions.list({ ...search, fields: [by], range }));
    for (const { [by]: value } of elements) found.set(value, (found.get(value) ?? 0) + 1);
    of = total;
    read += elements.length;
    if (elements.length === 0) break;
  }
  const all = [...found].sort(([, one], [, other]) => other - one);
  return { by, all, read, of, at: performance.now() };
}

type Press = (position: number, row: Session, isChosen: boolean, isRange: boolean) => void;

interface GridProps {
  readonly part: SessionPart;
  readonly chosen: Chosen;
  readonly press: Press;
}

/** The list: only the visible rows are drawn. */
function Grid({ part, chosen, press }: GridProps) {
  const page = usePage();
  const viewport = useRef<HTMLDivElement>(null);
  const [scrolled, setScrolled] = useState(0);
  const [visible, setVisible] = useState(600);
  const { first, end, height, top } = windowOf(part.total, rowHeight(), scrolled, visible);
  useEffect(() => {
    const element = viewport.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setVisible(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // A list that grows may show more rows before its length is read anew.
  const { search } = part;
  useEffect(() => page.lookAt({ search, first, end: Math.max(end, first + 60) }), [page, search, first, end]);
  return (
    <div
      class="sessions"
      ref={viewport}
      role="table"
      tabIndex={0}
      aria-label={text.views.sessions}
      aria-rowcount={part.total + 1}
      onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop)}
    >
      <Head />
      <div class="whole" role="rowgroup" style={{ height: `${String(height)}px` }}>
        <div style={{ transform: `translateY(${String(top)}px)` }} role="presentation">
          {Array.from({ length: end - first }, (_each, at) => {
            const row = part.rows[first + at - part.first];
            return (
              <SessionRow
                key={row?.id ?? `unread-${String(first + at)}`}
                row={row}
                position={first + at}
                isChosen={row !== undefined && chosen.get(row.id) === row.etag}
                press={press}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Head() {
  const { choose, id, user, service, address, connected, idle, state, acts } = text.columns;
  return (
    <div class="session session-head" role="row" aria-rowindex={1}>
      <span role="columnheader">
        <span class="hidden">{choose}</span>
      </span>
      {[id, user, service, address, connected, idle, state].map((each) => (
        <span key={each} role="columnheader">
          {each}
        </span>
      ))}
      <span role="columnheader">
        <span class="hidden">{acts}</span>
      </span>
    </div>
  );
}

function Criteria({ search }: { readonly search: SessionSearch }) {
  const page = usePage();
  const form = useRef<HTMLFormElement>(null);
  // Before a person can type.
  useLayoutEffect(() => form.current?.reset(), [search]);
  function send(event: Event): void {
    event.preventDefault();
    const given = new FormData(form.current ?? undefined);
    const next = Object.fromEntries(
      criteria.flatMap((each) => {
        const value = given.get(each);
        if (typeof value !== 'string' || value.trim() === '') return [];
        return [[each, isNumber(each) ? secondsIn(value) : value.trim()]];
      }),
    );
    page.go({ search: next });
  }
  return (
    <form class="criteria" ref={form} onSubmit={send}>
      {criteria.map((each) => (
        <label key={each}>
          {text.sessions.criteria[each]}
          <Criterion name={each} search={search} send={send} />
        </label>
      ))}
      <button type="submit">{text.find.label}</button>
      {Object.keys(search).length > 0 && (
        <button type="button" class="plain" onClick={() => page.go({ search: {} })}>
          {text.sessions.all}
        </button>
      )}
    </form>
  );
}

interface CriterionProps {
  readonly name: (typeof criteria)[number];
  readonly search: SessionSearch;
  readonly send: (event: Event) => void;
}

/** What takes a criterion: services and servers are chosen from those that there are. */
function Criterion({ name: each, search, send }: CriterionProps) {
  const page = usePage();
  const { lists } = useStore(page.model, 'lists');
  const choices = { service: rowsOf({ lists }, 'services'), server: rowsOf({ lists }, 'servers') };
  return (
    <>
      {each === 'service' || each === 'server' ? (
        <select name={each} onChange={send}>
          {[
            '',
            ...new Set([
              ...(search[each] === undefined ? [] : [search[each]]),
              ...choices[each].map(({ name }) => name),
            ]),
          ].map((name) => (
            <option key={name} value={name} {...chosenAtFirst(name === (search[each] ?? ''))}>
              {name === '' ? text.sessions.any : name}
            </option>
          ))}
        </select>
      ) : (
        <input
          name={each}
          autocomplete="off"
          defaultValue={
            isNumber(each) && search[each] !== undefined
              ? spanText(Number(search[each]))
              : String(search[each] ?? '')
          }
          placeholder={isNumber(each) ? text.sessions.suchAs[each as 'idle_over'] : text.sessions.any}
          pattern={isNumber(each) ? '\\s*[0-9]{1,9}(\\.[0-9]{1,6})?\\s*(s|min|h|d)?\\s*' : undefined}
        />
      )}
    </>
  );
}

interface RowProps {
  readonly row: Session | undefined;
  readonly position: number;
  readonly isChosen: boolean;
  readonly press: Press;
}

function SessionRow({ row, position, isChosen, press }: RowProps) {
  const page = usePage();
  const when = useWhen();
  const { user, address, connected, idle, state } = row ?? {};
  return (
    <div class={`session ${isChosen ? 'is-chosen' : ''}`} role="row" aria-rowindex={position + 2} data-row>
      <span role="cell">
        {row !== undefined && (
          <ChooseBox
            of={`${String(row.id)}, ${row.user}`}
            isChosen={isChosen}
            press={(...how) => press(position, row, ...how)}
          />
        )}
      </span>
      <span role="cell">
        {row === undefined ? '…' : <Link collection="sessions" name={String(row.id)} />}
      </span>
      <span role="cell">{user}</span>
      <span role="cell">
        {row !== undefined && (
          <ResourceLink link={row.service} name={nameAt(page.model.get(), row.service)} />
        )}
      </span>
      <span role="cell">{address}</span>
      <span role="cell">{connected !== undefined && when(instantOnClocks(connected))}</span>
      <span role="cell">{idle === undefined ? '' : spanText(Math.floor(idle))}</span>
      <span role="cell" class="soft">
        {state}
      </span>
      <span role="cell">{row !== undefined && <CloseButton row={row} />}</span>
    </div>
  );
}

function CloseButton({ row }: { readonly row: Session }) {
  const page = usePage();
  const name = String(row.id);
  const link = linkTo('sessions', name);
  const close = (): void => {
    const made = actsOnResource.find(({ id }) => id === 'sessions.close');
    if (made !== undefined) page.ask(made.act({ collection: 'sessions', link, name }, { ...row }, row.etag));
  };
  return (
    <button class="plain" onClick={close}>
      {text.sessions.close} <span class="hidden">{text.sessions.named(name, row.user)}</span>
    </button>
  );
}
