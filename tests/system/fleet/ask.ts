/**
 * Requests to the nodes of a fleet.
 */
import type { NodeProcess } from './node-process.ts';

/**
 * Sends a request. Gives nothing if the node does not answer. A body is a JSON Patch, unless the headers say something
 * else.
 */
export async function ask(
  { url }: NodeProcess,
  method: string,
  target: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response | undefined> {
  const type = { 'content-type': 'application/json-patch+json' };
  const sent =
    body === undefined ? { headers } : { headers: { ...type, ...headers }, body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(60_000);
  return fetch(url + target, { method, signal, ...sent }).catch(() => undefined);
}
