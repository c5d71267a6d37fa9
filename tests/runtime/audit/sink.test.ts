/**
 * What an audit sink gets. tests/scenarios/audit/sink.txt has what clients notice of a sink that fails.
 */
import { describe, expect, it } from '@jest/globals';
import {
  StoreLostError,
  type AdminOptions,
  type AuditRecord,
  type AuditSink,
  type Transition,
} from 'gateway-admin-core';

import { inShort, readAudit } from '../../support/audit-reader.ts';
import { FailingSink, sinkFailures } from '../../support/failing-sink.ts';
import { FailingStore } from '../../support/failing-store.ts';
import { openRunning, runAdmin, type Running } from '../../support/running-admin.ts';
import { missing, start, stop } from '../../support/transition.ts';

const nothingKept = sinkFailures['rejects, and nothing is kept'];
const never = (): Promise<never> => new Promise(() => undefined);
const unavailable = {
  outcome: 'refused',
  problem: {
    code: 'audit-unavailable',
    status: 503,
    detail:
      'The audit records of earlier commands are not kept yet, so this command was refused. Nothing was changed. ' +
      'Reading still works. Send the command again in a few seconds. If that does not help, repair the audit sink as ' +
      'the error in the log of the gateway says.',
  },
};
const peer = '10.0.0.7';

interface Audited extends Running {
  readonly sink: FailingSink;
  readonly records: readonly AuditRecord[];
  /** Sends a request that stops the service, of a caller whom the host knows; gives status and headers. */
  readonly send: (request?: object) => Promise<readonly [number, Readonly<Record<string, string>>]>;
  /** Fails to log in, with a command; so many times, each from another peer. */
  readonly knock: (times: number) => Promise<void>;
}

function withoutReader(required: boolean, options: Partial<AdminOptions> = {}) {
  const sink = new FailingSink();
  return {
    sink,
    ...runAdmin({ ...(options as object), observe: { ...options.observe, audit: { sink, required } } }),
  };
}

function audited(required: boolean, options: Partial<AdminOptions> = {}): Audited {
  const running = withoutReader(required, options);
  const { admin } = running;
  const request = { method: 'PUT', target: '/service/My-Service/stop', headers: {}, peer };
  return {
    ...running,
    records: readAudit(admin),
    send: async (more = {}) => {
      const handled = await admin.handle({ ...request, principal: { name: 'ada' }, ...more });
      if (!handled.matched) throw new Error('There is nothing at this path');
      return [handled.response.status, handled.response.headers];
    },
    knock: async (times) => {
      for (let at = 0; at < times; at += 1)
        await admin.handle({ ...request, principal: null, peer: `peer ${String(at)}` });
    },
  };
}

/** A call of a sink that lasts until a test ends it. */
function createHang() {
  const aborted: boolean[] = [];
  let last = (): void => undefined;
  const hang = (keep: () => void, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      last = () => {
        aborted.push(signal.aborted);
        keep();
        resolve();
      };
    });
  return { hang, end: () => last(), aborted };
}

/** Whether a promise has settled once the code under test is idle. */
async function isSettled({ clock }: Running, promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = (): void => void (settled = true);
  promise.then(settle, settle);
  await clock.settle();
  return settled;
}

