/** A running monitor: connects to each of its servers at every interval and reports which of them answer. */
import { once } from 'node:events';
import { connect } from 'node:net';

import type { Admin, MonitorSettings, Server } from 'gateway-admin-core';

import { serversAt } from './router.ts';

export type RunningMonitor = ReturnType<typeof runMonitor>;

/** Begins to probe. To change the settings, another one takes its place. */
export function runMonitor(admin: Admin, settings: MonitorSettings) {
  const stopping = new AbortController();
  const underWay = new Set<string>();

  async function visit(server: Server): Promise<void> {
    // A server that keeps silent holds up its own next probe and no other.
    if (underWay.has(server.key)) return;
    underWay.add(server.key);
    const answers = await probe(server, settings.connect_timeout, stopping.signal);
    underWay.delete(server.key);
    if (stopping.signal.aborted) return;
    admin.report({ type: 'server.reported', server: server.name, status: answers ? ['running'] : [] });
  }

  const round = () => Promise.all(serversAt(admin.snapshot, settings.servers).map(visit));
  const timer = setInterval(() => void round(), settings.monitor_interval);
  return {
    settings,
    firstRound: round(),
    /** From now on nothing is reported. */
    stop(): void {
      clearInterval(timer);
      stopping.abort();
    },
  };
}

async function probe({ settings }: Server, limitSeconds: number, signal: AbortSignal): Promise<boolean> {
  const socket = connect({ host: settings.address, port: settings.port, signal });
  socket.setTimeout(Math.min(limitSeconds * 1000, 2 ** 31 - 1), () => socket.destroy(new Error('Too late')));
  const answers = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return answers;
}
