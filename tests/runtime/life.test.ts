/**
 * The begin and the end of an interface. tests/scenarios/store/{document,closing}.txt say what clients see of them.
 */
import { inspect } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import {
  adoptDocument,
  createBasicAuthentication,
  createMemoryStore,
  createSnapshot,
  DifferingDocumentError,
  EffectRefusedError,
  sequence,
  type Admin,
  type AdminOptions,
  type AdminRequest,
  type GatewayDocument,
  type Transition,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { configuration } from '../support/configuration.ts';
import { sampleDocument, sampleSnapshot } from '../support/document.ts';
import { planted } from '../support/planted.ts';
import { appliedTo, openRunning, runAdmin, sampleGateway } from '../support/running-admin.ts';
import { limit, port, stop, stopMain } from '../support/transition.ts';
import { transportNames, transports } from '../support/transport.ts';

const adopting =
  (given = sampleSnapshot(), options: Parameters<typeof adoptDocument>[3] = {}): Transition =>
  (snapshot, context) =>
    adoptDocument(snapshot, given, context, options);

function withServices(change: (service: object) => object): GatewayDocument {
  return { ...sampleDocument, services: (sampleDocument.services ?? []).map(change) } as GatewayDocument;
}

describe('a start with a document that differs from the store', () => {
  /** The error of a start on a store that has the sample document. */
  async function told(document: GatewayDocument): Promise<DifferingDocumentError> {
    const store = createMemoryStore();
    await (await openRunning(store)).admin.close();
    const { admin, errors } = await openRunning(store, { snapshot: createSnapshot(document) });
    await admin.close();
    expect(errors).toEqual([expect.any(DifferingDocumentError)]);
    return errors[0] as DifferingDocumentError;
  }

  it('lists 20 places at most, and counts the others', async () => {
    const parameters = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`p${String(at)}`, at]));
    const servers = (sampleDocument.servers ?? []).map((server) => ({ ...server, parameters }));
    const error = await told({ ...sampleDocument, servers });
    const lines = error.message.split('\n');
    expect(lines).toHaveLength(1 + 20 + 1 + 1);
    expect(lines[0]).toContain('in 204 places');
    expect(lines[21]).toBe('  and 184 more');
    expect(error.differences).toHaveLength(204);
    expect(Object.isFrozen(error.differences[0])).toBe(true);
  });

  // Promise: document-differs-secret
  it('tells of passwords without their values, in the message and in a console', async () => {
    const error = await told({
      ...withServices((each) => ({ ...each, password: { sealed: 'v1.planted-too' } })),
      users: [{ name: 'ada', password: { sealed: 'planted-too' } }],
    });
    expect(error.differences.map(({ pointer }) => pointer)).toEqual([
      ...[0, 1, 2, 3].map((at) => `/services/${String(at)}/password`),
      '/users/0/password',
    ]);
    const text = JSON.stringify(error.differences) + inspect(error, { depth: 9 });
    expect(text).toContain('the document has another password than the one in use');
    expect(text).toContain('the document has a password, and none is in use');
    for (const secret of ['planted-too', planted.sealed, planted.hash]) expect(text).not.toContain(secret);
  });
});

