/**
 * `status`, `list` and `show`: what the interface shows, as tables.
 */
import type { Client, EndpointId, ResultOf } from '../client/index.ts';
import type { May } from '../index.ts';
import type { AlertRepresentation } from '../resources/alert.ts';
import type { FleetLagRepresentation, FleetNodeRepresentation } from '../resources/fleet.ts';
import { endpoints } from '../http/endpoint.ts';
import { shownTag, valueOrEnd } from './answer.ts';
import { CommandError, connectionOptions, exitCodes, wrongUse, type Call, type Command } from './command.ts';
import { conditionsOf, meeting, whereOption, type Row } from './condition.ts';
import { connect, methodOf } from './connection.ts';
import { isUnreported, leftText } from './draining.ts';
import { kindOf, kinds, owners, partLists, plurals, singles, type KnownList } from './kind.ts';
import {
  cellOf,
  columns,
  counted,
  fieldCell,
  jsonText,
  safeText,
  timeText,
  type Cells,
  type Output,
} from './output.ts';
import { assertField } from './meaning.ts';
import { placeOf } from './place.ts';
import { assertNamed, chosenBy, criteriaOptions } from './session.ts';

/** The command `status`. */
export const status: Command = {
  does: 'Shows what is wrong, since when and why, with the numbers of services, servers and sessions.',
  options: connectionOptions,
  examples: ['status', 'status --json'],
  notes: [`If an alert is an error, the command ends with exit code ${String(exitCodes.wrong)}.`],
  async run(call) {
    const { output } = call;
    const client = await connect(call);
    const state = valueOrEnd(await client.interface.get());
    const { counts, drains } = await foundIn(client);
    const { elements: alerts } = valueOrEnd(await client.alerts.list());
    const { links: _links, ...shown } = state;
    if (output.isJson) output.json({ interface: shown, counts, drains, alerts });
    else {
      const { user, role, read_only: isHeld } = state;
      output.lines(
        ...columns([
          ['gateway', (await placeOf(call, client)).text],
          ...(user === undefined ? [] : [['user', userText(user, role)]]),
          ...Object.entries(counts).map(([kind, count]) => [kind, countText(kind, count)]),
          ...drainLines(drains).map((line, at) => [at === 0 ? 'drains' : '', line]),
          ...(isHeld ? [['mode', heldText(state)]] : []),
        ]),
        '',
      );
      if (alerts.length === 0) output.lines(`Nothing is wrong${closingText(drains)}.`);
      else {
        output.table(['level', 'since', 'resource', 'detail'], alerts.map(cellsOf));
        output.lines(...actLines(alerts));
      }
    }
    const errors = alerts.filter(({ level }) => level === 'error').length;
    if (errors > 0) throw new CommandError(`${counted(errors, 'error')}.`, exitCodes.wrong);
  },
};

type Held = Pick<ResultOf<'interface.get'>, `read_only_${'since' | 'by' | 'reason'}`>;

/** How many there are of a kind, and how many of them serve. */
interface Count {
  readonly all: number;
  readonly up?: number;
  readonly maintenance?: number;
  readonly draining?: number;
}

/** A drain as a list shows it. */
type ShownDrain = NonNullable<ResultOf<'servers.get'>['drain']>;

/** The drain of a service or server. */
interface Drain extends ShownDrain {
  readonly kind: 'service' | 'server';
  readonly name: string;
}

interface Found {
  readonly counts: Readonly<Record<string, Count>>;
  readonly drains: readonly Drain[];
}

