/**
 * The connection: where the interface is, and with which log-in requests are sent.
 */
import {
  commandAt,
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
 * A browser opens a dialog of its own, and the request waits for it, when a request with the credentials of the browser
 * gets a Basic challenge. The first request has none, and no request has any if the interface may answer with such a
 * challenge. The interface itself has no challenge, because everybody may read whether it is ready.
 */
export async function connect(address: string, logIn?: LogIn): Promise<Client> {
  const credentials = await credentialsFor(address);
  const send = sendWithFetch(address, {
    headers:
      logIn === undefined ? {} : { authorization: `Basic ${encode(`${logIn.name}:${logIn.password}`)}` },
    fetch: (url, init) => fetch(url, { ...init, credentials, cache: 'no-store' }),
  });
  return createClient(send);
}

async function credentialsFor(address: string): Promise<RequestCredentials> {
  // A host may lead a caller without its cookie to a log-in page of another origin, which this page may not read.
  const options = { credentials: 'omit', redirect: 'manual', cache: 'no-store' } as const;
  const response = await fetch(address.replace(/\/?$/, '/gateway'), options);
  void response.body?.cancel();
  const hasDialog = /\b(?:basic|digest)\b/i.test(response.headers.get('www-authenticate') ?? '');
  // An interface that is open until the first user will want a log-in later. Only to a secure context, it tells a page
  // without such a challenge.
  return hasDialog || (response.ok && !isSecureContext) ? 'omit' : 'same-origin';
}

/** Base64 of the UTF-8 of a text (RFC 7617 §2.1). */
function encode(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

/** Both parts of the page have it from here: it has the table of endpoints with it. */
export { commandAt };

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