describe('an audit sink', () => {
  it('gets the records of one turn, and those that came while it was busy, in one call', async () => {
    const { admin, sink, clock } = audited(false);
    const executions = Array.from({ length: 50 }, () => admin.execute(missing));
    await Promise.all(executions);
    await clock.settle();
    expect(sink.calls.length).toBeLessThan(5);
    expect(sink.kept).toHaveLength(50);
  });

  it('gets at most about 1 MiB in one call, and a larger record alone', async () => {
    const { admin, sink, clock } = audited(false);
    sink.fail(nothingKept, 0, 1);
    const long = 'x'.repeat(60_000);
    const refusing = (count: number): Transition =>
      (() => ({ outcome: 'refused', resources: Array(count).fill(long), problem: {} })) as never;
    const [large, huge] = [refusing(4), refusing(100)];
    for (const transition of [large, large, large, large, large, huge, large])
      await admin.execute(transition);
    await clock.advance(100);
    expect(sink.calls).toEqual([1, 4, 1, 1, 1]);
    expect(sink.kept).toHaveLength(7);
  });

  const steps: readonly ((running: Audited) => Promise<unknown>)[] = [
    ({ send }) => send(),
    ({ send }) => send({ target: '/service/none/stop' }),
    ({ knock }) => knock(2),
    ({ admin }) => admin.execute(start, { actor: 'ada' }),
    ({ admin }) => admin.execute(missing),
    ({ send }) => send(),
  ];
  const whens = [0, 1, 2, 3, 4, 5].flatMap((good) => [1, 3].map((times) => [good, times] as const));

  // Promise: audit-sink
  it.each(Object.entries(sinkFailures))(
    'keeps each record once, frozen, whichever call %s, required or not',
    async (how, fails) => {
      for (const required of [false, true])
        for (const [good, times] of whens) {
          const running = audited(required);
          const { admin, sink, clock, records, errors } = running;
          sink.fail(fails, good, times);
          for (const step of steps) await clock.waitFor(step(running));
          await clock.advance(60_000);
          await clock.waitFor(admin.close());
          expect([required, good, times, sink.kept]).toEqual([required, good, times, records]);
          expect(sink.kept.every((record) => Object.isFrozen(record))).toBe(true);
          expect(records.length).toBeGreaterThanOrEqual(7);
          expect(sink.failures).toBeGreaterThan(0);
          // An outage is told once. A late answer ends it.
          expect(errors).toHaveLength(how === 'answers late that all is kept' ? sink.failures : 1);
        }
    },
  );
});

describe('a sink that fails and is not required', () => {
  it('is called again with growing pauses, which keep no process alive', async () => {
    const { admin, clock, errors, sink } = audited(false);
    sink.fail(nothingKept);
    await admin.execute(stop);
    await clock.settle();
    const times: number[] = [];
    for (let calls = sink.calls.length; times.length < 8; calls = sink.calls.length) {
      const before = clock.monotonic();
      while (sink.calls.length === calls) await clock.next();
      times.push(clock.monotonic() - before);
    }
    expect(times).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    expect(errors.map(String)).toEqual([
      'HostError: audit.append failed: The disk is full. The call is made again until the sink keeps the records.',
    ]);
  });

  it('is not called again while a late call is in flight', async () => {
    const { admin, sink, clock } = audited(false);
    const { hang, end, aborted } = createHang();
    sink.fail(hang, 0, 1);
    await admin.execute(stop);
    await clock.advance(60_000);
    expect(sink.calls).toEqual([1]);
    await admin.execute(start);
    end();
    await clock.settle();
    expect([sink.calls, aborted, sink.kept.length]).toEqual([[1, 1], [true], 2]);
  });

  it('loses no record that is handed over while there is no room', async () => {
    const { admin, sink, clock } = withoutReader(true, { limits: { maxAuditKept: 1 } });
    const { hang, end } = createHang();
    sink.fail(hang, 0, 1);
    await admin.execute(missing);
    await clock.settle();
    const execution = admin.execute(stop);
    await clock.settle();
    end();
    await execution;
    expect(inShort(sink.kept)).toEqual([
      'nobody execute refused service-not-found',
      'nobody execute accepted',
    ]);
  });
});

it('the number of dropped records is complete, also if the record that says so was dropped itself', async () => {
  const { admin, sink, clock } = audited(false, { limits: { maxAuditKept: 3 } });
  let attempts = 0;
  for (const refused of [5, 4, 0]) {
    sink.fail(nothingKept);
    for (let at = 0; at < refused; at += 1) await admin.execute(missing);
    await clock.settle();
    attempts += refused;
    // The sink keeps one call, and then fails again, while it is told what was dropped.
    sink.fail(nothingKept, 1);
    await clock.advance(5000);
  }
  sink.work();
  await clock.advance(10_000);
  const counts = sink.kept.map((record) => (record.kind === 'dropped' ? record.count : 1));
  expect(sink.kept.filter(({ kind }) => kind === 'dropped')).toHaveLength(1);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(attempts);
});

