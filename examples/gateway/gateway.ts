/**
 * The gateway: the running listeners, monitors and sessions, and the gateway port of the interface. This file has only
 * sockets and timers. Settings, statuses and counts are read from the snapshot at each use.
 */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  EffectRefusedError,
  isUpdateInPlace,
  type Admin,
  type AdminOptions,
  type Effect,
  type GatewayPort,
  type Listener,
  type MonitorSettings,
  type Telemetry,
} from 'gateway-admin-core';

import { readBeginning, type SessionBeginning } from './beginning.ts';
import { createListeners, type Listeners } from './listener.ts';
import { runMonitor, type RunningMonitor } from './monitor.ts';
import { chooseServer, describeServers } from './router.ts';
import { openSession, type OpenSession } from './session.ts';
import { refusalOf } from './setting.ts';
import { watchThread } from './thread.ts';
import { turnAway } from './turn-away.ts';

const byAdministrator = 'The administrator has closed the session.';

export class Gateway implements GatewayPort {
  readonly supports = ['create', 'delete', 'drain'] as const;
  readonly telemetry: Telemetry = {
    idle: (session) => this.#sessions.get(session)?.idleSeconds(),
    statistics: (session) => this.#sessions.get(session)?.statistics,
    threads: () => this.#thread.threads(),
  };
  readonly #thread = watchThread();
  readonly #listeners = new Map<string, Listeners>();
  readonly #monitors = new Map<string, RunningMonitor>();
  readonly #sessions = new Map<number, OpenSession>();
  readonly #number: number;
  #lastSession = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #admin: Admin | undefined;

  /** @param number - which one of the gateways of this machine it is */
  constructor(number = 0) {
    this.#number = number;
  }

