/**
 * What is read of an interface, however it is read: a text that was kept is the text that would be made now, a record
 * that is read late is the one that is read at once, and a stream of events that is cut anywhere loses nothing unsaid.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createAdmin,
  createSnapshot,
  createUser,
  flushLogs,
  linkTo,
  startService,
  stopService,
  type Admin,
  type AdminRequest,
  type AuditRecord,
  type GatewayDocument,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import {
  acts,
  reportOf,
  reports,
  transitionOf,
  type Act,
  type Report,
} from '../support/arbitrary-happening.ts';
import { requests } from '../support/arbitrary-request.ts';
import { Browser, openStream, type Message } from '../support/event-stream.ts';
import { openedSession } from '../support/opened-session.ts';
import { runAdmin, type Running } from '../support/running-admin.ts';

const lists = ['services', 'servers', 'monitors', 'filters', 'users'] as const;
const queries = ['', '?fields=name', '?range=0-0', '?range=0-0&fields=name'];

/** What is shown, and in which parts. */
function targetsIn(snapshot: Snapshot): readonly string[] {
  const items = (['services', 'servers', 'monitors', 'filters'] as const).flatMap((list) =>
    [...snapshot[list]].map(({ name }) => linkTo(list, name)),
  );
  return [
    ...lists.flatMap((list) => queries.map((query) => `/${list}${query}`)),
    ...items.flatMap((link) => [link, `${link}?fields=name`]),
    ...[
      '/services?fields=current_connections,drain',
      '/servers?fields=state,status',
      '/servers?fields=drain',
    ],
    ...[...snapshot.services].map(({ name }) => `${linkTo('services', name)}/listeners`),
  ];
}

function open(snapshot: Snapshot): Admin {
  return createAdmin({
    snapshot,
    gateway: { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') },
    // What an unsound report is refused for.
    observe: { onError: () => undefined },
  });
}

/** Reads all targets, in this order. */
async function answersOf(
  admin: Admin,
  targets = targetsIn(admin.snapshot),
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const answers: Record<string, readonly unknown[]> = {};
  for (const target of targets) {
    const handled = await admin.handle({ method: 'GET', target, headers: {} });
    if (!handled.matched) throw new Error(`Nothing is at ${target}`);
    const { status, headers, body } = handled.response;
    answers[target] = [status, headers['etag'], body];
  }
  return answers;
}

it('a text that was kept is the text that would be made now, after every command and every report', async () => {
  const met = { happenings: 0, changes: 0 };
  await fc.assert(
    fc.asyncProperty(
      documents,
      fc.array(fc.oneof(acts, reports), { minLength: 5, maxLength: 20 }),
      async (document, happenings) => {
        await using admin = open(createSnapshot(document));
        let before = await answersOf(admin);
        for (const each of happenings) {
          if ('verb' in each) await admin.execute(transitionOf(each));
          else admin.report(reportOf(each, admin.snapshot));
          await using other = open(admin.snapshot);
          const now = await answersOf(admin);
          // In the other order: a text that is kept for the wrong target is then another wrong one.
          expect(now).toEqual(await answersOf(other, targetsIn(admin.snapshot).toReversed()));
          met.happenings += 1;
          if (JSON.stringify(now) !== JSON.stringify(before)) met.changes += 1;
          before = now;
        }
      },
    ),
    { numRuns: 20 },
  );
  expect(met.changes).toBeGreaterThan(0.1 * met.happenings);
});

type Told = Act | Report | AdminRequest;

const happenings = fc.array(
  fc.oneof<[fc.Arbitrary<Act>, fc.Arbitrary<Report>, fc.Arbitrary<AdminRequest>]>(acts, reports, requests),
  { maxLength: 12 },
);

async function happen({ admin, clock }: Running, what: Told): Promise<void> {
  if ('verb' in what) await admin.execute(transitionOf(what), { actor: 'ada' });
  else if ('method' in what) await admin.handle(what);
  else admin.report(reportOf(what, admin.snapshot));
  await clock.settle();
}

/** Runs an interface without a sink, and leaves a first record, after which a reader can begin. */
async function running(document: GatewayDocument): Promise<Running & { readonly first: string }> {
  const own = runAdmin({ snapshot: createSnapshot(document) });
  const head = own.admin.audit().next();
  await own.admin.execute((snapshot) => createUser(snapshot, { name: '' } as never, { now: 0 }));
  const { value } = (await head) as { readonly value: AuditRecord };
  return { ...own, first: value.id };
}

/** Reads all records after the first one, without the ids, which each interface draws for itself. */
async function recordsAfter({
  admin,
  first,
}: Running & { readonly first: string }): Promise<readonly string[]> {
  const records: string[] = [];
  for await (const item of admin.audit({ after: first })) records.push(masked(item));
  return records;
}

function masked(item: object): string {
  return JSON.stringify({ ...item, id: '', ...('command' in item && { command: '' }) });
}

describe('a record that is read late', () => {
  it('equals the record that is read at once, after any event', async () => {
    await fc.assert(
      fc.asyncProperty(documents, happenings, async (document, list) => {
        const [watched, unwatched] = [await running(document), await running(document)];
        const atOnce = recordsAfter(watched);
        for (const what of list) {
          await happen(watched, what);
          await happen(unwatched, what);
        }
        await Promise.all([watched.admin.close(), unwatched.admin.close()]);
        expect(await recordsAfter(unwatched)).toEqual(await atOnce);
      }),
      { numRuns: 40 },
    );
  });
});

/** One thing that happens: some events, or the connection of the client is cut after so many further bytes. */
type Happening = { readonly events: number } | { readonly report: number } | { readonly cutAfter: number };

const streams = fc.array(
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
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  return '';
}

let session = 1000;

async function happenIn(admin: Admin, happening: Exclude<Happening, { readonly cutAfter: number }>) {
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

/** The ids of all wanted events, and what a client has got that was cut off as often as the list says. */
async function readCut(
  admin: Admin,
  list: readonly Happening[],
  type = '',
): Promise<{ readonly ids: readonly string[]; readonly messages: readonly Message[] }> {
  const all = idsOf(admin, (each) => each.startsWith(type));
  const client = new Client(admin, type === '' ? '' : `?types=${type}`);
  await client.connect(200);
  for (const each of list) {
    if ('cutAfter' in each) await client.connect(each.cutAfter);
    else await happenIn(admin, each);
  }
  await client.connect(Infinity);
  await admin.close();
  return { ids: await all, messages: client.messages };
}

describe('a stream of events that is cut anywhere and resumed', () => {
  // Promise: stream-resume
  it('gives each event once and in order, if the events are kept', async () => {
    const types = fc.constantFrom('', 'session', 'service');
    await fc.assert(
      fc.asyncProperty(streams, types, async (list, type) => {
        const { ids, messages } = await readCut(runAdmin().admin, list, type);
        expect(messages.map(({ id }) => id)).toEqual(ids);
      }),
      { numRuns: 60 },
    );
  });

  it('gives a gap in place of events that are gone, and each other event once and in order', async () => {
    const met = { runs: 0, gaps: 0 };
    await fc.assert(
      fc.asyncProperty(streams, async (list) => {
        const { admin } = runAdmin({ limits: { maxEventsKept: 3 } });
        const { ids, messages } = await readCut(admin, [...list, { events: 1 }]);
        met.runs += 1;
        met.gaps += gapsIn(messages, ids);
      }),
      { numRuns: 60 },
    );
    expect(met.gaps).toBeGreaterThan(0.3 * met.runs);
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
