import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createAdmin, EffectRefusedError, type HostReport } from 'gateway-admin-core';

import { sampleSnapshot } from '../support/document.ts';
import { openedSessions } from '../support/opened-session.ts';
import { appliedTo, runAdmin, type Running } from '../support/running-admin.ts';
import { command, servers, type Circumstances, type Result } from './command-line.ts';

const serve = servers(afterEach);
let running: Running;
let url = '';

beforeEach(async () => {
  running = runAdmin({ name: 'eu-1' });
  url = await serve(running.admin);
});

function ask(args: readonly string[], circumstances?: Circumstances): Promise<Result> {
  return command([...args, '--url', url], circumstances);
}

/** The ids of the open sessions. */
function open({ admin } = running): readonly number[] {
  return Array.from(admin.snapshot.sessions, ({ id }) => id);
}

const [alice, carol] = [
  '9 of alice from 192.168.121.1 (service My-Service)',
  '12 of carol from ::1 (service My-Service)',
];

const ended: HostReport = { type: 'session.closed', id: 9, connected: 1_473_419_557_000 };
const later: HostReport = {
  ...{ type: 'session.opened', id: 9, state: 'ready', user: 'eve', address: '::1', service: 'My Service' },
  connected: 1_473_419_558_000,
};

describe('gateway-admin close session', () => {
  const both = ['close', 'session', '9', '12'];

  it('names each session in one question, and says what was closed of all', async () => {
    const { code, out, err } = await ask(both, { input: 'y', isTerminal: true });
    expect(err).toContain(
      `Close sessions ${alice}, ${carol} on eu-1? 2 sessions and 3 backend connections close. [y/N] `,
    );
    expect([code, out]).toEqual([
      0,
      `Done: close sessions ${alice}, ${carol} on eu-1. 2 sessions and 3 backend connections closed.\n`,
    ]);
    expect([open(), appliedTo(running.gateway)]).toEqual([
      [0],
      ['sessions.close /sessions/9', 'sessions.close /sessions/12'],
    ]);
  });

  it('counts more than five sessions', async () => {
    running.admin.report(openedSessions(6));
    const ids = ['1000', '1001', '1002', '1003', '1004', '1005', '1000'];
    const { err } = await ask(['close', 'session', ...ids], { input: 'n', isTerminal: true });
    expect(err).toContain('Close 6 sessions on eu-1? 6 sessions close. [y/N] ');
    const { out } = await ask(['close', 'sessions', ...['--client', 'ada'], '--yes']);
    expect(out).toBe('Done: close the sessions of client ada on eu-1. 6 sessions closed.\n');
  });

  it('plans all, and does nothing, in a dry run', async () => {
    const { out } = await ask([...both, '--dry-run']);
    expect(out).toBe(
      [
        `Plan: close sessions ${alice}, ${carol}`,
        '  gateway: sessions.close /sessions/9 (1)',
        '  gateway: sessions.close /sessions/12 (1)',
        '  closes 2 sessions and 3 backend connections',
        'Nothing was done on eu-1.',
        '',
      ].join('\n'),
    );
    expect(open()).toEqual([0, 9, 12]);
  });

  it('gives programs the sum', async () => {
    expect(JSON.parse((await ask([...both, '--yes', '--json'])).out)).toEqual({
      outcome: 'accepted',
      closed: { sessions: 2, connections: 3 },
    });
    const one = await ask(['close', 'session', '0', '--yes', '--json']);
    expect(JSON.parse(one.out)).toEqual({
      outcome: 'accepted',
      command: expect.any(String),
      closed: { sessions: 1, connections: 0 },
    });
  });

  // Promise: close-named
  it.each([
    ['has ended', [ended], [0]],
    ['has ended, and another one has its id', [later], [0, 9]],
  ])('closes the others if a session of the question %s meanwhile', async (_what, reports, left) => {
    const meanwhile = (): Promise<void> => {
      running.admin.report(reports);
      return Promise.resolve();
    };
    const { code, out } = await ask(both, { input: 'y', isTerminal: true, meanwhile });
    expect([code, out, open()]).toEqual([
      0,
      `Done: close sessions ${alice}, ${carol} on eu-1. 1 session and 1 backend connection closed.\n`,
      left,
    ]);
  });

  it('says that nothing was left to close', async () => {
    const meanwhile = (): Promise<void> => {
      running.admin.report(later);
      return Promise.resolve();
    };
    const one = ['close', 'session', '9'];
    const asked = await ask(one, { input: 'y', isTerminal: true, meanwhile });
    expect([asked.code, asked.out, open()]).toEqual([
      0,
      `Done: close session ${alice} on eu-1. Nothing was left to close.\n`,
      [0, 9, 12],
    ]);
  });

  it('plans anew and asks again if the interface has started again meanwhile', async () => {
    let { admin } = running;
    let times = 0;
    url = await serve({ ...admin, handle: (request) => admin.handle(request) });
    const meanwhile = async (): Promise<void> => {
      times += 1;
      if (times > 1) return;
      await admin.close();
      const { gateway } = running;
      ({ admin } = { admin: createAdmin({ snapshot: sampleSnapshot(), gateway, name: 'eu-1' }) });
      const [type, server, role] = ['connection.opened', 'db-serv-1', 'Slave'] as const;
      admin.report({ type, session: 9, id: 77, server, role, state: 'In use' });
    };
    const { code, out, err } = await ask(both, { input: 'y\ny', isTerminal: true, meanwhile });
    expect(err).toContain(
      'Since then: 1 backend connection more.\nThe plan has changed:\n  gateway: sessions.close /sessions/9 (1)\n',
    );
    expect([code, out, times, open({ ...running, admin })]).toEqual([
      0,
      expect.stringContaining('2 sessions and 4 backend connections closed.'),
      2,
      [0],
    ]);
  });

  it('closes nothing if one of the ids names no session', async () => {
    for (const [id, told] of [
      ['13', 'There is no session 13; the session may have ended. (session-not-found) Try: '],
      ['x', '(session-id-invalid)'],
    ] as const) {
      const { code, err } = await ask([...both, id, '--yes']);
      expect([code, err, open()]).toEqual([1, expect.stringContaining(told), [0, 9, 12]]);
    }
  });

  it('says what was closed before the gateway refused', async () => {
    running.gateway.will('done', new EffectRefusedError('Busy'));
    const { code, err } = await ask([...both, '--yes']);
    expect([code, err, open()]).toEqual([7, expect.stringContaining('1 session closed before.'), [0, 12]]);
    running.gateway.will(new EffectRefusedError('Busy'));
    const first = await ask(['close', 'session', '12', '0', '--yes']);
    expect([first.code, first.err]).toEqual([1, expect.stringContaining('(effect-refused)')]);
    expect(open()).toEqual([0, 12]);
  });
});

