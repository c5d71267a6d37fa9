import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createResource,
  createRoles,
  createSnapshot,
  routes,
  startMonitor,
  stopMonitor,
  type Admin,
  type GatewayDocument,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';
import type * as z from 'zod/mini';

import { fieldTables, isShown, type Field as OfTable, type Fields } from '../docs/tables.ts';
import { sampleDocument, sampleSnapshot } from '../support/document.ts';
import { readOnlySnapshot } from '../support/read-only.ts';
import { appliedTo, openRunning, runAdmin, sampleGateway, type Running } from '../support/running-admin.ts';
import { runSampleFleet } from '../support/sample-fleet.ts';
import { transports, type Answer, type Transport } from '../support/transport.ts';
import { fields, isBelowSeveral, isOf, places, valuesAt, type Field, type Place } from './field.ts';
import { modifiableFields, type ModifiableField } from './modifiable-field.ts';

const create: Transition = (snapshot, context) =>
  createResource(snapshot, 'services', { name: 'New Service', router: 'cli' }, context);

/**
 * An interface with two commands of unknown outcome. The first has two parts; the caller of the second is not known.
 */
async function busyAdmin(): Promise<Admin> {
  const gateway = sampleGateway().will(hold().apply, hold().apply).otherwise({ inspect: 'not-in-place' });
  const { admin, clock } = runAdmin({ gateway });
  const executions = [
    admin.execute(create, { actor: 'ada' }),
    admin.execute((snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context)),
  ];
  await clock.advance(admin.limits.effectDeadlineMs);
  await Promise.all(executions);
  return admin;
}

/**
 * An interface with a settled command and its undo, and two later ones; the caller of the first of these is not known.
 */
async function changedAdmin(): Promise<Admin> {
  const { admin } = runAdmin();
  const stop: Transition = (snapshot, context) => stopMonitor(snapshot, 'Main Monitor', context);
  const ada = { actor: 'ada' };
  const stopped = await admin.execute(stop, ada);
  const id = stopped.outcome === 'accepted' ? (stopped.events[0]?.command ?? '') : '';
  await admin.handle({ method: 'PUT', target: `/history/${id}/undo`, headers: {} });
  await admin.execute((snapshot, context) => startMonitor(snapshot, 'Idle Monitor', context));
  await admin.execute(stop, ada);
  return admin;
}

/** An interface with a store, a name and a log-in, which ada has made read-only. */
async function heldAdmin(): Promise<Admin> {
  const { admin } = await openRunning(createMemoryStore(), {
    ...{ name: 'eu-1', environment: 'test' },
    access: {
      authenticate: () => Promise.resolve({ name: 'ada' }),
      authorize: createRoles({ administrators: ['ada'] }),
    },
  });
  const body = JSON.stringify([
    { op: 'replace', path: '/read_only', value: true },
    { op: 'add', path: '/read_only_reason', value: 'The network is changed.' },
  ]);
  const headers = { 'content-type': 'application/json-patch+json' };
  await admin.handle({ method: 'PATCH', target: '/', headers, body });
  return admin;
}

/** An interface of a gateway of whose first service no server takes new sessions. */
function downAdmin(): Admin {
  const { admin } = runAdmin();
  // The other server of the service is in maintenance.
  admin.report([
    { type: 'server.reported', server: 'db-serv-1', status: [] },
    { type: 'server.reported', server: 'db-serv-3', status: ['running'] },
  ]);
  return admin;
}

