import { describe, expect, it } from '@jest/globals';
import { routes } from 'gateway-admin-core';

import { readAudit } from '../support/audit-reader.ts';
import type { Input } from '../support/input.ts';
import { runAdmin } from '../support/running-admin.ts';
import { badInputs, fineInputs } from './bad-input.ts';
import { endpoints, targetOf } from './endpoint.ts';

/** The paths of what changes something, with the id of each. */
const writing = routes.flatMap(({ kind, id, method, path, aliases }) =>
  kind === 'command'
    ? [path, ...aliases].map((each) => ({
        id,
        method,
        path: new RegExp(`^${each.replace(/:\w+/g, '[^/]+')}/?$`),
      }))
    : [],
);

/** The id of the endpoint that a request would change something with; `undefined` if there is none. */
function writingRoute({ method, target }: Pick<Input, 'method' | 'target'>): string | undefined {
  const [place = '', ...query] = target.split('?');
  if (query.join('?') === 'dry_run=true') return undefined;
  return writing.find((each) => each.method === method && each.path.test(place))?.id;
}

/** An interface for a request, whose audit records are read. */
function open({ limits = {}, readOnly }: Pick<Input, 'limits' | 'readOnly'>) {
  const { admin, clock } = runAdmin({ limits });
  admin.readOnly = readOnly === true;
  return { admin, clock, all: readAudit(admin) };
}

/** Sends a request, and gives the answer with its audit records. */
async function send(input: Input, { admin, clock, all } = open(input)) {
  const { method, target, headers, body } = input;
  const { length } = all;
  // Attempts of one peer in one second can share a record.
  const peer = String(length);
  const handled = await admin.handle({
    method,
    target,
    headers,
    peer,
    ...(body === undefined ? {} : { body }),
  });
  await clock.settle();
  const records = all.slice(length);
  if (!handled.matched) return { status: 404, records };
  const { status, body: text } = handled.response;
  const { code } = (typeof text === 'string' && status >= 400 ? JSON.parse(text) : {}) as { code?: string };
  return { status, code, records };
}

describe('a request that is refused', () => {
  const rows = Object.values(badInputs).flat();
  // What is refused leaves everything as it was, so most requests can have the same interface.
  const usual = open({});
  // Promise: audit-each-write
  it.each(rows)('leaves one audit record if it would change something: $method $what', async (input) => {
    const isUsual = input.limits === undefined && input.readOnly === undefined;
    const { status, code, records } = await send(input, isUsual ? usual : open(input));
    const id = writingRoute(input);
    const expected = { kind: 'write', route: { id, method: input.method }, outcome: 'refused', code };
    expect([status, records]).toMatchObject([input.status, id === undefined ? [] : [expected]]);
    expect(JSON.stringify(records)).not.toContain('planted');
  });
});

describe('a request that is accepted', () => {
  it.each(fineInputs)('leaves one audit record if it would change something: $what', async (input) => {
    const { status, records } = await send(input);
    const id = writingRoute(input);
    const outcome = input.changes ? 'accepted' : 'unchanged';
    const expected = { route: { id }, outcome, revision: input.changes ? 1 : 0 };
    expect([status, records]).toMatchObject([input.status, id === undefined ? [] : [expected]]);
  });

  it.each(endpoints)('leaves one audit record if it is no read: $method $path', async (endpoint) => {
    const { method, body } = endpoint;
    const input = {
      what: '',
      method,
      target: targetOf(endpoint),
      headers: body === undefined ? {} : { 'content-type': body.type },
      ...(body === undefined ? {} : { body: JSON.stringify(body.json) }),
    };
    const { records } = await send(input);
    expect(records).toHaveLength(method === 'GET' ? 0 : 1);
    const dry = await send({ ...input, target: `${input.target}?dry_run=true` });
    expect(dry.records).toEqual([]);
  });
});
