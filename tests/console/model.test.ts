import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { problem } from 'gateway-admin-core';

import { collections, createModel, reduce, rowsOf, type Message, type Model } from '../../console/model.ts';

/** Freezes plain data: the model may change nothing that a message has. */
function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

const service = fc.record({ name: fc.constantFrom('Sales', 'Stock', 'Web'), current_connections: fc.nat(9) });
const states = ['connecting', 'open', 'waiting'] as const;

/** Messages of every type, at times that grow. */
const histories = fc
  .array(
    fc.oneof(
      fc.record(
        { type: fc.constant('closed'), problem: fc.constant(problem('unauthenticated', 'x')) },
        { requiredKeys: ['type'] },
      ),
      fc.record({ type: fc.constant('gateway'), gateway: fc.constant({ may: [] }) }),
      fc.record({ type: fc.constant('failed'), detail: fc.constantFrom('a', 'b') }),
      fc.record({ type: fc.constant('stream'), state: fc.constantFrom(...states) }),
      fc.record({ type: fc.constant('event'), event: fc.constant({}) }),
      fc.record({ type: fc.constant('gap'), isRestart: fc.boolean() }),
      fc.record({
        type: fc.constant('list'),
        collection: fc.constantFrom(...collections),
        elements: fc.uniqueArray(service, { selector: ({ name }) => name }),
        total: fc.nat(),
      }),
    ),
    { size: 'medium', maxLength: 60 },
  )
  .map(
    (all) =>
      all.map((message, at) =>
        deepFreeze(message.type === 'closed' ? message : { ...message, at, id: `life.${String(at)}` }),
      ) as unknown as readonly Message[],
  );

function modelOf(history: readonly Message[]): Model {
  return history.reduce<Model>((model, message) => reduce(deepFreeze(model), message), createModel(-1));
}

/** The messages of a type. */
function ofType<T extends Message['type']>(history: readonly Message[], type: T) {
  return history.filter((each): each is Extract<Message, { readonly type: T }> => each.type === type);
}

/** A law of the model after any messages. */
function law(name: string, check: (model: Model, history: readonly Message[]) => void): void {
  it(name, () => {
    fc.assert(
      fc.property(histories, (history) => {
        check(modelOf(history), history);
      }),
      { numRuns: 300 },
    );
  });
}

describe('the model', () => {
  law('is the same after the same messages', (model, history) => {
    expect(modelOf(history)).toEqual(model);
  });

  law('has each list as it was read last', (model, history) => {
    for (const collection of collections) {
      const last = ofType(history, 'list').findLast((each) => each.collection === collection);
      const { elements, total, at } = last ?? {};
      expect(model.lists[collection]).toEqual(last && { elements, total, at });
      expect(rowsOf(model, collection)).toEqual(elements ?? []);
    }
  });

  law('has the counters of the services that there are, as they were seen', (model, history) => {
    const seen = ofType(history, 'list').filter(({ collection }) => collection === 'services');
    const counts = (name: string): readonly unknown[] => {
      const all = seen.map(({ elements }) =>
        elements.find((each) => (each as { name: string }).name === name),
      );
      // A service that was gone begins anew.
      const begin = all.lastIndexOf(undefined) + 1;
      return all
        .slice(begin)
        .map((each) => (each as unknown as { current_connections: number }).current_connections);
    };
    const names = (seen.at(-1)?.elements ?? []).map((each) => (each as { name: string }).name);
    expect([...model.trails]).toEqual(names.map((name) => [name, counts(name)]));
  });

  law(
    'says since when the stream is as it is: between two attempts, it is as broken as before',
    (model, history) => {
      const runs = [{ state: 'connecting', since: -1 }];
      for (const { state, at } of ofType(history, 'stream')) {
        const shown = state === 'connecting' && runs.at(-1)?.state === 'waiting' ? 'waiting' : state;
        if (shown !== runs.at(-1)?.state) runs.push({ state: shown, since: at });
      }
      expect(model.stream).toEqual(runs.at(-1));
    },
  );

  law('says since when nothing could be read, and why at last', (model, history) => {
    const success = history.findLastIndex(({ type }) => type === 'list' || type === 'gateway');
    const [first, ...others] = ofType(history.slice(success + 1), 'failed');
    expect(model.fault).toEqual(first && { since: first.at, detail: (others.at(-1) ?? first).detail });
  });

  law('says whether the person may read, and what was missed last', (model, history) => {
    const access = history.findLast(({ type }) => type === 'closed' || type === 'gateway');
    expect(model.access.state).toBe(
      access === undefined ? 'opening' : access.type === 'closed' ? 'closed' : 'open',
    );
    const why = access?.type === 'closed' ? access.problem : undefined;
    expect(model.access).toEqual({
      state: model.access.state,
      ...(why === undefined ? {} : { problem: why }),
    });
    expect(model.gateway).toBe(ofType(history, 'gateway').at(-1)?.gateway);
    const gap = ofType(history, 'gap').at(-1);
    expect(model.renewal).toEqual(gap && { why: gap.isRestart ? 'restart' : 'gap', at: gap.at });
  });

  it('is the same object after a state of the stream that it has', () => {
    for (const [before, state] of [
      ['open', 'open'],
      ['waiting', 'waiting'],
      ['waiting', 'connecting'],
    ] as const) {
      const model = reduce(createModel(0), { type: 'stream', state: before, at: 1 });
      expect(reduce(model, { type: 'stream', state, at: 2 })).toBe(model);
    }
  });

  it('keeps the last 200 events, the newest first, and the last 60 values of a counter', () => {
    const events = Array.from(
      { length: 500 },
      (_, at) => ({ type: 'event', id: String(at), event: {} }) as Message,
    );
    expect(modelOf(events).events.map(({ id }) => id)).toEqual(
      Array.from({ length: 200 }, (_, at) => String(499 - at)),
    );
    const lists = Array.from({ length: 100 }, (_, at) => {
      const elements = [{ name: 'Sales', current_connections: at }];
      return { type: 'list', collection: 'services', elements, total: 1, at } as const;
    });
    expect(modelOf(lists).trails.get('Sales')).toEqual(Array.from({ length: 60 }, (_, at) => 40 + at));
  });
});
