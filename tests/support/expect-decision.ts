/**
 * The one way in which tests call a transition: the laws that hold for every decision are checked each time.
 */
import { isDeepStrictEqual } from 'node:util';

import { expect } from '@jest/globals';
import {
  evolve,
  nameKey,
  problemTable,
  toDocument,
  type Context,
  type Decision,
  type AdminEvent,
  type Entity,
  type Problem,
  type ProblemCode,
  type Snapshot,
} from 'gateway-admin-core';

import { wholeOf } from './closing.ts';
import { sampleSnapshot } from './document.ts';
import { eventTypes } from './event-type.ts';
import { thawedPlaces } from './frozen.ts';
import { sessionsOf } from './internal.ts';
import { danglingLinks, readAll, resolves, shapeBreaches } from './reading.ts';
import { drainsOf, miscounts } from './session-count.ts';

/** The collections of a snapshot. */
export const collections = ['servers', 'services', 'monitors', 'filters', 'users'] as const;

/** The context of decisions whose time does not matter. */
export const someTime: Context = Object.freeze({ now: Date.parse('2016-09-10T00:00:00Z'), actor: 'ada' });

type Transition<D extends Decision> = (snapshot: Snapshot, context: Context) => D;

/**
 * Calls a transition and checks what holds for every decision.
 *
 * The given snapshot is frozen and stays as it is · the same input gives the same output · a refused or unchanged
 * decision gives the very snapshot back · the next one is frozen, is one revision later, has only links that resolve
 * and representations of the right shape, and is the same object at each reading · parts that no event is about are the
 * same objects · events, effects and the closing are JSON, and each event that needs an effect has one that says the same, in order · folding
 * the events, and those of all batches of the closing, over the given snapshot gives the next one.
 *
 * @returns the decision, for what else is expected of it
 */
export function expectDecision<D extends Decision>(
  transition: Transition<D>,
  snapshot: Snapshot = sampleSnapshot(),
  context: Context = someTime,
): D {
  const before = contentOf(snapshot);
  const decision = transition(snapshot, context);
  const again = transition(snapshot, context);
  expect(thawedPlaces(snapshot)).toEqual([]);
  expectSameValue(contentOf(snapshot), before);
  expectSameValue(plain(withNext(again)), plain(withNext(decision)));
  if (decision.outcome === 'accepted') expectAcceptedLaws(snapshot, decision, context);
  else expectSame(snapshot, decision);
  return decision;
}

/** A decision with `next`, which an accepted one does not own. */
function withNext(decision: Decision): Decision {
  return { ...decision, next: decision.next };
}

/** Compares fast, and explains only when there is a difference. */
function expectSameValue(found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toStrictEqual(expected);
}

/** Calls a transition that must be accepted; see {@link expectDecision}. */
export function expectAccepted<D extends Decision>(
  transition: Transition<D>,
  snapshot?: Snapshot,
  context?: Context,
): Extract<D, { readonly outcome: 'accepted' }> {
  const decision = expectDecision(transition, snapshot, context);
  expect(decision).toMatchObject({ outcome: 'accepted' });
  return decision as Extract<D, { readonly outcome: 'accepted' }>;
}

/** As {@link expectAccepted}, with the events and effects of every batch of the closing. */
export function expectClosing<D extends Decision>(
  transition: Transition<D>,
  snapshot = sampleSnapshot(),
): ReturnType<typeof wholeOf> & Pick<Extract<D, { readonly outcome: 'accepted' }>, 'next' | 'resources'> {
  const decision = expectAccepted(transition, snapshot);
  const { next, resources } = decision;
  return { next, resources, ...wholeOf(decision, snapshot) };
}

/** Calls a transition that must change nothing; see {@link expectDecision}. */
export function expectUnchanged(
  transition: Transition<Decision>,
  snapshot?: Snapshot,
  context?: Context,
): void {
  const { outcome } = expectDecision(transition, snapshot, context);
  expect(outcome).toBe('unchanged');
}

/** Calls a transition that must be refused, and gives the problem; see {@link expectDecision}. */
export function expectRefused(
  transition: Transition<Decision>,
  snapshot?: Snapshot,
  context?: Context,
): Problem {
  const decision = expectDecision(transition, snapshot, context);
  expect(decision).toMatchObject({ outcome: 'refused' });
  return (decision as Extract<Decision, { readonly outcome: 'refused' }>).problem;
}

function expectSame(snapshot: Snapshot, decision: Exclude<Decision, { readonly outcome: 'accepted' }>): void {
  expect(decision.next).toBe(snapshot);
  if (decision.outcome === 'unchanged') return;
  const { problem } = decision;
  expect(thawedPlaces(problem)).toEqual([]);
  expect(problem).toMatchObject(problemTable[problem.code as ProblemCode]);
  expect(problem.detail).not.toBe('');
}

function expectAcceptedLaws(
  snapshot: Snapshot,
  decision: Extract<Decision, { readonly outcome: 'accepted' }>,
  { idleOf }: Context,
): void {
  const { next, closing = null } = decision;
  const { events, effects } = wholeOf(decision, snapshot, idleOf && { idleOf });
  expect(thawedPlaces([decision.events, decision.effects, closing])).toEqual(['(the whole)']);
  expect(events).not.toHaveLength(0);
  expect(thawedPlaces([events, effects]).filter((place) => place !== '(the whole)')).toEqual([]);
  expectSameValue(plain([events, effects, closing]), [events, effects, closing]);
  expectSameValue(effects, events.flatMap(effectOf));
  expect(next.revision).toBe(snapshot.revision + 1);
  expect(decision.next).toBe(next);
  expectNext(snapshot, next, events);
  expectSameValue(contentOf(evolve(snapshot, plain(events))), contentOf(next));
}