describe('a running interface that adopts a document', () => {
  // Promise: adopt-document
  it('asks the gateway for every change, keeps the result, and differs no more after a restart', async () => {
    const store = createMemoryStore();
    const { admin, gateway } = await openRunning(store);
    await admin.execute(sequence(stop, stopMain, limit(7)));
    const { length } = gateway.calls;
    expect((await admin.execute(adopting(), { actor: 'ada' })).outcome).toBe('accepted');
    expect(appliedTo(gateway).slice(length)).toEqual([
      'service.update /services/My-Service',
      'service.start /services/My-Service',
      'monitor.start /monitors/Main-Monitor',
    ]);
    expect(configuration(admin.snapshot)).toEqual(configuration(sampleSnapshot()));
    expect((await admin.execute(adopting())).outcome).toBe('unchanged');
    await admin.close();
    const next = await openRunning(store);
    await next.admin.close();
    expect(next.errors).toEqual([]);
  });

  // Promise: adopt-atomic
  it('changes nothing if the gateway refuses one change: the others are undone', async () => {
    const { admin, gateway } = runAdmin();
    await admin.execute(sequence(stop, stopMain, limit(7)));
    const [before, { length }] = [admin.snapshot, gateway.calls];
    gateway.will('done', 'done', new EffectRefusedError('No probes now.'));
    const detail = 'The gateway refused: No probes now. Nothing was changed.';
    const refusal = { outcome: 'refused', problem: { code: 'effect-refused', detail } };
    expect(await admin.execute(adopting())).toMatchObject(refusal);
    const undone = ['service.stop', 'service.update'].map((type) => `${type} /services/My-Service`);
    expect(appliedTo(gateway).slice(length + 3)).toEqual(undone);
    expect(admin.snapshot).toBe(before);
    expect(gateway.differences(admin.snapshot)).toEqual([]);
  });

  it('is planned with every event and effect, without secrets', async () => {
    const { admin } = runAdmin();
    await admin.execute(stop);
    const given = createSnapshot(withServices((each) => ({ ...each, password: { sealed: 'v1.other' } })));
    const plan = admin.plan(adopting(given));
    const services = ['my', 'bare', 'report', 'spare'].map((name) => `${name}-service`);
    const updates = services.map((service) => ({ type: 'service.update', service }));
    const effects = [...updates, { type: 'service.start', service: 'my-service' }];
    expect(plan).toMatchObject({ outcome: 'accepted', effects });
    expect(JSON.stringify(plan)).not.toMatch(/v1\./);
  });

  it('waits for a command in flight, also on a resource that does not differ yet', async () => {
    const held = hold();
    const { admin, gateway } = runAdmin({ gateway: sampleGateway().will(held.apply) });
    const executions = [stop, adopting()].map((each) => admin.execute(each));
    await held.begun;
    held.done();
    const outcomes = (await Promise.all(executions)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['accepted', 'accepted']);
    const verbs = ['stop', 'start'];
    expect(appliedTo(gateway)).toEqual(verbs.map((verb) => `service.${verb} /services/My-Service`));
  });

  it('is refused while the outcome of a command on one of its resources is unknown, and goes on with others', async () => {
    const { admin, gateway } = runAdmin();
    await admin.execute(port(1));
    gateway.will(new Error('lost')).otherwise({ apply: 'done', inspect: new Error('cannot tell') });
    expect((await admin.execute(stop)).outcome).toBe('unknown');
    expect(await admin.execute(adopting())).toMatchObject({ problem: { code: 'command-in-progress' } });
    const only = adopting(undefined, { only: ['/servers/db-serv-1'] });
    expect((await admin.execute(only)).outcome).toBe('accepted');
  });
});

describe('close', () => {
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

const [done, closed] = [
  [204, undefined],
  [503, 'closed'],
];
const patchOf = (target: string, body: string): Waiting['ask'] =>
  asking({ method: 'PATCH', target, headers: json, body });
const newPassword = patchOf('/services/My-Service', '[{"op":"add","path":"/password","value":"plum pie"}]');
const hash = () => Promise.resolve('a hash');
const verify = () => Promise.resolve(true);
const logIn = { authenticate: createBasicAuthentication() };

const lateHash: Waiting['options'] = (wait) => ({ hasher: { hash: () => wait().then(hash), verify } });
const lateCheck: Waiting['options'] = (wait) => ({
  ...{ access: logIn, hasher: { hash, verify: () => wait().then(verify) } },
});
const lateLogIn: Waiting['options'] = (wait) => ({
  access: { authenticate: () => wait().then(() => ({ name: 'ada' })) },
});
/** A node of a fleet seals a text of its own at its start. */
const lateSeal: Waiting['options'] = (wait) => ({
  sealer: {
    durable: true,
    seal: async (secret) => (secret === 'plum pie' ? await wait() : undefined, 'sealed'),
    open: () => Promise.resolve(''),
  },
});

const waitings = Object.entries<readonly [Waiting['options'], Waiting['ask'], Waiting['answer']]>({
  'the audit record of a command': [lateSink, asking({}), done],
  'the audit record of the read-only mode': [lateSink, patchOf('/', readOnly), [200, undefined]],
  'the audit record of a command of the host': [
    lateSink,
    async (admin) => (await admin.execute(stop)).outcome,
    'accepted',
  ],
  'the audit record of a command, which the sink rejects': [failingSink, asking({}), done],
  'the hash of a new password': [lateHash, asking(newUser), closed],
  'the check of a password': [lateCheck, asking(basic), closed],
  'a log-in of the host': [lateLogIn, asking({}), closed],
  'the sealed form of a secret': [lateSeal, newPassword, closed],
}).map(([what, [options, ask, answer]]) => [what, { options, ask, answer }] as const);

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
  it.each(waitings)('waits for %s', async (_what, waiting) => {
    const { clock, order, answer, pass } = await closeDuring(waiting);
    expect(order).toEqual([]);
    pass();
    await clock.advance(1000);
    expect(order).toEqual(['answered', 'closed']);
    expect(await answer).toEqual(waiting.answer);
  });

  it.each(waitings)('waits for %s until its deadline', async (_what, waiting) => {
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
