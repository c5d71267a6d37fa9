import { describe, expect, it } from '@jest/globals';
import {
  EffectRefusedError,
  createAdmin,
  createBasicAuthentication,
  createMemoryStore,
  createPbkdf2Hasher,
  createSecretSealer,
  createSnapshot,
  openAdmin,
  patchServer,
  patchService,
  type Admin,
  type EffectOf,
  type Sealed,
} from 'gateway-admin-core';

import { readAudit } from '../support/audit-reader.ts';
import { sampleSnapshot } from '../support/document.ts';
import { planted } from '../support/planted.ts';
import { lookAt, takeLeaks } from '../support/leak.ts';
import { runAdmin, sampleGateway } from '../support/running-admin.ts';
import { transports, type Answer } from '../support/transport.ts';
import { endpoints, targetOf } from './endpoint.ts';
import { modifiableFields } from './modifiable-field.ts';

const password = 'planted-Passw0rd-ünïcode';
const json = { 'content-type': 'application/json' };
const service = '/services/My-Service';
/** The secrets of the service that the tests patch. */
const secrets = modifiableFields.filter(({ patch, secret }) => patch === service && secret === true);
const setSecrets = JSON.stringify(
  secrets.map(({ field }) => ({ op: 'replace', path: `/${field}`, value: password })),
);

/** The maps with secret entries. The sample has the secret name "password". */
const maps = modifiableFields.filter(({ secretEntries }) => secretEntries !== undefined);

/** Patches of a map that set a secret entry, and patches that try to read one. */
function entryOperations({ field, kind }: (typeof maps)[number]): readonly object[] {
  const places = ['password', 'PassWord', 'password/value', 'password/0'].map((name) => `/${field}/${name}`);
  // Elsewhere, a map with a "name" and a "value" is a map like any other.
  const single = kind === 'filter' ? [{ name: 'password', value: password }] : [];
  const whole = [{ password }, { password: { value: password } }, ...single];
  return [
    { op: 'add', path: `/${field}/password`, value: { value: password } },
    ...['add', 'replace', 'test'].flatMap((op) => [
      ...places.map((path) => ({ op, path, value: password })),
      ...whole.map((value) => ({ op, path: `/${field}`, value })),
    ]),
    ...['copy', 'move'].flatMap((op) =>
      places.flatMap((path) => [
        { op, from: path, path: `/${field}/open` },
        { op, from: `/${field}/open`, path },
        { op, from: `/${field}`, path },
      ]),
    ),
    { op: 'test', path: `/${field}`, value: { password: planted.sealed } },
    { op: 'add', path: `/${field}/open`, value: { sealed: password } },
    { op: 'paint', path: `/${field}/password`, value: password },
  ];
}

const setPassword = JSON.stringify([{ op: 'replace', path: '/password', value: password }]);

/** The sealed texts of these secrets in settings. */
function sealedIn(settings: object | undefined): readonly string[] {
  const values = new Map<string, Sealed>(Object.entries(settings ?? {}));
  return secrets.map(({ field }) => values.get(field)?.sealed ?? '');
}

/** Fails where anything secret is in what a client got. */
function expectNoSecret(answers: readonly Pick<Answer, 'text' | 'headers'>[]): void {
  expect(answers).not.toHaveLength(0);
  for (const { text, headers } of answers) {
    const all = `${text} ${JSON.stringify(headers)}`;
    for (const secret of [
      password,
      encodeURIComponent(password),
      planted.hash,
      planted.sealed,
      '$pbkdf2',
      'v1.',
    ]) {
      expect(all).not.toContain(secret);
    }
  }
}

describe('a value that is no password of a service', () => {
  it('is refused with the rule', async () => {
    const { send } = await transports.core(runAdmin().admin);
    const body = JSON.stringify([{ op: 'replace', path: '/password', value: 7 }]);
    expect((await send('PATCH', service, { headers: json, body })).body).toMatchObject({
      code: 'password-unacceptable',
      detail: '/password: must be a string',
    });
  });
});

