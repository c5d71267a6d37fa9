/**
 * What programs and clients read of the events. tests/properties/reading.test.ts has the law of a reader that is cut
 * anywhere, and tests/contract/limit/log.ts how many events are kept.
 */
import { getEventListeners } from 'node:events';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  createBasicAuthentication,
  createRoles,
  createSnapshot,
  createUser,
  deleteUser,
  flushLogs,
  stopService,
  type Admin,
  type AdminOptions,
  type Authorize,
  type EventGap,
  type Problem,
  type PublishedEvent,
  type Transition,
} from 'gateway-admin-core';

import { ask } from '../../support/ask.ts';
import { sampleDocument } from '../../support/document.ts';
import { otherLife, placeOf } from '../../support/event-reader.ts';
import { openStream, type Message, type OpenStream } from '../../support/event-stream.ts';
import { credentials, quickHasher } from '../../support/log-in.ts';
import { openedSession } from '../../support/opened-session.ts';
import { planted } from '../../support/planted.ts';
import { runAdmin, type Running } from '../../support/running-admin.ts';
import { start, stop } from '../../support/transition.ts';
import { setReadOnly } from '../../support/read-only.ts';

type Reader = AsyncIterableIterator<PublishedEvent | EventGap>;

/** The next so many items, in short. */
async function takeEvents(reader: Reader, count: number): Promise<readonly string[]> {
  const items: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const { done, value } = (await reader.next()) as IteratorResult<PublishedEvent | EventGap, undefined>;
    if (done === true) items.push('end');
    else if (value.gap === true) items.push(`gap ${placeOf(value.next ?? '')}`);
    else items.push(`${placeOf(value.id)} ${value.event.type}`);
  }
  return items;
}

/** Reads after a place in the present life of an interface, which has had an event. */
async function after(admin: Admin, place: string): Promise<Reader> {
  const { value: gap } = (await admin.events({ after: otherLife }).next()) as { readonly value: EventGap };
  return admin.events({ after: `${String(gap.next?.split('.')[0])}.${place}` });
}

async function flushTimes(admin: Admin, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) await admin.execute(flushLogs);
}

/** A program, and a client of the stream. */
const readers: Readonly<
  Record<string, (admin: Admin) => Promise<(count: number) => Promise<readonly string[]>>>
> = {
  'a program': (admin) => {
    const reader = admin.events();
    return Promise.resolve((count) => takeEvents(reader, count));
  },
  'a client': async (admin) => {
    const stream = await openStream(admin);
    return (count) => take(stream, count);
  },
};

