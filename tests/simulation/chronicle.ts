/**
 * What has happened in one life, as a reader of its events knows it: the state after each revision.
 */
import { evolve, type AdminEvent, type PublishedEvent, type Snapshot } from 'gateway-admin-core';

import { placeOf } from '../support/event-reader.ts';

/** The state after a revision. */
export interface Moment {
  readonly revision: number;
  readonly snapshot: Snapshot;
}

export class Chronicle {
  /** What is wrong with the order of the events. */
  readonly strays: string[] = [];
  /** The ids of the events, in order. */
  readonly ids: string[] = [];
  readonly #moments: Moment[];
  /** The events of commands, with their revisions. */
  readonly #changes: (PublishedEvent & { readonly revision: number })[] = [];
  /** The events of the newest revision: more of them may come. */
  #newest: PublishedEvent[] = [];

  constructor(beginning: Snapshot) {
    this.#moments = [{ revision: beginning.revision, snapshot: beginning }];
  }

  /** The number of moments so far, without the newest: more events of it may come. */
  get length(): number {
    return this.#moments.length;
  }

  /** Takes the next event. */
  add(published: PublishedEvent): void {
    const [first] = this.#newest;
    if (first !== undefined && revisionOf(first) !== revisionOf(published)) this.#fold();
    this.#newest.push(published);
    this.ids.push(published.id);
    const { event } = published;
    if (event.command !== undefined && event.type !== 'command.failed')
      this.#changes.push({ ...published, revision: revisionOf(published) });
  }

  /** The moments from one on, the last one first, up to a revision. */
  moments(from: number, revision: number): readonly Moment[] {
    this.#fold();
    return this.#moments
      .slice(from)
      .filter((moment) => moment.revision <= revision)
      .toReversed();
  }

  /** The newest moment. */
  get last(): Moment {
    this.#fold();
    return this.#moments.at(-1) ?? neverHere();
  }

  /** The changes of a resource, and of what is a part of it, by commands, after a revision. */
  changesOf(link: string, after: number): readonly { readonly revision: number; readonly actor?: string }[] {
    return this.#changes
      .filter(
        ({ revision, event }) =>
          revision > after && isOf(link, event.resource) && !leavesAlone.test(event.type),
      )
      .map(({ revision, event: { actor } }) => ({ revision, ...(actor === undefined ? {} : { actor }) }));
  }

  /** The links of what others than a client have made after a revision, and before the client has changed anything. */
  madeBefore(actor: string, after: number): readonly string[] {
    const own = this.#changes.findIndex(({ event }) => event.actor === actor);
    return this.#changes
      .slice(0, own === -1 ? undefined : own)
      .flatMap(({ revision, event }) =>
        revision > after && event.type.endsWith('.created') ? [event.resource.toLowerCase()] : [],
      );
  }

  /** The links of what was deleted after a time. */
  deletedSince(at: number): readonly string[] {
    return this.#changes.flatMap(({ event }) =>
      event.type.endsWith('.deleted') && event.at > at ? [event.resource] : [],
    );
  }

  /** What the commands of a client have changed. */
  changesBy(actor: string): readonly AdminEvent[] {
    return this.#changes.flatMap(({ event }) => (event.actor === actor ? [event] : []));
  }

  #fold(): void {
    const events = this.#newest;
    if (events.length === 0) return;
    this.#newest = [];
    const { revision: before, snapshot } = this.#moments.at(-1) ?? neverHere();
    const revision = before + 1;
    const expected = events.map((_, index) => `${String(revision)}.${String(index)}`).join();
    const ids = events.map(({ id }) => placeOf(id)).join();
    if (ids !== expected) this.strays.push(`events ${ids} where ${expected} are due`);
    const folded = evolve(
      snapshot,
      events.map(({ event }) => event),
    );
    this.strays.push(...deadLinks(folded).map((text) => `after ${ids}, ${text}`));
    this.#moments.push({ revision, snapshot: folded });
  }
}

/** The events of commands that leave the content of their resource alone: nobody edits what they change. */
export const leavesAlone = /^(?:sessions\.closed|connections\.closed|logs\.flushed)$/;

/** Whether a resource is another one, or a part of that. */
function isOf(link: string, resource: string): boolean {
  return resource === link || resource.startsWith(`${link}/`);
}

function revisionOf({ id }: PublishedEvent): number {
  return Number(placeOf(id).split('.')[0]);
}

/** The links of a snapshot that name nothing. */
function deadLinks(snapshot: Snapshot): readonly string[] {
  const { services, monitors } = snapshot;
  return [...services, ...monitors].flatMap(({ name, settings }) => {
    const { servers, filters = [] }: { servers: readonly string[]; filters?: readonly string[] } = settings;
    return [...servers, ...filters]
      .filter((link) => !isThere(snapshot, link))
      .map((link) => `${name} lists ${link}, which is not there`);
  });
}

function isThere(snapshot: Snapshot, link: string): boolean {
  const [, collection, name = ''] = link.split('/');
  return (collection === 'servers' ? snapshot.servers : snapshot.filters).find(name) !== undefined;
}

function neverHere(): never {
  throw new Error('There is always a moment');
}
