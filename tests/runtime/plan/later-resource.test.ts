import { describe, expect, it } from '@jest/globals';
import { createSnapshot, type Json } from 'gateway-admin-core';

import { openedSession } from '../../support/opened-session.ts';
import { runAdmin, type Running } from '../../support/running-admin.ts';
import { transports, type Answer } from '../../support/transport.ts';

const server = { name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pg' };
const hint = { name: 'Hint', module: 'tee', parameters: { a: { value: '1', configurable: true } } };
const listener = { name: 'in', protocol: 'pg', address: '::', port: 4000 };
const snapshot = createSnapshot({
  servers: [server, { ...server, name: 'dry', drain: { since: '2016-09-09T00:00:00Z' } }],
  services: [
    { name: 'Idle', router: 'cli', state: 'stopped', listeners: [listener] },
    { name: 'Busy', router: 'cli' },
    {
      name: 'Dry',
      router: 'cli',
      state: 'stopped',
      drain: { since: '2016-09-09T00:00:00Z', from: 'started' },
    },
  ],
  monitors: [
    { name: 'Off', module: 'pgmon', state: 'stopped' },
    { name: 'Watch', module: 'pgmon' },
  ],
  filters: [hint],
  users: [
    { name: 'root', passwordHash: 'x' },
    { name: 'eve', passwordHash: 'x' },
  ],
});

type Request = readonly [method: string, path: string, body?: Json];

const set = (path: string, value: Json): Json => [{ op: 'replace', path, value }];
const limit: Json = [{ op: 'add', path: '/max_connection', value: 5 }];

/** A resource goes, and another one of its name comes. The parameter is the value of its fixed field. */
const another = {
  idle: (router) => [
    ['DELETE', '/services/Idle'],
    ['POST', '/services', { name: 'Idle', router, state: 'stopped', listeners: [listener] }],
  ],
  busy: (router) => [
    ['PUT', '/service/Busy/stop'],
    ['DELETE', '/services/Busy'],
    ['POST', '/services', { name: 'Busy', router }],
  ],
  dry: (router) => [
    ['PUT', '/service/Dry/resume'],
    ['PUT', '/service/Dry/stop'],
    ['DELETE', '/services/Dry'],
    ['POST', '/services', { name: 'Dry', router }],
    ['PUT', '/service/Dry/drain', {}],
  ],
  server: (protocol) => [
    ['DELETE', '/servers/db'],
    ['POST', '/servers', { ...server, protocol }],
  ],
  dryServer: (protocol) => [
    ['DELETE', '/servers/dry'],
    ['POST', '/servers', { ...server, name: 'dry', protocol }],
    ['PUT', '/server/dry/drain', {}],
  ],
  off: (module) => [
    ['DELETE', '/monitors/Off'],
    ['POST', '/monitors', { name: 'Off', module, state: 'stopped' }],
  ],
  watch: (module) => [
    ['PUT', '/monitor/Watch/stop'],
    ['DELETE', '/monitors/Watch'],
    ['POST', '/monitors', { name: 'Watch', module }],
  ],
  filter: (module) => [
    ['DELETE', '/filters/Hint'],
    ['POST', '/filters', { ...hint, module }],
  ],
} satisfies Readonly<Record<string, (fixed: string) => readonly Request[]>>;

type Rows = readonly (readonly [
  what: string,
  request: Request,
  again: (fixed: string) => readonly Request[],
])[];

const rows: Rows = [
  ['a patch of a service', ['PATCH', '/services/Idle', limit], another.idle],
  ['a start of a service', ['PUT', '/service/Idle/start'], another.idle],
  ['a stop of a service', ['PUT', '/service/Busy/stop'], another.busy],
  ['a drain of a service', ['PUT', '/service/Busy/drain', {}], another.busy],
  ['the end of a drain of a service', ['PUT', '/service/Dry/resume'], another.dry],
  [
    'a new listener of a service',
    ['POST', '/services/Idle/listeners', { ...listener, name: 'out', port: 4001 }],
    another.idle,
  ],
  [
    'a sequence',
    ['POST', '/sequence', { commands: [{ method: 'PATCH', path: '/services/Idle', body: limit }] }],
    another.idle,
  ],
  ['a patch of a server', ['PATCH', '/servers/db', set('/port', 1)], another.server],
  ['a maintenance', ['PUT', '/servers/db/maintenance'], another.server],
  ['a drain of a server', ['PUT', '/server/db/drain', {}], another.server],
  ['the end of a drain of a server', ['PUT', '/server/dry/resume'], another.dryServer],
  ['a patch of a monitor', ['PATCH', '/monitors/Off', set('/monitor_interval', 5)], another.off],
  ['a start of a monitor', ['PUT', '/monitor/Off/start'], another.off],
  ['a stop of a monitor', ['PUT', '/monitor/Watch/stop'], another.watch],
  ['a patch of a filter', ['PATCH', '/filters/Hint', set('/parameters/a/value', '2')], another.filter],
];

const deletions: Rows = [
  ['a deletion of a service', ['DELETE', '/services/Idle'], another.idle],
  ['a deletion of a server', ['DELETE', '/servers/db'], another.server],
  ['a deletion of a monitor', ['DELETE', '/monitors/Off'], another.off],
  ['a deletion of a filter', ['DELETE', '/filters/Hint'], another.filter],
];

const userAgain: readonly Request[] = [
  ['DELETE', '/users/eve'],
  ['PUT', '/users', { name: 'eve', password: 'later' }],
];
const listenerAgain: readonly Request[] = [
  ['DELETE', '/services/Idle/listeners/in'],
  ['POST', '/services/Idle/listeners', listener],
];

const equals: Rows = [
  ...rows,
  ...deletions,
  ['a deletion of a listener', ['DELETE', '/services/Idle/listeners/in'], () => listenerAgain],
  ['a new password of a user', ['PATCH', '/users/eve', set('/password', 'x')], () => userAgain],
  ['a deletion of a user', ['DELETE', '/users/eve'], () => userAgain],
];

/** The fixed field of the resource of the document that a request is about. */
function fixedOf([, path]: Request): string {
  if (path.includes('server')) return server.protocol;
  if (path.includes('filter')) return hint.module;
  return path.includes('monitor') ? 'pgmon' : 'cli';
}

/** The answers of a command to its plan, to what comes between, and to the command with the mark of the plan. */
interface Marked {
  readonly plan: Answer;
  readonly between: readonly number[];
  readonly answer: Answer;
}

type Send = (request: Request, query?: string) => Promise<Answer>;

async function open(): Promise<Running & { readonly send: Send }> {
  const running = runAdmin({ snapshot });
  running.admin.report({ type: 'sessions.complete' });
  const { send } = await transports.core(running.admin);
  return {
    ...running,
    send: ([method, path, body], query = '') =>
      send(
        method,
        `${path}${query}`,
        body === undefined
          ? {}
          : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
      ),
  };
}

async function marked(request: Request, steps: readonly Request[]): Promise<Marked> {
  const { send } = await open();
  const plan = await send(request, '?dry_run=true');
  const { mark } = plan.body as { readonly mark: string };
  const between: number[] = [];
  for (const step of steps) between.push((await send(step)).status);
  return { plan, between, answer: await send(request, `?mark=${mark}`) };
}

/** The answer that has the plan of now. */
const misfit = {
  status: 412,
  body: { code: 'precondition-failed', plan: { mark: expect.any(String) } },
};

describe('the mark of a plan that was made before the name was used again', () => {
  it('is that of a plan, and the name can be used again', async () => {
    for (const [what, request, again] of equals)
      for (const fixed of ['other', fixedOf(request)]) {
        const { plan, between } = await marked(request, again(fixed));
        expect([what, plan.status, between.filter((status) => status >= 300)]).toEqual([what, 200, []]);
      }
  });

  it.each(deletions)('does not fit another resource: %s', async (_what, request, again) => {
    expect((await marked(request, again('other'))).answer).toMatchObject(misfit);
  });

  // Fails until a mark binds the resource, and not its name.
  it.failing.each(rows)('does not fit another resource: %s', async (_what, request, again) => {
    expect((await marked(request, again('other'))).answer).toMatchObject(misfit);
  });

  // Fails until a mark binds the creation of the resource.
  it.failing.each(equals)(
    'does not fit a later resource that is equal: %s',
    async (_what, request, again) => {
      expect((await marked(request, again(fixedOf(request)))).answer).toMatchObject(misfit);
    },
  );

  it('closes no session of a later service', async () => {
    const { admin, send } = await open();
    admin.report({ ...openedSession(1), service: 'Busy' });
    const closing: Request = ['DELETE', '/services/Busy/sessions'];
    const { mark } = (await send(closing, '?dry_run=true')).body as { readonly mark: string };
    await send(closing);
    for (const step of another.busy('other')) expect((await send(step)).status).toBeLessThan(300);
    admin.report({ ...openedSession(2), service: 'Busy', connected: Date.parse('2100-01-01T00:00:00Z') });
    await send(closing, `?mark=${mark}`);
    expect(admin.snapshot.sessions.countOfService('busy')).toBe(1);
  });

  it('of an undo does not fit a later resource: the undo is refused', async () => {
    const { send } = await open();
    await send(['PATCH', '/services/Idle', limit]);
    const [entry] = (await send(['GET', '/history'])).body as readonly { readonly id: string }[];
    const undo: Request = ['PUT', `/history/${entry?.id ?? ''}/undo`];
    const { mark } = (await send(undo, '?dry_run=true')).body as { readonly mark: string };
    await send(['DELETE', '/services/Idle']);
    const later = { name: 'Idle', router: 'other', state: 'stopped', max_connection: 5 };
    expect((await send(['POST', '/services', later])).status).toBe(201);
    expect(await send(undo, `?mark=${mark}`)).toMatchObject({ status: 409, body: { code: 'undo-refused' } });
  });
});
