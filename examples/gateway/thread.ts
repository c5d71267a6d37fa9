/** The figures of the one thread of this gateway: the event loop of this process. */
import { performance } from 'node:perf_hooks';

import type { Threads } from 'gateway-admin-core';

const longestSeconds = 900;

/** Starts reading the load of the event loop, a reading each second. */
export function watchThread() {
  const readings = [performance.eventLoopUtilization()];
  const timer = setInterval(() => {
    readings.push(performance.eventLoopUtilization());
    if (readings.length > longestSeconds + 1) readings.shift();
  }, 1000).unref();

  function threads(): Threads {
    const now = performance.eventLoopUtilization();
    /** The busy share of the last seconds, from 0 to 1; of the time since the start if that is shorter. */
    const loadOf = (seconds: number): number => {
      const since = readings.at(-seconds - 1) ?? readings[0];
      return rounded(performance.eventLoopUtilization(now, since).utilization || 0); // NaN: no time has passed.
    };
    const sockets = process.getActiveResourcesInfo().filter((type) => /^(?:TCP|Pipe|TTY)/.test(type));
    return {
      load_average: {
        historic: rounded(now.utilization),
        current: loadOf(1),
        '1min': loadOf(60),
        '5min': loadOf(300),
        '15min': loadOf(longestSeconds),
      },
      threads: [
        {
          id: 0,
          // The thread that answers is busy with the input that asks.
          state: 'processing',
          event: ['in'],
          file_descriptors: sockets.length,
          run_time: rounded(now.active / 1000), // The busy seconds since the start.
        },
      ],
    };
  }

  return { threads, stop: () => clearInterval(timer) };
}

function rounded(value: number): number {
  return Number(value.toFixed(3));
}
