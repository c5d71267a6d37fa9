/**
 * What was settled, by the records on the disk: the judge of the history. It never compacts, and knows nothing of
 * entries.
 */
import { isDeepStrictEqual } from 'node:util';

import {
  canRevert,
  evolve,
  nameKey,
  redactSecrets,
  toDocument,
  type Admin,
  type AdminEvent,
  type Json,
  type Snapshot,
} from 'gateway-admin-core';

import { foldFaults } from '../model/judge.ts';
import { configuration, textInAnyOrder, wholeDocument } from '../support/configuration.ts';
import { jsonOf } from '../support/json-body.ts';

/** A command with what it has changed. */
export interface SettledCommand {
  readonly id: string;
  readonly events: AdminEvent[];
}

type Parsed = Readonly<Record<string, unknown>>;

/** The events after which nothing is another: a log-in, and a command that has failed after all. */
const changesNothing: readonly string[] = ['user.rehashed', 'command.failed'];

export class Ledger {
  readonly faults: string[] = [];
  /** The commands in the order in which they were settled first. */
  readonly commands: SettledCommand[] = [];
  readonly #beginning: Snapshot;

  constructor(beginning: Snapshot) {
    this.#beginning = beginning;
  }

  /** A record is on the disk. */
  take(record: Json): void {
    const { type, command: id, events: all } = record as unknown as Settlement;
    if (type !== 'settlement') return;
    const events = all.filter((event) => !changesNothing.includes(event.type));
    if (events.length === 0) return;
    const known = this.commands.find((command) => command.id === id);
    if (known === undefined) this.commands.push({ id, events });
    else known.events.push(...events);
  }

  /** The configuration right after a command. */
  snapshotAfter(command: SettledCommand): Snapshot {
    return this.#snapshotAt(this.commands.indexOf(command) + 1);
  }

  /** The configuration right before a command. */
  snapshotBefore(command: SettledCommand): Snapshot {
    return this.#snapshotAt(this.commands.indexOf(command));
  }

  /** The configuration before each command, and after the last one. */
  *moments(): Generator<Snapshot, void> {
    let snapshot = this.#beginning;
    yield snapshot;
    for (const { events } of this.commands) yield (snapshot = evolve(snapshot, events));
  }

  /** The events of a command that have changed what is wanted: a start of what has failed has not. */
  changesOf(command: SettledCommand): readonly AdminEvent[] {
    let before = this.snapshotBefore(command);
    return command.events.filter((event) => {
      const then = before;
      before = evolve(then, [event]);
      return JSON.stringify(configuration(then)) !== JSON.stringify(configuration(before));
    });
  }

  #snapshotAt(count: number): Snapshot {
    const events = this.commands.slice(0, count).flatMap((each) => each.events);
    return evolve(this.#beginning, events);
  }

  /** The commands after another one, up to a place, that have started or stopped a thing. */
  turnsAfter(command: SettledCommand, link: string, until: number): readonly string[] {
    return this.#standingAfter(command, until)
      .filter((each) => this.changesOf(each).some((event) => event.resource === link && isStartOrStop(event)))
      .filter((each) => !this.#hasTakenBack(each, link))
      .map(({ id }) => id);
  }

  /** The commands after another one, up to a place, that have deleted a thing, whether it is there again or not. */
  deletionsAfter(command: SettledCommand, link: string, until: number): readonly string[] {
    return this.#standingAfter(command, until)
      .filter(({ events }) => events.some((event) => isEndOf(event, link) && !isTakenBackIn(events, event)))
      .map(({ id }) => id);
  }

  /** The commands after another one, up to a place, without those that were undone, and without their undos. */
  #standingAfter(command: SettledCommand, until: number): readonly SettledCommand[] {
    const since = this.commands.indexOf(command);
    const settled = this.commands.slice(0, until);
    const isUndone = ({ id }: SettledCommand): boolean =>
      settled.some((each) => undoneBy(each) === id && !isUndone(each) && !this.leavesAll(each));
    return settled
      .slice(since + 1)
      .filter((each) => !isUndone(each) && settled.findIndex(({ id }) => id === undoneBy(each)) <= since);
  }

