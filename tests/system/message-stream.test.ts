import { describe, expect, it } from '@jest/globals';

import { userIn, withUser } from '../../examples/gateway/protocol.ts';
import { createVersionWriter } from '../../examples/gateway/server-version.ts';
import { createStatementReader } from '../../examples/gateway/statement-log.ts';

/** A message of PostgreSQL: a type, the length, and the rest. */
function message(type: string, rest: string): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${rest}`);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}

function piecesOf(bytes: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
}

const sizes = [1, 2, 3, 5, 7, 64, 1000, 1_000_000];

describe('the statements in the bytes of a client', () => {
  it.each(sizes)('are found in pieces of %d bytes', (size) => {
    const bytes = Buffer.concat([
      message('p', 'password\0'),
      message('Q', 'select 1\0'),
      message('d', 'Q\0\0\0\x0cselect 2\0'.repeat(50)),
      message('P', 'name\0select 3\0\0\0'),
      message('S', ''),
      message('Q', 'sélect 4\0'),
    ]);
    const read = createStatementReader();
    const found = piecesOf(bytes, size).flatMap((piece) => read(piece));
    expect(found).toEqual(['select 1', 'select 3', 'sélect 4']);
  });

  it('are cut if they are long, and the next one is found', () => {
    const read = createStatementReader();
    const bytes = Buffer.concat([message('Q', `${'x'.repeat(200_000)}\0`), message('Q', 'select 5\0')]);
    const [long = '', ...others] = piecesOf(bytes, 10_000).flatMap((piece) => read(piece));
    expect(long).toMatch(/^x{60000,65536}$/);
    expect(others).toEqual(['select 5']);
  });

  it('are not looked for after bytes that are no message', () => {
    const read = createStatementReader();
    expect(read(Buffer.from('Q\0\0\0\x03'))).toEqual([]);
    expect(read(message('Q', 'select 6\0'))).toEqual([]);
  });
});

describe('the version in the bytes of a server', () => {
  const begin = [message('R', '\0\0\0\0'), message('S', 'server_encoding\0UTF8\0')];
  const after = [message('K', '12345678'), message('Z', 'I'), message('S', 'server_version\x0016\0')];
  const write = (bytes: Buffer, size: number): Buffer => {
    const writer = createVersionWriter('9.6');
    return Buffer.concat(piecesOf(bytes, size).map((piece) => writer(piece)));
  };

  it.each(sizes)('is replaced before the server is ready, in pieces of %d bytes', (size) => {
    const given = Buffer.concat([...begin, message('S', 'server_version\x0016.2 (Debian)\0'), ...after]);
    const expected = Buffer.concat([...begin, message('S', 'server_version\x009.6\0'), ...after]);
    expect(write(given, size)).toEqual(expected);
  });

  it.each(['E', 'x'])('is left alone after a message that begins with %s', (type) => {
    const first = type === 'E' ? message('E', 'SFATAL\0\0') : Buffer.from('x\0\0\0\x01');
    const given = Buffer.concat([...begin, first, message('S', 'server_version\x0016\0')]);
    for (const size of sizes) expect(write(given, size)).toEqual(given);
  });
});

describe('the packet that starts a session, for the user of a service', () => {
  const start = (rest: string): Buffer => {
    const packet = Buffer.from(`\0\0\0\0\0\x03\0\0${rest}\0`);
    packet.writeInt32BE(packet.length);
    return packet;
  };

  it.each([
    ['keeps the database that it names', 'user\0ada\0database\0sales\0', 'user\0zoë\0database\0sales\0'],
    ['keeps the database of its user', 'user\0adá\0', 'user\0zoë\0database\0adá\0'],
    ['keeps that database too if it is empty', 'database\0\0user\0ada\0', 'database\0ada\0user\0zoë\0'],
    ['keeps other parameters', 'a\0\0user\0ada\0database\0d\0', 'a\0\0user\0zoë\0database\0d\0'],
    ['gets no user if it has none', 'database\0sales\0', 'database\0sales\0'],
  ])('%s', (_what, given, expected) => {
    expect(withUser(start(given), 'zoë')).toEqual(start(expected));
    expect(userIn(withUser(start(given), 'zoë'))).toBe(userIn(start(expected)));
    expect(withUser(start(given))).toEqual(start(given));
  });
});