describe('a sink that is required', () => {
  // Promise: audit-before-answer
  it('has kept the record of a command before the command is answered', async () => {
    const running = audited(true);
    const { admin, sink, send, clock } = running;
    const { hang, end } = createHang();
    sink.fail(hang, 0, 3);
    for (const command of [() => send(), () => send(), () => admin.execute(start)]) {
      const answer = command();
      expect(await isSettled(running, answer)).toBe(false);
      end();
      expect(await isSettled(running, answer)).toBe(true);
    }
    sink.fail(hang);
    expect((await send({ target: '/service/none/stop' }))[0]).toBe(404);
    end();
    await clock.settle();
  });

  it('refuses commands also if it is only too slow for a record', async () => {
    const running = audited(true);
    const { admin, sink, clock, errors } = running;
    sink.fail((keep) => clock.sleep(8000).then(keep));
    const first = admin.execute(stop);
    await clock.advance(100);
    const second = admin.execute(start);
    await clock.advance(10_000);
    expect([(await first).outcome, (await second).outcome]).toEqual(['accepted', 'accepted']);
    expect(await admin.execute(stop)).toMatchObject(unavailable);
    await clock.advance(20_000);
    const last = admin.execute(stop);
    await clock.advance(10_000);
    expect([(await last).outcome, errors]).toEqual(['accepted', []]);
  });
});

describe('the end of an interface with a sink', () => {
  it('waits for the record of a request whose password is hashed when the end begins', async () => {
    let hashed: (hash: string) => void = () => undefined;
    const hash = (): Promise<string> => new Promise((resolve) => (hashed = resolve));
    const hasher = { hash, verify: () => Promise.resolve(false) };
    const { admin, sink, send, clock } = audited(false, { hasher });
    const headers = { 'content-type': 'application/json' };
    const creating = send({ target: '/users', headers, body: '{"name":"eve","password":"plum pie"}' });
    await clock.settle();
    const closing = admin.close();
    await clock.settle();
    expect(sink.disposals).toBe(0);
    hashed('a hash');
    await closing;
    expect([(await creating)[0], sink.disposals]).toEqual([503, 1]);
    expect(inShort(sink.kept)).toEqual(['ada users.create refused closed']);
  });

  it('takes one deadline for a sink that does not answer, and one for its disposal', async () => {
    const { admin, sink, errors, clock } = audited(false);
    sink.fail(never);
    sink[Symbol.asyncDispose] = never;
    await admin.execute(stop);
    const closing = admin.close();
    await clock.waitFor(closing);
    expect(clock.monotonic()).toBe(20_000);
    expect(errors.map(String)).toEqual([
      expect.stringContaining('took longer than 10000 ms to keep records'),
      expect.stringContaining('1 audit records are lost'),
      expect.stringContaining('took longer than 10000 ms to be disposed of'),
    ]);
  });

  it('tells onError if the disposal fails, and needs none', async () => {
    const broken = audited(false);
    broken.sink[Symbol.asyncDispose] = () => Promise.reject(new Error('busy'));
    await broken.admin.close();
    expect(broken.errors).toMatchObject([
      { call: 'audit.dispose', message: expect.stringContaining('busy') },
    ]);
    const kept: AuditRecord[] = [];
    const sink: AuditSink = { append: (records) => Promise.resolve(void kept.push(...records)) };
    const { admin, errors } = runAdmin({ observe: { audit: { sink } } });
    await admin.execute(stop);
    await admin.close();
    expect([kept.length, errors]).toEqual([1, []]);
  });
});

it('a sink is disposed of if the start fails', async () => {
  const sink = new FailingSink();
  const store = new FailingStore();
  store.failWith(new StoreLostError('gone'));
  await expect(openRunning(store, { observe: { audit: { sink } } })).rejects.toThrow('gone');
  expect(sink.disposals).toBe(1);
});
