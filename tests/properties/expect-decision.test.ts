import { describe, expect, it } from '@jest/globals';
import {
  createUser,
  flushLogs,
  stopService,
  type Decision,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { sampleSnapshot } from '../support/document.ts';
import { expectDecision, someTime } from '../support/expect-decision.ts';
import { Batch, put, remove, servers, services } from '../support/internal.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
type Accepted = Extract<Decision, { readonly outcome: 'accepted' }>;
const change = { revision: 1, origin: 'command', batch: new Batch() } as const;

/** The stop, with something wrong about it. */
function spoiled(spoil: (decision: Accepted, snapshot: Snapshot) => object): Transition {
  return (snapshot, context) => {
    const decision = stop(snapshot, context);
    if (decision.outcome !== 'accepted') throw new Error('It was not accepted');
    return { ...decision, next: decision.next, ...spoil(decision, snapshot) };
  };
}

const next = (change: (decision: Accepted, snapshot: Snapshot) => object): Transition =>
  spoiled((decision, snapshot) => ({
    next: Object.freeze({ ...decision.next, ...change(decision, snapshot) }),
  }));

describe('expectDecision', () => {
  it('passes a decision that keeps the laws', () => {
    expect(expectDecision(stop).outcome).toBe('accepted');
  });

  let calls = 0;
  it.each<[string, Transition]>([
    [
      'gives another answer the second time',
      (snapshot, context) => flushLogs(snapshot, { ...context, now: (calls += 1) }),
    ],
    [
      'gives another object when it refuses',
      (snapshot, context) => {
        const decision = stopService(snapshot, 'nothing', context);
        return { ...decision, next: { ...snapshot } };
      },
    ],
    [
      'gives another object when nothing changes',
      (snapshot) => ({ outcome: 'unchanged', next: { ...snapshot }, resources: [] }),
    ],
    ['has a next snapshot that is not frozen', spoiled(({ next: after }) => ({ next: { ...after } }))],
    ['has events that are not frozen', spoiled(({ events }) => ({ events: [{ ...events[0] }] }))],
    [
      'has events that are no JSON',
      spoiled(({ events }) => ({ events: [Object.freeze({ ...events[0], more: undefined })] })),
    ],
    ['has no event', spoiled(() => ({ events: [], effects: [] }))],
    ['lacks the effect of an event', spoiled(() => ({ effects: [] }))],
    [
      'makes another next snapshot at each reading',
      (snapshot, context) => {
        const decision = stop(snapshot, context);
        return new Proxy(decision, {
          get: (target, member) =>
            member === 'next'
              ? Object.freeze({ ...target.next })
              : (Reflect.get(target, member, target) as unknown),
        });
      },
    ],
    ['skips a revision', next(() => ({ revision: 2 }))],
    ['has another epoch', next(() => ({ epoch: 'other' }))],
    [
      'is another snapshot than its events fold to',
      spoiled((_decision, snapshot) => ({ next: flushLogs(snapshot, someTime).next })),
    ],
    [
      'changes a part that no event is about',
      next((_decision, { logs }) => ({ logs: Object.freeze({ ...logs }) })),
    ],
    [
      'changes a thing that no event is about',
      next(({ next: after }, before) => {
        const bare = before.services.find('bare-service');
        if (bare === undefined) return {};
        return { services: put(after, services, Object.freeze({ ...bare }), change).services };
      }),
    ],
    [
      'has a link that leads nowhere',
      next(({ next: after }) => ({ servers: remove(after, servers, 'db-serv-1', change).servers })),
    ],
    [
      'shows what its route does not list',
      next(({ next: after }) => ({
        gateway: Object.freeze({
          ...after.gateway,
          attributes: Object.freeze({ ...after.gateway.attributes, more: 1 }),
        }),
      })),
    ],
    [
      'tells of a resource that is not there',
      spoiled(({ events }) => ({ events: [Object.freeze({ ...events[0], resource: '/services/nothing' })] })),
    ],
  ])('fails a transition that %s', (_what, step) => {
    expect(() => expectDecision(step)).toThrow();
  });

  it('fails a transition that changes what it was given', () => {
    const thawed = { ...sampleSnapshot() };
    const vandal: Transition = (snapshot, context) => {
      Object.assign(snapshot, { revision: snapshot.revision + 1 });
      return createUser(snapshot, { name: 'joan', passwordHash: 'x' }, context);
    };
    expect(() => expectDecision(vandal, thawed)).toThrow();
    expect(() => expectDecision(vandal)).toThrow(TypeError);
  });
});
