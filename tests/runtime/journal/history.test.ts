import { describe, expect, it } from '@jest/globals';
import { createMemoryStore, stopMonitor, stopService, type Json, type Transition } from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { openRunning, sampleGateway } from '../../support/running-admin.ts';

type Members = Readonly<Record<string, Json>>;

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);

/** What a life leaves behind that ended with one command done and another one in flight. */
async function leftBehind(): Promise<{ readonly state: Members; readonly records: readonly Members[] }> {
  const store = createMemoryStore();
  const gateway = sampleGateway().will('done', hold().apply);
  const { admin, clock } = await openRunning(store, { gateway });
  await admin.execute(stop);
  admin.execute((snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context)).catch(() => undefined);
  await clock.settle();
  const { state, records } = await store.load();
  return { state: state as Members, records: records as readonly Members[] };
}

async function opening(history: {
  readonly state?: Json;
  readonly records?: readonly Json[];
}): Promise<string> {
  const store = createMemoryStore(history);
  const before = JSON.stringify(await store.load());
  const said = await openRunning(store).then(
    () => 'it opens',
    (error: unknown) => String(error),
  );
  expect(JSON.stringify(await store.load())).toBe(before);
  return said;
}

const state = { format: 1, revision: 0, document: {}, open: [] };
const strange: readonly Json[] = [null, 7, 'x', true, [], [7], [null], {}, -1, 0.5];

describe('a store with content that this version cannot read', () => {
  // Promise: unreadable-record
  it('is refused for a record in which a member is missing or has the wrong type', async () => {
    const { state, records } = await leftBehind();
    expect(records.map(({ type }) => type)).toEqual(['intent', 'settlement', 'intent']);
    const samples = [
      ...records,
      { type: 'mark', revision: 7 },
      { type: 'abandonment', command: 'a', revision: 7 },
    ];
    for (const sample of samples) {
      for (const member of Object.keys(sample)) {
        const { [member]: right, ...without } = sample;
        const wrong = strange.filter(
          (value) => typeof value !== typeof right || Array.isArray(value) !== Array.isArray(right),
        );
        for (const value of [undefined, ...wrong]) {
          const record = value === undefined ? without : { ...sample, [member]: value };
          expect(await opening({ state, records: [record] })).toContain('cannot read');
        }
      }
    }
  });

  // Promise: unreadable-state
  it('is refused for a state in which a member is missing or has the wrong type', async () => {
    expect((await openRunning(createMemoryStore({ state }))).admin.snapshot.revision).toBe(1_000_000_000);
    for (const member of Object.keys(state) as (keyof typeof state)[]) {
      const { [member]: _left, ...without } = state;
      expect(await opening({ state: without })).toContain('cannot read');
      for (const value of [null, 'x', [7], -1]) {
        expect(await opening({ state: { ...state, [member]: value } })).toContain('cannot read');
      }
    }
  });

  it.each([
    ['a state of another format', { state: { ...state, format: 2 } }, 'a state of format 2'],
    ['records without a state', { records: [{ type: 'mark', revision: 1 }] }, 'without a state'],
    ['a record of unknown type', { state, records: [{ type: 'x' }] }, '"x"'],
    [
      'a record whose type only looks like a known one',
      { state, records: [{ type: ['mark'], revision: 1 }] },
      '["mark"]',
    ],
    ['a record that is not an object', { state, records: [null] }, 'null'],
    [
      'an event of unknown type',
      {
        state,
        records: [{ type: 'settlement', command: 'a', revision: 1, last: true, events: [{ type: 'x.y' }] }],
      },
      'unknown',
    ],
    [
      'an event that does not fit the state before it',
      {
        state,
        records: [
          {
            type: 'settlement',
            command: 'a',
            revision: 1,
            last: true,
            events: [{ type: 'sessions.closed' }],
          },
        ],
      },
      'does not fit the state before it',
    ],
    [
      'an intent of unknown effects',
      {
        state,
        records: [{ type: 'intent', command: 'a', resources: [], events: [], effects: [{ type: 'x.y' }] }],
      },
      'unknown',
    ],
    [
      'an intent without the effect that its event needs',
      {
        state,
        records: [
          { type: 'intent', command: 'a', resources: [], events: [{ type: 'logs.flushed' }], effects: [] },
        ],
      },
      'unknown',
    ],
    [
      'an open command with more settled parts than it has',
      {
        state: {
          ...state,
          open: [
            {
              settled: 1,
              intent: {
                type: 'intent',
                command: 'a',
                resources: [],
                events: [{ type: 'logs.flushed' }],
                effects: [{ type: 'logs.flush' }],
              },
            },
          ],
        },
      },
      'wrong type',
    ],
    ['a document that is not valid', { state: { ...state, document: { servers: [{}] } } }, '/servers/0/name'],
  ])('is refused with a message that names the fault: %s', async (_what, history, said) => {
    expect(await opening(history as { readonly state?: Json })).toContain(said);
  });
});
