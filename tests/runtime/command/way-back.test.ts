/**
 * tests/scenarios/command/way-back-*.txt say what clients see of the history, of an undo and of a restore.
 * tests/properties/way-back.test.ts says that every walk leads back.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createRoles,
  patchService,
  sequence,
  type Admin,
  type Json,
  type Transition,
} from 'gateway-admin-core';

import { ask } from '../../support/ask.ts';
import { runAdmin } from '../../support/running-admin.ts';
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
  expect(await ask(admin, `PUT /history/${old}/restore`)).toMatchObject({
    status: 409,
    body: { code: 'undo-refused' },
  });
  expect((await ask(admin, `PUT /history/${old}/undo`)).status).toBe(204);
  const { body } = await ask(admin, 'GET /history?fields=id');
  const { id } = (body as readonly { readonly id: string }[]).at(-1) ?? { id: '' };
  expect((await ask(admin, `PUT /history/${id}/restore`)).status).toBe(204);
  const { state, settings } = admin.snapshot.services.find('my-service') ?? {};
  expect([state, settings?.max_connection]).toEqual(['stopped', 3]);
});

describe('a way back', () => {
  const authorize = createRoles({ administrators: ['ada'], operators: ['bob'], readers: ['eve'] });
  const sequenceOf = (...lines: readonly string[]): Json => ({
    commands: lines.map((line) => {
      const [method = '', path = ''] = line.split(' ');
      return { method, path };
    }),
  });

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
      [
        'POST /sequence',
        204,
        sequenceOf('PUT /services/My-Service/drain', 'PUT /servers/db-serv-1/maintenance'),
      ],
      ['PATCH /servers/db-serv-1', 403, [{ op: 'add', path: '/state', value: ['slave'] }]],
      ['PATCH /servers/db-serv-1', 403, [{ op: 'remove', path: '/state/0' }]],
      ['PATCH /servers/db-server-2', 403, [{ op: 'add', path: '/state', value: [] }]],
      ['PATCH /services/My-Service', 403, [{ op: 'replace', path: '/max_connection', value: 7 }]],
      ['POST /sequence', 403, sequenceOf('PUT /services/My-Service/drain', 'DELETE /filters/Spare')],
    ];
    // Each of these begins with a drain.
    const ends = ['resume', 'start', 'stop'].map((verb) => [`PUT /service/My-Service/${verb}`, 204] as const);
    for (const [line, status, body] of [...rows, ...ends]) {
      if (line.endsWith('resume') || line.endsWith('start') || line.endsWith('Service/stop'))
        await ask(admin, 'PUT /service/My-Service/drain', { as: 'ada' });
      expect([200, 204]).toContain((await ask(admin, line, { as: 'ada', ...(body && { body }) })).status);
      const { id, undo } = await newestOf(admin);
      expect([line, undo]).toEqual([line, 'possible']);
      expect([line, (await ask(admin, `PUT /history/${id}/undo`, { as: 'bob' })).status]).toEqual([
        line,
        status,
      ]);
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
