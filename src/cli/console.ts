/**
 * The console: the page of a gateway. People copy its address from a browser, and the page knows where its interface
 * is.
 */
import type { AdminRequest, AdminResponse } from '../index.ts';
import { isReading, transportTo, type Remote } from './transport.ts';

/** Whether the console can have answered in place of the interface. */
export function isOfConsole(
  request: AdminRequest,
  { status, headers }: AdminResponse,
  { url }: Remote,
): boolean {
  if (!isReading(request) || url.pathname === '/') return false;
  // An interface at the root of the server has no path below that of the console.
  return status === 404 || isPage(headers);
}

/** Whether an answer is a page: the interface has none. */
function isPage(headers: AdminResponse['headers']): boolean {
  return headers['content-type']?.startsWith('text/html') === true;
}

/** More characters than the page has. */
const longestPage = 65_536;

/** The address of the interface, if the console is at an address; `undefined` if something else is. */
export async function interfaceBehind(remote: Remote): Promise<URL | undefined> {
  try {
    // The page needs no log-in.
    const send = transportTo({ ...remote, headers: {} });
    const { body = '' } = await send({ method: 'GET', target: '/', headers: {} });
    const [, path] = /<meta name="admin-path" content="([^"]*)">/.exec(await textOf(body)) ?? [];
    if (path === undefined) return undefined;
    const { origin, pathname } = remote.url;
    const url = new URL(unescaped(path), origin + pathname.replace(/\/*$/, '/'));
    // A log-in goes to no other server.
    return url.origin === origin ? url : undefined;
  } catch {
    return undefined;
  }
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

async function textOf(body: NonNullable<AdminResponse['body']>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of typeof body === 'string' ? [body] : body) {
    text += typeof part === 'string' ? part : decoder.decode(part, { stream: true });
    if (text.length > longestPage) break;
  }
  return text;
}