/** The numbers of each kind, and what drains. Of the sessions, only the number is read. */
async function foundIn(client: Client): Promise<Found> {
  const { elements: services } = valueOrEnd(
    await client.services.list({ fields: ['name', 'state', 'drain'] }),
  );
  const { elements: servers } = valueOrEnd(
    await client.servers.list({ fields: ['name', 'status', 'drain'] }),
  );
  const { elements: monitors } = valueOrEnd(await client.monitors.list({ fields: ['state'] }));
  const { total } = valueOrEnd(await client.sessions.list({ range: [0, 0] }));
  const started = (things: readonly { readonly state: string }[]): Count => ({
    all: things.length,
    up: things.filter(({ state }) => state === 'started').length,
  });
  const [draining, drainingServers] = [drainsIn('service', services), drainsIn('server', servers)];
  const inMaintenance = servers.filter(({ status: words }) => words.includes('maintenance'));
  return {
    counts: {
      services: { ...started(services), draining: draining.length },
      servers: {
        all: servers.length,
        up: servers.filter(takesSessions).length,
        maintenance: inMaintenance.length,
        draining: drainingServers.length,
      },
      monitors: started(monitors),
      sessions: { all: total },
    },
    drains: [...draining, ...drainingServers],
  };
}

function takesSessions({
  status: words,
  drain,
}: {
  readonly status: readonly string[];
  readonly drain?: object;
}): boolean {
  return words.includes('running') && !words.includes('maintenance') && drain === undefined;
}

function drainsIn(
  kind: Drain['kind'],
  things: readonly { readonly name: string; readonly drain?: ShownDrain }[],
): readonly Drain[] {
  return things.flatMap(({ name, drain }) => (drain === undefined ? [] : [{ kind, name, ...drain }]));
}

/** That the interface is read-only, since when, by whom and why. */
function heldText({ read_only_since: since, read_only_by: by, read_only_reason: reason }: Held): string {
  const begun = `${since === undefined ? '' : ` since ${timeText(since)}`}${by === undefined ? '' : ` by ${by}`}`;
  return safeText(`read-only${begun}${reason === undefined ? '' : `: ${reason}`}`);
}

function userText(user: string, role: string | undefined): string {
  return safeText(role === undefined ? user : `${user} (${role})`);
}

function countText(kind: string, { all, up = all, maintenance = 0, draining = 0 }: Count): string {
  const words = [
    // A server that runs takes no sessions in maintenance.
    [up, kind === 'servers' ? 'usable' : 'run'],
    [maintenance, 'in maintenance'],
    [draining, 'draining'],
  ] as const;
  const shown = words.filter(([count], at) => at === 0 || count > 0);
  const parts = shown.map(([count, word]) => `${count.toLocaleString('en')} ${word}`);
  return [all.toLocaleString('en'), ...(up === all ? [] : [`of which ${parts.join(', ')}`])].join(', ');
}

/** The most drains that are shown. */
const mostDrains = 10;

function drainLines(drains: readonly Drain[]): readonly string[] {
  const more = drains.length - mostDrains;
  return [
    ...drains.slice(0, mostDrains).map((drain) => safeText(drainText(drain))),
    ...(more > 0 ? [`${more.toLocaleString('en')} more`] : []),
  ];
}

function drainText(drain: Drain): string {
  const { name, state, until, then } = drain;
  const left = isUnreported(drain) ? 'not reported yet' : `${leftOf(drain)} left`;
  // Of what is drained, a deadline closes nothing.
  const isEndless = until === undefined || (state === 'drained' && then === 'close');
  const end = isEndless ? '' : `, ${then === 'close' ? 'closes' : 'ends'} at ${timeText(until)}`;
  return `${name}: ${state === 'drained' ? 'drained' : left}${end}`;
}

/** What is left of a service or server. */
function leftOf({ kind, sessions, connections }: Drain): string {
  return kind === 'service' ? counted(sessions, 'session') : counted(connections, 'connection');
}

/** What deadlines will close; empty if nothing. */
function closingText(drains: readonly Drain[]): string {
  const closing = drains.filter(({ state, then }) => state === 'draining' && then === 'close').map(leftOf);
  return closing.length === 0 ? '' : ` now. Deadlines will close ${closing.join(' and ')}`;
}

