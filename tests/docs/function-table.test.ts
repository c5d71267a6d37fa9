import { describe, expect, it } from '@jest/globals';
import * as library from 'gateway-admin-core';
import type { Context, Decision, Snapshot } from 'gateway-admin-core';

import { additions, endpoints, targetOf, withQuery } from '../contract/endpoint.ts';
import { sampleSnapshot } from '../support/document.ts';
import { read } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { codesOf, tablesOf } from './table.ts';

type Command = (snapshot: Snapshot, context: Context) => Decision;

/** The functions that decide about a snapshot. `adoptDocument` is in the table of those that combine commands. */
type CommandName = Exclude<
  {
    [N in keyof typeof library]: (typeof library)[N] extends (
      snapshot: Snapshot,
      ...given: never[]
    ) => Pick<Decision, 'outcome'>
      ? N
      : never;
  }[keyof typeof library],
  'adoptDocument'
>;

const interval = [{ op: 'replace', path: '/monitor_interval', value: 7 }] as const;
const port = [{ op: 'replace', path: '/port', value: 7 }] as const;
const connections = [{ op: 'replace', path: '/max_connection', value: 7 }] as const;
const parameter = [{ op: 'add', path: '/parameters/new', value: 'x' }] as const;

/** A call of each function that changes the sample: a new function without a call does not compile. */
const calls: Readonly<Record<CommandName, Command>> = {
  startService: (snapshot, context) => library.startService(snapshot, 'Report Service', context),
  stopService: (snapshot, context) => library.stopService(snapshot, 'My Service', context),
  drain: (snapshot, context) => library.drain(snapshot, 'services', 'My Service', {}, context),
  resume: (snapshot, context) => library.resume(snapshot, 'services', 'Spare Service', context),
  patchService: (snapshot, context) => library.patchService(snapshot, 'My Service', connections, context),
  closeServiceSessions: (snapshot, context) => library.closeServiceSessions(snapshot, 'My Service', context),
  patchServer: (snapshot, context) => library.patchServer(snapshot, 'db-serv-1', port, context),
  closeServerConnections: (snapshot, context) =>
    library.closeServerConnections(snapshot, 'db-serv-1', context),
  startMonitor: (snapshot, context) => library.startMonitor(snapshot, 'Idle Monitor', context),
  stopMonitor: (snapshot, context) => library.stopMonitor(snapshot, 'Main Monitor', context),
  patchMonitor: (snapshot, context) => library.patchMonitor(snapshot, 'Main Monitor', interval, context),
  patchFilter: (snapshot, context) => library.patchFilter(snapshot, 'Hint', parameter, context),
  closeSessions: (snapshot, context) => library.closeSessions(snapshot, { user: 'alice' }, context),
  closeSession: (snapshot, context) => library.closeSession(snapshot, 9, context),
  flushLogs: library.flushLogs,
  createResource: (snapshot, context) =>
    library.createResource(
      snapshot,
      'servers',
      { name: 'db-9', address: '10.0.0.9', port: 5432, protocol: 'pg' },
      context,
    ),
  createListener: (snapshot, context) =>
    library.createListener(
      snapshot,
      'My Service',
      { name: 'new', protocol: 'pgclient', address: '::', port: 4011 },
      context,
    ),
  deleteListener: (snapshot, context) =>
    library.deleteListener(snapshot, 'My Service', 'My Listener', context),
  deleteResource: (snapshot, context) => library.deleteResource(snapshot, 'servers', 'Spare DB', context),
  createUser: (snapshot, context) =>
    library.createUser(snapshot, { name: 'eve', passwordHash: 'x' }, context),
  changePassword: (snapshot, context) => library.changePassword(snapshot, 'ada', 'x', context),
  deleteUser: (snapshot, context) => library.deleteUser(snapshot, 'ada', context),
};

const table = tablesOf(read('docs/functions.md')).find(({ header }) => header.includes('Endpoint'));
const rows = (table?.rows ?? []).map(([call = '', events = '', effects = '', endpoint = '']) => ({
  name: /\w+/.exec(call)?.[0] ?? '',
  call: codesOf(call)[0] ?? '',
  events: codesOf(events),
  effects: codesOf(effects),
  endpoint: codesOf(endpoint)[0] ?? '',
}));

/** The events of the plan that an endpoint gives. */
async function eventsAt(name: string): Promise<readonly string[]> {
  const endpoint = endpoints.concat(additions).find(({ method, path }) => `${method} ${path}` === name);
  if (endpoint === undefined) throw new RangeError(`There is no endpoint ${name}`);
  const { body } = endpoint;
  const handled = await runAdmin().admin.handle({
    method: endpoint.method,
    target: withQuery(targetOf(endpoint), 'dry_run=true'),
    headers: body === undefined ? {} : { 'content-type': body.type },
    ...(body === undefined ? {} : { body: JSON.stringify(body.json) }),
  });
  const plan = handled.matched && typeof handled.response.body === 'string' ? handled.response.body : '{}';
  const { events = [] } = JSON.parse(plan) as { readonly events?: readonly { readonly type: string }[] };
  return events.map(({ type }) => type);
}

describe('the table of the pure functions', () => {
  it('has every function that decides a command', () => {
    expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(calls).toSorted());
  });

  it.each(rows)(
    'gives the events, the effects and the endpoint of $name',
    async ({ name, call, events, effects, endpoint }) => {
      const decision = calls[name as CommandName](sampleSnapshot(), { now: 0 });
      if (decision.outcome !== 'accepted') throw new Error(`${name} changes nothing`);
      expect(decision.events.map(({ type }) => type)).toEqual(events);
      expect(decision.effects.map(({ type }) => type)).toEqual(effects);
      expect(await eventsAt(endpoint)).toEqual(events);
      const { length } =
        (library as unknown as Readonly<Record<string, (...given: unknown[]) => unknown>>)[name] ?? {};
      expect(call.replace(/\{.*?\}/, 'user').split(',')).toHaveLength(length ?? NaN);
    },
  );
});
