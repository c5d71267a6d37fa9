/**
 * The laws of a sequence, and what the host sees of one. tests/scenarios/handler/sequence.txt has the rest.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createSecretSealer,
  createSnapshot,
  deleteUser,
  EffectRefusedError,
  flushLogs,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  sequence,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  toDocument,
  type Admin,
  type Authorize,
  type Json,
  type Operation,
  type Plan,
  type Problem,
  type Transition,
} from 'gateway-admin-core';

import { ask } from '../../support/ask.ts';
import { sampleDocument } from '../../support/document.ts';
import { runAdmin, sampleGateway } from '../../support/running-admin.ts';
import { closeMine, startBare } from '../../support/transition.ts';

interface Command {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly if_match?: string;
}

const replace = (path: string, value: Json): readonly Operation[] => [{ op: 'replace', path, value }];
const patch = (path: string, field: string, value: Json): Command => ({
  method: 'PATCH',
  path,
  body: replace(field, value),
});
const put = (path: string): Command => ({ method: 'PUT', path });
const limit = (value: number): Command => patch('/services/My-Service', '/max_connection', value);
const stop = put('/service/My-Service/stop');
const stopMain = put('/monitors/Main-Monitor/stop');
const closeAll: Command = { method: 'DELETE', path: '/services/My-Service/sessions' };

/** Sends a sequence. */
const send = (admin: Admin, commands: readonly Command[], query = '') =>
  ask(admin, `POST /sequence${query}`, { body: { commands } as unknown as Json });

async function plan(admin: Admin, commands: readonly Command[]) {
  const { status, body } = await send(admin, commands, '?dry_run=true');
  expect(status).toBe(200);
  return body as Plan;
}

it('the texts of its problems are short', async () => {
  const { body } = await send(runAdmin().admin, [put(`/service/${'x'.repeat(8000)}/stop`)]);
  expect(JSON.stringify(body).length).toBeLessThan(4000);
});

it('a path with the prefix of the interface is refused, with the path to send', async () => {
  const { admin } = runAdmin();
  for (const prefix of ['/admin', '/gateway/v1/admin'])
    expect((await send(admin, [{ ...stop, path: `${prefix}${stop.path}` }])).body).toMatchObject({
      code: 'op-not-allowed',
      detail: expect.stringMatching(/without the prefix .* Send \/service\/My-Service\/stop\.$/),
      errors: [{ pointer: '/commands/0/path' }],
    });
  for (const path of ['/nothing/services', '/a/b/c/d/e/f/services/My%20Service/stop', '/', '//', 'x'])
    expect((await send(admin, [{ ...stop, path }])).body).not.toHaveProperty(
      'detail',
      expect.stringContaining('without the prefix'),
    );
});

describe('the mark of a sequence', () => {
  it('begins with other digits for each other command, body and order', async () => {
    const { admin } = runAdmin();
    const others = [[limit(7), stop], [stop, limit(7)], [limit(8), stop], [limit(7), stopMain], [limit(7)]];
    const plans = await Promise.all(others.map((commands) => plan(admin, commands)));
    expect(new Set(plans.map(({ mark }) => mark.slice(0, 8))).size).toBe(others.length);
    // A condition is checked, and is no part of the command.
    const conditional = await plan(admin, [{ ...limit(7), if_match: '*' }, stop]);
    expect(conditional.mark).toBe(plans[0]?.mark);
  });

  it('is that of the same commands with other secrets, and of no others', async () => {
    const { admin } = runAdmin({ sealer: createSecretSealer({ key: new Uint8Array(32) }) });
    const secret = (value: string): Command => ({
      ...{ method: 'PATCH', path: '/services/My-Service', body: [{ op: 'add', path: '/password', value }] },
    });
    const user = (password: string): Command => ({
      method: 'PUT',
      path: '/users',
      body: { name: 'joan', password },
    });
    const [one, other] = [
      await plan(admin, [secret('planted-a'), user('planted-b')]),
      await plan(admin, [secret('planted-c'), user('planted-d')]),
    ];
    expect(one).toEqual(other);
    expect(JSON.stringify(one)).not.toContain('planted');
    expect((await plan(admin, [secret('planted-a')])).mark.slice(0, 8)).not.toBe(one.mark.slice(0, 8));
    const commands = [secret('planted-e'), user('planted-f')];
    expect(await send(admin, commands, `?mark=${one.mark}`)).toMatchObject({ status: 204 });
    expect(JSON.stringify([toDocument(admin.snapshot), admin.snapshot])).not.toContain('planted');
    expect(admin.snapshot.services.find('my-service')?.settings.password?.sealed).not.toBe('planned');
    expect(admin.snapshot.users.find('joan')?.settings.password.sealed).toMatch(/^\$/);
  });
});

