/**
 * Bodies that are refused: bytes, JSON, and JSON that is no patch.
 */
import { bodies, members, nested, noPatches, refused, writers, type BadInput } from '../support/input.ts';

const letters = 'x'.repeat(1_048_576);
const utf16 = [...Buffer.from('[{"op":"planted"}]', 'utf16le')];

/** Bytes and JSON: refused before anything knows what they are for. */
export const badBytes: readonly BadInput[] = [
  ...bodies('400 body-encoding-invalid', {
    'a byte that cannot lead': [0x5b, 0x22, 0x80, 0x22, 0x5d],
    'an overlong slash': [0x22, 0xc0, 0xaf, 0x22],
    'an overlong NUL': [0x22, 0xe0, 0x80, 0x80, 0x22],
    'an encoded surrogate': [0x22, 0xed, 0xa0, 0x80, 0x22],
    'a code point beyond Unicode': [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22],
    'a character that is cut off': [0x22, 0xf0, 0x9f, 0x98],
    'Latin-1': [0x22, 0xfc, 0x22],
    'UTF-16': utf16,
    'UTF-16 with a byte order mark': [0xff, 0xfe, ...utf16],
    'UTF-16 of the other order': [0, ...utf16.slice(0, -1)],
    'UTF-32': [0, 0, 0xfe, 0xff, 0, 0, 0, 0x5b],
  }),
  ...bodies('400 body-missing', { nothing: '', 'white space': ' \r\n\t', 'a byte order mark': '\ufeff' }),
  ...bodies('413 content-too-large', {
    'one byte too many': ' '.repeat(1_048_576 - 1) + '[]',
    'one byte too many, counted as UTF-8': `"${'é'.repeat(524_287)}x"`,
    'much too much': letters + letters,
    '200,000 members': members(200_000, '1'),
    '50,001 values': `[${'0,'.repeat(49_999)}0]`,
    '50,001 members and values': `{"a":${members(49_999, '[]')}}`,
    '100,000 operations that are empty': `[${'{},'.repeat(99_999)}{}]`,
  }),
  ...bodies('400 body-not-json', {
    'what is cut off': '[{"op":"add","path":"/planted","val',
    'a trailing comma in an array': '[{"op":"planted"},]',
    'a trailing comma in an object': '{"name":"planted",}',
    'a comment': '/* planted */ []',
    'a comment to the end of the line': '[] // planted',
    NaN: '[NaN]',
    Infinity: '{"planted":-Infinity}',
    undefined: '[undefined]',
    'two values': '[] {"planted":1}',
    'single quotes': "{'planted':1}",
    'a bare word': '{planted:1}',
    'a line break in a string': '"planted\n"',
    'a leading zero': '{"planted":01}',
    'another encoding of it': 'name=planted&password=planted',
  }),
  ...bodies('400 body-duplicate-key', {
    'a key twice': '{"name":"planted","password":"planted","name":"other"}',
    'a key twice, far down': '[{"op":"add","path":"/user","value":[{"a":{"b":1,"c":2,"b":3}}]}]',
    'a key in two spellings': String.raw`[{"op":"add","path":"/user","\u0070ath":"/planted","value":1}]`,
    'a key in two spellings of a slash': String.raw`{"a\/b":1,"a/b":2}`,
    'the prototype twice': '{"__proto__":1,"__proto__":2}',
    'the last of many keys twice': `[${members(100, '0').slice(0, -1)},"k50":1}]`,
  }),
  ...bodies('400 body-too-deep', {
    '33 arrays': nested(33, '[', ']'),
    '33 deep in a value': `[{"op":"add","path":"/user","value":${nested(31, '[', ']')}}]`,
    '33 objects': `${'{"a":'.repeat(32)}{}${'}'.repeat(32)}`,
    'half a million levels': nested(524_288, '[', ']'),
    'a million levels that never end': '['.repeat(1_000_000),
  }),
  ...bodies('400 number-out-of-range', {
    'what is not finite': '[{"op":"add","path":"/max_connection","value":1e400}]',
    'what is not finite, below zero': '[-1e400]',
    'an integer that is not safe': '{"name":9007199254740992}',
    'an integer that is not safe, below zero': '[{"op":"test","path":"/user","value":-9007199254740993}]',
    'an integer that is not safe, written as a fraction': '[9007199254740993.0]',
    'a very long number': `[${'9'.repeat(10_000)}]`,
  }),
  ...[
    'text/plain',
    'application/xml',
    'application/json-patch+json2',
    'application/x-www-form-urlencoded',
  ].flatMap((type) =>
    writers.map((writer) => ({
      what: `the media type ${type}`,
      ...writer,
      headers: { 'content-type': type },
      body: '[]',
      ...refused('415 unsupported-media-type'),
    })),
  ),
  ...['gzip', 'GZIP', 'br', 'identity, gzip', 'identity identity', 'x'].flatMap((coding) =>
    writers.map((writer) => ({
      what: `the content encoding ${coding}`,
      ...writer,
      headers: { ...writer.headers, 'content-encoding': coding },
      body: '[]',
      ...refused('415 unsupported-media-type'),
    })),
  ),
  ...writers.map((writer) => ({
    what: 'no media type',
    ...writer,
    headers: {},
    // As bytes, because `fetch` says of text that it is plain text.
    body: new TextEncoder().encode('[]'),
    ...refused('415 unsupported-media-type'),
  })),
];

