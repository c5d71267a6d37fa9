/**
 * Gateway documents: the plain JSON form of a snapshot, with loading and saving.
 *
 * A document uses the names and links of the interface. Every time is an ISO 8601 instant with an offset. A document is
 * loaded as a whole, or refused with every fault.
 */
import * as z from 'zod/mini';

import { IndexedCollection } from '../core/collection.ts';
import { asShown, saveFields, shownSettings } from '../core/field.ts';
import { inspectable } from '../core/inspection.ts';
import type { FindName } from '../core/reference.ts';
import { mapEntries, misplacedFaults, type MapEntry } from '../core/secret-entry.ts';
import { parseShape } from '../core/shape.ts';
import { isEpoch } from '../core/epoch.ts';
import { AdminError } from '../error.ts';
import { copyDeferring } from '../json/copy.ts';
import { parsePointer } from '../json/pointer.ts';
import { deepFreeze, isArray, isObject, type Json } from '../json/value.ts';
import { faultsOf, listFaults, type Fault, type Result } from '../problem.ts';
import { BirthTable } from '../snapshot/birth.ts';
import { checkEntry, loadEntity, namesIn, reservedFaults } from '../snapshot/entry.ts';
import { assertSecretParameters, entriesOf, isSecretIn, secretKeys } from '../snapshot/secret-parameter.ts';
import {
  readSessions,
  saveSessions,
  totalsOf,
  withTotals,
  type SessionDocument,
} from '../snapshot/session/document.ts';
import { collectionOf, drains, type ConfiguredEntity } from '../snapshot/state.ts';
import type { FilterDocument } from './filter.ts';
import type { InstanceRepresentation, Module } from './gateway.ts';
import { namedResources, sessionDocument, wholes } from './index.ts';
import type { LogsRepresentation } from './log.ts';
import type { MonitorDocument } from './monitor.ts';
import type { ServerDocument } from './server.ts';
import type { ServiceDocument } from './service.ts';
import type { NamedResources } from './shared/kind.ts';
import { assertSnapshot, type Snapshot } from './snapshot.ts';
import type { TaskDocument, Threads } from './telemetry.ts';
import type { NewUser } from './user.ts';

/**
 * A gateway as plain JSON: the argument of {@link createSnapshot}. Every part is optional.
 *
 * @see Gateway Administration REST Interface, "Resources and their fields".
 *
 * @public
 */
export interface GatewayDocument {
  /** Ignored: the place of the JSON Schema of the document, for editors. */
  readonly $schema?: string;
  /** Version of the format. */
  readonly format?: 2;
  /** The instance; `started` is an ISO 8601 instant with an offset. */
  readonly gateway?: InstanceRepresentation;
  /** The logging; `last_flushed` is an ISO 8601 instant with an offset. */
  readonly logs?: LogsRepresentation;
  /** The threads and their load. */
  readonly threads?: Threads;
  /** The queued tasks; `next_due` is an ISO 8601 instant with an offset. */
  readonly tasks?: readonly TaskDocument[];
  /** The loaded modules. */
  readonly modules?: readonly Module[];
  /** The backend servers. A server without `status` is down. */
  readonly servers?: readonly ServerDocument[];
  /** The services with their listeners. A service without `state` is started. */
  readonly services?: readonly ServiceDocument[];
  /** The monitors. A monitor without `state` is started. */
  readonly monitors?: readonly MonitorDocument[];
  /** The filters. The services that use a filter are derived. */
  readonly filters?: readonly FilterDocument[];
  /** The admin users with their password hashes. */
  readonly users?: readonly NewUser[];
  /** The sessions with their connections; times are ISO 8601 instants with an offset. */
  readonly sessions?: readonly SessionDocument[];
}

/**
 * The error for a gateway document that is not valid. No part of the document was used.
 *
 * @public
 */
export class InvalidDocumentError extends AdminError {
  /** Every fault, with its pointer into the document. */
  declare readonly faults: readonly Fault[];

  /** @param faults - every fault; the message lists the first 20 */
  constructor(faults: readonly Fault[]) {
    const count = `${String(faults.length)} fault${faults.length === 1 ? '' : 's'}`;
    super('document-invalid', [`The gateway document has ${count}:`, ...listFaults(faults)].join('\n  '));
    this.name = 'InvalidDocumentError';
    this.faults = faults;
  }
}

