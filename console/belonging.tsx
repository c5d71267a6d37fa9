/**
 * What belongs to a resource: its listeners, its sessions by server or by service, the connections of a session.
 */
import { useState } from 'preact/hooks';
import type { Answer, Client, SessionSearch } from 'gateway-admin-core/client';
import { linkTo } from 'gateway-admin-core';

import { deletingListener, type Subject } from './act.ts';
import { useAsking } from './asking.ts';
import { Copy } from './copy.tsx';
import { askToCreate } from './creation.ts';
import { healthOf } from './health.ts';
import { rowsOf, type Row } from './model.ts';
import { nameAt } from './name.ts';
import { usePage } from './page.ts';
import { Links, PlaceLink, ResourceLink, Shape, State } from './resource.tsx';
import { useStore } from './store.ts';
import { text } from './text.ts';

interface Props {
  readonly subject: Subject;
  readonly resource: Readonly<Record<string, unknown>>;
}

export function Belongings({ subject, resource }: Props) {
  const { collection, name, link } = subject;
  const { services = [] } = resource as { readonly services?: readonly string[] };
  switch (collection) {
    case 'services':
      return (
        <>
          <Listeners service={name} />
          <Shares
            of={{ service: name }}
            by="servers"
            links={resource['servers'] as readonly string[]}
            resource={resource}
          />
        </>
      );
    case 'servers':
      return <SharesOfServer server={name} link={link} resource={resource} />;
    case 'sessions':
      return <Connections session={Number(name)} resource={resource} />;
    case 'filters':
      return (
        <p>
          {text.columns.services}: {services.length === 0 ? text.plan.nothing : <Links links={services} />}
        </p>
      );
    case '':
      return <Probe />;
    default:
      return null;
  }
}

