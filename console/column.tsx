/**
 * The columns of the tables. All tables have the same places for them, so that they line up from table to table.
 */
import type { ComponentChildren } from 'preact';
import { linkTo } from 'gateway-admin-core';

import { actOn, changingPassword } from './act.ts';
import { ActButton } from './act-button.tsx';
import { lostOf, serverOf, tones, type Health } from './health.ts';
import { rowsOf, type Collection, type Model, type Row } from './model.ts';
import type { ColumnPlace } from './order.ts';
import {
  Behind,
  Count,
  Link,
  Links,
  NodeDrains,
  PlaceLink,
  ServerLinks,
  SessionCount,
  Since,
  State,
  Up,
} from './resource.tsx';
import { text } from './text.ts';
import { durationText } from './time.ts';

/** What the tables show. */
export type Shown = Pick<Model, 'lists' | 'trails' | 'gateway'>;

/** A column of a section. */
export interface Column<R = object> {
  readonly title: string;
  readonly cell: (row: R, model: Shown, health: Health) => ComponentChildren;
  /** What the rows are sorted by: a number begins with the largest one. Left out if they cannot be sorted by it. */
  readonly by?: (row: R, model: Shown, health: Health) => string | number;
  /** Whether there is something to show; left out for always. */
  readonly isThere?: (model: Shown) => boolean;
}

/** The columns of a section, by their places. */
export type Columns<R = object> = { readonly [P in ColumnPlace]?: Column<R> };

const { columns: title } = text;

/** The worst first. */
const byTone = (_row: object, _model: Shown, { tone }: Health): number => tones.length - tones.indexOf(tone);
const instant = (since = ''): number => Date.parse(since) || 0;

function named(collection: Collection): Column<{ readonly name: string }> {
  return {
    title: title.name,
    cell: ({ name }) => <Link collection={collection} name={name} />,
    by: ({ name }) => name,
  };
}

function stateOf<R extends Row<'services'> | Row<'servers'> | Row<'monitors'>>(
  collection: 'services' | 'servers' | 'monitors',
): Column<R> {
  return {
    title: title.state,
    cell: (row, model, health) => (
      <State row={row} health={health} model={model} at={model.lists[collection]?.at} />
    ),
    by: byTone,
  };
}

function since<R>(of: (row: R, model: Shown, health: Health) => string | undefined): Column<R> {
  return {
    title: title.since,
    cell: (...given) => <Since since={of(...given)} />,
    by: (...given) => instant(of(...given)),
  };
}

/** Since when a service lacks servers: since the last one of them went. */
function lackingSince(model: Shown, lost: readonly string[]): string | undefined {
  const times = lost
    .map((link) => serverOf(model, link))
    .map((each) => each?.drain?.since ?? each?.status_since);
  return times.sort((one, other) => instant(other) - instant(one))[0];
}

const serversOf = {
  title: title.servers,
  cell: ({ servers }, model) => <ServerLinks links={servers} model={model} />,
} satisfies Column<Pick<Row<'services'>, 'servers'>>;

const upOf = {
  title: title.up,
  cell: ({ servers }, model) => <Up links={servers} model={model} />,
  by: ({ servers }, model) => lostOf(model, servers)?.length ?? 0,
} satisfies Column<Pick<Row<'services'>, 'servers'>>;

/** The links of the services that use each server, of each reading: made once, and asked by each row. */
const users = new WeakMap<readonly Row<'services'>[], Map<string, string[]>>();

function servicesOf(model: Shown, server: string): readonly string[] {
  const services = rowsOf(model, 'services');
  let using = users.get(services);
  if (using === undefined) {
    using = new Map();
    for (const { name, servers } of services)
      for (const link of servers) using.set(link, [...(using.get(link) ?? []), linkTo('services', name)]);
    users.set(services, using);
  }
  return using.get(linkTo('servers', server)) ?? [];
}

/** As many services of a server have their names in its row. */
const mostNames = 3;

