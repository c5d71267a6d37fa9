import { describe, expect, it } from '@jest/globals';
import {
  createBasicAuthentication,
  createMemoryStore,
  stopService,
  type Admin,
  type AdminOptions,
  type AdminRequest,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { openRunning, runAdmin, sampleGateway } from '../support/running-admin.ts';
import { transportNames, transports } from '../support/transport.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);

describe('close', () => {
  it('refuses commands while it waits for the gateway', async () => {
    const held = hold();
    const { admin, clock } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const begun = admin.execute(stop);
    await held.begun;
    let closed = false;
    const closing = admin.close().then(() => {
      closed = true;
    });
    expect(await admin.execute(stop)).toMatchObject({ outcome: 'refused', problem: { code: 'closed' } });
    await clock.settle();
    expect(closed).toBe(false);
    held.done();
    expect((await begun).outcome).toBe('accepted');
    await closing;
  });

  it('can be called several times, also as the disposer of `await using`', async () => {
    const { admin } = runAdmin();
    await admin.close();
    await admin.close();
    await admin[Symbol.asyncDispose]();
    expect((await admin.execute(stop)).outcome).toBe('refused');
  });

  it('ends every reader, and takes later reports without telling anybody', async () => {
    const { admin } = runAdmin();
    const read = async (): Promise<readonly unknown[]> => {
      const events: unknown[] = [];
      for await (const event of admin.events()) events.push(event);
      return events;
    };
    const before = read();
    admin.report({ type: 'service.reported', service: 'My Service', state: 'failed' });
    await admin.close();
    admin.report({ type: 'service.reported', service: 'My Service', state: 'started' });
    expect(admin.snapshot.services.find('my-service')?.state).toBe('started');
    expect([(await before).length, await read()]).toEqual([1, []]);
  });

  it.each(transportNames)('still answers reads, and answers commands with 503, through %s', async (name) => {
    const { admin } = runAdmin();
    const transport = await transports[name](admin);
    await admin.close();
    expect((await transport.send('GET', '/services')).status).toBe(200);
    const answer = await transport.send('PUT', '/service/My-Service/stop');
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([503, 'closed']);
    await transport.close();
  });
});

/** An answer that waits for something until a test lets it go on. */
interface Waiting {
  /** Gets the function that waits. */
  readonly options: (
    wait: () => Promise<void>,
  ) => Pick<AdminOptions, 'access' | 'observe' | 'hasher' | 'sealer'>;
  readonly ask: (admin: Admin) => Promise<unknown>;
  /** The answer if the test lets it go on. */
  readonly answer: unknown;
}

const json = { 'content-type': 'application/json' };

/** Asks as a client, and gives the status and the code of the problem. */
function asking(request: Partial<AdminRequest>): Waiting['ask'] {
  return async (admin) => {
    const handled = await admin.handle({ method: 'PUT', target: stopTarget, headers: {}, ...request });
    if (!handled.matched) return undefined;
    const { status, body } = handled.response;
    const { code } = JSON.parse(typeof body === 'string' ? body : '{}') as { readonly code?: string };
    return [status, code];
  };
}

const stopTarget = '/service/My-Service/stop';
const newUser = { target: '/users', headers: json, body: '{"name":"eve","password":"plum pie"}' };
const readOnly = '[{"op":"replace","path":"/read_only","value":true}]';
const basic = { headers: { authorization: `Basic ${btoa('ada:secret')}` } };

/** A sink that must keep every record, and keeps none before a test lets it. */
const lateSink: Waiting['options'] = (wait) => ({
  observe: { audit: { required: true, sink: { append: wait } } },
});

/** The same with a sink that rejects before that. */
const failingSink: Waiting['options'] = (wait) => {
  let fails = true;
  const append = (): Promise<void> => {
    void wait().then(() => (fails = false));
    return fails ? Promise.reject(new Error('The disk is full')) : Promise.resolve();
  };
  return { observe: { audit: { required: true, sink: { append } } } };
};

const waitings: Readonly<Record<string, Waiting>> = {
  'the audit record of a command': { options: lateSink, ask: asking({}), answer: [204, undefined] },
  'the audit record of an action': {
    options: lateSink,
    ask: asking({ method: 'PATCH', target: '/', headers: json, body: readOnly }),
    answer: [200, undefined],
  },
  'the audit record of a command of the host': {
    options: lateSink,
    ask: async (admin) => (await admin.execute(stop)).outcome,
    answer: 'accepted',
  },
  'the audit record of a command, which the sink rejects': {
    options: failingSink,
    ask: asking({}),
    answer: [204, undefined],
  },
  'the hash of a new password': {
    options: (wait) => ({
      hasher: { hash: () => wait().then(() => 'a hash'), verify: () => Promise.resolve(true) },
    }),
    ask: asking(newUser),
    answer: [503, 'closed'],
  },
  'the check of a password': {
    options: (wait) => ({
      access: { authenticate: createBasicAuthentication() },
      hasher: { hash: () => Promise.resolve('a hash'), verify: () => wait().then(() => true) },
    }),
    ask: asking(basic),
    answer: [503, 'closed'],
  },
  'a log-in of the host': {
    options: (wait) => ({ access: { authenticate: () => wait().then(() => ({ name: 'ada' })) } }),
    ask: asking({}),
    answer: [503, 'closed'],
  },
  'the sealed form of a secret': {
    options: (wait) => ({
      sealer: {
        durable: true,
        // A node of a fleet seals a text of its own at its start.
        seal: async (secret) => (secret === 'plum pie' ? await wait() : undefined, 'sealed'),
        open: () => Promise.resolve(''),
      },
    }),
    ask: asking({
      method: 'PATCH',
      target: '/services/My-Service',
      headers: json,
      body: '[{"op":"add","path":"/password","value":"plum pie"}]',
    }),
    answer: [503, 'closed'],
  },
};

describe('close, while an answer waits', () => {
  /** Asks for something, and begins to close the interface while the answer waits. */
  async function closeDuring({ options, ask }: Omit<Waiting, 'answer'>) {
    let [begin, pass] = [(): void => undefined, (): void => undefined];
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const passed = new Promise<void>((resolve) => (pass = resolve));
    const wait = (): Promise<void> => (begin(), passed);
    const { admin, clock } = await openRunning(createMemoryStore(), options(wait));
    const order: string[] = [];
    const answer = ask(admin).finally(() => order.push('answered'));
    await begun;
    void admin.close().then(() => order.push('closed'));
    await clock.advance(10);
    return { clock, order, answer, pass };
  }

  // Promise: close-answers
  it.each(Object.entries(waitings))('waits for %s', async (_what, waiting) => {
    const { clock, order, answer, pass } = await closeDuring(waiting);
    expect(order).toEqual([]);
    pass();
    await clock.advance(1000);
    expect(order).toEqual(['answered', 'closed']);
    expect(await answer).toEqual(waiting.answer);
  });

  it.each(Object.entries(waitings))('waits for %s until its deadline', async (_what, waiting) => {
    const { clock, order } = await closeDuring(waiting);
    await clock.advance(60_000);
    expect(order).toEqual(['answered', 'closed']);
  });

  it('answers a request whose body is on its way with 503 at once', async () => {
    const { admin } = await openRunning(createMemoryStore());
    const order: string[] = [];
    const never = (): Promise<never> => new Promise(() => undefined);
    const answer = asking({ ...newUser, body: never })(admin).finally(() => order.push('answered'));
    await admin.close();
    order.push('closed');
    expect(order).toEqual(['answered', 'closed']);
    expect(await answer).toEqual([503, 'closed']);
  });
});
