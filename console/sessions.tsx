/**
 * Sessions: a list of any length, of which the visible part is read.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Client, SessionSearch } from 'gateway-admin-core/client';
import type { SessionRepresentation } from 'gateway-admin-core';

import { closingChosen, closingOf } from './act.ts';
import { usePage } from './page.ts';
import { criteria } from './place.ts';
import { useStore } from './store.ts';
import { Age, nameInLink, ResourceLink } from './tables.tsx';
import { text } from './text.ts';
import { windowOf } from './window.ts';

const rowHeight = 28;
/** How often the visible part is read, in milliseconds. */
const paceMs = 4000;
const fields = ['id', 'user', 'address', 'service', 'connected', 'idle', 'etag'] as const;

type Session = Pick<SessionRepresentation, (typeof fields)[number]>;

/** The part of the list that was read. */
interface Part {
  readonly first: number;
  readonly rows: readonly Session[];
  readonly total: number;
  readonly at: number;
}

const nothing: Part = { first: 0, rows: [], total: 0, at: -Infinity };

export function Sessions() {
  const page = usePage();
  const { search } = useStore(page.place);
  // A list of other sessions begins at its top, and nothing of it is chosen.
  return <SessionList key={JSON.stringify(search)} search={search} />;
}

function SessionList({ search }: { readonly search: SessionSearch }) {
  const page = usePage();
  const client = useStore(page.client);
  const viewport = useRef<HTMLDivElement>(null);
  const [scrolled, setScrolled] = useState(0);
  const [visible, setVisible] = useState(600);
  const [chosen, setChosen] = useState<ReadonlyMap<number, string>>(new Map());
  const { part, fault, want } = useParts(client, search);
  const { first, end, height, top } = windowOf(part.total, rowHeight, scrolled, visible);

  useEffect(() => {
    const element = viewport.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setVisible(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => want(first, Math.max(end, first + 60)), [first, end, want]);

  const words = criteria.flatMap((each) => {
    const value = search[each];
    return value === undefined ? [] : [text.sessions.words[each](String(value))];
  });
  return (
    <section aria-label={text.views.sessions}>
      <Criteria search={search} />
      <p class="bar">
        <span role="status">{part.at === -Infinity ? '' : text.sessions.total(part.total)}</span>
        <Age at={part.at === -Infinity ? undefined : part.at} />
        <button
          type="button"
          disabled={part.total === 0}
          onClick={() => page.ask(closingOf(search, words.join(', ')))}
        >
          {text.sessions.close}
        </button>
        <button
          type="button"
          disabled={chosen.size === 0}
          onClick={() => page.ask(closingChosen([...chosen].map(([id, etag]) => ({ id, etag }))))}
        >
          {text.sessions.closeChosen} ({chosen.size})
        </button>
      </p>
      {fault !== '' && <p class="bad">{fault}</p>}
      <div class="session-head" aria-hidden="true">
        {(['choose', 'id', 'user', 'address', 'service', 'connected', 'idle'] as const).map((each) => (
          <span key={each}>{each === 'choose' ? '' : text.columns[each]}</span>
        ))}
      </div>
      <div
        class="sessions"
        ref={viewport}
        role="table"
        tabIndex={0}
        aria-label={text.views.sessions}
        aria-rowcount={part.total}
        onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop)}
      >
        <div class="whole" role="rowgroup" style={{ height: `${String(height)}px` }}>
          <div style={{ transform: `translateY(${String(top)}px)` }} role="presentation">
            {Array.from({ length: end - first }, (_each, at) => {
              const row = part.rows[first + at - part.first];
              return (
                <SessionRow
                  key={row?.id ?? `empty-${String(first + at)}`}
                  row={row}
                  position={first + at}
                  isChosen={row !== undefined && chosen.get(row.id) === row.etag}
                  choose={(isChosen) => setChosen(withChoice(chosen, row, isChosen))}
                />
              );
            })}
          </div>
        </div>
      </div>
      {part.total === 0 && part.at !== -Infinity && <p class="none">{text.sessions.none}</p>}
    </section>
  );
}

function withChoice(chosen: ReadonlyMap<number, string>, row: Session | undefined, isChosen: boolean) {
  const next = new Map(chosen);
  if (row?.etag === undefined) return next;
  if (isChosen) next.set(row.id, row.etag);
  else next.delete(row.id);
  return next;
}

/** Reads the wanted part, again and again: one request at a time, and none while nobody looks at the page. */
function useParts(client: Client | undefined, search: SessionSearch) {
  const [part, setPart] = useState(nothing);
  const [fault, setFault] = useState('');
  const wanted = useRef<readonly [number, number]>([0, 60]);
  const wake = useRef(() => undefined as void);
  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    async function run(): Promise<void> {
      while (!signal.aborted && client !== undefined) {
        const [first, end] = wanted.current;
        if (!document.hidden) await read(client, first, end);
        if (wanted.current[0] === first && wanted.current[1] === end) await pause();
      }
    }
    async function read(from: Client, first: number, end: number): Promise<void> {
      try {
        const range: [number, number] = [first, end - 1];
        const answer = await from.sessions.list({ ...search, fields, range, signal });
        if (!answer.ok) return setFault(answer.problem.detail);
        const { elements, total } = answer.value;
        setPart({ first, rows: elements, total, at: performance.now() });
        setFault('');
      } catch (error) {
        if (signal.aborted) return;
        setFault((error as Error).message);
        await pause();
      }
    }
    function pause(): Promise<void> {
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, paceMs);
        wake.current = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    void run();
    return () => {
      ending.abort();
      wake.current();
    };
  }, [client]);
  const [want] = useState(() => (first: number, end: number): void => {
    const [before, beforeEnd] = wanted.current;
    if (before === first && beforeEnd === end) return;
    wanted.current = [first, end];
    wake.current();
  });
  return { part, fault, want };
}

function Criteria({ search }: { readonly search: SessionSearch }) {
  const page = usePage();
  function send(event: SubmitEvent): void {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const next = Object.fromEntries(
      criteria.flatMap((each) => {
        const value = given.get(each);
        if (typeof value !== 'string' || value.trim() === '') return [];
        const isNumber = each === 'idle_over' || each === 'older_than';
        return [[each, isNumber ? Number(value) : value.trim()]];
      }),
    );
    page.go({ search: next });
  }
  return (
    <form class="criteria" onSubmit={send}>
      {criteria.map((each) => (
        <label key={each}>
          {text.sessions.criteria[each]}
          <input
            name={each}
            autocomplete="off"
            defaultValue={String(search[each] ?? '')}
            pattern={each === 'idle_over' || each === 'older_than' ? '[0-9]{1,9}' : undefined}
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
  const [id, user, address, connected, idle] =
    row === undefined ? ['…'] : [row.id, row.user, row.address, row.connected, row.idle];
  return (
    <div class="session" role="row" aria-rowindex={position + 1} data-row>
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
      <span role="cell">{id}</span>
      <span role="cell">{user}</span>
      <span role="cell">{address}</span>
      <span role="cell">
        {row !== undefined && <ResourceLink link={row.service} name={nameInLink(row.service)} />}
      </span>
      <span role="cell">{connected}</span>
      <span role="cell">{idle}</span>
    </div>
  );
}
