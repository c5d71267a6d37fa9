import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  closeServerConnections,
  closeServiceSessions,
  createListener,
  createResource,
  deleteResource,
  flushLogs,
  patchFilter,
  patchService,
  startService,
  stopService,
  type Admin,
  type Execution,
  type Transition,
} from 'gateway-admin-core';
import { createVirtualClock } from 'gateway-admin-core/testing';

import { runAdmin } from '../support/running-admin.ts';
import { command, servers } from './command-line.ts';

const serve = servers(afterEach);
let admin: Admin;
let url = '';

beforeEach(async () => {
  ({ admin } = runAdmin());
  url = await serve(admin);
});

/** Executes a command of ada, and gives its id. */
async function done(transition: Transition): Promise<string> {
  const execution: Execution = await admin.execute(transition, { actor: 'ada' });
  const [event] = execution.outcome === 'accepted' ? execution.events : [];
  return event?.command ?? '';
}

const limit = (value: number): Promise<string> =>
  done((snapshot, context) =>
    patchService(snapshot, 'My Service', [{ op: 'replace', path: '/max_connection', value }], context),
  );
const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);
const present = (): unknown => {
  const { state, settings } = admin.snapshot.services.find('my-service') ?? {};
  return [state, settings?.max_connection];
};

const run = (...args: readonly string[]): ReturnType<typeof command> => command([...args, '--url', url]);

describe('gateway-admin history', () => {
  // The changes of this test are made at 2016-09-10 03:00:00 in the time zone of the gateway.
  it.each([
    ['2016-09-10', 1],
    ['2016-09-11', 0],
    ['2016-09-10 03:00', 1],
    ['2016-09-10T03:00:00', 1],
    ['2016-09-10 03:00:01', 0],
    ['2016-09-10T00:00:01Z', 0],
    ['999999999d1h30m', 1],
    ['1h30m', 0],
    ['yesterday', 0],
    ['today', 0],
  ])('takes %s as the time of --since, in the time zone of the gateway', async (time, count) => {
    await limit(7);
    const { code, out, err } = await run('history', '--since', time, '--json');
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toHaveLength(count);
    const before = await run('history', '--before', time, '--json');
    expect(JSON.parse(before.out)).toHaveLength(1 - count);
  });

  it('takes what it has printed as a time, and the midnight of yesterday', async () => {
    url = await serve(runAdmin({ clock: createVirtualClock(Date.now(), { turn: 'event-loop' }) }).admin);
    const { out } = await run('flush').then(() => run('history'));
    const [, time = ''] = /^([\d-]{10} [\d:]{8}) /.exec(out) ?? [];
    for (const since of [time, time.slice(0, 10), 'today', 'yesterday'])
      expect((await run('history', '--since', since, '--json')).out).toContain('logs.flushed');
    expect((await run('history', '--before', 'today', '--json')).out).toBe('[]\n');
  });

  it.each(['soon', '2016-02-30', '2016-13-01', '2016-09-10 25:00', '10.9.2016', '1h30'])(
    'says which times it takes in place of %s',
    async (time) => {
      for (const option of ['since', 'before']) {
        const { code, err } = await run('history', `--${option}`, time);
        expect([code, err]).toEqual([
          2,
          `gateway-admin: --${option} takes a time such as 2016-08-29T12:52:31+03:00, 2016-08-29, yesterday or 1h30m, ` +
            `and not ${time}.\n`,
        ]);
      }
    },
  );

});

describe('gateway-admin why', () => {
});

describe('gateway-admin undo', () => {
});

describe('gateway-admin restore', () => {
});
