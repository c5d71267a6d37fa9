import { getEventListeners } from 'node:events';

import { describe, expect, it, jest } from '@jest/globals';
import { systemClock } from 'gateway-admin-core';

/** Says after a while whether a promise has settled. */
async function isPending(promise: Promise<void>): Promise<boolean> {
  const later = new Promise<true>((resolve) => setTimeout(resolve, 30, true));
  return Promise.race([promise.then(() => false), later]);
}

function timersThatKeepAlive(): number {
  return process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
}

describe('systemClock', () => {
  it('tells the time of the machine', () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it('counts the milliseconds that pass', async () => {
    const read = (): number => systemClock.monotonic?.() ?? NaN;
    const begin = read();
    await systemClock.sleep(40);
    const passed = read() - begin;
    // A timer of Node may ring a fraction of a millisecond early.
    expect(passed).toBeGreaterThan(38);
    expect(passed).toBeLessThan(60_000);
  });

  it('cannot be changed', () => {
    expect(Object.isFrozen(systemClock)).toBe(true);
  });
});

describe('sleep', () => {
  it('lasts as long as was asked for', async () => {
    const begin = performance.now();
    await systemClock.sleep(40);
    expect(performance.now() - begin).toBeGreaterThanOrEqual(40);
  });

  it.each([0, -1, Number.NEGATIVE_INFINITY])('of %d milliseconds ends', async (milliseconds) => {
    await expect(systemClock.sleep(milliseconds)).resolves.toBeUndefined();
  });

  it('ends when the signal aborts', async () => {
    const controller = new AbortController();
    const sleep = systemClock.sleep(3_600_000, controller.signal);
    expect(await isPending(sleep)).toBe(true);
    controller.abort();
    await expect(sleep).resolves.toBeUndefined();
  });

  it('does not begin when the signal was aborted before', async () => {
    const signal = AbortSignal.abort();
    await expect(systemClock.sleep(3_600_000, signal)).resolves.toBeUndefined();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('leaves no listener behind, whichever way it ends', async () => {
    const controller = new AbortController();
    const short = systemClock.sleep(5, controller.signal);
    const long = systemClock.sleep(3_600_000, controller.signal);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(2);
    await short;
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    controller.abort();
    await long;
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it.each([2 ** 31 - 1, 2 ** 31, Number.MAX_SAFE_INTEGER, Infinity])(
    'of %d milliseconds does not end at once',
    async (milliseconds) => {
      const controller = new AbortController();
      const sleep = systemClock.sleep(milliseconds, controller.signal);
      expect(await isPending(sleep)).toBe(true);
      controller.abort();
      await sleep;
    },
  );

  it.each([
    [undefined, 1],
    [{}, 1],
    [{ keepAlive: true }, 1],
    [{ keepAlive: false }, 0],
  ])('with the options %j keeps the process alive with %d timer', async (options, timers) => {
    const before = timersThatKeepAlive();
    const controller = new AbortController();
    const sleep = systemClock.sleep(3_600_000, controller.signal, options);
    expect(timersThatKeepAlive()).toBe(before + timers);
    controller.abort();
    await sleep;
    expect(timersThatKeepAlive()).toBe(before);
  });

  it.each([
    [3_600_000, 3_600_000],
    [2 ** 40, 2 ** 31 - 1],
  ])('of %d milliseconds starts one timer, of %d milliseconds', async (milliseconds, longest) => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const controller = new AbortController();
    const sleep = systemClock.sleep(milliseconds, controller.signal);
    const started = timers.mock.calls.map(([, delay]) => delay);
    timers.mockRestore();
    controller.abort();
    await sleep;
    expect(started).toHaveLength(1);
    expect(started[0]).toBeLessThanOrEqual(longest);
    // The time counts from the call on, which may have been interrupted.
    expect(started[0]).toBeGreaterThan(longest - 60_000);
  });
});
