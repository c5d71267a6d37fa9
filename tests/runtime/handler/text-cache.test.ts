/**
 * The text cache and readers with fewer rights. `properties/kept-text.test.ts` has the law of the cache.
 */
import { expect, it } from '@jest/globals';
import { createAdmin, createSnapshot, type Admin } from 'gateway-admin-core';

const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place' as const) };

async function read(admin: Admin, target: string, headers = {}): Promise<[string, string]> {
  const handled = await admin.handle({ method: 'GET', target, headers });
  if (!handled.matched) throw new Error(`Nothing is at ${target}`);
  const { body = '', headers: answered } = handled.response;
  if (typeof body !== 'string') throw new Error('The list is streamed');
  return [answered['etag'] ?? '', body];
}

it('never gives the whole to somebody who may read a part', async () => {
  const admin = createAdmin({
    snapshot: createSnapshot({}),
    gateway,
    access: {
      authenticate: ({ headers }) =>
        Promise.resolve(headers['authorization'] === undefined ? undefined : { name: 'ada', role: 'reader' }),
    },
  });
  const [, whole] = await read(admin, '/', { authorization: 'Basic eDp5' });
  for (const target of ['/', '/?fields=ready', '/?fields=version'])
    expect(Object.keys(JSON.parse((await read(admin, target))[1]) as object)).not.toContain('version');
  expect(JSON.parse(whole)).toHaveProperty('version');
  await admin.close();
});
