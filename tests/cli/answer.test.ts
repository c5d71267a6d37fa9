/**
 * What the command line makes of answers. Whatever a server answers, a command ends with one of its exit codes and a
 * sentence, and nothing of the server reaches the terminal but printable characters.
 */
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';

import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { hostProblem, problem, type Problem, type ProblemCode, problemTable } from 'gateway-admin-core';
import { createOpenApi } from 'gateway-admin-core/openapi';

import { commands } from '../docs/tables.ts';
import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { answering, answeringServers, type Respond } from './answering-server.ts';
import { command, type Result, run } from './command-line.ts';

/** A problem of each code that an endpoint can answer with. */
const { examples } = (
  createOpenApi() as {
    readonly components: { readonly examples: Readonly<Record<string, { readonly value: Problem }>> };
  }
).components;

const codes = Object.keys(problemTable) as ProblemCode[];
const http = /\b(?:GET|PUT|POST|PATCH|DELETE) \/|If-(?:None-)?Match|Content-Type|[Tt]he header/;

const open = answeringServers(afterEach);
/** A change that is about no resource. */
const flush = ['flush'];

/** What the program says when an interface refuses a command. The interface answers everything else. */
async function refusal(
  given: Problem,
  {
    args = flush,
    headers = {},
    input = '',
  }: { readonly args?: readonly string[]; readonly headers?: object; readonly input?: string } = {},
): Promise<string> {
  const url = await open((request, response) => {
    const { method, url: target = '' } = request;
    const refuses = method !== 'GET' && !target.includes('dry_run');
    if (!refuses) return answering(target.includes('dry_run') ? plan : {})(request, response);
    const type = { 'content-type': 'application/problem+json' };
    response.writeHead(given.status, { ...type, ...headers }).end(JSON.stringify(given));
  });
  const { err } = await command([...args, '--url', url], { input });
  return err.replace(/^(?:note: .*\n)*gateway-admin: /, '').replace(/\n$/, '');
}

const counts = { closes: { sessions: 0, connections: 0 }, stays: { sessions: 0 } };
const plan = { outcome: 'accepted', mark: `00000000.${'0'.repeat(32)}`, ...counts, events: [], effects: [] };

