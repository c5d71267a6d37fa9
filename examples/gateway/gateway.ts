/**
 * The gateway: the running listeners, monitors and sessions, and the gateway port of the interface. This file has only
 * sockets and timers. What a router or a session needs to know, it reads from the snapshot at each use.
 */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Admin, AdminOptions, MonitorSettings } from 'gateway-admin-core';
import { createGatewayPort, type OpenedGatewayPort } from 'gateway-admin-core/gateway-port';

import { readBeginning, type SessionBeginning } from './beginning.ts';
import { createListeners, type Listeners } from './listener.ts';
import { runMonitor, type RunningMonitor } from './monitor.ts';
import { chooseServer, describeServers } from './router.ts';
import { openSession, type OpenSession } from './session.ts';
import { fields, refusalOf } from './setting.ts';
import { watchThread } from './thread.ts';
import { turnAway } from './turn-away.ts';

const byAdministrator = 'The administrator has closed the session.';

/** A service, as it was last wanted. */
interface Running {
  readonly state: 'started' | 'stopped';
  readonly listeners: Listeners;
}

export class Gateway {
  readonly port: OpenedGatewayPort;
  readonly #thread = watchThread();
  readonly #services = new Map<string, Running>();
  readonly #monitors = new Map<string, RunningMonitor>();
  readonly #sessions = new Map<number, OpenSession>();
  #lastSession = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #admin: Admin | undefined;

