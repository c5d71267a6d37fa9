/**
 * Ways back: of the history, and of a command of which a part cannot be done.
 * tests/scenarios/command/{way-back-*,several-parts,membership}.txt say what clients see, and
 * tests/properties/way-back.test.ts says that every walk leads back.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createMemoryStore,
  createResource,
  createRoles,
  createSnapshot,
  deleteResource,
  EffectRefusedError,
  patchService,
  sequence,
  stopService,
  type Admin,
  type Execution,
  type Json,
  type Transition,
} from 'gateway-admin-core';
import { createScriptedGateway, createVirtualClock, hold } from 'gateway-admin-core/testing';

import { ask } from '../../support/ask.ts';
import { configuration } from '../../support/configuration.ts';
import { FailingStore, type storeFailures } from '../../support/failing-store.ts';
import { openedSession } from '../../support/opened-session.ts';
import { openRunning, runAdmin, type Running } from '../../support/running-admin.ts';
import { limit } from '../../support/transition.ts';

async function settle(admin: Admin, transition: Transition): Promise<string> {
  const execution = await admin.execute(transition, { actor: 'ada' });
  if (execution.outcome !== 'accepted') throw new Error(`The command is ${execution.outcome}`);
  return execution.events[0]?.command ?? '';
}

async function newestOf(admin: Admin): Promise<{ readonly id: string; readonly undo: string }> {
  const { body } = await ask(admin, 'GET /history', { as: 'ada' });
  const [newest = { id: '', undo: '' }] = body as readonly { readonly id: string; readonly undo: string }[];
  return newest;
}

it('the history and a restore let other work be done in between', async () => {
  const { admin } = runAdmin();
  const option =
    (name: string): Transition =>
    (snapshot, context) => {
      const path = `/router_options/${name}`;
      return patchService(snapshot, 'My Service', [{ op: 'add', path, value: 'x' }], context);
    };
  const ids: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    const options = Array.from({ length: 80 }, (_none, each) => option(`o${String(80 * at + each)}`));
    ids.push(await settle(admin, sequence(...options)));
  }
  const turnsDuring = async (line: string): Promise<number> => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    expect((await ask(admin, line)).status).toBe(200);
    clearInterval(timer);
    return turns;
  };
  // Each entry takes some ten milliseconds.
  expect(await turnsDuring('GET /history')).toBeGreaterThan(2);
  expect(await turnsDuring(`PUT /history/${ids[0] ?? ''}/restore?dry_run=true`)).toBeGreaterThan(2);
});

it('an entry after which changes are forgotten can be undone, and not restored', async () => {
  const { admin } = runAdmin();
  const old = (await ask(admin, 'PUT /service/My-Service/stop', { as: 'ada' })) && (await newestOf(admin)).id;
  for (let value = 1; value <= 1001; value += 1) await settle(admin, limit(value));
  // The entry stays for the last change of the state.
  const refusal = { status: 409, body: { code: 'undo-refused' } };
  expect(await ask(admin, `PUT /history/${old}/restore`)).toMatchObject(refusal);
  expect((await ask(admin, `PUT /history/${old}/undo`)).status).toBe(204);
  const { body } = await ask(admin, 'GET /history?fields=id');
  const { id } = (body as readonly { readonly id: string }[]).at(-1) ?? { id: '' };
  expect((await ask(admin, `PUT /history/${id}/restore`)).status).toBe(204);
  const { state, settings } = admin.snapshot.services.find('my-service') ?? {};
  expect([state, settings?.max_connection]).toEqual(['stopped', 3]);
});

describe('a way back', () => {
  const authorize = createRoles({ administrators: ['ada'], operators: ['bob'], readers: ['eve'] });
  const drainMine = { method: 'PUT', path: '/services/My-Service/drain' };
  const maintain = { method: 'PUT', path: '/servers/db-serv-1/maintenance' };
  const dropSpare = { method: 'DELETE', path: '/filters/Spare' };

  // Promise: history-role
  it('of what an operator may do is open to an operator, and no other', async () => {
    const { admin } = runAdmin({ access: { authorize } });
    const rows: readonly (readonly [line: string, status: number, body?: Json])[] = [
      ['PUT /service/My-Service/drain', 204],
      ['PUT /server/db-serv-1/drain', 204],
      ['PUT /server/Spare-DB/resume', 204],
      ['PUT /servers/db-serv-1/maintenance', 204],
      ['DELETE /servers/db-server-2/maintenance', 204],
      ['PUT /monitor/Main-Monitor/stop', 204],
      ['POST /sequence', 204, { commands: [drainMine, maintain] }],
      ['PATCH /servers/db-serv-1', 403, [{ op: 'add', path: '/state', value: ['slave'] }]],
      ['PATCH /servers/db-serv-1', 403, [{ op: 'remove', path: '/state/0' }]],
      ['PATCH /servers/db-server-2', 403, [{ op: 'add', path: '/state', value: [] }]],
      ['PATCH /services/My-Service', 403, [{ op: 'replace', path: '/max_connection', value: 7 }]],
      ['POST /sequence', 403, { commands: [drainMine, dropSpare] }],
    ];
    // Each of these begins with a drain.
    const ends = ['resume', 'start', 'stop'].map((verb) => [`PUT /service/My-Service/${verb}`, 204] as const);
    for (const [line, status, body] of [...rows, ...ends]) {
      if (line.endsWith('resume') || line.endsWith('start') || line.endsWith('Service/stop'))
        await ask(admin, 'PUT /service/My-Service/drain', { as: 'ada' });
      expect([200, 204]).toContain((await ask(admin, line, { as: 'ada', ...(body && { body }) })).status);
      const { id, undo } = await newestOf(admin);
      expect([line, undo]).toEqual([line, 'possible']);
      const undone = await ask(admin, `PUT /history/${id}/undo`, { as: 'bob' });
      expect([line, undone.status]).toEqual([line, status]);
      if (status === 403) await ask(admin, `PUT /history/${id}/undo`, { as: 'ada' });
    }
  });

  // Promise: history-role
  it('needs the right to each command that it stands for', async () => {
    const but: typeof authorize = (principal, route, parameters, how) =>
      authorize(principal, route, parameters, how) &&
      !(principal?.name === 'bob' && parameters['name'] === 'bare-service');
    const { admin } = runAdmin({ access: { authorize: but } });
    const done = async (line: string): Promise<string> => {
      await ask(admin, line, { as: 'ada' });
      return (await newestOf(admin)).id;
    };
    const limited = await settle(admin, limit(7));
    const started = await done('PUT /service/Bare-Service/start');
    const stopped = await done('PUT /service/My-Service/stop');
    const rows: readonly (readonly [who: string, line: string, status: number])[] = [
      ['bob', `PUT /history/${limited}/undo`, 403],
      ['bob', `PUT /history/${started}/undo`, 403],
      ['eve', `PUT /history/${stopped}/undo`, 403],
      ['bob', `PUT /history/${stopped}/restore`, 403],
      ['eve', `PUT /history/${limited}/undo?dry_run=true`, 200],
      ['eve', `PUT /history/${limited}/restore?dry_run=true`, 200],
      ['bob', `PUT /history/${stopped}/undo`, 204],
      ['ada', `PUT /history/${limited}/undo`, 204],
      ['eve', 'GET /history', 200],
    ];
    for (const [who, line, status] of rows)
      expect([who, line, (await ask(admin, line, { as: who })).status]).toEqual([who, line, status]);
  });
});

const twoPartsDocument = createSnapshot({
  servers: [{ name: 'spare', address: '10.0.0.1', port: 5432, protocol: 'pg' }],
  services: [{ name: 'Sales', router: 'cli', max_connection: 1 }],
});

/** Two effects settle before the other two begin. */
const inTwoParts: Transition = sequence(
  (from, context) =>
    patchService(from, 'Sales', [{ op: 'replace', path: '/max_connection', value: 2 }], context),
  (from, context) => createResource(from, 'services', { name: 'New', router: 'cli' }, context),
  (from, context) => deleteResource(from, 'servers', 'spare', context),
);

