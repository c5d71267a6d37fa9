/**
 * The table of everything: a section for each kind of resource.
 */
import type { ComponentChildren } from 'preact';
import { linkTo, type DrainRepresentation } from 'gateway-admin-core';

import { rowFits } from './find.ts';
import { rowsOf, type Collection, type Model, type Row, type Trail } from './model.ts';
import { sinceInstant, useNow } from './now.ts';
import { usePage } from './page.ts';
import { useStore } from './store.ts';
import { text } from './text.ts';
import { durationText, whenText } from './time.ts';

/** A column of a section. */
interface Column<R> {
  readonly title: string;
  readonly cell: (row: R, model: Model) => ComponentChildren;
  readonly isNumber?: true;
}

const columns = <R,>(...each: readonly Column<R>[]): readonly Column<R>[] => each;

/** The sections, in the order in which they are shown. */
const sections: { readonly [C in Collection]?: readonly Column<Row<C>>[] } = {
  services: columns<Row<'services'>>(
    { title: text.columns.name, cell: ({ name }) => <Link collection="services" name={name} /> },
    { title: text.columns.state, cell: (row) => <State {...row} /> },
    {
      title: text.columns.sessions,
      isNumber: true,
      cell: (row, model) => <SessionCount row={row} model={model} />,
    },
    { title: text.columns.servers, cell: ({ servers }) => <Links links={servers} /> },
    { title: text.columns.drain, cell: ({ drain }) => <DrainState drain={drain} /> },
  ),
  servers: columns<Row<'servers'>>(
    { title: text.columns.name, cell: ({ name }) => <Link collection="servers" name={name} /> },
    { title: text.columns.state, cell: (row) => <ServerState {...row} /> },
    {
      title: text.columns.address,
      cell: ({ address, port }) => (port === undefined ? address : `${address}:${String(port)}`),
    },
    { title: text.columns.drain, cell: ({ drain }) => <DrainState drain={drain} /> },
  ),
  monitors: columns<Row<'monitors'>>(
    { title: text.columns.name, cell: ({ name }) => <Link collection="monitors" name={name} /> },
    { title: text.columns.state, cell: (row) => <State {...row} /> },
    { title: text.columns.module, cell: ({ module }) => module },
    { title: text.columns.servers, cell: ({ servers }) => <Links links={servers} /> },
  ),
  filters: columns<Row<'filters'>>(
    { title: text.columns.name, cell: ({ name }) => <Link collection="filters" name={name} /> },
    { title: text.columns.module, cell: ({ module }) => module },
    { title: text.columns.services, cell: ({ services }) => <Links links={services} /> },
  ),
  fleet: columns<Row<'fleet'>>(
    { title: text.columns.node, cell: ({ node }) => node },
    {
      title: text.columns.state,
      cell: ({ alive }) => (
        <span class={alive ? 'good' : 'bad'}>{alive ? text.node.alive : text.node.silent}</span>
      ),
    },
    { title: text.columns.behind, cell: ({ behind }) => <Behind behind={behind} /> },
    { title: text.columns.seen, cell: ({ seen }) => whenText(seen) },
  ),
  users: columns<Row<'users'>>({ title: text.columns.name, cell: ({ name }) => name }),
};

export function Tables() {
  const page = usePage();
  const model = useStore(page.model);
  const { find } = useStore(page.place);
  return (
    <>
      {(Object.keys(sections) as (keyof typeof sections)[]).map((collection) => (
        <Section key={collection} collection={collection} model={model} find={find} />
      ))}
    </>
  );
}

