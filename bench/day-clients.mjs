/**
 * The other side of the gateway of `day.mjs`, in a process of its own: the servers behind the gateway, and the clients in
 * front. Clients count what they do themselves.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { transform } from 'esbuild';
import { Client } from 'pg';

import { closeAll } from '../examples/dist/gateway/closing.js';
import { openServer } from './postgres-server.mjs';
import { answerCalls } from './process.mjs';

const closers = [];
let opening;
const tickMs = 10;

/** The servers behind the gateway by kind, and the clients that talk to them. */
const kinds = {
  echo: { openServer: openEcho, openClient: openEchoClient },
  PostgreSQL: { openServer: openPostgres, openClient: openPostgresClient },
};

/** Every crowd of clients, by the port of the gateway. */
const crowds = new Map();

answerCalls(
  {
    /** Starts a server of a kind, with room for a number of clients. Gives its port. */
    openServer: ({ kind, room }) => (opening = kinds[kind].openServer(room)),
    /** Connects a number of clients to the port of a gateway. Gives what the crowd has counted since its first client. */
    async connect({ kind, port, count }) {
      const crowd = crowds.get(port) ?? new Crowd(() => kinds[kind].openClient(port));
      crowds.set(port, crowd);
      await crowd.grow(count);
      return crowd.counted();
    },
    /** Lets the clients of a gateway work. Gives the milliseconds of each round trip. */
    work: ({ port, ...load }) => crowds.get(port).work(load),
    /** Lets all clients of a gateway leave. */
    async leave({ port }) {
      await crowds.get(port).shrink();
      return crowds.get(port).counted();
    },
    counted: ({ port }) => crowds.get(port).counted(),
  },
  async () => {
    // A start that is under way still writes data.
    await opening?.catch(() => undefined);
    await closeAll(closers);
  },
);

/** The clients of one gateway. */
class Crowd {
  /** The oldest first. */
  #clients = [];
  #open;
  #sessions = 0;
  #next = 0;

  constructor(open) {
    this.#open = open;
  }

  counted() {
    return { live: this.#clients.length, total: this.#sessions };
  }

  /** Connects a number of clients, some of them at a time. */
  async grow(count) {
    const places = Array.from({ length: Math.min(20, count) }, async () => {
      while (count > 0) {
        count -= 1;
        await this.#join();
      }
    });
    await Promise.all(places);
  }

  async shrink() {
    await Promise.all(this.#clients.splice(0).map(leave));
  }

  /**
   * Sends queries and replaces the oldest clients by new ones, at steady rates. The amount of work depends on the rates
   * alone: a client process that comes late catches up.
   */
  async work({ ms, queriesPerSecond, leavesPerSecond }) {
    const roundTrips = [];
    const changes = [];
    let [queries, leaves] = [0, 0];
    const begin = performance.now();
    for (let elapsed = tickMs; elapsed <= ms; elapsed += tickMs) {
      await sleep(Math.max(0, begin + elapsed - performance.now()));
      for (; leaves < (leavesPerSecond * elapsed) / 1000; leaves += 1) {
        changes.push(awaitedLater(leave(this.#clients.shift())), awaitedLater(this.#join()));
      }
      for (; queries < (queriesPerSecond * elapsed) / 1000; queries += 1) {
        this.#next = (this.#next + 1) % this.#clients.length;
        ask(this.#clients[this.#next], roundTrips);
      }
    }
    await Promise.all([...changes, ...this.#clients.map(({ answered }) => answered)]);
    return roundTrips;
  }

  /** A client counts once the server has answered it. */
  async #join() {
    const client = await this.#open();
    await client.ask();
    this.#sessions += 1;
    this.#clients.push({ client, answered: Promise.resolve() });
  }
}

/** A client asks one thing at a time. */
function ask(member, roundTrips) {
  const due = performance.now();
  const answered = member.answered.then(async () => {
    await member.client.ask();
    roundTrips.push(performance.now() - due);
  });
  member.answered = awaitedLater(answered);
}

/** A promise that is awaited later: if it rejects before, the process does not end. */
function awaitedLater(promise) {
  promise.catch(() => undefined);
  return promise;
}

async function leave({ client, answered }) {
  await answered;
  await client.leave();
}

/** The echo server of the system tests. */
async function openEcho() {
  const source = await readFile(new URL('../tests/system/echo-server.ts', import.meta.url), 'utf8');
  const { code } = await transform(source, { loader: 'ts' });
  const { openEchoServer } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const { port, close } = await openEchoServer('');
  closers.push(close);
  return port;
}

async function openEchoClient(port) {
  const socket = connectSocket({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const question = Buffer.alloc(256, 'q');
  // The first packet of a client of PostgreSQL starts its session; the server sends it back too.
  let sent = Buffer.from('\0\0\0\x17\0\x03\0\0user\0somebody\0\0');
  let missing = 0;
  let waiting;
  socket.on('data', (chunk) => {
    missing -= chunk.length;
    if (missing === 0) waiting.resolve();
  });
  // Node closes a socket after an error.
  socket.on('error', () => undefined);
  socket.on('close', () => waiting.reject(new Error('The gateway has closed the connection of a client')));
  return {
    ask() {
      missing = sent.length;
      socket.write(sent);
      sent = question;
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
      });
    },
    async leave() {
      const closed = once(socket, 'close');
      socket.end();
      await closed;
    },
  };
}

async function openPostgres(room) {
  const { port, close } = await openServer(['fsync=off', `max_connections=${room}`]);
  closers.push(close);
  return port;
}

async function openPostgresClient(port) {
  const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
  // A connection that is cut while nobody asks; a question rejects.
  client.on('error', () => undefined);
  await client.connect();
  let sent = 0;
  return {
    async ask() {
      sent += 1;
      const { rows } = await client.query('SELECT $1::int AS answer', [sent]);
      if (rows[0].answer !== sent)
        throw new Error(`PostgreSQL has answered ${rows[0].answer} and not ${sent}`);
    },
    leave: () => client.end(),
  };
}
