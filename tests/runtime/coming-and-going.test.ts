/**
 * 10,000 servers are created, listed, reported and deleted in random order, in many lives of one store.
 */
import { expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createSnapshot,
  DifferingDocumentError,
  linkTo,
  nameKey,
  openAdmin,
  toDocument,
  type Admin,
  type AdminRequest,
  type HostReport,
} from 'gateway-admin-core';
import { createRandom, createScriptedGateway, createVirtualClock } from 'gateway-admin-core/testing';

import { configuration } from '../support/configuration.ts';
import { jsonOf } from '../support/json-body.ts';

const count = 10_000;
/** The longest way of a report about a deleted server, in milliseconds. */
const lateMs = 60_000;
const services = ['Sales', 'Reports'];
const words = [[], ['running'], ['master', 'running']] as const;

/** What a client knows of a server. */
interface Known {
  readonly name: string;
  status: readonly string[];
}

class World {
  readonly random = createRandom(1);
  readonly clock = createVirtualClock(0);
  readonly errors: unknown[] = [];
  /** The servers that are there, by key, in the order of their creation. */
  readonly known = new Map<string, Known>();
  /** When servers were deleted that are not there. */
  readonly gone = new Map<string, number>();
  /** The keys of the servers that a service lists, by service. */
  readonly listed = new Map(services.map((each) => [each, new Set<string>()] as const));
  readonly #snapshot = createSnapshot({ services: services.map((name) => ({ name, router: 'a' })) });
  readonly gateway = createScriptedGateway({ snapshot: this.#snapshot, clock: this.clock });
  readonly #store = createMemoryStore();
  /** How many sessions were opened in this life, by service. All are closed again. */
  readonly opened = new Map<string, number>();
  created = 0;

  open(): Promise<Admin> {
    const { gateway, clock, errors } = this;
    const onError = (error: unknown): void => {
      // A start says that the given document has none of the servers.
      if (!(error instanceof DifferingDocumentError)) errors.push(error);
    };
    const observe = { onError };
    return openAdmin({ snapshot: this.#snapshot, gateway, store: this.#store, clock, observe });
  }

  /** Another life opens with the same document. What the host sees is reported to each life. */
  async openAgain(before: Admin): Promise<Admin> {
    await before.close();
    const admin = await this.open();
    admin.report(this.gateway.statusReports());
    expect(configuration(admin.snapshot)).toEqual(configuration(before.snapshot));
    createSnapshot(toDocument(admin.snapshot));
    // The minute of late reports ends with a life.
    this.gone.clear();
    this.opened.clear();
    return admin;
  }

  /** Creations and deletions in random order, as one command. Some names are used again, in another spelling. */
  async comeAndGo(admin: Admin): Promise<void> {
    const { random } = this;
    const commands = Array.from({ length: 1 + random.below(100) }, () =>
      random.chance(0.6) ? this.#creation() : this.#deletion(),
    ).filter((each) => each !== undefined);
    if (commands.length === 0) return;
    expect(await statusOf(admin, 'POST', '/sequence', { commands })).toBe(204);
  }

  #creation(): object | undefined {
    const { random, gone, known } = this;
    const old =
      gone.size > 0 && random.chance(0.05) ? random.pick([...gone.keys()]).toUpperCase() : undefined;
    if (old === undefined && this.created === count) return undefined;
    const name = old ?? `db-${String((this.created += 1))}`;
    known.set(nameKey(name), { name, status: [] });
    gone.delete(nameKey(name));
    const body = { name, address: '10.0.0.3', port: 1 + random.below(65_535), protocol: 'pg' };
    return { method: 'POST', path: '/servers', body };
  }

  #deletion(): object | undefined {
    const key = this.anyOf(this.known);
    if (key === undefined || this.#listers(key).length > 0) return undefined;
    const { name } = this.known.get(key) as Known;
    this.#forget(key);
    return { method: 'DELETE', path: linkTo('servers', name) };
  }

  #forget(key: string): void {
    this.known.delete(key);
    this.gone.set(key, this.clock.now());
  }

  #listers(key: string): readonly string[] {
    return services.filter((each) => this.listed.get(each)?.has(key));
  }

  anyOf(some: ReadonlyMap<string, unknown> | ReadonlySet<string>): string | undefined {
    const keys = [...some.keys()];
    return keys.length === 0 ? undefined : this.random.pick(keys);
  }

  /** A service lists other servers. */
  async list(admin: Admin): Promise<void> {
    const service = this.random.pick(services);
    const keys = new Set(
      Array.from({ length: 5 }, () => this.anyOf(this.known)).filter((key) => key !== undefined),
    );
    const value = Array.from(keys, (key) => linkTo('servers', this.known.get(key)?.name ?? ''));
    const status = await statusOf(admin, 'PATCH', linkTo('services', service), [
      { op: 'replace', path: '/servers', value },
    ]);
    expect(status).toBe(200);
    this.listed.set(service, keys);
  }

  /** What a service lists is not deleted, unless it is taken out of the lists; and with a connection, not at all. */
  async deleteListed(admin: Admin): Promise<void> {
    const service = this.random.pick(services);
    const key = this.anyOf(this.listed.get(service) as ReadonlySet<string>);
    if (key === undefined) return;
    const link = linkTo('servers', this.known.get(key)?.name ?? '');
    expect(await statusOf(admin, 'DELETE', link)).toBe(409);
    admin.report(this.gateway.openSession(service));
    this.opened.set(service, (this.opened.get(service) ?? 0) + 1);
    const [id = -1] = Array.from(admin.snapshot.sessions, (session) => session.id);
    admin.report(this.gateway.openConnection(id, key));
    expect(await statusOf(admin, 'DELETE', `${link}?detach=true`)).toBe(409);
    admin.report(this.gateway.closeSession(id));
    expect(await statusOf(admin, 'DELETE', `${link}?detach=true`)).toBe(204);
    for (const keys of this.listed.values()) keys.delete(key);
    this.#forget(key);
  }

  /** Monitors find statuses, and reports come late about what was deleted in the last minute. */
  find(admin: Admin): void {
    const { random, known, gone, clock } = this;
    const keys = [...known.keys()];
    if (keys.length === 0) return;
    for (let each = 0; each < 20; each += 1) {
      const key = random.pick(keys);
      const status = random.pick(words);
      admin.report(this.gateway.findStatus(key, status));
      (known.get(key) as Known).status = status;
    }
    const late = [...gone].flatMap(([key, at]) => (at + lateMs > clock.now() ? [key] : []));
    admin.report(late.map(aboutServer));
  }
}

it('10,000 servers are created, listed, reported and deleted in random order with restarts', async () => {
  const world = new World();
  const { random, gone, errors, clock } = world;
  let admin = await world.open();
  while (world.created < count) {
    const tag = await tagOf(admin);
    await world.comeAndGo(admin);
    expect(await tagOf(admin)).not.toBe(tag);
    await world.list(admin);
    if (random.chance(0.3)) await world.deleteListed(admin);
    world.find(admin);
    await clock.advance(random.below(5000));
    if (world.created < count - 1000 && random.chance(0.05)) admin = await world.openAgain(admin);
  }
  expect(errors).toEqual([]);
  expect(await listed(admin, '/servers?fields=name,status')).toEqual([...world.known.values()]);
  const counters = services.map((name) => ({
    ...{ name, total_connections: world.opened.get(name) ?? 0, current_connections: 0 },
  }));
  const shown = await listed(admin, '/services?fields=name,total_connections,current_connections');
  expect(shown).toEqual(counters);
  expect(gone.size).toBeGreaterThan(100);
  await clock.advance(lateMs);
  for (const [at, key] of [...gone.keys()].entries()) {
    admin.report(aboutServer(key));
    expect(errors).toHaveLength(at + 1);
  }
  await (await world.openAgain(admin)).close();
});

function aboutServer(server: string): HostReport {
  return { type: 'server.reported', server, status: ['running'] };
}

async function tagOf(admin: Admin): Promise<string | undefined> {
  const handled = await admin.handle({ method: 'GET', target: '/servers?range=0-0', headers: {} });
  return handled.matched ? handled.response.headers['etag'] : undefined;
}

/** What clients see in a list. */
async function listed(admin: Admin, target: string): Promise<unknown> {
  const handled = await admin.handle({ method: 'GET', target, headers: {} });
  return jsonOf(handled.matched ? handled.response : {});
}

async function statusOf(admin: Admin, method: string, target: string, body?: object): Promise<number> {
  const type = Array.isArray(body) ? 'application/json-patch+json' : 'application/json';
  const request: AdminRequest = {
    ...{ method, target, headers: body === undefined ? {} : { 'content-type': type } },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const handled = await admin.handle(request);
  if (!handled.matched) throw new Error(`${target} is not there`);
  return handled.response.status;
}