  /** @param number - which one of the gateways of this machine it is */
  constructor(number = 0) {
    this.port = createGatewayPort({
      services: {
        fields: fields.services,
        refuse: (wanted) => refusalOf('services', wanted),
        apply: async (wanted, { key, signal }) => {
          const welcome = (client: Socket): void => void this.#welcome(client, key);
          const { listeners } = this.#services.get(key) ?? { listeners: createListeners(welcome, number) };
          if (wanted === undefined) this.#services.delete(key);
          else this.#services.set(key, { state: wanted.state, listeners });
          await listeners.bring(wanted?.state === 'started' ? wanted.listeners : [], signal);
        },
        read: (key, applied) =>
          applied && { ...applied, listening: this.#services.get(key)?.listeners.open() ?? [] },
      },
      monitors: {
        fields: fields.monitors,
        refuse: (wanted) => refusalOf('monitors', wanted),
        apply: async (wanted, { key }) => {
          this.#monitors.get(key)?.stop();
          this.#monitors.delete(key);
          if (wanted?.state === 'started') await this.#runMonitor(key, wanted);
        },
        read: (key, applied) =>
          applied && { ...applied, state: this.#monitors.has(key) ? 'started' : 'stopped' },
      },
      // Servers and filters are read from the snapshot when they are needed.
      servers: {
        fields: fields.servers,
        refuse: (wanted) => refusalOf('servers', wanted),
        apply: () => undefined,
        read: (_key, applied) => applied,
      },
      filters: {
        fields: fields.filters,
        refuse: (wanted) => refusalOf('filters', wanted),
        apply: () => undefined,
        read: (_key, applied) => applied,
      },
      closeSessions: async (sessions) => {
        const open = sessions.flatMap(({ id }) => this.#sessions.get(id) ?? []);
        await Promise.all(open.map((session) => session.close(byAdministrator)));
      },
      closeConnections: async (connections) => {
        for (const { session, server } of connections) await this.#sessions.get(session)?.disconnect(server);
      },
      flushLogs: () => new Promise<void>((done) => process.stdout.write('', () => done())),
      telemetry: {
        idle: (session) => this.#sessions.get(session)?.idleSeconds(),
        statistics: (session) => this.#sessions.get(session)?.statistics,
        threads: () => this.#thread.threads(),
      },
      close: () => this.#end(),
    });
  }

  get admin(): Admin {
    if (this.#admin === undefined) throw new Error('The gateway is not open yet.');
    return this.#admin;
  }

  /** Brings everything to what the snapshot shows. */
  async open(admin: Admin): Promise<void> {
    this.#admin = admin;
    this.#idleTimer = setInterval(() => this.#closeIdle(), 250);
    await this.port.open(admin);
  }

  /** Closes the interface, which settles the commands in flight, and then all listeners, monitors and sessions. */
  async close(): Promise<void> {
    await this.admin.close();
    await this.port[Symbol.asyncDispose]();
  }

  async #end(): Promise<void> {
    clearInterval(this.#idleTimer);
    this.#thread.stop();
    for (const monitor of this.#monitors.values()) monitor.stop();
    const ended = AbortSignal.abort();
    for (const { listeners } of this.#services.values()) await listeners.bring([], ended);
    const reason = 'The gateway is shutting down.';
    await Promise.all([...this.#sessions.values()].map((session) => session.close(reason)));
  }

  /** Waits for the first probes, so that the first client finds running servers. Does not wait for a silent server. */
  async #runMonitor(
    key: string,
    settings: Pick<MonitorSettings, (typeof fields.monitors)[number]>,
  ): Promise<void> {
    const monitor = runMonitor(this.admin, settings);
    this.#monitors.set(key, monitor);
    await Promise.race([monitor.firstRound, sleep(1000, undefined, { ref: false })]);
  }

  /** Waits until a client has begun. */
  async #welcome(client: Socket, key: string): Promise<void> {
    const beginning = await readBeginning(client);
    if (beginning?.type === 'session') this.#openSession(client, key, beginning);
    if (beginning?.type === 'cancel') this.#cancel(client, beginning.packet);
  }

  /** Opens a session, or turns the client away. */
  #openSession(client: Socket, key: string, beginning: SessionBeginning): void {
    const { snapshot } = this.admin;
    const service = snapshot.services.find(key);
    if (service === undefined) return void client.destroy();
    const { name, settings } = service;
    const most = settings.max_connection ?? 0;
    const server = chooseServer(snapshot, service);
    // The snapshot shows a stop only when it is done.
    if (this.#services.get(key)?.state !== 'started')
      turnAway(client, '57P03', `The service ${name} is stopped.`);
    else if (most > 0 && snapshot.sessions.countOfService(key) >= most) {
      const reason = `The service ${name} has as many clients as it may have: ${String(most)}.`;
      turnAway(client, '53300', reason);
    } else if (server === undefined) {
      const reason = `The service ${name} has no usable server: ${describeServers(snapshot, service)}.`;
      turnAway(client, '57P03', reason);
    } else {
      const id = (this.#lastSession += 1);
      this.#sessions.set(id, openSession(this.admin, id, client, beginning, service, server));
      client.once('close', () => this.#sessions.delete(id));
    }
  }

  /** Says in a plan what this gateway would do by itself. */
  readonly foresee: NonNullable<AdminOptions['foresee']> = ({ effects, closing }) => [
    ...(closing?.what === 'connections'
      ? [
          {
            code: 'host-sessions-end',
            resource: closing.resource,
            detail: 'This gateway moves no session to another connection: the sessions end with theirs.',
          },
        ]
      : []),
    ...effects.flatMap((effect) => {
      if (effect.type !== 'service.update') return [];
      const { connection_timeout: seconds = 0 } = effect.to;
      if (seconds === 0) return [];
      const count = this.#idleOf(effect.service, seconds).length;
      const now = count === 1 ? '1 is' : `${String(count)} are`;
      const detail = `Sessions that are idle for ${String(seconds)} s are closed. Now ${now}.`;
      return [{ code: 'host-idle-sessions', resource: effect.resource, count, detail }];
    }),
  ];

  #idleOf(service: string, seconds: number): readonly OpenSession[] {
    return [...this.#sessions.values()].filter(
      (session) => session.service === service && session.idleSeconds() >= seconds,
    );
  }

  /** Sends a request to cancel a query to the server whose key the request carries. */
  #cancel(client: Socket, request: Buffer): void {
    const session = [...this.#sessions.values()].find((each) => each.hasKeyOf(request));
    if (session === undefined) client.destroySoon();
    else session.cancel(request, client);
  }

  /** Closes the sessions that have been idle for as long as their services allow now. */
  #closeIdle(): void {
    const { services } = this.admin.snapshot;
    for (const { key, settings } of services) {
      const { connection_timeout: seconds = 0 } = settings;
      if (seconds === 0) continue;
      for (const session of this.#idleOf(key, seconds))
        void session.close(`The client was silent for ${String(seconds)} s.`);
    }
  }
}