function cellsOf({ level, since, resource, detail }: AlertRepresentation): Cells {
  return [level, since === undefined ? '-' : timeText(since), safeText(resource), safeText(detail)];
}

/** What the user can do about the alerts. */
function actLines(alerts: readonly AlertRepresentation[]): readonly string[] {
  const texts = new Set(alerts.flatMap(({ acts = [] }) => acts.map(({ text }) => safeText(text))));
  return texts.size === 0 ? [] : ['', 'What you can do:', ...[...texts].map((text) => `  ${text}`)];
}

/** A list as the client gives it. */
export interface Page {
  readonly elements: readonly Row[];
  readonly total: number;
}

/** What a list command asks for. */
export interface Listing {
  readonly id: EndpointId;
  /** The name of the resource to which the list belongs. */
  readonly subject: readonly string[];
  readonly columns: readonly string[];
  /** The fields that the user has chosen; left out if the user has chosen none. */
  readonly chosen?: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** The other list of connections: there, all rows have the same service. */
const ofSession: KnownList = {
  id: 'sessions.connections',
  columns: ['server', 'state', 'role', 'statistics'],
};

/** The number of sessions that a person sees if nobody says which. */
const mostSessions = 100;

/** The command `list`. */
export const list: Command = {
  does: 'Lists services, servers, sessions and so on.',
  arguments: [
    { name: 'kind', choices: [...plurals, ...Object.keys(owners)] },
    { name: 'name', names: owners, optional: true },
  ],
  options: {
    ...whereOption,
    range: {
      value: '0-99',
      does: 'only the elements at these positions; a table has the first 100 sessions if left out',
    },
    fields: { value: 'A,B', does: 'the fields to show, separated by commas', names: 'fields' },
    sort: { value: 'FIELD', does: 'sort by a field; with - before it, the largest first', names: 'field' },
    ...criteriaOptions,
    session: { value: 'ID', does: 'the connections of this session', names: 'session' },
    ...connectionOptions,
    output: {
      ...connectionOptions.output,
      does: `wide for all fields, name for names alone, ${connectionOptions.output.does}`,
      choices: ['wide', 'name', ...connectionOptions.output.choices],
    },
  },
  notes: ['Listeners are listed of a service, connections of a server or, with --session, of a session.'],
  examples: [
    'list services',
    'list servers --where status=down -o name',
    'list sessions --service sales --sort=-idle',
    "list services -o 'jsonpath={[*].name}'",
  ],
  async run(call) {
    const { output } = call;
    const listing = listingOf(call);
    const page = await read(await connect(call), call, listing);
    if (output.isJson) output.json(page.elements);
    else print(call, listing, page);
    const { length } = page.elements;
    if (length < page.total)
      output.note(`${length.toLocaleString('en')} of ${page.total.toLocaleString('en')}`);
  },
};

/** The rows of a list that a call asks for, in its order. A table of sessions has the first ones. */
async function arranged(call: Call, { id, chosen }: Listing, page: Page): Promise<Page> {
  const { valueOf: given, words, output } = call;
  const elements = await meeting(call, id, page.elements);
  const total = page.total - (page.elements.length - elements.length);
  const isCut = words[0] === 'sessions' && isForPeople(output) && given('range') === undefined;
  const field = given('sort');
  const order = field === undefined ? undefined : await orderBy(id, field, page.elements);
  const sorted = order === undefined ? elements : elements.toSorted(order);
  const rows = isCut ? sorted.slice(0, mostSessions) : sorted;
  const isWhole = chosen === undefined || fieldsNeeded(call, { id }).length === 0;
  return { total, elements: isWhole ? rows : rows.map((row) => partOf(row, chosen)) };
}

/** The chosen fields of a row, without those that were read to choose the row. */
function partOf(row: Row, fields: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([field]) => fields.includes(field)));
}

