import { describe, expect, it } from '@jest/globals';
import { hostProblem, problem, type Veto } from 'gateway-admin-core';

import { ask } from '../../support/ask.ts';
import { runAdmin } from '../../support/running-admin.ts';
import { missing, start, stop } from '../../support/transition.ts';

const duringBusinessHours = hostProblem('host-business-hours', {
  status: 409,
  title: 'The service is in use',
  detail: 'No service is stopped during business hours. Try again after 18:00.',
});

/** Notes what a veto is shown, and refuses to stop a service. */
function noStops() {
  const shown: Parameters<Veto>[] = [];
  const veto: Veto = (decision, context) => {
    shown.push([decision, context]);
    return decision.effects.some(({ type }) => type === 'service.stop') ? duringBusinessHours : undefined;
  };
  return { veto, shown };
}

/** Asks for a stop in every way that there is. Gives the problems. */
async function stopInEveryWay({ admin }: Pick<ReturnType<typeof runAdmin>, 'admin'>): Promise<unknown[]> {
  const [executed, planned] = [await admin.execute(stop), admin.plan(stop)];
  const asked = ['', '?dry_run=true'].map((query) => ask(admin, `PUT /service/My-Service/stop${query}`));
  const answers = await Promise.all(asked);
  for (const { status, body } of answers) expect((body as { readonly status: number }).status).toBe(status);
  return [
    'problem' in executed && executed.problem,
    planned.outcome === 'refused' && planned.problem,
    ...answers.map(({ body }) => body),
  ];
}

