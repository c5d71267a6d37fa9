/**
 * The read-only mode at each endpoint, and for the program. tests/scenarios/handler/read-only.txt has its begin and its end.
 */
import { describe, expect, it } from '@jest/globals';
import { stopService, type AdminRequest, type AdminResponse, type Transition } from 'gateway-admin-core';
import { additions, endpoints, targetOf } from '../../contract/endpoint.ts';
import { appliedTo, runAdmin, type Running } from '../../support/running-admin.ts';
import { silentHost } from '../../support/silent-host.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const json = { 'content-type': 'application/json' };

async function send(
  { admin }: Running,
  method: string,
  target: string,
  more: Partial<AdminRequest> = {},
): Promise<AdminResponse> {
  const handled = await admin.handle({ method, target, headers: {}, ...more });
  if (!handled.matched) throw new Error(`Nothing at ${target}`);
  return handled.response;
}

/** The status of a response, with the code of its problem. */
function answerOf({ status, body }: AdminResponse): string {
  const { code } = (typeof body === 'string' ? JSON.parse(body) : {}) as { readonly code?: string };
  return `${String(status)} ${code ?? ''}`;
}

/** An interface that is read-only. */
function readOnly(options: Parameters<typeof runAdmin>[0] = {}): Running {
  const running = runAdmin(options);
  running.admin.readOnly = true;
  return running;
}

const all = [...endpoints, ...additions];
const writing = all.filter(({ method, worksReadOnly }) => method !== 'GET' && worksReadOnly !== true);
const reading = all.filter(({ method, path, stream }) => method === 'GET' && path !== '/' && stream !== true);

describe('an interface that is read-only', () => {
  // Promise: read-only
  it.each(writing)('answers 403 to $method $path, and does nothing', async (endpoint) => {
    const running = readOnly();
    const { snapshot } = running.admin;
    const sent = { headers: json, body: '{ not JSON' };
    for (const target of [targetOf(endpoint), endpoint.path.replaceAll(/:\w+/g, 'nobody')])
      for (const query of ['', '?dry_run=false', '?nonsense=1'])
        expect([target, query, answerOf(await send(running, endpoint.method, target + query, sent))]).toEqual(
          [target, query, '403 read-only'],
        );
    expect(running.admin.snapshot).toBe(snapshot);
    expect(running.gateway.calls).toEqual([]);
  });

  it.each(reading)('answers GET $path as always', async (endpoint) => {
    const target = targetOf(endpoint);
    expect(await send(readOnly(), 'GET', target)).toEqual(await send(runAdmin(), 'GET', target));
  });

  // Promise: read-only-host
  it('lets the program itself execute, plan and report', async () => {
    const running = readOnly();
    const { admin, gateway } = running;
    expect(admin.plan(stop).outcome).toBe('accepted');
    expect((await admin.execute(stop)).outcome).toBe('accepted');
    admin.report({ type: 'server.reported', server: 'db-serv-1', status: ['running', 'slave'] });
    expect(admin.snapshot.servers.find('db-serv-1')?.settings.state).toEqual(['running', 'slave']);
    expect(appliedTo(gateway)).toEqual(['service.stop /services/My-Service']);
    expect(admin.readOnly).toBe(true);
  });

  it('lets the program itself abandon a command', async () => {
    const running = await silentHost(stop, 'not-in-place', 'not-in-place');
    const execution = await running.execution;
    running.admin.readOnly = true;
    const id = execution.outcome === 'unknown' ? execution.commandId : '';
    expect((await running.admin.abandon(id)).outcome).toBe('accepted');
  });

  it('is refused when its body has arrived', async () => {
    const running = runAdmin();
    const { snapshot } = running.admin;
    const response = await send(running, 'PUT', '/users', {
      headers: json,
      body: () => {
        running.admin.readOnly = true;
        return Promise.resolve(new TextEncoder().encode('{"name":"joan","password":"arc"}'));
      },
    });
    expect(answerOf(response)).toBe('403 read-only');
    expect(running.admin.snapshot).toBe(snapshot);
  });
});

describe('admin.readOnly', () => {
  it.each([undefined, null, 0, 1, 'false', {}])('cannot be %j', (value) => {
    const { admin } = readOnly();
    expect(() => {
      admin.readOnly = value as boolean;
    }).toThrow(new TypeError('readOnly must be true or false'));
    expect(admin.readOnly).toBe(true);
  });
});
