/**
 * The PostgreSQL store: a durable store that several gateway nodes have open at once, through the package `pg`.
 *
 * Every change is one statement, which compares and swaps the end of the log. A position is the number of the last
 * record, and the id of the call that ended there: `15.681a78d3-…`.
 */
import { createHash, randomUUID } from 'node:crypto';

import type { Json } from '../../json/value.ts';
import type { LogStep, SharedStore, StoredHistory } from '../port.ts';
import { StoreConflictError } from '../port-error.ts';
import { PrimaryConnection, type PostgresHost, type Query, type Row } from './connection.ts';
import { assertKept } from './durability.ts';
import { Hints } from './hints.ts';
import { assertPostgresOptions, type PostgresStoreOptions } from './options.ts';
import { migrate, statementsFor, versionOf, type Statements } from './schema.ts';

export type { PostgresHost } from './connection.ts';
export type { PostgresStoreOptions } from './options.ts';

/**
 * Opens a store in a PostgreSQL database, for one node of a fleet. Needs Node and the package `pg`.
 *
 * The tables are created if they are missing, and brought to the version of this library. `append` and `compact`
 * resolve once the server has confirmed the commit, and wait for the disk and the synchronous standby whatever
 * `synchronous_commit` is. After a broken connection or a failover, the next call connects again. No error contains the
 * password or stored values.
 *
 * The store has two connections: one for the calls, and one for announcements and hints (`LISTEN`). Hints stay silent
 * behind a pool that shares connections between transactions; the store works all the same.
 *
 * @param options - the servers and the log-in
 * @returns the store. Rejects if no server can be reached that takes changes, if a crash of the server loses commits
 *   (`fsync` is off), if `create` is `false` and the fleet has not begun, if the database has another encoding than
 *   UTF8, or if the tables belong to a later version of the library
 * @throws TypeError for an unknown option, and for an option of a wrong type or range
 *
 * @example
 * ```ts compile-only
 * import { openPostgresStore } from 'gateway-admin-core/postgres-store';
 *
 * const store = await openPostgresStore({
 *   hosts: [{ host: 'db-1.internal' }, { host: 'db-2.internal' }],
 *   database: 'gateway',
 *   user: 'gateway_node',
 *   password: process.env['GATEWAY_DATABASE_PASSWORD'] ?? '',
 *   ssl: true,
 * });
 * ```
 *
 * @beta
 */
export async function openPostgresStore(options: PostgresStoreOptions = {}): Promise<SharedStore> {
  assertPostgresOptions(options);
  const { cluster = 'gateway', schema = 'public', create = true, ...server } = options;
  const { connectTimeoutMs = 5_000, queryTimeoutMs = 20_000 } = server;
  const servers = { ...server, connectTimeoutMs, queryTimeoutMs };
  const calls = new PrimaryConnection(servers);
  const statements = statementsFor(schema);
  try {
    if (!create) await calls.inTurn((query) => assertBegun(query, { cluster, schema }));
    await calls.inTurn((query) => migrate(query, schema));
    await calls.inTurn((query) => query(statements.begin, [cluster, randomUUID()]));
  } catch (error) {
    await calls.close();
    throw error;
  }
  // A dead connection for announcements must be found out before this one is silent to the other nodes.
  const brief = { ...servers, queryTimeoutMs: Math.min(queryTimeoutMs, announcementTimeoutMs) };
  const notes: PrimaryConnection = new PrimaryConnection(brief, {
    prepare: (query) => query(`listen "gateway_${cluster}"`),
    notified: (position) => hints.give(position),
  });
  const hints = new Hints((position) =>
    notes.inTurn((query) => query(statements.notify, [cluster, position])),
  );
  const { hosts = environmentHosts() } = server;
  return new PostgresStore({ cluster, hosts, statements, calls, notes, hints });
}

/** Checks that the fleet has begun: that the schema has tables, and the cluster has a row or records. */
async function assertBegun(
  query: Query,
  { cluster, schema }: { readonly cluster: string; readonly schema: string },
): Promise<void> {
  const hasTables = (await versionOf(query, schema)) > 0;
  const [row] = hasTables ? await query(statementsFor(schema).look, [cluster]) : [];
  if (typeof row?.['position'] === 'string' || typeof row?.['last_position'] === 'string') return;
  const seen = hasTables ? `no row for the cluster "${cluster}"` : `no tables in the schema "${schema}"`;
  throw new Error(
    `The database has ${seen}, and the option create is false. Check the server, the database, the schema and the ` +
      'cluster. If the content was deleted, restore a backup. To begin without content, leave the option out once.',
  );
}

