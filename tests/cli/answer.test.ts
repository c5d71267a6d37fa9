import { afterEach, describe, expect, it } from '@jest/globals';
import { hostProblem, problem, problemTable, type Problem, type ProblemCode } from 'gateway-admin-core';
import { createOpenApi } from 'gateway-admin-core/openapi';

import { commands } from '../docs/tables.ts';
import { answering, answeringServers } from './answering-server.ts';
import { command } from './command-line.ts';

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
