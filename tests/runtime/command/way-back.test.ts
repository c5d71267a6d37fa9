import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  closeServiceSessions,
  createListener,
  createMemoryStore,
  createResource,
  createRoles,
  createSnapshot,
  createUser,
  deleteListener,
  deleteResource,
  drain,
  EffectRefusedError,
  flushLogs,
  openAdmin,
  patchServer,
  patchService,
  resume,
  sequence,
  startService,
  stopMonitor,
  stopService,
  toDocument,
  type Admin,
  type ConfigurationStore,
  type Execution,
  type Problem,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { createScriptedGateway } from 'gateway-admin-core/testing';

import { configuration, textInAnyOrder } from '../../support/configuration.ts';
import { sampleDocument, sampleSnapshot } from '../../support/document.ts';
import { jsonOf } from '../../support/json-body.ts';
import { openedSession, openedSessions } from '../../support/opened-session.ts';
import { openRunning, runAdmin, sampleGateway, type Running } from '../../support/running-admin.ts';

interface Shown {
  readonly id: string;
  readonly at: string;
  readonly undo: string;
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function send(admin: Admin, line: string, actor?: string, given?: unknown): Promise<Answer> {
  const [method = '', target = ''] = line.split(' ');
  const principal = actor === undefined ? {} : { principal: { name: actor } };
  const sent = {
    headers: { 'content-type': 'application/json' },
    ...(given === undefined ? {} : { body: JSON.stringify(given) }),
  };
  const handled = await admin.handle({ method, target, ...sent, ...principal });
  if (!handled.matched) throw new Error(`There is nothing at ${target}`);
  const { status, body } = handled.response;
  return { status, body: body && (await jsonOf(handled.response)) };
}

const list = async (admin: Admin, query = '', actor?: string): Promise<readonly Shown[]> =>
  (await send(admin, `GET /history${query}`, actor)).body as readonly Shown[];

async function settle(admin: Admin, transition: Transition, actor = 'ada'): Promise<string> {
  const execution = await admin.execute(transition, { actor });
  if (execution.outcome !== 'accepted') throw new Error(`The command is ${execution.outcome}`);
  return execution.events[0]?.command ?? '';
}

const limit =
  (value: number): Transition =>
  (snapshot, context) =>
    patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value }], context);
const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
const maintenance: Transition = (snapshot, context) =>
  patchServer(snapshot, 'db-serv-1', [{ op: 'add', path: '/state/-', value: 'maintenance' }], context);

const present = ({ snapshot }: Admin): readonly unknown[] => {
  const { state, settings } = snapshot.services.find('my-service') ?? {};
  return [state, settings?.max_connection];
};

