/**
 * Sessions: a list of any length, of which the visible part is read.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SessionSearch } from 'gateway-admin-core/client';

import { closingChosen, closingOf } from './act.ts';
import { instantOnClocks } from './instant.ts';
import { nameInLink } from './link.ts';
import type { Session, SessionPart } from './model.ts';
import { useWhen } from './now.ts';
import { usePage } from './page.ts';
import { criteria, isNumber, type Chosen } from './place.ts';
import { useStore } from './store.ts';
import { Age, Link, ResourceLink } from './resource.tsx';
import { text } from './text.ts';
import { windowOf } from './window.ts';

const rowHeight = 28;

export function Sessions() {
  const page = usePage();
  const { search } = useStore(page.place);
  return (
    <section aria-label={text.views.sessions}>
      <Criteria search={search} />
      {/* A list of other sessions begins at its top, and nothing of it is chosen. */}
      <SessionList key={JSON.stringify(search)} search={search} />
    </section>
  );
}

function SessionList({ search }: { readonly search: SessionSearch }) {
  const page = usePage();
  const { sessions } = useStore(page.model, 'sessions');
  const { chosen = new Map() } = useStore(page.place);
  useEffect(() => () => page.lookAt(undefined), [page]);
  const part = sessions?.search === search ? sessions : { ...unread, search };
  return (
    <>
      <Bar part={part} search={search} chosen={chosen} />
      {part.fault !== '' && <p class="bad">{part.fault}</p>}
      <Grid part={part} chosen={chosen} choose={(next) => page.go({ chosen: next }, 'replace')} />
    </>
  );
}

const unread = { first: 0, rows: [], total: 0, at: undefined, fault: '' };

interface BarProps {
  readonly part: SessionPart;
  readonly search: SessionSearch;
  readonly chosen: Chosen;
}

/** How many sessions there are, and what can be done with them. */
function Bar({ part, search, chosen }: BarProps) {
  const page = usePage();
  const words = criteria.flatMap((each) => {
    const value = search[each];
    return value === undefined ? [] : [text.sessions.words[each](String(value))];
  });
  const chooseNone = (): void => page.go({ chosen: undefined }, 'replace');
  return (
    <p class="bar">
      <span>{part.at === undefined ? '' : text.sessions.total(part.total)}</span>
      <Age at={part.at} />
      <button disabled={part.total === 0} onClick={() => page.ask(closingOf(search, words.join(', ')))}>
        {words.length === 0 ? text.closeAllSessions : text.closeSessionsThat(words.join(', '))}
      </button>
      <button
        disabled={chosen.size === 0}
        onClick={() =>
          page.ask(
            closingChosen(
              [...chosen].map(([id, etag]) => ({ id, etag })),
              chooseNone,
            ),
          )
        }
      >
        {text.closeChosen(chosen.size)}
      </button>
      <button disabled={chosen.size === 0} onClick={chooseNone}>
        {text.sessions.chooseNone}
      </button>
    </p>
  );
}

interface GridProps {
  readonly part: SessionPart;
  readonly chosen: Chosen;
  readonly choose: (chosen: Chosen) => void;
}

/** The list: only the visible rows are drawn. */
function Grid({ part, chosen, choose }: GridProps) {
  const page = usePage();
  const viewport = useRef<HTMLDivElement>(null);
  const [scrolled, setScrolled] = useState(0);
  const [visible, setVisible] = useState(600);
  const { first, end, height, top } = windowOf(part.total, rowHeight, scrolled, visible);
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
                choose={(isChosen) => choose(withChoice(chosen, row, isChosen))}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Head() {
  const { choose, id, user, address, service, connected, idle } = text.columns;
  return (
    <div class="session session-head" role="row" aria-rowindex={1}>
      <span role="columnheader">
        <span class="hidden">{choose}</span>
      </span>
      {[id, user, address, service, connected, idle].map((each) => (
        <span key={each} role="columnheader">
          {each}
        </span>
      ))}
    </div>
  );
}

function withChoice(chosen: Chosen, row: Session | undefined, isChosen: boolean): Chosen {
  const next = new Map(chosen);
  if (row?.etag === undefined) return next;
  if (isChosen) next.set(row.id, row.etag);
  else next.delete(row.id);
  return next;
}

function Criteria({ search }: { readonly search: SessionSearch }) {
  const page = usePage();
  const form = useRef<HTMLFormElement>(null);
  // Before a person can type.
  useLayoutEffect(() => form.current?.reset(), [search]);
  function send(event: SubmitEvent): void {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const next = Object.fromEntries(
      criteria.flatMap((each) => {
        const value = given.get(each);
        if (typeof value !== 'string' || value.trim() === '') return [];
        return [[each, isNumber(each) ? Number(value) : value.trim()]];
      }),
    );
    page.go({ search: next });
  }
  return (
    <form class="criteria" ref={form} onSubmit={send}>
      {criteria.map((each) => (
        <label key={each}>
          {text.sessions.criteria[each]}
          <input
            name={each}
            autocomplete="off"
            defaultValue={String(search[each] ?? '')}
            pattern={isNumber(each) ? '[0-9]{1,9}' : undefined}
          />
        </label>
      ))}
      <button type="submit">{text.find.label}</button>
      <button type="button" onClick={() => page.go({ search: {} })}>
        {text.sessions.all}
      </button>
    </form>
  );
}

interface RowProps {
  readonly row: Session | undefined;
  readonly position: number;
  readonly isChosen: boolean;
  readonly choose: (isChosen: boolean) => void;
}

function SessionRow({ row, position, isChosen, choose }: RowProps) {
  const when = useWhen();
  const { user, address, connected, idle } = row ?? {};
  return (
    <div class="session" role="row" aria-rowindex={position + 2} data-row>
      <span role="cell">
        {row !== undefined && (
          <input
            type="checkbox"
            checked={isChosen}
            aria-label={`${text.columns.choose} ${String(row.id)}, ${row.user}`}
            onChange={({ currentTarget }) => choose(currentTarget.checked)}
          />
        )}
      </span>
      <span role="cell">
        {row === undefined ? '…' : <Link collection="sessions" name={String(row.id)} />}
      </span>
      <span role="cell">{user}</span>
      <span role="cell">{address}</span>
      <span role="cell">
        {row !== undefined && <ResourceLink link={row.service} name={nameInLink(row.service)} />}
      </span>
      <span role="cell">{connected !== undefined && when(instantOnClocks(connected))}</span>
      <span role="cell">{idle}</span>
    </div>
  );
}
