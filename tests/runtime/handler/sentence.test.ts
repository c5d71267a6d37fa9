/**
 * The sentences of problems: each says what was refused, why, and what to do next.
 */
import { describe, expect, it } from '@jest/globals';
import { createBasicAuthentication, type AdminRequest } from 'gateway-admin-core';

import { runAdmin, type Running } from '../../support/running-admin.ts';

const json = { 'content-type': 'application/json' };
const stop = ['PUT', '/service/My-Service/stop'] as const;
const services = '/services/My-Service';
const foreign = { host: '127.0.0.1', origin: 'https://evil.example' };

type Options = NonNullable<Parameters<typeof runAdmin>[0]>;
type More = Partial<AdminRequest>;

/** The text of the detail in the answer to a request. */
async function detailOf(
  { admin }: Running,
  [method, target]: readonly [string, string],
  more: More = {},
): Promise<string | undefined> {
  const handled = await admin.handle({ method, target, headers: {}, ...more });
  if (!handled.matched) throw new Error(`Nothing at ${target}`);
  const { body } = handled.response;
  return typeof body === 'string' ? (JSON.parse(body) as { detail?: string }).detail : undefined;
}

describe('the sentence for', () => {
  it.each<[string, Options, readonly [string, string], More, string]>([
    [
      'a missing log-in',
      { access: { authenticate: createBasicAuthentication() } },
      ['GET', services],
      {},
      'The credentials are missing, wrong or no longer valid. Send valid ones.',
    ],
    [
      'a throttled log-in',
      { access: { authenticate: () => Promise.resolve('throttled') } },
      ['GET', services],
      {},
      'Too many log-ins at once. Try again in a second.',
    ],
    [
      'a log-in that was not checked in time',
      { access: { authenticate: () => Promise.resolve('overloaded') } },
      ['GET', services],
      {},
      'The password was not checked in time. Try again later.',
    ],
    [
      'a caller without the permission',
      { access: { authorize: () => false } },
      ['GET', services],
      { principal: { name: 'ada' } },
      'The user "ada" is not allowed to do this: it is for the role reader. Ask an administrator of this gateway for the permission.',
    ],
    [
      'a known method',
      {},
      ['POST', services],
      {},
      'This path supports only GET, HEAD, PATCH, DELETE, OPTIONS.',
    ],
    [
      'an unknown method',
      {},
      ['BREW', services],
      {},
      'The method is unknown. This path supports only GET, HEAD, PATCH, DELETE, OPTIONS.',
    ],
    [
      'a long target',
      { limits: { maxTargetBytes: 10 } },
      ['GET', services],
      {},
      'The path and the query together may have at most 10 bytes. Shorten them.',
    ],
    [
      'a broken escape',
      {},
      ['GET', '/services/%ff'],
      {},
      'The path contains a percent sign that does not begin an escape of UTF-8, such as %20. Write a percent sign itself as %25.',
    ],
    [
      'an unknown parameter',
      {},
      ['GET', '/services?page=1'],
      {},
      'The parameter "page" is not supported here. Supported: fields, range.',
    ],
    [
      'a search parameter that is given twice',
      {},
      ['GET', '/sessions?user=a&user=b'],
      {},
      'The parameter "user" must be given once.',
    ],
    [
      'a header with an event id that is none',
      {},
      ['GET', '/events'],
      { headers: { 'last-event-id': '7' } },
      'The header Last-Event-ID must be the id of an event of GET /events. Leave the header out to read from now on.',
    ],
    [
      'a long body',
      { limits: { maxBodyBytes: 5 } },
      ['PATCH', services],
      { headers: json, body: '[     ]' },
      'The body may have at most 5 bytes. Send a smaller one.',
    ],
    [
      'a compressed body',
      {},
      ['PATCH', services],
      { headers: { ...json, 'content-encoding': 'gzip' }, body: '[]' },
      'The body has a Content-Encoding, which is not supported. Send the body as it is, without compression.',
    ],
    [
      'a foreign web page',
      {},
      stop,
      { headers: foreign },
      'The command comes from a web page of "https://evil.example", which may not send commands. Nothing was changed. To allow an origin, add it to the option access.allowedOrigins.',
    ],
    [
      'a web page of an unknown origin',
      {},
      stop,
      { headers: { host: '127.0.0.1', 'sec-fetch-site': 'cross-site' } },
      'The command comes from a web page of "an unknown origin", which may not send commands. Nothing was changed. To allow an origin, add it to the option access.allowedOrigins.',
    ],
    [
      'an unknown host',
      {},
      ['GET', services],
      { headers: { host: 'gateway.example' } },
      'The header Host names "gateway.example". Without a log-in, the interface answers only under an IP address and under localhost. To allow a name, add it to the option access.allowedHosts.',
    ],
    [
      'an old entity tag',
      {},
      stop,
      { headers: { 'if-match': '"x.9.9"' } },
      'The resource has changed since you read the entity tag in If-Match. Read the resource again, and try again if that still makes sense.',
    ],
    [
      'a resource that must not exist',
      {},
      stop,
      { headers: { 'if-none-match': '*' } },
      'The resource has an entity tag that If-None-Match names, so the command was refused. If-None-Match on a writing request allows the command only if no tag matches; * matches every resource that exists.',
    ],
    [
      'an error of the host',
      {
        access: {
          authorize: () => {
            throw new Error('planted');
          },
        },
      },
      ['GET', services],
      { principal: { name: 'ada' } },
      'The administration interface failed with an internal error. The error was reported to the gateway. If you sent a command, read the resource before you send the command again.',
    ],
    [
      'a veto that fails',
      {
        veto: () => {
          throw new Error('planted');
        },
      },
      stop,
      {},
      'The gateway failed to say whether this command is allowed, so the command was refused. Nothing was changed. The error was reported to the gateway.',
    ],
  ])('%s', async (_for, options, request, more, sentence) => {
    expect(await detailOf(runAdmin(options), request, more)).toBe(sentence);
  });

  it('a caller whom the host has not authenticated, whom the challenge names', async () => {
    const handled = await runAdmin().admin.handle({
      method: 'GET',
      target: services,
      headers: {},
      principal: null,
    });
    expect(handled).toMatchObject({
      response: { status: 401, headers: { 'www-authenticate': 'Host realm="gateway admin"' } },
    });
  });

  it('an interface that is read-only', async () => {
    const running = runAdmin();
    running.admin.readOnly = true;
    expect(await detailOf(running, stop)).toBe(
      'The interface is read-only at the moment. Nothing was changed. An administrator can end this with PATCH /, and GET / shows who has begun it.',
    );
  });

  it('an interface that is closed', async () => {
    const running = runAdmin();
    await running.admin.close();
    expect(await detailOf(running, stop)).toMatch(/^The administration interface is closed\. /);
  });

  it('a body that does not arrive', async () => {
    const running = runAdmin();
    const body = (): Promise<never> => new Promise<never>(() => undefined);
    const answer = detailOf(running, ['PATCH', services], { headers: json, body });
    await running.clock.advance(60_000);
    expect(await answer).toMatch(
      /^The body did not arrive within \d+ seconds\. Nothing was changed\. Send the request again\.$/,
    );
  });
});