describe('GET /history', () => {
  it('finds entries by resource, field, actor, type and time', async () => {
    const { admin, clock } = runAdmin();
    const first = await settle(admin, limit(7));
    await clock.advance(60_000);
    const second = await settle(admin, sequence(stop, maintenance), 'grace');
    const found = async (query: string): Promise<readonly string[]> =>
      (await list(admin, query)).map(({ id }) => id);
    const [, at = ''] = (await list(admin)).map((entry) => encodeURIComponent(entry.at));
    const rows: Readonly<Record<string, readonly string[]>> = {
      '': [second, first],
      '?resource=/services/MY-SERVICE': [second, first],
      '?resource=/services': [second, first],
      '?resource=/servers/db-serv-1': [second],
      '?resource=/services/My-Serv': [],
      '?field=max_connection': [first],
      '?resource=/servers/db-serv-1&field=status': [second],
      '?resource=/servers/db-serv-1&field=state': [second],
      '?resource=/services/My-Service&field=state': [second],
      '?resource=/servers/db-serv-1&field=max_connection': [],
      '?actor=grace': [second],
      '?type=service': [second, first],
      '?type=service.stopped': [second],
      '?type=service.stop': [],
      [`?since=${at}`]: [second, first],
      [`?before=${at}`]: [],
      '?since=2016-09-10T00:00:01Z': [second],
      '?before=2016-09-10T00:00:01Z': [first],
      '?range=1-1': [first],
    };
    for (const [query, ids] of Object.entries(rows))
      expect([query, await found(query)]).toEqual([query, ids]);
  });

  it('takes a listener for one of the listeners of its service', async () => {
    const { admin } = runAdmin();
    const listener = { name: 'Third', protocol: 'pg', address: '::', port: 4000 };
    const id = await settle(admin, (from, context) => createListener(from, 'My Service', listener, context));
    const found = async (query: string): Promise<readonly string[]> =>
      (await list(admin, query)).map((entry) => entry.id);
    expect(await found('?resource=/services/My-Service&field=listeners')).toEqual([id]);
    expect(await found('?resource=/services/My-Service/listeners/Third&field=port')).toEqual([id]);
    for (const field of ['name', 'protocol'])
      expect(await found(`?resource=/services/My-Service&field=${field}`)).toEqual([]);
  });

  it.each(['since=yesterday', 'before=', 'since=2016-09-10', 'actor=a&actor=b', 'user=ada'])(
    'refuses ?%s',
    async (query) => {
      const { status, body } = await send(runAdmin().admin, `GET /history?${query}`);
      expect([status, body]).toEqual([400, expect.objectContaining({ code: 'query-invalid' })]);
    },
  );

  it.each(['resource=', 'field=', 'actor=', 'type='])('finds nothing by an empty text: %s', async (query) => {
    const { admin } = runAdmin();
    await settle(admin, limit(7));
    expect(await list(admin, `?${query}`)).toEqual([]);
  });

  it('lets other work be done in between, also in a restore', async () => {
    const { admin } = runAdmin();
    const option =
      (name: string): Transition =>
      (snapshot, context) =>
        patchService(
          snapshot,
          'My Service',
          [{ op: 'add', path: `/router_options/${name}`, value: 'x' }],
          context,
        );
    const ids: string[] = [];
    for (let at = 0; at < 8; at += 1) {
      const options = Array.from({ length: 100 }, (_none, each) => option(`o${String(100 * at + each)}`));
      ids.push(await settle(admin, sequence(...options)));
    }
    const turnsDuring = async (line: string): Promise<number> => {
      let turns = 0;
      const timer = setInterval(() => (turns += 1), 0);
      expect((await send(admin, line)).status).toBe(200);
      clearInterval(timer);
      return turns;
    };
    // Each entry takes some ten milliseconds.
    expect(await turnsDuring('GET /history')).toBeGreaterThan(2);
    expect(await turnsDuring(`PUT /history/${ids[0] ?? ''}/restore?dry_run=true`)).toBeGreaterThan(2);
  });

  it('says which entries can be undone now', async () => {
    const { admin } = runAdmin();
    await settle(admin, limit(7));
    await settle(admin, flushLogs);
    await settle(admin, stop);
    const standing = async (): Promise<readonly string[]> => (await list(admin)).map(({ undo }) => undo);
    expect(await standing()).toEqual(['possible', 'irreversible', 'possible']);
    await settle(admin, sequence(start, limit(8)));
    expect(await standing()).toEqual(['possible', 'refused', 'irreversible', 'refused']);
  });

  // Promise: history-traffic
  it('forgets nothing for sessions and reports, and nothing in a restart', async () => {
    const store = createMemoryStore();
    const open = (): Promise<Admin> =>
      openAdmin({ ...quiet, snapshot: sampleSnapshot(), gateway: sampleGateway(), store: kept(store) });
    const before = await open();
    const id = await settle(before, limit(7));
    const limits = before.limits.maxEventsKept;
    before.report(openedSessions(limits + 1));
    before.report({ type: 'service.reported', service: 'My Service', state: 'failed' });
    const shown = await list(before);
    expect(shown.map((entry) => entry.id)).toEqual([id]);
    await before.close();
    const after = await open();
    expect(await list(after)).toEqual(shown);
    expect(await send(after, `PUT /history/${id}/undo`)).toEqual({ status: 204 });
    expect(present(after)).toEqual(['started', 100]);
    await after.close();
  });

  // Promise: history-secret
  it('shows no parameter that was declared secret later', async () => {
    const store = createMemoryStore();
    const document = { services: [{ name: 'Sales', router: 'readconnroute' }] };
    const open = (secretParameters: readonly string[]): Promise<Admin> =>
      openAdmin({
        snapshot: createSnapshot(document),
        gateway: { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') },
        store: kept(store),
        secretParameters,
      });
    const set =
      (value: string | undefined): Transition =>
      (snapshot, context) =>
        patchService(
          snapshot,
          'Sales',
          [
            value === undefined
              ? { op: 'remove', path: '/router_options/token' }
              : { op: 'add', path: '/router_options/token', value },
          ],
          context,
        );
    const before = await open([]);
    await settle(before, set('planted'));
    await settle(before, set(undefined));
    expect(JSON.stringify(await list(before))).toContain('planted');
    await before.close();
    const after = await open(['Token']);
    const shown = JSON.stringify(await list(after));
    expect([shown.includes('planted'), shown.includes('/router_options/token')]).toEqual([false, true]);
    const [removed] = await list(after);
    expect(await send(after, `PUT /history/${removed?.id ?? ''}/undo`)).toMatchObject({
      status: 409,
      body: {
        detail: expect.stringContaining('A value of /services/Sales was declared secret since.') as unknown,
      },
    });
    await after.close();
  });
});

/** The document differs from the store. */
const quiet = { observe: { onError: () => undefined } };

/** The store outlives the interface. */
function kept(store: ConfigurationStore): ConfigurationStore {
  return { ...store, [Symbol.asyncDispose]: () => Promise.resolve() };
}

describe('PUT /history/:id/undo', () => {
  it('takes back all events of an entry in one command, or none', async () => {
    const { admin } = runAdmin();
    const id = await settle(admin, sequence(limit(7), stop, maintenance));
    await settle(admin, limit(8));
    const refused = await send(admin, `PUT /history/${id}/undo`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'undo-refused' } });
    expect(present(admin)).toEqual(['stopped', 8]);
    await settle(admin, limit(7));
    expect(await send(admin, `PUT /history/${id}/undo`, 'grace')).toEqual({ status: 204 });
    expect(present(admin)).toEqual(['started', 100]);
    const [undo] = await list(admin);
    expect(undo).toMatchObject({ actor: 'grace' });
    // An undo is a command like others.
    expect((await send(admin, `PUT /history/${undo?.id ?? ''}/undo`)).status).toBe(204);
    expect(present(admin)).toEqual(['stopped', 7]);
  });

  it('names the later entry that stands in the way', async () => {
    const { admin } = runAdmin();
    const [limited, stopped] = [await settle(admin, limit(7)), await settle(admin, stop)];
    const [limitedAgain] = [await settle(admin, limit(8)), await settle(admin, start)];
    const again = await settle(admin, stop, 'grace');
    for (const [id, later] of [
      [limited, limitedAgain],
      [stopped, again],
    ] as const) {
      const { body } = await send(admin, `PUT /history/${id}/undo`);
      const reason =
        id === stopped
          ? '/services/My-Service was stopped since by grace.'
          : '/services/My-Service has changed since at /max_connection.';
      expect(body).toMatchObject({
        command: later,
        detail:
          `The entry ${id} was not undone. ${reason} Nothing was changed. Undo the later entry ${later} first, if it ` +
          'must go too.',
      });
    }
  });

  it('does not advise to undo what cannot be undone', async () => {
    const { admin } = runAdmin();
    const limited = await settle(admin, limit(7));
    const later = await settle(admin, sequence(limit(8), flushLogs));
    const { body } = await send(admin, `PUT /history/${limited}/undo`);
    const advice = `The later entry ${later} cannot be undone: set the value that you want, or restore an earlier entry.`;
    expect(body).toMatchObject({ command: later, detail: expect.stringMatching(`${advice}$`) as unknown });
  });

  it('leaves an entry that names what was undone, until that undo is undone', async () => {
    const store = createMemoryStore();
    const open = (): Promise<Admin> =>
      openAdmin({ snapshot: sampleSnapshot(), store, gateway: sampleGateway() });
    const admin = await open();
    const id = await settle(admin, limit(7));
    await send(admin, `PUT /history/${id}/undo`, 'grace');
    const [undo = { id: '' }] = await list(admin);
    expect(await list(admin)).toMatchObject([
      { id: undo.id, undoes: id, actor: 'grace' },
      { id, undone_by: undo.id, undo: 'refused' },
    ]);
    await admin.close();
    const later = await open();
    expect(await list(later)).toMatchObject([{ undoes: id }, { undone_by: undo.id }]);
    await send(later, `PUT /history/${undo.id}/undo`);
    const [redo, ...earlier] = await list(later);
    expect(redo).toMatchObject({ undoes: undo.id });
    expect(earlier).toMatchObject([{ undone_by: redo?.id }, { id }]);
    expect(earlier[1]).not.toHaveProperty('undone_by');
    await later.close();
  });

  it('starts nothing that was stopped on purpose since, and stops nothing that runs by another wish', async () => {
    const { admin } = runAdmin();
    const first = await settle(admin, stop);
    await settle(admin, start);
    await settle(admin, stop);
    expect((await send(admin, `PUT /history/${first}/undo`)).status).toBe(409);
    expect(present(admin)[0]).toBe('stopped');
  });

  it('brings no drain back for a service that was started since', async () => {
    const gateway = sampleGateway();
    const { admin } = runAdmin({ gateway });
    const drainIt: Transition = (now, context) => drain(now, 'services', 'My Service', {}, context);
    const resumeIt: Transition = (now, context) => resume(now, 'services', 'My Service', context);
    await settle(admin, stop);
    await settle(admin, drainIt);
    const ended = await settle(admin, resumeIt);
    const started = await settle(admin, start, 'grace');
    const refused = {
      status: 409,
      body: {
        command: started,
        detail:
          `The entry ${ended} was not undone. /services/My-Service: /state: must be stopped while the service drains. ` +
          `Nothing was changed. Undo the later entry ${started} first, if it must go too.`,
      },
    };
    expect(await send(admin, `PUT /history/${ended}/undo`)).toMatchObject(refused);
    expect((await list(admin)).map(({ undo }) => undo)).toEqual([
      'possible',
      'refused',
      'refused',
      'refused',
    ]);
    // The gateway refuses the start of a resume, and to take the end of the drain back.
    await settle(admin, drainIt);
    const no = new EffectRefusedError('No.');
    gateway.will('done', no, no);
    const { problem, events } = (await admin.execute(resumeIt)) as Extract<
      Execution,
      { readonly events: unknown; readonly problem: unknown }
    >;
    expect([problem.code, events.map(({ type }) => type)]).toEqual(['partly-done', ['service.updated']]);
    const later = await settle(admin, start);
    const half = events[0]?.command ?? '';
    expect(await send(admin, `PUT /history/${half}/undo`)).toMatchObject({
      status: 409,
      body: { command: later },
    });
    expect((await send(admin, `PUT /history/${later}/undo`)).status).toBe(204);
    expect((await send(admin, `PUT /history/${half}/undo`)).status).toBe(204);
    expect(admin.snapshot.services.find('my-service')).toMatchObject({
      state: 'stopped',
      settings: { drain: { from: 'started' } },
    });
  });

  it('has nothing to undo of a start of what had failed, because it was wanted before', async () => {
    const { admin } = runAdmin();
    admin.report({ type: 'service.reported', service: 'My Service', state: 'failed' });
    const id = await settle(admin, start);
    expect((await list(admin))[0]?.events).toMatchObject([{ type: 'service.started', already: true }]);
    expect(await send(admin, `PUT /history/${id}/undo`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('has left everything as it was before.') },
    });
    expect((await list(admin))[0]?.undo).toBe('refused');
    expect(present(admin)[0]).toBe('started');
  });

  it('of a start or stop goes as if nobody had started what had failed since', async () => {
    const { admin } = runAdmin();
    await settle(admin, stop);
    const started = await settle(admin, start);
    admin.report({ type: 'service.reported', service: 'My Service', state: 'failed' });
    await settle(admin, start, 'grace');
    expect((await send(admin, `PUT /history/${started}/undo`)).status).toBe(204);
    expect(present(admin)[0]).toBe('stopped');
  });

  it('names the undo of what was undone already', async () => {
    const { admin } = runAdmin();
    const id = await settle(admin, limit(7));
    await send(admin, `PUT /history/${id}/undo`, 'grace');
    const [undo] = await list(admin);
    expect(await send(admin, `PUT /history/${id}/undo`)).toMatchObject({
      status: 409,
      body: {
        command: undo?.id,
        detail: expect.stringContaining(
          `It was undone already by ${String(undo?.id)} of grace. Nothing was changed. To make the change again, undo the entry`,
        ),
      },
    });
  });

  it('does not count a later entry for an earlier one, if the later one and its undo stand between others', async () => {
    const { admin } = runAdmin();
    const first = await settle(admin, stop);
    const second = await settle(admin, start);
    const undo = async (id: string): Promise<number> => (await send(admin, `PUT /history/${id}/undo`)).status;
    expect(await undo(second)).toBe(204);
    const [undone = { id: '' }] = await list(admin);
    expect(await undo(first)).toBe(204);
    const [last = { id: '' }] = await list(admin);
    // The start by this undo came after the stop, and what it takes back came before.
    expect(await send(admin, `PUT /history/${undone.id}/undo`)).toMatchObject({
      status: 409,
      body: { command: last.id },
    });
    expect([await undo(last.id), await undo(undone.id)]).toEqual([204, 204]);
    expect(present(admin)[0]).toBe('started');
  });

  it('is shown as refused if the gateway cannot create or delete', async () => {
    const store = createMemoryStore();
    const { admin } = await openRunning(store, { snapshot: withKeep });
    await settle(admin, deleteKeep);
    await settle(admin, creating('New'));
    await admin.close();
    const gateway = Object.assign(createScriptedGateway({ snapshot: withKeep }), {
      supports: ['drain'] as const,
    });
    const { admin: other } = await openRunning(store, { snapshot: withKeep, gateway });
    const shown = await list(other);
    expect(shown.map(({ undo }) => undo)).toEqual(['refused', 'refused']);
    for (const { id } of shown)
      expect(await send(other, `PUT /history/${id}/undo`)).toMatchObject({ body: { code: 'not-supported' } });
    await other.close();
  });

  it('refuses what closes or flushes, and an unknown entry', async () => {
    const { admin } = runAdmin();
    const id = await settle(admin, flushLogs);
    expect(await send(admin, `PUT /history/${id}/undo`)).toMatchObject({
      status: 409,
      body: { code: 'undo-refused' },
    });
    expect(await send(admin, 'PUT /history/nothing/undo')).toMatchObject({
      status: 404,
      body: { code: 'entry-not-found' },
    });
  });

  it('does what its plan showed, or is refused', async () => {
    const { admin } = runAdmin();
    const id = await settle(admin, limit(7));
    const plan = (await send(admin, `PUT /history/${id}/undo?dry_run=true`)).body as {
      readonly mark: string;
    };
    expect(plan).toMatchObject({ outcome: 'accepted', patch: [{ path: '/max_connection', value: 100 }] });
    const other = await settle(admin, stop);
    const target = (of: string): string => `PUT /history/${of}/undo?mark=${plan.mark}`;
    expect((await send(admin, target(other))).status).toBe(412);
    expect((await send(admin, target(id))).status).toBe(204);
  });

  // Promise: history-role
  it.each<readonly [line: string, status: number, before?: string | undefined, body?: readonly unknown[]]>([
    ['PUT /service/My-Service/drain', 204],
    ['PUT /service/My-Service/resume', 204, 'PUT /service/My-Service/drain'],
    ['PUT /service/My-Service/start', 204, 'PUT /service/My-Service/drain'],
    ['PUT /service/My-Service/stop', 204, 'PUT /service/My-Service/drain'],
    ['PUT /server/db-serv-1/drain', 204],
    ['PUT /server/Spare-DB/resume', 204],
    ['PUT /servers/db-serv-1/maintenance', 204],
    ['DELETE /servers/db-server-2/maintenance', 204],
    ['PUT /monitor/Main-Monitor/stop', 204],
    [
      'POST /sequence',
      204,
      undefined,
      ['PUT /services/My-Service/drain', 'PUT /servers/db-serv-1/maintenance'],
    ],
    ['PATCH /servers/db-serv-1', 403, undefined, [{ op: 'add', path: '/state', value: ['slave'] }]],
    ['PATCH /servers/db-serv-1', 403, undefined, [{ op: 'remove', path: '/state/0' }]],
    ['PATCH /servers/db-server-2', 403, undefined, [{ op: 'add', path: '/state', value: [] }]],
    ['PATCH /services/My-Service', 403, undefined, [{ op: 'replace', path: '/max_connection', value: 7 }]],
    ['POST /sequence', 403, undefined, ['PUT /services/My-Service/drain', 'DELETE /filters/Spare']],
  ])('lets an operator undo what an operator may do: %s', async (...[line, status, before, body]) => {
    const authorize = createRoles({ administrators: ['ada'], operators: ['bob'] });
    const { admin } = runAdmin({ access: { authorize } });
    if (before !== undefined) await send(admin, before, 'ada');
    const commandOf = (text: unknown): object => {
      const [method, path] = String(text).split(' ');
      return { method, path };
    };
    const given = line.startsWith('POST') ? { commands: body?.map(commandOf) } : body;
    expect([200, 204]).toContain((await send(admin, line, 'ada', given)).status);
    const [entry] = await list(admin, '', 'ada');
    expect(entry).toMatchObject({ undo: 'possible' });
    expect((await send(admin, `PUT /history/${String(entry?.id)}/undo`, 'bob')).status).toBe(status);
  });

  // Promise: history-role
  it('needs the right to each command that it stands for', async () => {
    const roles = createRoles({ administrators: ['ada'], operators: ['bob'], readers: ['eve'] });
    const authorize: typeof roles = (principal, route, parameters, how) =>
      roles(principal, route, parameters, how) &&
      !(principal?.name === 'bob' && parameters['name'] === 'bare-service');
    const { admin } = runAdmin({ access: { authorize } });
    const limited = await settle(admin, limit(7));
    const bare: Transition = (snapshot, context) => startService(snapshot, 'Bare Service', context);
    const started = await settle(admin, bare);
    const stopped = await settle(admin, stop);
    const status = async (line: string, who: string): Promise<number> =>
      (await send(admin, line, who)).status;
    const undo = (id: string): string => `PUT /history/${id}/undo`;
    expect(await status(undo(limited), 'bob')).toBe(403);
    expect(await status(undo(started), 'bob')).toBe(403);
    expect(await status(undo(stopped), 'eve')).toBe(403);
    expect(await status(`PUT /history/${stopped}/restore`, 'bob')).toBe(403);
    for (const way of ['undo', 'restore'])
      expect(await status(`PUT /history/${limited}/${way}?dry_run=true`, 'eve')).toBe(200);
    expect(await status(undo(stopped), 'bob')).toBe(204);
    expect(await status(undo(limited), 'ada')).toBe(204);
    expect(await status('GET /history', 'eve')).toBe(200);
  });

  it('has nothing to undo of a creation that was taken back', async () => {
    const refusal = new EffectRefusedError('The port is taken.');
    const { admin, gateway } = runAdmin({ gateway: sampleGateway().will('done', 'done', refusal) });
    const real = await settle(admin, limit(7));
    const creating: Transition = (snapshot, context) =>
      createResource(snapshot, 'services', { name: 'New', router: 'cli' }, context);
    expect(await admin.execute(creating)).toMatchObject({ outcome: 'refused' });
    expect((await list(admin, '?fields=undo')).map(({ undo }) => undo)).toEqual([...['refused', 'possible']]);
    const { length } = gateway.calls;
    for (const { id } of (await list(admin)).filter((entry) => entry.id !== real))
      expect(await send(admin, `PUT /history/${id}/undo`)).toMatchObject({
        status: 409,
        body: {
          code: 'undo-refused',
          detail: expect.stringContaining('has left everything as it was before.'),
        },
      });
    expect(gateway.calls).toHaveLength(length);
  });

  const withKeep = createSnapshot({
    servers: [{ name: 'spare', address: '10.0.0.1', port: 5432, protocol: 'pg' }],
    services: [
      { name: 'Sales', router: 'cli' },
      { name: 'Keep', router: 'cli', state: 'stopped' },
    ],
  });
  const creating =
    (name: string): Transition =>
    (snapshot, context) =>
      createResource(snapshot, 'services', { name, router: 'cli' }, context);
  const deleteKeep: Transition = (snapshot, context) => deleteResource(snapshot, 'services', 'keep', context);
  const deleteSpare: Transition = (snapshot, context) =>
    deleteResource(snapshot, 'servers', 'spare', context);
  const stopSales: Transition = (snapshot, context) => stopService(snapshot, 'Sales', context);
  const startSales: Transition = (snapshot, context) => startService(snapshot, 'Sales', context);
  const port =
    (value: number): Transition =>
    (snapshot, context) =>
      patchServer(snapshot, 'spare', [{ op: 'replace', path: '/port', value }], context);

  it.each<[string, Transition, Transition, number]>([
    ['a deletion', deleteKeep, creating('Keep'), 1],
    ['a change of what was deleted', port(1), sequence(deleteSpare, creating('New')), 2],
    ['a change of what has changed', port(1), sequence(port(2), creating('New')), 2],
    ['a start or stop', stopSales, sequence(startSales, creating('New')), 2],
  ])('of %s goes as if a command that was taken back since had not been asked', async (...row) => {
    const [, done, asked, before] = row;
    const store = createMemoryStore();
    const running = await openRunning(store, { snapshot: withKeep });
    const id = await settle(running.admin, done);
    const shown = await list(running.admin);
    const { gateway } = running;
    gateway.will(...Array.from({ length: before }, () => 'done' as const), new EffectRefusedError('No.'));
    expect(await running.admin.execute(asked)).toMatchObject({ problem: { code: 'effect-refused' } });
    expect((await list(running.admin)).slice(1)).toEqual(shown);
    await running.admin.close();
    const { admin } = await openRunning(store, { snapshot: withKeep, gateway });
    expect((await list(admin)).slice(1)).toEqual(shown);
    expect(await send(admin, `PUT /history/${id}/undo`)).toMatchObject({ status: 204 });
    expect(configuration(admin.snapshot)).toEqual(configuration(withKeep));
    await admin.close();
  });

  it('does not delete what has changed since its creation', async () => {
    const { admin } = runAdmin();
    const created = await settle(admin, (snapshot, context) =>
      createResource(snapshot, 'services', { name: 'New', router: 'cli' }, context),
    );
    await settle(admin, (snapshot, context) =>
      patchService(snapshot, 'New', [{ op: 'add', path: '/user', value: 'u' }], context),
    );
    expect(await send(admin, `PUT /history/${created}/undo`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('/services/New has changed since. Nothing was changed.') },
    });
  });

  it('says once that nothing was changed', async () => {
    const { admin } = runAdmin();
    const created = await settle(admin, (snapshot, context) =>
      createResource(snapshot, 'servers', { name: 'db-9', address: '::', port: 1, protocol: 'pg' }, context),
    );
    const list = [{ op: 'add', path: '/servers/-', value: '/servers/db-9' }] as const;
    await settle(admin, (snapshot, context) => patchService(snapshot, 'My Service', list, context));
    const { body } = await send(admin, `PUT /history/${created}/undo`);
    expect((body as { readonly detail: string }).detail.match(/Nothing was changed\./g)).toHaveLength(1);
  });

  it('does not touch a listener of a later service of the same name', async () => {
    const { admin } = runAdmin();
    const listener = { name: 'Second', protocol: 'pg', address: '::', port: 4010 };
    const service = { name: 'New', router: 'cli', state: 'stopped' as const };
    const creating =
      (listeners: readonly (typeof listener)[]): Transition =>
      (snapshot, context) =>
        createResource(snapshot, 'services', { ...service, listeners }, context);
    const deleting: Transition = (snapshot, context) => deleteResource(snapshot, 'services', 'new', context);
    await settle(admin, creating([]));
    const created = await settle(admin, (snapshot, context) =>
      createListener(snapshot, 'new', listener, context),
    );
    const deleted = await settle(admin, (snapshot, context) =>
      deleteListener(snapshot, 'new', 'second', context),
    );
    const gone = await settle(admin, deleting);
    await settle(admin, creating([listener]));
    for (const id of [created, deleted])
      expect(await send(admin, `PUT /history/${id}/undo`)).toMatchObject({
        status: 409,
        body: { code: 'undo-refused', command: gone, detail: expect.stringContaining('was deleted since') },
      });
    expect(admin.snapshot.services.find('new')?.listeners).toHaveLength(1);
  });

  it('does not touch a later resource of the same name', async () => {
    const { admin } = runAdmin({ snapshot: withKeep });
    const stopped = await settle(admin, stopSales);
    const gone = await settle(admin, (now, context) => deleteResource(now, 'services', 'sales', context));
    await settle(admin, creating('Sales'));
    expect(await send(admin, `PUT /history/${stopped}/undo`)).toMatchObject({
      status: 409,
      body: { code: 'undo-refused', command: gone },
    });
  });
});

