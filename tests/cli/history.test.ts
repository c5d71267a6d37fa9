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
  it('lists who has changed what and when, with the newest change first', async () => {
    const first = await limit(7);
    const second = await done(flushLogs);
    expect(await run('history')).toEqual({
      code: 0,
      out: [
        `2016-09-10 03:00:00  ${second} by ada (irreversible)`,
        '  logs.flushed /gateway/logs',
        `2016-09-10 03:00:00  ${first} by ada`,
        '  service.updated /services/My-Service',
        '    ~ /max_connection = 7 (was 100)',
        '',
      ].join('\n'),
      err: '',
    });
  });

  it('counts what was closed', async () => {
    await done((snapshot, context) => closeServerConnections(snapshot, 'db-serv-1', context));
    await done((snapshot, context) => closeServiceSessions(snapshot, 'My Service', context));
    const { out } = await run('history');
    expect(out).toContain('  sessions.closed /services/My-Service: 2 sessions\n');
    expect(out).toContain('  connections.closed /servers/db-serv-1: 2 connections\n');
  });

  it('finds changes by resource, field, user, type and time', async () => {
    const [limited] = [await limit(7), await done(stop)];
    const ids = async (...args: readonly string[]): Promise<readonly unknown[]> =>
      (JSON.parse((await run('history', '--json', ...args)).out) as { readonly id: string }[]).map(
        ({ id }) => id,
      );
    expect(await ids('--resource', '/services/my-service', '--field', 'max_connection')).toEqual([limited]);
    expect(await ids('--type', 'service.updated')).toEqual([limited]);
    expect(await ids('--actor', 'grace')).toEqual([]);
    expect(await ids('--since', '2016-09-10T00:00:00Z')).toHaveLength(2);
    expect(await ids('--before', '2016-09-10T00:00:00Z')).toEqual([]);
    expect(await ids('--since', '999999999d')).toHaveLength(2);
    // An hour before now is long after the changes of this test, whose clock stands still.
    expect(await ids('--since', '1h')).toEqual([]);
    expect(await ids('--range', '1-1')).toEqual([limited]);
    expect((await run('history', '--type', 'user')).out).toBe('No changes.\n');
  });

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

  it('says how many entries there are when it shows a part', async () => {
    for (const value of [7, 8, 9]) await limit(value);
    expect((await run('history', '--range', '0-1')).err).toBe('2 of 3\n');
  });
});