/** Makes something fail. Gives what lets it work again. */
type Incident = (world: Running & { readonly store: FailingStore }) => () => void;

const storeFailing =
  (good: number, how: keyof typeof storeFailures): Incident =>
  ({ store }) => {
    store.failAfter(good, how);
    return () => store.work();
  };

/** The outcome of an effect is unknown for a time. Then the gateway carries the effect out, or refuses it. */
const unknownAtEffect =
  (before: number, isDone: boolean): Incident =>
  ({ gateway }) => {
    const held = hold();
    gateway.will(...Array<'done'>(before).fill('done'), held.apply).otherwise({ inspect: 'not-in-place' });
    return () => {
      gateway.otherwise({});
      if (isDone) held.done();
      else held.fail(new EffectRefusedError('No.'));
    };
  };

const incidents: readonly (readonly [what: string, incident: Incident])[] = [
  ['the store fails while the first part is stored', storeFailing(1, 'rejects, and nothing is kept')],
  ['the store fails between the parts', storeFailing(2, 'rejects, and nothing is kept')],
  ['the store fails between the parts, and has the record', storeFailing(2, 'rejects, and all is kept')],
  ['an effect of the first part was unknown, and is done', unknownAtEffect(1, true)],
  ['an effect of the second part was unknown, and is refused', unknownAtEffect(2, false)],
];

/** Runs the command through an incident of a minute. */
async function runThrough(incident: Incident): Promise<Running & { readonly execution: Execution }> {
  const clock = createVirtualClock(0);
  const gateway = createScriptedGateway({ snapshot: twoPartsDocument, clock });
  const store = new FailingStore();
  const running = await openRunning(store, { snapshot: twoPartsDocument, gateway, clock });
  const end = incident({ ...running, store });
  const executed = running.admin.execute(inTwoParts);
  await clock.advance(60_000);
  const execution = await executed;
  end();
  await clock.advance(60_000);
  return { ...running, execution };
}

