/**
 * Soak: a million commands through one interface, while clients open and close sessions and a reader follows the
 * events. The heap must not grow. The script needs the build: `npm run test:soak`.
 *
 * Arguments: the number of commands with a memory store, and the number without a store.
 */
import { setImmediate as turn } from 'node:timers/promises';

import { createAdmin, createMemoryStore, createSnapshot, openAdmin } from 'gateway-admin-core';

const [withStore = 1_000_000, withoutStore = 400_000] = process.argv.slice(2).map(Number);
const sampleEvery = 100_000;
const warmUp = 200_000;
/**
 * The allowed growth of the heap after the warm-up, in MB: of the line through the samples, and from lowest to highest.
 */
const allowed = { trend: 2, spread: 5 };
const clients = 16;
const mostSessions = 500;

const places = Array.from({ length: 8 }, (_, index) => index);
const snapshot = createSnapshot({
  servers: places.map((n) => ({ name: `db-${n}`, address: '10.0.0.1', port: 5432, protocol: 'pg' })),
  filters: places.map((n) => ({ name: `filter-${n}`, module: 'regexfilter' })),
  services: places.map((n) => ({ name: `service-${n}`, router: 'router', servers: [`/servers/db-${n}`] })),
  monitors: places.map((n) => ({ name: `monitor-${n}`, module: 'pgmon', servers: [`/servers/db-${n}`] })),
});

/** A gateway that applies every effect, with clients that open and close sessions. */
class Gateway {
  /** Connect times by id, the oldest first. */
  #sessions = new Map();
  #lastId = 0;

  apply() {
    return turn();
  }

  inspect() {
    return Promise.resolve('in-place');
  }