  /** Whether a command has left everything as it was: what it had created was taken back. */
  leavesAll(command: SettledCommand): boolean {
    const [before, after] = [this.snapshotBefore(command), this.snapshotAfter(command)];
    return textInAnyOrder(toDocument(before)) === textInAnyOrder(toDocument(after));
  }

  /** Whether a command that creates, and so may have been taken back in part, has left a thing started or stopped. */
  #hasTakenBack(command: SettledCommand, link: string): boolean {
    const [before, after] = [this.snapshotBefore(command), this.snapshotAfter(command)];
    return (
      command.events.some(({ type }) => type.endsWith('.created')) &&
      stateAt(before, link) === stateAt(after, link)
    );
  }

  /** What each command must be shown as, in order. */
  get shown(): readonly string[] {
    return this.commands.map(textOf);
  }

  /**
   * A life has begun: it shows all that was there before.
   *
   * @param before - what was to be shown before the life began
   */
  async lookAtBeginning(admin: Admin, before: readonly string[]): Promise<void> {
    const entries = await entriesOf(admin);
    const now = this.shown;
    const lost = before.filter((text, at) => entries[at] !== text && entries[at] !== now[at]);
    for (const text of lost) this.faults.push(`another life does not show ${text}`);
  }

  /** A life shows what was settled, in order, and nothing else. */
  async lookWithin(admin: Admin): Promise<void> {
    const ids = (await entriesOf(admin)).map(idIn);
    const known = this.commands.map(({ id }) => id);
    if (ids.some((id, at) => id !== known[at]))
      this.faults.push(`the history has ${ids.join()} where ${known.join()} were settled`);
  }

  /** Everything has come to rest: the history is what was settled, and the reason of each member is its last change. */
  async lookAtRest(admin: Admin): Promise<void> {
    const [entries, { shown }] = [await entriesOf(admin), this];
    for (const [at, text] of shown.entries())
      if (entries[at] !== text) this.faults.push(`at rest, ${String(entries[at])} is shown for ${text}`);
    if (entries.length > shown.length) this.faults.push('at rest, the history has more than was settled');
    for (const [member, id] of this.#lastChanges()) {
      const [resource = '', field = ''] = member.split(' ');
      const query = `resource=${encodeURIComponent(resource)}&field=${field}&range=0-0`;
      const [entry] = (await read(admin, `/history?${query}`)) as readonly Parsed[];
      if (entry?.['id'] !== id)
        this.faults.push(`${member} was changed last by ${id}, and not by ${String(entry?.['id'])}`);
    }
  }

  /** The entries amount to what is shown, by another implementation. */
  async lookAtSum(admin: Admin): Promise<void> {
    const entries = (await read(admin, '/history?fields=events')) as Parameters<typeof foldFaults>[1];
    const [beginning, end] = [toDocument(this.#beginning), wholeDocument(admin.snapshot)];
    this.faults.push(...foldFaults(beginning, entries.toReversed(), end));
  }

  #lastChanges(): ReadonlyMap<string, string> {
    const last = new Map<string, string>();
    for (const { id, events } of this.commands)
      for (const event of events) {
        const fields = event.type.endsWith('.deleted') ? fieldsIn(last, event) : fieldsOf(event);
        for (const field of fields) change(event, field, id);
        // To its service, a listener is one of the listeners.
        const [service, name] = event.resource.split('/listeners/');
        if (name !== undefined) last.set(`${linkKey(service ?? '')} listeners`, id);
      }
    return last;

    function change({ type, resource }: AdminEvent, field: string, id: string): void {
      const key = `${linkKey(resource)} ${field}`;
      if (type.endsWith('.deleted')) last.delete(key);
      else last.set(key, id);
    }
  }
}

interface Settlement {
  readonly type: string;
  readonly command: string;
  readonly events: readonly AdminEvent[];
}

