/**
 * What may be true, told only by the answers that clients got: the judge of the simulation. It knows nothing of
 * snapshots, events or journals.
 */
import { nameKey, type Snapshot } from 'gateway-admin-core';

/** What a client can see of one thing, by the name of the thing. */
export type Field = string;
type Value = string | number | boolean | undefined;

/** What becomes of fields when a command happens. */
export type Change = Readonly<Record<Field, Value>>;

/** Everything that clients change, read from a snapshot. */
export function fieldsOf({
  services,
  servers,
  monitors,
  filters,
  users,
}: Snapshot): ReadonlyMap<Field, Value> {
  return new Map<Field, Value>([
    ...Array.from(services).flatMap(({ key, state, settings, listeners }): [Field, Value][] => [
      [`${key} state`, wanted(state)],
      [`${key} max_connection`, settings.max_connection],
      ...listed(key, settings),
      ...filtered(key, settings),
      ...listeners.map(({ name, port }): [Field, Value] => [`${key} listens ${nameKey(name)}`, port]),
    ]),
    ...Array.from(servers).flatMap(({ key, settings }): [Field, Value][] => [
      [`${key} port`, settings.port],
      [`${key} maintenance`, settings.state.includes('maintenance')],
    ]),
    ...Array.from(monitors).flatMap(({ key, state, settings }): [Field, Value][] => [
      [`${key} state`, wanted(state)],
      [`${key} monitor_interval`, settings.monitor_interval],
      ...listed(key, settings),
    ]),
    ...Array.from(filters, ({ key, settings }): [Field, Value] => [
      `${key} match`,
      settings.parameters['match']?.value as string | undefined,
    ]),
    ...Array.from(users, ({ key, settings }): [Field, Value] => [
      `${key} password`,
      settings.password.sealed,
    ]),
  ]);
}

/** The servers that a service or monitor lists. */
function listed(key: string, { servers }: { readonly servers: readonly string[] }): [Field, Value][] {
  return servers.map((link) => [`${key} lists ${nameKey(link.slice('/servers/'.length))}`, true]);
}

/** The filters that a service lists. */
function filtered(key: string, { filters }: { readonly filters: readonly string[] }): [Field, Value][] {
  return filters.map((link) => [`${key} filters ${nameKey(link.slice('/filters/'.length))}`, true]);
}

/** What clients want of a service or monitor: the failure of one that is wanted is the gateway's affair. */
function wanted(state: 'started' | 'stopped' | 'failed'): Value {
  return state === 'stopped' ? 'stopped' : 'started';
}

/** The values that each field may have. */
export class Model {
  readonly #possible = new Map<Field, Set<Value>>();
  /** Counts the answers. */
  #answers = 0;
  /** The answer that was the last one about a field. */
  readonly #lastOf = new Map<Field, number>();
  readonly #isInOrder: boolean;

  /** @param isInOrder - whether answers come in the order in which the commands happened */
  constructor(snapshot: Snapshot, isInOrder: boolean) {
    this.#isInOrder = isInOrder;
    this.#know(fieldsOf(snapshot));
  }

  /** The number of answers so far. */
  get answers(): number {
    return this.#answers;
  }

  /**
   * The client was told that it is so.
   *
   * @param since - the number of answers when the client asked
   */
  happened(changes: readonly Change[], since: number): void {
    this.#answers += 1;
    for (const change of changes.map((each) => Object.entries(each))) {
      const isLatest = ([field]: readonly [Field, Value]): boolean =>
        this.#isInOrder || (this.#lastOf.get(field) ?? 0) <= since;
      this.#know(change.filter(isLatest));
      // Either may have happened last.
      for (const [field, value] of change) this.#of(field).add(value);
    }
    for (const field of changes.flatMap(Object.keys)) this.#lastOf.set(field, this.#answers);
  }

  /** The client was told that it is not known, or nothing at all. */
  mayHaveHappened(changes: readonly Change[]): void {
    this.#answers += 1;
    for (const [field, value] of changes.flatMap((change) => Object.entries(change))) {
      this.#of(field).add(value);
      // It may have happened after a command that was asked for before, and is answered later.
      this.#lastOf.set(field, this.#answers);
    }
  }

  /** What cannot be, given the answers. */
  lies(snapshot: Snapshot): readonly string[] {
    const fields = fieldsOf(snapshot);
    const names = new Set([...fields.keys(), ...this.#possible.keys()]);
    return [...names].flatMap((field) => {
      const [value, possible] = [fields.get(field), this.#of(field)];
      const told = [...possible].map(String).join(' or ');
      return possible.has(value) ? [] : [`${field} is ${String(value)}, and clients were told ${told}`];
    });
  }

  #know(fields: Iterable<readonly [Field, Value]>): void {
    for (const [field, value] of fields) this.#possible.set(field, new Set([value]));
  }

  #of(field: Field): Set<Value> {
    const known = this.#possible.get(field);
    if (known !== undefined) return known;
    // What never was is not there.
    const absent = new Set<Value>([undefined]);
    this.#possible.set(field, absent);
    return absent;
  }
}
