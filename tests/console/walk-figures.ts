/**
 * The figures of the page against those of the interface.
 */
import { linkTo } from 'gateway-admin-core';
import type { ResultOf } from 'gateway-admin-core/client';
import type { Answer, Client } from 'gateway-admin-core/client';

import { places, type ColumnPlace } from '../../console/order.ts';
import type { Place } from '../../console/place.ts';
import { valueText } from '../../console/plan.ts';
import { text } from '../../console/text.ts';
import { spanText } from '../../console/time.ts';
import type { Figures } from './walk-page.ts';

/** Who looks is another one here. No event tells of the mode, so the page reads it once a minute. */
const unwatched = ['name', 'links', 'user', 'role', 'read_only'];

const isOld = (cell = ''): boolean => /\(\d+ \w+ old\)/.test(cell);

/** Each figure that is not as the interface has it, and does not say its age. */
export async function figureBreaches(
  figures: Figures,
  place: Place,
  client: Client,
): Promise<readonly string[]> {
  return [
    ...(await tableBreaches(figures, place, client)),
    ...(await topBreaches(figures, client)),
    ...(await drawerBreaches(figures, place, client)),
    ...(await sessionBreaches(figures, place, client)),
  ];
}

async function tableBreaches(
  { tables }: Figures,
  { view, find, only, closed }: Place,
  client: Client,
): Promise<readonly string[]> {
  if (view !== 'gateway') return [];
  const services = elementsOf(await client.services.list()).map((row) => ({
    ...{ name: row.name, state: row.drain === undefined ? row.state : drainOf(row.drain) },
    number: `${row.current_connections.toLocaleString('en')}${text.limit(row.max_connection ?? 0)}`,
    address: row.router,
  }));
  const servers = elementsOf(await client.servers.list()).map((row) => {
    const words = row.status.length === 0 ? text.state.down : row.status.join(', ');
    const state = row.drain === undefined ? words : `${words}, ${drainOf(row.drain)}`;
    const address = row.port === undefined ? row.address : `${row.address}:${String(row.port)}`;
    return { name: row.name, state, address };
  });
  const monitors = elementsOf(await client.monitors.list()).map(({ name, state, module: address }) => ({
    ...{ name, state, address },
  }));
  const nameOf = await readNames(client);
  const filters = elementsOf(await client.filters.list()).map(
    ({ name, module: address, services: links = [] }) => ({
      ...{ name, address, links: links.map(nameOf).join(', ') },
    }),
  );
  const lists = { services, servers, monitors, filters };
  if (find !== '') return [];
  const isWhole = (collection: string): boolean =>
    [only, closed].every((words: Readonly<Record<string, string>>) => words[collection] === undefined);
  return Object.entries(lists).flatMap(([collection, wanted]) => {
    const title = text.lists[collection as keyof typeof lists];
    return isWhole(collection) ? rowBreaches(title, tables[title] ?? [], wanted) : [];
  });
}

/** What a row is to show, by the place of the column. */
type Wanted = Readonly<Partial<Record<ColumnPlace, string>>>;

function rowBreaches(
  title: string,
  shown: readonly (readonly string[])[],
  wanted: readonly Wanted[],
): readonly string[] {
  // A person sorts them in many ways.
  const names = (each: readonly (string | undefined)[]): string => each.toSorted().join(', ');
  const [is, has] = [names(shown.map(([name]) => name)), names(wanted.map(({ name }) => name))];
  if (is !== has) return [`${title}: ${is}; GET has ${has}`];
  return wanted.flatMap((row) => {
    const cells = shown.find(([name]) => name === row.name) ?? [];
    return Object.entries(row).flatMap(([place, cell]) => {
      const value = cells[places.indexOf(place as ColumnPlace)] ?? '';
      // Behind the figure are its age, and why.
      const isSame = cell === '' ? value === '' : value === cell || /^[ ,:]/.test(value.slice(cell.length));
      return (isSame && value.startsWith(cell)) || isOld(value)
        ? []
        : [`${title}, ${row.name ?? ''}: “${value}”; GET has “${cell}”`];
    });
  });
}

async function topBreaches(figures: Figures, client: Client): Promise<readonly string[]> {
  const alerts = elementsOf(await client.alerts.list()).map(({ detail }) => detail);
  // The first ones, unless a person asks for all.
  const shown = figures.alerts;
  const isEnough = shown.length >= Math.min(4, alerts.length);
  return isEnough && JSON.stringify(shown) === JSON.stringify(alerts.slice(0, shown.length))
    ? []
    : [`Alerts: ${shown.join('; ')}; GET has ${alerts.join('; ')}`];
}