describe('what gateway-admin says about a problem', () => {
  it.each(codes)('is a cause and a step of the command line for %s', async (code) => {
    const message = await refusal(examples[code]?.value ?? problem(code, 'A cause. Send GET /x.'));
    const [, cause = '', step = ''] = /^(.+) \((?:[a-z-]+)\) (.+)$/m.exec(message) ?? [];
    expect([cause.length > 5, step.length > 5]).toEqual([true, true]);
    expect(message).not.toMatch(http);
    expect(message).not.toMatch(/COMMAND|SUBJECT|LOOK|KIND/);
    // Alone, the command is an error.
    expect(message).not.toMatch(/gateway-admin show(?! interface| prints)/);
    for (const [, named = ''] of message.matchAll(/gateway-admin ([a-z-]+)/g))
      expect([...commands.keys(), 'help']).toContain(named);
  });

  it.each([
    [
      'command-in-progress',
      'The outcome of an earlier command (sample-1) on this resource is not known yet, so this command was refused. ' +
        'Nothing was changed. Try again in a moment. (command-in-progress) Try again in 2 s. ' +
        'Try: gateway-admin commands, and if the gateway hangs: gateway-admin abandon sample-1',
    ],
    [
      'precondition-failed',
      'A condition of the request is not met. Read the resource again, and try again if that still makes sense. ' +
        '(precondition-failed) Try again in 2 s. Another command has changed the resource. Its values and its ' +
        'entity tag are new: gateway-admin status',
    ],
  ] as const)('leaves out the sentences for programs, for %s', async (code, told) => {
    const headers = { 'retry-after': '2' };
    expect(await refusal(examples[code]?.value as Problem, { headers })).toBe(told);
  });

  const server = ['--set', 'address=10.0.0.1', '--set', 'port=1', '--set', 'protocol=pg'];
  it.each([
    [
      ['create', 'server', 'db-9', ...server],
      'resource-exists',
      'Look at the present one: gateway-admin show server db-9',
    ],
    [
      ['patch', 'service', "Ada's", '--set', 'user=a'],
      'patch-test-failed',
      "gateway-admin show service 'Ada'\\''s'",
    ],
    [['drain', 'server', 'db-1', 'db-2'], 'effect-refused', 'Look at the state: gateway-admin list servers'],
    [['close', 'session', '7', '--yes'], 'partly-done', 'gateway-admin show session 7. Then send the rest.'],
    [
      ['create', 'listener', 'Sales', 'second', ...server],
      'resource-exists',
      'gateway-admin list listeners Sales',
    ],
    [
      ['delete', 'listener', 'Sales', 'second', '--yes'],
      'listener-not-found',
      'Try: gateway-admin list listeners Sales',
    ],
    [['user', 'add', 'ada'], 'user-exists', 'Try: gateway-admin user password ada'],
    [['user', 'add', 'ada'], 'internal', 'before you try again: gateway-admin list users'],
  ] as const)('names in what to do next after %j about %s', async (args, code, told) => {
    expect(await refusal(problem(code, 'A cause.'), { args, input: 'engine' })).toContain(told);
  });

  it('names the resource of the command of a sequence', async () => {
    const detail = 'Command 2 (PATCH /services/My-Service): The test failed.';
    const args = ['drain', 'server', 'db-1', 'db-2'];
    expect(await refusal(problem('patch-test-failed', detail), { args })).toBe(
      '/services/My-Service: The test failed. (patch-test-failed) ' +
        'Look at the present values: gateway-admin show service My-Service',
    );
  });

  it('is the sentence of the host for a code of the host', async () => {
    const given = hostProblem('host-in-use', { status: 409, title: 'In use', detail: 'Not now.' });
    expect(await refusal(given)).toBe('Not now. (host-in-use)');
  });

  it('has no words of HTTP in the list of faults', async () => {
    const detail = 'names no existing resource. GET /servers lists the existing ones.';
    const faults = ['/servers/0', '/servers/1'].map(
      (pointer) => ({ pointer, code: 'link-unresolved', detail }) as const,
    );
    expect(await refusal(problem('link-unresolved', 'x', faults))).toBe(
      'Refused: flush the logs. A link does not resolve. Nothing was changed. (link-unresolved) ' +
        'Try: gateway-admin list servers, or gateway-admin list filters\n' +
        '  /servers/0: names no existing resource.\n  /servers/1: names no existing resource.',
    );
  });
});

beforeAll(() => {
  buildPackage();
});

const refusing = (body: unknown): Respond => answering(body, 409, 'application/problem+json');

/** Moves the cursor, changes the direction, and looks like a line of the program. */
const evil = 'a\x1b]0;owned\x07\x1b[2J\u202eb\rDone: all.\nDone: all.';
const fault = { pointer: evil, detail: evil };
const anyProblem = { code: 'x', status: 409, title: 'A title.', detail: 'A detail that says why.' };
const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const event = {
  type: `service.constructor${evil}`,
  resource: evil,
  at: 0,
  actor: evil,
  operations: [{ op: evil, path: evil }],
};
/** A stream with one event, of an interface that has no time zone. */
const streaming = (value: unknown): Respond => {
  const frame = `id: aa.1.1\nevent: x\ndata: ${JSON.stringify(value)}\n\n`;
  return (request, response) =>
    (request.url === '/' ? answering({}) : answering(frame, 200, 'text/event-stream'))(request, response);
};

