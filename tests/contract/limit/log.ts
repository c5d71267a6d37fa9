/**
 * The limits of what is kept for readers of events and of audit records.
 *
 * The size of what is kept is tried on the log itself: 64 MiB of events through an interface take longer than all other
 * limits together.
 */
import {
  createSnapshot,
  defaultLimits,
  patchService,
  sequence,
  stopService,
  type Admin,
  type AuditRecord,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { BoundedLog } from '../../../src/runtime/read/bounded-log.ts';
import { readAudit } from '../../support/audit-reader.ts';
import { openStream } from '../../support/event-stream.ts';
import { accepted, keeps, lengthOf, type Limit, type Trial } from '../../support/limit.ts';
import { runAdmin, sampleClock } from '../../support/running-admin.ts';

type WriteRecord = Extract<AuditRecord, { readonly kind: 'write' }>;
const gap = 'readers get a gap';

const lateSink = 'the records are handed over again, and `onError` gets an error';

/** Hands a record to a sink that takes so long. The sink is busy from the turn in which the command ends. */
const keepsLate: Trial = async (ms) => {
  const clock = sampleClock();
  const append = (): Promise<void> => clock.sleep(ms);
  const { admin, errors } = runAdmin({ clock, observe: { audit: { sink: { append } } } });
  await admin.execute((snapshot, context) => stopService(snapshot, 'My Service', context));
  await clock.advance(defaultLimits.auditDeadlineMs);
  return errors.length === 0 ? accepted : lateSink;
};

/** Reads from the beginning after so many events. */
const readsEvents: Trial = async (size) => {
  const { admin } = runAdmin();
  const reader = admin.events();
  const reasons = Array.from({ length: size }, (_, n) => `reason ${String(n)}`);
  admin.report(
    reasons.map(
      (reason) => ({ type: 'service.reported', service: 'My Service', state: 'failed', reason }) as const,
    ),
  );
  for await (const item of reader) return item.gap === true ? gap : accepted;
  throw new Error('The events have ended');
};

const tooManyReaders = '503 overloaded';

/** Opens so many streams, each for a peer of its own, which nobody reads yet. */
const opensStreams: Trial = async (size) => {
  const { admin } = runAdmin();
  let status = 0;
  for (let count = 0; count < size; count += 1)
    ({ status } = (await openStream(admin, { peer: String(count) })).response);
  return status === 503 ? tooManyReaders : accepted;
};

const heartbeat = 'a heartbeat';

/** Waits for so long without an event. */
const keepsQuiet: Trial = async (ms) => {
  const { admin, clock } = runAdmin();
  const stream = await openStream(admin);
  await stream.piece();
  const pieces: string[] = [];
  const reading = stream.piece().then((piece) => pieces.push(piece));
  await clock.advance(ms);
  await stream.leave();
  await reading;
  return pieces.join() === '' ? accepted : heartbeat;
};

/** Reads from the beginning after so many records. */
const readsAudit: Trial = async (size) => {
  const { admin } = runAdmin();
  const reader = admin.audit();
  const remove = { method: 'DELETE', target: '/users/nobody', headers: {} };
  for (let count = 0; count < size; count += 1) await admin.handle(remove);
  for await (const item of reader) return item.kind === 'gap' ? gap : accepted;
  throw new Error('The records have ended');
};

/** Keeps two items of a total size. */
const fills: Trial = (size) => {
  const log = new BoundedLog<number>(defaultLimits.maxEventsKept, (item) => item);
  log.append([size - 1, 1]);
  return Promise.resolve(log.oldest === 0 ? accepted : gap);
};

/** The record of what happens to an interface. */
async function recordOf(
  happen: (admin: Admin) => Promise<unknown>,
  options: Parameters<typeof runAdmin>[0] = {},
): Promise<WriteRecord | undefined> {
  const { admin, clock } = runAdmin(options);
  const records = readAudit(admin);
  await happen(admin);
  await clock.settle();
  return records.find((record) => record.kind === 'write');
}

/** The record of a request. */
const requested = (target: string, peer = 'a'): Promise<WriteRecord | undefined> =>
  recordOf((admin) => admin.handle({ method: 'PUT', target, headers: {}, peer }));

/** The record of a command about so many services. */
async function resources(size: number): Promise<number> {
  const names = Array.from({ length: size }, (_, n) => `s${String(n)}`);
  const snapshot = createSnapshot({ services: names.map((name) => ({ name, router: 'cli' })) });
  const stops = names.map(
    (name): Transition =>
      (now, context) =>
        stopService(now, name, context),
  );
  const record = await recordOf((admin) => admin.execute(sequence(...stops)), { snapshot });
  return record?.resources?.length ?? 0;
}

/** The record of so many patches, which are large together. */
async function items(size: number): Promise<number> {
  const patches = Array.from(
    { length: size },
    (_, n): Transition =>
      (snapshot: Snapshot, context) =>
        patchService(
          snapshot,
          'My Service',
          [{ op: 'add', path: '/router_options/a', value: String(n).padEnd(4096, 'x') }],
          context,
        ),
  );
  const record = await recordOf((admin) => admin.execute(sequence(...patches)));
  return record?.change?.length ?? 0;
}

/** Records a refused patch of a size, as a record counts it: a comma follows each item and each member. */
const changes: Trial = async (size) => {
  const removals = (last: string) =>
    [...Array<string>(70).fill('/x'.padEnd(900, 'x')), last].map((path) => ({ op: 'remove', path }));
  const { length } = JSON.stringify([{ operations: removals('/') }]);
  const commas = 71 + 3;
  const body = JSON.stringify(removals('/'.padEnd(size - length - commas + 1, 'x')));
  const headers = { 'content-type': 'application/json-patch+json' };
  const record = await recordOf((admin) =>
    admin.handle({ method: 'PATCH', target: '/services/My-Service', headers, body }),
  );
  return Object.hasOwn(record?.change?.[0] as object, 'operations') ? accepted : shortened;
};
const shortened = 'the types and resources of its first items';

/** Fails log-ins, and gives what was recorded. */
function strangers() {
  const { admin, clock } = runAdmin({ access: { authenticate: () => Promise.resolve(undefined) } });
  const records = readAudit(admin);
  const headers = { authorization: 'Basic x' };
  const fail = async (peer: string): Promise<void> => {
    await admin.handle({ method: 'GET', target: '/services', headers, peer });
    await clock.settle();
  };
  return { clock, records, fail };
}

/** Fails log-ins from so many peers. */
const failsFrom: Trial = async (size) => {
  const { records, fail } = strangers();
  for (let peer = 0; peer < size; peer += 1) await fail(String(peer));
  const together = records.some((record) => 'several' in record);
  return together ? 'further peers are counted together' : accepted;
};

/** Fails a log-in again after some time. */
const failsAgain: Trial = async (ms) => {
  const { clock, records, fail } = strangers();
  await fail('a');
  await clock.advance(ms);
  await fail('a');
  return records.length === 1 ? accepted : 'a further record';
};

export const logLimits: readonly Limit[] = [
  {
    option: 'maxEventsKept',
    value: defaultLimits.maxEventsKept,
    bounds: 'events that are kept for readers',
    beyond: gap,
    trial: readsEvents,
  },
  {
    option: 'maxEventReaders',
    value: defaultLimits.maxEventReaders,
    bounds: 'readers of `GET /events` at the same time',
    beyond: tooManyReaders,
    trial: opensStreams,
  },
  {
    option: 'heartbeatMs',
    value: defaultLimits.heartbeatMs,
    unit: 'milliseconds',
    bounds: 'time between two heartbeats of `GET /events`',
    beyond: heartbeat,
    trial: keepsQuiet,
  },
  {
    option: 'maxAuditKept',
    value: defaultLimits.maxAuditKept,
    bounds: 'audit records that are kept for readers',
    beyond: gap,
    trial: readsAudit,
  },
  {
    option: 'auditDeadlineMs',
    value: defaultLimits.auditDeadlineMs,
    unit: 'milliseconds',
    bounds: 'one call of the audit sink',
    beyond: lateSink,
    trial: keepsLate,
  },
  {
    value: 64 * 1024 * 1024,
    unit: 'bytes',
    bounds: 'total size of the kept events, and of the kept audit records; a single larger one is kept',
    beyond: gap,
    trial: fills,
  },
  {
    ...keeps(255, 'the text is cut', async (size) =>
      lengthOf((await requested('/service/none/stop', 'x'.repeat(size)))?.peer),
    ),
    unit: 'characters',
    bounds: '`peer` and `actor` of an audit record',
  },
  {
    ...keeps(1024, 'the text is cut', async (size) =>
      lengthOf((await requested(`/service/${'x'.repeat(size - '/service//stop'.length)}/stop`))?.route?.path),
    ),
    unit: 'characters',
    bounds: '`route.path` of an audit record',
  },
  {
    ...keeps(100, 'the rest is left out', resources),
    bounds: '`resources` of an audit record',
  },
  {
    value: 65_536,
    unit: 'bytes',
    bounds: '`change` of an audit record that is recorded as it is',
    beyond: shortened,
    trial: changes,
  },
  {
    ...keeps(100, 'the rest is left out', items),
    bounds: 'items of a larger `change`',
  },
  {
    value: 1000,
    unit: 'milliseconds',
    bounds: 'time in which the failed log-ins of a peer are one audit record',
    beyond: 'a further record',
    trial: failsAgain,
  },
  {
    value: 100,
    bounds: 'peers whose failed log-ins are counted apart within that time',
    beyond: 'further peers are counted together',
    trial: failsFrom,
  },
];