describe('the events', () => {
  it('go to the calls of next in their order, one to each', async () => {
    const { admin } = runAdmin();
    const reader = admin.events();
    const [first, second] = [takeEvents(reader, 1), takeEvents(reader, 1)];
    await admin.execute(stop);
    expect(await first).toEqual(['1.0 service.stopped']);
    await admin.execute(start);
    expect(await second).toEqual(['2.0 service.started']);
  });

  // Promise: event-order
  it('come in the order of the revisions, each with its id', async () => {
    const { admin } = runAdmin();
    const first = takeEvents(admin.events(), 4);
    await admin.execute(stop);
    admin.report([openedSession(77), { type: 'session.closed', id: 77, connected: 7 }]);
    await admin.execute(start);
    const ids = ['1.0 service.stopped', '2.0 session.opened', '2.1 session.closed', '3.0 service.started'];
    expect(await first).toEqual(ids);
    await admin.close();
  });

  // Promise: event-of-change
  it('contain nothing for a command or report that changed nothing', async () => {
    const { admin } = runAdmin();
    const reader = admin.events();
    await admin.execute(start);
    await admin.execute((snapshot, context) => stopService(snapshot, 'nothing', context));
    admin.report({ type: 'service.reported', service: 'Report Service', state: 'failed' });
    await admin.execute(stop);
    await admin.close();
    expect(await takeEvents(reader, 2)).toEqual(['1.0 service.stopped', 'end']);
  });

  it('have a gap for a reader that resumes inside a revision that is kept in part', async () => {
    const { admin } = runAdmin({ limits: { maxEventsKept: 2 } });
    admin.report([1, 2, 3, 4].map((id) => openedSession(id)));
    await admin.close();
    expect(await takeEvents(await after(admin, '1.0'), 2)).toEqual(['gap 1.2', '1.2 session.opened']);
    expect(await takeEvents(await after(admin, '1.1'), 1)).toEqual(['1.2 session.opened']);
  });

  it('begin with the next event, or after a given event id', async () => {
    const { admin } = runAdmin();
    await flushTimes(admin, 2);
    const fresh = admin.events();
    await flushTimes(admin, 1);
    await admin.close();
    const [, ...rest] = ['1.0 logs.flushed', '2.0 logs.flushed', '3.0 logs.flushed', 'end'];
    expect(await takeEvents(fresh, 2)).toEqual(rest.slice(1));
    expect(await takeEvents(await after(admin, '1.0'), 3)).toEqual(rest);
    expect(await takeEvents(await after(admin, '3.0'), 1)).toEqual(['end']);
    expect(await takeEvents(await after(admin, '0.0'), 1)).toEqual(['1.0 logs.flushed']);
  });

  // Promise: slow-reader
  // Promise: stream-slow
  it.each(Object.entries(readers))('give a slow reader one gap, and delay nobody: %s', async (_who, open) => {
    const { admin } = runAdmin({ limits: { maxEventsKept: 3 } });
    const [slow, quick] = [await open(admin), await open(admin)];
    const [first, none] = [slow(1), quick(1)];
    await flushTimes(admin, 1);
    expect([await first, await none]).toEqual([['1.0 logs.flushed'], ['1.0 logs.flushed']]);
    for (let revision = 2; revision <= 9; revision += 1) {
      const next = quick(1);
      await flushTimes(admin, 1);
      expect(await next).toEqual([`${String(revision)}.0 logs.flushed`]);
    }
    await admin.close();
    const left = ['gap 7.0', '7.0 logs.flushed', '8.0 logs.flushed', '9.0 logs.flushed'];
    expect((await slow(5)).filter((item) => item !== 'end')).toEqual(left);
  });

  it('count what a slow reader has missed, and give the id to resume with after the gap', async () => {
    const { admin } = runAdmin({ limits: { maxEventsKept: 3 } });
    const slow = admin.events();
    await flushTimes(admin, 9);
    const { value } = (await slow.next()) as { readonly value: EventGap };
    expect(value).toEqual({
      gap: true,
      id: expect.stringMatching(/\.6\.0$/),
      next: expect.stringMatching(/\.7\.0$/),
      missed: 6,
    });
    expect(await takeEvents(admin.events({ after: value.id }), 1)).toEqual(['7.0 logs.flushed']);
    // A gap at the beginning grows before the reader takes it. How many were missing then is not known.
    const late = admin.events({ after: otherLife });
    await flushTimes(admin, 2);
    const { value: first } = (await late.next()) as { readonly value: EventGap };
    expect(first).toEqual({
      gap: true,
      id: expect.stringMatching(/\.8\.0$/),
      next: expect.stringMatching(/\.9\.0$/),
    });
    // Before the first event of a life, too, no event is missing after the gap.
    const { admin: fresh } = runAdmin();
    const early = fresh.events({ after: otherLife });
    await flushTimes(fresh, 1);
    const { value: gap } = (await early.next()) as { readonly value: EventGap };
    expect(gap).toMatchObject({
      id: expect.stringMatching(/\.0\.0$/),
      next: expect.stringMatching(/\.1\.0$/),
    });
    expect(await takeEvents(fresh.events({ after: gap.id }), 1)).toEqual(['1.0 logs.flushed']);
  });

  // Promise: event-gap
  it('give a gap to a reader that resumes too late', async () => {
    const { admin } = runAdmin({ limits: { maxEventsKept: 2 } });
    await flushTimes(admin, 5);
    await admin.close();
    const kept = ['4.0 logs.flushed', '5.0 logs.flushed', 'end'];
    expect(await takeEvents(await after(admin, '1.0'), 4)).toEqual(['gap 4.0', ...kept]);
    expect(await takeEvents(await after(admin, '2.0'), 2)).toEqual(['gap 4.0', '4.0 logs.flushed']);
    // Nothing is missing after the last event that was dropped.
    expect(await takeEvents(await after(admin, '3.0'), 3)).toEqual(kept);
    expect(await takeEvents(await after(admin, '4.0'), 2)).toEqual(kept.slice(1));
  });

  it('begin with a gap, and then the oldest event that is kept, after an event of another life', async () => {
    const [{ admin }, { admin: other }] = [runAdmin(), runAdmin()];
    const early = other.events();
    for (const each of [admin, other]) await flushTimes(each, 2);
    const { value } = (await early.next()) as { readonly value: PublishedEvent };
    expect(await takeEvents(admin.events({ after: value.id }), 3)).toEqual([
      'gap 1.0',
      '1.0 logs.flushed',
      '2.0 logs.flushed',
    ]);
    expect(await takeEvents(runAdmin().admin.events({ after: value.id }), 1)).toEqual(['gap ']);
  });

  it('begin with a gap after an id that this life has not given yet', async () => {
    const { admin } = runAdmin();
    await flushTimes(admin, 1);
    expect(await takeEvents(await after(admin, '1.1'), 1)).toEqual(['gap ']);
    expect(await takeEvents(await after(admin, '9007199254740993.0'), 1)).toEqual(['gap ']);
  });

  const malformed = ['', 'x', '1', '1.0', '.1.0', 'a.1', 'a.1.', 'a..0', 'a.1.0.0', 'a.-1.0'];
  it.each([...malformed, 'a.1e1.0', ' a.1.0', 'A.1.0', 'g.1.0'])('cannot begin after %j', (after) => {
    const { admin } = runAdmin();
    expect(() => admin.events({ after })).toThrow(RangeError);
  });

  it('end when the signal aborts, before and during a wait', async () => {
    const { admin, clock } = runAdmin();
    const control = new AbortController();
    const { signal } = control;
    const waiting = takeEvents(admin.events({ signal }), 1);
    await clock.settle();
    control.abort();
    expect(await waiting).toEqual(['end']);
    expect(await takeEvents(admin.events({ signal, after: otherLife }), 1)).toEqual(['end']);
  });

  it('put one listener on the signal of a reader that waits often, and none after the loop was left', async () => {
    const { admin } = runAdmin();
    const { signal } = new AbortController();
    const additions = jest.spyOn(signal, 'addEventListener');
    const reader = admin.events({ signal });
    for (let revision = 1; revision <= 5; revision += 1) {
      const next = takeEvents(reader, 1);
      await flushTimes(admin, 1);
      expect(await next).toEqual([`${String(revision)}.0 logs.flushed`]);
    }
    expect(additions).toHaveBeenCalledTimes(1);
    // An event that finds nobody waiting.
    await flushTimes(admin, 1);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(await takeEvents(reader, 1)).toEqual(['6.0 logs.flushed']);
    const last = takeEvents(reader, 1);
    await admin.close();
    expect([await last, getEventListeners(signal, 'abort')]).toEqual([['end'], []]);
  });

  // Promise: reader-leaves
  it('end for good when the reader returns', async () => {
    const { admin } = runAdmin();
    await flushTimes(admin, 2);
    const reader = await after(admin, '0.0');
    for await (const item of { [Symbol.asyncIterator]: () => reader }) {
      expect(item).toMatchObject({ event: { type: 'logs.flushed' } });
      break;
    }
    expect(await takeEvents(reader, 1)).toEqual(['end']);
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    await admin.close();
  });

  // Promise: clock-jump
  it('have the time of their settlement, even if the clock jumps', async () => {
    const { admin, clock } = runAdmin();
    const reader = admin.events();
    const times = ['2016-09-10T00:00:00Z', '2001-01-01T00:00:00Z'].map((time) => Date.parse(time));
    for (const time of times) {
      clock.jumpTo(time);
      await admin.execute(flushLogs);
    }
    const events = [(await reader.next()).value, (await reader.next()).value] as PublishedEvent[];
    expect(events.map(({ id }) => placeOf(id))).toEqual(['1.0', '2.0']);
    expect(events.map(({ event }) => event.at)).toEqual(times);
    expect(admin.snapshot.logs.last_flushed).toBe(times[1]);
    await admin.close();
  });

  // Promise: event-frozen
  it('are frozen, so no reader can change the events of another reader', async () => {
    const { admin } = runAdmin();
    const reader = admin.events();
    await admin.execute(stop);
    const { value } = (await reader.next()) as { value: PublishedEvent };
    expect(Object.isFrozen(value.event)).toBe(true);
    expect(JSON.stringify(value)).not.toContain(planted.sealed);
    await admin.close();
  });
});

