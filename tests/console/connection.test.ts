import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createBasicAuthentication, createPbkdf2Hasher, createSnapshot, routes } from 'gateway-admin-core';
import { createClient, sendTo } from 'gateway-admin-core/client';
import { createConsole } from 'gateway-admin-core/console';
import { createNodeHandler } from 'gateway-admin-core/node';

import { addressOf, commandOf, connect } from '../../console/connection.ts';
import { runAdmin } from '../support/running-admin.ts';

const origin = 'https://gateway.example:8443';

describe('the address of the interface', () => {
  // Promise: console-path
  it.each([
    ['/', 'admin', '/admin'],
    ['/console', '../', '/'],
    ['/console', '../admin', '/admin'],
    ['/a/b/', '../', '/a/'],
    ['/x/console', '../', '/x/'],
    ['/x/console', '../admin', '/x/admin'],
    ['/x/console', '/admin', '/admin'],
    ['/a%20b/console', '../', '/a%20b/'],
  ])('of a page at %s with the path %s is %s', (page, path, expected) => {
    for (const slash of ['', '/', '//'])
      for (const rest of ['', '?file=x', '#sessions?user=../x', '?a=/b/#/c/d'])
        expect(addressOf(origin + page.replace(/\/$/, '') + slash + rest, path)).toBe(origin + expected);
  });

  it('is at the origin of the page, whatever the path of the page and the option are', () => {
    const unit = fc.constantFrom('/', '\\', '.', '..', ':', '@', 'a', '%2F', '\t', '\0');
    fc.assert(
      fc.property(fc.string({ unit }), fc.string({ unit }), (page, adminPath) => {
        try {
          createConsole({ adminPath });
        } catch {
          return;
        }
        expect(new URL(addressOf(`${origin}/${page}`, adminPath)).origin).toBe(origin);
      }),
      { numRuns: 1000 },
    );
  });
});

it.each(['engine', 'a:b c', 'pässwörd 🔑'])(
  'the password %s reaches the interface as it is',
  async (password) => {
    const hasher = createPbkdf2Hasher({ rounds: 1 });
    const name = 'ada';
    const { admin } = runAdmin({
      snapshot: createSnapshot({ users: [{ name, passwordHash: await hasher.hash(password) }] }),
      access: { authenticate: createBasicAuthentication(), authorize: () => true },
    });
    const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const address = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
      const answers = [password, `${password}x`].map(async (each) =>
        (await connect(address, { name, password: each })).interface.get(),
      );
      expect(await Promise.all(answers)).toMatchObject([
        { ok: true },
        { problem: { code: 'unauthenticated' } },
      ]);
    } finally {
      server.close().closeAllConnections();
    }
  },
);

describe('the method of a client that makes a change', () => {
  const client = createClient(sendTo(runAdmin().admin));

  it('is there for each command of the interface, with its plan', () => {
    for (const { id, kind } of routes)
      if (kind === 'command')
        expect(commandOf(client, id as never)).toHaveProperty('plan', expect.any(Function));
  });

  it('is named when there is none', () => {
    expect(() => commandOf(client, 'services.none' as never)).toThrow('The client has no services.none');
  });
});