const answers: Readonly<Record<string, Respond>> = {
  'no JSON': answering('<html>'),
  nothing: answering(''),
  null: answering('null'),
  'a number': answering('5'),
  'a text': answering('"x"'),
  'an object': answering({}),
  'an array of null': answering([null]),
  'an array of arrays': answering([[[]]]),
  'an object of controls': answering({ ...counts, [evil]: evil, name: evil, status: [evil], outcome: evil }),
  'an array of controls': answering([{ [evil]: evil, name: evil, id: evil, state: evil, servers: [evil] }]),
  'nodes of controls': answering([
    {
      ...{ node: evil, version: evil, seen: evil, position: evil, alive: evil, differs: false },
      behind: [{ resource: evil, since: evil, code: evil, detail: evil }],
    },
  ]),
  'no content': (_request, response) => void response.writeHead(204).end(),
  'a plan without members': answering({ outcome: 'accepted' }),
  'a plan of controls': answering({
    ...plan,
    patch: [
      { op: evil, path: evil, value: evil, from: evil },
      { op: 'constructor', path: '' },
    ],
    effects: [{ type: evil, resource: evil, count: evil }],
  }),
  'a plan of texts': answering({ ...plan, closes: { sessions: evil, connections: evil } }),
  'a refused plan': answering({ outcome: 'refused', problem: { ...anyProblem, code: evil, detail: evil } }),
  depth: answering(deep),
  'depth in an element': answering(`[{"name":${deep}}]`),
  'an empty problem': refusing({}),
  'a problem null': refusing('null'),
  'a problem that is no JSON': refusing('<html>'),
  'a problem of controls': refusing({
    ...anyProblem,
    code: evil,
    title: evil,
    detail: evil,
    errors: [fault, fault],
  }),
  'a problem with wrong faults': refusing({ ...anyProblem, errors: [null, 5] }),
  'a problem whose faults are a text': refusing({ ...anyProblem, errors: 'abc' }),
  'wrong numbers in headers': (_request, response) => {
    const headers = {
      'content-type': 'application/problem+json',
      'retry-after': 'soon',
      'x-total-count': 'many',
    };
    response.writeHead(429, headers).end(JSON.stringify(anyProblem));
  },
  'a status that is none': ({ socket }) => void socket.end('HTTP/1.1 999 x\r\ncontent-length: 0\r\n\r\n'),
  'no HTTP': ({ socket }) => void socket.end('garbage'),
  'a broken body': (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 }).write('[');
    setTimeout(() => response.destroy(), 20);
  },
  'a compressed body that is none': (_request, response) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).end('garbage'),
  'a redirect': (_request, response) => void response.writeHead(303, { location: '/' }).end(),
  'an event that is none': streaming(null),
  'an event of controls': streaming(event),
};

const calls: readonly (readonly string[])[] = [
  ['list', 'services'],
  ['list', 'services', '--fields', 'constructor,__proto__'],
  ['list', 'listeners', 'x'],
  ['list', 'nodes'],
  ['show', 'service', 'x'],
  ['stop', 'service', 'x'],
  ['stop', 'service', 'x', '--dry-run'],
  ['close', 'sessions', 'x', '--yes'],
  ['clear', 'server', 'x', 'maintenance'],
  ['patch', 'service', 'x', '--set', 'servers/0=x'],
  ['undo', 'aa.1.1'],
  ['plan', '-'],
  ['apply', '-', '--yes'],
  ['export'],
  ['commands'],
  ['watch', 'services'],
  ['events'],
  ['complete', '--', 'stop', 'service', ''],
];

const input = JSON.stringify({ services: [{ name: 'S', router: 'r' }] });
const printable = /^(?:[^\p{Cc}\p{Cf}]*\n)*$/u;

/** Runs a command. Nobody reads for long what has no end. */
function call(args: readonly string[], url: string): Promise<Result> {
  const isEndless = args[0] === 'watch' || args[0] === 'events';
  const reader = isEndless ? { isTerminal: true, leaves: AbortSignal.timeout(200) } : {};
  return command(args, { input, env: { GATEWAY_ADMIN_URL: url }, ...reader });
}

