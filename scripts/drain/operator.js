/**
 * The operator of the drain test: drains services and servers of a fleet, as a list says that is made from a seed. Two
 * hands work at once, one on services and one on servers.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** Nothing is left to do so many milliseconds after a deadline, unless an alert says why. */
const minuteMs = 60_000;
/** What has not happened after so many milliseconds never happens. */
const patienceMs = 180_000;

/** Makes the list: what the operator drains, how each drain ends, and which nodes are killed meanwhile. */
export function makeList(count, random, { services, servers, nodes }) {
  const names = { services, servers: [...servers.keys()] };
  return Array.from({ length: count }, (_, index) => {
    const collection = index % 2 === 0 ? 'services' : 'servers';
    const then = random.pick([undefined, 'close', 'close', 'resume']);
    const reason = `drain ${index + 1}`;
    return {
      ...{ number: index + 1, collection, name: random.pick(names[collection]) },
      plansFirst: random.chance(0.6),
      options: then === undefined ? { reason } : { timeout: 1 + random.below(4), then, reason },
      /** When the operator ends the drain: once all is done, after some time, or close to the deadline. */
      end: random.pick(['done', 'done', 'early', then === undefined ? 'done' : 'deadline']),
      endMs: random.below(2000),
      kill: random.chance(0.3) ? { nodes: killed(random, nodes), afterMs: random.below(5000) } : undefined,
    };
  });
}

/** Mostly one node. If all nodes are away at a deadline, one that comes back acts. */
function killed(random, nodes) {
  return random.chance(0.25) ? nodes : [random.pick(nodes)];
}

/** Follows the list. */
export class Operator {
  #fleet;
  #judge;
  #random;
  #signal;
  /** The looks at PostgreSQL that go on until nothing is left from before a claim. */
  #looks = [];

  constructor({ fleet, judge, random, signal }) {
    [this.#fleet, this.#judge, this.#random, this.#signal] = [fleet, judge, random, signal];
  }

  /** Drains all of the list, and waits until PostgreSQL agrees. `onEnd` is called after each drain. */
  async run(list, onEnd) {
    const hand = async (collection) => {
      for (const row of list.filter((each) => each.collection === collection)) {
        await Promise.all([this.#drain(row), this.#kill(row.kill)]);
        onEnd();
      }
    };
    await Promise.all(['services', 'servers'].map(hand));
    await Promise.all(this.#looks);
  }

  /** Law 5: each client works again, at each node on each service and server. */
  async waitUntilAllWork(clients) {
    const { nodes, services, servers } = this.#fleet;
    this.#judge.resumedAll();
    const places = nodes.flatMap(({ name }) =>
      [...services, ...servers.values()].map((each) => `${name} ${each}`),
    );
    const all = [...Array.from({ length: clients }, (_, index) => index + 1), ...places];
    const begun = Date.now();
    while (this.#judge.idle(all).length > 0) {
      if (Date.now() - begun > patienceMs)
        return this.#judge.breach(
          5,
          `after the last resume, these do not work: ${this.#judge.idle(all).join(', ')}`,
        );
      await this.#pause(100);
    }
  }

  async #drain({ plansFirst, end, endMs, ...about }) {
    const { collection, name, options } = about;
    const { servers } = this.#fleet;
    const ports = collection === 'servers' ? [servers.get(name)] : [];
    const link = `/${collection}/${name.replaceAll(' ', '-')}`;
    const drain = this.#judge.drain({ ...about, ports, link });
    if (plansFirst && options.then === 'close')
      await Promise.all(this.#fleet.running.map((node) => this.#plan(drain, node)));
    await this.#command(`begin ${drain}`, ({ client }) => client[collection].drain(name, options));
    const deadline = drain.begun + (options.timeout ?? Infinity) * 1000;
    const ends = { early: drain.begun + endMs, deadline: deadline - 500 + endMs / 2, done: Infinity };
    await this.#watch(drain, { until: ends[end], deadline });
    await this.#end(drain);
  }

  /** Asks a node what the drain would close there. */
  async #plan(drain, node) {
    const begun = Date.now();
    const answer = await node.client[drain.collection].drain
      .plan(drain.name, drain.options)
      .catch(() => undefined);
    const note = answer?.value?.notes?.find(({ code }) => code === 'closes-at-deadline');
    if (note !== undefined) this.#judge.plan(drain, node.name, { count: note.count, begun });
  }

  /** Watches a drain until a time, or until all is done. */
  async #watch(drain, { until, deadline }) {
    const begun = Date.now();
    const due = deadline === Infinity ? begun + patienceMs : deadline;
    let isLate = false;
    while (Date.now() < until) {
      if (await this.#look(drain)) break;
      const lateMs = Date.now() - Math.max(due, begun);
      if (!isLate && lateMs > minuteMs) isLate = !(await this.#isAlerted(drain));
      if (isLate || lateMs > patienceMs)
        return this.#judge.breach(4, `${drain} has something left ${lateMs} ms late`);
      await this.#pause(50 + this.#random.below(150));
    }
    if (Date.now() > deadline) this.#judge.counts.deadlines += 1;
  }

  /** Looks at a node, and at what that node knows of the others. Gives whether nothing is left to do anywhere. */
  async #look(drain) {
    const { nodes, running } = this.#fleet;
    if (running.length === 0) return false;
    const node = this.#random.pick(running);
    const shown = await this.#shownAt(node, drain);
    const isThere = shown?.drain?.reason === drain.options.reason;
    if (isThere && shown.drain.state === 'drained') this.#claim(drain, node);
    const listed = await node.client.fleet.list().catch(() => undefined);
    const rows = listed?.ok ? listed.value.elements : [];
    // A node that shows the drain has read the log at least as far as the drain.
    if (isThere) drain.position ??= numberOf(rows.find((row) => row.node === node.name)?.position);
    const drained = rows.filter(
      ({ alive, applied, drains }) =>
        alive &&
        numberOf(applied) >= drain.position &&
        drains.some(({ resource, state }) => resource === drain.link && state === 'drained'),
    );
    for (const row of drained) this.#claim(drain, { name: row.node });
    return drain.options.then === 'resume' ? this.#hasEnded(drain) : drained.length === nodes.length;
  }

  /** What a node shows of what drains; `undefined` if the node does not answer. */
  async #shownAt({ isRunning, client }, { collection, name }) {
    const answer = isRunning ? await client[collection].get(name).catch(() => undefined) : undefined;
    return answer?.ok ? answer.value : undefined;
  }

  /** A node says that it has drained: what PostgreSQL still has is about to end, and nothing new comes. */
  #claim(drain, node) {
    if (Date.now() >= drain.endFrom || !this.#judge.claim(drain, node.name)) return;
    const looking = this.#lookAtServers(drain, node).catch((error) => {
      if (!this.#signal.aborted)
        this.#judge.breach(3, `PostgreSQL does not say what it has: ${error.message}`);
    });
    this.#looks.push(looking);
  }

