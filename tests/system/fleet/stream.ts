/**
 * Clients that change a fleet over HTTP without a pause, and the ledger of what they were told.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { GatewayDocument } from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import { ask } from './ask.ts';
import type { NodeProcess } from './node-process.ts';
import type { Acknowledged, Attempt, Readings } from './readings.ts';
import { fieldsOf, type Listed } from './representation.ts';
import type { Change, Fields } from './shared-log.ts';

/** What a client was told: it is so, nothing is so, or nobody knows. */
type Told = 'acknowledged' | 'refused' | 'unknown';

/**
 * A change that a client has asked for. No two have the same field and value, except for what is started and stopped.
 */
interface Asked extends Change {
  readonly told: Told;
}

/** The clients of a fleet. */
export class Stream {
  readonly asked: Asked[] = [];
  readonly acknowledged: Acknowledged[] = [];
  /** The changes that may be made or not, for all that the client was told. */
  readonly open: Attempt[] = [];
  readonly #random: Random;
  readonly #readings: Readings;
  readonly #stopped = new AbortController();
  #number = 1000;

  constructor(random: Random, readings: Readings) {
    this.#random = random;
    this.#readings = readings;
  }

  /** How many commands came to what. */
  get figures(): Readonly<Record<Told, number>> {
    const figures = { acknowledged: 0, refused: 0, unknown: 0 };
    for (const { told } of this.asked) figures[told] += 1;
    return figures;
  }

  /** Sends commands to all nodes. Resolves when every command is answered after `stop`. */
  async run(nodes: readonly NodeProcess[]): Promise<void> {
    const clients = nodes.flatMap((node) => [
      () => this.#patchNowAndThenInVain(node, `Own-${node.name}`),
      () => this.#patchNowAndThenInVain(node, 'Shared'),
      () => this.#patchNowAndThenInVain(node, 'Shared'),
      () => this.#count(node),
      () => this.#count(node),
      () => this.#switchAtRandom(node, 'service', 'Shared'),
      () => this.#switchAtRandom(node, 'monitor', `Own-${node.name}`),
      this.#registrar(node),
    ]);
    const isStopped = (): boolean => this.#stopped.signal.aborted;
    const working = clients.map(async (send) => {
      while (!isStopped()) await sleep((await send()) === 'acknowledged' ? 5 : 30);
    });
    await Promise.all(working);
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** What the log cannot have, given the answers. */
  lies(changes: readonly Change[]): readonly string[] {
    const times = new Map<string, number>();
    for (const { field, value } of changes)
      times.set(key(field, value), (times.get(key(field, value)) ?? 0) + 1);
    const lies = this.asked.flatMap(({ field, value, told }) => {
      const found = times.get(key(field, value)) ?? 0;
      if (isSwitched(field)) return [];
      if (told === 'acknowledged' && found === 1) return [];
      if (told === 'refused' && found === 0) return [];
      if (told === 'unknown' && found <= 1) return [];
      return [`${field} = ${String(value)} was ${told}, and is ${String(found)} times in the log`];
    });
    return [...lies, ...this.#lateSwitches(changes), ...miscounts(changes)];
  }

  /** A monitor that one client switches is as the client was told last, unless a later answer is unknown. */
  #lateSwitches(changes: readonly Change[]): readonly string[] {
    const fields = new Set(
      this.asked.map(({ field }) => field).filter((field) => /^\/monitors\/.* state$/.test(field)),
    );
    return [...fields].flatMap((field) => {
      const asked = this.asked.filter((each) => each.field === field);
      const last = asked.findLastIndex(({ told }) => told === 'acknowledged');
      const possible = asked
        .slice(Math.max(last, 0))
        .filter(({ told }) => told !== 'refused')
        .map(({ value }) => value);
      const now = changes.findLast((each) => each.field === field)?.value ?? 'started';
      if (last === -1 || possible.includes(now)) return [];
      return [`${field} is ${JSON.stringify(now)} where it can be ${JSON.stringify(possible)} only`];
    });
  }

  #next(): number {
    this.#number += 1;
    return this.#number;
  }