/** The order of a field; the other way with `-` before it. */
async function orderBy(
  id: EndpointId,
  field: string,
  rows: readonly Row[],
): Promise<(one: Row, other: Row) => number> {
  const [, sign, name = ''] = /^(-?)(.*)$/s.exec(field) ?? [];
  await assertField(id, name, rows);
  return (one, other) => compared(one[name], other[name]) * (sign === '-' ? -1 : 1);
}

const byText = new Intl.Collator('en', { numeric: true });

/** Compares two values of a field: numbers by size, anything else as text. What is not set comes first. */
function compared(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  const [left, right] = [one, other].map((value) => {
    if (value === undefined) return '';
    return typeof value === 'string' ? timeText(value) : JSON.stringify(value);
  }) as [string, string];
  return byText.compare(left, right);
}

/** What the arguments and options of a call ask for. */
export function listingOf(call: Call): Listing {
  const {
    words: [kind = '', name],
    valueOf: given,
    output,
  } = call;
  const session = given('session');
  const known = listOf(kind, name, session);
  const isSessions = known.id === 'sessions.list';
  const { options: criteria, search } = chosenBy(call);
  if (criteria.length > 0 && !isSessions)
    throw wrongUse(`Only sessions can be searched: --${criteria.join(', --')}.`);
  const needed = fieldsNeeded(call, known);
  // What comes first, and what meets conditions, is known of a whole list alone.
  const isCut = isSessions && isForPeople(output) && needed.length === 0;
  const range = rangeOf(given('range')) ?? (isCut ? ([0, mostSessions - 1] as const) : undefined);
  const chosen = given('fields')?.split(',');
  const fields = chosen ?? (known.asks === true && !output.isJson ? known.columns : undefined);
  return {
    id: known.id,
    subject: [name, session].flatMap((each) => each ?? []),
    columns: chosen ?? known.columns,
    ...(chosen !== undefined && { chosen }),
    options: {
      ...(fields === undefined ? {} : { fields: [...new Set([...fields, ...needed])] }),
      ...(range === undefined ? {} : { range }),
      ...search,
    },
  };
}

/** The fields by which a call sorts and chooses. */
function fieldsNeeded(call: Call, { id }: Pick<KnownList, 'id'>): readonly string[] {
  const [group = ''] = id.split('.');
  const sort = call.valueOf('sort')?.replace(/^-/, '');
  const heads = conditionsOf(call).map(({ path }) => path.split('.')[0] ?? '');
  // The state of what drains says so.
  const hasDrain =
    `${group}.drain` in endpoints && heads.some((head) => head === 'state' || head === 'status');
  return [...(sort === undefined ? [] : [sort]), ...heads, ...(hasDrain ? ['drain'] : [])];
}

/** Whether a list is a table, which has the first sessions alone. */
function isForPeople(output: Output): boolean {
  return !output.isJson && !output.is('name');
}

/** The list that is meant, by its kind and the resource to which it belongs. */
function listOf(kind: string, name: string | undefined, session: string | undefined): KnownList {
  const owner = (owners as Readonly<Record<string, string>>)[kind];
  if (session !== undefined) {
    if (kind !== 'connections') throw wrongUse('Only connections can be listed of a session.');
    if (name !== undefined)
      throw wrongUse('list connections takes the name of a server or --session, not both.');
    if (session === '') throw wrongUse('The session has no id. Try: gateway-admin list sessions');
    return ofSession;
  }
  const or = kind === 'connections' ? ', or --session ID' : '';
  if (owner !== undefined && name === undefined)
    throw wrongUse(`list ${kind} needs the name of a ${owner}${or}.`);
  if (owner === undefined && name !== undefined)
    throw wrongUse(`list ${kind} takes no name. Try: gateway-admin show ${kind} ${name}`);
  return partLists[kind] ?? { id: kindOf(kind).list, columns: kindOf(kind).columns };
}

