/**
 * What programs read of the events. tests/properties/reading.test.ts has the law of a reader that is cut anywhere, and
 * tests/contract/limit/log.ts how many events are kept.
 */
import { getEventListeners } from 'node:events';

import { describe, expect, it, jest } from '@jest/globals';
import {
  flushLogs,
  startService,
  stopService,
  type Admin,
  type EventGap,
  type PublishedEvent,
  type Transition,
} from 'gateway-admin-core';

import { planted } from '../../support/planted.ts';
import { otherLife, placeOf } from '../../support/event-reader.ts';
import { openedSession } from '../../support/opened-session.ts';
import { runAdmin } from '../../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
const flush: Transition = (snapshot, context) => flushLogs(snapshot, context);
type Reader = AsyncIterableIterator<PublishedEvent | EventGap>;

/** The next so many items, in short. */
async function take(reader: Reader, count: number): Promise<readonly string[]> {
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
  for (let at = 0; at < times; at += 1) await admin.execute(flush);
}

describe('the events', () => {
  it('go to the calls of next in their order, one to each', async () => {
    const { admin } = runAdmin();
    const reader = admin.events();
    const [first, second] = [take(reader, 1), take(reader, 1)];
    await admin.execute(stop);
    expect(await first).toEqual(['1.0 service.stopped']);
    await admin.execute(start);
    expect(await second).toEqual(['2.0 service.started']);
  });

  // Promise: event-order
  it('come in the order of the revisions, each with its id', async () => {
    const { admin } = runAdmin();
    const reader = admin.events();
    const first = take(reader, 5);
    await admin.execute(stop);
    admin.report([openedSession(77), { type: 'session.closed', id: 77, connected: 7 }]);
    await admin.execute(start);
    admin.report({ type: 'service.reported', service: 'My Service', state: 'failed' });
    expect(await first).toEqual([
      '1.0 service.stopped',
      '2.0 session.opened',
      '2.1 session.closed',
      '3.0 service.started',
      '4.0 service.reported',
    ]);
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
    expect(await take(reader, 2)).toEqual(['1.0 service.stopped', 'end']);
  });

  it('begin with the next event, or after a given event id', async () => {
    const { admin } = runAdmin();
    await flushTimes(admin, 3);
    const fresh = admin.events();
    await flushTimes(admin, 1);
    await admin.close();
    expect(await take(fresh, 2)).toEqual(['4.0 logs.flushed', 'end']);
    expect(await take(await after(admin, '2.0'), 3)).toEqual(['3.0 logs.flushed', '4.0 logs.flushed', 'end']);
    expect(await take(await after(admin, '4.0'), 1)).toEqual(['end']);
    expect(await take(await after(admin, '0.0'), 2)).toEqual(['1.0 logs.flushed', '2.0 logs.flushed']);
  });

  it('resume in the middle of a revision', async () => {
    const { admin } = runAdmin();
    admin.report([openedSession(1), openedSession(2), openedSession(3)]);
    await admin.close();
    expect(await take(await after(admin, '1.0'), 3)).toEqual([
      '1.1 session.opened',
      '1.2 session.opened',
      'end',
    ]);
  });

  // Promise: slow-reader
  it('give a slow reader one gap, and delay nobody', async () => {
    const { admin } = runAdmin({ limits: { maxEventsKept: 3 } });
    const [slow, quick] = [admin.events(), admin.events()];
    const [first, none] = [take(slow, 1), take(quick, 1)];
    await flushTimes(admin, 1);
    expect([await first, await none]).toEqual([['1.0 logs.flushed'], ['1.0 logs.flushed']]);
    for (let revision = 2; revision <= 9; revision += 1) {
      const next = take(quick, 1);
      await flushTimes(admin, 1);
      expect(await next).toEqual([`${String(revision)}.0 logs.flushed`]);
    }
    await admin.close();
    expect(await take(slow, 5)).toEqual([
      'gap 7.0',
      '7.0 logs.flushed',
      '8.0 logs.flushed',
      '9.0 logs.flushed',
      'end',
    ]);
  });

  // Promise: event-gap
  it('give a gap to a reader that resumes too late', async () => {
    const { admin } = runAdmin({ limits: { maxEventsKept: 2 } });
    await flushTimes(admin, 5);
    await admin.close();
    expect(await take(await after(admin, '1.0'), 4)).toEqual([
      'gap 4.0',
      '4.0 logs.flushed',
      '5.0 logs.flushed',
      'end',
    ]);
    expect(await take(await after(admin, '2.0'), 2)).toEqual(['gap 4.0', '4.0 logs.flushed']);
    // Nothing is missing after the last event that was dropped.
    expect(await take(await after(admin, '3.0'), 2)).toEqual(['4.0 logs.flushed', '5.0 logs.flushed']);
    expect(await take(await after(admin, '4.0'), 2)).toEqual(['5.0 logs.flushed', 'end']);
  });

  it('have a gap when the whole log is one revision long', async () => {
    const { admin } = runAdmin({ limits: { maxEventsKept: 2 } });
    admin.report([openedSession(1), openedSession(2), openedSession(3)]);
    await admin.close();
    expect(await take(await after(admin, '0.0'), 4)).toEqual([
      'gap 1.1',
      '1.1 session.opened',
      '1.2 session.opened',
      'end',
    ]);
  });

  it('begin with a gap, and then the oldest event that is kept, after an event of another life', async () => {
    const [{ admin }, { admin: other }] = [runAdmin(), runAdmin()];
    const early = other.events();
    for (const each of [admin, other]) await flushTimes(each, 2);
    const { value } = (await early.next()) as { readonly value: PublishedEvent };
    expect(await take(admin.events({ after: value.id }), 3)).toEqual([
      'gap 1.0',
      '1.0 logs.flushed',
      '2.0 logs.flushed',
    ]);
    expect(await take(runAdmin().admin.events({ after: value.id }), 1)).toEqual(['gap ']);
  });

  it('begin with a gap after an id that this life has not given yet', async () => {
    const { admin } = runAdmin();
    await flushTimes(admin, 1);
    expect(await take(await after(admin, '1.1'), 1)).toEqual(['gap ']);
    expect(await take(await after(admin, '9007199254740993.0'), 1)).toEqual(['gap ']);
  });

  it.each([
    '',
    'x',
    '1',
    '1.0',
    '.1.0',
    'a.1',
    'a.1.',
    'a..0',
    'a.1.0.0',
    'a.-1.0',
    'a.1e1.0',
    ' a.1.0',
    'A.1.0',
    'g.1.0',
  ])('cannot begin after %j', (after) => {
    const { admin } = runAdmin();
    expect(() => admin.events({ after })).toThrow(RangeError);
  });

  it('end when the signal aborts, before and during a wait', async () => {
    const { admin, clock } = runAdmin();
    const control = new AbortController();
    const waiting = take(admin.events({ signal: control.signal }), 1);
    await clock.settle();
    control.abort();
    expect(await waiting).toEqual(['end']);
    expect(await take(admin.events({ signal: control.signal, after: otherLife }), 1)).toEqual(['end']);
  });

  it('put one listener on the signal of a reader that waits often, and none after the loop was left', async () => {
    const { admin } = runAdmin();
    const { signal } = new AbortController();
    const additions = jest.spyOn(signal, 'addEventListener');
    const reader = admin.events({ signal });
    for (let revision = 1; revision <= 5; revision += 1) {
      const next = take(reader, 1);
      await flushTimes(admin, 1);
      expect(await next).toEqual([`${String(revision)}.0 logs.flushed`]);
    }
    expect(additions).toHaveBeenCalledTimes(1);
    // An event that finds nobody waiting.
    await flushTimes(admin, 1);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(await take(reader, 1)).toEqual(['6.0 logs.flushed']);
    const last = take(reader, 1);
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
    expect(await take(reader, 1)).toEqual(['end']);
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    await admin.close();
  });

  it('end when the interface is closed and every event has been read', async () => {
    const { admin } = runAdmin();
    const [behind, ahead] = [admin.events(), admin.events()];
    const waiting = take(ahead, 2);
    await flushTimes(admin, 1);
    await admin.close();
    expect(await waiting).toEqual(['1.0 logs.flushed', 'end']);
    expect(await take(behind, 2)).toEqual(['1.0 logs.flushed', 'end']);
  });

  // Promise: clock-jump
  it('have the time of their settlement, even if the clock jumps', async () => {
    const { admin, clock } = runAdmin();
    const reader = admin.events();
    await admin.execute(flush);
    clock.jumpTo(Date.parse('2001-01-01T00:00:00Z'));
    await admin.execute(flush);
    await admin.close();
    const events = [(await reader.next()).value, (await reader.next()).value] as PublishedEvent[];
    expect(events.map(({ id }) => placeOf(id))).toEqual(['1.0', '2.0']);
    expect(events.map(({ event }) => event.at)).toEqual([
      Date.parse('2016-09-10T00:00:00Z'),
      Date.parse('2001-01-01T00:00:00Z'),
    ]);
    expect(admin.snapshot.logs.last_flushed).toBe(Date.parse('2001-01-01T00:00:00Z'));
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