/** The command that a command has undone; `undefined` if it is no undo. */
function undoneBy({ events }: SettledCommand): string | undefined {
  return events[0]?.undoes;
}

/** Whether an event says that a thing was started or stopped. */
export function isStartOrStop({ type }: AdminEvent): boolean {
  return /\.(?:started|stopped)$/.test(type);
}

/** Whether an event has deleted a thing, or the service of a listener. */
function isEndOf({ type, resource }: AdminEvent, link: string): boolean {
  return type.endsWith('.deleted') && `${linkKey(link)}/`.startsWith(`${linkKey(resource)}/`);
}

/** Whether a deletion is undone, or undoes a creation, of the same command. */
function isTakenBackIn(events: readonly AdminEvent[], deletion: AdminEvent): boolean {
  return events.some(
    (event) =>
      event.type.endsWith('.created') &&
      event.resource === deletion.resource &&
      isDeepStrictEqual(definitionOf(event), definitionOf(deletion)),
  );
}

function definitionOf(event: AdminEvent): unknown {
  const { from, to } = event as { readonly from?: object; readonly to?: object };
  return from ?? to;
}

/** Whether a command can be taken back, if nothing has changed since. The hashes of passwords are not kept. */
export function isReversible({ events }: SettledCommand): boolean {
  return events.every((event) => canRevert(event) && !event.type.startsWith('user.'));
}

/** The fields of a resource that anything has changed. */
function fieldsIn(last: ReadonlyMap<string, string>, { resource }: AdminEvent): readonly string[] {
  const place = `${linkKey(resource)} `;
  return [...last.keys()].filter((key) => key.startsWith(place)).map((key) => key.slice(place.length));
}

/** What is wanted of a service or monitor. */
function stateAt(snapshot: Snapshot, link: string): string | undefined {
  const [, collection, name = ''] = link.split('/');
  const things = collection === 'monitors' ? snapshot.monitors : snapshot.services;
  return things.find(name)?.state;
}

function linkKey(link: string): string {
  return link.split('/').map(nameKey).join('/');
}

/** The fields that an event has changed. */
function fieldsOf(event: AdminEvent): readonly string[] {
  if (event.type.startsWith('user.')) return ['password'];
  if (isStartOrStop(event)) return ['state'];
  const { from, to } = event as { readonly from?: object; readonly to?: object };
  return Object.keys({ ...from, ...to });
}

function textOf({ id, events }: SettledCommand): string {
  const said = new Map<string, { count?: number; readonly operations?: unknown }>();
  for (const [at, event] of events.entries()) {
    const { type, resource } = event;
    const list =
      'sessions' in event ? event.sessions : 'connections' in event ? event.connections : undefined;
    const operations = 'operations' in event ? redactSecrets([...event.operations]) : undefined;
    if (list === undefined) said.set(`${type} ${resource} ${String(at)}`, { operations });
    else {
      const before = said.get(`${type} ${resource}`)?.count ?? 0;
      said.set(`${type} ${resource}`, { count: before + list.length });
    }
  }
  const [first] = events;
  const all = Array.from(said, ([what, rest]) => [what.split(' ').slice(0, 2), rest.count, rest.operations]);
  return JSON.stringify([id, first?.actor, all]);
}

/** The entries of the history, the oldest one first. */
async function entriesOf(admin: Admin): Promise<readonly string[]> {
  const entries = (await read(admin, '/history?fields=id,actor,events')) as readonly Parsed[];
  return entries.toReversed().map(({ id, actor, events }) => {
    const all = (events as readonly Parsed[]).map(({ type, resource, count, operations }) => [
      [type, resource],
      count,
      operations,
    ]);
    return JSON.stringify([id, actor, all]);
  });
}

function idIn(text: string): unknown {
  return (JSON.parse(text) as readonly unknown[])[0];
}

async function read(admin: Admin, target: string): Promise<unknown> {
  const handled = await admin.handle({ method: 'GET', target, headers: {} });
  // What does not answer shows nothing, and the judge says so.
  if (!handled.matched || handled.response.status !== 200) return [];
  return jsonOf(handled.response);
}
