/**
 * The world of a walk: clients that come and go, another operator, a gateway that refuses, is slow, or does not say.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import {
  EffectRefusedError,
  nameKey,
  type Admin,
  type HostReport,
  type ServerStatusWord,
} from 'gateway-admin-core';
import { createClient, sendTo, type Client, type Send } from 'gateway-admin-core/client';
import type { ApplyWay, Random, ScriptedGateway } from 'gateway-admin-core/testing';

import type { Row } from '../scenario/row.ts';
import type { Unit } from '../scenario/world.ts';
import type { Served } from './hosted-console.ts';
import { setReadOnly } from '../support/read-only.ts';

/** The actor of the commands of the other operator. */
const otherActor = 'other';

const mostSessions = 60;

export class World {
  readonly #served: Served;
  readonly #send: Send;
  #created = 0;

  constructor(served: Served) {
    this.#served = served;
    this.#send = sendAs(served.admin, otherActor);
  }

  /** What happens next, or nothing. */
  draw(random: Random): Unit {
    const { chance } = random;
    const { readOnly } = this.#served.admin;
    return [
      ...(chance(0.4) ? this.#drawClients(random) : []),
      ...(chance(0.05) ? drawGateway(random) : []),
      ...(chance(0.04) ? this.#drawHealth(random) : []),
      ...(chance(0.1) ? this.drawChange(random) : []),
      ...(chance(readOnly ? 0.2 : 0.005)
        ? [`program ${readOnly ? 'ends' : 'begins'} the read-only mode`]
        : []),
    ];
  }

  /** The gateway works again, and changes are allowed. */
  async calm(): Promise<void> {
    await setReadOnly(this.#served.admin, false);
  }

  /** What the other operator changes. */
  drawChange({ pick, below }: Random): Unit {
    const [service, server, monitor] = (['services', 'servers', 'monitors'] as const).map((collection) => {
      const names = this.#names(collection);
      return `/${collection}/${names.length === 0 ? '' : encodeURIComponent(pick(names))}`;
    });
    const fresh = `Other ${String((this.#created += 1))}`;
    const [services, servers, monitors] = [
      this.#names('services'),
      this.#names('servers'),
      this.#names('monitors'),
    ];
    const patch = (path = '', field: string, value: unknown): string =>
      `PATCH ${path} ${JSON.stringify([{ op: 'add', path: `/${field}`, value }])}`;
    const comings = [
      services.length < 4
        ? `POST /services ${JSON.stringify(serviceNamed(fresh))}`
        : `DELETE ${String(service)}`,
      servers.length < 4 ? `POST /servers ${JSON.stringify(serverNamed(fresh))}` : `DELETE ${String(server)}`,
      ...(monitors.length < 2 ? [`POST /monitors ${JSON.stringify({ name: fresh, module: 'pgmon' })}`] : []),
    ];
    const change = pick([
      ...['stop', 'start', 'start', 'drain', 'resume'].map((verb) => `PUT ${String(service)}/${verb}`),
      `DELETE ${String(service)}/sessions`,
      patch(service, 'max_connection', below(500)),
      patch(service, 'servers', [server]),
      `PUT ${String(server)}/maintenance`,
      `DELETE ${String(server)}/maintenance`,
      `PUT ${String(server)}/drain`,
      `PUT ${String(server)}/resume`,
      patch(server, 'port', 1 + below(60_000)),
      `PUT ${String(monitor)}/stop`,
      `PUT ${String(monitor)}/start`,
      ...comings,
    ]);
    return [`other: ${change}`];
  }

  /** What clients do, so many times. */
  drawMoves(random: Random, times: number): Unit {
    return Array.from({ length: times }, () => this.#drawClients(random)).flat();
  }

  /** A client comes to a service that a title names, or somewhere: what is planned closes more than the plan has. */
  drawComing({ pick }: Random, title: string): Unit {
    const services = this.#names('services');
    const named = services.filter((name) => title.includes(name));
    const some = named.length > 0 ? named : services;
    return some.length === 0 ? [] : [`a client opens a session of ${pick(some)}`];
  }

  #drawClients({ pick, chance, below }: Random): Unit {
    const { sessions } = this.#served.gateway.state;
    const open = Object.entries(sessions);
    const [services, servers] = [this.#names('services'), this.#names('servers')];
    return Array.from({ length: chance(0.05) ? 10 : 1 }, () => {
      const [id = '0', session] = open.length === 0 ? [] : pick(open);
      const [connection = '0'] = Object.keys(session?.connections ?? {});
      return pick([
        ...(open.length < mostSessions && services.length > 0
          ? [`a client opens a session of ${pick(services)}`]
          : []),
        `the client of session ${id} leaves`,
        ...(servers.length > 0 ? [`session ${id} connects to ${pick(servers)}`] : []),
        `session ${id} leaves connection ${connection}`,
        `session ${id} is idle for ${String(below(1000))} s`,
      ]);
    });
  }

  #drawHealth({ pick }: Random): Unit {
    const [services, servers] = [this.#names('services'), this.#names('servers')];
    if (services.length === 0 || servers.length === 0) return [];
    return [
      pick([
        `gateway says that ${pick(services)} has failed`,
        ...Array.from({ length: 2 }, () => `gateway says that ${pick(services)} runs again`),
        `gateway finds ${pick(servers)} ${pick(['', 'running', 'master, running'])}`.trim(),
      ]),
    ];
  }

  /** Makes a change as the other operator does, who waits at most for a moment, as the walker does not wait either. */
  async change(method: string, target: string, body: string): Promise<void> {
    const headers = body === '' ? {} : { 'content-type': contentTypes[method] ?? 'application/json' };
    const request = { method, target, headers, ...(body === '' ? {} : { body }) };
    const answer = Promise.resolve(this.#send(request)).catch(() => undefined);
    await Promise.race([answer, sleep(50, undefined, { ref: false })]);
  }

  /** What the gateway reports after something has happened there. */
  report(reports: (gateway: ScriptedGateway) => readonly HostReport[]): void {
    this.#served.admin.report(reports(this.#served.gateway));
  }

  get gateway(): ScriptedGateway {
    return this.#served.gateway;
  }

  setReadOnly(value: boolean): Promise<unknown> {
    return setReadOnly(this.#served.admin, value);
  }

  /** The names that the gateway itself has. */
  #names(collection: 'services' | 'servers' | 'monitors'): readonly string[] {
    return Object.keys(this.#served.gateway.state[collection]);
  }
}

/** How the gateway does the next thing that it is asked for. */
function drawGateway({ pick, below, chance }: Random): Unit {
  const slow = `is slow by ${String(50 + below(500))} ms`;
  const way = pick([
    slow,
    slow,
    slow,
    'refuses',
    'refuses',
    'fails after it',
    'fails before it',
    'never answers',
  ]);
  return [`gateway: ${way}`, ...(chance(0.3) ? ['gateway sees: an error'] : [])];
}

const ways: Readonly<Record<string, ApplyWay>> = {
  refuses: new EffectRefusedError('The gateway has no time.'),
  'fails after it': 'failAfter',
  'fails before it': 'failBefore',
  // Does what it is asked for, and never says so: the outcome is unknown until the gateway is looked at.
  'never answers': (_effect, _context, perform) => {
    perform();
    return new Promise(() => undefined);
  },
};

function slow(delayMs: number): ApplyWay {
  return async (_effect, _context, perform) => {
    await sleep(delayMs);
    perform();
  };
}

const contentTypes: Readonly<Record<string, string>> = { PATCH: 'application/json-patch+json' };

/** Every step of the world. */
export const worldRows: readonly Row<World>[] = [
  [
    /^other: (\w+) (\S+)(?: (.*))?$/,
    (world, method = '', target = '', body = '') => world.change(method, target, body),
  ],
  reporting(/^a client opens a session of (.*)$/, (gateway, name) => gateway.openSession(name)),
  reporting(/^the client of session (\d+) leaves$/, (gateway, id) => gateway.closeSession(Number(id))),
  reporting(/^session (\d+) connects to (.*)$/, (gateway, id, name = '') =>
    gateway.openConnection(Number(id), name),
  ),
  reporting(/^session (\d+) leaves connection (\d+)$/, (gateway, id, connection) =>
    gateway.closeConnection(Number(id), Number(connection)),
  ),
  reporting(/^session (\d+) is idle for (\d+) s$/, (_gateway, id, idle) => [
    { type: 'session.updated', id: Number(id), idle: Number(idle) },
  ]),
  reporting(/^gateway says that (.*) has failed$/, (gateway, name) => gateway.failService(name)),
  reporting(/^gateway says that (.*) runs again$/, (gateway, name) => gateway.recoverService(name)),
  reporting(/^gateway finds (.*?)(?: (master, running|running))?$/, (gateway, name, words = '') =>
    gateway.findStatus(name, words === '' ? [] : (words.split(', ') as ServerStatusWord[])),
  ),
  [
    /^gateway: is slow by (\d+) ms$/,
    ({ gateway }, delayMs) => {
      gateway.will(slow(Number(delayMs)));
    },
  ],
  [
    /^gateway: (.*)$/,
    ({ gateway }, way = '') => {
      gateway.will(ways[way] ?? 'done');
    },
  ],
  [
    /^gateway sees: an error$/,
    ({ gateway }) => {
      gateway.willSee('fail');
    },
  ],
  [
    /^program (begins|ends) the read-only mode$/,
    (world, way) => world.setReadOnly(way === 'begins').then(() => undefined),
  ],
];

function reporting(
  form: RegExp,
  reports: (gateway: ScriptedGateway, name: string, other?: string) => readonly HostReport[],
): Row<World> {
  return [
    form,
    (world, name = '', other) => {
      world.report((gateway) => reports(gateway, name, other));
    },
  ];
}

/** A client in this process whose commands have an actor. */
export function clientOf(admin: Admin, name: string): Client {
  return createClient(sendAs(admin, name));
}

function sendAs(admin: Admin, name: string): Send {
  return sendTo({ handle: (request) => admin.handle({ ...request, principal: { name } }) });
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