const large = { maxBodyBytes: 16 * 1_048_576 };
const first20 = (place: (index: number) => string): readonly string[] =>
  Array.from({ length: 20 }, (_, index) => place(index));

/** JSON that is no patch. */
export const noPatch: readonly BadInput[] = [
  ...noPatches('400 patch-malformed', {
    '{}': [],
    '{"op":"remove","path":"/user"}': [],
    '{"0":{"op":"remove","path":"/user"},"length":1}': [],
    null: [],
    '"remove /user"': [],
    '[null,1,"remove",[],true]': ['0 /0', '1 /1', '2 /2', '3 /3', '4 /4'],
    '[{"op":"paint","path":"/user"}]': ['0 /0/op'],
    '[{"op":"Add","path":"/user","value":"x"}]': ['0 /0/op'],
    '[{"op":"toString","path":"/user"}]': ['0 /0/op'],
    '[{"op":["add"],"path":"/user","value":"x"}]': ['0 /0/op'],
    '[{"path":"/user","value":"x"}]': ['0 /0/op'],
    '[{"op":"remove","path":"/user"},{"op":"remove"}]': ['1 /1/path'],
    '[{"op":"move","path":"/user"},{"op":"copy","path":"/user"}]': ['0 /0/from', '1 /1/from'],
    '[{"op":"add","path":"/user"},{"op":"test","path":"/user"},{"op":"replace","path":"/user"}]': [
      '0 /0/value',
      '1 /1/value',
      '2 /2/value',
    ],
    '[{"op":"remove","path":["/user"]},{"op":"remove","path":["user"]}]': ['0 /0/path', '1 /1/path'],
    '[{"op":"move","from":{"length":0},"path":null}]': ['0 /0/path', '0 /0/from'],
    '[{"__proto__":{"op":"remove"},"path":"/user"}]': ['0 /0/op'],
    [`[${'{},'.repeat(99)}{}]`]: first20((index) => {
      const at = String(Math.floor(index / 2));
      return `${at} /${at}/${index % 2 === 0 ? 'op' : 'path'}`;
    }),
    [members(49_999, '1')]: [],
  }),
  {
    ...writers[0],
    what: '200,000 members',
    body: members(200_000, '1'),
    limits: { ...large, maxBodyValues: 1_000_000 },
    ...refused('400 patch-malformed'),
  },
  ...noPatches('400 pointer-invalid', {
    '[{"op":"remove","path":"user"}]': ['0 /0/path'],
    '[{"op":"remove","path":"#/user"}]': ['0 /0/path'],
    '[{"op":"add","path":"/router_options/~","value":"x"}]': ['0 /0/path'],
    '[{"op":"add","path":"/router_options/a~2b","value":"x"}]': ['0 /0/path'],
    '[{"op":"move","from":"user","path":"/weightby"}]': ['0 /0/from'],
    '[{"op":"copy","from":"/router_options/~01~","path":"/weightby"}]': ['0 /0/from'],
    [`[{"op":"remove","path":"/${'a'.repeat(1024)}"}]`]: ['0 /0/path'],
    [`[{"op":"remove","path":"${'/a'.repeat(33)}"}]`]: ['0 /0/path'],
  }),
  ...noPatches('422 patch-too-many-operations', {
    [`[${'{"op":"test","path":"/root_user","value":false},'.repeat(100)}{}]`]: [],
    [`[${'{},'.repeat(49_998)}{}]`]: [],
  }),
];