  /**
   * Sets two fields to the same new number at once, with other operations before and after that can have it all
   * refused.
   */
  async patch(
    node: NodeProcess,
    service: string,
    {
      before = [],
      after = [],
    }: { readonly before?: readonly object[]; readonly after?: readonly object[] } = {},
  ): Promise<Told> {
    const target = `/services/${service}`;
    const value = this.#next();
    const fields = ['max_connection', 'connection_timeout'];
    const patch = fields.map((field) => ({ op: 'add', path: `/${field}`, value }));
    const made = fields.map((field) => ({ field: `${target} ${field}`, value }));
    const told = await this.#send(made, node, 'PATCH', target, [...before, ...patch, ...after]);
    for (const each of made) this.asked.push({ ...each, told });
    return told;
  }

  /** Starts or stops a service or monitor. */
  async switch(
    node: NodeProcess,
    kind: 'service' | 'monitor',
    name: string,
    command: 'start' | 'stop',
  ): Promise<Told> {
    const value = command === 'start' ? 'started' : 'stopped';
    const made = { field: `/${kind}s/${name} state`, value };
    const told = await this.#send([made], node, 'PUT', `/${kind}/${name}/${command}`);
    this.asked.push({ ...made, told });
    return told;
  }

  /** Creates a user. */
  async create(node: NodeProcess, name: string): Promise<Told> {
    const made = { field: `/users/${name} state`, value: 'exists' };
    const headers = { 'content-type': 'application/json' };
    const told = await this.#send(
      [made],
      node,
      'PUT',
      '/users',
      { name, password: 'correct horse' },
      headers,
    );
    // The log has the name once, whoever created it.
    if (told === 'acknowledged') this.asked.push({ ...made, told });
    return told;
  }

  /** Deletes a user. */
  async delete(node: NodeProcess, name: string): Promise<Told> {
    const made = { field: `/users/${name} state`, value: undefined };
    const told = await this.#send([made], node, 'DELETE', `/users/${name}`);
    this.asked.push({ ...made, told });
    return told;
  }

  #patchNowAndThenInVain(node: NodeProcess, service: string): Promise<Told> {
    const failing = { op: 'test', path: '/max_connection', value: -1 };
    return this.patch(node, service, this.#random.chance(0.1) ? { after: [failing] } : {});
  }

  /** Adds one to what the client has read, unless somebody else was faster. */
  async #count(node: NodeProcess): Promise<Told> {
    const target = '/servers/Counted';
    const response = await ask(node, 'GET', target);
    const etag = response?.headers.get('etag');
    if (response?.status !== 200 || typeof etag !== 'string') return 'unknown';
    const { parameters } = (await response.json()) as { readonly parameters: { readonly count: number } };
    const value = parameters.count + 1;
    const patch = [{ op: 'replace', path: '/parameters/count', value }];
    const made = { field: `${target} parameters/count`, value };
    // Several clients can ask for the same number. `miscounts` looks after them.
    return this.#send([made], node, 'PATCH', target, patch, { 'if-match': etag });
  }

  async #switchAtRandom(node: NodeProcess, kind: 'service' | 'monitor', name: string): Promise<Told> {
    const told = await this.switch(node, kind, name, this.#random.pick(['start', 'stop']));
    await sleep(20);
    return told;
  }

  /** Sends a command, and notes what its answer says. */
  async #send(made: readonly Change[], ...request: Parameters<typeof ask>): Promise<Told> {
    const [node, , target] = request;
    const begun = performance.now();
    const { told, isOpen, position, tag, text } = await send(...request);
    const ended = performance.now();
    const attempts = made.map((each) => ({ ...each, node: node.name, begun, ended }));
    if (isOpen) this.open.push(...attempts);
    if (told !== 'acknowledged') return told;
    for (const each of attempts) this.acknowledged.push({ ...each, position });
    if (tag !== undefined && text !== '')
      this.#readings.noteAnswer({ node: node.name, target, tag, text, begun, ended });
    return told;
  }

  /** Creates users that the other nodes create too, and deletes most of those that it was the one to create. */
  #registrar(node: NodeProcess): () => Promise<Told> {
    let number = 0;
    return async () => {
      number += 1;
      const name = `user-${String(number)}`;
      const told = await this.create(node, name);
      if (told === 'acknowledged' && this.#random.chance(0.8)) await this.delete(node, name);
      return told;
    };
  }
}

