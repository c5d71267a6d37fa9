import { describe, expect, it } from '@jest/globals';
import { createBasicAuthentication, createSecretSealer, type Admin } from 'gateway-admin-core';
import { createClient, sendTo, type SessionSearch } from 'gateway-admin-core/client';

import {
  actOn,
  buttonText,
  changingPassword,
  closingChosen,
  closingOf,
  creating,
  creatingUser,
  deletingListener,
  restoring,
  typedFor,
  undoing,
  type Act,
} from '../../console/act.ts';
import { commandOf } from '../../console/connection.ts';
import type { Typed } from '../../console/form.ts';
import { acts } from '../../console/text.ts';
import { runAdmin } from '../support/running-admin.ts';
import { fieldTable } from './built-fields.ts';
import { acceptedIn, plannedActs, planOf } from './every-act.ts';

const client = (admin: Admin) => createClient(sendTo(admin));

/** Does an act as the dialog does, with the mark of its plan. */
async function perform(admin: Admin, act: Act, typed: Typed = {}): Promise<unknown> {
  const { mark } = acceptedIn(await planOf(admin, act, typed));
  const method = act.methodOf?.(client(admin)) ?? commandOf(client(admin), act.id);
  const given = act.withInputs?.(typed) ?? act.given;
  const answer = await method(...given, { ...act.options, mark, prefer: 'representation' });
  if (!answer.ok) throw new Error(`${act.title}: ${answer.problem.detail}`);
  return answer.value;
}

/** A gateway without a name and an environment. */
const place = { address: '127.0.0.1:8989' };

describe('an act on a resource', () => {
  it('is planned by the interface, and changes nothing exactly where the page says so', async () => {
    const acts = await plannedActs(runAdmin().admin);
    expect(new Set(acts.map(({ act }) => act.id)).size).toBeGreaterThan(18);
    for (const { act, answer, isMoot } of acts) {
      // What a refusal says comes with `may`.
      const codes = answer.ok ? [] : [answer.problem.code];
      expect(['resource-in-use', 'node-not-found']).toEqual(expect.arrayContaining(codes));
      if (!answer.ok) continue;
      const { outcome } = answer.value;
      const hasNothingToClose = act.closesAll === true && outcome === 'unchanged';
      expect([act.title, outcome === 'unchanged']).toEqual([act.title, isMoot || hasNothingToClose]);
    }
  });

  it('says what it does, and so does each creation', async () => {
    const planned = (await plannedActs(runAdmin().admin)).map(({ act }) => act.id);
    const created = ['services', 'servers', 'monitors', 'filters', 'users'].map((each) => `${each}.create`);
    const patches = ['services', 'servers', 'monitors', 'filters', 'users'].map((each) => `${each}.patch`);
    const others = ['users.delete', 'sessions.closeMany', 'commands.abandon', 'fleet.forget'];
    const ways = ['history.undo', 'history.restore', 'services.createListener', 'services.deleteListener'];
    expect(new Set(Object.keys(acts))).toEqual(
      new Set([...planned, ...created, ...patches, ...others, ...ways, 'fleet.retry']),
    );
    for (const id of Object.keys(acts))
      expect(commandOf(client(runAdmin().admin), id as never)).toBeDefined();
  });

  it('has a button that names the thing, and the number of what closes', async () => {
    for (const { act, answer, subject } of await plannedActs(runAdmin().admin)) {
      if (!answer.ok) continue;
      const { closes } = acceptedIn(answer);
      const button = buttonText(act, acceptedIn(answer));
      if (!['gateway', 'fleet'].includes(subject.collection)) expect(button).toContain(subject.name);
      const { sessions, connections } = closes;
      if (act.id !== 'sessions.close' && sessions + connections > 0)
        expect(button).toContain(String(sessions === 0 ? connections : sessions));
    }
  });

  it('has the number of what it closes in its button in place of the title, and a single session by its user', async () => {
    const acts = await plannedActs(runAdmin().admin);
    const buttons = acts.flatMap(({ act, answer }) =>
      answer.ok && act.closesAll === true ? [buttonText(act, acceptedIn(answer))] : [],
    );
    expect(buttons).toEqual(
      expect.arrayContaining(['Close 2 sessions of My Service', 'Close 2 connections to db-serv-1']),
    );
    const single = acts.find(({ act, subject }) => act.id === 'sessions.close' && subject.name === '9');
    expect(single && buttonText(single.act, acceptedIn(single.answer))).toBe('Close session 9 of alice');
  });

  it('wants the name typed where it closes all of a service or server, or takes the last usable server', async () => {
    for (const { act, answer, subject } of await plannedActs(runAdmin().admin)) {
      if (!answer.ok) continue;
      const plan = acceptedIn(answer);
      const closesAll = act.id !== 'sessions.close' && plan.closes.sessions + plan.closes.connections > 0;
      const takesLast = plan.notes?.some(({ code }) => code === 'no-usable-server') === true;
      const own = closesAll || takesLast ? subject.name : undefined;
      for (const environment of [{}, { environment: 'test' }])
        expect([act.title, typedFor(act, plan, { ...place, ...environment })]).toEqual([act.title, own]);
    }
  });

  it('wants a name typed in production, but to hold changes off, and to resume', async () => {
    const typed = { subject: new Set<string>(), gateway: new Set<string>(), nothing: new Set<string>() };
    for (const { act, answer, subject } of await plannedActs(runAdmin().admin)) {
      if (!answer.ok) continue;
      const production = { ...place, environment: 'production' };
      const name = typedFor(act, acceptedIn(answer), production);
      // The name of the gateway, or its address if the gateway has none.
      const [named, nameless] = ['Main', undefined].map((each) =>
        typedFor(act, acceptedIn(answer), { ...production, ...(each !== undefined && { name: each }) }),
      );
      if (name === undefined) typed.nothing.add(act.title.replace(subject.name, '…'));
      else typed[name === subject.name ? 'subject' : 'gateway'].add(act.id);
      const isOfGateway = name === place.address;
      expect([named, nameless]).toEqual(isOfGateway ? ['Main', place.address] : [name, name]);
    }
    expect(typed).toEqual({
      subject: new Set([
        ...['services.stop', 'services.drain', 'services.closeSessions', 'services.delete'],
        ...['servers.drain', 'servers.closeConnections', 'servers.delete'],
        ...['monitors.stop', 'monitors.delete', 'filters.delete', 'sessions.close'],
      ]),
      gateway: new Set([
        ...['services.start', 'servers.setMaintenance', 'servers.clearMaintenance', 'monitors.start'],
        ...['interface.patch', 'gateway.flushLogs'],
      ]),
      nothing: new Set(['Resume …', 'Make … read-only']),
    });
  });

  it('wants the name of what is deleted typed in production, and not a phrase about it', () => {
    const production = { address: 'a:1', name: 'Main', environment: 'production' };
    const plan = { closes: { sessions: 0, connections: 0 } } as never;
    const deletion = actOn('users.delete', 'Delete', 'joan', 'user joan');
    expect([deletion.title, typedFor(deletion, plan, production)]).toEqual(['Delete user joan', 'joan']);
    expect(typedFor(deletingListener('Sales', 'second'), plan, production)).toBe('second');
    for (const act of [changingPassword('joan'), undoing('1', 'Stop Sales'), restoring('1', 'today')])
      expect(typedFor(act, plan, production)).toBe('Main');
  });
});

