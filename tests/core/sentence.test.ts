/**
 * Sentences: what happened is said with a subject and a verb, in each tense, and no sentence has a path or a type.
 */
import { describe, expect, it } from '@jest/globals';

import {
  searchText,
  sentenceOf,
  sentencesOf,
  textOf,
  type Tense,
  type Told,
} from '../../src/core/sentence.ts';
import { effectTable, eventTable } from '../../src/resources/index.ts';

const nameOf = (link: string): string | undefined => ({ '/services/My-Sales': 'My Sales' })[link];
const say = (told: Told, tense: Tense = 'did', who?: string): string =>
  textOf(sentenceOf(told, { tense, who, nameOf }));

const sales = '/services/My-Sales';

describe('a sentence', () => {
  it('has its verb in the tense that is asked for, and the name as it was given', () => {
    const stopped = { type: 'service.stopped', resource: sales };
    expect(say(stopped, 'did', 'ada')).toBe('ada stopped My Sales');
    expect(say(stopped)).toBe('Stopped My Sales');
    expect(say(stopped, 'was')).toBe('My Sales was stopped');
    expect(say(stopped, 'being')).toBe('My Sales is being stopped');
    expect(say({ type: 'service.stop', resource: sales }, 'do')).toBe('stop My Sales');
    expect(sentenceOf(stopped, { tense: 'being', nameOf })).toEqual([
      { link: sales, name: 'My Sales' },
      ' is being stopped',
    ]);
  });

  it.each([
    [{ type: 'sessions.closed', resource: sales, count: 41 }, '41 sessions of My Sales were closed'],
    [{ type: 'sessions.closed', resource: sales, sessions: [{}] }, '1 session of My Sales was closed'],
    [{ type: 'sessions.closed', resource: '/sessions/3', count: 1 }, 'Session 3 was closed'],
    [
      { type: 'sessions.closed', resource: '/sessions', count: 9, criteria: { user: 'bi', idle_over: 60 } },
      '9 sessions of user bi, idle longer than 60 s were closed',
    ],
    [{ type: 'connections.closed', resource: '/servers/db-1' }, 'Connections to db-1 were closed'],
    [{ type: 'logs.flushed', resource: '/gateway/logs' }, 'The logs were flushed'],
    [{ type: 'user.updated', resource: '/users/jo' }, 'The password of user jo was changed'],
    [
      { type: 'listener.created', resource: `${sales}/listeners/L-2`, to: { name: 'L 2' } },
      'Listener L 2 of My Sales was added',
    ],
    [{ type: 'filter.deleted', resource: '/filters/Q-L', from: { name: 'Q L' } }, 'Filter Q L was deleted'],
    [
      { type: 'server.reported', resource: '/servers/db-2', status: [], reason: 'refused' },
      'db-2 is down: refused',
    ],
    [
      { type: 'server.reported', resource: '/servers/db-2', status: ['master', 'running'] },
      'db-2 is master, running',
    ],
    [
      { type: 'service.reported', resource: sales, state: 'failed', reason: 'port 1 is in use' },
      'My Sales failed: port 1 is in use',
    ],
    [{ type: 'server.drained', resource: '/servers/db-2' }, 'db-2 is drained'],
    [
      {
        type: 'server.updated',
        resource: '/servers/db-2',
        from: { status: [] },
        to: { status: ['maintenance'] },
      },
      'db-2 was set to maintenance',
    ],
    [
      {
        type: 'interface.updated',
        resource: '/',
        to: { read_only: true, read_only_reason: 'release' },
      },
      'The gateway became read-only: “release”',
    ],
  ])('%j', (told, expected) => {
    expect(say(told, 'was')).toBe(expected);
  });

  it('has words for every event and every effect of every kind', () => {
    for (const type of [...Object.keys(eventTable), ...Object.keys(effectTable)])
      for (const tense of ['did', 'was', 'being', 'do'] as const) {
        const text = say({ type, resource: '/things/Some-Thing' }, tense);
        expect([type, text]).toEqual([type, expect.not.stringMatching(/\w\.\w|\/|[{}]|undefined/)]);
        // Only an update is a change.
        if (!/update|failed/.test(type))
          expect([type, text]).toEqual([type, expect.not.stringMatching(/chang/)]);
      }
  });
});

describe('the sentences of a command', () => {
  const drain = { since: '2016-08-29T12:52:31+03:00', reason: 'kernel update' };
  const texts = (events: readonly Told[], who?: string): readonly string[] =>
    sentencesOf(events, { tense: 'did', who, nameOf }).map(textOf);

  it('tell a drain and its end once', () => {
    const [stopped, started] = ['stopped', 'started'].map((word) => ({
      type: `service.${word}`,
      resource: sales,
    }));
    const begun = { type: 'service.updated', resource: sales, from: {}, to: { drain } };
    const over = { type: 'service.updated', resource: sales, from: { drain }, to: {} };
    expect(texts([stopped as Told, begun], 'ada')).toEqual(['ada began to drain My Sales: “kernel update”']);
    expect(texts([over, started as Told])).toEqual(['Resumed My Sales']);
    expect(texts([{ ...begun, from: { drain } }])).toEqual([
      'Changed the drain of My Sales: “kernel update”',
    ]);
    expect(texts([stopped as Told])).toEqual(['Stopped My Sales']);
  });
});

it('says the same of a search in whatever order its criteria come', () => {
  const said = 'of Sales, on db-1, idle longer than 600 s';
  expect(searchText({ service: 'Sales', server: 'db-1', idle_over: 600 })).toBe(said);
  expect(searchText({ idle_over: 600, server: 'db-1', service: 'Sales' })).toBe(said);
});
