/**
 * The way back at the end of a world: the history says of each entry what an undo is answered, leads back step by step,
 * and forward again by a restore.
 */
import { toDocument, type Admin, type Snapshot } from 'gateway-admin-core';
import type { VirtualClock } from 'gateway-admin-core/testing';

import { textInAnyOrder } from '../support/configuration.ts';
import { jsonOf } from '../support/json-body.ts';
import { isStartOrStop, type Ledger, type SettledCommand } from './ledger.ts';

interface Row {
  readonly id: string;
  readonly undo: 'possible' | 'refused' | 'irreversible';
  readonly undone_by?: string;
}

/** The faults of the way back over all that has settled. */
export class WayBack {
  readonly faults: string[] = [];
  readonly #admin: Admin;
  readonly #clock: VirtualClock;
  readonly #ledger: Ledger;
  /** What was there before each command, and after the last one. */
  readonly #texts: readonly string[];

  constructor(admin: Admin, clock: VirtualClock, ledger: Ledger) {
    this.#admin = admin;
    this.#clock = clock;
    this.#ledger = ledger;
    this.#texts = [...ledger.moments()].map(comparable);
  }

  async walk(): Promise<void> {
    const rows = await this.#rows();
    const commands = [...this.#ledger.commands];
    for (const row of rows) await this.#check(row);
    const there = comparable(this.#admin.snapshot);
    for (const [at, command] of [...commands.entries()].toReversed())
      if (this.faults.length > 0 || !(await this.#undo(command, at))) break;
    const last = commands.at(-1);
    if (last === undefined) return;
    const { code, detail } = await this.#send('PUT', `/history/${encodeURIComponent(last.id)}/restore`);
    if (code === 'resource-in-use') return;
    if (code !== undefined) this.faults.push(`the way forward to ${last.id} is refused: ${String(detail)}`);
    else this.#compare(`the way forward to ${last.id}`, there);
  }

  /** What the history says of an entry is what an undo is answered. */
  async #check({ id, undo }: Row): Promise<void> {
    const { code } = await this.#send('PUT', `/history/${encodeURIComponent(id)}/undo?dry_run=true`);
    if ((undo === 'possible') !== (code === undefined))
      this.faults.push(
        `the history says that the undo of ${id} is ${undo}, and the answer is ${code ?? 'a plan'}`,
      );
  }

  /** Undoes a command, and tells whether the way goes on. */
  async #undo(command: SettledCommand, at: number): Promise<boolean> {
    const { id } = command;
    const [before = '', after] = this.#texts.slice(at);
    const changesNothing = before === after;
    const undo = (await this.#row(command))?.undo;
    // What was stopped and started is as before, and somebody has wanted that since.
    const isTurned = undo === 'irreversible' && command.events.some(isStartOrStop);
    if (undo !== 'possible' && changesNothing) return !isTurned;
    if (undo === 'irreversible') return false;
    const { code, detail } = await this.#send('PUT', `/history/${encodeURIComponent(id)}/undo`);
    // Clients have come to what the command has created.
    if (code === 'undo-refused' && undo === 'refused' && this.#isOpenOn(command)) return false;
    if (code !== undefined) {
      this.faults.push(`the way back over ${id} is ${String(undo)}: ${String(detail)}`);
      return false;
    }
    this.#compare(`the way back over ${id}`, before);
    const row = await this.#row(command);
    if (row?.undone_by === undefined) this.faults.push(`the undo of ${id} is not shown`);
    return true;
  }

  #isOpenOn({ events }: SettledCommand): boolean {
    const { sessions } = this.#admin.snapshot;
    return events.some(
      (event) =>
        (event.type === 'service.created' && sessions.countOfService(event.service) > 0) ||
        (event.type === 'server.created' && sessions.countOfServer(event.server) > 0),
    );
  }

  #compare(what: string, wanted: string): void {
    const now = comparable(this.#admin.snapshot);
    if (now === wanted) return;
    // The first difference is enough: every later one follows.
    const from = Math.max(0, Array.from(now).findIndex((character, at) => character !== wanted[at]) - 100);
    this.faults.push(
      `${what} leads to …${now.slice(from, from + 200)}… for …${wanted.slice(from, from + 200)}…`,
    );
  }

  async #rows(): Promise<readonly Row[]> {
    return (await this.#send('GET', '/history')).body as readonly Row[];
  }

  /** The row of one command: to decide on the undo of every other one each time would take most of a world. */
  async #row(command: SettledCommand): Promise<Row | undefined> {
    const { commands } = this.#ledger;
    const at = String(commands.length - 1 - commands.indexOf(command));
    const [row] = (await this.#send('GET', `/history?range=${at}-${at}`)).body as readonly Row[];
    if (row?.id !== command.id) this.faults.push(`the history has ${String(row?.id)} for ${command.id}`);
    return row;
  }

  async #send(
    method: string,
    target: string,
  ): Promise<{ readonly code?: string; readonly detail?: string; readonly body: unknown }> {
    const handled = await this.#clock.waitFor(this.#admin.handle({ method, target, headers: {} }));
    if (!handled.matched) throw new Error(`There is nothing at ${target}`);
    const { response } = handled;
    const body = response.body && (await jsonOf(response));
    const { code, detail = '' } = (body ?? {}) as { readonly code?: string; readonly detail?: string };
    return { body, ...(response.status < 400 ? {} : { code: code ?? String(response.status), detail }) };
  }
}

/**
 * What the way back brings back: not users, nor what monitors say of servers, nor a deadline, which may have passed.
 */
function comparable(snapshot: Snapshot): string {
  const { users: _users, services = [], servers = [], ...document } = toDocument(snapshot);
  const words = (status: readonly string[] = []): readonly string[] =>
    status.filter((word) => word === 'maintenance');
  return textInAnyOrder({
    ...document,
    services: services.map(withoutDeadline),
    servers: servers.map((server) => ({ ...withoutDeadline(server), status: words(server.status) })) as never,
  });
}

function withoutDeadline<T extends { readonly drain?: object }>(thing: T): T {
  if (thing.drain === undefined) return thing;
  const { timeout: _timeout, until: _until, then: _then, ...drain } = thing.drain as Record<string, unknown>;
  return { ...thing, drain };
}
