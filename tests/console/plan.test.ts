import { describe, expect, it } from '@jest/globals';
import { createClient, sendTo } from 'gateway-admin-core/client';

import { actOn, closingOf, patching } from '../../console/act.ts';
import { differenceOf, planParts, sentencesOf, valueText, type Accepted } from '../../console/plan.ts';
import { runAdmin } from '../support/running-admin.ts';
import { acceptedIn, plannedActs, planOf } from './every-act.ts';

const service = { collection: 'services', link: '/services/My-Service', name: 'My Service' };

describe('the sentences of a plan', () => {
  it('say all that the plan says, of every act', async () => {
    let count = 0;
    for (const { act, answer } of await plannedActs(runAdmin().admin)) {
      if (!answer.ok) continue;
      count += 1;
      const plan = acceptedIn(answer);
      const sentences = sentencesOf(plan);
      const { closes, stays, effects, notes = [] } = plan;
      const numbers = [closes.sessions, closes.connections].filter((each) => each > 0).map(String);
      expect(sentences.closes.join().match(/\d+/g) ?? []).toEqual(numbers);
      expect(sentences.asks).toHaveLength(effects.length);
      expect(sentences.notes).toEqual(notes.map(({ detail }) => detail));
      const isSaid = [...sentences.stays, ...sentences.notes].some((each) =>
        each.includes(String(stays.sessions)),
      );
      expect([act.title, stays.sessions === 0 || isSaid]).toEqual([act.title, true]);
      const all = planParts.flatMap((part) => sentences[part]);
      expect(all.join('\n')).not.toMatch(/undefined|null|NaN|\[object|[{}]/);
      expect(differenceOf(plan, structuredClone(plan))).toEqual([]);
    }
    expect(count).toBeGreaterThan(40);
  });

  it.each([
    [
      closingOf({ service: 'My Service' }, ''),
      {
        closes: ['2 sessions and 3 backend connections'],
        stays: [],
        asks: ['sessions.close /sessions (2)'],
      },
    ],
    [actOn('services.stop', 'Stop', 'My Service'), { closes: ['nothing'], stays: ['2 sessions continue.'] }],
    [
      {
        ...actOn('services.drain', 'Drain', 'My Service'),
        given: ['My Service', { timeout: 30, then: 'close' }],
      },
      // What a deadline closes is neither nothing nor what stays.
      {
        closes: ['What is left of My-Service is closed after 30 s. Now it has 2 sessions.'],
        stays: [],
        notes: [],
      },
    ],
    [
      { ...actOn('servers.drain', 'Drain', 'db-serv-3'), given: ['db-serv-3', { reason: 'disk' }] },
      { changes: ['/servers/db-serv-3 drain: nothing → since 2016-09-10T00:00:00+00:00, reason disk'] },
    ],
    [
      actOn('servers.closeConnections', 'Close', 'DB Server 2'),
      // The note has the number of sessions that stay.
      {
        closes: ['1 backend connection'],
        stays: [],
        notes: ['1 session loses its connection to DB-Server-2.'],
      },
    ],
    [
      patching(service, [
        { op: 'add', path: '/max_connection', value: 5 },
        { op: 'remove', path: '/filters' },
        { op: 'remove', path: '/weightby' },
      ]),
      {
        changes: [
          '/services/My-Service filters: /filters/Query-Log, /filters/Hint → nothing',
          '/services/My-Service weightby: report_weight → nothing',
          '/services/My-Service max_connection: 100 → 5',
        ],
        asks: ['service.update /services/My-Service'],
      },
    ],
    [
      patching({ collection: 'interface', link: '/', name: '' }, [
        { op: 'replace', path: '/read_only', value: true },
      ]),
      { changes: ['/read_only: true'], asks: [] },
    ],
  ])('of an act are sentences: %#', async (act, sentences) => {
    const { admin } = runAdmin();
    const given = act.id === 'interface.patch' ? { ...act, given: act.given.slice(1) } : act;
    expect(sentencesOf(acceptedIn(await planOf(admin, given)))).toMatchObject(sentences);
  });
});

describe('the difference of two plans', () => {
  it('is what another operator has changed between the plan and the act', async () => {
    const { admin } = runAdmin();
    const patchTo = (value: number) => [{ op: 'add', path: '/max_connection', value } as const];
    const before = acceptedIn(await planOf(admin, patching(service, patchTo(5))));
    const { services } = createClient(sendTo(admin));
    await services.patch('My Service', patchTo(7));
    const answer = await services.patch('My Service', patchTo(5), { mark: before.mark });
    const now = (answer.ok ? undefined : answer.problem.plan) as Accepted;
    const [was, is] = ['100', '7'].map((old) => `/services/My-Service max_connection: ${old} → 5`);
    expect(differenceOf(before, now)).toEqual([{ was, is }]);
    expect(differenceOf(now, before)).toEqual([{ was: is, is: was }]);
  });

  it('has each sentence that is gone, and each that is new', async () => {
    const { admin } = runAdmin();
    const stop = acceptedIn(await planOf(admin, actOn('services.stop', 'Stop', 'My Service')));
    const start = acceptedIn(await planOf(admin, actOn('services.start', 'Start', 'Bare Service')));
    const found = differenceOf(stop, start);
    const [old, fresh] = [sentencesOf(stop), sentencesOf(start)];
    const all = (sentences: typeof old) => planParts.flatMap((part) => sentences[part]);
    const gone = all(old).filter((each) => !all(fresh).includes(each));
    expect(found.flatMap(({ was = [] }) => was).toSorted()).toEqual(gone.toSorted());
    const come = all(fresh).filter((each) => !all(old).includes(each));
    expect(found.flatMap(({ is = [] }) => is).toSorted()).toEqual(come.toSorted());
  });
});

it.each<[unknown, string]>([
  ...[undefined, null, '', [], {}].map((each): [unknown, string] => [each, 'nothing']),
  [0, '0'],
  [false, 'false'],
  ['a b', 'a b'],
  [['/servers/a', '/servers/b'], '/servers/a, /servers/b'],
  [{ weight: 2, tls: { mode: 'on', ciphers: [] } }, 'weight 2, tls mode on, ciphers nothing'],
])('the value %j is shown as %s', (value, text) => {
  expect(valueText(value)).toBe(text);
});
