/**
 * The tables of the PostgreSQL store, and how they come into being.
 *
 * - `gateway_head` has one row for each fleet: the end of its log, and the state of the last compaction.
 * - `gateway_record` has the log. Rows are added, never changed. A row without a record is a compaction, or the
 *   beginning.
 * - `gateway_node` has what each node says of itself.
 * - `gateway_audit` shows the log to auditors.
 *
 * The columns of values are `json`, not `jsonb`: `jsonb` refuses strings with `\u0000` and half characters.
 */
import { createHash } from 'node:crypto';

import type { Prepared, Query } from './connection.ts';
import { isKept, keptColumn, waitForDisk } from './durability.ts';

/** The statements of a store, for the tables in one schema. @internal */
export type Statements = ReturnType<typeof statementsFor>;

/** Writes the statements. @internal */
export function statementsFor(schema: string) {
  return prepared(textsFor(schema));
}

/** Gives each statement a name of its own: a pool can give a client the statement of another one by its name. */
function prepared<N extends string>(texts: Readonly<Record<N, string>>): Readonly<Record<N, Prepared>> {
  const named = Object.entries<string>(texts).map(([key, text]) => {
    const name = `gateway_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
    return [key, { name, text }] as const;
  });
  return Object.fromEntries(named) as Record<N, Prepared>;
}

/** How long a hint may hold up announcements, in milliseconds. */
const longestLockMs = 500;

function textsFor(schema: string) {
  const at = identifier(schema);
  const isExpected = 'cluster = $1 and position = $2::bigint and call = $3::uuid';
  const last = `select log.position, log.call from ${at}.gateway_record as log
    where log.cluster = $1 order by log.position desc limit 1`;
  const canChange = `${isExpected} and ($2::bigint, $3::uuid) = (${last}) and ${isKept}`;
  return {
    /** Begins the log of a fleet. `$2` is the id of the call. Records without a head are left alone. */
    begin: `
      with head as (insert into ${at}.gateway_head (cluster, position, call, state_at)
        select $1, 0, $2::uuid, 0 where not exists (${last})
        on conflict (cluster) do nothing returning position, call)
      insert into ${at}.gateway_record (cluster, position, call) select $1, position, call from head`,
    /** The end of the log after both tables, and the settings of the server. */
    look: `
      select head.position::text, head.call::text, last.position::text as last_position, last.call::text as last_call,
        ${keptColumn}
      from (select) as always left join ${at}.gateway_head as head on head.cluster = $1 left join (${last}) as last on true`,
    /**
     * Waits for a call that was kept before: after a crash, a server shows a change also if its standby does not have
     * it yet. The lock makes the statement a change, whose commit waits.
     */
    confirm: `select position::text, ${waitForDisk} from ${at}.gateway_head
      where cluster = $1 and call = $2::uuid and ${isKept} for update`,
    /**
     * Appends the records `$5` behind the position `$2` of the call `$3`, as the call `$4`. No row is a conflict, a
     * server that could lose the change, or tables that contradict each other.
     */
    append: `
      with head as (update ${at}.gateway_head set position = position + cardinality($5::text[]), call = $4::uuid
        where ${canChange} returning position),
      kept as (insert into ${at}.gateway_record (cluster, position, call, record)
        select $1, $2::bigint + number, $4::uuid, text::json
        from head, unnest($5::text[]) with ordinality as given (text, number))
      select position::text, ${waitForDisk} from head`,
    /** Replaces the state by `$5`. No row has the same reasons. */
    compact: `
      with head as (update ${at}.gateway_head
        set position = position + 1, call = $4::uuid, state_at = position + 1, state = $5::json
        where ${canChange} returning position),
      kept as (insert into ${at}.gateway_record (cluster, position, call) select $1, position, $4::uuid from head)
      select position::text, ${waitForDisk} from head`,
    /**
     * Tells the other nodes that the log ends at the position `$2`. A transaction of another program can hold the lock
     * of all notifications of the server. After its queue was full, a server makes room when somebody asks for the
     * usage.
     */
    notify: `
      select pg_notify('gateway_' || $1, $2), pg_notification_queue_usage(),
        set_config('lock_timeout', '${String(longestLockMs)}', true)`,
    state: `
      select head.state::text, head.state_at::text, record.position::text, record.call::text
      from ${at}.gateway_head as head left join ${at}.gateway_record as record
        on record.cluster = head.cluster and record.position = head.state_at
      where head.cluster = $1`,
    /**
     * A page of the log, from the position `$2` on, and the end of the log after `gateway_head`. `order by position`
     * alone would order texts.
     */
    page: `
      select log.position::text, log.call::text, log.record::text,
        (select position || '.' || call from ${at}.gateway_head where cluster = $1) as head
      from ${at}.gateway_record as log
      where log.cluster = $1 and log.position >= $2::bigint order by log.position limit $3::int`,
    announce: `
      with own as (insert into ${at}.gateway_node (cluster, node, report) values ($1, $2, $3::json)
        on conflict (cluster, node) do update set report = excluded.report returning node, report)
      select node, report::text from ${at}.gateway_node where cluster = $1 and node <> $2
      union all select node, report::text from own`,
    leave: `
      with own as (delete from ${at}.gateway_node where cluster = $1 and node = $2)
      select node, report::text from ${at}.gateway_node where cluster = $1 and node <> $2`,
  } as const;
}

/**
 * Creates the tables, or brings them to the version of this library. Of several nodes that begin at once, one does it
 * and the others wait. Tables of this version are left alone, so a role without rights on the schema can open them.
 *
 * @internal
 */
export async function migrate(query: Query, schema: string): Promise<void> {
  if ((await versionOf(query, schema)) === migrations.length) return;
  // A higher level would show the tables as they were before the lock.
  await query('begin isolation level read committed');
  try {
    await query(`select pg_advisory_xact_lock(hashtext('gateway-admin-core'), hashtext($1))`, [schema]);
    // A server looks names up in a cache. The read of a table brings in what was done during the wait for the lock.
    const [row] = await query('select nspname from pg_namespace where nspname = $1', [schema]);
    if (row === undefined) await query(`create schema ${identifier(schema)}`);
    for (const migration of migrations.slice(await versionOf(query, schema))) {
      await query(migration(identifier(schema)));
    }
    await query('commit');
  } catch (error) {
    // The error is the one to tell; a connection that broke has no transaction any more.
    await query('rollback').catch(() => undefined);
    throw error;
  }
}

/** The number of migrations that were made in a schema; 0 if there are no tables. @internal */
export async function versionOf(query: Query, schema: string): Promise<number> {
  const table = `${identifier(schema)}.gateway_schema`;
  const [row] = await query('select to_regclass($1)::text as name', [table]);
  if (row?.['name'] === null) return 0;
  const [latest] = await query(`select max(version)::text as version from ${table}`);
  const version = Number(latest?.['version'] ?? 0);
  if (version <= migrations.length) return version;
  throw new Error(
    `The tables in the schema ${identifier(schema)} have version ${String(version)}, and this version of ` +
      `gateway-admin-core knows version ${String(migrations.length)}. Upgrade gateway-admin-core on this node.`,
  );
}

/** How tables of version n become tables of version n + 1. A migration that was released never changes. */
const migrations: readonly ((at: string) => string)[] = [
  (at) => String.raw`
    create table ${at}.gateway_schema (version int not null);
    create table ${at}.gateway_head (cluster text primary key, position bigint not null, call uuid not null,
      state_at bigint not null, state json);
    create table ${at}.gateway_record (cluster text, position bigint, call uuid not null,
      at timestamptz not null default clock_timestamp(), record json, primary key (cluster, position));
    create table ${at}.gateway_node (cluster text, node text, report json not null, primary key (cluster, node));
    -- The operators of json refuse a value with \u0000 or half a character in any string. Here they are U+FFFD. Without
    -- the E, standard_conforming_strings would decide what a backslash means.
    create view ${at}.gateway_audit as
      select cluster, position, at, record->>'type' as type, record->>'command' as command, record->>'node' as node,
        record->>'actor' as actor, record->'events' as events
      from (select cluster, position, at,
        regexp_replace(record::text, E'\\\\u(0000|d[89a-f][0-9a-f]{2})', E'\\\\ufffd', 'g')::json as record
        from ${at}.gateway_record where record is not null) as readable;
    insert into ${at}.gateway_schema values (1);`,
];

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