export function rangeOf(text: string | undefined): readonly [number, number] | undefined {
  if (text === undefined) return undefined;
  const [, first, last] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  if (first !== undefined && last !== undefined) return [Number(first), Number(last)];
  throw wrongUse('A range has the form 0-99: the first and the last position.');
}

/**
 * Reads a list, with the rows and the order that a call asks for. A search for the sessions of a service or server that
 * does not exist ends the command.
 */
export async function read(client: Client, call: Call, listing: Listing): Promise<Page> {
  const { id, subject, options } = listing;
  const page = valueOrEnd(await methodOf(client, id)(...subject, options)) as Page;
  if (id === 'sessions.list' && page.total === 0) await assertNamed(client, options);
  return arranged(call, listing, page);
}

/** Prints a list as a table, or the names alone, as a command takes them. */
export function print({ output, words: [kind = ''] }: Call, listing: Listing, page: Page): void {
  const { elements } = page;
  const [first = ''] = listing.columns;
  if (output.is('name'))
    return output.lines(...elements.map((row) => cellIn(row, first).replace(/\s/g, '-')));
  if (elements.length === 0) return output.lines(`No ${kind}.`);
  const { header, rows, below = [] } = tableOf(listing, page, output.is('wide'));
  output.table(header, rows);
  if (below.length > 0) output.lines('', ...below);
}

/** Nodes have a table of their own, unless the user has chosen the fields. A wide table has every field that is set. */
function tableOf(listing: Listing, { elements }: Page, isWide: boolean): Table {
  const { id, chosen, columns: usual, options } = listing;
  const { range: [first] = [0] } = options as { readonly range?: readonly number[] };
  if (id === 'fleet.list' && chosen === undefined && !isWide) return nodeTable(elements as never, first ?? 0);
  const others = isWide && chosen === undefined ? elements.flatMap((row) => Object.keys(row)) : [];
  const header = [...new Set([...usual, ...others])];
  return { header, rows: elements.map((element) => header.map((field) => cellIn(element, field))) };
}

/** What a table shows of a row, as one text, but for the time that passes. */
export function shownText({ columns: fields }: Listing, row: Row): string {
  return jsonText(fields.filter((field) => field !== 'idle').map((field) => cellIn(row, field)));
}

/** A field of a row. The state of what drains says so. */
function cellIn(element: Row, field: string): string {
  // Not what every object has: a field can be named constructor.
  const cell = fieldCell(field, Object.hasOwn(element, field) ? element[field] : undefined);
  const { drain } = element as { readonly drain?: { readonly state?: unknown } | null };
  const isState = field === 'state' || field === 'status';
  return isState && typeof drain?.state === 'string' ? `${cell}, ${safeText(drain.state)}` : cell;
}

/** A table, with what stands below. */
interface Table {
  readonly header: Cells;
  readonly rows: readonly Cells[];
  /** Lines below the table. */
  readonly below?: readonly string[];
}

/**
 * The table of the nodes of a fleet: a line for each node, and below the table what drains have left there, and why
 * nodes are behind.
 *
 * @param nodes - nodes in the order of the interface, whose first one is the node that was asked
 * @param first - the position of the first of them in the whole list
 */
function nodeTable(nodes: readonly FleetNodeRepresentation[], first: number): Table {
  const newest = first === 0 ? nodes[0]?.position : undefined;
  return {
    header: ['node', 'state', 'version', 'configuration', 'seen'],
    rows: nodes.map((node) => [
      safeText(node.node),
      node.alive ? 'alive' : 'silent',
      safeText(node.version),
      configurationOf(node, newest),
      agoOf(node.seen),
    ]),
    below: nodes.flatMap(({ node, behind, drains = [] }) =>
      [
        ...drains.flatMap((drain) =>
          drain.state === 'draining' ? [`${drain.resource} drains, ${leftText(drain)}`] : [],
        ),
        ...behind.flatMap((lag) => (lag.detail === undefined ? [] : [reasonOf(lag)])),
      ].map((text) => safeText(`${node}: ${text}`)),
    ),
  };
}

