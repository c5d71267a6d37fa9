/**
 * The clients of the drain test: each connects through a node to a service, works for a while, leaves by itself, and
 * connects again. A client that is refused tries another node or service.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { createRandom } from 'gateway-admin-core/testing';
import { Client } from 'pg';

import { login } from './fleet.js';

/** Lets clients live until the signal aborts. Resolves when they have left. */
export async function letLive(count, { fleet, judge, seed, signal }) {
  const live = async (number) => {
    const random = createRandom(seed + number);
    await sleep(random.below(2000));
    for (let visit = 1; !signal.aborted; visit += 1) {
      const [node, service] = [random.pick(fleet.nodes), random.pick(fleet.services)];
      const session = new Session(judge, { client: number, visit, node: node.name, service });
      await session.connect(node.portOf(service));
      await session.work(random, signal);
      await sleep(50 + random.below(300));
    }
  };
  await Promise.all(Array.from({ length: count }, (_, index) => live(index + 1)));
}

/** A session of a client, and what the client knows of it. Times are those of `Date.now()`. */
class Session {
  /** When the client began to connect. */
  begun = Date.now();
  /** When the client was connected; `undefined` before. */
  ready;
  /** The port of the server, once the server has said it. */
  server;
  /** When the client sent the last statement that was answered. The session was open then. */
  worked = this.begun;
  /** When the client left, was refused, or got an error; `undefined` before. */
  ended;
  #judge;
  #client;

  constructor(judge, about) {
    Object.assign(this, about);
    this.#judge = judge;
  }

  get isOpen() {
    return this.ready !== undefined && this.ended === undefined;
  }

  async connect(port) {
    const { node, service, client, visit } = this;
    const name = `${node}/${service}/${client}-${visit}`;
    this.#client = new Client({ ...login, port, application_name: name });
    this.#client.on('error', (error) => this.#fail(error));
    // While nothing listens on a port that the system gives to clients, a client can be connected to itself.
    const { stream } = this.#client.connection;
    stream.once('connect', () => stream.localPort === port && stream.destroy());
    try {
      await this.#client.connect();
      this.ready = Date.now();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#judge.connected(this);
    await this.#ask(`select current_setting('port') as port`, [], ({ rows }) => {
      this.server = Number(rows[0].port);
    });
  }

  /** Runs transactions for some seconds, and leaves. A few clients stay for longer, and a few do not say goodbye. */
  async work(random, signal) {
    const over = Date.now() + (random.chance(0.05) ? 5000 + random.below(5000) : 300 + random.below(4000));
    const leaves = random.chance(0.1) ? 'vanish' : 'leave';
    while (this.isOpen && !signal.aborted && Date.now() < over) {
      await this.#ask('begin');
      for (let left = 1 + random.below(3); left > 0 && this.isOpen; left -= 1) {
        await sleep(random.below(60));
        await this.#ask('insert into visits values ($1, $2)', [this.client, this.visit]);
      }
      await this.#ask('commit');
      await sleep(100 + random.below(1200));
    }
    if (this.isOpen) await this[leaves]();
  }

  async leave() {
    this.#end();
    await this.#client.end().catch(() => undefined);
  }

  /** Cuts the connection in the middle of a statement. */
  async vanish() {
    const cut = this.#client.query('select pg_sleep(0.05)').catch(() => undefined);
    this.#end();
    this.#client.connection.stream.destroy();
    await cut;
  }

  async #ask(text, values, onAnswer) {
    if (!this.isOpen) return;
    const sent = Date.now();
    try {
      const answer = await this.#client.query(text, values);
      if (!this.isOpen) return;
      onAnswer?.(answer);
      this.worked = sent;
      this.#judge.answered(this);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error) {
    if (this.ended !== undefined) return;
    this.#end();
    this.#client.connection.stream.destroy();
    this.#judge.failed(this, error);
  }

  #end() {
    this.ended = Date.now();
    this.#judge.left(this);
  }
}
