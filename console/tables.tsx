/**
 * The table of everything: a section for each kind of resource.
 */
import type { ComponentChildren } from 'preact';

import { actOn, changingPassword, type Act } from './act.ts';
import { askToCreate } from './creation.ts';
import { rowFits } from './find.ts';
import { rowsOf, type Collection, type Model, type Row } from './model.ts';
import { usePage } from './page.ts';
import {
  Behind,
  DrainState,
  Link,
  Links,
  Age,
  NodeDrains,
  ServerLinks,
  ServerState,
  SessionCount,
  State,
} from './resource.tsx';
import { useStore } from './store.ts';
import { text } from './text.ts';
import { durationText } from './time.ts';

/** What the tables show. */
type Shown = Pick<Model, 'lists' | 'trails' | 'gateway'>;

/** A column of a section. */
interface Column<R> {
  readonly title: string;
  readonly cell: (row: R, model: Shown) => ComponentChildren;
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
    {
      title: text.columns.servers,
      cell: ({ servers }, model) => <ServerLinks links={servers} model={model} />,
    },
    {
      title: text.columns.drain,
      cell: ({ drain }, { lists }) => <DrainState drain={drain} at={lists.services?.at} />,
    },
  ),
  servers: columns<Row<'servers'>>(
    { title: text.columns.name, cell: ({ name }) => <Link collection="servers" name={name} /> },
    { title: text.columns.state, cell: (row) => <ServerState {...row} /> },
    {
      title: text.columns.address,
      cell: ({ address, port }) => (port === undefined ? address : `${address}:${String(port)}`),
    },
    {
      title: text.columns.drain,
      cell: ({ drain }, { lists }) => <DrainState drain={drain} at={lists.servers?.at} />,
    },
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
    { title: text.columns.drain, cell: ({ drains }) => <NodeDrains drains={drains} /> },
    { title: text.columns.behind, cell: ({ behind }) => <Behind behind={behind} /> },
    {
      title: text.columns.seen,
      cell: ({ seen, alive, node }) => (
        <>
          {text.ago(durationText(seen * 1000))}{' '}
          {!alive && <ActButton act={actOn('fleet.forget', text.verbs.forget, node)} />}
        </>
      ),
    },
  ),
  users: columns<Row<'users'>>(
    { title: text.columns.name, cell: ({ name }) => name },
    {
      title: text.columns.acts,
      cell: ({ name }) => (
        <>
          <ActButton act={changingPassword(name)} />{' '}
          <ActButton act={actOn('users.delete', text.verbs.delete, name, text.user(name))} />
        </>
      ),
    },
  ),
};

export function Tables() {
  const page = usePage();
  const model = useStore(page.model, 'lists', 'trails', 'gateway');
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
  readonly model: Shown;
  readonly find: string;
}) {
  const reading = model.lists[collection];
  const rows = rowsOf(model, collection);
  const shown = rows.filter((row) => rowFits(find, row));
  const isGrowing = growing.includes(collection);
  // A list to which nothing can be added says nothing while it is empty.
  if (reading === undefined || (reading.total === 0 && !isGrowing)) return null;
  return (
    <section aria-label={text.lists[collection]}>
      <div class="title">
        <h2>
          {text.lists[collection]}{' '}
          <span class="soft">
            {shown.length === reading.total
              ? String(reading.total)
              : text.find.shown(shown.length, reading.total)}
            <span class="when-stale">
              <Age at={reading.at} />
            </span>
          </span>
        </h2>
        {collection === 'services' && rowsOf(model, 'fleet').length > 0 && (
          <p class="soft">{text.ofThisNode}</p>
        )}
        {isGrowing && <Adding collection={collection} model={model} />}
      </div>
      {shown.length > 0 && <Rows collection={collection} rows={shown} model={model} />}
      {shown.length === 0 && (
        <p class="none">
          {rows.length < reading.total ? text.find.noneOf(rows.length, reading.total) : text.find.none}
        </p>
      )}
    </section>
  );
}

interface RowsProps {
  readonly collection: Collection;
  readonly rows: readonly object[];
  readonly model: Shown;
}

function Rows({ collection, rows, model }: RowsProps) {
  const list = (sections[collection] ?? []) as readonly Column<object>[];
  return (
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
          {rows.map((row) => (
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
  );
}

function nameOf(row: object): string {
  const { name, node } = row as { readonly name?: string; readonly node?: string };
  return name ?? node ?? '';
}

/** Lists to which something can be added. */
const growing: readonly Collection[] = ['services', 'servers', 'monitors', 'filters', 'users'];

/** The button that adds to a list, or why that is not possible. */
function Adding({ collection, model }: { readonly collection: Collection; readonly model: Shown }) {
  const page = usePage();
  const may = model.gateway?.may.find(({ id }) => id === `${collection}.create`);
  const reason = may?.allowed === false ? may.detail : undefined;
  return (
    <SmallButton
      title={text.add(collection)}
      reason={reason}
      press={() => void askToCreate(page, collection)}
    />
  );
}

function ActButton({ act }: { readonly act: Act }) {
  const page = usePage();
  return <SmallButton title={act.title} press={() => page.ask(act)} />;
}

interface SmallButtonProps {
  readonly title: string;
  readonly press: () => void;
  /** Why the button does nothing; left out if it does. */
  readonly reason?: string | undefined;
}

function SmallButton({ title, press, reason }: SmallButtonProps) {
  return (
    <button
      class="small"
      title={reason}
      aria-disabled={reason !== undefined}
      onClick={() => reason === undefined && press()}
    >
      {title}
      {reason !== undefined && <span class="hidden">: {reason}</span>}
    </button>
  );
}
