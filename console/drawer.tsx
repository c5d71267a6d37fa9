/**
 * The drawer of a resource: its state and acts, its settings as a form, its history.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer, Client } from 'gateway-admin-core/client';
import type { May } from 'gateway-admin-core';

import { actsOnResource, type Subject } from './act.ts';
import { useAsking } from './asking.ts';
import { HistoryList } from './history.tsx';
import { useFocusKept } from './key.ts';
import { rowsOf } from './model.ts';
import { usePage } from './page.ts';
import { tabs, type Tab } from './place.ts';
import { nameInLink } from './link.ts';
import { isEdited, Settings } from './settings.tsx';
import { StateFields } from './state.tsx';
import { useStore } from './store.ts';
import { text } from './text.ts';

type Resource = Readonly<Record<string, unknown>> & { readonly name?: string; readonly may: readonly May[] };

/** What was read of a resource. */
type Read =
  | { readonly state: 'reading' }
  | { readonly state: 'read'; readonly resource: Resource; readonly etag: string | undefined }
  | { readonly state: 'failed'; readonly detail: string };

/** Reads the resource at a link, and what the caller may do with it. */
async function readResource(client: Client, link: string): Promise<Read> {
  const [, collection, name = ''] = /^\/([^/]*)\/?(.*)$/s.exec(link) ?? [];
  const groups = client as unknown as Readonly<
    Record<string, { readonly get?: (...given: readonly unknown[]) => Promise<Answer<Resource>> } | undefined>
  >;
  // The link of the interface has no word.
  const get = groups[collection === '' ? 'interface' : (collection ?? '')]?.get;
  if (get === undefined) return { state: 'failed', detail: text.drawer.gone };
  try {
    const subject = name === '' ? [] : [decodeURIComponent(name)];
    // An answer with what a person may do has no entity tag.
    const [answer, able] = await Promise.all([get(...subject), get(...subject, { may: true })]);
    if (!answer.ok) return { state: 'failed', detail: answer.problem.detail };
    const may = able.ok ? able.value.may : [];
    return { state: 'read', resource: { ...answer.value, may }, etag: answer.etag };
  } catch (error) {
    return { state: 'failed', detail: (error as Error).message };
  }
}

export function Drawer({ link }: { readonly link: string }) {
  const page = usePage();
  const client = useStore(page.client);
  const { tab } = useStore(page.place);
  const { lists, events } = useStore(page.model, 'lists', 'events');
  const [read, setRead] = useState<Read>({ state: 'reading' });
  const [, collection = ''] = link.split('/');
  // No event tells of clients, of a mode or of an age: what is open is as old as the counters.
  const stamps = [lists.services?.at, events[0]?.id];
  useAsking(client && (() => readResource(client, link)), setRead, [client, link], stamps);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const drawer = useRef<HTMLElement>(null);
  useFocusKept(drawer);
  const name = read.state === 'read' ? (read.resource.name ?? nameInLink(link)) : nameInLink(link);
  return (
    <section class="drawer" aria-labelledby="drawer-title" ref={drawer}>
      <h2 id="drawer-title" tabIndex={-1} ref={heading}>
        <span class="soft">{text.one(collection)}</span> {name}
      </h2>
      <button class="close" onClick={() => page.go({ open: '' })}>
        {text.drawer.close}
      </button>
      {read.state === 'reading' && <p class="soft">{text.drawer.loading}</p>}
      {read.state === 'failed' && <p class="bad">{read.detail}</p>}
      {read.state === 'read' && (
        <>
          <Acts subject={{ collection, link, name }} read={read} />
          <Tabs name={name} tab={tab} link={link} />
          <div role="tabpanel" aria-label={text.tabs[tab]}>
            {tab === 'state' && <StateFields subject={{ collection, link, name }} resource={read.resource} />}
            {tab === 'settings' && <Settings subject={{ collection, link, name }} read={read} />}
            {tab === 'history' && <HistoryList resource={link} />}
          </div>
        </>
      )}
    </section>
  );
}

interface TabsProps {
  readonly name: string;
  readonly tab: Tab;
  readonly link: string;
}

function Tabs({ name, tab, link }: TabsProps) {
  const page = usePage();
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label={name}
      onKeyDown={({ key, target }) => {
        const { nextSibling, previousSibling } = target as HTMLElement;
        const next = key === 'ArrowRight' ? nextSibling : key === 'ArrowLeft' ? previousSibling : null;
        (next as HTMLElement | null)?.focus();
        (next as HTMLElement | null)?.click();
      }}
    >
      {tabs.map((each) => (
        <button
          key={each}
          role="tab"
          aria-selected={each === tab}
          onClick={() => page.go({ tab: each }, 'replace')}
        >
          {text.tabs[each]}
          {each === 'settings' && tab !== 'settings' && isEdited(link) && (
            <span class="warn"> {text.edited}</span>
          )}
        </button>
      ))}
    </div>
  );
}

interface ActsProps {
  readonly subject: Subject;
  readonly read: Extract<Read, { readonly state: 'read' }>;
}

/** The acts on a resource. Of one that is not possible, the reason is shown. */
function Acts({ subject, read: { resource, etag } }: ActsProps) {
  const { may } = resource;
  const page = usePage();
  const rows = actsOnResource.flatMap(({ id, act, isMoot }) => {
    const row = may.find((each) => each.id === id);
    // Without a fleet, there is nothing to retry.
    if (id === 'fleet.retry' && rowsOf(page.model.get(), 'fleet').length === 0) return [];
    return row === undefined || isMoot?.(resource) === true
      ? []
      : [{ row, act: act(subject, resource, etag) }];
  });
  const denied = rows.filter(({ row }) => !row.allowed);
  return (
    <>
      <div class="acts">
        {rows.map(({ row, act }) => (
          <button
            key={act.title}
            aria-disabled={!row.allowed}
            aria-describedby={row.allowed ? undefined : `may-${row.id}`}
            onClick={() => row.allowed && page.ask(act)}
          >
            {act.title}
          </button>
        ))}
      </div>
      {denied.length > 0 && (
        <details class="denied">
          <summary>
            {text.drawer.mayNot} {denied.map(({ act }) => act.title).join(', ')}
          </summary>
          <ul>
            {denied.map(({ row, act }) => (
              <li key={row.id} id={`may-${row.id}`}>
                <strong>{act.title}</strong>: {'detail' in row ? row.detail : ''}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