  async #lookAtServers(drain, node) {
    const begun = Date.now();
    for (let left = 1; left > 0 || Date.now() < drain.endFrom; await this.#pause(300)) {
      left = this.#judge.seen(drain, node.name, await this.#fleet.openAt(node, drain));
      if (left === 0 || Date.now() - begun < minuteMs) continue;
      return this.#judge.breach(
        3,
        `PostgreSQL has ${left} sessions at ${node.name}, where ${drain} was done`,
      );
    }
  }

  async #isAlerted({ link }) {
    const lists = this.#fleet.running.map(({ client }) => client.alerts.list().catch(() => undefined));
    return (await Promise.all(lists)).some((list) =>
      list?.value?.elements.some(({ resource }) => resource === link),
    );
  }

  async #end(drain) {
    const { collection, name } = drain;
    drain.endFrom = Math.min(drain.endFrom, Date.now());
    this.#judge.counts.resumes += 1;
    await this.#command(`resume ${drain}`, (node) => node.client[collection].resume(name));
    const begun = Date.now();
    while (!(await this.#hasEnded(drain))) {
      if (Date.now() - begun > patienceMs) throw new Error(`${drain} does not end at every node.`);
      await this.#pause(100);
    }
    drain.over = Date.now();
  }

  /** Whether no node has the drain any more. A killed node has it until it is back. */
  async #hasEnded(drain) {
    const shown = await Promise.all(this.#fleet.nodes.map((node) => this.#shownAt(node, drain)));
    return shown.every((each) => each !== undefined && each.drain === undefined && each.state !== 'stopped');
  }

  /** Sends a command to nodes until one has done it. */
  async #command(what, send) {
    let why = 'no node answers';
    for (const begun = Date.now(); Date.now() - begun < patienceMs; await this.#pause(200)) {
      const [node] = [...this.#fleet.running].sort(() => this.#random.next() - 0.5);
      const answer = await (node && send(node).catch((error) => (why = error.message)));
      if (answer?.ok) return;
      why = answer?.problem?.detail ?? why;
    }
    throw new Error(`No node can ${what}: ${why}`);
  }

  /** Kills nodes, unless another one is away. */
  async #kill(row) {
    if (row === undefined) return;
    await this.#pause(row.afterMs);
    const isWhole = this.#fleet.running.length === this.#fleet.nodes.length;
    if (isWhole) await Promise.all(row.nodes.map((node) => this.#fleet.kill(node, this.#signal)));
  }

  #pause(milliseconds) {
    return sleep(milliseconds, undefined, { signal: this.#signal });
  }
}

/** The number of a position in the log. */
function numberOf(position) {
  return position === undefined ? undefined : Number.parseInt(position, 10);
}