describe('a client', () => {
  // Promise: answer-secret
  // Promise: audit-secret
  it('no answer and no audit record contains a secret', async () => {
    const sealer = createSecretSealer();
    const { admin, gateway, errors } = runAdmin({ sealer });
    const records = readAudit(admin);
    const transport = await transports.core(admin);
    const answers: Answer[] = [];
    let writes = 0;
    const send = async (method: string, target: string, body?: string): Promise<Answer> => {
      const answer = await transport.send(method, target, body === undefined ? {} : { headers: json, body });
      answers.push(answer);
      if (method !== 'GET' && !target.includes('?dry_run')) writes += 1;
      return answer;
    };
    expect((await send('PATCH', `${service}?dry_run=true`, setSecrets)).status).toBe(200);
    expect((await send('PATCH', service, setSecrets)).status).toBe(200);
    for (const sealed of sealedIn(admin.snapshot.services.find('my-service')?.settings))
      expect(await sealer.open(sealed)).toBe(password);
    expect((await send('PUT', '/users', JSON.stringify({ name: 'joan', password }))).status).toBe(204);
    expect(admin.snapshot.users.find('joan')?.settings.password.sealed).not.toContain(password);
    expect((await send('PATCH', '/users/joan?dry_run=true', setPassword)).status).toBe(200);
    expect((await send('PATCH', '/users/joan', setPassword)).status).toBe(200);
    expect(admin.snapshot.users.find('joan')?.settings.password.sealed).not.toContain(password);
    for (const op of ['test', 'remove', 'copy', 'move', 'paint'])
      await send('PATCH', '/users/joan', JSON.stringify([{ op, path: '/password', value: password }]));
    for (const { field } of secrets) {
      const path = `/${field}`;
      for (const operation of ['test', 'add', 'remove', 'copy', 'move', 'paint'].flatMap((op) => [
        { op, path, from: path, value: password },
        { op, path: `${path}/0`, from: '/user', value: password },
        { op, path: '/max_connection', value: password, from: path },
        { op, path, value: [password] },
      ]))
        await send('PATCH', service, JSON.stringify([operation]));
    }
    for (const map of maps) {
      const set = JSON.stringify([{ op: 'add', path: `/${map.field}/password`, value: password }]);
      expect((await send('PATCH', `${map.patch}?dry_run=true`, set)).status).toBe(200);
      for (const body of [set, ...entryOperations(map).map((each) => JSON.stringify([each]))])
        await send('PATCH', map.patch, body);
    }
    await send('PUT', '/users', JSON.stringify({ name: 'joan', password }));
    await send('PUT', '/users', JSON.stringify({ name: password, password }));
    await send('PUT', '/users', JSON.stringify({ name: 'jane', password: [password] }));
    await send('PUT', '/users', JSON.stringify({ name: 'jane', password, role: password }));
    await send('PUT', '/users', `{"name":"jane","password":"${password}",}`);
    await send('PUT', '/users', `{"name":"jane","password":"${password}","password":"x"}`);
    for (const endpoint of endpoints.filter(({ method }) => method === 'GET'))
      await send('GET', targetOf(endpoint));
    expectNoSecret(answers);
    expect(records).toHaveLength(writes);
    expectNoSecret(records.map((record) => ({ text: JSON.stringify(record), headers: {} })));
    expect(JSON.stringify(gateway.calls)).not.toContain(password);
    expect(errors).toEqual([]);
  });

  it('a refusal by the host of a command with a secret contains no secret', async () => {
    const { admin } = runAdmin({
      gateway: sampleGateway().will(new EffectRefusedError('The backend does not take it.')),
    });
    const transport = await transports.core(admin);
    const answer = await transport.send('PATCH', service, {
      headers: json,
      body: setSecrets,
    });
    expect(answer.status).toBe(409);
    expectNoSecret([answer]);
  });
});

describe('the stream of events', () => {
  // Promise: event-secret
  it('contains secrets only sealed or hashed', async () => {
    const { admin } = runAdmin();
    const transport = await transports.core(admin);
    const reader = admin.events();
    await transport.send('PATCH', service, { headers: json, body: setSecrets });
    await transport.send('PUT', '/users', {
      headers: json,
      body: JSON.stringify({ name: 'joan', password }),
    });
    await transport.send('PATCH', '/users/joan', { headers: json, body: setPassword });
    await admin.close();
    const items: string[] = [];
    for await (const item of reader) items.push(JSON.stringify(item));
    expect(items).toHaveLength(3);
    expect(items.join('')).not.toContain(password);
  });
});

