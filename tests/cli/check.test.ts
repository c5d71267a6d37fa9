import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { sampleDocument } from '../support/document.ts';
import { server, service } from '../support/document-entry.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { command } from './command-line.ts';

describe('gateway-admin check', () => {
  const newDirectory = temporaryDirectories();
  let file = '';

  beforeAll(async () => {
    file = join(await newDirectory(), 'gateway.json');
  });

  it('says what a document has, and asks no gateway', async () => {
    writeFileSync(file, JSON.stringify({ $schema: './gateway-document.schema.json', ...sampleDocument }));
    // Nothing listens there.
    const env = { GATEWAY_ADMIN_URL: 'http://127.0.0.1:1' };
    expect(await command(['check', file], { env })).toEqual({
      code: 0,
      out: `${file} has no faults: 4 services, 4 servers, 3 monitors, 3 filters, 2 users, 3 sessions.\n`,
      err: '',
    });
    const { out } = await command(['check', file, '--json']);
    expect(JSON.parse(out)).toMatchObject({ servers: 4, services: 4, sessions: 3 });
  });

  it('prints every fault with its pointer, and ends with 1', async () => {
    const faulty = {
      surprise: 1,
      servers: Array.from({ length: 30 }, (_, at) => ({ ...server, name: `db-${String(at)}`, port: 0 })),
      services: [{ ...service, password: 'planted', servers: ['/servers/no'] }],
    };
    const { code, out, err } = await command(['check', '-'], { input: JSON.stringify(faulty) });
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^gateway-admin: The document has faults:\n {2}\/surprise is not a known field/);
    for (let at = 0; at < 30; at += 1)
      expect(err).toContain(`\n  /servers/${String(at)}/port must be at least 1\n`);
    expect(err).toContain(
      '\n  /services/0/password is a secret, and must not be plain text: put the output of',
    );
    expect(err).toContain('\n  /services/0/servers/0 "/servers/no" names no existing resource');
    expect(err).not.toContain('planted');
  });

  it('gives the faults as JSON to programs', async () => {
    const { code, err } = await command(['check', '-', '--json'], { input: '{ "format": 2 }' });
    expect(code).toBe(1);
    expect(JSON.parse(err)).toEqual([{ pointer: '/format', code: 'validation-failed', detail: 'must be 1' }]);
  });

  it.each([
    ['no JSON', '{ "servers": [', 'gateway-admin: -: '],
    [
      'no object',
      '[]',
      'gateway-admin: The document has faults:\n  The document must be an object, not an array\n',
    ],
    ['a member twice', '{ "format": 1, "format": 1 }', 'gateway-admin: -: '],
  ])('refuses a text that is %s', async (_what, input, told) => {
    const { code, out, err } = await command(['check', '-'], { input });
    expect([code, out]).toEqual([1, '']);
    expect(err.startsWith(told)).toBe(true);
  });
});