/** The present version of the format. */
const format = 2;

const list = z.exactOptional(z.array(z.unknown()));
const documentShape = z.strictObject({
  $schema: z.exactOptional(z.string()),
  format: z.exactOptional(z.literal(format)),
  ...Object.assign({}, ...wholes.map(({ document }) => document)),
  ...Object.fromEntries(namedResources.map(({ collection }) => [collection, list])),
  sessions: list,
});

/** Greatest nesting depth of a gateway document. */
const deepestDocument = 32;

/**
 * Creates a snapshot from a gateway document.
 *
 * The document is refused as a whole if a value does not fit its shape, two names have the same key, a link does not
 * resolve, or a member is unknown. Derived members, such as `current_connections` or the `services` of a filter, are
 * ignored.
 *
 * A list that the document leaves out is empty in the snapshot. {@link adoptDocument} does not compare such a list; an
 * empty list says that the kind has no resources.
 *
 * A document with very many sessions takes seconds; {@link loadSnapshot} reads the document in pieces.
 *
 * @param document - the document; every part is optional
 * @param options - `epoch`: 1 to 64 letters, digits, `-` and `_` that distinguish this life of the gateway from others.
 *   `secretParameters`: the names of secret parameters; see {@link AdminOptions}. The document is refused if it has the
 *   plain text of such a parameter
 * @returns a deep-frozen snapshot of revision 0
 * @throws {@link InvalidDocumentError} with every fault of the document
 * @throws RangeError when the epoch is malformed
 * @throws TypeError when the options are no object, or `secretParameters` is no list of names
 *
 * @example
 * ```ts
 * import { createSnapshot } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({
 *   servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' }],
 *   services: [{ name: 'Sales', router: 'readconnroute', servers: ['/servers/db-1'] }],
 * });
 * snapshot.services.size; // => 1
 * ```
 *
 * @public
 */
export function createSnapshot(
  document: GatewayDocument,
  options: { readonly epoch?: string; readonly secretParameters?: readonly string[] } = {},
): Snapshot {
  const reading = readDocument(document, options);
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
  }
}

/**
 * Reads a gateway document as {@link createSnapshot} does. Yields after each resource and each session, so that a
 * caller can pause there.
 *
 * @internal
 */
export function* readDocument(
  document: GatewayDocument,
  options: { readonly epoch?: string; readonly secretParameters?: readonly string[] },
): Generator<undefined, Snapshot> {
  if (typeof (options as unknown) !== 'object' || (options as unknown) === null)
    throw new TypeError("The options of createSnapshot must be an object, such as { epoch: 'a' }");
  const { epoch = '', secretParameters = [] } = options;
  assertSecretParameters(secretParameters);
  if (epoch !== '' && !isEpoch(epoch))
    throw new RangeError(
      `The epoch must be 1 to 64 letters, digits, "-" and "_", not ${JSON.stringify(epoch)}`,
    );
  // The sessions are copied one by one, because there may be a million of them.
  const json = copyDeferring(document, 'sessions', { depth: deepestDocument });
  if (!json.ok) throw new InvalidDocumentError(faultsOf(json.problem));
  const loading = yield* loadDocument(json.value.copy, json.value.items(), secretParameters);
  if ('faults' in loading) throw new InvalidDocumentError(loading.faults);
  return loading.build(epoch);
}

/** The faults of a document, or how to build the snapshot of a document without faults. @internal */
export type Loading = { readonly faults: readonly Fault[] } | { build(this: void, epoch: string): Snapshot };

/** How a document of a client is loaded. */
interface LoadOptions {
  /** Finds what a link may name besides the resources of the document. */
  readonly around?: FindName;
  /** After so many faults of a list, its later entries are not looked at. */
  readonly mostFaults?: number;
}

/**
 * Loads a document. Yields after each resource and each session.
 *
 * @param sessions - the sessions of the document, one at a time
 * @param declared - the names of secret parameters
 * @internal
 */
