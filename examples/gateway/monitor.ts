/** A running monitor: connects to each of its servers at every interval and reports which of them answer. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import type { Admin, MonitorSettings, Server } from 'gateway-admin-core';

import { placeOf } from './place.ts';
import { serversAt } from './router.ts';

export type RunningMonitor = ReturnType<typeof runMonitor>;

/** Starts probing. To change the settings, stop this monitor and start another one. */
export function runMonitor(admin: Admin, settings: MonitorSettings) {
  const probes = new Map<string, Socket>();
  let isStopped = false;

  async function probe({ key, name, settings: place }: Server): Promise<void> {
    // A silent server delays only its own next probe.
    if (probes.has(key)) return;
    const socket = connect(placeOf(place));
    probes.set(key, socket);
    socket.setTimeout(settings.connect_timeout * 1000, () => socket.destroy(new Error('Too late')));
    const answer = await Promise.allSettled([once(socket, 'connect')]);
    probes.delete(key);
    socket.destroy();
    const status = answer[0].status === 'fulfilled' ? (['running'] as const) : [];
    if (!isStopped) admin.report({ type: 'server.reported', server: name, status });
  }

  const round = () => Promise.all(serversAt(admin.snapshot, settings.servers).map(probe));
  const timer = setInterval(() => void round(), settings.monitor_interval);
  /** Stops probing and reporting. */
  const stop = (): void => {
    isStopped = true;
    clearInterval(timer);
    for (const socket of probes.values()) socket.destroy(new Error('Stopped'));
  };
  return { settings, firstRound: round(), stop };
}
