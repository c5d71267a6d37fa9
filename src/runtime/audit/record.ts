/**
 * Records: what is kept of an attempt, and the audit record that is made of it when the first reader or the sink asks.
 */
import { encodeSegment } from '../../core/link.ts';
import { formatInstant } from '../../core/time.ts';
import { canonical, type PathParameters } from '../../http/route.ts';
import { deepFreeze, sizeOf, type Json, type JsonObject } from '../../json/value.ts';
import type { AuditedRoute, AuditRecord, WriteRecord } from '../../ports/audit-record.ts';
import { cut } from '../../problem.ts';
import { mostBytes, redacted } from './change.ts';

/** The endpoint of an attempt, with the path of the route. No parameters if a segment has a broken escape. @internal */
export interface Place extends AuditedRoute {
  /** The values of the parameters of the path, such as `:name`. */
  readonly parameters: PathParameters | undefined;
}

/** What is kept of an attempt to change something. @internal */
export type WriteEntry = Omit<WriteRecord, 'id' | 'time' | 'route'> & {
  readonly place?: Place;
  /** The items of an accepted change. Secrets are in it as events have them: hashed or sealed, never in plain text. */
  readonly decided?: readonly JsonObject[];
};

type WithoutHead<R> = R extends WriteRecord
  ? WriteEntry
  : R extends AuditRecord
    ? Omit<R, 'id' | 'time'>
    : never;

/** What is kept of a record. Nothing in it changes any more. @internal */
export type AuditEntry = WithoutHead<AuditRecord>;

/** Longest path in a record, in UTF-16 code units. @internal */
export const longestPath = 1024;

/** An audit record that is made when it is first read. @internal */
export class LateRecord {
  readonly id: string;
  readonly #time: number;
  #content: AuditEntry | AuditRecord;

  constructor(id: string, time: number, entry: AuditEntry) {
    this.id = id;
    this.#time = time;
    this.#content = entry;
  }

  get record(): AuditRecord {
    if (!('id' in this.#content)) this.#content = deepFreeze(this.#recordOf(this.#content));
    return this.#content as AuditRecord;
  }

  /** The approximate size in bytes. A large change is cut in the record, so that record is made at once. */
  size(most: number): number {
    const size = sizeOf(this.#content as unknown as Json, mostBytes);
    return size > mostBytes ? sizeOf(this.record as unknown as Json, most) : size;
  }

  #recordOf(entry: AuditEntry): AuditRecord {
    const { kind, place, decided, ...members } = entry as WriteEntry;
    return {
      kind,
      id: this.id,
      time: formatInstant(this.#time),
      ...(place && { route: routeOf(place) }),
      ...members,
      ...(decided && { change: redacted(decided) }),
    };
  }
}

function routeOf({ id, method, path, parameters = {} }: Place): AuditedRoute {
  const names = canonical(parameters);
  const segments = path.split('/').map((segment) => {
    const name = segment.startsWith(':') ? names[segment.slice(1)] : undefined;
    return name === undefined ? segment : encodeSegment(name);
  });
  return { id, method, path: cut(segments.join('/'), longestPath) };
}