function Section({
  collection,
  model,
  find,
}: {
  readonly collection: Collection;
  readonly model: Model;
  readonly find: string;
}) {
  const reading = model.lists[collection];
  const rows = rowsOf(model, collection);
  const shown = rows.filter((row) => rowFits(find, row));
  const list = (sections[collection] ?? []) as readonly Column<object>[];
  // Lists that are empty by nature say nothing.
  if (reading === undefined || (reading.total === 0 && collection !== 'services')) return null;
  return (
    <section aria-label={text.lists[collection]}>
      <h2>
        {text.lists[collection]}{' '}
        <span class="soft">
          {shown.length === reading.total
            ? String(reading.total)
            : text.find.shown(shown.length, reading.total)}
        </span>
      </h2>
      <div class="scroll" tabIndex={0} role="group" aria-label={text.lists[collection]}>
        <table>
          <thead>
            <tr>
              {list.map(({ title, isNumber }) => (
                <th key={title} scope="col" class={isNumber && 'number'}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={nameOf(row)} data-row>
                {list.map(({ title, cell, isNumber }) => (
                  <td key={title} class={isNumber && 'number'}>
                    {cell(row, model)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length === 0 && <p class="none">{text.find.nothing}</p>}
    </section>
  );
}

function nameOf(row: object): string {
  const { name, node } = row as { readonly name?: string; readonly node?: string };
  return name ?? node ?? '';
}

function Link({ collection, name }: { readonly collection: string; readonly name: string }) {
  return <ResourceLink link={linkTo(collection, name)} name={name} />;
}

/** A link that opens the drawer of a resource. */
export function ResourceLink({ link, name }: { readonly link: string; readonly name: string }) {
  const page = usePage();
  const { open } = useStore(page.place);
  return (
    <button
      type="button"
      class="link"
      aria-expanded={open === link}
      onClick={() => page.go({ open: link, tab: 'state' })}
    >
      {name}
    </button>
  );
}

function Links({ links = [] }: { readonly links?: readonly string[] | undefined }) {
  return (
    <>
      {links.map((link, at) => (
        <span key={link}>
          {at > 0 && ', '}
          <ResourceLink link={link} name={nameInLink(link)} />
        </span>
      ))}
    </>
  );
}

export function nameInLink(link: string): string {
  const name = link.slice(link.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function Since({ since }: { readonly since?: string | undefined }) {
  useNow();
  if (since === undefined) return null;
  return (
    <time class="soft" dateTime={since} title={whenText(Date.parse(since))}>
      {' '}
      {durationText(sinceInstant(since))}
    </time>
  );
}

function State({
  state,
  state_reason: reason,
  state_since: since,
  started,
}: Pick<Row<'services'>, 'state' | 'state_reason' | 'state_since' | 'started'>) {
  const tone = state === 'failed' ? 'bad' : state === 'started' ? 'good' : 'soft';
  return (
    <>
      <span class={tone}>{state}</span>
      <Since since={since ?? (state === 'started' ? started : undefined)} />
      {reason !== undefined && <span class="reason"> {reason}</span>}
    </>
  );
}

function ServerState({ status, status_reason: reason, status_since: since }: Row<'servers'>) {
  const isDown = status.length === 0;
  return (
    <>
      <span class={isDown ? 'bad' : status.includes('maintenance') ? 'soft' : 'good'}>
        {isDown ? text.state.down : status.join(', ')}
      </span>
      <Since since={since} />
      {reason !== undefined && <span class="reason"> {reason}</span>}
    </>
  );
}

function SessionCount({ row, model }: { readonly row: Row<'services'>; readonly model: Model }) {
  const page = usePage();
  const { name, current_connections: count, max_connection: limit = 0 } = row;
  return (
    <>
      <Spark trail={model.trails.get(name) ?? []} />
      <button
        type="button"
        class="link"
        aria-label={`${text.sessions.total(count)}, ${name}`}
        onClick={() => page.go({ view: 'sessions', search: { service: name }, open: '' })}
      >
        {count.toLocaleString('en')}
      </button>
      {text.limit(limit)}
      <Age at={model.lists.services?.at} />
    </>
  );
}

/** How old a number is, if it is older than five seconds. */
export function Age({ at }: { readonly at: number | undefined }) {
  const now = useNow();
  if (at === undefined || now - at <= 5000) return null;
  return <span class="soft"> {text.old(durationText(now - at))}</span>;
}

/** The last values of a counter, as a line. */
function Spark({ trail }: { readonly trail: Trail }) {
  if (trail.length < 2) return null;
  const most = Math.max(...trail, 1);
  const points = trail.map((value, at) => `${String(at)},${String(12 - (11 * value) / most)}`).join(' ');
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${String(trail.length - 1)} 12`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polyline points={points} />
    </svg>
  );
}

export function DrainState({ drain }: { readonly drain?: Omit<DrainRepresentation, 'from'> | undefined }) {
  if (drain === undefined) return null;
  const { state, sessions, connections, until, then, reason } = drain;
  return (
    <>
      <strong>{text.drain.words[state]}</strong>: {text.drain.left(sessions, connections)}
      {until !== undefined && (
        <span class="soft"> {text.drain.until(whenText(Date.parse(until)), then ?? '')}</span>
      )}
      {reason !== undefined && <span class="reason"> {reason}</span>}
    </>
  );
}

function Behind({ behind }: { readonly behind: Row<'fleet'>['behind'] }) {
  if (behind.length === 0) return null;
  return (
    <details>
      <summary class="bad">{text.node.behind(behind.length)}</summary>
      <ul>
        {behind.map(({ resource, since, detail }) => (
          <li key={resource}>
            <ResourceLink link={resource} name={resource} />
            <Since since={since} /> {detail}
          </li>
        ))}
      </ul>
    </details>
  );
}
