/**
 * Real PostgreSQL servers: one for all test files that need only a database, and one for each file that ends its
 * server, changes its settings, or needs a standby.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { Client } from 'pg';

import {
  createData,
  findInstallation,
  freePort,
  isReady,
  spawnServer,
  type Installation,
} from '../../examples/gateway/postgres-server.ts';
import type { Certificate } from './certificate.ts';

const settings = [
  // Many test files have clients at the same time.
  'max_connections=300',
  // Begins again in a tenth of a second after it was killed. By default, a server first syncs each of its 1,000 files.
  ...(process.platform === 'linux' ? ['recovery_init_sync_method=syncfs'] : []),
];

/** The variable of the environment with the port of the door to the server for all files. */
export const doorVariable = 'SHARED_POSTGRES_DOOR';

/** A database on a running server. */
export class PostgresDatabase {
  readonly port: number;
  readonly #name: string;

  constructor(port: number, name: string) {
    this.port = port;
    this.#name = name;
  }

  /** The database `postgres` on the server for all files, which the first call starts. */
  static async shared(): Promise<PostgresDatabase> {
    const answer = await text(connect(Number(process.env[doorVariable]), '127.0.0.1'));
    if (!/^\d+$/.test(answer)) throw new Error(`The server for all test files does not start: ${answer}`);
    return new PostgresDatabase(Number(answer), 'postgres');
  }

  /** Creates a database on the server for all files. */
  static async create(name: string): Promise<PostgresDatabase> {
    const shared = await PostgresDatabase.shared();
    await shared.query(`create database ${name}`);
    return new PostgresDatabase(shared.port, name);
  }

  /** The options with which a store or a client reaches the database. */
  get address() {
    return { hosts: [{ host: '127.0.0.1', port: this.port }], user: 'postgres', database: this.#name };
  }

  /** Connects as the superuser. */
  async client(database = this.#name): Promise<Client> {
    const client = new Client({ host: '127.0.0.1', port: this.port, user: 'postgres', database });
    // The tests end connections.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Runs a statement as the superuser. Gives the rows. */
  async query(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    const client = await this.client();
    try {
      return (await client.query<Record<string, unknown>>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }
}

/** A running server. It ends with this process at the latest. */
export class PostgresServer extends PostgresDatabase {
  readonly #directory: string;
  readonly #installation: Installation;
  #process: ChildProcess | undefined;

  private constructor(directory: string, installation: Installation, port: number) {
    super(port, 'postgres');
    this.#directory = directory;
    this.#installation = installation;
  }

  /** Starts a server on new data. Any role may log in without a password, from this machine. */
  static async start(): Promise<PostgresServer> {
    const directory = await mkdtemp(join(tmpdir(), 'gateway-postgres-'));
    const installation = await findInstallation(directory);
    await createData(installation, join(directory, 'data'));
    const server = new PostgresServer(directory, installation, await freePort());
    await server.begin();
    return server;
  }

  /** The directory of the data. */
  get data(): string {
    return join(this.#directory, 'data');
  }

  /** Starts the server again, with further settings. */
  async begin(...further: readonly string[]): Promise<void> {
    this.#process = spawnServer(this.#installation, this.data, this.port, [...settings, ...further]);
    endWithThisProcess(this.#process, this.#directory);
    await isReady(this.#process);
  }

  /** Does not keep this process alive. The server and its directory go when the process ends. */
  unref(): this {
    this.#process?.unref();
    release(this.#process?.stderr ?? null);
    return this;
  }

  /** Ends the server at once, as a power failure does. What is not in its log is lost. */
  async kill(): Promise<void> {
    const server = this.#process;
    if (server?.exitCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGQUIT');
    await ended;
  }

  /** Copies the data of the server, which must not run, and starts a standby on the copy. It waits to be promoted. */
  copyAsStandby(): Promise<PostgresServer> {
    return this.#copy();
  }

  /**
   * Starts the server, which must not run, again, with a standby that has every change before a client is told of it.
   */
  async beginWithStandby(): Promise<PostgresServer> {
    const standby = await this.#copy(conninfo(this));
    await this.begin('synchronous_standby_names=standby');
    while ((await this.query(`select 1 from pg_stat_replication where sync_state = 'sync'`)).length === 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
    return standby;
  }

  /** Starts a standby, which must not run, again. */
  async beginBehind(primary: PostgresServer): Promise<void> {
    await this.begin(conninfo(primary));
  }

  /** Starts the server, which must not run, again, for clients with and without TLS, with further settings. */
  async beginWithTls({ cert, key }: Certificate, ...further: readonly string[]): Promise<void> {
    await this.write({ 'server.crt': cert, 'server.key': key });
    await this.begin('ssl=on', ...further);
  }

  /** Writes files of the configuration into the directory of the data, for the server alone. */
  async write(files: Readonly<Record<string, string>>): Promise<void> {
    const { uid, gid } = this.#installation.as;
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.data, name);
      await writeFile(path, content, { mode: 0o600 });
      if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
    }
  }

  async #copy(...further: readonly string[]): Promise<PostgresServer> {
    const directory = join(this.#directory, 'standby');
    const standby = new PostgresServer(directory, this.#installation, await freePort());
    await cp(this.data, standby.data, { recursive: true, preserveTimestamps: true });
    await writeFile(join(standby.data, 'standby.signal'), '');
    await own(directory, this.#installation);
    await chmod(standby.data, 0o700);
    await standby.begin(...further);
    return standby;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Has a shell end a server once this process is gone, however it ended: then, the input of the shell ends. */
function endWithThisProcess(server: ChildProcess, directory: string): void {
  const script = 'read -r line; kill -QUIT "$0"; sleep 1; rm -rf "$1"';
  const shell = spawn('sh', ['-c', script, String(server.pid), directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Windows has no such shell.
  shell.once('error', () => undefined);
  server.once('exit', () => shell.kill());
  release(shell.stdin);
  shell.unref();
}

/** A pipe does not keep this process alive. */
function release(pipe: Readable | Writable | null): void {
  (pipe as Socket | null)?.unref();
}

/** How a standby reaches its primary. */
function conninfo({ port }: PostgresServer): string {
  return `primary_conninfo=host=127.0.0.1 port=${String(port)} user=postgres application_name=standby`;
}

/** Gives copied files to the account of the server. */
async function own(directory: string, { as: { uid, gid } }: Installation): Promise<void> {
  if (uid === undefined || gid === undefined) return;
  for (const name of ['.', ...(await readdir(directory, { recursive: true }))])
    await chown(join(directory, name), uid, gid);
}