/** The server that `pg` takes from the environment. */
function environmentHosts(): readonly PostgresHost[] {
  const { PGHOST: host = 'localhost', PGPORT: port = defaultPort } = process.env;
  return [{ host, port: Number(port) }];
}

/** How long an announcement may take at most, in milliseconds: less than half of the usual lease. */
const announcementTimeoutMs = 4_000;

/** The end of a call in the log. */
interface Position {
  readonly number: string;
  /** The id of the call. */
  readonly call: string;
}

/** The number of records that are read at once. */
const pageSize = 1000;

/** The port of a PostgreSQL server, unless something else is said. */
const defaultPort = 5432;

interface Parts {
  readonly cluster: string;
  readonly hosts: readonly PostgresHost[];
  readonly statements: Statements;
  /** The connection for the content. */
  readonly calls: PrimaryConnection;
  /** The connection for announcements and hints. */
  readonly notes: PrimaryConnection;
  readonly hints: Hints;
}

class PostgresStore implements SharedStore {
  readonly durable = true;
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  readonly #parts: Parts;
  #lastCall = { digest: '', id: '' };
  #isOpen = true;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.addresses = parts.hosts.map(({ host, port = defaultPort }) => ({ host, port }));
  }

  load(): Promise<StoredHistory> {
    const { cluster, statements, calls } = this.#parts;
    return calls.inTurn(async (query) => {
      for (let seen: string | undefined; ;) {
        const [row] = await query(statements.state, [cluster]);
        if (typeof row?.['position'] !== 'string') throw await this.#unfounded(query, row);
        const { state } = row;
        const start = positionIn(row);
        const steps = await this.#follow(query, start);
        if (steps !== 'gone') {
          const records = steps.flatMap((step) => step.records);
          const history = { records, position: steps.at(-1)?.position ?? textOf(start) };
          if (typeof state === 'string') return { state: valueOf(state), ...history };
          // Another node may have stored the first state since: the log does not have it.
          const [again] = await query(statements.state, [cluster]);
          if (again?.['state'] === row['state']) return history;
          continue;
        }
        // Another node may have compacted since, and the owner of the tables may have deleted the older records.
        if (seen === textOf(positionIn(row)))
          throw new Error(
            `Records of the cluster "${cluster}" behind position ${seen} are missing. Restore a backup.`,
          );
        seen = textOf(positionIn(row));
      }
    });
  }

  async append(
    records: readonly Json[],
    { expectedPosition }: { readonly expectedPosition: string },
  ): Promise<string> {
    if (records.length === 0) throw new TypeError('append takes one record or more');
    const texts = records.map((record) => JSON.stringify(record));
    return this.#settle('append', expectedPosition, texts, texts);
  }

  async compact(state: Json, { expectedPosition }: { readonly expectedPosition: string }): Promise<string> {
    const text = JSON.stringify(state);
    return this.#settle('compact', expectedPosition, text, [text]);
  }

  read(after: string): Promise<readonly LogStep[] | 'gone'> {
    return this.#parts.calls.inTurn((query) => this.#follow(query, parse(after)));
  }

  async changed(after: string, signal: AbortSignal): Promise<void> {
    if (!this.#isOpen) throw new Error('The store was disposed of.');
    const { notes, hints } = this.#parts;
    // Connects again if the connection for the hints broke. If that fails, the hints are silent.
    notes.ensure();
    hints.retry();
    await hints.next(after, signal);
  }

  async announce(node: string, status: Json | null): Promise<ReadonlyMap<string, Json>> {
    const { cluster, statements, notes } = this.#parts;
    const own = status === null ? [] : [JSON.stringify(status)];
    const statement = status === null ? statements.leave : statements.announce;
    const rows = await notes.inTurn((query) => query(statement, [cluster, node, ...own]));
    return new Map(rows.map(({ node: name, report }) => [name ?? '', valueOf(report)]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { calls, notes, hints } = this.#parts;
    this.#isOpen = false;
    hints.end();
    await Promise.all([calls.close(), notes.close()]);
  }

  /** Changes the log in one statement. The same call again, with the same id, finds its id at the end of the log. */
  async #settle(
    kind: 'append' | 'compact',
    expected: string,
    given: unknown,
    texts: readonly string[],
  ): Promise<string> {
    const { cluster, statements, calls, hints } = this.#parts;
    const id = this.#idOf([kind, expected, ...texts]);
    const { number, call } = parse(expected);
    const settled = calls.inTurn(async (query) => {
      const [row] = await query(statements[kind], [cluster, number, call, id, given]);
      if (row !== undefined) return textOf({ number: row['position'] ?? '', call: id });
      const seen = await this.#look(query);
      assertKept(seen);
      const position = positionIn(seen);
      if (position.call !== id) throw new StoreConflictError(expected, textOf(position));
      const [kept] = await query(statements.confirm, [cluster, id]);
      if (kept === undefined) throw new StoreConflictError(expected, textOf(position));
      return textOf(position);
    });
    const position = await settled;
    hints.send(position);
    return position;
  }

  /**
   * Reads the records behind a position, page by page. Each page begins with the last row of the page before. If a row
   * is missing in between, no way leads on. The last page ends where `gateway_head` says.
   */
  async #follow(query: Query, start: Position): Promise<readonly LogStep[] | 'gone'> {
    const { cluster, statements } = this.#parts;
    const steps: { records: Json[]; position: string }[] = [];
    const gone = async (): Promise<'gone'> => {
      await this.#look(query);
      return 'gone';
    };
    for (let end = start; ;) {
      const [first, ...rows] = await query(statements.page, [cluster, end.number, pageSize]);
      if (first === undefined || textOf(positionIn(first)) !== textOf(end)) return gone();
      for (const row of rows) {
        if (Number(row['position']) !== Number(end.number) + 1) return 'gone';
        const before = end;
        end = positionIn(row);
        let step = steps.at(-1);
        if (step === undefined || end.call !== before.call) {
          step = { records: [], position: '' };
          steps.push(step);
        }
        if (typeof row['record'] === 'string') step.records.push(valueOf(row['record']));
        step.position = textOf(end);
      }
      if (rows.length < pageSize - 1) return first['head'] === textOf(end) ? steps : gone();
    }
  }

  /** The id of a call: the same as that of the last call if the call is the same again, and otherwise a new one. */
  #idOf(call: readonly string[]): string {
    const digest = createHash('sha256').update(JSON.stringify(call)).digest('base64');
    if (digest !== this.#lastCall.digest) this.#lastCall = { digest, id: randomUUID() };
    return this.#lastCall.id;
  }

  /** Looks where the log ends. Rejects if the tables contradict each other. */
  async #look(query: Query): Promise<Row> {
    const { cluster, statements } = this.#parts;
    const [row = {}] = await query(statements.look, [cluster]);
    const head = placeOf(row['position'], row['call']);
    const last = placeOf(row['last_position'], row['last_call']);
    if (head !== last)
      throw this.#contradiction(`gateway_head ends at ${head}, and gateway_record ends at ${last}`);
    if (head === noRow)
      throw new Error(`The tables have no row for the cluster "${cluster}". Open the store again.`);
    return row;
  }

  /** The reason why the state leads to no record. */
  async #unfounded(query: Query, row: Row | undefined): Promise<Error> {
    await this.#look(query);
    return this.#contradiction(
      `the state in gateway_head is of position ${row?.['state_at'] ?? noRow}, and gateway_record has no row there`,
    );
  }

  #contradiction(what: string): Error {
    return new Error(
      `The tables of the cluster "${this.#parts.cluster}" contradict each other: ${what}. Somebody has changed or restored ` +
        'one of them alone. Restore gateway_head and gateway_record from the same backup.',
    );
  }
}

const noRow = 'no row';

function placeOf(position: string | null | undefined, call: string | null | undefined): string {
  return typeof position === 'string' ? `${position}.${call ?? ''}` : noRow;
}

/** Reads a position. A text that is no position of this store is the position of no call. */
function parse(text: string): Position {
  const parts = /^(\d{1,18})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(text) ?? [];
  const [, number = nowhere.number, call = nowhere.call] = parts;
  return { number, call };
}

const nowhere: Position = { number: '-1', call: '00000000-0000-0000-0000-000000000000' };

function textOf({ number, call }: Position): string {
  return `${number}.${call}`;
}

function positionIn({ position, call }: Row): Position {
  return { number: position ?? '', call: call ?? '' };
}

function valueOf(text: string | null | undefined): Json {
  return JSON.parse(text ?? 'null') as Json;
}
