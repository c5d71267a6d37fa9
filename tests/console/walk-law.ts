/**
 * The laws of a walk: what a button that was pressed may change, and what the page says of it afterwards.
 */
import { sentencesOf, textOf, type Told } from 'gateway-admin-core/client';
import type { AdminEvent } from 'gateway-admin-core';

import { text as words } from '../../console/text.ts';
import { isSameName } from './walk-world.ts';

/** A button that a walker has pressed, and what came of that. */
export interface Press {
  /** What the button said. */
  readonly text: string;
  readonly at: number;
  /** The events of the walker's commands since. */
  readonly events: AdminEvent[];
  /** Whether another press could have caused these events as well. */
  isShared: boolean;
  /** For an undo: the events of the command that it takes back. */
  undone?: readonly AdminEvent[];
  isOver: boolean;
}

/** How much a button says that it closes. */
interface Closing {
  readonly sessions: number;
  readonly connections: number;
}

const count = '(\\d[\\d,]*)';
const suffix = new RegExp(
  `^(.*) and close (?:${count} sessions?)?(?: and )?(?:${count} backend connections?)?$`,
  's',
);

/** What a button says: what is done, and how much that closes. */
function namedIn(button: string): { readonly title: string; readonly closing: Closing } {
  const [, title = button, sessions, connections] = suffix.exec(button) ?? [];
  const [, closed] = new RegExp(`^Close ${count} sessions?(?: of |$)`, 's').exec(button) ?? [];
  const [, cut] = new RegExp(`^Close ${count} connections? to `, 's').exec(button) ?? [];
  const alone = /^Close session \d+ of /.test(button) ? '1' : undefined;
  return {
    title,
    closing: {
      sessions: numberOf(sessions ?? closed ?? alone),
      connections: numberOf(connections ?? cut),
    },
  };
}

function numberOf(text = '0'): number {
  return Number(text.replaceAll(',', ''));
}

