/**
 * The limits of what answers contain.
 */
import { createSnapshot, EffectRefusedError, hostProblem, problem, type Fault } from 'gateway-admin-core';

import { writers } from '../../support/input.ts';
import { keeps, lengthOf, type Limit } from '../../support/limit.ts';
import { openedSessions } from '../../support/opened-session.ts';
import { runAdmin, sampleGateway, type Running } from '../../support/running-admin.ts';
import { transports } from '../../support/transport.ts';

const [patch] = writers;
const cut = 'the text is cut';
const letter = 'ж';
const letters = (size: number): string => letter.repeat(size);

/** The body of an answer. */
async function bodyOf<T>({ admin }: Running, method: string, target: string, sent = {}): Promise<T> {
  const { send } = await transports.core(admin);
  return (await send(method, target, sent)).body as T;
}

/** Counts the faults of a patch whose operations are all wrong. */
async function faults(size: number): Promise<number> {
  const sent = {
    headers: patch.headers,
    body: JSON.stringify(Array(size).fill({ op: 'paint', path: '/user' })),
  };
  const { errors } = await bodyOf<{ readonly errors: readonly Fault[] }>(
    runAdmin(),
    'PATCH',
    patch.target,
    sent,
  );
  return errors.length;
}

/** Counts the sessions that the plan of a teardown lists. */
async function planned(size: number): Promise<number> {
  const running = runAdmin();
  running.admin.report([...openedSessions(size)]);
  const target = '/services/My-Service/sessions?dry_run=true';
  const { events } = await bodyOf<{ readonly events: readonly { readonly sessions: readonly unknown[] }[] }>(
    running,
    'DELETE',
    target,
  );
  return events[0]?.sessions.length ?? 0;
}

/** Counts the events that the plan of a document shows. */
async function shown(size: number): Promise<number> {
  const servers = (port: number) =>
    Array.from({ length: size }, (_none, at) => ({
      ...{ name: `db-${String(at)}`, address: '10.0.0.1', port, protocol: 'pg' },
    }));
  const running = runAdmin({ snapshot: createSnapshot({ servers: servers(1) }) });
  const { events } = await bodyOf<{ readonly events: readonly unknown[] }>(
    running,
    'POST',
    '/document?dry_run=true',
    { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ servers: servers(2) }) },
  );
  return events.length;
}

/** The length of the reason of a failure, in bytes. */
async function failure(size: number): Promise<number> {
  const running = runAdmin();
  running.admin.report({
    type: 'service.reported',
    service: 'My Service',
    state: 'failed',
    reason: 'x'.repeat(size),
  });
  const { state_reason } = await bodyOf<{ readonly state_reason: string }>(running, 'GET', patch.target);
  return Buffer.byteLength(state_reason);
}

/** Counts the alerts about servers that are down. */
async function alerts(size: number): Promise<number> {
  const servers = Array.from({ length: size }, (_, at) => ({
    ...{ name: `db-${String(at)}`, address: '10.0.0.1', port: 5432, protocol: 'pg' },
  }));
  const running = runAdmin({ snapshot: createSnapshot({ servers }) });
  return (await bodyOf<readonly unknown[]>(running, 'GET', '/alerts')).length;
}

/** The length of the reason of a refusal. */
async function refusal(size: number): Promise<number> {
  const gateway = sampleGateway().will(new EffectRefusedError(letters(size)));
  const { detail } = await bodyOf<{ readonly detail: string }>(
    runAdmin({ gateway }),
    'PUT',
    '/service/My-Service/stop',
  );
  return detail.split(letter).length - 1;
}

/** A fault with long texts. */
const fault = (size: number): Fault | undefined =>
  problem('validation-failed', 'Wrong.', [
    { pointer: letters(size), code: 'validation-failed', detail: letters(size) },
  ]).errors?.[0];

export const answerLimits: readonly Limit[] = [
  {
    ...keeps(20, 'the rest is counted in `detail`, not listed', faults),
    bounds: 'faults that one problem lists',
  },
  {
    ...keeps(2048, cut, (size) => lengthOf(problem('internal', letters(size)).detail)),
    unit: 'characters',
    bounds: '`detail` of a problem',
  },
  {
    ...keeps(255, cut, (size) =>
      lengthOf(hostProblem('host-a', { status: 409, title: letters(size), detail: 'No.' }).title),
    ),
    unit: 'characters',
    bounds: '`title` of a problem of the host',
  },
  {
    ...keeps(512, cut, (size) => lengthOf(fault(size)?.pointer)),
    unit: 'characters',
    bounds: '`pointer` of a fault',
  },
  {
    ...keeps(1024, cut, (size) => lengthOf(fault(size)?.detail)),
    unit: 'characters',
    bounds: '`detail` of a fault',
  },
  {
    ...keeps(1024, cut, refusal),
    unit: 'characters',
    bounds: 'reason of the gateway for a refusal',
  },
  {
    ...keeps(1024, cut, failure),
    unit: 'bytes',
    bounds: 'reason of the gateway for a failure',
  },
  {
    ...keeps(1000, 'the first ones are listed, errors before warnings', alerts),
    bounds: 'alerts in the answer to `GET /alerts`',
  },
  {
    ...keeps(100, 'the rest is counted, not listed', planned),
    bounds: 'sessions or connections that an item of a plan lists',
  },
  {
    ...keeps(100, '`count` has the number of all by type', shown),
    bounds: 'events, and effects, of a plan and of an entry in `GET /history`',
  },
];