describe('a deadline that has passed', () => {
  const clients = openedSessions(9);
  const note = { code: 'deadline-passed', resource: '/services/My-Service' };
  const draining: Transition = (now, context) =>
    drain(now, 'services', 'My Service', { timeout: 300, then: 'close' }, context);
  const resuming: Transition = (now, context) => resume(now, 'services', 'My Service', context);

  /** A service whose drain of five minutes was ended after four, eight minutes after the drain has begun. */
  async function afterResume(): Promise<Running & { readonly drained: string; readonly resumed: string }> {
    const running = runAdmin();
    const { admin, clock } = running;
    admin.report(clients);
    const drained = await settle(admin, draining);
    await clock.advance(240_000);
    const resumed = await settle(admin, resuming);
    await clock.advance(240_000);
    return { ...running, drained, resumed };
  }

  // Promise: deadline-passed
  it.each(['undo', 'restore'])('does not come back by an %s', async (way) => {
    const { admin, clock, drained, resumed } = await afterResume();
    const open = admin.snapshot.sessions.size;
    const target = `PUT /history/${way === 'undo' ? resumed : drained}/${way}`;
    expect(await send(admin, `${target}?dry_run=true`)).toMatchObject({ body: { notes: [note] } });
    expect((await send(admin, target)).status).toBe(204);
    const { settings } = admin.snapshot.services.find('my-service') ?? {};
    expect(settings?.drain).toEqual({ since: expect.any(String) as unknown, from: 'started', by: 'ada' });
    await clock.advance(600_000);
    expect([admin.snapshot.sessions.size, clients.length <= open]).toEqual([open, true]);
  });

  it('does not come back with a document, or with a server that was deleted', async () => {
    const { admin, clock } = runAdmin();
    const spare: Transition = (now, context) =>
      drain(now, 'servers', 'Spare DB', { timeout: 300, then: 'resume' }, context);
    await settle(admin, spare);
    const document = toDocument(admin.snapshot);
    const deletion = await settle(admin, (now, context) =>
      deleteResource(now, 'servers', 'spare db', { ...context }, { detach: true }),
    );
    await clock.advance(600_000);
    expect(await send(admin, `PUT /history/${deletion}/undo?dry_run=true`)).toMatchObject({
      body: { notes: [{ code: 'deadline-passed' }] },
    });
    const decision = adoptDocument(admin.snapshot, createSnapshot(document), { now: clock.now() }, {});
    const shown = {
      outcome: 'accepted',
      notes: [{ code: 'deadline-passed', resource: '/servers/Spare-DB' }],
    };
    expect(decision).toMatchObject(shown);
    expect((await send(admin, `PUT /history/${deletion}/undo`)).status).toBe(204);
    for (const { servers } of [admin.snapshot, decision.next])
      expect(servers.find('spare db')?.settings.drain).not.toHaveProperty('until');
  });

  /** Drains twice, undoes the end of both after a time, and gives the ids of the two. */
  async function drainedTwice(
    first: Parameters<typeof drain>[3],
    second: Parameters<typeof drain>[3],
  ): Promise<Running & { readonly ids: readonly string[] }> {
    const running = runAdmin();
    const { admin, clock } = running;
    const ids: string[] = [];
    for (const options of [first, second])
      ids.push(await settle(admin, (now, context) => drain(now, 'services', 'My Service', options, context)));
    const resumed = await settle(admin, resuming);
    await clock.advance(400_000);
    expect((await send(admin, `PUT /history/${resumed}/undo`)).status).toBe(204);
    return { ...running, ids };
  }

  it.each(['resume', 'close'] as const)('gives way to an earlier one that has not (%s)', async (then) => {
    const { admin, ids } = await drainedTwice(
      { timeout: 900, then: 'close', reason: 'kernel' },
      { timeout: 300, then },
    );
    expect((await send(admin, `PUT /history/${ids[1] ?? ''}/undo`)).status).toBe(204);
    expect(admin.snapshot.services.find('my-service')?.settings.drain).toEqual({
      ...{ since: expect.any(String) as unknown, from: 'started', by: 'ada', reason: 'kernel' },
      ...{ timeout: 900, until: '2016-09-10T00:15:00+00:00', then: 'close' },
    });
  });

  it.each([
    ['stands in no way of an undo', { timeout: 300, then: 'close' }, 204],
    ['is in the way as long as none was wanted since', {}, 409],
  ] as const)('%s', async (_what, later, status) => {
    const { admin, ids } = await drainedTwice({ timeout: 360, then: 'close' }, later);
    const [first = '', second = ''] = ids;
    const shown = await list(admin);
    const undoOf = (id: string): string | undefined => shown.find((entry) => entry.id === id)?.undo;
    expect([undoOf(first), undoOf(second)]).toEqual([status === 204 ? 'possible' : 'refused', 'refused']);
    expect(await send(admin, `PUT /history/${second}/undo`)).toMatchObject({
      body: { code: 'undo-refused' },
    });
    const undone = await send(admin, `PUT /history/${first}/undo`);
    expect(undone.status).toBe(status);
    // To undo the later entry first would change nothing.
    if (status === 409)
      expect(undone.body).toMatchObject({
        command: second,
        detail: expect.stringMatching(/cannot be undone: set the value that you want/) as unknown,
      });
    expect(present(admin)[0]).toBe(status === 204 ? 'started' : 'stopped');
  });

  it('stays where it is in use', async () => {
    const { admin, clock } = runAdmin();
    await settle(admin, draining);
    const document = createSnapshot(toDocument(admin.snapshot));
    const decision = adoptDocument(admin.snapshot, document, { now: clock.now() + 600_000 });
    expect(decision).toMatchObject({ outcome: 'unchanged' });
    expect(decision).not.toHaveProperty('notes');
  });
});