async function drawerBreaches({ drawer, connections }: Figures, { open }: Place, client: Client) {
  if (drawer === undefined || open === '') return [];
  const [, collection = '', name = ''] = open.split('/');
  const groups = client as unknown as Record<
    string,
    { get?: (...name: string[]) => Promise<Answer<object>> } | undefined
  >;
  const subject = name === '' ? [] : [nameInLinkOf(open)];
  const answer = await groups[collection === '' ? 'interface' : collection]
    ?.get?.(...subject)
    .catch(() => undefined);
  if (answer?.ok !== true) return drawer.fault === '' ? [`The drawer shows ${open}, which is gone`] : [];
  const nameOf = await readNames(client);
  const resource = Object.entries(answer.value).filter(([field]) => !unwatched.includes(field));
  const breaches = resource.flatMap(([field, value]) => {
    const wanted = fieldText(field, value, nameOf);
    const is = drawer.fields[field] ?? 'nothing at all';
    const isSame =
      field === 'drain' ? is.startsWith(wanted) : field === 'connected' ? is.endsWith(wanted) : is === wanted;
    return isSame || isOld(is) ? [] : [`${open} ${field}: “${is}”; GET has “${wanted}”`];
  });
  if (collection !== 'servers') return breaches;
  const list = await client.servers.connections(subject[0] ?? '', { range: [0, 0] });
  const total = list.ok ? text.connections(list.value.total) : '';
  return connections.startsWith(total) || isOld(connections)
    ? breaches
    : [...breaches, `${open}: “${connections}”; GET has “${total}”`];
}

async function sessionBreaches({ sessions }: Figures, { view, search }: Place, client: Client) {
  if (view !== 'sessions' || sessions === undefined || isOld(sessions.total)) return [];
  const answer = await client.sessions.list(search);
  if (!answer.ok) return [];
  const { elements, total } = answer.value;
  const nameOf = await readNames(client);
  const shown = text.sessions.total(total);
  if (!sessions.total.startsWith(shown)) return [`The list says “${sessions.total}”; GET has “${shown}”`];
  return sessions.rows.flatMap(([, id, user, service, , , idle]) => {
    const row = elements.find((each) => String(each.id) === id);
    if (row === undefined) return [`Session ${id ?? ''} is shown, and GET has none`];
    const wanted = [row.user, nameOf(row.service), spanText(Math.floor(row.idle))];
    const is = [user, service, idle];
    return JSON.stringify(is) === JSON.stringify(wanted)
      ? []
      : [`Session ${id ?? ''}: ${is.join(', ')}; GET has ${wanted.join(', ')}`];
  });
}

function elementsOf<T>(answer: Answer<{ readonly elements: readonly T[] }>): readonly T[] {
  return answer.ok ? answer.value.elements : [];
}

/** The names of resources, by their links. The page shows each as it was given; of what is gone, that in the link. */
async function readNames(client: Client): Promise<(link: string) => string> {
  const { services, servers, monitors, filters } = client;
  const lists = {
    services: elementsOf(await services.list()),
    servers: elementsOf(await servers.list()),
    monitors: elementsOf(await monitors.list()),
    filters: elementsOf(await filters.list()),
  };
  const names = new Map(
    Object.entries(lists).flatMap(([collection, rows]) =>
      rows.map(({ name }) => [linkTo(collection, name), name] as const),
    ),
  );
  return (link) => names.get(link) ?? nameInLinkOf(link);
}

function nameInLinkOf(link: string): string {
  return decodeURIComponent(link.slice(link.lastIndexOf('/') + 1));
}

function drainOf(drain: ResultOf<'servers.get'>['drain']): string {
  if (drain === undefined) return '';
  const { state, sessions, connections } = drain;
  return `${state}: ${text.drain.left(sessions, connections)}`;
}

function fieldText(field: string, value: unknown, nameOf: (link: string) => string): string {
  if (field === 'drain') return drainOf(value as never);
  // The page has another form, and the zone of the browser.
  if (field === 'connected') return /:\d\d:\d\d/.exec(String(value))?.[0] ?? '';
  const isLinks = (each: unknown): boolean => typeof each === 'string' && each.startsWith('/');
  if (Array.isArray(value) && value.length > 0 && value.every(isLinks))
    return value.map((each) => nameOf(String(each))).join(', ');
  return valueText(value).trim();
}