describe('an act on many sessions', () => {
  it.each<[SessionSearch, string, string, string | undefined, string]>([
    [{}, 'Close all sessions of the gateway', 'Close 3 sessions', 'all sessions', 'Main'],
    [
      { service: 'My Service' },
      'Close the sessions of x',
      'Close 2 sessions of My Service',
      'My Service',
      'My Service',
    ],
    [
      { service: 'My Service', user: 'alice' },
      'Close the sessions of x',
      'Close 1 session of My Service',
      undefined,
      'My Service',
    ],
    [{ server: 'db-serv-1' }, 'Close the sessions of x', 'Close 2 sessions', undefined, 'db-serv-1'],
    [{ user: 'alice' }, 'Close the sessions of x', 'Close 1 session', undefined, 'alice'],
    [{ idle_over: 42 }, 'Close the sessions of x', 'Close 0 sessions', undefined, 'Main'],
  ])(
    'of the search %j is %s, with the button %s, and wants %s typed, in production %s',
    async (search, title, button, typed, inProduction) => {
      const { admin } = runAdmin();
      const act = closingOf(search, 'of x');
      const plan = acceptedIn(await planOf(admin, act));
      expect([act.title, buttonText(act, plan), typedFor(act, plan, place)]).toEqual([title, button, typed]);
      const production = { ...place, name: 'Main', environment: 'production' };
      expect(typedFor(act, plan, production)).toBe(inProduction);
      if (plan.outcome === 'accepted')
        expect(await perform(admin, act)).toMatchObject({ closed: plan.closes });
    },
  );

  it('that are chosen closes these, and none that has come since', async () => {
    const { admin } = runAdmin();
    const answer = await client(admin).sessions.list({ fields: ['id', 'etag'] });
    const sessions = answer.ok ? answer.value.elements.filter(({ id }) => id !== 12) : [];
    const act = closingChosen(sessions, () => undefined);
    expect(act.title).toBe('Close 2 chosen sessions');
    expect(buttonText(act, acceptedIn(await planOf(admin, act)))).toBe('Close 2 sessions');
    expect(await perform(admin, act)).toMatchObject({ closed: { sessions: 2 } });
    expect(
      await planOf(
        admin,
        closingChosen([{ id: 12, etag: '"12.other"' }], () => undefined),
      ),
    ).toMatchObject({
      problem: { code: 'precondition-failed' },
    });
  });
});