describe.each(Object.entries(answers))('gateway-admin and a server that answers %s', (_name, respond) => {
  // Promise: command-line-hostile
  it('ends with an exit code and a sentence, and prints nothing that moves the cursor', async () => {
    const url = await open(respond);
    const results = await Promise.all(calls.map((args) => call(args, url)));
    for (const [at, result] of results.entries()) {
      const { code, out, err } = result;
      const message = (calls[at] ?? []).join(' ');
      expect([message, code]).toEqual([message, [0, 1, 3, 4].includes(code) ? code : 'an exit code']);
      expect(err).toMatch(code === 0 ? printable : /^gateway-admin: (?!undefined).{10}/m);
      // eslint-disable-next-line no-control-regex -- Styles are of the program.
      expect(`${out}${err}`.replaceAll(/\x1b\[\d*m/g, '')).toMatch(printable);
      expect(`${out}${err}`).not.toMatch(/^Done: all|native code|\bNaN\b/m);
    }
  });
});

describe('gateway-admin and what it sends', () => {
  const password = 'planted-secret';

  // Promise: command-line-origin
  it('takes the log-in and a new password to no other address', async () => {
    const seen: string[] = [];
    const other = await open((request, response) => {
      seen.push(`${request.method ?? ''} ${request.url ?? ''}`);
      response.end('{}');
    });
    const url = await open((request, response) => {
      if (request.url?.includes('dry_run') === true) answering(plan)(request, response);
      else response.writeHead(307, { location: `${other}/users` }).end();
    });
    const { code, out, err } = await command(['user', 'add', 'bob', '--url', url], { input: password });
    expect([code, out, seen]).toEqual([3, '', []]);
    expect(err).toContain('Something other than the interface answers');
  });

  it('says that the outcome is unknown if nobody understands the answer to a command', async () => {
    for (const respond of [answering('<html>'), answering('null'), refusing({}), refusing('null')]) {
      const url = await open((request, response) => {
        const isPlan = request.url?.includes('dry_run') === true;
        const answer = request.method === 'GET' ? answering('{}') : isPlan ? answering(plan) : respond;
        answer(request, response);
      });
      const { code, err } = await command(['stop', 'service', 'x', '--url', url]);
      expect([code, err]).toEqual([4, expect.stringContaining('The outcome of the command is unknown')]);
    }
  });

  it('asks nobody if the standard input has ended', async () => {
    const changing = { ...plan, closes: { sessions: 1, connections: 0 } };
    const url = await open((request, response) => answering(changing)(request, response));
    const stdin = Object.assign(new PassThrough(), { isTTY: true }).end();
    stdin.resume();
    await once(stdin, 'end');
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const streams = { stdin, stdout, stderr, env: {} };
    const surroundings = Object.assign(new EventEmitter(), streams) as unknown as Parameters<typeof run>[1];
    expect(await run(['close', 'sessions', 'x', '--url', url], surroundings)).toBe(2);
    expect(String(stderr.read())).toContain('say --yes');
  });
});

/** Runs the built program in a shell, where `P` is the program. */
async function inShell(line: string, url: string): Promise<Result> {
  const env = { ...process.env, GATEWAY_ADMIN_URL: url };
  const program = `P() { '${process.execPath}' '${root}dist/node/cli/main.js' "$@"; }`;
  const child = spawn('bash', ['-c', `${program}\n${line}`], { env });
  const text = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text.out += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (text.err += part));
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...text };
}

describe('the program gateway-admin', () => {
  it('ends although the server does not', async () => {
    const endless: Respond = (_request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).write('<html>');
      const timer = setInterval(() => response.write('.'), 50);
      response.once('close', () => clearInterval(timer));
    };
    const { code } = await inShell(
      'timeout 180 bash -c "$(declare -f P); P list services"',
      await open(endless),
    );
    expect(code).toBe(3);
  });

  it('does not read an answer without end', async () => {
    const chunk = `"${'x'.repeat(1_000_000)}",`;
    const endless: Respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('[');
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    };
    const { code, err } = await inShell('P list services', await open(endless));
    expect([code, err]).toEqual([3, expect.stringContaining('it does not end.')]);
  });

  it('says that the output cannot be written', async () => {
    const { code, err } = await inShell('P list services > /dev/full', await open(answering([])));
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^gateway-admin: The output cannot be written: ENOSPC.*\n$/),
    ]);
  });

  it('makes all changes of a document although nobody reads the output', async () => {
    const services = ['A', 'B'].map((name) => ({ name, router: 'r', state: 'started' }));
    const made: string[] = [];
    const events = services.map(({ name }) => ({ type: 'service.stopped', resource: `/services/${name}` }));
    const url = await open((request, response) => {
      const { method, url: target = '' } = request;
      const isPlan = target.includes('dry_run');
      if (method !== 'GET' && !isPlan) made.push(target);
      const found = services.find(({ name }) => target === `/services/${name}`);
      const listed = target === '/services' ? services : [];
      const done = { outcome: 'accepted', closed: counts.closes };
      const sent = isPlan ? { ...plan, mark: 'm', events } : done;
      answering(method === 'GET' ? (found ?? listed) : sent)(request, response);
    });
    const document = JSON.stringify({ services: services.map((each) => ({ ...each, state: 'stopped' })) });
    const line = `(sleep 0.3; echo '${document}') | (P apply - --yes; echo $? >&2) | true`;
    const { err } = await inShell(line, url);
    expect([made, err]).toEqual([['/document?mark=m'], '0\n']);
  });
});
