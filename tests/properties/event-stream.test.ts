import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { flushLogs, stopService, startService, type Admin, type Transition } from 'gateway-admin-core';

import { Browser, openStream, type Message } from '../support/event-stream.ts';
import { openedSession } from '../support/opened-session.ts';
import { runAdmin } from '../support/running-admin.ts';

/** One thing that happens: some events, or the connection of the client is cut after so many further bytes. */
type Happening = { readonly events: number } | { readonly report: number } | { readonly cutAfter: number };

const happenings = fc.array(
  fc.oneof(
    fc.record({ events: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ report: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ cutAfter: fc.integer({ min: 0, max: 900 }) }),
  ),
  { minLength: 1, maxLength: 12 },
);

const toggle: Transition = (snapshot, context) =>
  (snapshot.services.find('my-service')?.state === 'started' ? stopService : startService)(
    snapshot,
    'My Service',
    context,
  );

/** A client that connects again as a browser does, and gets each connection in bytes that are cut anywhere. */
class Client {
  readonly messages: Message[] = [];
  #lastId = '';
  readonly #admin: Admin;
  readonly #query: string;

  constructor(admin: Admin, query: string) {
    this.#admin = admin;
    this.#query = query;
  }

  /** Reads so many bytes of a new connection, or fewer if there are no more at present. */
  async connect(bytes: number): Promise<void> {
    const headers = this.#lastId === '' ? {} : { 'last-event-id': this.#lastId };
    const stream = await openStream(this.#admin, { query: this.#query, headers });
    const browser = new Browser();
    let left = bytes;
    while (left > 0) {
      const text = await Promise.race([stream.piece(), quiet()]);
      if (text === '') break;
      browser.take(text.slice(0, left));
      left -= text.length;
    }
    await stream.leave();
    this.messages.push(...browser.messages);
    // Whatever is left of a message is lost with the connection, and a connection without an id changes no id.
    if (browser.lastId !== '') this.#lastId = browser.lastId;
  }
}

/** Long enough for a stream to make its next piece, if there is something to send. */
async function quiet(): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, 10));
  return '';
}

let session = 1000;

async function happen(admin: Admin, happening: Exclude<Happening, { readonly cutAfter: number }>) {
  if ('report' in happening)
    admin.report(Array.from({ length: happening.report }, () => openedSession((session += 1))));
  else for (let at = 0; at < happening.events; at += 1) await admin.execute(at === 1 ? flushLogs : toggle);
}

/** The ids of the events of an interface until its end, as a program gets them; of the wanted types. */
async function idsOf(
  admin: Admin,
  isWanted: (type: string) => boolean = () => true,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const item of admin.events())
    if ('event' in item && isWanted(item.event.type)) ids.push(item.id);
  return ids;
}

describe('a stream of events that is cut anywhere and resumed', () => {
  // Promise: stream-resume
  it('gives each event once and in order, if the events are kept', async () => {
    await fc.assert(
      fc.asyncProperty(
        happenings,
        fc.constantFrom('', '?types=session', '?types=service'),
        async (list, query) => {
          const { admin } = runAdmin();
          const wanted = query.slice('?types='.length);
          const all = idsOf(admin, (type) => type.startsWith(wanted));
          const client = new Client(admin, query);
          await client.connect(200);
          for (const each of list) {
            if ('cutAfter' in each) await client.connect(each.cutAfter);
            else await happen(admin, each);
          }
          await client.connect(Infinity);
          await admin.close();
          expect(client.messages.map(({ id }) => id)).toEqual(await all);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('gives a gap in place of events that are gone, and each other event once and in order', async () => {
    let gaps = 0;
    await fc.assert(
      fc.asyncProperty(happenings, async (list) => {
        const { admin } = runAdmin({ limits: { maxEventsKept: 3 } });
        const all = idsOf(admin);
        const client = new Client(admin, '');
        await client.connect(200);
        for (const each of [...list, { events: 1 }]) {
          if ('cutAfter' in each) await client.connect(each.cutAfter);
          else await happen(admin, each);
        }
        await client.connect(Infinity);
        await admin.close();
        gaps += gapsIn(client.messages, await all);
      }),
      { numRuns: 60 },
    );
    expect(gaps).toBeGreaterThan(0);
  });
});

/** Counts the gaps. Fails if an event is missing without a gap, or comes twice or in another order. */
function gapsIn(messages: readonly Message[], ids: readonly string[]): number {
  let [due, gaps, isGap] = [0, 0, false];
  for (const { id, type } of messages) {
    if (type === 'gap') [gaps, isGap] = [gaps + 1, true];
    else {
      const at = ids.indexOf(id);
      expect([id, isGap ? at >= due : at === due]).toEqual([id, true]);
      [due, isGap] = [at + 1, false];
    }
  }
  expect(due).toBe(ids.length);
  return gaps;
}
