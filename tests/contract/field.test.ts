import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createResource,
  createRoles,
  createSnapshot,
  startMonitor,
  stopMonitor,
  type Admin,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { sampleSnapshot } from '../support/document.ts';
import { planted } from '../support/planted.ts';
import { openRoutes } from '../support/route-call.ts';
import { openRunning, runAdmin, sampleGateway } from '../support/running-admin.ts';
import { runSampleFleet } from '../support/sample-fleet.ts';
import { surroundings } from '../support/surroundings.ts';
import { transports, type Transport } from '../support/transport.ts';
import type { Shown } from './endpoint.ts';
import { fields, isBelowSeveral, isOf, places, valuesAt, type Field } from './field.ts';

const empty = createSnapshot({}, { epoch: 'empty' });

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
  const body = JSON.stringify([{ op: 'replace', path: '/read_only', value: true }]);
  const headers = { 'content-type': 'application/json-patch+json' };
  await admin.handle({ method: 'PATCH', target: '/', headers, body });
  return admin;
}

describe.each(['routes', 'core'] as const)('through %s', (name) => {
  let full: Transport;
  let bare: Transport;
  let others: Readonly<Record<'store' | 'fleet' | 'history', Transport>>;

  beforeAll(async () => {
    full = name === 'routes' ? openRoutes(sampleSnapshot()) : await transports[name](await busyAdmin());
    bare =
      name === 'routes'
        ? openRoutes(empty, surroundings)
        : await transports[name](runAdmin({ snapshot: empty }).admin);
    others =
      name === 'routes'
        ? { store: full, fleet: full, history: full }
        : {
            store: await transports[name](await heldAdmin()),
            fleet: await transports[name]((await runSampleFleet()).admin),
            history: await transports[name](await changedAdmin()),
          };
  });

  afterAll(async () => {
    await full.close();
    await bare.close();
    for (const each of Object.values(others)) await each.close();
  });

  /** The representation at a place: the thing, or the first of the list. */
  async function shownAt({ of, at }: Field, which: 'full' | 'bare'): Promise<unknown> {
    const place = places[of];
    const withAll = place?.fullWith === undefined ? full : others[place.fullWith];
    const transport = which === 'bare' && place?.bareWhereEmpty === true ? bare : withAll;
    const { status, body } = await transport.send(
      'GET',
      (which === 'full' ? at : undefined) ?? place?.[which] ?? '',
    );
    expect(status).toBe(200);
    return Array.isArray(body) ? (body[0] as unknown) : body;
  }

  it.each(fields)('$of $name is a $kind with the value of the sample', async (field) => {
    const values = valuesAt(await shownAt(field, 'full'), field.name);
    expect(values).not.toHaveLength(0);
    expect(values.filter((value) => !isOf(field.kind, value))).toEqual([]);
    if (field.sample !== undefined) expect(isBelowSeveral(field) ? values : values[0]).toEqual(field.sample);
  });

  it.each(fields.filter((field) => !isBelowSeveral(field)))(
    '$of $name is shown: $presence',
    async (field) => {
      const there = valuesAt(await shownAt(field, 'bare'), field.name);
      expect(there).toHaveLength(field.presence === 'always' ? 1 : 0);
    },
  );

  it.each(Object.entries(places))('%s shows no other field', async (of, place) => {
    const known = new Set(
      fields.filter((field) => field.of === (of as Shown)).map((field) => field.name.split('.')[0]),
    );
    for (const target of [place.full, place.bare]) {
      const transport = place.fullWith === undefined ? full : others[place.fullWith];
      const { body, text } = await transport.send('GET', target);
      const all = Array.isArray(body) ? (body as object[]) : [body as object];
      expect(all.flatMap((each) => Object.keys(each)).filter((field) => !known.has(field))).toEqual([]);
      expect(text).not.toMatch(/password/i);
      expect(text).not.toContain(planted.hash);
      expect(text).not.toContain(planted.sealed);
    }
  });
});
