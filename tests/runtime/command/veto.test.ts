import { describe, expect, it } from '@jest/globals';
import {
  createUser,
  hostProblem,
  problem,
  startService,
  stopService,
  type AdminOptions,
  type Transition,
  type Veto,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { runAdmin, sampleGateway, type Running } from '../../support/running-admin.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const start: Transition = (snapshot, context) => startService(snapshot, 'My Service', context);

const duringBusinessHours = hostProblem('host-business-hours', {
  status: 409,
  title: 'The service is in use',
  detail: 'No service is stopped during business hours. Try again after 18:00.',
});

/** Refuses to stop a service, and notes what it is shown. */
function noStops() {
  const shown: Parameters<Veto>[] = [];
  const veto: Veto = (decision, context) => {
    shown.push([decision, context]);
    return decision.effects.some(({ type }) => type === 'service.stop') ? duringBusinessHours : undefined;
  };
  return { veto, shown };
}

async function send({ admin }: Running, method: string, target: string, body?: unknown) {
  const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/json';
  const handled = await admin.handle({
    method,
    target,
    headers: { 'content-type': type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!handled.matched) throw new Error('There is nothing at this path');
  const { status, body: text = '' } = handled.response;
  return {
    status,
    body: typeof text === 'string' && text !== '' ? (JSON.parse(text) as unknown) : undefined,
  };
}

describe('a veto of the host', () => {
  // Promise: veto
  it('refuses in execute, handle, plan and dry run alike, and nothing is done', async () => {
    const { veto, shown } = noStops();
    const running = runAdmin({ veto });
    const { admin, gateway, errors } = running;
    const { snapshot } = admin;
    expect(await admin.execute(stop)).toEqual({
      outcome: 'refused',
      problem: duringBusinessHours,
      events: [],
    });
    expect(admin.plan(stop)).toEqual({ outcome: 'refused', problem: duringBusinessHours });
    for (const target of ['/service/My-Service/stop', '/service/My-Service/stop?dry_run=true']) {
      expect(await send(running, 'PUT', target)).toEqual({
        status: 409,
        body: {
          type: 'urn:problem-type:gateway-admin:host-business-hours',
          title: 'The service is in use',
          status: 409,
          detail: 'No service is stopped during business hours. Try again after 18:00.',
          code: 'host-business-hours',
        },
      });
    }
    expect([admin.snapshot === snapshot, gateway.calls, errors, shown.length]).toEqual([true, [], [], 4]);
    expect((await send(running, 'PUT', '/monitor/Main-Monitor/stop')).status).toBe(204);
  });

  it('is shown the decision and its context: events, effects, resources, the next snapshot and the actor', async () => {
    const { veto, shown } = noStops();
    const { admin } = runAdmin({ veto });
    await admin.execute(stop, { actor: 'ada' });
    expect(shown).toMatchObject([
      [
        {
          outcome: 'accepted',
          resources: ['/services/My-Service'],
          events: [{ type: 'service.stopped' }],
          effects: [{ type: 'service.stop' }],
        },
        { actor: 'ada', now: Date.parse('2016-09-10T00:00:00Z') },
      ],
    ]);
    expect(shown[0]?.[0].next.services.find('my-service')?.state).toBe('stopped');
  });

  it('is shown only decisions that were accepted', async () => {
    const { veto, shown } = noStops();
    const running = runAdmin({ veto });
    expect((await running.admin.execute(start)).outcome).toBe('unchanged');
    expect((await send(running, 'PUT', '/service/nothing/stop')).status).toBe(404);
    const headers = { 'if-match': '"another"' };
    await running.admin.handle({ method: 'PUT', target: '/service/My-Service/stop', headers });
    expect(shown).toEqual([]);
  });

  it('is asked in the turn of the command, on the state of that moment', async () => {
    const held = hold();
    const states: unknown[] = [];
    const { admin, gateway } = runAdmin({
      gateway: sampleGateway().will(held.apply),
      veto: ({ events, next }) => {
        if (events[0]?.type === 'service.started') states.push(next.revision);
        return undefined;
      },
    });
    const first = admin.execute(stop);
    const second = admin.execute(start);
    await held.begun;
    held.done();
    expect((await first).outcome).toBe('accepted');
    expect((await second).outcome).toBe('accepted');
    expect([states.at(-1), gateway.applied.length]).toEqual([2, 2]);
  });

  it('refuses commands without effects, too', async () => {
    const { admin } = runAdmin({ veto: () => duringBusinessHours });
    const { snapshot } = admin;
    const create: Transition = (state, context) =>
      createUser(state, { name: 'joan', passwordHash: 'opaque' }, context);
    expect((await admin.execute(create)).outcome).toBe('refused');
    expect(admin.snapshot).toBe(snapshot);
  });

  it('can refuse with a problem of the library, with the status of the table', async () => {
    const running = runAdmin({ veto: () => problem('forbidden', 'Only ada may do this.') });
    expect(await send(running, 'PUT', '/service/My-Service/stop')).toMatchObject({
      status: 403,
      body: { code: 'forbidden', detail: 'Only ada may do this.' },
    });
  });

  it('can refuse with the faults of a problem of the library', async () => {
    const fault = { pointer: '/port', code: 'validation-failed', detail: 'must be free' } as const;
    const running = runAdmin({ veto: () => problem('validation-failed', 'The port is taken.', [fault]) });
    expect(await send(running, 'PUT', '/service/My-Service/stop')).toMatchObject({
      status: 422,
      body: { code: 'validation-failed', detail: 'The port is taken.', errors: [fault] },
    });
  });

  const nonsense: readonly [string, unknown][] = [
    ['true', true],
    ['false', false],
    ['null', null],
    ['a text', 'no'],
    ['an error', new Error('no')],
    ['an empty object', {}],
    ['a promise', Promise.resolve(undefined)],
    ['a promise that rejects', () => Promise.reject(new Error('later'))],
    ['a code of the library with another status', { ...problem('forbidden', 'x'), status: 200 }],
    ['an unknown code', { ...duringBusinessHours, code: 'business-hours' }],
    ['a code of an object prototype', { ...duringBusinessHours, code: 'constructor' }],
    ['a status that a host may not choose', { ...duringBusinessHours, status: 204 }],
    ['no detail', { ...duringBusinessHours, detail: undefined }],
    ['faults that are no list', { ...problem('forbidden', 'x'), errors: {} }],
    ['a fault that is no object', { ...problem('forbidden', 'x'), errors: [null] }],
    [
      'a fault without a place',
      { ...problem('forbidden', 'x'), errors: [{ code: 'forbidden', detail: 'x' }] },
    ],
    [
      'a fault with an unknown code',
      { ...problem('forbidden', 'x'), errors: [{ pointer: '', code: 'no', detail: 'x' }] },
    ],
    ['a fault without words', { ...problem('forbidden', 'x'), errors: [{ pointer: '', code: 'forbidden' }] }],
    ['a function', () => () => undefined],
    ['an object whose then is no function', { then: 5 }],
  ];

  // Promise: veto-fails
  it.each([
    ['an exception', throwing],
    ...nonsense.map(([what, answer]) => [what, answering(answer)] as const),
  ])('that gives %s is told and refuses with 500, and nothing is done', async (_what, veto) => {
    const running = runAdmin({ veto: veto as unknown as NonNullable<AdminOptions['veto']> });
    const { admin, gateway, errors, clock } = running;
    const { snapshot } = admin;
    expect(await admin.execute(stop)).toMatchObject({
      outcome: 'refused',
      problem: { code: 'internal', status: 500 },
      events: [],
    });
    expect(errors).toMatchObject([
      {
        name: 'HostError',
        call: 'veto',
        message: expect.stringMatching(
          /^veto (?:failed: .*|answered .* instead of undefined or a problem)\. The command was refused\.$/,
        ),
      },
    ]);
    expect(admin.plan(stop)).toMatchObject({ outcome: 'refused', problem: { code: 'internal' } });
    expect((await send(running, 'PUT', '/service/My-Service/stop')).status).toBe(500);
    expect((await send(running, 'PUT', '/service/My-Service/stop?dry_run=true')).status).toBe(500);
    await clock.settle();
    expect([admin.snapshot === snapshot, gateway.calls, errors.length]).toEqual([true, [], 4]);
  });

  function answering(answer: unknown): () => unknown {
    return typeof answer === 'function' ? (answer as () => unknown) : () => answer;
  }

  function throwing(): never {
    throw new TypeError('Cannot read properties of undefined');
  }
});

describe('hostProblem', () => {
  it('makes a frozen problem with the status and the title of the host', () => {
    expect(duringBusinessHours).toEqual({
      type: 'urn:problem-type:gateway-admin:host-business-hours',
      title: 'The service is in use',
      status: 409,
      detail: 'No service is stopped during business hours. Try again after 18:00.',
      code: 'host-business-hours',
    });
    expect(Object.isFrozen(duringBusinessHours)).toBe(true);
    const long = hostProblem('host-x', { status: 422, title: 't'.repeat(9999), detail: 'd'.repeat(9999) });
    expect([long.status, long.title.length < 300, long.detail.length < 2100]).toEqual([422, true, true]);
  });

  it.each([
    ['business-hours', 409, 'title', 'detail', TypeError],
    ['host-', 409, 'title', 'detail', TypeError],
    ['host-Business', 409, 'title', 'detail', TypeError],
    ['host-a b', 409, 'title', 'detail', TypeError],
    [`host-${'a'.repeat(100)}`, 409, 'title', 'detail', TypeError],
    [7, 409, 'title', 'detail', TypeError],
    ['host-a', 200, 'title', 'detail', RangeError],
    ['host-a', 500, 'title', 'detail', RangeError],
    ['host-a', '409', 'title', 'detail', RangeError],
    ['host-a', 409, '', 'detail', TypeError],
    ['host-a', 409, 'title', 5, TypeError],
  ])(
    'refuses the code %p, the status %p, the title %p and the detail %p',
    (code, status, title, detail, error) => {
      const make = (): unknown => hostProblem(code as never, { status, title, detail } as never);
      expect(make).toThrow(error);
      expect(make).toThrow(/hostProblem|code|status|title|detail/);
    },
  );

  it('refuses to be called without details', () => {
    expect(() => hostProblem('host-a', undefined as never)).toThrow(TypeError);
    expect(() => problem('host-a' as never, 'x')).toThrow('hostProblem');
    expect(() => problem('constructor' as never, 'x')).toThrow(TypeError);
  });
});
