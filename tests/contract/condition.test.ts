import { beforeEach, describe, expect, it } from '@jest/globals';
import { createSnapshot } from 'gateway-admin-core';

import { sampleDocument } from '../support/document.ts';
import { runAdmin, type Running } from '../support/running-admin.ts';
import { transports, type Answer, type Transport } from '../support/transport.ts';
import { endpoints, sentBy, taggedBy, targetOf, type Endpoint } from './endpoint.ts';

const reads = endpoints.filter(({ method }) => method === 'GET');
const writes = endpoints.filter(({ method }) => method !== 'GET');
/** Where the entity tag is read that the condition of a writing request compares. */
function conditionTargetOf(endpoint: Endpoint): string {
  const { path, subject } = endpoint;
  const [, collection = ''] = path.split('/');
  if (path.includes('/listeners')) return targetOf(endpoint);
  if (collection === 'gateway' || collection === 'users') return path.replace(/\/flush$|\/:name$/, '');
  return `/${collection.replace(/s?$/, 's')}/${subject ?? ''}`;
}

const opened = { id: 77, state: 'a', user: 'b', address: 'c', service: 'My Service', connected: 0 };
const tagForm = /^"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]+-\d+"$/;
const sessionTag = '"9.1473419557000"';

describe('entity tags', () => {
  let running: Running;
  let transport: Transport;

  beforeEach(async () => {
    running = runAdmin();
    transport = await transports.core(running.admin);
  });

  const get = (target: string, noneMatch?: string): Promise<Answer> =>
    transport.send('GET', target, noneMatch === undefined ? {} : { headers: { 'if-none-match': noneMatch } });

  async function tagOf(target: string): Promise<string> {
    return (await get(target)).headers['etag'] ?? '';
  }

  function patch(target: string, path: string, value: unknown, ifMatch?: string): Promise<Answer> {
    const type = { 'content-type': 'application/json-patch+json' };
    const headers = ifMatch === undefined ? type : { ...type, 'if-match': ifMatch };
    return transport.send('PATCH', target, { headers, body: JSON.stringify([{ op: 'add', path, value }]) });
  }

  const limit = (value: number, ifMatch?: string): Promise<Answer> =>
    patch('/services/My-Service', '/max_connection', value, ifMatch);

  it.each(reads)(
    '$path has an entity tag unless it shows live figures; a session has one for conditions',
    async (endpoint) => {
      const { headers } = await get(targetOf(endpoint));
      if (endpoint.live === true) expect(headers['etag']).toBeUndefined();
      else if (endpoint.live === 'for conditions') expect(headers['etag']).toBe(sessionTag);
      else expect(headers['etag']).toMatch(tagForm);
    },
  );

  it.each(reads)(
    '$path is 304 if If-None-Match has its entity tag, unless it shows live figures',
    async (endpoint) => {
      const target = targetOf(endpoint);
      const tag = await tagOf(target);
      const expected = endpoint.live === undefined ? 304 : 200;
      for (const header of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
        if (tag === '' && header !== '*') continue;
        const answer = await get(target, header);
        expect([header, answer.status]).toEqual([header, expected]);
        if (expected === 304) expect([answer.text, answer.headers['etag']]).toEqual(['', tag]);
      }
      expect((await get(target, '"another"')).status).toBe(200);
    },
  );

  it('a missing resource is 404, not 304', async () => {
    expect((await get('/services/nothing', '*')).status).toBe(404);
  });

  it('each selection of fields and range has an entity tag of its own', async () => {
    const whole = await tagOf('/services/My-Service');
    const part = await tagOf('/services/My-Service?fields=name');
    const pages = await Promise.all(
      ['', '?range=0-0', '?range=1-1', '?fields=name', '?fields=name&range=0-0'].map((query) =>
        tagOf(`/services${query}`),
      ),
    );
    expect(part).not.toBe(whole);
    expect(new Set(pages).size).toBe(pages.length);
    expect((await get('/services/My-Service?fields=name', whole)).status).toBe(200);
    expect((await get('/services/My-Service?fields=name', part)).status).toBe(304);
    expect((await limit(1, part)).status).toBe(200);
  });

  it('a command changes only the tags of its resource, of the parts of the resource and of the collection', async () => {
    const targets = reads.map((endpoint) => targetOf(endpoint));
    const before = await Promise.all(targets.map(tagOf));
    const answer = await limit(1);
    const after = await Promise.all(targets.map(tagOf));
    const changed = targets.filter((_, at) => before[at] !== after[at]);
    expect(changed).toEqual([
      '/services/my-service',
      '/services',
      '/services/My-Service/listeners',
      '/services/my-service/listeners/SECURE-listener',
    ]);
    expect(answer.headers['etag']).toBe(await tagOf('/services/My-Service'));
  });

  it('a patch of a service changes the tags of the filters that it adds or removes', async () => {
    const [hint, log, spare] = await Promise.all(
      ['Hint', 'Query-Log', 'Spare'].map((each) => tagOf(`/filters/${each}`)),
    );
    await patch('/services/My-Service', '/filters', ['/filters/Query-Log', '/filters/Spare']);
    expect(await tagOf('/filters/Hint')).not.toBe(hint);
    expect(await tagOf('/filters/Spare')).not.toBe(spare);
    expect(await tagOf('/filters/Query-Log')).toBe(log);
  });

  it('each created or deleted user changes the tag of the users', async () => {
    const tags = new Set([await tagOf('/users')]);
    const headers = { 'content-type': 'application/json' };
    await transport.send('PUT', '/users', { headers, body: '{"name":"joan","password":"x"}' });
    tags.add(await tagOf('/users'));
    await transport.send('DELETE', '/users/ada');
    tags.add(await tagOf('/users'));
    await transport.send('DELETE', '/users/joan');
    expect(tags.add(await tagOf('/users')).size).toBe(4);
  });

  // Promise: counter-condition
  it('an edit succeeds although counters have changed', async () => {
    const tag = await tagOf('/services/My-Service');
    running.admin.report({ type: 'session.opened', ...opened });
    expect((await get('/services/My-Service', tag)).status).toBe(200);
    expect((await get('/services', await tagOf('/services'))).status).toBe(304);
    expect((await limit(1, tag)).status).toBe(200);
    expect((await limit(2, tag)).status).toBe(412);
  });

  it('If-Match accepts lists, *, and the weak form that a proxy makes of the present tag', async () => {
    const tag = await tagOf('/services/My-Service');
    expect((await limit(1, '"a", "b"')).status).toBe(412);
    expect((await limit(1, `"a", ${tag}`)).status).toBe(200);
    expect((await limit(2, '*')).status).toBe(200);
    expect((await limit(3, tag)).status).toBe(412);
    expect((await limit(3, `W/${tag}`)).status).toBe(412);
    expect((await limit(3, `W/${await tagOf('/services/My-Service')}`)).status).toBe(200);
  });

  const malformed = ['abc', '"a', 'a"b"', '"a" "b"', "'a'", '*, "a"', 'w/"a"', '"a\u0001"'];

  it.each(malformed)('refuses the header %j', async (value) => {
    const { snapshot } = running.admin;
    const stop = transport.send('PUT', '/service/My-Service/stop', { headers: { 'if-none-match': value } });
    const answers = [await get('/services/My-Service', value), await limit(1, value), await stop];
    for (const { status, body } of answers)
      expect([status, (body as { code: string }).code]).toEqual([400, 'header-invalid']);
    expect(running.admin.snapshot).toBe(snapshot);
  });

  const sendTo = (
    endpoint: Endpoint,
    headers: Readonly<Record<string, string>>,
    query = '',
  ): Promise<Answer> => {
    const sent = sentBy(endpoint);
    const target = `${targetOf(endpoint)}${query}`;
    return transport.send(endpoint.method, target, { ...sent, headers: { ...sent.headers, ...headers } });
  };

  it.each(writes)(
    '$method $path with another tag in If-Match is 412 and changes nothing',
    async (endpoint) => {
      const { snapshot } = running.admin;
      const { status, body } = await sendTo(endpoint, { 'if-match': '"sample.9.9"' });
      expect([status, (body as { code: string }).code]).toEqual([412, 'precondition-failed']);
      expect(running.admin.snapshot).toBe(snapshot);
      expect(running.gateway.calls).toEqual([]);
      // An answer has the entity tag that the resource of If-Match has then.
      const done = await sendTo(endpoint, { 'if-match': '*' });
      const target = taggedBy(endpoint);
      const tag = target === undefined ? undefined : await tagOf(target);
      expect([done.status, done.headers['etag']]).toEqual([endpoint.answer.status, tag]);
    },
  );

  it.each(writes)(
    '$method $path with If-None-Match is 412 and changes nothing if the tag matches',
    async (endpoint) => {
      const { snapshot } = running.admin;
      const tag = await tagOf(conditionTargetOf(endpoint));
      if (tag !== sessionTag) expect(tag).toMatch(tagForm);
      for (const noneMatch of ['*', tag, `"x", W/${tag}`])
        for (const query of ['', '?dry_run=true']) {
          const { status, body } = await sendTo(endpoint, { 'if-none-match': noneMatch }, query);
          const { code, detail } = body as { readonly code: string; readonly detail: string };
          expect([noneMatch, status, code]).toEqual([noneMatch, 412, 'precondition-failed']);
          expect(detail).toContain('If-None-Match');
        }
      // If-Match is checked first, and both must hold.
      const both = await sendTo(endpoint, { 'if-match': '"sample.9.9"', 'if-none-match': '*' });
      expect((both.body as { readonly detail: string }).detail).toContain('entity tag in If-Match');
      expect((await sendTo(endpoint, { 'if-match': '*', 'if-none-match': '*' })).status).toBe(412);
      expect(running.admin.snapshot).toBe(snapshot);
      expect(running.gateway.calls).toEqual([]);
      expect((await sendTo(endpoint, { 'if-none-match': '"another"' })).status).toBe(endpoint.answer.status);
    },
  );

  it('If-None-Match of a writing request compares whole tags, and comes after a 404', async () => {
    const part = await tagOf('/services/My-Service?fields=name');
    const type = { 'content-type': 'application/json-patch+json' };
    const send = (target: string, noneMatch: string): Promise<Answer> =>
      transport.send('PATCH', target, {
        headers: { ...type, 'if-none-match': noneMatch },
        body: JSON.stringify([{ op: 'add', path: '/max_connection', value: 7 }]),
      });
    expect((await send('/services/nothing', '*')).status).toBe(404);
    expect((await send('/services/My-Service', part)).status).toBe(200);
    const now = await tagOf('/services/My-Service');
    running.admin.report({ type: 'session.opened', ...opened });
    expect((await send('/services/My-Service', now)).status).toBe(200);
  });

  // Promise: session-tag
  it('the tag of a session is that of its row and of no later session with its id', async () => {
    const close = (ifMatch: string): Promise<Answer> =>
      transport.send('DELETE', '/sessions/9', { headers: { 'if-match': ifMatch } });
    const { body: rows } = await get('/sessions?fields=id,etag');
    expect(rows).toContainEqual({ id: 9, etag: sessionTag });
    expect((await get('/sessions/9?fields=etag')).body).toEqual({ etag: sessionTag });
    const later = { ...opened, id: 9, connected: 1473419557001 };
    running.admin.report([
      { type: 'session.updated', id: 9, idle: 77, user: 'bob' },
      { type: 'connection.closed', session: 9, id: 0 },
    ]);
    expect(await tagOf('/sessions/9')).toBe(sessionTag);
    running.admin.report({ type: 'session.opened', ...later });
    expect((await close(sessionTag)).status).toBe(412);
    expect(running.gateway.calls).toEqual([]);
    expect((await close(`"x", W/${await tagOf('/sessions/9')}`)).status).toBe(204);
    expect((await close(sessionTag)).status).toBe(404);
  });

  it('If-Match on a GET is compared as on a command, before If-None-Match', async () => {
    const read = (target: string, headers: Readonly<Record<string, string>>): Promise<Answer> =>
      transport.send('GET', target, { headers });
    const service = '/services/My-Service';
    for (const target of [service, '/sessions/9', '/services', `${service}?fields=name`]) {
      const tag = await tagOf(target);
      const expected = { [tag]: 200, [`"x", W/${tag}`]: 200, '*': 200, '"x.1"': 412, x: 400 };
      for (const [ifMatch, status] of Object.entries(expected)) {
        const answer = await read(target, { 'if-match': ifMatch });
        expect([target, ifMatch, answer.status]).toEqual([target, ifMatch, status]);
      }
      expect((await transport.send('HEAD', target, { headers: { 'if-match': '"x.1"' } })).status).toBe(412);
    }
    const tag = await tagOf(service);
    expect((await read(`${service}?may=true`, { 'if-match': tag })).status).toBe(200);
    expect((await read(service, { 'if-match': tag, 'if-none-match': tag })).status).toBe(304);
    expect((await read(service, { 'if-match': '"x.1"', 'if-none-match': tag })).status).toBe(412);
    // What has no tag matches nothing but *.
    expect((await read('/sessions', { 'if-match': '*' })).status).toBe(200);
    expect((await read('/sessions', { 'if-match': '"x.1"' })).status).toBe(412);
    expect((await read('/services/nothing', { 'if-match': '"x.1"' })).status).toBe(404);
  });

  it('a missing resource is 404, not 412', async () => {
    for (const [method, target] of [
      ['PUT', '/service/nothing/stop'],
      ['DELETE', '/sessions/1'],
      ['DELETE', '/users/nobody'],
      ['DELETE', '/services/nothing/sessions'],
    ] as const) {
      expect((await transport.send(method, target, { headers: { 'if-match': '"x"' } })).status).toBe(404);
    }
    expect((await patch('/services/nothing', '/user', 'a', '"x"')).status).toBe(404);
  });

  // Promise: check-order
  it('a changed resource is 412, also with an invalid patch', async () => {
    expect((await patch('/services/My-Service', '/nothing', 1, '"x"')).status).toBe(412);
    expect((await patch('/services/My-Service', '/nothing', 1, '*')).status).toBe(422);
  });

  it('a command that changes nothing keeps the tag', async () => {
    const tag = await tagOf('/services/My-Service');
    const { status, headers } = await limit(100, tag);
    expect([status, headers['etag']]).toEqual([200, tag]);
    expect(
      (await transport.send('PUT', '/service/My-Service/start', { headers: { 'if-match': tag } })).status,
    ).toBe(204);
    expect(await tagOf('/services/My-Service')).toBe(tag);
    expect(running.gateway.calls).toEqual([]);
  });

  // Promise: life-tag
  it('a tag holds in another life of the gateway for what is equal there, and leads to no 304', async () => {
    const snapshot = createSnapshot(sampleDocument);
    const [one, other] = [runAdmin({ snapshot }), runAdmin({ snapshot })];
    const [first, second] = [await transports.core(one.admin), await transports.core(other.admin)];
    for (const endpoint of reads.filter(({ live }) => live === undefined)) {
      const target = targetOf(endpoint);
      const tag = (await first.send('GET', target)).headers['etag'] ?? '';
      expect(tag).toMatch(tagForm);
      const read = (name: string): Promise<Answer> =>
        second.send('GET', target, { headers: { [name]: tag } });
      expect([target, (await read('if-match')).status]).toEqual([target, 200]);
      expect([target, (await read('if-none-match')).status]).toEqual([target, 200]);
    }
  });

  it('an undo, and an equal creation after a deletion, bring the tag back', async () => {
    const [service, list] = ['/services/Spare-Service', '/services'];
    const contents = async (): Promise<readonly string[]> =>
      Promise.all([service, list].map(async (target) => (await tagOf(target)).split('.')[0] ?? ''));
    const before = await contents();
    await patch(service, '/max_connection', 77);
    expect(new Set([...before, ...(await contents())]).size).toBe(4);
    const [entry] = (await get('/history?fields=id')).body as readonly { readonly id: string }[];
    await transport.send('PUT', `/history/${entry?.id ?? ''}/undo`);
    expect(await contents()).toEqual(before);
  });
});
