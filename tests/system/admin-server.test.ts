import { afterEach, describe, expect, it } from '@jest/globals';
import { problemTable } from 'gateway-admin-core';

import { openAdminServer } from '../../examples/gateway/admin-server.ts';
import { closeAll, type Closers } from '../../examples/gateway/closing.ts';

const closers: Closers = [];
afterEach(() => closeAll(closers));

describe('the administration interface of the example gateway', () => {
  it('answers with a problem while the gateway starts, and with its handler from then on', async () => {
    const { origin, serve } = await openAdminServer({ host: '127.0.0.1', port: 0 }, closers);
    const early = await fetch(`${origin}/services`);
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    expect(early.headers.get('content-type')).toBe('application/problem+json');
    expect(await early.json()).toMatchObject({
      code: 'not-ready',
      title: problemTable['not-ready'].title,
      detail: expect.stringContaining('Send the request again in a second.'),
    });
    expect((await fetch(`${origin}/services`, { method: 'HEAD' })).status).toBe(503);
    serve((_request, response) => response.end('here'));
    expect(await (await fetch(origin)).text()).toBe('here');
  });
});