/** A definition of any kind. */
type Definition = Parameters<typeof createResource>[2];

/** A snapshot without what monitors say of the servers: of a server that is there again, they have not spoken yet. */
function withoutWords(snapshot: Snapshot): Snapshot {
  const { servers = [], ...document } = toDocument(snapshot);
  const words = ({ status = [] }: { readonly status?: readonly string[] }): object => ({
    status: status.filter((word) => word === 'maintenance'),
  });
  return createSnapshot({
    ...document,
    servers: servers.map((each) => ({ ...each, ...words(each) }) as never),
  });
}

const withoutTraffic = createSnapshot({ ...sampleDocument, sessions: [] });

describe('PUT /history/:id/restore', () => {
  it('names in its plan what it does not bring back', async () => {
    const { admin } = runAdmin({ foresee: () => [] });
    const first = await settle(admin, limit(7));
    const joan: Transition = (snapshot, context) =>
      createUser(snapshot, { name: 'joan', passwordHash: 'opaque' }, context);
    const close: Transition = (snapshot, context) => closeServiceSessions(snapshot, 'My Service', context);
    const mixed = await settle(admin, sequence(limit(8), joan, close));
    await settle(admin, limit(9));
    const notesOf = async (id: string): Promise<unknown> =>
      ((await send(admin, `PUT /history/${id}/restore?dry_run=true`)).body as { readonly notes?: unknown })
        .notes;
    const note = (resource: string, type: string, id: string): object => ({
      ...{ code: 'irreversible-entry', resource },
      detail: `Cannot be taken back: ${type} of ${resource} (entry ${id}).`,
    });
    const [closed] = (await list(admin, '?type=sessions')).flatMap(({ events }) =>
      events.filter((event) => 'count' in event),
    );
    expect(await notesOf(first)).toEqual([
      note('/users/joan', 'user.created', mixed),
      { ...note('/services/My-Service', 'sessions.closed', mixed), count: closed?.['count'] },
    ]);
    expect(await notesOf(mixed)).toBeUndefined();
    const flushes: string[] = [];
    for (let at = 0; at < 12; at += 1) flushes.unshift(await settle(admin, flushLogs));
    const notes = (await notesOf(mixed)) as readonly object[];
    // Nothing else has changed since.
    const last = (await list(admin)).find(({ id }) => !flushes.includes(id));
    expect(await notesOf(last?.id ?? '')).toEqual(notes);
    expect(notes).toEqual([
      ...flushes.slice(0, 10).map((id) => note('/gateway/logs', 'logs.flushed', id)),
      { code: 'irreversible-entry', detail: 'Cannot be taken back: 2 earlier events.' },
    ]);
  });

  // Promise: history-restore
  it('brings back the configuration right after each of the last commands, and nothing else', async () => {
    const { admin } = runAdmin();
    const moments = new Map<string, string>();
    const configuration = (): string => {
      const { services, servers, monitors, filters } = toDocument(admin.snapshot);
      // A start shows when it was, which is not a part of the configuration.
      return JSON.stringify({ services, servers, monitors, filters }, (name, value: unknown) =>
        name === 'started' ? undefined : value,
      );
    };
    const note = (id: string): void => void moments.set(id, configuration());
    for (const [at, step] of [
      limit(7),
      stop,
      sequence(limit(8), start),
      maintenance,
      limit(9),
      stop,
    ].entries())
      note(await settle(admin, step, `user${String(at)}`));
    await settle(admin, flushLogs);
    for (const [id, shown] of moments) {
      expect((await send(admin, `PUT /history/${id}/restore`)).status).toBe(204);
      expect(configuration()).toBe(shown);
    }
  });

  it('ends a drain that has begun since, and brings back one that has ended', async () => {
    const { admin } = runAdmin();
    const drains = (): readonly (string | undefined)[] => {
      const [service, server] = [
        admin.snapshot.services.find('my-service'),
        admin.snapshot.servers.find('db-serv-1'),
      ];
      return [service?.state, service?.settings.drain?.reason, server?.settings.drain?.reason];
    };
    const moments = new Map<string, readonly unknown[]>();
    const reason = 'kernel';
    for (const step of [
      limit(7),
      (now, context) => drain(now, 'services', 'My Service', { reason }, context),
      (now, context) => drain(now, 'servers', 'db-serv-1', { reason }, context),
      (now, context) => resume(now, 'services', 'My Service', context),
    ] satisfies Transition[])
      moments.set(await settle(admin, step), drains());
    expect([...moments.values()]).toEqual([
      ['started', undefined, undefined],
      ['stopped', reason, undefined],
      ['stopped', reason, reason],
      ['started', undefined, reason],
    ]);
    for (const [id, shown] of moments) {
      expect((await send(admin, `PUT /history/${id}/restore`)).status).toBe(204);
      expect(drains()).toEqual(shown);
    }
  });

  it('empties an interface that has begun with a document without lists', async () => {
    const { admin } = runAdmin({ snapshot: createSnapshot({}) });
    const create: Transition = (now, context) =>
      createResource(now, 'filters', { name: 'Brief', module: 'tee' }, context);
    await settle(admin, create);
    const id = await settle(admin, (now, context) => deleteResource(now, 'filters', 'Brief', context));
    await settle(admin, create);
    expect((await send(admin, `PUT /history/${id}/restore`)).status).toBe(204);
    expect(admin.snapshot.filters.size).toBe(0);
  });

  it('is planned, bound by its mark, and does nothing if nothing has changed', async () => {
    const { admin } = runAdmin();
    const id = await settle(admin, limit(7));
    await settle(admin, sequence(stop, limit(8)));
    const { body } = await send(admin, `PUT /history/${id}/restore?dry_run=true`);
    const { mark, events } = body as { readonly mark: string; readonly events: readonly object[] };
    expect(events).toMatchObject([{ type: 'service.updated' }, { type: 'service.started' }]);
    await settle(admin, limit(9));
    expect((await send(admin, `PUT /history/${id}/restore?mark=${mark}`)).status).toBe(412);
    const entries = (await list(admin)).length;
    expect((await send(admin, `PUT /history/${(await list(admin))[0]?.id ?? ''}/restore`)).status).toBe(204);
    expect(await list(admin)).toHaveLength(entries);
  });

  it('refuses an entry after which changes are forgotten, and an unknown one', async () => {
    const { admin } = runAdmin();
    const old = await settle(admin, stop);
    for (let value = 1; value <= 1001; value += 1) await settle(admin, limit(value));
    // The entry stays for the last change of the state, and can still be undone.
    expect(await send(admin, `PUT /history/${old}/restore`)).toMatchObject({
      status: 409,
      body: { code: 'undo-refused' },
    });
    expect(await send(admin, 'PUT /history/nothing/restore')).toMatchObject({ status: 404 });
    expect((await send(admin, `PUT /history/${old}/undo`)).status).toBe(204);
    const oldest = (await list(admin)).at(-1);
    expect(oldest?.events).toMatchObject([{ operations: [{ value: 3 }] }]);
    expect((await send(admin, `PUT /history/${oldest?.id ?? ''}/restore`)).status).toBe(204);
    expect(present(admin)).toEqual(['stopped', 3]);
  });

  // Promise: history-restore
  it.each<[string, 'services' | 'servers' | 'monitors' | 'filters', string, Definition]>([
    ['filter', 'filters', 'hint', { name: 'HINT', module: 'other', parameters: {} }],
    ['monitor', 'monitors', 'main monitor', { name: 'Main-Monitor', module: 'other', servers: [] }],
    ['server', 'servers', 'db-serv-1', { name: 'DB-serv-1', address: 'b', port: 1, protocol: 'other' }],
    ['service', 'services', 'my-service', { name: 'My-Service', router: 'other', servers: [] }],
  ])('brings back a %s whose name was used again', async (_kind, collection, name, definition) => {
    const { admin } = runAdmin({ snapshot: withoutTraffic });
    const before = textInAnyOrder(toDocument(withoutWords(admin.snapshot)));
    const id = await settle(admin, flushLogs);
    const off: Transition = (now, context) =>
      collection === 'monitors' ? stopMonitor(now, name, context) : stopService(now, name, context);
    const detach: Transition = (now, context) =>
      deleteResource(now, collection, name, context, { detach: true });
    await settle(admin, /^(?:services|monitors)$/.test(collection) ? sequence(off, detach) : detach);
    await settle(admin, (now, context) => createResource(now, collection, definition, context));
    expect(await send(admin, `PUT /history/${id}/restore`)).toEqual({ status: 204 });
    expect(textInAnyOrder(toDocument(withoutWords(admin.snapshot)))).toEqual(before);
  });

  it('says that sessions of what was created since are in the way', async () => {
    const { admin } = runAdmin();
    const id = await settle(admin, limit(7));
    await settle(admin, (now, context) =>
      createResource(now, 'services', { name: 'New', router: 'cli' }, context),
    );
    admin.report({ ...openedSession(1), service: 'New' });
    const { status, body } = await send(admin, `PUT /history/${id}/restore`);
    const { code, detail } = body as Problem;
    expect([status, code]).toEqual([409, 'resource-in-use']);
    expect(detail).toContain('it has open sessions (1): close them first');
    expect(detail.match(/Nothing was changed\./g) ?? []).toHaveLength(1);
    expect(detail).not.toContain('backup');
  });
});
