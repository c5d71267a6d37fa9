/** A running monitor: connects to each of its servers at every interval and reports which of them answer. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import type { Admin, MonitorSettings, Server, Snapshot } from 'gateway-admin-core';

import { placeOf } from './place.ts';

export type RunningMonitor = ReturnType<typeof runMonitor>;

/** The settings that a monitor has. Its servers are keys. */
type Settings = Pick<MonitorSettings, 'servers' | 'monitor_interval' | 'connect_timeout'>;

/** Starts probing. To change the settings, stop this monitor and start another one. */
export function runMonitor(admin: Admin, settings: Settings) {
  const probes = new Map<string, Socket>();
  let isStopped = false;

  async function probe({ key, name, settings: place }: Server): Promise<void> {
    // A silent server delays only its own next probe.
    if (probes.has(key)) return;
    const socket = connect(placeOf(place));
    probes.set(key, socket);
    const { connect_timeout: seconds } = settings;
    const late = new Error(`no answer within ${String(seconds)} s`);
    socket.setTimeout(seconds * 1000, () => socket.destroy(late));
    const [answer] = await Promise.allSettled([once(socket, 'connect')]);
    probes.delete(key);
    socket.destroy();
    if (isStopped) return;
    const seen =
      answer.status === 'fulfilled'
        ? ({ status: ['running'] } as const)
        : { status: [], reason: reasonOf(answer.reason as NodeJS.ErrnoException) };
    admin.report({ type: 'server.reported', server: name, ...seen });
  }

  const round = () => Promise.all(serversOf(admin.snapshot, settings.servers).map(probe));
  const timer = setInterval(() => void round(), settings.monitor_interval);
  /** Stops probing and reporting. */
  const stop = (): void => {
    isStopped = true;
    clearInterval(timer);
    for (const socket of probes.values()) socket.destroy(new Error('Stopped'));
  };
  return { firstRound: round(), stop };
}

function serversOf({ servers }: Snapshot, keys: readonly string[]): readonly Server[] {
  return keys.flatMap((key) => servers.find(key) ?? []);
}

/** The errors of a name with several addresses come as one error without a message. */
function reasonOf({ message, code = '' }: NodeJS.ErrnoException): string {
  return message === '' ? code : message;
}