  get admin(): Admin {
    if (this.#admin === undefined) throw new Error('The gateway is not open yet.');
    return this.#admin;
  }

  /**
   * Opens the services and monitors that the snapshot shows as started. Reports a service that cannot open as failed.
   */
  async open(admin: Admin): Promise<void> {
    this.#admin = admin;
    // The sessions of an earlier process have ended with it.
    admin.report({ type: 'sessions.complete' });
    this.#idleTimer = setInterval(() => this.#closeIdle(), 250);
    const { monitors, services } = admin.snapshot;
    for (const { key, listeners } of services) this.#addListeners(key, listeners);
    for (const { key, state, settings } of monitors) if (state === 'started') this.#monitor(key, settings);
    // Wait for the first probes, so that the first client finds running servers. Do not wait for a silent server.
    const probed = Promise.all([...this.#monitors.values()].map(({ firstRound }) => firstRound));
    await Promise.race([probed, sleep(1000, undefined, { ref: false })]);
    for (const { key } of services) await this.#openService(key);
  }

  /** Knows the listeners of a service. They are closed until the service starts. */
  #addListeners(key: string, listeners: readonly Listener[]): void {
    const welcome = (client: Socket): void => void this.#welcome(client, key);
    this.#listeners.set(key, createListeners(listeners, welcome, this.#number));
  }

  /** Opens a service that is started. In a fleet, another node can stop the service meanwhile. */
  async #openService(key: string): Promise<void> {
    const isStarted = (): boolean => this.admin.snapshot.services.find(key)?.state === 'started';
    const listeners = this.#listeners.get(key);
    if (listeners === undefined || !isStarted()) return;
    await listeners.open().catch((error: unknown) => {
      const { message: reason } = error as Error;
      this.admin.report({ type: 'service.reported', service: key, state: 'failed', reason });
    });
    if (!isStarted()) listeners.close();
  }

  /** Closes the interface, which settles the commands in flight, and then all listeners, monitors and sessions. */
  async close(): Promise<void> {
    await this.admin.close();
    clearInterval(this.#idleTimer);
    this.#thread.stop();
    for (const monitor of this.#monitors.values()) monitor.stop();
    for (const listeners of this.#listeners.values()) listeners.close();
    const reason = 'The gateway is shutting down.';
    await Promise.all([...this.#sessions.values()].map((session) => session.close(reason)));
  }

  async apply(effect: Effect): Promise<void> {
    const reason = refusalOf(effect);
    if (reason !== undefined) throw new EffectRefusedError(reason);
    switch (effect.type) {
      case 'service.create':
        this.#addListeners(effect.service, effect.to.listeners ?? []);
        break;
      case 'service.delete':
        this.#listeners.get(effect.service)?.close();
        this.#listeners.delete(effect.service);
        break;
      case 'listener.create':
        return this.#listeners.get(effect.service)?.add(effect.to);
      case 'listener.delete':
        this.#listeners.get(effect.service)?.remove(effect.from.name);
        break;
      case 'service.start':
        return this.#listeners.get(effect.service)?.open();
      case 'service.stop':
        this.#listeners.get(effect.service)?.close();
        break;
      case 'monitor.start':
        this.#monitor(effect.monitor, this.admin.snapshot.monitors.find(effect.monitor)?.settings);
        break;
      case 'monitor.stop':
        this.#monitor(effect.monitor);
        break;
      case 'monitor.update': {
        const running = this.#monitors.get(effect.monitor);
        if (running !== undefined) this.#monitor(effect.monitor, { ...running.settings, ...effect.to });
        break;
      }
      case 'sessions.close':
        await Promise.all(
          effect.sessions.map(async ({ id, connected }) => this.#find(id, connected)?.close(byAdministrator)),
        );
        break;
      case 'connections.close':
        for (const { session, connected } of effect.connections)
          await this.#find(session, connected)?.disconnect(effect.server);
        break;
      case 'logs.flush':
        return new Promise((done) => process.stdout.write('', () => done()));
      case 'service.update':
      case 'server.update':
      case 'filter.update':
      case 'monitor.create':
      case 'monitor.delete':
      case 'server.create':
      case 'server.delete':
      case 'filter.create':
      case 'filter.delete':
        break; // These are read from the snapshot when they are needed.
      default:
        throw new EffectRefusedError(`This gateway cannot do ${(effect satisfies never as Effect).type}.`);
    }
  }

  /** Before `open`, no effect is in place: commands that were in flight in an earlier life have failed. */
  inspect(effect: Effect): Promise<'in-place' | 'not-in-place'> {
    return Promise.resolve(this.#admin && this.#isInPlace(effect, this.#admin) ? 'in-place' : 'not-in-place');
  }

  #isInPlace(effect: Effect, { snapshot }: Admin): boolean {
    switch (effect.type) {
      case 'service.create':
      case 'service.delete':
        return this.#listeners.has(effect.service) === (effect.type === 'service.create');
      case 'listener.create':
        return this.#listeners.get(effect.service)?.has(effect.to) === true;
      case 'listener.delete':
        return this.#listeners.get(effect.service)?.knows(effect.from.name) === false;
      case 'service.start':
      case 'service.stop':
        return this.#listeners.get(effect.service)?.isOpen() === (effect.type === 'service.start');
      case 'monitor.start':
      case 'monitor.stop':
        return this.#monitors.has(effect.monitor) === (effect.type === 'monitor.start');
      case 'monitor.update':
        return isUpdateInPlace(
          effect,
          this.#monitors.get(effect.monitor)?.settings ?? snapshot.monitors.find(effect.monitor)?.settings,
        );
      case 'sessions.close':
        return !effect.sessions.some(({ id, connected }) => this.#find(id, connected));
      case 'connections.close':
        return !effect.connections.some((each) =>
          this.#find(each.session, each.connected)?.isConnectedTo(effect.server),
        );
      case 'logs.flush':
        return process.stdout.writableLength === 0;
      case 'service.update':
        return isUpdateInPlace(effect, snapshot.services.find(effect.service)?.settings);
      case 'server.update': {
        const settings = snapshot.servers.find(effect.server)?.settings;
        return isUpdateInPlace(effect, settings && { ...settings, status: settings.state });
      }
      case 'filter.update':
        return isUpdateInPlace(effect, snapshot.filters.find(effect.filter)?.settings);
      case 'monitor.create':
      case 'monitor.delete':
        return (snapshot.monitors.find(effect.monitor) !== undefined) === (effect.type === 'monitor.create');
      case 'server.create':
      case 'server.delete':
        return (snapshot.servers.find(effect.server) !== undefined) === (effect.type === 'server.create');
      case 'filter.create':
      case 'filter.delete':
        return (snapshot.filters.find(effect.filter) !== undefined) === (effect.type === 'filter.create');
      default:
        effect satisfies never;
        return false; // `apply` refuses such an effect.
    }
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
    if (this.#listeners.get(key)?.isOpen() !== true)
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

  /** Starts a monitor with these settings, or stops the monitor if there are no settings. */
  #monitor(key: string, settings?: MonitorSettings): void {
    this.#monitors.get(key)?.stop();
    this.#monitors.delete(key);
    if (settings !== undefined) this.#monitors.set(key, runMonitor(this.admin, settings));
  }

  /** The session with this id and connect time; `undefined` if a later session has the id. */
  #find(id: number, connected: number): OpenSession | undefined {
    const session = this.#sessions.get(id);
    return session?.connected === connected ? session : undefined;
  }
}