describe('gateway-admin why', () => {
  it('shows the last change of a field', async () => {
    const limited = await limit(7);
    await done(stop);
    const { code, out } = await run('why', '/services/My-Service/max_connection');
    expect([code, out]).toEqual([0, expect.stringContaining(`${limited} by ada\n`)]);
    expect((await run('why', '/services/My-Service/state')).out).toContain('service.stopped');
    expect((await run('why', '/services/My-Service')).out).toContain('service.stopped');
  });

  it('says so if there is no such change, and refuses what is no place', async () => {
    const none = await run('why', '/services/My-Service/user');
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('The history has no change of')]);
    for (const field of ['', '/listeners', '/password'])
      expect((await run('why', `/services/Spare-Service${field}`)).err).toContain(
        'the gateway has begun with what it is now',
      );
    const absent = await run('why', '/services/Nope/state');
    expect([absent.code, absent.err]).toEqual([1, expect.stringContaining('no service named "Nope"')]);
    const unknown = await run('why', '/services/My-Service/nonsense');
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('no field "nonsense" here')]);
    const nowhere = await run('why', '/houses/My-Service');
    expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining('There is no place /houses.')]);
    for (const place of ['max_connection', '/services', '/services/', '/services/My-Service/', '/a/b//d'])
      expect((await run('why', place)).code).toBe(2);
    const deep = await run('why', '/houses/My-Service/c/d');
    expect([deep.code, deep.err]).toEqual([1, expect.stringContaining('There is no place /houses.')]);
  });

  it('shows the last change of a part of a field', async () => {
    const at = (path: string, value: string): Promise<string> =>
      done((snapshot, context) =>
        patchFilter(snapshot, 'Hint', [{ op: 'add', path: `/parameters/${path}`, value }], context),
      );
    const changed = await at('match', 'insert');
    // Another part, and more changes than one page of the history has.
    for (let value = 0; value < 25; value += 1) await at('other', String(value));
    for (const place of ['/filters/Hint/parameters/match', '/filters/hint/parameters/match/value']) {
      const { code, out } = await run('why', place);
      expect([code, out]).toEqual([0, expect.stringContaining(`${changed} by ada`)]);
    }
    const untouched = await run('why', '/filters/Hint/parameters/source');
    expect([untouched.code, untouched.err]).toEqual([
      1,
      expect.stringContaining('The history has no change of'),
    ]);
    const absent = await run('why', '/filters/Hint/parameters/nope');
    expect([absent.code, absent.err]).toEqual([
      1,
      'gateway-admin: There is no parameters/nope in /filters/Hint. Try: gateway-admin show filter Hint\n',
    ]);
  });

  it('shows the last change of a list for the place of an element, which changes with the list', async () => {
    const first = [{ op: 'add', path: '/servers/0', value: '/servers/db-serv-3' }] as const;
    const changed = await done((snapshot, context) => patchService(snapshot, 'My Service', first, context));
    await limit(7);
    expect((await run('why', '/services/My-Service/servers/1')).out).toContain(`${changed} by ada`);
  });

  it('shows the creation of a part, and the last change of a listener', async () => {
    const parameters = { match: { value: 'drop', configurable: true } };
    const created = await done((snapshot, context) =>
      createResource(snapshot, 'filters', { name: 'Two Words', module: 'tee', parameters }, context),
    );
    const { out } = await run('why', '/filters/Two-Words/parameters/match');
    expect(out).toContain(`${created} by ada`);
    const second = { name: 'second', protocol: 'pg', address: '127.0.0.1', port: 4099 };
    const opened = await done((snapshot, context) => createListener(snapshot, 'My Service', second, context));
    for (const place of ['', '/port'])
      expect((await run('why', `/services/My-Service/listeners/second${place}`)).out).toContain(opened);
    const nowhere = await run('why', '/services/My-Service/listeners/nope/port');
    expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining('(listener-not-found)')]);
  });
});