  /** Opens a session. If there are too many, closes the oldest one. */
  welcome(admin) {
    const [id, connected] = [(this.#lastId += 1), Date.now()];
    const n = id % places.length;
    this.#sessions.set(id, connected);
    const session = { id, connected, user: 'ada', address: '127.0.0.1', state: 'open' };
    const connection = { session: id, id: 1, role: 'Backend', state: 'In use' };
    admin.report([
      { type: 'session.opened', ...session, service: `service-${n}` },
      { type: 'connection.opened', ...connection, server: `db-${n}` },
    ]);
    if (this.#sessions.size > mostSessions) admin.report({ type: 'session.closed', ...this.release() });
  }

  /** Removes the oldest session. The caller reports its end. */
  release() {
    const [[id, connected]] = this.#sessions;
    this.#sessions.delete(id);
    return { id, connected };
  }
}

/** A running interface with its clients. */
class World {
  commands = 0;
  events = 0;
  compactions = 0;
  #admin;
  #gateway = new Gateway();
  #answers = new Map();
  #faults = [];
  #readers;

  async open(keeps) {
    const hasher = { hash: () => Promise.resolve('hash'), verify: () => Promise.resolve(false) };
    const onError = (error) => this.#faults.push(String(error));
    const options = { snapshot, gateway: this.#gateway, hasher, observe: { onError } };
    this.#admin = keeps ? await openAdmin({ ...options, store: this.#store() }) : createAdmin(options);
    this.#readers = { upToDate: this.#follow(), behind: this.#admin.events(), asleep: this.#admin.events() };
    this.#gateway.welcome(this.#admin);
    await this.#readers.behind.next();
  }

  /** Sends the given number of commands, one after the other. */
  async work(count) {
    // The client stays connected: no request may leave a listener on its signal.
    const { signal } = new globalThis.AbortController();
    const ask = (method, target, body, headers = {}) => this.#ask({ method, target, body, headers, signal });
    for (let left = count; left > 0; left -= 1) {
      this.commands += 1;
      const number = this.commands;
      if (number % 4 === 0) this.#gateway.welcome(this.#admin);
      await this.#command(number, ask);
      if (number % 100 === 0) await this.#look(number, ask);
    }
  }

  /** Sends commands until the store has just been compacted: heaps are compared at the same point of this cycle. */
  async untilCompacted() {
    for (const before = this.compactions; this.compactions === before;) await this.work(1);
  }

  /** Closes the interface. @returns what was wrong */
  async close() {
    const { value } = await this.#readers.behind.next();
    const isBehind = this.events > 2 * this.#admin.limits.maxEventsKept;
    if (isBehind && value.gap !== true) this.#faults.push('a reader that fell behind was not told');
    await this.#admin.close();
    await this.#readers.upToDate;
    // Clients send at the same time: an edit can lose its condition, and a user can be deleted already.
    const expected = ['PATCH 200', 'PATCH 412', 'PUT 204', 'PUT 409', 'DELETE 204', 'DELETE 404', 'GET 200'];
    const other = [...this.#answers.keys()].filter((answer) => !expected.includes(answer));
    return [...this.#faults, ...other.map((answer) => `${answer} was answered`)];
  }

  /** The number of answers by status. */
  answers() {
    return Array.from(this.#answers, ([answer, count]) => `${answer}: ${count}`).join(', ');
  }

  #store() {
    const store = createMemoryStore();
    const compact = (...call) => {
      this.compactions += 1;
      return store.compact(...call);
    };
    return { ...store, compact };
  }

  async #follow() {
    for await (const event of this.#admin.events()) {
      this.events += 1;
      if (event.gap === true) this.#faults.push('a reader that keeps up missed something');
    }
  }

  /** Gives every kind of command in turn. Some change nothing. */
  #command(number, ask) {
    const n = number % places.length;
    const user = `user${number % 5}`;
    const value = number % 1_000_000;
    const patch = (target, path, value, headers) =>
      ask('PATCH', target, JSON.stringify([{ op: 'add', path, value }]), headers);
    const commands = [
      () => patch(`/services/service-${n}`, '/max_connection', value),
      () => patch(`/servers/db-${n}`, '/parameters/weight', value),
      () => patch(`/monitor/monitor-${n}`, '/monitor_interval', 1 + value),
      () => patch(`/filter/filter-${n}`, '/parameters/match', String(value)),
      async () => {
        const { etag } = (await ask('GET', `/services/service-${n}`)).headers;
        await patch(`/services/service-${n}`, '/connection_timeout', value, { 'if-match': etag });
      },
      () => ask('PUT', `/service/service-${n}/${number % 2 === 0 ? 'stop' : 'start'}`),
      () => ask('PUT', `/monitor/monitor-${n}/${number % 2 === 0 ? 'stop' : 'start'}`),
      () => ask('PUT', '/users', JSON.stringify({ name: user, password: 'correct horse' })),
      () => ask('DELETE', `/users/${user}`),
      () => ask('DELETE', `/sessions/${this.#gateway.release().id}`),
      () => ask('DELETE', `/servers/db-${n}/connections`),
    ];
    return commands[number % commands.length]();
  }

  /** Opens a reader that reads lists, waits for events, and ends. */
  async #look(number, ask) {
    for (const target of ['/services', '/sessions?range=0-99', `/servers/db-${number % places.length}`])
      await ask('GET', target);
    const events = this.#admin.events();
    const event = events.next();
    await events.return();
    await event;
  }

  async #ask({ body, headers, ...rest }) {
    const sent = body === undefined ? {} : { body };
    const type = { 'content-type': 'application/json' };
    const request = { ...rest, headers: { ...type, ...headers }, ...sent };
    const { response } = await this.#admin.handle(request);
    const answer = `${rest.method} ${response.status}`;
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1);
    return response;
  }
}

/** Runs the given number of commands. @returns whether all went well and the heap did not grow */
async function soak(commands, keeps) {
  console.log(`\n${commands} commands, ${keeps ? 'with a memory store' : 'without a store'}:`);
  const world = new World();
  await world.open(keeps);
  const samples = [];
  const start = performance.now();
  while (world.commands < commands) {
    const share = Math.ceil(Math.min(sampleEvery, commands - world.commands) / clients);
    await Promise.all(Array.from({ length: clients }, () => world.work(share)));
    if (keeps) await world.untilCompacted();
    const sample = { commands: world.commands, heap: await heapInUse() };
    samples.push(sample);
    console.log(`${String(sample.commands).padStart(9)} commands ${sample.heap.toFixed(2).padStart(8)} MB`);
  }
  const rate = Math.round((world.commands / (performance.now() - start)) * 1000);
  const faults = [...(await world.close()), ...growthIn(samples.filter((each) => each.commands >= warmUp))];
  console.log(`${rate} commands/s, ${world.events} events read; ${world.answers()}`);
  for (const fault of new Set(faults)) console.log(`FAILED: ${fault}`);
  return faults.length === 0;
}

/** The heap in MB after garbage collection. */
async function heapInUse() {
  for (let time = 0; time < 3; time += 1) {
    await turn();
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** Explains how the heap grew more than allowed. Two samples make no line. */
function growthIn(samples) {
  if (samples.length < 3) return [];
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [samples.map((each) => each.commands), samples.map((each) => each.heap)];
  const [mx, my] = [mean(x), mean(y)];
  const slope =
    mean(x.map((each, at) => (each - mx) * (y[at] - my))) / mean(x.map((each) => (each - mx) ** 2));
  const trend = slope * (Math.max(...x) - Math.min(...x));
  const spread = Math.max(...y) - Math.min(...y);
  console.log(
    `After the warm-up: ${trend.toFixed(2)} MB along the line, ${spread.toFixed(2)} MB from low to high`,
  );
  return [
    ...(trend > allowed.trend ? [`the heap has grown by ${trend.toFixed(2)} MB`] : []),
    ...(spread > allowed.spread ? [`the heap has swung by ${spread.toFixed(2)} MB`] : []),
  ];
}

const good = [await soak(withStore, true), await soak(withoutStore, false)].every(Boolean);
console.log(`\n${withStore + withoutStore} commands: ${good ? 'the heap is flat' : 'FAILED'}`);
process.exitCode = good ? 0 : 1;
