/**
 * The connection: where the interface is, and with which log-in requests are sent.
 */
import {
  createClient,
  sendWithFetch,
  type Answer,
  type Client,
  type EndpointId,
} from 'gateway-admin-core/client';
import type { Plan } from 'gateway-admin-core';

/** The address of the interface. The path of the document counts as if it ended with a slash. */
export function addressOf(documentAddress: string, path: string): string {
  const { origin, pathname } = new URL(documentAddress);
  return new URL(path, origin + pathname.replace(/\/*$/, '/')).href;
}

/** A person who logs in on the page itself. */
export interface LogIn {
  readonly name: string;
  readonly password: string;
}

/**
 * Opens a client.
 *
 * A browser opens a dialog of its own when a request with credentials gets a Basic challenge. The first request has none,
 * and no request has any if the interface answers it with such a challenge.
 */
export async function connect(address: string, logIn?: LogIn): Promise<Client> {
  const credentials = logIn === undefined ? await credentialsFor(address) : 'omit';
  const send = sendWithFetch(address, {
    headers:
      logIn === undefined ? {} : { authorization: `Basic ${encode(`${logIn.name}:${logIn.password}`)}` },
    fetch: (url, init) => fetch(url, { ...init, credentials }),
  });
  return createClient(send);
}

async function credentialsFor(address: string): Promise<RequestCredentials> {
  const response = await fetch(address, { credentials: 'omit' });
  void response.body?.cancel();
  return /\b(?:basic|digest)\b/i.test(response.headers.get('www-authenticate') ?? '')
    ? 'omit'
    : 'same-origin';
}

/** Base64 of the UTF-8 of a text (RFC 7617 §2.1). */
function encode(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

/** A method that makes a change, with whatever it takes. */
export interface CommandMethod {
  (...given: readonly unknown[]): Promise<Answer<unknown>>;
  plan(...given: readonly unknown[]): Promise<Answer<Plan>>;
}

/** The method of a client that makes a change, by the name of its endpoint. */
export function commandOf(client: Client, id: EndpointId): CommandMethod {
  const [group = '', name = ''] = id.split('.');
  const groups = client as unknown as Readonly<Record<string, Readonly<Record<string, CommandMethod>>>>;
  const method = groups[group]?.[name];
  if (method === undefined) throw new Error(`The client has no ${id}`);
  return method;
}
