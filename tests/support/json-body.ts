/**
 * The bodies of responses in JSON.
 */
import type { AdminResponse } from 'gateway-admin-core';

/** Reads a body, also one that is sent in pieces because the list in it is long. */
export async function jsonOf({ body = '' }: Pick<AdminResponse, 'body'>): Promise<unknown> {
  if (typeof body === 'string') return JSON.parse(body);
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of body) text += decoder.decode(piece, { stream: true });
  return JSON.parse(text);
}