function key(field: string, value: unknown): string {
  return `${field} ${String(value)}`;
}

function isSwitched(field: string): boolean {
  return field.endsWith(' state') && !field.startsWith('/users/');
}

/** The counter goes up by one each time: nobody has overwritten the change of another client. */
function miscounts(changes: readonly Change[]): readonly string[] {
  const counts = changes.filter(({ field }) => field === '/servers/Counted parameters/count');
  return counts.flatMap(({ value }, index) =>
    value === index + 1 ? [] : [`The counter is ${String(value)} where it must be ${String(index + 1)}`],
  );
}

/** What a command was answered with. */
interface Answer {
  readonly told: Told;
  /** Whether the gateway may do the change for a while. */
  readonly isOpen: boolean;
  /** The number of the place in the log; `NaN` without one. */
  readonly position: number;
  readonly tag: string | undefined;
  readonly text: string;
}

async function send(...request: Parameters<typeof ask>): Promise<Answer> {
  const response = await ask(...request);
  const text = await response?.text().catch(() => undefined);
  if (response === undefined || text === undefined)
    return { told: 'unknown', isOpen: true, position: NaN, tag: undefined, text: '' };
  const { headers, status } = response;
  const position = Number.parseInt(headers.get('fleet-position') ?? '', 10);
  const tag = headers.get('etag') ?? undefined;
  return { told: toldBy(response, text, request), isOpen: status >= 500, position, tag, text };
}

function toldBy({ ok, status }: Response, text: string, [, method, target]: Parameters<typeof ask>): Told {
  if (ok) return 'acknowledged';
  if (status < 500) return 'refused';
  const { code } = JSON.parse(text) as { readonly code: string };
  if (code === 'outcome-unknown') return 'unknown';
  // A command without an effect on the gateway may have been kept.
  if (code === 'store-unavailable') return target.startsWith('/users') ? 'unknown' : 'refused';
  if (code === 'fenced') return 'refused';
  throw new Error(`${method} ${target} was answered with ${text}`);
}

/** A node as it shows itself. */
export interface Shown {
  /** What its interface shows. */
  readonly fields: Fields;
  /** What its gateway does. */
  readonly actual: Fields;
  /** The part of the entity tags that every node has, by resource. */
  readonly tags: Fields;
  readonly position: string;
  readonly behind: readonly unknown[];
}

/** What a node shows of everything that clients change. */
export async function shownBy(node: NodeProcess): Promise<Shown> {
  const [services, servers, monitors, users, gateway] = await Promise.all(
    ['/services', '/servers', '/monitors', '/users', '/gateway'].map(async (target) => {
      const response = await ask(node, 'GET', target);
      if (response?.status !== 200) throw new Error(`GET ${target} of ${node.name} was not answered`);
      return (await response.json()) as unknown;
    }),
  );
  const lists = { services, servers, monitors, users } as Readonly<Record<string, readonly Listed[]>>;
  const fields = Object.entries(lists).flatMap(([kind, list]) =>
    list.flatMap((each) => fieldsOf(kind, each)),
  );
  const links = ['services', 'servers', 'monitors'].flatMap((kind) =>
    (lists[kind] ?? []).map(({ name }) => `/${kind}/${name}`),
  );
  const tags = links.map(async (link) => {
    const tag = (await ask(node, 'GET', link))?.headers.get('etag') ?? '';
    return [link, tag.split('.')[0] ?? ''] as const;
  });
  return {
    fields: Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
    tags: Object.fromEntries(await Promise.all(tags)),
    ...(gateway as Pick<Shown, 'actual' | 'position' | 'behind'>),
  };
}

/** A document with everything that the clients of these nodes change. */
export function documentFor(nodes: readonly string[]): GatewayDocument {
  const own = nodes.map((node) => `Own-${node}`);
  return {
    servers: [
      { name: 'Counted', address: '127.0.0.1', port: 5432, protocol: 'postgresql', parameters: { count: 0 } },
    ],
    services: [...own, 'Shared'].map((name) => ({
      ...{ name, router: 'readconnroute', max_connection: 1, connection_timeout: 1 },
    })),
    monitors: own.map((name) => ({ name, module: 'pgmon' })),
  };
}