/** A message in short. */
function inShort({ id, type, data }: Message): string {
  const { next } = data as { readonly next?: string };
  return type === 'gap' ? `gap ${placeOf(next ?? '')}` : `${placeOf(id)} ${type}`;
}

async function take(stream: OpenStream, count: number): Promise<readonly string[]> {
  return (await stream.messages(count)).map(inShort);
}

/** The code of a refusal; the status of another answer. */
function codeOf({ response: { status, body } }: OpenStream): string {
  return typeof body === 'string' ? (JSON.parse(body) as Problem).code : String(status);
}

/** Whether the only place for a reader is free. */
async function isFree(admin: Admin): Promise<boolean> {
  const stream = await openStream(admin);
  await stream.leave();
  return codeOf(stream) === '200';
}

const creating =
  (name: string, passwordHash: string): Transition =>
  (snapshot, context) =>
    createUser(snapshot, { name, password: { sealed: passwordHash } }, context);

const oneReader = { limits: { maxEventReaders: 1 } };
let running: Running | undefined;

/** Runs an interface until the end of the test. */
function run(options: Parameters<typeof runAdmin>[0] = {}): Running {
  running = runAdmin(options);
  return running;
}

afterEach(async () => {
  await running?.admin.close();
});

describe('a stream of events', () => {
  it('begins with the time to connect again and an id, and then has each event without secrets', async () => {
    const { admin } = run();
    const stream = await openStream(admin);
    const headers = {
      ...{ 'content-type': 'text/event-stream', 'cache-control': 'no-store, no-transform' },
      ...{ 'x-accel-buffering': 'no', 'x-content-type-options': 'nosniff' },
    };
    expect(stream.response).toMatchObject({ status: 200, headers });
    expect(await stream.piece()).toMatch(/^retry: 2000\n: heartbeat: 15000\nid: [0-9a-f]{12}\.0\.0\n\n$/);
    await admin.execute(stop, { actor: 'a\nb' });
    const event = { type: 'service.stopped', actor: 'a\nb', service: 'my-service' };
    const text = await stream.piece();
    expect(text).toMatch(/^id: [0-9a-f]{12}\.1\.0\nevent: service\.stopped\ndata: \{.*\}\n\n$/);
    expect(JSON.parse(text.split('\n')[2]?.slice('data: '.length) ?? '')).toMatchObject(event);
    await stream.leave();
  });

  // Promise: stream-secret
  it('has no secret, also in events that contain one for programs', async () => {
    const { admin } = run();
    const stream = await openStream(admin);
    const reader = admin.events();
    await admin.execute(creating('joan', 'planted-hash'));
    expect(JSON.stringify((await reader.next()).value)).toContain('planted-hash');
    const [message] = await stream.messages(1);
    expect(message).toMatchObject({ type: 'user.created', data: { type: 'user.created', name: 'joan' } });
    expect(JSON.stringify(message)).not.toMatch(/planted-hash|sealed/);
  });

  it('goes on after the id of a header, which counts more than the parameter', async () => {
    const { admin } = run();
    const first = await openStream(admin);
    await flushTimes(admin, 3);
    const [one, two] = (await first.messages(3)).map(({ id }) => id);
    const query = `?after=${String(one)}`;
    expect(await take(await openStream(admin, { query }), 1)).toEqual(['2.0 logs.flushed']);
    const both = await openStream(admin, { query, headers: { 'last-event-id': two } });
    expect(await take(both, 1)).toEqual(['3.0 logs.flushed']);
  });

  // Promise: stream-gap
  it('has a gap for events of another life, and for events that are gone', async () => {
    const { admin } = run({ limits: { maxEventsKept: 2 } });
    const other = await openStream(admin, { query: `?after=${otherLife}` });
    // There is an id to go on from, so that the gap does not come again.
    const [gap] = await other.messages(1);
    expect(gap).toMatchObject({ type: 'gap', data: {}, id: expect.stringMatching(/^[0-9a-f]{12}\.0\.0$/) });
    await flushTimes(admin, 1);
    const [first] = await other.messages(1);
    await flushTimes(admin, 4);
    for (const id of [otherLife, first?.id]) {
      const late = await openStream(admin, { headers: { 'last-event-id': id } });
      expect(await late.piece()).toBe('retry: 2000\n: heartbeat: 15000\n\n');
      expect(await late.piece()).toMatch(
        /^id: \w+\.3\.0\nevent: gap\ndata: \{"next":"\w+\.4\.0"\}\n\nid: \w+\.4\.0\nevent: logs/,
      );
    }
    const now = await openStream(admin, { headers: { 'last-event-id': gap?.id } });
    expect(await take(now, 2)).toEqual(['gap 4.0', '4.0 logs.flushed']);
  });

  it('comes in pieces of at most a hundred events, and lets other work be done in between', async () => {
    const { admin } = run();
    const stream = await openStream(admin);
    await stream.piece();
    admin.report(Array.from({ length: 250 }, (_, at) => openedSession(1000 + at)));
    let turns = 0;
    const count = setInterval(() => (turns += 1), 0);
    const sizes: number[] = [];
    for (let piece = 0; piece < 3; piece += 1) sizes.push((await stream.piece()).split('\n\n').length - 1);
    clearInterval(count);
    expect(sizes).toEqual([100, 100, 50]);
    expect(turns).toBeGreaterThan(0);
  });

  it('comes in small pieces if the events are large', async () => {
    const { admin } = run();
    const stream = await openStream(admin);
    await stream.piece();
    for (let at = 0; at < 5; at += 1) await admin.execute(flushLogs, { actor: 'a'.repeat(50_000) });
    expect((await stream.piece()).split('\n\n').length - 1).toBe(2);
  });

  describe('with types', () => {
    it.each([
      ['logs', ['logs.flushed']],
      ['service,logs.flushed', ['service.stopped', 'logs.flushed']],
      ['session', ['session.opened']],
      ...['log', 'service.stop', 'service.stopped.twice', 'sessions,nothing'].map(
        (types) => [types, []] as const,
      ),
    ])('%s has the events whose types begin with these words', async (types, expected) => {
      const { admin } = run();
      const stream = await openStream(admin, { query: `?types=${types}` });
      await admin.execute(stop);
      admin.report(openedSession(77));
      await flushTimes(admin, 1);
      await admin.close();
      expect((await stream.messages(9)).map(({ type }) => type)).toEqual(expected);
    });

    it.each(['', 'Service', 'service,', '__proto__'])(
      '%j is refused: no type has this form',
      async (types) => {
        const { status, body } = await ask(run().admin, `GET /events?types=${types}`);
        expect([status, body]).toMatchObject([400, { code: 'query-invalid' }]);
      },
    );

    it('has gaps too', async () => {
      const { admin } = run();
      await flushTimes(admin, 1);
      const stream = await openStream(admin, { query: `?types=service&after=${otherLife}` });
      expect(await take(stream, 1)).toEqual(['gap 1.0']);
    });

    // Promise: stream-types-resume
    it('moves its id on with each heartbeat, so that events of other types lead to no gap', async () => {
      const { admin, clock } = run({ limits: { maxEventsKept: 2 } });
      const query = '?types=service';
      const stream = await openStream(admin, { query });
      await stream.piece();
      const waiting = stream.piece();
      // Heartbeats come also if events of other types never stop.
      for (let second = 0; second < 15; second += 1) {
        await flushTimes(admin, 1);
        await clock.advance(1000);
      }
      expect(await waiting).toMatch(/^:\nid: [0-9a-f]{12}\.15\.0\n\n$/);
      await stream.leave();
      await admin.execute(stop);
      const headers = { 'last-event-id': stream.lastId() };
      expect(await take(await openStream(admin, { query, headers }), 1)).toEqual(['16.0 service.stopped']);
    });
  });

  // Promise: stream-heartbeat
  it('has a heartbeat every 15 seconds', async () => {
    const { admin, clock } = run();
    const stream = await openStream(admin);
    await stream.piece();
    for (let beat = 0; beat < 3; beat += 1) {
      const waiting = stream.piece();
      let beaten = false;
      void waiting.then(() => (beaten = true));
      await clock.advance(14_999);
      expect(beaten).toBe(false);
      await clock.advance(1);
      expect(await waiting).toBe(':\n\n');
    }
    // An event that comes after a heartbeat is not missed.
    const waiting = stream.messages(1);
    await flushTimes(admin, 1);
    expect((await waiting).map(inShort)).toEqual(['1.0 logs.flushed']);
  });

  it('of a HEAD request is the headers alone, and leaves no reader', async () => {
    const { admin } = run(oneReader);
    const heads = [await openStream(admin, { method: 'HEAD' }), await openStream(admin, { method: 'HEAD' })];
    const { response } = await openStream(admin);
    for (const head of heads)
      expect([head.response.status, head.response.headers, head.response.body]).toEqual([
        200,
        response.headers,
        undefined,
      ]);
    expect((await openStream(admin, { method: 'HEAD' })).response.status).toBe(503);
  });
});

