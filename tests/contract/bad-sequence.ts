/**
 * Sequences that are refused: nothing of a sequence is made.
 */
import { members, nested, refused, type BadInput } from '../support/input.ts';

const to = {
  method: 'POST',
  target: '/sequence',
  headers: { 'content-type': 'application/json' },
} as const;

const patch = '/services/My-Service';
const stop = { method: 'PUT', path: '/service/My-Service/stop' };
const limit = (value: unknown): object => ({
  method: 'PATCH',
  path: patch,
  body: [{ op: 'replace', path: '/max_connection', value }],
});

/** Bodies in text, each with the pointers of its faults. */
function bodies(
  refusal: Parameters<typeof refused>[0],
  rows: Readonly<Record<string, readonly [body: string, ...pointers: readonly string[]]>>,
): readonly BadInput[] {
  return Object.entries(rows).map(([what, [body, ...pointers]]) => ({
    what: `a sequence: ${what}`,
    ...to,
    body,
    ...refused(refusal),
    ...(pointers.length === 0 ? {} : { faults: pointers.map((pointer) => `- ${pointer}`) }),
  }));
}

/** Commands of a sequence: a good one comes first, so that the second one is at fault. */
function seconds(
  refusal: Parameters<typeof refused>[0],
  rows: Readonly<Record<string, readonly [command: unknown, ...faults: readonly string[]]>>,
): readonly BadInput[] {
  return Object.entries(rows).map(([what, [command, ...faults]]) => ({
    what: `a sequence with ${what}`,
    ...to,
    body: JSON.stringify({ commands: [limit(7), command] }),
    ...refused(refusal),
    faults: faults.map((fault) => (fault.startsWith('/') ? `- ${fault}` : fault)),
  }));
}

const monitor = { name: 'New', module: 'pgmon' };
const several = (length: number): string => JSON.stringify({ commands: Array(length).fill(stop) });