/** How a node stands to the configuration of the fleet, as far as the node that was asked has read it. */
function configurationOf(
  { behind, differs, position }: FleetNodeRepresentation,
  newest: string | undefined,
): string {
  if (differs) return 'differs';
  const refused = behind.filter(({ code }) => code !== undefined);
  if (refused.length > 0) return `behind at ${counted(refused.length, 'resource')}`;
  if (behind.length > 0) return `follows ${counted(behind.length, 'resource')}`;
  return newest === undefined || position === newest ? 'in step' : 'has not read the last change';
}

function reasonOf({ resource, since, detail = '' }: FleetLagRepresentation): string {
  return `${resource} since ${timeText(since)}: ${detail}`;
}

/** The longest time in seconds and in minutes. */
const [longestS, longestMin] = [120, 120 * 60];

function agoOf(seconds: number): string {
  // An interface of another version may not say it.
  if (!Number.isFinite(seconds)) return '-';
  if (seconds === 0) return 'now';
  if (seconds <= longestS) return `${String(seconds)} s ago`;
  if (seconds <= longestMin) return `${String(Math.floor(seconds / 60))} min ago`;
  return `${String(Math.floor(seconds / 3600))} h ago`;
}

const shown = Object.entries(kinds).flatMap(([word, kind]) => ('item' in kind ? [word] : []));

/** The command `show`. */
export const show: Command = {
  does: 'Shows everything about one service, server, session and so on.',
  arguments: [
    { name: 'kind', choices: [...shown, ...Object.keys(singles)] },
    { name: 'name', names: Object.fromEntries(shown.map((word) => [word, word])), optional: true },
  ],
  options: {
    may: { does: 'add what you may do with it now, and why not' },
    ...connectionOptions,
  },
  examples: [
    'show service sales',
    'show server db-1 --may',
    "show service sales -o 'jsonpath={.max_connection}'",
  ],
  async run(call) {
    const { output, words } = call;
    const [kind = '', name] = words;
    const single = (singles as Partial<Record<string, EndpointId>>)[kind];
    const id = single ?? kindOf(kind).item;
    if (id === undefined || (single === undefined) === (name === undefined))
      throw wrongUse(single === undefined ? `show ${kind} needs a name.` : `show ${kind} takes no name.`);
    const given = name === undefined ? [] : [name];
    const options = call.has('may') ? [{ may: true }] : [];
    const answer = await methodOf(await connect(call), id)(...given, ...options);
    const value = valueOrEnd(answer) as Row & { readonly may?: readonly May[] };
    const tag = answer.ok && answer.etag !== undefined ? [['entity tag', shownTag(answer.etag)]] : [];
    const { may = [], ...members } = value;
    if (output.isJson) output.json(value);
    else output.lines(...columns([...rowsOf(members), ...tag]), ...linesOf(may));
  },
};

/** What the user may do, or why not. */
function linesOf(may: readonly May[]): readonly string[] {
  const rows = may.map((each) => [
    safeText(each.id),
    each.allowed ? 'possible' : `no: ${safeText(each.detail)}`,
  ]);
  return may.length === 0 ? [] : ['', ...columns(rows)];
}

/** The members of a representation, one in a row. Members of members are rows of their own. */
function rowsOf(value: Row, path = ''): readonly (readonly [string, string])[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const isMap = typeof member === 'object' && member !== null && !Array.isArray(member);
    const place = `${path}${safeText(name)}`;
    if (isMap && Object.keys(member).length > 0) return rowsOf(member as Row, `${place}.`);
    // A parameter may only look like a time.
    const isField = path === '' || path === 'drain.';
    return [[place, isMap ? '-' : isField ? fieldCell(name, member) : cellOf(member)] as const];
  });
}