describe('a veto of the host', () => {
  // Promise: veto
  it('refuses in execute, handle, plan and dry run alike, and nothing is done', async () => {
    const { veto, shown } = noStops();
    const running = runAdmin({ veto });
    const { admin, gateway, errors } = running;
    const { snapshot } = admin;
    expect(await stopInEveryWay(running)).toEqual(Array(4).fill(duringBusinessHours));
    expect([admin.snapshot === snapshot, gateway.calls, errors, shown.length]).toEqual([true, [], [], 4]);
    expect((await ask(admin, 'PUT /monitor/Main-Monitor/stop')).status).toBe(204);
  });

  it('is shown accepted decisions alone, with their context: events, effects, resources, the next state, the actor', async () => {
    const { veto, shown } = noStops();
    const { admin, clock } = runAdmin({ veto });
    await admin.execute(start);
    await admin.execute(missing);
    await admin.execute(stop, { ifMatch: { link: '/services/My-Service', etag: '"another"' } });
    expect(shown).toEqual([]);
    await admin.execute(stop, { actor: 'ada' });
    const decision = {
      ...{ outcome: 'accepted', resources: ['/services/My-Service'] },
      ...{ events: [{ type: 'service.stopped' }], effects: [{ type: 'service.stop' }] },
    };
    expect(shown).toMatchObject([[decision, { actor: 'ada', now: clock.now() }]]);
    expect(shown[0]?.[0].next.services.find('my-service')?.state).toBe('stopped');
  });

  it('is asked in the turn of the command, on the state of that moment', async () => {
    const revisions: number[] = [];
    const { admin } = runAdmin({ veto: ({ next }) => void revisions.push(next.revision) });
    await Promise.all([admin.execute(stop), admin.execute(start)]);
    expect(revisions.at(-1)).toBe(2);
  });

  it('refuses commands without effects, too', async () => {
    const { admin } = runAdmin({ veto: () => duringBusinessHours });
    const { snapshot } = admin;
    expect((await ask(admin, 'PUT /users', { body: { name: 'joan', password: 'pw' } })).status).toBe(409);
    expect(admin.snapshot).toBe(snapshot);
  });

  it('can refuse with a problem of the library: with the status of the table, and with faults', async () => {
    const fault = { pointer: '/port', code: 'validation-failed', detail: 'must be free' } as const;
    for (const [given, status] of [
      [problem('forbidden', 'Only ada may do this.'), 403],
      [problem('validation-failed', 'The port is taken.', [fault]), 422],
    ] as const)
      expect(await stopInEveryWay(runAdmin({ veto: () => given }))).toMatchObject(
        Array(4).fill({ ...given, status }),
      );
  });

  const throws = (): never => {
    throw new TypeError('Cannot read properties of undefined');
  };
  const ofLibrary = problem('forbidden', 'x');
  const nonsense: readonly (readonly [what: string, answer: unknown])[] = [
    ['true', true],
    ['false', false],
    ['null', null],
    ['a text', 'no'],
    ['an error', new Error('no')],
    ['an empty object', {}],
    ['a promise', Promise.resolve(undefined)],
    ['a function', () => undefined],
    ['an object whose then is no function', { then: 5 }],
    ['a code of the library with another status', { ...ofLibrary, status: 200 }],
    ['an unknown code', { ...duringBusinessHours, code: 'business-hours' }],
    ['a code of an object prototype', { ...duringBusinessHours, code: 'constructor' }],
    ['a status that a host may not choose', { ...duringBusinessHours, status: 204 }],
    ['no detail', { ...duringBusinessHours, detail: undefined }],
    ['faults that are no list', { ...ofLibrary, errors: {} }],
    ['a fault that is no object', { ...ofLibrary, errors: [null] }],
    ['a fault without a place', { ...ofLibrary, errors: [{ code: 'forbidden', detail: 'x' }] }],
    ['an unknown fault', { ...ofLibrary, errors: [{ pointer: '', code: 'no', detail: 'x' }] }],
    ['a fault without words', { ...ofLibrary, errors: [{ pointer: '', code: 'forbidden' }] }],
  ];

  // Promise: veto-fails
  it.each<[string, () => unknown]>([
    ...nonsense.map(([what, answer]): [string, () => unknown] => [what, () => answer]),
    ['a promise that rejects', () => Promise.reject(new Error('later'))],
    ['an exception', throws],
  ])('that gives %s is told and refuses with 500, and nothing is done', async (_what, veto) => {
    const running = runAdmin({ veto: veto as Veto });
    const { admin, gateway, errors, clock } = running;
    const { snapshot } = admin;
    const detail = 'The gateway failed to say whether this command is allowed, so the command was refused.';
    const refusal = { code: 'internal', status: 500, detail: expect.stringContaining(detail) as unknown };
    expect(await stopInEveryWay(running)).toMatchObject(Array(4).fill(refusal));
    await clock.settle();
    const told =
      /^veto (?:failed: .*|answered .* instead of undefined or a problem)\. The command was refused\.$/;
    const error = { name: 'HostError', call: 'veto', message: expect.stringMatching(told) as unknown };
    expect(errors).toMatchObject(Array(4).fill(error));
    expect([admin.snapshot === snapshot, gateway.calls]).toEqual([true, []]);
  });
});

describe('hostProblem', () => {
  it('makes a frozen problem with the status and the title of the host, and texts that are not too long', () => {
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

  it('refuses a wrong code, status, title or detail, and says which', () => {
    const codes = ['business-hours', 'host-', 'host-Business', 'host-a b', `host-${'a'.repeat(100)}`, 7];
    for (const [code, status, title, detail, error] of [
      ...codes.map((each) => [each, 409, 'title', 'detail', TypeError] as const),
      ...[200, 500, '409'].map((each) => ['host-a', each, 'title', 'detail', RangeError] as const),
      ['host-a', 409, '', 'detail', TypeError],
      ['host-a', 409, 'title', 5, TypeError],
    ] as const) {
      const make = (): unknown => hostProblem(code as never, { status, title, detail } as never);
      expect(make).toThrow(error);
      expect(make).toThrow(/hostProblem|code|status|title|detail/);
    }
    expect(() => hostProblem('host-a', undefined as never)).toThrow(TypeError);
    expect(() => problem('host-a' as never, 'x')).toThrow('hostProblem');
    expect(() => problem('constructor' as never, 'x')).toThrow(TypeError);
  });
});