describe('gateway-admin close sessions', () => {
  it.each([
    ['of client alice', ['--client', 'alice'], [0, 12]],
    ['from ::1', ['--address', '::1'], [0, 9]],
    ['of service my-service', ['--service', 'my-service', '--older-than', '0'], [0, 12], ', older than 0 s'],
    ['of service my-service', ['my-service', '--older-than', '1h'], [0, 12], ', older than 1h'],
    ['of service my-service', ['my-service', '--idle-over', '41.5'], [0, 12], ', idle over 41.5'],
    ['on server db-serv-1', ['--server', 'db-serv-1', '--client', 'carol'], [0, 9], ', of client carol'],
  ])('%s, of %j', async (what, options, left, more = '') => {
    const { code, out } = await ask(['close', 'sessions', ...options, '--yes']);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/on eu-1\. 1 session and [12] backend connections? closed\.\n$/),
    ]);
    expect(out).toContain('Done: close the sessions ');
    for (const each of [what, more]) expect(out).toContain(each);
    expect(open()).toEqual(left);
    expect(appliedTo(running.gateway)).toEqual(['sessions.close /sessions']);
  });

  it('--all closes all', async () => {
    const asked = await ask(['close', 'sessions', '--all'], { input: 'y', isTerminal: true });
    expect(asked.err).toContain('Close all sessions on eu-1? 3 sessions and 3 backend connections close.');
    expect([asked.code, open()]).toEqual([0, []]);
    const again = await ask(['close', 'sessions', '--all', '--yes']);
    expect(again.out).toBe('Nothing to do: close all sessions on eu-1.\n');
  });

  it('closes what the question was about: sessions that open or wake meanwhile stay', async () => {
    running.admin.report({ type: 'session.updated', id: 12, idle: 700 });
    const meanwhile = (): Promise<void> => {
      running.admin.report([
        { ...later, id: 40, user: 'alice' },
        { type: 'session.updated', id: 40, idle: 800 },
        { type: 'session.updated', id: 12, idle: 0 },
      ]);
      return Promise.resolve();
    };
    const idle = ['close', 'sessions', '--idle-over', '40'];
    const { err, out } = await ask(idle, { input: 'y', isTerminal: true, meanwhile });
    expect(err).toContain(
      'Close the sessions idle over 40 on eu-1? 2 sessions and 3 backend connections close.',
    );
    expect(out).toBe(
      'Done: close the sessions idle over 40 on eu-1. 1 session and 2 backend connections closed.\n',
    );
    expect(open()).toEqual([0, 12, 40]);
  });

  it.each([
    [
      ['--server', 'db2'],
      'There is no server named "db2". (server-not-found) Try: gateway-admin list servers',
    ],
    [['slaes', '--client', 'bob'], 'There is no service named "slaes". (service-not-found) Try: '],
  ])('%j is refused, because there is none', async (options, told) => {
    const { code, err } = await ask(['close', 'sessions', ...options, '--yes']);
    expect([code, err, open()]).toEqual([1, expect.stringContaining(told), [0, 9, 12]]);
  });

  it.each([
    [
      ['sessions'],
      'close sessions needs the name of a service, options that choose, such as --client, or --all.',
    ],
    [['sessions', '--all', '--client', 'bob'], '--all stands alone.'],
    [['sessions', 'my-service', '--all'], '--all stands alone.'],
    [['sessions', '9', '12'], 'close sessions takes the name of one service. '],
    [
      ['sessions', 'a', '--service', 'b'],
      'close sessions takes the name of a service or --service, not both.',
    ],
    [
      ['sessions', '--idle-over', '10m'],
      '--idle-over must be a number of at least 0, such as --idle-over 600.',
    ],
    [['sessions', '--older-than=-1'], '--older-than must be a number of at least 0'],
    [
      ['sessions', '--older-than', '5w'],
      '--older-than must be a number of at least 0, or a time such as --older-than 1h30m.',
    ],
    [['sessions', '--service', '..'], '--service got "..", and no URL can name such a resource.'],
    [['sessions', '--server='], '--server got "", and no URL can name such a resource.'],
    [['sessions', '--user', 'bi'], 'options that choose, such as --client, or --all.'],
    [['sessions', '--clinet', 'bi'], 'close takes no option --clinet. Did you mean --client? '],
    [['session'], 'close session needs an id.'],
    [['session', '9', '--client', 'bob'], 'close session takes no option --client.'],
    [['session', '9', '--all'], 'close session takes no option --all.'],
    [['connections'], 'close connections needs the name of one server.'],
    [['connections', 'db-serv-1', 'db-server-2'], 'close connections needs the name of one server.'],
    [['connections', 'db-serv-1', '--older-than', '5'], 'close connections takes no option --older-than.'],
  ])('close %j is wrong use', async (args, told) => {
    const { code, err } = await ask(['close', ...args, '--yes']);
    expect([code, err, open()]).toEqual([2, expect.stringContaining(told), [0, 9, 12]]);
  });
});
