/**
 * The world of a walk: clients that come and go, another operator, a gateway that refuses, is slow, or does not say.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { EffectRefusedError, nameKey, type Admin, type HostReport } from 'gateway-admin-core';
import { createClient, sendTo, type Client } from 'gateway-admin-core/client';
import type { ApplyWay, Random } from 'gateway-admin-core/testing';

import type { Served } from './served-console.ts';
import { setReadOnly } from '../support/read-only.ts';

/** The actor of the commands of the other operator. */
const otherActor = 'other';

const mostSessions = 60;

export class World {
  readonly #random: Random;
  readonly #served: Served;
  readonly client: Client;
  #created = 0;

  constructor(served: Served, random: Random) {
    this.#served = served;
    this.#random = random;
    this.client = clientOf(served.admin, otherActor);
  }

  /** Something happens, or nothing. */
  async goOn(): Promise<void> {
    const { chance } = this.#random;
    if (chance(0.4)) this.#clients();
    if (chance(0.05)) this.#gateway();
    if (chance(0.04)) this.#health();
    if (chance(0.1)) await this.interfere();
    const { admin } = this.#served;
    if (chance(admin.readOnly ? 0.2 : 0.005)) await setReadOnly(admin, !admin.readOnly);
  }

  /** The gateway works again, and changes are allowed. */
  async calm(): Promise<void> {
    await setReadOnly(this.#served.admin, false);
  }

  /** The other operator changes something. */
  async interfere(): Promise<void> {
    const { client } = this;
    const { pick, below } = this.#random;
    const [service, server, monitor] = [
      this.#name('services'),
      this.#name('servers'),
      this.#name('monitors'),
    ];
    const fresh = `Other ${String((this.#created += 1))}`;
    const isFew = this.#names('services').length < 4;
    const change = pick([
      () => client.services.stop(service),
      () => client.services.start(service),
      () => client.services.start(service),
      () => client.services.drain(service, {}),
      () => client.services.resume(service),
      () => client.services.closeSessions(service),
      () => client.services.patch(service, [{ op: 'add', path: '/max_connection', value: below(500) }]),
      () => client.services.patch(service, [{ op: 'add', path: '/servers', value: [`/servers/${server}`] }]),
      () => client.servers.setMaintenance(server),
      () => client.servers.clearMaintenance(server),
      () => client.servers.drain(server, {}),
      () => client.servers.resume(server),
      () => client.servers.patch(server, [{ op: 'add', path: '/port', value: 1 + below(60_000) }]),
      () => client.monitors.stop(monitor),
      () => client.monitors.start(monitor),
      () => (isFew ? client.services.create(serviceNamed(fresh)) : client.services.delete(service)),
      () => (isFew ? client.services.create(serviceNamed(fresh)) : client.services.delete(service)),
      () =>
        this.#names('servers').length < 4
          ? client.servers.create(serverNamed(fresh))
          : client.servers.delete(server),
      () =>
        this.#names('monitors').length < 2
          ? client.monitors.create({ name: fresh, module: 'pgmon' })
          : Promise.resolve(),
    ]);
    // The other operator waits at most for a moment, as the walker does not wait either.
    await Promise.race([change().catch(() => undefined), sleep(50, undefined, { ref: false })]);
  }

  /** Clients come, go and work. */
  moveClients(times: number): void {
    for (let time = 0; time < times; time += 1) this.#clients();
  }

  #clients(): void {
    const { gateway } = this.#served;
    const { pick, chance, below } = this.#random;
    const open = Object.entries(gateway.state.sessions);
    const many = chance(0.05) ? 10 : 1;
    for (let count = 0; count < many; count += 1) {
      const [id = '0', session] = open.length === 0 ? [] : pick(open);
      const reports = pick([
        (): readonly HostReport[] =>
          open.length < mostSessions && this.#names('services').length > 0
            ? gateway.openSession(this.#name('services'))
            : [],
        () => gateway.closeSession(Number(id)),
        () =>
          this.#names('servers').length > 0 ? gateway.openConnection(Number(id), this.#name('servers')) : [],
        () => gateway.closeConnection(Number(id), Number(Object.keys(session?.connections ?? {})[0] ?? 0)),
        (): readonly HostReport[] => [{ type: 'session.updated', id: Number(id), idle: below(1000) }],
      ])();
      this.#served.admin.report(reports);
    }
  }

  /** How the gateway does the next thing that it is asked for. */
  #gateway(): void {
    const { gateway } = this.#served;
    const { pick, below, chance } = this.#random;
    const delayMs = 50 + below(500);
    const slow: ApplyWay = async (_effect, _context, perform) => {
      await sleep(delayMs);
      perform();
    };
    // Does what it is asked for, and never says so: the outcome is unknown until the gateway is looked at.
    const silent: ApplyWay = (_effect, _context, perform) => {
      perform();
      return new Promise(() => undefined);
    };
    const refusal = new EffectRefusedError('The gateway has no time.');
    gateway.will(pick<ApplyWay>([slow, slow, slow, refusal, refusal, 'failAfter', 'failBefore', silent]));
    if (chance(0.3)) gateway.willSee('fail');
  }

  #health(): void {
    const { gateway, admin } = this.#served;
    const { pick } = this.#random;
    const [service, server] = [this.#name('services'), this.#name('servers')];
    const has = (name: string): boolean => name !== '';
    if (!has(service) || !has(server)) return;
    admin.report(
      pick([
        () => gateway.failService(service),
        () => gateway.recoverService(service),
        () => gateway.recoverService(service),
        () => gateway.findStatus(server, []),
        () => gateway.findStatus(server, ['running']),
        () => gateway.findStatus(server, ['master', 'running']),
      ])(),
    );
  }

  /** The names that the gateway itself has. */
  #names(collection: 'services' | 'servers' | 'monitors'): readonly string[] {
    return Object.keys(this.#served.gateway.state[collection]);
  }

  /** One of these names; empty if there is none. */
  #name(collection: 'services' | 'servers' | 'monitors'): string {
    const names = this.#names(collection);
    return names.length === 0 ? '' : this.#random.pick(names);
  }
}

/** A client in this process whose commands have an actor. */
export function clientOf(admin: Admin, name: string): Client {
  return createClient(sendTo({ handle: (request) => admin.handle({ ...request, principal: { name } }) }));
}

function serviceNamed(name: string) {
  return { name, router: 'readconnroute' };
}

function serverNamed(name: string) {
  return { name, address: '10.1.0.1', port: 5432, protocol: 'pgbackend' };
}

/** Whether two names mean the same thing. */
export function isSameName(one: string, other: string): boolean {
  return nameKey(one) === nameKey(other);
}
