/**
 * Requests as one line: the method, and the target.
 */
import type { Admin, Json } from 'gateway-admin-core';

import { jsonOf } from './json-body.ts';

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body as JSON; `undefined` for an answer without a body. */
  readonly body: unknown;
}

/** What is sent besides the line. */
interface Sent {
  readonly as?: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request, and reads the answer. */
export async function ask(admin: Admin, line: string, { as, body, headers }: Sent = {}): Promise<Answer> {
  const [, method = '', target = ''] = /^(\S+) (.*)$/.exec(line) ?? [];
  const handled = await admin.handle({
    ...{ method, target, headers: { 'content-type': 'application/json', ...headers } },
    ...(as === undefined ? {} : { principal: { name: as } }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!handled.matched) throw new Error(`There is nothing at ${target}`);
  const { response } = handled;
  const { status, headers: answered } = response;
  return { status, headers: answered, body: response.body && (await jsonOf(response)) };
}