describe('the rights in a sequence', () => {
  it('are asked for each command with its own route and keys, before a body is looked at, and again at the turn', async () => {
    const asked: string[] = [];
    let isAllowed = true;
    const hash = () => {
      isAllowed = false;
      return Promise.resolve('opaque');
    };
    const authorize: Authorize = (_principal, { id }, parameters, how) => {
      asked.push(`${id} ${JSON.stringify(parameters)} ${String(how?.dryRun)}`);
      return isAllowed || id !== 'services.stop';
    };
    const hasher = { hash, verify: () => Promise.resolve(true) };
    const { admin, gateway } = runAdmin({ hasher, access: { authorize } });
    const user = { method: 'PUT', path: '/users', body: { name: 'joan', password: 'of arc' } };
    const { status, body } = await send(admin, [user, { ...stop, path: '/service/MY%20service/stop' }]);
    expect([status, body]).toMatchObject([403, { detail: expect.stringMatching(/^Command 2/) }]);
    expect(asked.slice(0, 3)).toEqual([
      'sequence.send {} false',
      'users.create {} false',
      'services.stop {"name":"my-service"} false',
    ]);
    expect([gateway.applied, admin.snapshot.revision]).toEqual([[], 0]);
    asked.length = 0;
    await send(admin, [user, patch('/services/My-Service', '/nothing', 1), stop]);
    expect(asked.at(-1)).toContain('services.stop');
  });

  it('tell the host about the first user of an interface without a log-in', async () => {
    const { admin, errors } = runAdmin({ snapshot: createSnapshot({ ...sampleDocument, users: [] }) });
    const user = { method: 'PUT', path: '/users', body: { name: 'joan', password: 'of arc' } };
    await send(admin, [stop, user]);
    expect(errors.map(String)).toEqual([expect.stringContaining('nobody has to log in')]);
  });
});

const limiting = (value: number): readonly [Command, Transition] => [
  limit(value),
  (state, context) => patchService(state, 'My Service', replace('/max_connection', value), context),
];
const status = ['maintenance', 'running'];

/** Commands with the transitions that they stand for. */
const pairs: readonly (readonly [Command, Transition])[] = [
  ...[7, 70, -1].map(limiting),
  [stop, (state, context) => stopService(state, 'My Service', context)],
  [put('/services/bare%20service/start'), startBare],
  [put('/services/Nobody/start'), (state, context) => startService(state, 'Nobody', context)],
  [stopMain, (state, context) => stopMonitor(state, 'Main Monitor', context)],
  [put('/monitor/Idle-Monitor/start'), (state, context) => startMonitor(state, 'Idle Monitor', context)],
  [
    patch('/monitor/Main-Monitor', '/monitor_interval', 9),
    (state, context) => patchMonitor(state, 'Main Monitor', replace('/monitor_interval', 9), context),
  ],
  [
    patch('/servers/db-serv-1', '/status', status),
    (state, context) => patchServer(state, 'db-serv-1', replace('/status', status), context),
  ],
  [
    patch('/filter/Hint', '/parameters/match/value', 'x'),
    (state, context) => patchFilter(state, 'Hint', replace('/parameters/match/value', 'x'), context),
  ],
  [{ method: 'DELETE', path: '/users/ada' }, (state, context) => deleteUser(state, 'ada', context)],
  [closeAll, closeMine],
  [{ method: 'POST', path: '/gateway/logs/flush' }, flushLogs],
];

const several = fc.array(fc.constantFrom(...pairs), { minLength: 1, maxLength: 6 });

/** What an interface has, without the sessions that only a process knows by their order. */
const contentOf = ({ snapshot }: Admin): unknown => [snapshot.revision, toDocument(snapshot)];

describe('any sequence', () => {
  // Promise: sequence-law
  it('is the sequence of the transitions of its commands', async () => {
    await fc.assert(
      fc.asyncProperty(several, async (chosen) => {
        const [own, other] = [runAdmin(), runAdmin()];
        const commands = chosen.map(([command]) => command);
        const transition = sequence(...chosen.map(([, each]) => each));
        const { status, body } = await send(own.admin, commands);
        if ((body as Problem | undefined)?.code === 'op-not-allowed') {
          // Stricter than the function: what cannot be undone is last, whatever follows.
          expect([status, own.admin.snapshot.revision, own.gateway.applied]).toEqual([422, 0, []]);
          expect(chosen.slice(0, -1).some(([{ path }]) => /sessions$|flush$/.test(path))).toBe(true);
          return;
        }
        const execution = await other.admin.execute(transition);
        const codes = ['problem' in execution ? execution.problem.code : undefined];
        expect([(body as Problem | undefined)?.code]).toEqual(codes);
        expect(contentOf(own.admin)).toEqual(contentOf(other.admin));
        expect(own.gateway.applied).toEqual(other.gateway.applied);
        expect((await plan(own.admin, [stop])).mark.slice(9)).toBe(
          (await plan(other.admin, [stop])).mark.slice(9),
        );
      }),
      { numRuns: 60 },
    );
  });

  // Promise: sequence-atomic
  it('is made as a whole or not at all, whichever effect the gateway refuses', async () => {
    await fc.assert(
      fc.asyncProperty(several, async (chosen) => {
        const commands = chosen.map(([command]) => command);
        const whole = runAdmin();
        const planned = await send(whole.admin, commands, '?dry_run=true');
        if (planned.status !== 200) return;
        const effects = (planned.body as Plan).effects.length;
        await send(whole.admin, commands);
        for (let nth = 0; nth <= effects; nth += 1) {
          const well = Array<'done'>(nth).fill('done');
          const gateway = sampleGateway().will(...well, new EffectRefusedError('not today'));
          const { admin } = runAdmin({ gateway });
          const before = contentOf(admin);
          const { status } = await send(admin, commands);
          expect(status).toBe(nth < effects ? 409 : 204);
          expect(contentOf(admin)).toEqual(nth < effects ? before : contentOf(whole.admin));
        }
      }),
      { numRuns: 30 },
    );
  });
});