describe('the places for readers of events', () => {
  // Promise: stream-places
  // Promise: stream-readers
  it('are kept, the last quarter, for readers without a stream: one peer cannot take all', async () => {
    const { admin } = run({ limits: { maxEventReaders: 8 } });
    const from = (peer: number) => openStream(admin, { peer: `192.0.2.${String(peer)}` });
    for (let at = 0; at < 6; at += 1) expect(codeOf(await from(1))).toBe('200');
    const seventh = await from(1);
    expect([codeOf(seventh), seventh.response.headers['retry-after']]).toEqual(['overloaded', '1']);
    expect(seventh.response.body).toContain(
      'You have 6 of 8 places for readers of events, and the last 2 places are kept',
    );
    expect([codeOf(await from(2)), codeOf(await from(2))]).toEqual(['200', 'overloaded']);
    const last = await from(3);
    expect([codeOf(last), codeOf(await from(4))]).toEqual(['200', 'overloaded']);
    // A reader leaves one place, also if it leaves twice.
    await last.leave();
    await last.leave();
    expect([codeOf(await from(4)), codeOf(await from(5))]).toEqual(['200', 'overloaded']);
  });

  it('are shared by user where a log-in is required, whatever the peer', async () => {
    const { admin } = run({ limits: { maxEventReaders: 4 } });
    const of = async (name: string, peer: string) =>
      codeOf(await openStream(admin, { principal: { name }, peer }));
    for (const peer of ['a', 'b', 'c']) expect(await of('eve', peer)).toBe('200');
    expect([await of('eve', 'd'), await of('ada', 'a')]).toEqual(['overloaded', '200']);
  });

  type Ended = Running & { readonly stream: OpenStream; readonly control: AbortController };
  // Promise: stream-leaves
  it.each<[string, number, boolean, (ended: Ended) => unknown]>([
    ['the client leaves before the first piece', 0, false, ({ stream }) => stream.leave()],
    ['the client leaves after the first piece', 1, false, ({ stream }) => stream.leave()],
    ['the signal aborts during a wait', 1, true, ({ control }) => control.abort()],
    ['the signal aborts although nobody reads', 0, false, ({ control }) => control.abort()],
    ['the interface closes', 1, true, ({ admin }) => admin.close()],
  ])('are free, and nothing is left behind, when %s', async (_when, pieces, isWaiting, end) => {
    const control = new AbortController();
    const { signal } = control;
    const running = run(oneReader);
    const { admin, clock } = running;
    const stream = await openStream(admin, { signal });
    for (let piece = 0; piece < pieces; piece += 1) await stream.piece();
    const waiting = isWaiting ? stream.piece() : undefined;
    await clock.settle();
    expect(await isFree(admin)).toBe(false);
    if (isWaiting) expect([clock.sleeping, getEventListeners(signal, 'abort').length]).toEqual([1, 1]);
    await end({ ...running, stream, control });
    expect(await (waiting ?? '')).toBe('');
    expect([clock.sleeping, getEventListeners(signal, 'abort')]).toEqual([0, []]);
    expect(await isFree(admin)).toBe(true);
    await stream.leave();
  });

  it('are not taken by a client that has left before', async () => {
    const { admin } = run(oneReader);
    expect(codeOf(await openStream(admin, { signal: AbortSignal.abort() }))).toBe('closed');
    expect(await isFree(admin)).toBe(true);
  });

  it('are free when the interface closes, and the stream has had every event', async () => {
    const { admin, clock } = run(oneReader);
    const reading = take(await openStream(admin), 9);
    await clock.settle();
    await flushTimes(admin, 1);
    await admin.close();
    expect(await reading).toEqual(['1.0 logs.flushed']);
    expect(await isFree(admin)).toBe(true);
  });
});

