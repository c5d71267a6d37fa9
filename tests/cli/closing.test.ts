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

});

describe('gateway-admin close sessions', () => {
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