export function* loadDocument(
  document: Json,
  sessions: Iterable<Result<Json>>,
  declared: readonly string[],
  { around, mostFaults = Infinity }: LoadOptions = {},
): Generator<undefined, Loading> {
  const whole = parseShape(documentShape, document);
  const lists = namedResources.map((each) => listOf(each, document, mostFaults));
  const names = new Map(lists.map((list) => [list.collection, list.names]));
  const find: FindName = (collection, key) => names.get(collection)?.get(key) ?? around?.(collection, key);
  const loaded: Loaded[] = [];
  for (const list of lists) loaded.push(yield* loadList(list, find, mostFaults));
  const secretive = lists.flatMap((list, at) => mapEntriesIn(list, loaded[at]?.looked));
  const secretParameters = secretKeys(secretive, declared);
  const { table, faults: sessionFaults } = yield* readSessions(sessionDocument, sessions, find, names);
  const faults = [
    ...reservedFaults(document),
    ...(whole.ok ? [] : whole.faults),
    ...lists.flatMap((each) => each.faults),
    ...loaded.flatMap((each) => each.faults),
    ...misplacedFaults(secretive, isSecretIn({ secretParameters })),
    ...sessionFaults,
  ];
  if (!whole.ok || faults.length > 0) return { faults: faults.map((fault) => dated(fault, document)) };
  return {
    build(epoch) {
      const members: Record<string, unknown> = { ...inspectable, epoch, revision: 0 };
      if (secretParameters.length > 0) members['secretParameters'] = secretParameters;
      for (const { load } of wholes) Object.assign(members, deepFreeze(load(whole.value)));
      for (const { collection, fields, entities } of loaded)
        members[collection] = has(document, collection)
          ? IndexedCollection.of(entities.values(), fields)
          : IndexedCollection.absent(fields);
      const services = entriesIn(document, 'services') as readonly unknown[] as readonly ServiceDocument[];
      members['sessions'] = withTotals(table, totalsOf(services));
      members['draining'] = loaded.flatMap(({ entities }) => [...entities.values()].filter(drains)).length;
      members['births'] = BirthTable.none;
      return Object.freeze(members) as unknown as Snapshot;
    },
  };
}

/** What an error says of content in a form that no version reads any more. @internal */
export const madeBefore = 'made by a version before 0.1';

/** The members of format 1 that had secrets, and the members that have them now. */
const earlierMembers: ReadonlyMap<string, string> = new Map([
  ['passwordHash', 'password'],
  ['passwordSealed', 'password'],
  ['parametersSealed', 'parameters'],
  ['router_optionsSealed', 'router_options'],
]);

/** The fault, with words of its own if the document has what only format 1 had. */
function dated(fault: Fault, document: Json): Fault {
  const { pointer, code } = fault;
  const made = `the document was ${madeBefore}; write`;
  if (pointer === '/format' && isObject(document) && document['format'] === 1) {
    const present = `each secret as { "sealed": … } in its own place, and ${String(format)} here`;
    return { ...fault, detail: `is 1, and this version reads ${String(format)}: ${made} ${present}` };
  }
  const present = earlierMembers.get(parsePointer(pointer)?.at(-1) ?? '');
  return present === undefined || code !== 'field-unknown'
    ? fault
    : { ...fault, detail: `is a member of format 1: ${made} { "sealed": … } in ${present}` };
}

/**
 * Declares names of parameters secret in a snapshot, in addition to those that are secret there already.
 *
 * @returns the snapshot; the same object if no name is new
 * @throws {@link InvalidDocumentError} if the snapshot has such a parameter in plain text
 * @internal
 */
export function declareSecretParameters(snapshot: Snapshot, names: readonly string[] = []): Snapshot {
  const { secretParameters: before = [] } = snapshot;
  const entries = entriesOf(snapshot, namedResources);
  const secretParameters = secretKeys(entries, [...before, ...names]);
  const plain = misplacedFaults(entries, isSecretIn({ secretParameters }));
  if (plain.length > 0) throw new InvalidDocumentError(plain);
  return secretParameters.length === before.length
    ? snapshot
    : Object.freeze({ ...snapshot, secretParameters });
}

