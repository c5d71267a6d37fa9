/**
 * The bodies of responses in JSON.
 */
import type { AdminResponse } from 'gateway-admin-core';

/** Reads a body, also one that is sent in pieces because the list in it is long. */
export async function jsonOf({ body = '' }: Pick<AdminResponse, 'body'>): Promise<unknown> {
  if (typeof body === 'string') return JSON.parse(body);
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString());
}
