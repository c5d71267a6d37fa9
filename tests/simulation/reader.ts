/**
 * A reader of events that stops, and comes again with the id of the last event that it has read.
 */
import type { Admin, EventGap, PublishedEvent } from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

/** One reading in one life. */
interface Visit {
  readonly after: string | undefined;
  readonly items: (PublishedEvent | EventGap)[];
}

export class Reader {
  readonly #random: Random;
  #last: string | undefined;
  #visits: Visit[] = [];
  #stream: AsyncIterableIterator<PublishedEvent | EventGap> | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Comes, reads on, or goes. */
  step(admin: Admin): void {
    const chance = this.#random.next();
    if (this.#stream === undefined) this.#come(admin);
    else if (chance < 0.3) this.leave();
    else if (chance < 0.8) void this.#read(this.#stream, 1 + this.#random.below(20));
  }

  /** Reads no more. */
  leave(): void {
    void this.#stream?.return?.();
    this.#stream = undefined;
  }

  /**
   * What is wrong with what was read in a life, which has ended: events in order, each one once, and no gap while the
   * events are kept.
   *
   * @param ids - the ids of the events of the life, from some time on
   * @param most - the largest number of events that are kept
   */
  strays(ids: readonly string[], most: number): readonly string[] {
    this.leave();
    const places = new Map(ids.map((id, index) => [id, index]));
    const visits = this.#visits;
    this.#visits = [];
    return visits.flatMap((visit) => straysIn(visit, places, most));
  }

  #come(admin: Admin): void {
    const after = this.#last;
    const visit = { after, items: [] };
    this.#visits.push(visit);
    this.#stream = admin.events(after === undefined ? {} : { after });
  }

  async #read(stream: AsyncIterator<PublishedEvent | EventGap>, count: number): Promise<void> {
    const items = this.#visits.at(-1)?.items;
    for (let each = 0; each < count; each += 1) {
      const next = await stream.next();
      if (next.done === true) return;
      items?.push(next.value);
      if (next.value.gap !== true) this.#last = next.value.id;
    }
  }
}

function straysIn(
  { after, items }: Visit,
  places: ReadonlyMap<string, number>,
  most: number,
): readonly string[] {
  const strays: string[] = [];
  const isForeign = after !== undefined && lifeOf(after) !== lifeOf([...places.keys()][0] ?? after);
  if (isForeign && items[0] !== undefined && items[0].gap !== true)
    strays.push(`a reader after ${after} of another life met no gap`);
  // The interface has published some events before the chronicle of the life began: nobody knows how many.
  let isEarlier = after !== undefined && !isForeign && !places.has(after);
  let next = after === undefined || isForeign ? undefined : (places.get(after) ?? -1) + 1;
  let isGap = false;
  for (const item of items) {
    if (item.gap === true) {
      isGap = true;
      continue;
    }
    const place = places.get(item.id);
    if (place === undefined) continue;
    const isKept = next !== undefined && next + most >= places.size;
    if (isGap && isKept && !isEarlier)
      strays.push(`a reader after ${String(after)} met a gap before ${item.id}, which was kept`);
    if (!isGap && next !== undefined && place !== next)
      strays.push(
        `a reader after ${String(after)} got ${item.id} as number ${String(place)}, not ${String(next)}`,
      );
    if (isGap && next !== undefined && place <= next && !isEarlier)
      strays.push(`a reader got ${item.id} after a gap of nothing`);
    if (isForeign && next === undefined && place > Math.max(0, places.size - most))
      strays.push(`a reader of another life got ${item.id} first, and earlier events were kept`);
    [next, isGap, isEarlier] = [place + 1, false, false];
  }
  return strays;
}

/** The life of an event id. */
function lifeOf(id: string): string | undefined {
  return id.split('.')[0];
}