/** Where a probe asks whether the gateway is ready. */
function Probe() {
  const address = new URL('ready', usePage().address.replace(/\/*$/, '/')).href;
  const [before, after] = text.drawer.probe;
  return (
    <p class="probe">
      {before}
      <code>{address}</code>
      {after} <Copy value={address} />
    </p>
  );
}

/** What a request gives, asked again after each event, and for another key. */
function useAnswer<T>(ask: (() => Promise<Answer<T>>) | undefined, key: unknown): T | undefined {
  const page = usePage();
  const client = useStore(page.client);
  const { events } = useStore(page.model, 'events');
  const [value, setValue] = useState<T>();
  useAsking(
    // What goes wrong here goes wrong with the whole drawer, which says so.
    ask && (() => ask().catch(() => undefined)),
    (answer) => {
      if (answer?.ok === true) setValue(answer.value);
    },
    [client],
    [key, events[0]?.id],
  );
  return value;
}

function Listeners({ service }: { readonly service: string }) {
  const page = usePage();
  const client = useStore(page.client);
  const listeners = useAnswer(client && (() => client.services.listeners(service)), service)?.elements;
  if (listeners === undefined) return null;
  const { name: title, address: place, protocol: kind } = text.columns;
  return (
    <section aria-label={text.lists.listeners}>
      <h3>
        {text.lists.listeners}{' '}
        <button class="plain" onClick={() => void askToCreate(page, 'listeners', service)}>
          {text.add('listeners', service)}
        </button>
      </h3>
      {listeners.length === 0 && <p class="none">{text.drawer.noListeners}</p>}
      {listeners.length > 0 && (
        <table class="part">
          <thead>
            <tr>
              {[title, place, kind].map((each) => (
                <th key={each} scope="col">
                  {each}
                </th>
              ))}
              <td />
            </tr>
          </thead>
          <tbody>
            {listeners.map(({ name, protocol, address, port }) => {
              const whole = port === undefined ? address : `${address}:${String(port)}`;
              return (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>
                    {whole} <Copy value={whole} />
                  </td>
                  <td>{protocol}</td>
                  <td class="way">
                    <button class="plain danger" onClick={() => page.ask(deletingListener(service, name))}>
                      {text.verbs.delete} <span class="hidden">{name}</span>
                    </button>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** The sessions of so many servers or services are counted, each by a request of its own. */
const mostCounted = 12;

/** Counts the sessions that a search finds, as a whole and with each of some further criteria. */
async function countSessions(
  client: Client,
  searches: readonly SessionSearch[],
): Promise<Answer<readonly number[]>> {
  const totals: number[] = [];
  for (const search of searches) {
    const answer = await client.sessions.list({ ...search, range: [0, 0], fields: ['id'] });
    if (!answer.ok) return answer;
    totals.push(answer.value.total);
  }
  return { ok: true, status: 200, value: totals } as unknown as Answer<readonly number[]>;
}

interface ShareProps {
  readonly by: 'servers' | 'services';
  readonly link: string;
  readonly count: number;
  readonly all: number;
  /** What finds these sessions. */
  readonly search: SessionSearch;
}

function ShareRow({ by, link, count, all, search }: ShareProps) {
  const page = usePage();
  const model = useStore(page.model, 'lists');
  const row = rowsOf(model, by).find(({ name }) => linkTo(by, name) === link);
  const health = row && healthOf(model, by, row);
  const name = nameAt(model, link);
  return (
    <tr class={health?.tone}>
      <th scope="row">
        <div>
          {health !== undefined && <Shape tone={health.tone} />}
          <ResourceLink link={link} name={name} />
        </div>
      </th>
      <td>{health !== undefined && <State row={row as Row<'servers'>} health={health} model={model} />}</td>
      <td class="number">
        <PlaceLink
          label={`${text.sessions.total(count)}, ${name}`}
          to={{ view: 'sessions', search, open: '', chosen: undefined }}
        >
          {count.toLocaleString('en')}
        </PlaceLink>
      </td>
      <td>
        <meter value={count} max={Math.max(all, 1)} aria-label={text.drawer.share} />
      </td>
    </tr>
  );
}

interface SharesProps {
  readonly of: SessionSearch;
  readonly by: 'servers' | 'services';
  readonly links: readonly string[];
  /** The resource as it was read: counted anew with each reading, because no event tells of clients. */
  readonly resource: object;
}

/** The sessions of a service by server, or those of a server by service. */
function Shares({ of, by, links, resource }: SharesProps) {
  const page = usePage();
  const client = useStore(page.client);
  const model = useStore(page.model, 'lists');
  const shown = links.slice(0, mostCounted);
  const criterion = by === 'servers' ? 'server' : 'service';
  const searches = shown.map((link) => ({ ...of, [criterion]: nameAt(model, link) }));
  const totals = useAnswer(client && (() => countSessions(client, [of, ...searches])), resource);
  if (totals === undefined) return null;
  const [all = 0, ...each] = totals;
  return (
    <section aria-label={text.drawer.by[by]}>
      <h3>
        {text.drawer.by[by]}{' '}
        <PlaceLink to={{ view: 'sessions', search: of, open: '', chosen: undefined }}>
          {text.sessions.total(all)}
        </PlaceLink>
      </h3>
      {shown.length > 0 && (
        <table class="part shares">
          <thead>
            <tr>
              <th scope="col">{text.columns[criterion]}</th>
              <th scope="col">{text.columns.state}</th>
              <th scope="col" class="number">
                {text.columns.sessions}
              </th>
              <th scope="col">{text.drawer.share}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((link, at) => (
              <ShareRow
                key={link}
                by={by}
                link={link}
                count={each[at] ?? 0}
                all={all}
                search={searches[at] ?? of}
              />
            ))}
          </tbody>
        </table>
      )}
      {links.length > shown.length && <p class="more">{text.find.shown(shown.length, links.length)}</p>}
    </section>
  );
}

function SharesOfServer({
  server,
  link,
  resource,
}: {
  readonly server: string;
  readonly link: string;
  readonly resource: object;
}) {
  const page = usePage();
  const client = useStore(page.client);
  const model = useStore(page.model, 'lists');
  const total = useAnswer(
    client && (() => client.servers.connections(server, { range: [0, 0] })),
    resource,
  )?.total;
  const using = rowsOf(model, 'services').filter(({ servers }) => servers.includes(link));
  return (
    <>
      <Shares
        of={{ server }}
        by="services"
        links={using.map(({ name }) => linkTo('services', name))}
        resource={resource}
      />
      {total !== undefined && <p class="connections soft">{text.connections(total)}</p>}
    </>
  );
}

/** On which servers a session is. */
function Connections({ session, resource }: { readonly session: number; readonly resource: object }) {
  const page = usePage();
  const client = useStore(page.client);
  const all = useAnswer(client && (() => client.sessions.connections(session)), resource)?.elements;
  if (all === undefined) return null;
  const { server: title, state: how, role: what } = text.columns;
  return (
    <section aria-label={text.drawer.on}>
      <h3>{text.drawer.on}</h3>
      {all.length === 0 && <p class="none">{text.drawer.onNone}</p>}
      {all.length > 0 && (
        <table class="part">
          <thead>
            <tr>
              {[title, what, how].map((each) => (
                <th key={each} scope="col">
                  {each}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {all.map(({ server, role, state }, at) => (
              <tr key={at}>
                <th scope="row">
                  <Links links={[server]} />
                </th>
                <td>{role}</td>
                <td>{state}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