describe('a representation', () => {
  let [full, bare]: Transport[] = [];
  let others: Readonly<Record<NonNullable<Place['fullWith']>, Transport>>;

  beforeAll(async () => {
    full = await transports.core(await busyAdmin());
    bare = await transports.core(runAdmin({ snapshot: createSnapshot({}) }).admin);
    others = {
      store: await transports.core(await heldAdmin()),
      fleet: await transports.core((await runSampleFleet()).admin),
      history: await transports.core(await changedAdmin()),
      outage: await transports.core(downAdmin()),
    };
  });

  /** The one at a place: the thing, or the first of the list. */
  async function shownAt({ of, at }: Field, which: 'full' | 'bare'): Promise<unknown> {
    const place = places[of];
    const withAll = place?.fullWith === undefined ? full : others[place.fullWith];
    const transport = which === 'bare' && place?.bareWhereEmpty === true ? bare : withAll;
    const target = (which === 'full' ? at : undefined) ?? place?.[which] ?? '';
    const { status, body } = (await transport?.send('GET', target)) ?? {};
    expect(status).toBe(200);
    return Array.isArray(body) ? (body[0] as unknown) : body;
  }

  it.each(fields)('of $of has $name, a $kind with the value of the sample: $presence', async (field) => {
    const values = valuesAt(await shownAt(field, 'full'), field.name);
    expect(values).not.toHaveLength(0);
    expect(values.filter((value) => !isOf(field.kind, value))).toEqual([]);
    if (field.sample !== undefined) expect(isBelowSeveral(field) ? values : values[0]).toEqual(field.sample);
    if (isBelowSeveral(field)) return;
    const there = valuesAt(await shownAt(field, 'bare'), field.name);
    expect(there).toHaveLength(field.presence === 'always' ? 1 : 0);
  });

  it.each(Object.entries(places))('of %s shows no other field', async (of, place) => {
    const known = fields.filter((field) => field.of === of).map(({ name }) => name.split('.')[0]);
    for (const target of [place.full, place.bare]) {
      const transport = place.fullWith === undefined ? full : others[place.fullWith];
      const { body, text } = (await transport?.send('GET', target)) ?? {};
      const all = Array.isArray(body) ? (body as object[]) : [body as object];
      expect(all.flatMap((each) => Object.keys(each)).filter((field) => !known.includes(field))).toEqual([]);
      expect(text).not.toMatch(/password/i);
    }
  });
});

describe('a modifiable field', () => {
  let transport: Transport | undefined;

  async function open(kind: ModifiableField['kind']): Promise<Running> {
    const running = runAdmin(kind === 'interface' ? { snapshot: readOnlySnapshot(sampleSnapshot()) } : {});
    transport = await transports.core(running.admin);
    return running;
  }

  async function patch(target: string, operations: unknown): Promise<Answer> {
    const headers = { 'content-type': 'application/json-patch+json' };
    const answer = await transport?.send('PATCH', target, { headers, body: JSON.stringify(operations) });
    if (answer === undefined) throw new Error('No transport is open');
    return answer;
  }

  async function read(target: string): Promise<Readonly<Record<string, unknown>>> {
    const body = (await transport?.send('GET', target))?.body;
    return (Array.isArray(body) ? body[0] : body) as Readonly<Record<string, unknown>>;
  }

  it.each(modifiableFields)('$field of $read can be replaced', async (row) => {
    const { gateway } = await open(row.kind);
    const before = await read(row.read);
    const answer = await patch(row.patch, [{ op: 'replace', path: `/${row.field}`, value: row.value }]);
    expect(answer.status).toBe(200);
    const after = await read(row.read);
    const shown = row.shownAs === undefined ? {} : { ...row.moves, [row.shownAs]: row.value };
    expect(after).toEqual({ ...before, ...shown });
    // The answer to a patch of a server has its status under both names.
    expect(answer.body).toEqual(row.kind === 'server' ? { ...after, state: after['status'] } : after);
    // The users and the interface belong to the library: the gateway is not asked.
    expect(appliedTo(gateway)).toHaveLength(['user', 'interface'].includes(row.kind) ? 0 : 1);
  });

  it.each(modifiableFields)('$field of $read can be tested, unless it is secret', async (row) => {
    await open(row.kind);
    const before = await read(row.read);
    const value = row.shownAs === undefined ? 'guess' : before[row.shownAs];
    const answer = await patch(row.patch, [{ op: 'test', path: `/${row.field}`, value }]);
    expect(answer.status).toBe(row.shownAs === undefined ? 422 : 200);
  });

  it.each(modifiableFields)('$field of $read can be removed only if it is optional', async (row) => {
    await open(row.kind);
    const answer = await patch(row.patch, [{ op: 'remove', path: `/${row.field}` }]);
    const can = row.removed === 'absent' || row.removed === 'empty';
    expect(answer.status).toBe(can ? 200 : 422);
    if (can) expect(await read(row.read)).not.toHaveProperty(row.field);
  });
});

describe('the modifiable fields', () => {
  it('are the fields that the summaries of the routes name', () => {
    const named = routes
      .filter(({ method }) => method === 'PATCH')
      .map(({ id, summary }) => ({ id, fields: summary.replace(/^.*: |\.$/g, '').split(', ') }));
    const kinds = new Set(modifiableFields.map(({ kind }) => kind));
    const rows = [...kinds].map((kind) => ({
      id: kind === 'interface' ? 'interface.patch' : `${kind}s.patch`,
      fields: modifiableFields.filter((row) => row.kind === kind).map(({ field }) => field),
    }));
    expect(named).toEqual(rows);
  });
});