/** The effect that an event needs: it says what the event says of its resource, without who, when and why. */
function effectOf(event: AdminEvent): readonly object[] {
  const { type, at: _at, actor: _actor, undoes: _undoes, ...rest } = event;
  const { criteria: _criteria, ...told } = rest as { readonly criteria?: unknown };
  const { effect } = eventTypes[type];
  return effect === undefined ? [] : [{ ...told, type: effect }];
}

/** Checks a snapshot that came of another one by events: a decision, or a report. */
export function expectNext(snapshot: Snapshot, next: Snapshot, events: readonly AdminEvent[]): void {
  const readings = readAll(next);
  expect(thawedPlaces(next)).toEqual([]);
  expect(next.epoch).toBe(snapshot.epoch);
  expect(shapeBreaches(readings)).toEqual([]);
  expect(danglingLinks(readings, next)).toEqual([]);
  expect(events.filter((event) => !isAboutSomething(event, snapshot, next))).toEqual([]);
  expect(miscounts(next)).toEqual([]);
  expect(strayChanges(snapshot, next, events)).toEqual([]);
}

/** All that can be told of a snapshot, as plain data. */
export function contentOf(snapshot: Snapshot): object {
  const { epoch, revision, interface: own, logs, services } = snapshot;
  const sessions = sessionsOf(snapshot);
  return {
    epoch,
    revision,
    document: toDocument(snapshot),
    own,
    revisions: [logs.revision],
    collections: collections.map((name) => ({
      name,
      revision: snapshot[name].revision,
      entities: Array.from<Entity>(snapshot[name]).map(({ key, revision: changed }) => ({
        key,
        revision: changed,
      })),
    })),
    live: [sessions.index.live, ...[...services].map(({ key }) => sessions.liveOfService(key))],
    total: sessions.total,
  };
}

/** What JSON keeps of a value; snapshots, which are no JSON, as their content. */
function plain<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (name, member: unknown) =>
      name === 'next' ? contentOf(member as Snapshot) : member,
    ),
  ) as T;
}

function isAboutSomething({ resource }: AdminEvent, before: Snapshot, next: Snapshot): boolean {
  const [, collection = '', name = ''] = resource.split('/');
  if (collection === 'gateway' || ['/', '/sessions'].includes(resource)) return true;
  if (collection === 'users') return (before.users.find(name) ?? next.users.find(name)) !== undefined;
  // A listener has a link below that of its service.
  const link = resource.split('/').slice(0, 3).join('/');
  return resolves(link, collection, before) || resolves(link, collection, next);
}

/** The parts that changed although no event is about them. */
function strayChanges(before: Snapshot, next: Snapshot, events: readonly AdminEvent[]): readonly string[] {
  const named = new Set(events.flatMap(partsOf));
  const whole = new Set([...named].map((part) => part.split('/')[0]));
  // The table of sessions knows every service and server.
  if (events.some(({ type }) => /^(?:service|server)\.(?:created|deleted)$/.test(type)))
    whole.add('sessions');
  // What drains shows how many sessions and connections are left.
  if (events.some(({ type }) => /^(?:session|connection)s?\./.test(type)))
    for (const { collection, key } of drainsOf(next)) named.add(`${collection}/${key}`).add(collection);
  const [old, now] = [partsIn(before), partsIn(next)];
  return [...new Set([...old.keys(), ...now.keys()])].filter(
    (part) => !named.has(part) && !whole.has(part) && old.get(part) !== now.get(part),
  );
}

function partsIn(snapshot: Snapshot): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>([
    ...Object.entries(snapshot).filter(([name]) => name !== 'revision' && name !== 'draining'),
    ...collections.flatMap((name) =>
      Array.from<Entity, [string, unknown]>(snapshot[name], (entity) => [`${name}/${entity.key}`, entity]),
    ),
    ...Array.from(snapshot.sessions, (session): [string, unknown] => [
      `sessions/${String(session.id)}`,
      session,
    ]),
  ]);
}

/** What an event may change: `<part of the snapshot>` or `<collection>/<key>`. The first word of its type says what. */
function partsOf(event: AdminEvent): readonly string[] {
  const [subject = ''] = event.type.split('.');
  const members = event as unknown as Members;
  const sessions = (name: string, of: unknown): readonly string[] =>
    (of as readonly Members[]).map(({ [name]: id }) => `sessions/${String(id)}`);
  switch (subject) {
    case 'command':
      return [];
    case 'listener':
      return [`services/${String(members['service'])}`];
    case 'logs':
    case 'interface':
      return [subject];
    case 'session':
      return sessions('id', [event]);
    case 'sessions':
      return sessions('id', members['sessions']);
    case 'connection':
      return sessions('session', [event]);
    case 'connections':
      return sessions('session', members['connections']);
    default:
      return [`${subject}s/${String(members[subject])}`, ...movedFilters(event)];
  }
}

type Members = Readonly<Record<string, unknown>>;

/** The filters that a service began or ceased to use: each shows the services that use it. */
function movedFilters(event: AdminEvent): readonly string[] {
  const { from, to } = event as Partial<Record<'from' | 'to', { readonly filters?: readonly string[] }>>;
  const filters = event.type.startsWith('service.') ? [from, to].flatMap((side) => side?.filters ?? []) : [];
  const moved = filters.filter((link) => filters.indexOf(link) === filters.lastIndexOf(link));
  return moved.map((link) => `filters/${nameKey(decodeURIComponent(link.slice('/filters/'.length)))}`);
}
