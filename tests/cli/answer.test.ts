import { describe, expect, it } from '@jest/globals';
import { hostProblem, problem, type ProblemCode } from 'gateway-admin-core';
import { createOpenApi } from 'gateway-admin-core/openapi';

import { nextSteps, refusal } from '../../src/cli/answer.ts';
import { commands } from '../../src/cli/commands.ts';
import { listenerOf, subjectOf } from '../../src/cli/subject.ts';

/** A problem of each code that an endpoint can answer with. */
const { examples } = (
  createOpenApi() as {
    readonly components: { readonly examples: Readonly<Record<string, { readonly value: object }>> };
  }
).components;

const codes = Object.keys(nextSteps) as ProblemCode[];
const http = /\b(?:GET|PUT|POST|PATCH|DELETE) \/|If-(?:None-)?Match|Content-Type|[Tt]he header/;

describe('what gateway-admin says about a problem', () => {
  it.each(codes)('is a cause and a step of the command line for %s', (code) => {
    const given = examples[code]?.value ?? problem(code, 'A cause. Send GET /x.');
    const { message } = refusal(given as ReturnType<typeof problem>);
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
  ] as const)('leaves out the sentences for programs, for %s', (code, told) => {
    expect(refusal(examples[code]?.value as ReturnType<typeof problem>, { retryAfterMs: 1500 }).message).toBe(
      told,
    );
  });

  it.each([
    [
      subjectOf('server', 'db-9'),
      'resource-exists',
      'Look at the present one: gateway-admin show server db-9',
    ],
    [subjectOf('service', "Ada's"), 'patch-test-failed', "gateway-admin show service 'Ada'\\''s'"],
    [subjectOf('server', 'db-1', 'db-2'), 'effect-refused', 'Look at the state: gateway-admin list servers'],
    [subjectOf('session', '7'), 'partly-done', 'gateway-admin show session 7. Then send the rest.'],
    [listenerOf('Sales', 'second'), 'resource-exists', 'gateway-admin list listeners Sales'],
    [listenerOf('Sales', 'second'), 'listener-not-found', 'Try: gateway-admin list listeners Sales'],
    [subjectOf('user', 'ada'), 'user-exists', 'Try: gateway-admin user password ada'],
    [subjectOf('user', 'ada'), 'internal', 'before you try again: gateway-admin list users'],
  ] as const)('names %j in what to do next about %s', (subject, code, told) => {
    expect(refusal(problem(code, 'A cause.'), { subject }).message).toContain(told);
  });

  it('names the resource of the command of a sequence', () => {
    const detail = 'Command 2 (PATCH /services/My-Service): The test failed.';
    expect(
      refusal(problem('patch-test-failed', detail), { subject: subjectOf('server', 'db-1') }).message,
    ).toBe(
      '/services/My-Service: The test failed. (patch-test-failed) ' +
        'Look at the present values: gateway-admin show service My-Service',
    );
  });

  it('is the sentence of the host for a code of the host', () => {
    const given = hostProblem('host-in-use', { status: 409, title: 'In use', detail: 'Not now.' });
    expect(refusal(given).message).toBe('Not now. (host-in-use)');
  });

  it('has no words of HTTP in the list of faults', () => {
    const detail = 'names no existing resource. GET /servers lists the existing ones.';
    const faults = ['/servers/0', '/servers/1'].map(
      (pointer) => ({ pointer, code: 'link-unresolved', detail }) as const,
    );
    expect(refusal(problem('link-unresolved', 'x', faults)).message).toBe(
      'A link does not resolve (link-unresolved) Try: gateway-admin list servers, or gateway-admin list filters\n' +
        '  /servers/0: names no existing resource.\n  /servers/1: names no existing resource.',
    );
  });
});