/** What a person types for a new resource: what must be there, and everything else. */
const definitions: Readonly<Record<string, { readonly required: Typed; readonly optional: Typed }>> = {
  services: {
    required: { name: 'New, 1', router: 'cli' },
    optional: {
      ...{ router_options: 'weights = 2', state: 'stopped', filters: 'Hint, Spare', servers: 'db-serv-1' },
      ...{ user: 'app', password: ' p ', root_user: 'true', version_string: '9', weightby: 'weight' },
      ...{ connection_timeout: '5', max_connection: '6', strip_db_esc: 'false' },
    },
  },
  servers: {
    required: { name: 'New', address: '/run/x.sock', protocol: 'pg' },
    optional: { port: '5432', parameters: 'weight = 2\nzone = a' },
  },
  monitors: {
    required: { name: 'New', module: 'pgmon' },
    optional: {
      ...{
        state: 'started',
        monitor_interval: '5',
        connect_timeout: '5',
        read_timeout: '6',
        write_timeout: '7',
      },
      ...{ servers: 'db-serv-1, db-serv-3', parameters: 'lag = 5' },
    },
  },
  filters: { required: { name: 'New', module: 'tee' }, optional: { parameters: 'match = drop' } },
  listeners: {
    required: { name: 'New', protocol: 'pg', address: '::' },
    optional: {
      ...{ port: '4010', ssl: 'required', ssl_cert: '/c', ssl_key: '/k', ssl_ca_cert: '/a' },
      parameters: 'max = 5',
    },
  },
};

describe('a new resource', () => {
  const sealer = createSecretSealer({ key: new Uint8Array(32) });

  it.each(Object.entries(definitions))('of %s is made from what is typed', async (collection, given) => {
    const service = collection === 'listeners' ? 'My Service' : undefined;
    const act = creating(fieldTable[collection] ?? [], collection, service);
    const { required, optional } = given;
    const names = (act.inputs ?? []).map(({ name }) => name);
    // All that there is to type is in the table above.
    expect(names.toSorted()).toEqual(Object.keys({ ...required, ...optional }).toSorted());
    expect(act.inputs?.filter(({ isRequired }) => isRequired).map(({ name }) => name)).toEqual(
      names.slice(0, Object.keys(required).length),
    );
    // A port is needed where the address is no path.
    const least = service === undefined ? required : { ...required, port: '4010' };
    for (const typed of [least, { ...required, ...optional }]) {
      const { admin } = runAdmin({ sealer });
      expect(act.titleWith?.(typed)).toContain(required['name']);
      expect(await perform(admin, act, typed)).toMatchObject({ name: required['name'] });
    }
  });

  it('of users has a password, which can be changed', async () => {
    const authenticate = createBasicAuthentication();
    const { admin } = runAdmin({
      access: {
        authenticate: async (...given) =>
          given[0].headers['authorization'] === undefined ? { name: 'ada' } : authenticate(...given),
        authorize: () => true,
      },
    });
    /** Whether the user logs in with each of these passwords. */
    const logIns = (...passwords: readonly string[]): Promise<readonly boolean[]> =>
      Promise.all(
        passwords.map(async (password) => {
          const headers = { authorization: `Basic ${btoa(`joan:${password}`)}` };
          const handled = await admin.handle({ method: 'GET', target: '/users', headers });
          return handled.matched && handled.response.status === 200;
        }),
      );
    await perform(admin, creatingUser, { name: 'joan', password: ' first ' });
    expect(await logIns(' first ', 'first')).toEqual([true, false]);
    await perform(admin, changingPassword('joan'), { password: 'second' });
    expect(await logIns(' first ', 'second')).toEqual([false, true]);
    await perform(admin, actOn('users.delete', 'Delete', 'joan'));
    expect(await logIns('second')).toEqual([false]);
  });
});

it('a change is undone, and an earlier configuration restored', async () => {
  const { admin } = runAdmin();
  const listeners = () => admin.snapshot.services.find('My Service')?.listeners.map(({ name }) => name);
  const before = listeners();
  await perform(admin, deletingListener('My Service', 'Local Listener'));
  expect(listeners()).toHaveLength((before?.length ?? 0) - 1);
  const entries = await client(admin).history.list();
  const [entry] = entries.ok ? entries.value.elements : [];
  const undo = undoing(entry?.id ?? '', 'x');
  expect([undo.title, restoring('1', 'today').title]).toEqual([
    'Undo “x”',
    'Restore the configuration of today',
  ]);
  await perform(admin, undo);
  expect(listeners()?.toSorted()).toEqual(before?.toSorted());
  await perform(admin, restoring(entry?.id ?? '', 'then'));
  expect(listeners()).toHaveLength((before?.length ?? 0) - 1);
});
