/**
 * Leaks: secrets that appear in something that an interface shows. Every interface of a test is watched: its answers,
 * plans, problems and audit records, and the console. The errors of those that run with `runAdmin` or `openRunning` are
 * watched too.
 */
import { inspect } from 'node:util';

import type { Admin } from 'gateway-admin-core';

import { planted } from './planted.ts';
import { judge } from './openapi.ts';

/** The hashes and sealed texts of the sample document, and the beginning of plain texts that tests plant. */
const secrets = [planted.hash, planted.sealed, 'planted-'];

/** What was shown although it contains a secret. */
const leaks: string[] = [];

/** Notes a leak if a value that is shown contains a secret. */
export function lookAt(place: string, value: unknown): void {
  const text = typeof value === 'string' ? value : inspect(value, { depth: 8, showHidden: true });
  if (secrets.some((secret) => text.includes(secret))) leaks.push(`${place}: ${text.slice(0, 2000)}`);
}

/** Gives the leaks that were noted since the last call. */
export function takeLeaks(): readonly string[] {
  return leaks.splice(0);
}

/** Watches everything that an interface shows. Gives the same interface. */
export function watch<A extends Admin>(admin: A): A {
  const handle = admin.handle.bind(admin);
  const plan = admin.plan.bind(admin);
  const execute = admin.execute.bind(admin);
  const { audit } = admin;
  const watched: Partial<Admin> = {
    async handle(request) {
      const handled = await handle(request);
      if (!handled.matched) return handled;
      const { headers, body } = handled.response;
      lookAt('an answer', headers);
      if (typeof body !== 'object') {
        lookAt('an answer', body);
        judge(request, handled.response, body ?? '');
        return handled;
      }
      return { matched: true, response: { ...handled.response, body: watchedBody(body) } };
    },
    plan(...given) {
      const planned = plan(...given);
      lookAt('a plan', planned);
      return planned;
    },
    async execute(...given) {
      const execution = await execute(...given);
      if ('problem' in execution) lookAt('a problem', execution.problem);
      return execution;
    },
    audit: Object.assign(
      (where?: Parameters<Admin['audit']>[0]) => {
        const reader = audit(where);
        const next = reader.next.bind(reader);
        return Object.assign(reader, {
          next: async () => {
            const result = await next();
            lookAt('an audit record', result.value);
            return result;
          },
        });
      },
      { record: audit.record },
    ),
  };
  return Object.assign(admin, watched);
}

/** The same pieces. Passes the end of the reader on at once, as an adapter would. */
function watchedBody(body: AsyncIterable<Uint8Array>): AsyncIterableIterator<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array, unknown> = body[Symbol.asyncIterator]();
  let text = '';
  const decoder = new TextDecoder();
  const end = { done: true, value: undefined } as const;
  return {
    async next() {
      const result = await pieces.next();
      if (result.done === true) return end;
      text = text.slice(-1000) + decoder.decode(result.value, { stream: true });
      lookAt('a list', text);
      return result;
    },
    async return() {
      await pieces.return?.();
      return end;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