/** Refused sequences. */
export const badSequences: readonly BadInput[] = [
  ...bodies('422 validation-failed', {
    'no commands': ['{"commands":[]}', '/commands'],
    '101 commands': [several(101), '/commands'],
    'nothing in it': ['{}', '/commands'],
    'a list of commands': [JSON.stringify([stop]), ''],
    'commands that are no list': ['{"commands":{"0":{},"length":1}}', '/commands'],
    'commands that are no objects': [
      '{"commands":[null,"stop",7,[]]}',
      ...['/commands/0', '/commands/1', '/commands/2', '/commands/3'],
    ],
    null: ['null', ''],
    '10,000 wrong commands': [`{"commands":[${'7,'.repeat(9999)}7]}`, '/commands'],
  }),
  ...bodies('422 field-unknown', {
    'members that it does not know': [
      `{"commands":[${JSON.stringify(stop)}],"extra":"planted","__proto__":{}}`,
      ...['/__proto__', '/extra'],
    ],
  }),
  ...bodies('400 body-duplicate-key', {
    'a key twice': ['{"commands":[],"commands":[]}'],
    'a key of a command twice': ['{"commands":[{"method":"PUT","path":"/a","path":"/b"}]}'],
  }),
  ...bodies('400 body-too-deep', { '33 levels': [`{"commands":[{"body":${nested(30, '[', ']')}}]}`] }),
  ...bodies('413 content-too-large', { '50,001 values': [`{"commands":[${members(49_999, '0')}]}`] }),
  ...seconds('422 validation-failed', {
    'wrong types': [
      { method: 7, path: [patch], if_match: null },
      ...['/commands/1/if_match', '/commands/1/method', '/commands/1/path'],
    ],
    'a command without members': [{}, '/commands/1/method', '/commands/1/path'],
    'a query': [{ ...stop, path: `${stop.path}?dry_run=true` }, '/commands/1/path'],
    'a fragment': [{ ...stop, path: `${stop.path}#x` }, '/commands/1/path'],
    'an absolute URL': [{ ...stop, path: `http://127.0.0.1${stop.path}` }, '/commands/1/path'],
    'a path without a slash': [{ ...stop, path: stop.path.slice(1) }, '/commands/1/path'],
    'a path that is too long': [{ ...stop, path: `/services/${'x'.repeat(8192)}/stop` }, '/commands/1/path'],
    'a path with a control character': [{ ...stop, path: `${stop.path}\u0000` }, '/commands/1/path'],
    'a method that is too long': [{ ...stop, method: 'P'.repeat(17) }, '/commands/1/method'],
    'a malformed tag': [{ ...stop, if_match: 'planted' }, '/commands/1/if_match'],
    'a definition with a sealed value': [
      { method: 'POST', path: '/monitors', body: { ...monitor, parameters: { pin: { sealed: 'planted' } } } },
      '/commands/1/body/parameters/pin',
    ],
    'a value of a wrong type': [limit('planted'), '0 /commands/1/body/max_connection'],
  }),
  ...seconds('422 field-unknown', {
    'a member that no command has': [{ ...stop, headers: { a: 'planted' } }, '/commands/1/headers'],
    'the prototype': [JSON.parse(`{"method":"PUT","path":"/x","__proto__":{}}`), '/commands/1/__proto__'],
    'a field that is unknown': [
      { method: 'PATCH', path: patch, body: [{ op: 'remove', path: '/nothing' }] },
      '0 /commands/1/body/nothing',
    ],
  }),
  ...seconds('422 op-not-allowed', {
    'a reading': [{ method: 'GET', path: patch }, '/commands/1/path'],
    'a reading without its body': [{ method: 'HEAD', path: patch }, '/commands/1/path'],
    'a stream': [{ method: 'GET', path: '/events' }, '/commands/1/path'],
    'a sequence': [{ method: 'POST', path: '/sequence', body: { commands: [stop] } }, '/commands/1/path'],
    'a change of the mode': [{ method: 'PATCH', path: '/', body: [] }, '/commands/1/path'],
    'an abandonment': [{ method: 'DELETE', path: '/commands/x' }, '/commands/1/path'],
    'a path that is nowhere': [{ method: 'PUT', path: '/nowhere' }, '/commands/1/path'],
    'two slashes': [{ method: 'PUT', path: `/${stop.path}` }, '/commands/1/path'],
    'a method that the path does not have': [{ method: 'POST', path: patch }, '/commands/1/path'],
    'a method in small letters': [{ ...stop, method: 'put' }, '/commands/1/path'],
  }),
  ...seconds('400 path-encoding-invalid', {
    'a broken escape': [{ ...stop, path: '/service/%zz/stop' }, '/commands/1/path'],
    'an overlong escape': [{ ...stop, path: '/service/%C0%AF/stop' }, '/commands/1/path'],
  }),
  ...seconds('400 body-missing', {
    'a patch without operations': [{ method: 'PATCH', path: patch }, '/commands/1/body'],
  }),
  ...seconds('400 patch-malformed', {
    'a patch that is null': [{ method: 'PATCH', path: patch, body: null }, '/commands/1'],
    'a patch without a path': [
      { method: 'PATCH', path: patch, body: [{ op: 'remove' }] },
      '0 /commands/1/body/0/path',
    ],
  }),
  ...seconds('404 service-not-found', {
    'a service that is not there': [{ ...stop, path: '/service/nobody/stop' }, '/commands/1'],
    'the name of a built-in': [{ ...stop, path: '/service/__proto__/stop' }, '/commands/1'],
  }),
  ...seconds('409 patch-test-failed', {
    // The first command has changed it by then.
    'a test of what was before': [
      { method: 'PATCH', path: patch, body: [{ op: 'test', path: '/max_connection', value: 100 }] },
      '0 /commands/1/body/max_connection',
    ],
  }),
  ...seconds('412 precondition-failed', {
    'a tag of another time': [{ ...stop, if_match: '"x.0-0"' }, '/commands/1'],
  }),
  {
    what: 'a sequence that flushes before its end',
    ...to,
    body: JSON.stringify({ commands: [{ method: 'POST', path: '/gateway/logs/flush' }, limit(7)] }),
    ...refused('422 op-not-allowed'),
    faults: ['- /commands/0'],
  },
];
