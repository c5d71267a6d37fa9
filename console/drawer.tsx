/**
 * The drawer of a resource: how it is, what can be done, what belongs to it, its settings as a form, its history.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer, Client } from 'gateway-admin-core/client';
import type { May } from 'gateway-admin-core';

import { copying, isRare, type Subject } from './act.ts';
import { useAsking } from './asking.ts';
import { Copy } from './copy.tsx';
import { healthOf } from './health.ts';
import { HistoryList } from './history.tsx';
import { useFocusKept } from './key.ts';
import { InFlight } from './live.tsx';
import { useMeanings } from './meaning.ts';
import { rowsOf, type Collection } from './model.ts';
import { nameAt } from './name.ts';
import { OfferList, offersOn, type Offer } from './offer.tsx';
import { usePage } from './page.ts';
import { Belongings } from './belonging.tsx';
import { PlaceLink, Shape } from './resource.tsx';
import { Settings } from './settings.tsx';
import { StateFields, StateLine } from './state.tsx';
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

/** As many entries of the history are in a drawer at first. */
const firstEntries = 8;

export function Drawer({ link }: { readonly link: string }) {
  const page = usePage();
  const client = useStore(page.client);
  const model = useStore(page.model, 'lists', 'events');
  const [read, setRead] = useState<Read>({ state: 'reading' });
  const [, collection = ''] = link.split('/');
  // No event tells of clients, of a mode or of an age: what is open is as old as the counters.
  const stamps = [model.lists.services?.at, model.events[0]?.id];
  useAsking(client && (() => readResource(client, link)), setRead, [client, link], stamps);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const drawer = useRef<HTMLElement>(null);
  useFocusKept(drawer);
  const resource = read.state === 'read' ? read.resource : undefined;
  const name = resource?.name ?? nameAt(model, link);
  const subject = { collection, link, name };
  const health = resource === undefined ? undefined : healthOf(model, collection as Collection, resource);
  const { router, module } = (resource ?? {}) as Readonly<Record<string, string | undefined>>;
  const hasSettings = collection in text.drawer.settings;
  return (
    <section class="drawer" aria-labelledby="drawer-title" ref={drawer}>
      <div class="drawer-head">
        <h2 id="drawer-title" tabIndex={-1} ref={heading}>
          {health !== undefined && health.tone !== 'none' && <Shape tone={health.tone} />}
          <span class="hidden">{text.one(collection)} </span>
          {name}
        </h2>
        <span class="soft">{[text.one(collection), router ?? module].filter(Boolean).join(', ')}</span>
        <Copy value={location.href} label={text.copy.link} what="" />
        <button class="close" onClick={() => page.go({ open: '' })}>
          <span class="hidden">{text.drawer.close}</span>
        </button>
      </div>
      {read.state === 'reading' && <p class="soft">{text.drawer.loading}</p>}
      {read.state === 'failed' && <p class="bad">{read.detail}</p>}
      {resource !== undefined && read.state === 'read' && (
        <>
          <StateLine subject={subject} resource={resource} />
          <InFlight link={link} />
          <Acts subject={subject} read={read} />
          <Belongings subject={subject} resource={resource} />
          {hasSettings && (
            <section aria-label={text.drawer.settingsTitle}>
              <h3>{text.drawer.settingsTitle}</h3>
              <Settings subject={subject} read={read} />
            </section>
          )}
          {link !== '/' && collection !== 'sessions' && <OwnHistory subject={subject} />}
          <details class="all" open={!hasSettings}>
            <summary>{text.drawer.fields}</summary>
            <StateFields subject={subject} resource={resource} />
          </details>
        </>
      )}
    </section>
  );
}

/** The last changes of the resource. */
function OwnHistory({ subject: { name, link } }: { readonly subject: Subject }) {
  return (
    <section aria-label={text.drawer.historyOf(name)}>
      <h3>
        {text.drawer.historyOf(name)}{' '}
        <PlaceLink to={{ view: 'history', find: '', open: '', past: { resource: link } }}>
          {text.drawer.all}
        </PlaceLink>
      </h3>
      <HistoryList search={{ resource: link }} isPart most={firstEntries} />
    </section>
  );
}

interface ActsProps {
  readonly subject: Subject;
  readonly read: Extract<Read, { readonly state: 'read' }>;
}

/** What can be done to a resource, or could. */
function useOffers({ subject, read: { resource, etag } }: ActsProps): readonly Offer[] {
  const { model } = usePage();
  const { fields } = useMeanings();
  const { collection } = subject;
  const isFleet = rowsOf(model.get(), 'fleet').length > 0;
  const offers = offersOn([{ subject, resource, etag, may: resource.may }]).filter(
    // Without a fleet, there is nothing to retry.
    ({ act }) => act.id !== 'fleet.retry' || isFleet,
  );
  const table = fields[collection];
  const creation = model.get().gateway?.may.find(({ id }) => id === `${collection}.create`);
  if (table === undefined || creation === undefined) return offers;
  const reason = creation.allowed ? undefined : creation.detail;
  return [...offers, { key: 'copy', act: copying(table, subject, resource), reason }];
}

/** The acts on a resource. */
function Acts(props: ActsProps) {
  const { subject, read } = props;
  const offers = useOffers(props);
  if (offers.length === 0) return null;
  return (
    <div class="acts">
      <OfferList offers={offers} isRare={(act) => isRare(act, read.resource)} of={subject.name} />
    </div>
  );
}