describe('the host', () => {
  it('can open the sealed secrets of an effect, and gets no plain text', async () => {
    const sealer = createSecretSealer();
    const { admin, gateway } = runAdmin({ sealer });
    const transport = await transports.core(admin);
    await transport.send('PATCH', service, { headers: json, body: setSecrets });
    const [effect] = gateway.applied as readonly EffectOf<'service.update'>[];
    for (const sealed of sealedIn(effect?.to)) expect(await sealer.open(sealed)).toBe(password);
    expect(effect?.operations).toMatchObject(secrets.map(({ field }) => ({ path: `/${field}` })));
  });

  it.each(secrets)('can give a sealed $field through execute; a client cannot', async ({ field }) => {
    const { admin } = runAdmin();
    const transport = await transports.core(admin);
    const forged = JSON.stringify([{ op: 'replace', path: `/${field}`, value: { sealed: 'v1.forged' } }]);
    const answer = await transport.send('PATCH', service, { headers: json, body: forged });
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([422, 'password-unacceptable']);
    const execution = await admin.execute((snapshot, context) =>
      patchService(
        snapshot,
        'My Service',
        [{ op: 'add', path: `/${field}`, value: { sealed: 'v1.own' } }],
        context,
      ),
    );
    expect(execution.outcome).toBe('accepted');
  });
});

describe('a password of a new user', () => {
  it('works at log-in in any Unicode normal form', async () => {
    const hasher = createPbkdf2Hasher({ rounds: 1 });
    const authenticate = createBasicAuthentication({ openUntilFirstUser: true });
    const { admin } = runAdmin({ hasher, access: { authenticate }, snapshot: createSnapshot({}) });
    const transport = await transports.core(admin);
    const decomposed = password.normalize('NFD');
    await transport.send('PUT', '/users', {
      headers: json,
      body: JSON.stringify({ name: 'Joan', password: decomposed }),
    });
    const logIn = async (text: string): Promise<number> => {
      const authorization = `Basic ${Buffer.from(`joan:${text}`).toString('base64')}`;
      return (await transport.send('GET', '/users', { headers: { authorization } })).status;
    };
    expect(await logIn(password)).toBe(200);
    expect(await logIn(decomposed)).toBe(200);
    expect(await logIn('another')).toBe(401);
  });
});

describe('every interface that tests run', () => {
  // Promise: watched-secrets
  it('is watched for secrets in answers, plans, problems, audit records, errors and the console', () => {
    expect(takeLeaks()).toEqual([]);
    for (const secret of [planted.hash, planted.sealed]) lookAt('an answer', { deep: { in: [secret] } });
    expect(takeLeaks()).toHaveLength(2);
  });

  it.each<[string, () => Admin | Promise<Admin>]>([
    ['in the usual way', () => runAdmin().admin],
    ['with createAdmin', () => createAdmin({ snapshot: sampleSnapshot(), gateway: sampleGateway() })],
    [
      'with openAdmin',
      () => openAdmin({ snapshot: sampleSnapshot(), gateway: sampleGateway(), store: createMemoryStore() }),
    ],
  ])('answers through the watch, if it is created %s', async (_way, create) => {
    const admin = await create();
    // An address is shown, so it must be noticed if it has the form of a secret.
    await admin.execute((snapshot, context) =>
      patchServer(
        snapshot,
        'db-serv-1',
        [{ op: 'replace', path: '/address', value: planted.sealed }],
        context,
      ),
    );
    await admin.handle({ method: 'GET', target: '/servers/db-serv-1', headers: {} });
    expect(takeLeaks()).toEqual([expect.stringMatching(/^an answer: /)]);
  });
});

describe('one secret twice in a sequence', () => {
  const listener = { name: 'New', protocol: 'p', address: '::', port: 4011, parameters: { password } };
  const patch = [{ op: 'replace', path: '/password', value: password }];

  it.each([
    ['POST', `${service}/listeners`, listener, 409],
    ['POST', '/servers', listener, 409],
    ['PATCH', service, patch, 200],
  ] as const)('is planned as it is done: %s %s', async (method, path, body, status) => {
    const { admin } = runAdmin({ sealer: createSecretSealer(), secretParameters: ['password'] });
    const { send } = await transports.core(admin);
    const commands = [1, 2].map(() => ({ method, path, body }));
    const sent = { headers: json, body: JSON.stringify({ commands }) };
    const plan = await send('POST', '/sequence?dry_run=true', sent);
    const made = await send('POST', '/sequence', sent);
    expect([plan.status, made.status < 300 ? 200 : made.status]).toEqual([status, status]);
    if (status !== 200) return;
    // No two seals are equal, so each patch is a change.
    const { events } = plan.body as { readonly events: readonly object[] };
    const [entry] = (await send('GET', '/history')).body as readonly { readonly events: readonly object[] }[];
    expect([events.length, entry?.events.length]).toEqual([2, 2]);
  });
});