/** The services that use a server, or how many they are and the way to them. */
function Services({ of, links }: { readonly of: string; readonly links: readonly string[] }) {
  if (links.length <= mostNames) return <Links links={links} />;
  return <PlaceLink to={{ find: linkTo('servers', of) }}>{text.services(links.length)}</PlaceLink>;
}

/** The name of the parameter by which services weigh servers. */
function weightName(model: Shown): string | undefined {
  return rowsOf(model, 'services').find(({ weightby }) => weightby !== undefined)?.weightby;
}

function weightOf({ parameters }: Row<'servers'>, model: Shown): string | number {
  const weight = parameters[weightName(model) ?? ''];
  return typeof weight === 'boolean' ? '' : (weight ?? '');
}

/** The sections, in the order in which they are shown. */
export const sections = {
  services: {
    name: named('services'),
    state: stateOf('services'),
    since: since(
      ({ drain, state, state_since, started }, model, { lost = [] }) =>
        drain?.since ??
        lackingSince(model, lost) ??
        state_since ??
        (state === 'started' ? started : undefined),
    ),
    up: upOf,
    number: {
      title: title.sessions,
      cell: (row, model) => <SessionCount row={row} model={model} />,
      by: (row) => row.current_connections,
    },
    links: serversOf,
    address: { title: title.router, cell: ({ router }) => router, by: ({ router }) => router },
  } satisfies Columns<Row<'services'>>,
  servers: {
    name: named('servers'),
    state: stateOf('servers'),
    // The time is that of the other words.
    since: since(({ drain, status, status_since }) =>
      status.includes('maintenance') ? undefined : (drain?.since ?? status_since),
    ),
    up: {
      title: title.weight,
      cell: weightOf,
      by: (row, model) => Number(weightOf(row, model)),
      isThere: (model) => weightName(model) !== undefined,
    },
    links: {
      title: title.services,
      cell: ({ name }, model) => <Services of={name} links={servicesOf(model, name)} />,
      by: ({ name }, model) => servicesOf(model, name).length,
    },
    address: {
      title: title.address,
      cell: ({ address, port }) => (port === undefined ? address : `${address}:${String(port)}`),
      by: ({ address, port }) => `${address}:${String(port)}`,
    },
  } satisfies Columns<Row<'servers'>>,
  monitors: {
    name: named('monitors'),
    state: stateOf('monitors'),
    since: since(({ state_since }) => state_since),
    up: upOf,
    number: {
      title: title.every,
      cell: ({ monitor_interval: every }) => <Count>{durationText(every)}</Count>,
      by: ({ monitor_interval: every }) => every,
    },
    links: serversOf,
    address: { title: title.module, cell: ({ module }) => module, by: ({ module }) => module },
  } satisfies Columns<Row<'monitors'>>,
  filters: {
    name: named('filters'),
    links: { title: title.services, cell: ({ services }) => <Links links={services} /> },
    address: { title: title.module, cell: ({ module }) => module, by: ({ module }) => module },
  } satisfies Columns<Row<'filters'>>,
  fleet: {
    name: { title: title.node, cell: ({ node }) => node, by: ({ node }) => node },
    state: {
      title: title.state,
      cell: ({ node, alive, behind }) => (
        <>
          {alive ? text.state.alive : text.state.silent}
          {!alive && <ActButton act={actOn('fleet.forget', text.verbs.forget, node)} />}
          <Behind behind={behind} />
        </>
      ),
      by: byTone,
    },
    since: { title: title.seen, cell: ({ seen }) => durationText(seen * 1000), by: ({ seen }) => seen },
    links: { title: title.drain, cell: ({ drains }) => <NodeDrains drains={drains} /> },
  } satisfies Columns<Row<'fleet'>>,
  users: {
    name: { title: title.name, cell: ({ name }) => name, by: ({ name }) => name },
    state: {
      title: title.acts,
      cell: ({ name }) => (
        <>
          <ActButton act={changingPassword(name)} />{' '}
          <ActButton act={actOn('users.delete', text.verbs.delete, name, text.user(name))} />
        </>
      ),
    },
  } satisfies Columns<Row<'users'>>,
} satisfies { readonly [C in Collection]?: Columns<Row<C>> };

export type SectionName = keyof typeof sections;
