/**
 * The options of the PostgreSQL store, checked before the first connection: `pg` would end the process for a wrong
 * type, and quote the name of a host in its errors. No error here quotes a value, because it can contain a password.
 */
import type { ConnectionOptions } from 'node:tls';

import { assertMembers } from '../../core/member.ts';
import { isContainer, isText, type Json } from '../../json/value.ts';
import type { PostgresHost } from './connection.ts';
import { logInParts } from './log-in.ts';

/**
 * The options of `openPostgresStore`. What is left out of the log-in comes from the environment, such as `PGHOST` and
 * `PGPASSWORD`, as with every program that uses `pg`.
 *
 * @beta
 */
export interface PostgresStoreOptions {
  /**
   * Names the fleet: 1 to 40 letters, digits, "-" and "_"; `gateway` by default. Each fleet of a schema has its own
   * name.
   */
  readonly cluster?: string;
  /** The schema of the tables; `public` by default. */
  readonly schema?: string;
  /**
   * Whether a fleet may begin here; `true` by default. With `false`, `openPostgresStore` rejects if the database has no
   * tables, or no row for the cluster. Give `false` once the fleet was set up: an empty database then stops the start,
   * and the fleet does not begin again from a document.
   */
  readonly create?: boolean;
  /**
   * The servers, in the order in which they are tried. The store uses the first one that takes changes: the primary.
   */
  readonly hosts?: readonly PostgresHost[];
  /** The name of the database. */
  readonly database?: string;
  /**
   * The name of the role, or a function that gives the name for each new connection. With a function, `database` is
   * needed too.
   */
  readonly user?: string | (() => string | Promise<string>);
  /** The password, or a function that gives the password of a role for each new connection. */
  readonly password?: string | ((user: string) => string | Promise<string>);
  /**
   * Whether and how to use TLS: the options of `tls.connect`, such as `ca`, or a function that gives them for each new
   * connection. Without TLS by default.
   */
  readonly ssl?:
    boolean | ConnectionOptions | (() => boolean | ConnectionOptions | Promise<boolean | ConnectionOptions>);
  /** How long a connection to one server may take; 5,000 ms by default. */
  readonly connectTimeoutMs?: number;
  /** How long one statement may take; 20,000 ms by default. */
  readonly queryTimeoutMs?: number;
}

/** Whether a value is right for an option, and what it must be. */
type Check = readonly [isRight: (value: unknown) => boolean, wanted: string];

/** What the options can be, by name. */
const checks: Readonly<Record<keyof PostgresStoreOptions, Check>> = {
  cluster: [isCluster, 'a name of 1 to 40 letters, digits, "-" and "_"'],
  // PostgreSQL cuts a longer name, and two fleets could then share their tables.
  schema: [isIdentifier, 'a name of 1 to 63 bytes'],
  create: [(value) => typeof value === 'boolean', 'true or false'],
  hosts: [
    areHosts,
    'a list of one or more servers, such as [{ host: "db-1.internal", port: 5432 }], not of URLs',
  ],
  database: [isText, 'a string'],
  user: givenOrAsked('user'),
  password: givenOrAsked('password'),
  ssl: givenOrAsked('ssl'),
  connectTimeoutMs: [isTimeout, 'a whole number of milliseconds, from 1 on'],
  queryTimeoutMs: [isTimeout, 'a whole number of milliseconds, from 1 on'],
};

/**
 * Checks the options.
 *
 * @throws TypeError for an unknown option, and for a wrong value
 * @internal
 */
export function assertPostgresOptions(options: PostgresStoreOptions): void {
  assertMembers(options, Object.keys(checks), 'option of openPostgresStore');
  for (const [name, [isRight, wanted]] of Object.entries(checks)) {
    const value: unknown = options[name as keyof PostgresStoreOptions];
    if (value !== undefined && !isRight(value)) throw new TypeError(`The option ${name} must be ${wanted}`);
  }
  const { PGHOST: host = 'localhost', PGDATABASE } = process.env;
  const { database = PGDATABASE } = options;
  if (typeof options.user === 'function' && database === undefined)
    throw new TypeError(
      'The option database must be given if user is a function: without it, each user has a database of its own',
    );
  if (options.hosts === undefined && !isHost({ host }))
    throw new TypeError('The environment variable PGHOST must be the name of a server, not a URL');
}

function givenOrAsked(part: keyof typeof logInParts): Check {
  const { isRight, wanted } = logInParts[part];
  return [
    (value) => isRight(value) || typeof value === 'function',
    `${wanted}, or a function that gives ${wanted}`,
  ];
}

function isCluster(value: unknown): boolean {
  return isText(value) && /^[\w-]{1,40}$/.test(value);
}

function isIdentifier(value: unknown): boolean {
  const bytes = isText(value) && !value.includes('\0') ? new TextEncoder().encode(value).length : 0;
  return bytes >= 1 && bytes <= 63;
}

function areHosts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isHost);
}

function isHost(value: unknown): boolean {
  if (!isContainer(value as Json)) return false;
  const { host, port = 5432 } = value as Partial<Record<keyof PostgresHost, unknown>>;
  return isText(host) && /^[^@\s]+$/.test(host) && !host.includes('://') && isPort(port);
}

function isPort(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 65_535;
}

/** PostgreSQL and the timers of Node take no longer time. */
function isTimeout(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 2 ** 31 - 1;
}