function has(document: Json, collection: string): boolean {
  return isObject(document) && Object.hasOwn(document, collection);
}

/** The entries of a list. For a value that is no list the shape reports a fault, and there are no entries here. */
function entriesIn(document: Json, collection: string): readonly Json[] {
  const list = isObject(document) ? (document[collection] ?? null) : null;
  return isArray(list) ? list : [];
}

/** A list of a document. */
interface List extends Pick<NamedResources, 'collection' | 'fields'>, ReturnType<typeof namesIn> {
  readonly entries: readonly Json[];
}

function listOf({ collection, singular, fields }: NamedResources, document: Json, mostFaults: number): List {
  const entries = entriesIn(document, collection);
  return { collection, fields, entries, ...namesIn(entries, singular, [collection], mostFaults) };
}

/** The valid entries of a list, and the faults of the other entries. */
interface Loaded extends Pick<NamedResources, 'collection' | 'fields'> {
  /** The entries by their positions in the list. */
  readonly entities: ReadonlyMap<number, ConfiguredEntity>;
  readonly faults: readonly Fault[];
  /** The number of entries that were looked at. */
  readonly looked: number;
}

function* loadList(
  { collection, fields, entries }: List,
  find: FindName,
  mostFaults: number,
): Generator<undefined, Loaded> {
  const entities = new Map<number, ConfiguredEntity>();
  const faults: Fault[] = [];
  let looked = 0;
  for (const [position, entry] of entries.entries()) {
    const checked = checkEntry(fields, entry, [collection, position], find);
    for (const fault of checked.faults) faults.push(fault);
    if (checked.entry !== undefined) entities.set(position, loadEntity(fields, checked.entry));
    looked += 1;
    if (faults.length >= mostFaults) break;
    yield;
  }
  return { collection, fields, entities, faults, looked };
}

/** What can be secret in the entries that were looked at, also in wrong ones: no fault hides another one. */
function mapEntriesIn({ collection, fields, entries }: List, looked?: number): readonly MapEntry[] {
  return entries
    .slice(0, looked)
    .flatMap((entry, position) => mapEntries(fields.all, entry, [collection, position]));
}

/**
 * Writes a snapshot as a gateway document. {@link createSnapshot} turns the document back into an equal snapshot, of
 * revision 0. The document has every list, also the empty ones: for {@link adoptDocument}, the document says all that
 * there is.
 *
 * @param snapshot - the snapshot
 * @returns plain JSON with password hashes and sealed secrets; protect it like the configuration itself
 *
 * @example
 * ```ts
 * import { createSnapshot, toDocument } from 'gateway-admin-core';
 *
 * toDocument(createSnapshot({ filters: [{ name: 'Hint', module: 'tee' }] })).filters?.[0]?.name; // => 'Hint'
 * ```
 *
 * @public
 */
export function toDocument(snapshot: Snapshot): GatewayDocument {
  assertSnapshot(snapshot);
  const lists = saveLists(snapshot, (named, thing) => {
    const shown = asShown(named.fields, thing);
    return { ...saveFields(named.fields, shown, shown.settings), ...named.saveMore?.(snapshot, thing) };
  });
  return {
    format,
    ...(Object.assign({}, ...wholes.map(({ save }) => save(snapshot))) as object),
    ...lists,
    sessions: saveSessions(snapshot),
  } as unknown as GatewayDocument;
}

/**
 * Writes the part of a snapshot that outlives the process: without what the host says, sees, counts and does in one
 * life. The words of a status that a document or a patch has given outlive it; no report is in what a store keeps.
 *
 * @internal
 */
export function toConfiguration(snapshot: Snapshot): GatewayDocument {
  return {
    format,
    ...saveLists(snapshot, ({ fields }, thing) => saveFields(fields, thing, shownSettings(fields, thing))),
  };
}

function saveLists(
  snapshot: Snapshot,
  save: (named: NamedResources<Snapshot>, thing: ConfiguredEntity) => object,
): object {
  const lists = namedResources.map((named) => {
    const entries = Array.from(collectionOf(snapshot, named), (thing) => save(named, thing));
    return [named.collection, entries] as const;
  });
  return Object.fromEntries(lists);
}