describe('a command in two parts', () => {
  it.each(incidents)('is there as a whole or not at all if %s', async (_what, incident) => {
    const { admin, gateway } = await runThrough(incident);
    expect(gateway.differences(admin.snapshot)).toEqual([]);
    const all = inTwoParts(twoPartsDocument, { now: 0 }).next;
    expect([configuration(twoPartsDocument), configuration(all)]).toContainEqual(
      configuration(admin.snapshot),
    );
  });

  it('is not refused if the store fails between the parts: the outcome is unknown', async () => {
    const { execution } = await runThrough(storeFailing(2, 'rejects, and nothing is kept'));
    expect(execution.outcome).toBe('unknown');
  });

  it('agrees with the gateway all the same, and ends; without an incident, the whole of it is there', async () => {
    const { admin: whole } = await runThrough(() => () => undefined);
    expect(configuration(whole.snapshot)).toEqual(
      configuration(inTwoParts(twoPartsDocument, { now: 0 }).next),
    );
    for (const [what, incident] of incidents) {
      const { admin, gateway } = await runThrough(incident);
      expect([what, gateway.differences(admin.snapshot), admin.commands()]).toEqual([what, [], []]);
    }
  });
});

const listener = { name: 'first', protocol: 'pg', address: '::', port: 4000 };
const db = (name: string, address = '10.0.0.1') => ({ name, address, port: 5432, protocol: 'pg' });
const salesDocument = createSnapshot({
  servers: [db('db-1'), db('spare')],
  services: [{ name: 'Sales', router: 'cli', servers: ['/servers/db-1'], listeners: [listener] }],
});

it.each([
  ['back', 70_000],
  ['forward', 200_000],
])('a service whose name is used again loses no session if the clock is set %s', async (_way, time) => {
  const clock = createVirtualClock(100_000);
  const { admin } = runAdmin({ snapshot: salesDocument, clock });
  const again = sequence(
    (from, context) => stopService(from, 'Sales', context),
    (from, context) => deleteResource(from, 'services', 'Sales', context),
    (from, context) => createResource(from, 'services', { name: 'SALES', router: 'cli' }, context),
  );
  expect((await admin.execute(again)).outcome).toBe('accepted');
  await clock.advance(5000);
  const before = { ...openedSession(1), service: 'Sales', connected: clock.now() };
  clock.jumpTo(time);
  admin.report([before, { ...openedSession(2), service: 'Sales', connected: clock.now() }]);
  expect(admin.snapshot.sessions.countOfService('sales')).toBe(2);
});

const stopSales = { method: 'PUT', path: '/services/Sales/stop' };
const startSales = { method: 'PUT', path: '/services/Sales/start' };
const deleteSales = { method: 'DELETE', path: '/services/Sales' };
const deleteSpare = { method: 'DELETE', path: '/servers/spare' };
const deleteListener = { method: 'DELETE', path: '/services/Sales/listeners/first' };
const movePatch = [{ op: 'replace', path: '/port', value: 7 }];
const move = { method: 'PATCH', path: '/servers/spare', body: movePatch };
const create = (path: string, definition: object) => ({ method: 'POST', path, body: { ...definition } });
const other = create('/services', { name: 'SALES', router: 'other' });
const listen = (name: string) => create('/services/Sales/listeners', { ...listener, name, port: 4001 });

// Promise: recovery-undo
it.each<[string, readonly object[], number]>([
  ['changes a server and deletes it', [move, deleteSpare], 2],
  ['stops a service and deletes it', [stopSales, deleteSales], 2],
  ['stops, starts, stops and deletes a service', [stopSales, startSales, stopSales, deleteSales], 4],
  ['deletes a service with a new listener', [stopSales, listen('second'), deleteSales], 3],
  ['deletes before another change', [move, deleteSpare, stopSales], 3],
  ['puts a server in the place of another', [deleteSpare, create('/servers', db('SPARE', 'b'))], 2],
  ['puts a service in the place of another', [stopSales, deleteSales, other], 4],
  ['puts a listener in the place of another', [deleteListener, listen('first')], 2],
])(
  'a process that dies in a sequence that %s leaves the gateway and the snapshot equal, at whatever effect',
  async (_what, commands, effects) => {
    const deaths = Array.from({ length: 2 * effects }, (_, at) => [at >> 1, at % 2 === 1] as const);
    for (const [answered, isLastDone] of deaths) {
      const [clock, store] = [createVirtualClock(0), createMemoryStore()];
      const gateway = createScriptedGateway({ snapshot: salesDocument, clock });
      const dying = await openRunning(store, { snapshot: salesDocument, gateway, clock });
      gateway.will(...Array<'done'>(answered).fill('done'), (_effect, _context, perform) => {
        if (isLastDone) perform();
        return new Promise(() => undefined);
      });
      void ask(dying.admin, 'POST /sequence', { body: { commands } as never });
      await clock.settle();
      expect(gateway.applied).toHaveLength(answered + 1);
      gateway.dropCalls();
      const { admin } = await openRunning(store, { snapshot: salesDocument, gateway, clock });
      expect(admin.commands()).toEqual([]);
      expect(gateway.differences(admin.snapshot)).toEqual([]);
      await admin.close();
    }
  },
);