const tables = Object.entries(fieldTables);

/** A field and what is in it, by the names that the contract gives them. */
function namesIn(name: string, shape: z.core.$ZodType, when: string): readonly string[] {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  if (def.type === 'array') return [`${name}${when}`, ...membersOf(`${name}.[]`, def.element, when)];
  if (def.type === 'record') return [`${name}${when}`, ...membersOf(`${name}.{}`, def.valueType, when)];
  return [`${name}${when}`, ...membersOf(name, shape, when)];
}

function membersOf(place: string, shape: z.core.$ZodType, when: string): readonly string[] {
  const { def } = (shape as z.core.$ZodTypes)._zod;
  if (def.type !== 'object') return [];
  return Object.entries(def.shape).flatMap(([name, member]) => namesIn(`${place}.${name}`, member, when));
}

/** The fields that a table shows; those that may be absent end with `?`. */
function shownBy({ all }: Fields): readonly string[] {
  const whenOf = ({ optional, hiddenWhenEmpty }: OfTable): string =>
    optional === true || hiddenWhenEmpty === true ? '?' : '';
  return all
    .filter(isShown)
    .flatMap((field) => namesIn(field.name, field.shownAs ?? field.open ?? field.shape, whenOf(field)));
}

/** The entries of each kind in a document; a command is in no document. */
const entries: Readonly<Record<string, (document: GatewayDocument) => readonly object[]>> = {
  service: ({ services = [] }) => services,
  listener: ({ services = [] }) => services.flatMap(({ listeners = [] }) => listeners),
  server: ({ servers = [] }) => servers,
  connection: ({ sessions = [] }) => sessions.flatMap(({ connections = [] }) => connections),
  monitor: ({ monitors = [] }) => monitors,
  instance: ({ gateway = {} }) => [gateway],
  'thread information': ({ threads = {} }) => [threads],
  logging: ({ logs = {} }) => [logs],
  task: ({ tasks = [] }) => tasks,
  module: ({ modules = [] }) => modules,
  session: ({ sessions = [] }) => sessions,
  filter: ({ filters = [] }) => filters,
  user: ({ users = [] }) => users,
};

/** The names of what a document can say of a kind: what is derived is accepted there and says nothing. */
function saidBy({ all }: Fields): readonly string[] {
  return all
    .filter(({ derived, accepts }) => derived !== true || accepts !== undefined)
    .map(({ name }) => name);
}

/** What becomes of a field that is removed. */
function removedAs(
  optional: OfTable['optional'],
  required: OfTable['required'],
  hiddenWhenEmpty: OfTable['hiddenWhenEmpty'],
): string {
  if (required !== undefined) return 'port';
  return optional === true ? 'absent' : hiddenWhenEmpty === true ? 'empty' : 'needed';
}

describe('the contract', () => {
  it.each(tables)('has a row for each field of a %s that is shown, in order', (kind, table) => {
    const rows = fields.filter(({ of }) => of === kind);
    expect(rows.map(({ name, presence }) => (presence === 'always' ? name : `${name}?`))).toEqual(
      shownBy(table),
    );
  });

  it.each(tables)('has a row for each field of a %s that can be modified, in order', (kind, table) => {
    const settings = table.all.filter(({ setting, patched }) => setting !== undefined && patched !== false);
    expect(
      modifiableFields
        .filter((row) => row.kind === kind)
        .map(({ field, shownAs, secret, secretEntries, removed }) => {
          return { field, shownAs, secret, secretEntries, removed };
        }),
    ).toEqual(
      settings.map(({ name, patchName, secret, secretEntries, optional, required, hiddenWhenEmpty }) => ({
        field: patchName,
        shownAs: secret === undefined ? name : undefined,
        secret,
        secretEntries,
        removed: removedAs(optional, required, hiddenWhenEmpty),
      })),
    );
  });

  it('has rows only for existing kinds', () => {
    const kinds = new Set([...fields.map(({ of }) => of), ...modifiableFields.map(({ kind }) => kind)]);
    expect([...kinds].toSorted()).toEqual(Object.keys(fieldTables).toSorted());
  });
});

describe('the sample document', () => {
  it.each(tables.filter(([kind]) => kind in entries))(
    'has every field that a document can contain for a %s',
    (kind, table) => {
      const there = new Set(entries[kind]?.(sampleDocument).flatMap((entry) => Object.keys(entry)));
      expect(saidBy(table).filter((name) => !there.has(name))).toEqual([]);
    },
  );
});