describe('the stream of a caller', () => {
  const basic = (name: string) => ({ authorization: credentials(name, 'pw') });

  async function guarded({ access, ...options }: Parameters<typeof runAdmin>[0] = {}): Promise<Running> {
    const passwordHash = await quickHasher.hash('pw');
    const users = ['ada', 'grace', 'joan'].map((name) => ({ name, password: { sealed: passwordHash } }));
    return run({
      snapshot: createSnapshot({ ...sampleDocument, users }),
      hasher: quickHasher,
      access: { authenticate: createBasicAuthentication(), ...access },
      ...oneReader,
      ...options,
    });
  }

  /** The stream of ada, of which the first piece is read. */
  async function streamOfAda(access: AdminOptions['access'] = {}, query = '') {
    const running = await guarded({ access });
    const stream = await openStream(running.admin, { query, headers: basic('ada') });
    expect(await stream.piece()).toMatch(/^retry/);
    return { ...running, stream };
  }

  const remove =
    (name: string): Transition =>
    (snapshot, context) =>
      deleteUser(snapshot, name, context);
  const changePassword = (admin: Admin) => {
    const body = [{ op: 'replace', path: '/password', value: 'new' }];
    return ask(admin, 'PATCH /users/ada', { headers: basic('grace'), body });
  };
  const beginReadOnly = (admin: Admin) => setReadOnly(admin, true);

  /** What happens to a caller or to others, and whether the stream of the caller ends. */
  const happenings: readonly (readonly [string, 'ends' | 'goes on', (admin: Admin) => Promise<unknown>])[] = [
    ['the caller is deleted', 'ends', (admin) => admin.execute(remove('ada'))],
    ['the caller gets another password', 'ends', changePassword],
    ['another user is deleted', 'goes on', (admin) => admin.execute(remove('grace'))],
    ['the interface becomes read-only', 'goes on', beginReadOnly],
  ];

  // Promise: stream-access
  it.each(happenings)('if %s: %s', async (_what, then, happen) => {
    const { admin, clock, stream } = await streamOfAda();
    const waiting = stream.piece();
    await clock.settle();
    await happen(admin);
    const text = await waiting;
    expect(text === '' ? 'ends' : 'goes on').toBe(then);
    const other = await openStream(admin, { headers: basic('joan') });
    expect(codeOf(other)).toBe(then === 'ends' ? '200' : 'overloaded');
    await stream.leave();
  });

  it('ends without the events that were still unread', async () => {
    const { admin, stream } = await streamOfAda();
    await flushTimes(admin, 1);
    await admin.execute(remove('ada'));
    expect(await stream.piece()).toBe('');
  });

  it.each([
    ['a client that waits', true],
    ['a client that reads nothing', false],
  ])(
    'ends at the next heartbeat when a rule of the host withdraws the right: %s',
    async (_what, isWaiting) => {
      const readers = ['ada'];
      const authorize: Authorize = (principal) => readers.includes(principal?.name ?? '');
      const { admin, clock, stream } = await streamOfAda({ authorize });
      const waiting = isWaiting ? stream.piece() : undefined;
      readers.pop();
      await clock.advance(15_000);
      readers.push('grace');
      expect(codeOf(await openStream(admin, { headers: basic('grace') }))).toBe('200');
      expect(await (waiting ?? stream.piece())).toBe('');
    },
  );

  it('ends, and the host is told, when a rule of the host fails', async () => {
    const failures: Error[] = [];
    const authorize = (): boolean => {
      for (const failure of failures) throw failure;
      return true;
    };
    const { errors, stream } = await streamOfAda({ authorize });
    failures.push(new Error('the rules are gone'));
    expect(await stream.piece()).toBe('');
    expect(errors).toMatchObject([{ name: 'HostError', call: 'authorize', cause: failures[0] }]);
  });

  it('is not woken by events that the client has not asked for', async () => {
    let looks = 0;
    const authorize = (): boolean => (looks += 1) > 0;
    const { admin, clock, stream } = await streamOfAda({ authorize }, '?types=service');
    const waiting = stream.messages(1);
    await clock.settle();
    looks = 0;
    for (let event = 0; event < 50; event += 1) {
      admin.report(openedSession(100 + event));
      await clock.settle();
    }
    expect(looks).toBe(0);
    await admin.execute(stop);
    expect((await waiting).map(({ type }) => type)).toEqual(['service.stopped']);
    expect(looks).toBeGreaterThan(0);
  });

  it('of nobody ends when the first user is created', async () => {
    const authenticate = createBasicAuthentication({ openUntilFirstUser: true });
    const { admin, clock } = run({ ...oneReader, snapshot: createSnapshot({}), access: { authenticate } });
    const stream = await openStream(admin, { headers: { host: 'localhost' } });
    await stream.piece();
    const waiting = stream.piece();
    await clock.settle();
    await admin.execute(creating('ada', 'x'));
    expect(await waiting).toBe('');
  });

  it('needs the role of a reader', async () => {
    const authorize = createRoles({ readers: ['ada'] });
    const { admin } = await guarded({ access: { authorize } });
    expect(codeOf(await openStream(admin, { headers: basic('grace') }))).toBe('forbidden');
    expect(codeOf(await openStream(admin, { headers: basic('ada') }))).toBe('200');
  });
});