describe('gateway-admin undo', () => {
  it('undoes a change by the id of its entry, once', async () => {
    const id = await limit(7);
    const plan = await run('undo', id, '--dry-run');
    expect(plan.out).toContain('  ~ /max_connection = 100 (was 7)\n');
    expect(present()).toEqual(['started', 7]);
    expect(await run('undo', id)).toEqual({
      code: 0,
      out: expect.stringMatching(`^Done: undo ${id} \\(1 change\\) on `) as unknown,
      err: 'The gateway may close sessions because of this. It does not say which.\n',
    });
    expect(present()).toEqual(['started', 100]);
    const again = await run('undo', id);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('(undo-refused)')]);
  });

  it('undoes the newest change that can be undone, and says which', async () => {
    const id = await limit(7);
    await done(flushLogs);
    const { code, out, err } = await run('undo', '--last');
    expect([code, out]).toEqual([0, expect.stringMatching(`^Done: undo ${id} \\(1 change\\) on `)]);
    expect(err).toContain('service.updated /services/My-Service');
    expect(present()).toEqual(['started', 100]);
  });

  it('goes one change further back each time, and says what was undone', async () => {
    const [first, second] = [await limit(7), await limit(8)];
    expect((await run('undo', '--last')).out).toMatch(`Done: undo ${second} (1 change) on `);
    expect(present()).toEqual(['started', 7]);
    expect((await run('undo', '--last')).out).toMatch(`Done: undo ${first} (1 change) on `);
    expect(present()).toEqual(['started', 100]);
    const { out } = await run('history');
    const [latest = '', earlier = ''] = Array.from(out.matchAll(/ (\S+) \(undo of/g), ([, id]) => id);
    expect(out).toContain(` ${latest} (undo of ${first})\n`);
    expect(out).toContain(` ${earlier} (undo of ${second})`);
    expect(out).toContain(` ${second} by ada (undone by ${earlier})\n`);
    expect(out).toContain(` ${first} by ada (undone by ${latest})\n`);
    // An undo is undone by its id, and the change is no longer undone then.
    expect((await run('undo', latest)).code).toBe(0);
    expect(present()).toEqual(['started', 7]);
    expect((await run('history')).out).not.toContain(`undone by ${latest}`);
  });

  it('goes back over starts, stops and deletions, to the beginning', async () => {
    const deletion: Transition = (snapshot, context) =>
      deleteResource(snapshot, 'servers', 'Spare DB', context);
    for (const transition of [stop, start, stop, deletion]) await done(transition);
    for (let count = 0; count < 4; count += 1) expect((await run('undo', '--last')).code).toBe(0);
    expect(present()).toEqual(['started', 100]);
    expect(admin.snapshot.servers.find('spare db')?.settings.address).toBe('10.0.0.4');
    expect((await run('undo', '--last')).err).toContain('The history has no change that can be undone.');
  });

  it('finds the newest change that can be undone, however many cannot', async () => {
    const changes = [await limit(7), await limit(8)];
    for (const id of changes.toReversed()) {
      for (let at = 0; at < 25; at += 1) await done(flushLogs);
      expect((await run('undo', '--last')).out).toMatch(`Done: undo ${id} (1 change) on `);
    }
    expect(present()).toEqual(['started', 100]);
  });

  it('asks before it deletes what was created', async () => {
    const definition = { name: 'db-9', address: '192.0.2.9', port: 5432, protocol: 'pg' };
    const id = await done((snapshot, context) => createResource(snapshot, 'servers', definition, context));
    const asked = await run('undo', id);
    expect([asked.code, asked.err]).toEqual([
      2,
      expect.stringContaining('gateway: server.delete /servers/db-9\n'),
    ]);
    expect(asked.err).toMatch(
      /\ndeletes 1 server\n[^]*Undo \S+ \(1 change\) on \S+\? It deletes 1 server\. Nobody/,
    );
    expect(admin.snapshot.servers.find('db-9')).toBeDefined();
    expect((await run('undo', id, '--yes')).out).toMatch(
      /^Done: undo \S+ \(1 change\) on \S+\. Deleted 1 server\.\n$/,
    );
    expect(admin.snapshot.servers.find('db-9')).toBeUndefined();
  });

  it('does not start what somebody has stopped on purpose since', async () => {
    const stopped = await done(stop);
    await done(start);
    await done(stop);
    const { code, err } = await run('undo', stopped);
    expect([code, err]).toEqual([1, expect.stringContaining('was stopped since by ada')]);
    expect(present()).toEqual(['stopped', 100]);
  });

  it('needs an id or --last, and an entry', async () => {
    for (const args of [[], ['x', '--last']]) expect((await run('undo', ...args)).code).toBe(2);
    const unknown = await run('undo', 'nothing');
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('(entry-not-found)')]);
    expect((await run('undo', '--last')).err).toContain('The history has no change that can be undone.');
  });
});

describe('gateway-admin restore', () => {
  it('brings the configuration back after a yes', async () => {
    const limited = await limit(7);
    await done(stop);
    await limit(8);
    const asked = await run('restore', limited);
    expect([asked.code, present()]).toEqual([2, ['stopped', 8]]);
    // The title says nothing about what changes, so the plan comes before the question.
    expect(asked.err).toMatch(
      /~ \/max_connection = 7 \(was 8\)\n(?:.*\n)*gateway: service.start .*\n[^]*Restore the/,
    );
    const { code, out } = await run('restore', limited, '--yes');
    expect([code, out]).toEqual([0, expect.stringContaining(`after ${limited} (2 changes) on `)]);
    expect(present()).toEqual(['started', 7]);
  });
});