/** The number of sessions and connections that events have closed. */
function closedIn(events: readonly AdminEvent[]): Closing {
  return {
    sessions: sum(events.map((event) => (event.type === 'sessions.closed' ? event.sessions.length : 0))),
    connections: sum(
      events.map((event) => (event.type === 'connections.closed' ? event.connections.length : 0)),
    ),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** The words of a button, and which events that names. The names are the groups of the words. */
type Row = readonly [words: RegExp, fits: (event: AdminEvent, ...names: readonly string[]) => boolean];

const about =
  (...types: readonly string[]) =>
  (event: AdminEvent, name = '') =>
    types.some((type) => event.type === type || event.type.startsWith(`${type}.`)) && isAmong(event, name);

/** A resource comes or goes, and the lists of others are changed with it. */
const inLists =
  (...types: readonly string[]) =>
  (event: AdminEvent, name = '') =>
    about(...types)(event, name) || event.type === 'service.updated' || event.type === 'monitor.updated';

const closes = ({ type }: AdminEvent): boolean => type === 'sessions.closed' || type === 'connections.closed';

/** The first row whose words fit counts. */
const rows: readonly Row[] = [
  [/^Make .+ read-only$|^Allow changes of /s, ({ type }) => type === 'interface.updated'],
  [/^Flush the logs$/, ({ type }) => type === 'logs.flushed'],
  [/^Restore the configuration of |^Apply the document$/, () => true],
  [/^Abandon /, () => false],
  [/^Change the password of (.+)$/s, about('user')],
  [/^Delete user (.+)$/s, about('user.deleted')],
  [/^Add user (.*)$/s, about('user.created')],
  [
    /^Delete listener (.+) of (.+?)$/s,
    (event, listener = '', service = '') =>
      event.type === 'listener.deleted' &&
      isNamed(event, service) &&
      isSameName(partOf(event.resource, 4), listener),
  ],
  [
    /^Add listener (.*) to (.+)$/s,
    (event, listener = '', service = '') =>
      event.type === 'listener.created' &&
      isNamed(event, service) &&
      isSameName(partOf(event.resource, 4), listener),
  ],
  [/^Add service (.*)$/s, about('service.created', 'service.started')],
  [/^Add server (.*)$/s, inLists('server.created')],
  [/^Add monitor (.*)$/s, about('monitor.created', 'monitor.started')],
  [/^Add filter (.*)$/s, inLists('filter.created')],
  [/^Take out of all lists and delete (.+)$/s, inLists('server.deleted', 'filter.deleted')],
  [/^Close session (\d+) of /, (event, id = '') => event.type === 'sessions.closed' && isNamed(event, id)],
  [/^Close [\d,]+ sessions?$/, closes],
  [/^Close [\d,]+ sessions? of (.+)$/s, closes],
  [/^Close (?:all|the) sessions|^Close \d+ chosen sessions?$/, closes],
  [/^Close [\d,]+ connections? to (.+)$/s, about('connections.closed')],
  [/^Close the connections to (.+)$/s, about('connections.closed')],
  // To start a service that drains ends its drain, and to stop it changes what the drain goes back to.
  [/^Give (.+) another server$/s, about('service.updated')],
  [/^Start (.+?)(?: again)?$/s, about('service.started', 'service.updated', 'monitor.started')],
  [/^Stop (.+)$/s, about('service.stopped', 'service.updated', 'monitor.stopped')],
  [/^Drain (.+)$/s, about('service.stopped', 'service.updated', 'server.updated')],
  [/^Resume (.+)$/s, about('service.started', 'service.updated', 'server.updated')],
  [/^(?:Set|Clear) maintenance on (.+)$/s, about('server.updated')],
  [/^Change the drain of (.+)$/s, about('service.stopped', 'service.updated', 'server.updated')],
  [/^Change (?:the settings of )?(.+)$/s, about('service', 'server', 'monitor', 'filter')],
  [/^Delete (.+)$/s, about('service.deleted', 'server.deleted', 'monitor.deleted', 'filter.deleted')],
];

/** Whether the title of an act names what an event tells of. */
function fits(title: string, event: AdminEvent): boolean {
  if (event.type === 'command.failed') return true;
  for (const [words, fit] of rows) {
    const found = words.exec(title);
    if (found !== null) return fit(event, ...found.slice(1));
  }
  return false;
}

/** Whether a press may have caused an event. */
export function mayCause(press: Press, event: AdminEvent): boolean {
  const { title } = namedIn(press.text);
  if (!title.startsWith('Undo ')) return fits(title, event);
  const undone = press.undone ?? [];
  return undone.some(({ resource }) => resource === event.resource);
}

const opposites = new Map([
  ['created', 'deleted'],
  ['deleted', 'created'],
  ['started', 'stopped'],
  ['stopped', 'started'],
]);

/** Whether an event takes back another one of its command: the gateway has refused the rest of the command. */
export function takesBack({ command, resource, type }: AdminEvent, before: AdminEvent): boolean {
  const [thing = '', verb = ''] = before.type.split('.');
  return (
    command !== undefined &&
    command === before.command &&
    resource === before.resource &&
    type === `${thing}.${opposites.get(verb) ?? ''}`
  );
}

/** Why an undo does not take back what it names; `undefined` if it does. */
function undoBreach({ text, undone = [] }: Press): string | undefined {
  const [, what = ''] = /^Undo “(.*)”$/s.exec(namedIn(text).title) ?? [];
  // A name in a link has hyphens in the place of spaces.
  const inLink = (sentence: string): string => sentence.replace(/\s/g, '-');
  const sentences = sentencesOf(undone as unknown as readonly Told[], { tense: 'did' }).map(textOf);
  const fromHistory =
    inLink(what) === inLink(sentences.join('; ')) || what === words.history.several(sentences.length);
  // The undo of an undo is named after it.
  if (fromHistory || what.startsWith('Undo ') || undone.every((event) => fits(what, event))) return undefined;
  return `“${text}” takes back ${undone.map(({ type, resource }) => `${type} ${resource}`).join(', ')}`;
}

/** What a press has done that its button did not say. */
export function pressBreaches(press: Press): readonly string[] {
  const { closing } = namedIn(press.text);
  const closed = closedIn(press.events);
  const breaches = press.events
    .filter((event) => !mayCause(press, event))
    .map(({ type, resource }) => `“${press.text}” caused ${type} ${resource}`);
  if (closed.sessions > closing.sessions)
    breaches.push(`“${press.text}” closed ${String(closed.sessions)} sessions`);
  if (closed.connections > closing.connections)
    breaches.push(`“${press.text}” closed ${String(closed.connections)} connections`);
  const undo = press.undone === undefined ? undefined : undoBreach(press);
  return undo === undefined ? breaches : [...breaches, undo];
}

/** What the line of an outcome says that has not happened. */
export function outcomeBreaches(kind: string, line: string, press: Press): readonly string[] {
  const { events } = press;
  const closed = closedIn(events);
  const [, sessions] = new RegExp(`Closed ${count} sessions?`).exec(line) ?? [];
  const [, connections] = new RegExp(`Closed (?:.* and )?${count} backend connections?`).exec(line) ?? [];
  const said = { sessions: numberOf(sessions), connections: numberOf(connections) };
  const breach = `“${line}”, but the events are ${events.map(({ type, resource }) => `${type} ${resource}`).join(', ')} and closed ${JSON.stringify(closed)}`;
  if (line.startsWith('Nothing to do')) return events.length === 0 ? [] : [breach];
  if (kind === 'refused')
    return said.sessions === 0 && events.length > 0 && !line.includes(' closed before') ? [breach] : [];
  if (kind !== 'done') return [];
  // With each session, its connections close.
  const isRight = said.sessions === closed.sessions && said.connections >= closed.connections;
  return isRight && (closed.sessions > 0 || said.connections === closed.connections) ? [] : [breach];
}

/** Whether the resource is among those that a title names: each by its name, or by their number if they are many. */
function isAmong(event: AdminEvent, names: string): boolean {
  const [, kind] = /^[\d,]+ (service|server|monitor|filter)s$/.exec(names) ?? [];
  if (kind !== undefined) return event.type.startsWith(`${kind}.`);
  return isNamed(event, names) || names.split(', ').some((name) => isNamed(event, name));
}

function isNamed({ resource }: AdminEvent, name: string): boolean {
  return isSameName(partOf(resource, 2), name);
}

function partOf(link: string, at: number): string {
  return decodeURIComponent(link.split('/')[at] ?? '');
}
