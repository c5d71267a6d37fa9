/**
 * A connection to the primary among several PostgreSQL servers: made when it is first needed, and again after it broke.
 */
import { Client, type ClientConfig } from 'pg';

import { assertKept, keptColumn } from './durability.ts';
import { ask, logInOf, type LogInOptions, sentenceOf } from './log-in.ts';

/**
 * The address of a PostgreSQL server.
 *
 * @beta
 */
export interface PostgresHost {
  /** A name, an IP address, or the directory of a Unix socket. */
  readonly host: string;
  /** 5432 by default. */
  readonly port?: number;
}

/** Where the servers are, and how to log in. @internal */
export interface ServerOptions extends LogInOptions {
  readonly hosts?: readonly PostgresHost[] | undefined;
  readonly database?: string | undefined;
  readonly queryTimeoutMs: number;
}

/** A row, with each column as PostgreSQL writes it. @internal */
export type Row = Readonly<Record<string, string | null>>;

/** A statement that a server prepares once for each connection. Another one never has its name. @internal */
export interface Prepared {
  readonly name: string;
  readonly text: string;
}

/** Sends a statement, and gives its rows. @internal */
export type Query = (statement: string | Prepared, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** What a connection does beside the queries. @internal */
export interface ConnectionHooks {
  /** Prepares each new connection. */
  readonly prepare?: (query: Query) => Promise<unknown>;
  /** Takes the payload of a notification of another connection. */
  readonly notified?: (payload: string) => void;
}

/** The server has done nothing of a statement, because of another client: the work can be done again. */
class Interrupted extends Error {}

/** A serialization failure, and a deadlock. */
const interruptions: readonly unknown[] = ['40001', '40P01'];

/** A prepared statement is gone, or is there already: a pool has given this client another connection to the server. */
const unshared: readonly unknown[] = ['26000', '42P05'];

/** How often work is done in all when other transactions interrupt it. */
const mostTries = 12;

/** The longest pause between two tries, in milliseconds. */
const longestPauseMs = 100;

/**
 * A connection to the primary. Its work is done in turn. Every step has a deadline. A failed query closes the
 * connection, because the state of the connection is then unknown; the next work makes a new one. Work that other
 * transactions interrupt is done again, because the server has undone it.
 *
 * @internal
 */
export class PrimaryConnection {
  readonly #options: ServerOptions;
  readonly #hooks: ConnectionHooks;
  /** The servers, the last primary first. */
  #hosts: readonly (PostgresHost | undefined)[];
  #client: Client | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** The number of works that are not done. */
  #undone = 0;
  #isClosed = false;
  /** Whether the server prepares each statement once, and not each time. */
  #prepares = true;

  constructor(options: ServerOptions, hooks: ConnectionHooks = {}) {
    this.#options = options;
    this.#hooks = hooks;
    // Without a list, pg takes the host of the environment.
    this.#hosts = options.hosts ?? [undefined];
  }

  /** Works with the connection, after all earlier work. */
  inTurn<T>(work: (query: Query) => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new Error('The store was disposed of.'));
    this.#undone += 1;
    const result = this.#turn
      .then(() =>
        throughInterruptions(async () => {
          this.#client ??= await this.#connect();
          return work(this.#queryOf(this.#client));
        }),
      )
      .finally(() => (this.#undone -= 1));
    this.#turn = result.catch(ignore);
    return result;
  }

  /** Connects if there is no connection, and no work will make one. */
  ensure(): void {
    if (this.#client === undefined && this.#undone === 0) this.inTurn(() => Promise.resolve()).catch(ignore);
  }

  /** Closes the connection after all work. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turn;
    await this.#drop(this.#client);
  }

  async #connect(): Promise<Client> {
    const faults: string[] = [];
    const logIn = await logInOf(this.#options);
    for (const host of this.#hosts) {
      const client = clientFor(this.#options, host, logIn);
      try {
        await this.#open(client);
        this.#hosts = [host, ...this.#hosts.filter((each) => each !== host)];
        return client;
      } catch (error) {
        void this.#drop(client);
        if (error instanceof Interrupted) throw error;
        faults.push(`${client.host}:${String(client.port)}: ${sentenceOf(error)}`);
      }
    }
    throw new Error(`No PostgreSQL server can take the configuration. ${faults.join('; ')}`);
  }

  async #open(client: Client): Promise<void> {
    // Without a listener, a connection that breaks while nothing is asked ends the process.
    client.on('error', () => void this.#drop(client));
    client.on('end', () => void this.#drop(client));
    client.on('notification', ({ processId, payload = '' }) => {
      const { processID: own } = client as Client & { readonly processID: number };
      if (processId !== own) this.#hooks.notified?.(payload);
    });
    await client.connect();
    const query = this.#queryOf(client);
    const [row] = await query(check, [String(this.#options.queryTimeoutMs)]);
    if (row?.['read_only'] === 'true') throw new Error('the server is a standby, or read-only');
    const encoding = row?.['encoding'] ?? '';
    if (encoding !== 'UTF8')
      throw new Error(
        `the database has the encoding ${encoding}, which cannot store every text. Use a database with the encoding UTF8`,
      );
    assertKept(row);
    await this.#hooks.prepare?.(query);
  }

  #queryOf(client: Client): Query {
    return async (statement, values = []) => {
      const { text, ...name } = typeof statement === 'string' ? { text: statement } : statement;
      const prepared = this.#prepares ? name : {};
      const result = client.query<Record<string, string | null>>({ ...prepared, text, values: [...values] });
      const { rows } = await result.catch((error: unknown) => {
        const sentence = `PostgreSQL at ${client.host}:${String(client.port)}: ${sentenceOf(error)}`;
        const { code } = (error ?? {}) as { readonly code?: unknown };
        if (unshared.includes(code)) this.#prepares = false;
        if (unshared.includes(code) || interruptions.includes(code)) throw new Interrupted(sentence);
        void this.#drop(client);
        throw new Error(sentence);
      });
      return rows;
    };
  }

  /** Ends a connection. Waits no longer than for a new one: a server that is gone does not say goodbye. */
  async #drop(client: Client | undefined): Promise<void> {
    if (this.#client === client) this.#client = undefined;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, this.#options.connectTimeoutMs).unref();
    });
    await Promise.race([client?.end().catch(ignore), late]).finally(() => clearTimeout(timer));
  }
}

/** Does work until no other transaction interrupts it. The pauses are random: two that have met must not meet again. */
async function throughInterruptions<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Interrupted) || tries === mostTries) throw error;
      const pauseMs = Math.random() * Math.min(2 ** tries, longestPauseMs);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/**
 * Looks for a primary, as `target_session_attrs=read-write` does, and bounds every statement on the server too.
 * Otherwise a statement could wait there for a lock long after its client has given up. The statements of the store
 * rest on the level "read committed": at a higher level, a conflict of two nodes is an interruption first.
 */
const check = `
  select (pg_is_in_recovery() or current_setting('transaction_read_only')::boolean)::text as read_only,
    current_setting('server_encoding') as encoding, ${keptColumn},
    set_config('statement_timeout', $1, false),
    set_config('default_transaction_isolation', 'read committed', false)`;

/** Every column is text: the parsers that a host sets for its own connections do not change ours. */
const asText = { getTypeParser: () => (value: string) => value } as unknown as ClientConfig['types'];

function clientFor(
  { database, password, connectTimeoutMs, queryTimeoutMs }: ServerOptions,
  address: PostgresHost | undefined,
  logIn: Awaited<ReturnType<typeof logInOf>>,
): Client {
  const client: Client = new Client({
    ...address,
    ...logIn,
    database,
    // pg knows the user, also one of the environment.
    password:
      typeof password === 'function' ? () => ask('password', () => password(client.user ?? '')) : password,
    types: asText,
    fallback_application_name: 'gateway-admin-core',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  return client;
}

function ignore(): void {
  return undefined;
}
