/**
 * Clients that change a fleet over HTTP without a pause, and the ledger of what they were told.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { GatewayDocument } from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import type { NodeProcess } from './node-process.ts';
import type { Change, Fields } from './shared-log.ts';

/** What a client was told: it is so, nothing is so, or nobody knows. */
type Told = 'acknowledged' | 'refused' | 'unknown';

/** A change that a client has asked for. No two have the same field and value, except for what is started and stopped. */
interface Asked extends Change {
  readonly told: Told;
}

/** The clients of a fleet. */
export class Stream {
  readonly asked: Asked[] = [];
  readonly #random: Random;
  readonly #stopped = new AbortController();
  #number = 1000;

  constructor(random: Random) {
    this.#random = random;
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
      () => this.#patch(node, `Own-${node.name}`),
      () => this.#patch(node, 'Shared'),
      () => this.#patch(node, 'Shared'),
      () => this.#count(node),
      () => this.#count(node),
      () => this.#switch(node, `/service`, 'Shared'),
      () => this.#switch(node, `/monitor`, `Own-${node.name}`),
      this.#registrar(node),
    ]);
    const isStopped = (): boolean => this.#stopped.signal.aborted;
    const working = clients.map(async (send) => {
      while (!isStopped()) if ((await send()) !== 'acknowledged') await sleep(30);
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

  /** Sets two fields to the same new number at once; now and then with a part that has it all refused. */
  async #patch(node: NodeProcess, service: string): Promise<Told> {
    const target = `/services/${service}`;
    const value = this.#next();
    const fields = ['max_connection', 'connection_timeout'];
    const patch = fields.map((field) => ({ op: 'add', path: `/${field}`, value }));
    const failing = { op: 'test', path: '/max_connection', value: -1 };
    const told = await send(node, 'PATCH', target, this.#random.chance(0.1) ? [...patch, failing] : patch);
    for (const field of fields) this.asked.push({ field: `${target} ${field}`, value, told });
    return told;
  }

  /** Adds one to what the client has read, unless somebody else was faster. */
  async #count(node: NodeProcess): Promise<Told> {
    const target = '/servers/Counted';
    const response = await ask(node, 'GET', target);
    const etag = response?.headers.get('etag');
    if (response?.status !== 200 || typeof etag !== 'string') return 'unknown';
    const { parameters } = (await response.json()) as { readonly parameters: { readonly count: number } };
    const patch = [{ op: 'replace', path: '/parameters/count', value: parameters.count + 1 }];
    // Several clients can ask for the same number. `miscounts` looks after them.
    return send(node, 'PATCH', target, patch, { 'if-match': etag });
  }

  async #switch(node: NodeProcess, kind: '/service' | '/monitor', name: string): Promise<Told> {
    const [command, value] = this.#random.pick([['start', 'started'] as const, ['stop', 'stopped'] as const]);
    const told = await send(node, 'PUT', `${kind}/${name}/${command}`);
    this.asked.push({ field: `${kind}s/${name} state`, value, told });
    await sleep(20);
    return told;
  }

  /** Creates users that the other nodes create too, and deletes most of those that it was the one to create. */
  #registrar(node: NodeProcess): () => Promise<Told> {
    let number = 0;
    return async () => {
      number += 1;
      const name = `user-${String(number)}`;
      const headers = { 'content-type': 'application/json' };
      const told = await send(node, 'PUT', '/users', { name, password: 'correct horse' }, headers);
      // The log has the name once, whoever created it.
      if (told === 'acknowledged') this.asked.push({ field: `/users/${name} state`, value: 'exists', told });
      if (told === 'acknowledged' && this.#random.chance(0.8)) {
        const deleted = await send(node, 'DELETE', `/users/${name}`);
        this.asked.push({ field: `/users/${name} state`, value: undefined, told: deleted });
      }
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

async function ask(
  { url }: NodeProcess,
  method: string,
  target: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response | undefined> {
  const type = { 'content-type': 'application/json-patch+json' };
  const sent =
    body === undefined ? { headers } : { headers: { ...type, ...headers }, body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(60_000);
  return fetch(url + target, { method, signal, ...sent }).catch(() => undefined);
}

async function send(...request: Parameters<typeof ask>): Promise<Told> {
  const response = await ask(...request);
  const text = await response?.text().catch(() => undefined);
  if (response === undefined || text === undefined) return 'unknown';
  if (response.ok) return 'acknowledged';
  if (response.status < 500) return 'refused';
  const { code } = JSON.parse(text) as { readonly code: string };
  if (code === 'outcome-unknown') return 'unknown';
  // A command without an effect on the gateway may have been kept.
  if (code === 'store-unavailable') return request[2].startsWith('/users') ? 'unknown' : 'refused';
  if (code === 'fenced') return 'refused';
  throw new Error(`${request[1]} ${request[2]} was answered with ${text}`);
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
    return [link, tag.split('.').slice(0, 2).join('.')] as const;
  });
  return {
    fields: Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
    tags: Object.fromEntries(await Promise.all(tags)),
    ...(gateway as Pick<Shown, 'actual' | 'position' | 'behind'>),
  };
}

/** What of a representation matters here. */
interface Listed {
  readonly name: string;
  readonly state?: string;
  readonly max_connection?: number;
  readonly connection_timeout?: number;
  readonly monitor_interval?: number;
  readonly parameters?: { readonly count?: number };
}

function fieldsOf(kind: string, { name, ...each }: Listed): readonly (readonly [string, unknown])[] {
  const at = (field: string, value: unknown) => [`/${kind}/${name} ${field}`, value] as const;
  if (kind === 'users') return [at('state', 'exists')];
  if (kind === 'servers') return [at('parameters/count', each.parameters?.count)];
  const { state, max_connection, connection_timeout, monitor_interval } = each;
  return [
    at('state', state),
    at('max_connection', max_connection),
    at('connection_timeout', connection_timeout),
    at('monitor_interval', monitor_interval),
  ];
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
