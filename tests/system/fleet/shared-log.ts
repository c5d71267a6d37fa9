/**
 * What the log of a fleet says, read by SQL and folded without the library: the judge of what the nodes show and have
 * said.
 */
import type { PostgresServer } from '../../support/postgres.ts';

/** What is so, by field, such as `/services/First max_connection`. */
export type Fields = Readonly<Record<string, unknown>>;

/** A change that the log has. */
export interface Change {
  readonly field: string;
  readonly value: unknown;
}

/** A change with its place in the log. */
export interface LoggedChange extends Change {
  readonly position: number;
  /** When the server added the record, in milliseconds since 1970. */
  readonly at: number;
}

interface LogEvent {
  readonly type: string;
  readonly resource: string;
  readonly operations?: readonly { readonly op: string; readonly path: string; readonly value?: unknown }[];
}

/** The values that changes of a state lead to; `undefined` for what is gone. */
const results: Readonly<Record<string, string | undefined>> = {
  started: 'started',
  stopped: 'stopped',
  created: 'exists',
  deleted: undefined,
};

/** Every change in the log, in order. */
export async function changesIn(server: PostgresServer, cluster: string): Promise<readonly LoggedChange[]> {
  const rows = await server.query(
    `select position::int, (extract(epoch from at) * 1000)::float as at, record->'events' as events from gateway_record
     where cluster = $1 and record->>'type' = 'settlement' order by gateway_record.position`,
    [cluster],
  );
  return rows.flatMap(({ position, at, events }) =>
    (events as readonly LogEvent[])
      .flatMap(changesOf)
      .map((change) => ({ ...change, position: Number(position), at: Number(at) })),
  );
}

function changesOf({ type, resource, operations }: LogEvent): readonly Change[] {
  if (operations === undefined) {
    const result = type.split('.')[1] ?? '';
    if (!(result in results)) throw new Error(`The log has an event ${type}, which no client asked for`);
    return [{ field: `${resource} state`, value: results[result] }];
  }
  return operations.map(({ path, value }) => ({ field: `${resource} ${path.slice(1)}`, value }));
}

/** What is so after all changes. */
export function fold(begin: Fields, changes: readonly Change[]): Fields {
  const now: Record<string, unknown> = { ...begin };
  for (const { field, value } of changes) now[field] = value;
  return Object.fromEntries(Object.entries(now).filter(([, value]) => value !== undefined));
}

/** What a field is at a position. */
export function valueAt(
  begin: Fields,
  ofField: readonly LoggedChange[],
  field: string,
  position: number,
): unknown {
  const last = ofField.findLast((change) => change.position <= position);
  return last === undefined ? begin[field] : last.value;
}
