/**
 * Reading `GET /events`: the pieces of a stream, and what a browser makes of them.
 */
import type { Admin, AdminRequest, AdminResponse } from 'gateway-admin-core';

/** What a browser dispatches. */
export interface Message {
  /** The last id that the stream has sent; empty before the first. */
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
}

/** An open stream. */
export interface OpenStream {
  readonly response: AdminResponse;
  /** The next piece; empty at the end. */
  piece(this: void): Promise<string>;
  /** The messages of the next pieces: so many, or fewer if the stream ends. */
  messages(this: void, count: number): Promise<readonly Message[]>;
  /** The id with which a browser would connect again. */
  lastId(this: void): string;
  leave(this: void): Promise<void>;
}

/** Opens `GET /events` of an interface; a refusal has no pieces. */
export async function openStream(
  admin: Admin,
  { query = '', ...request }: Partial<AdminRequest> & { readonly query?: string } = {},
): Promise<OpenStream> {
  const handled = await admin.handle({ method: 'GET', target: `/events${query}`, headers: {}, ...request });
  if (!handled.matched) throw new Error('There is no endpoint for events');
  const { response } = handled;
  return { response, ...readPieces(typeof response.body === 'object' ? response.body : nothing) };
}

/** Reads the pieces of a stream. */
export function readPieces(pieces: AsyncIterable<Uint8Array>): Omit<OpenStream, 'response'> {
  const iterator: AsyncIterator<Uint8Array, unknown> = pieces[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  const browser = new Browser();
  const piece = async (): Promise<string> => {
    const result = await iterator.next();
    const text = result.done === true ? '' : decoder.decode(result.value, { stream: true });
    browser.take(text);
    return text;
  };
  return {
    piece,
    messages: async (count) => {
      while (browser.messages.length < count && (await piece()) !== '');
      return browser.messages.splice(0, count);
    },
    lastId: () => browser.lastId,
    leave: async () => {
      await iterator.return?.();
    },
  };
}

/** No pieces. */
export const nothing: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/** Interprets a stream as the HTML standard says ("Server-sent events", "Interpreting an event stream"). */
export class Browser {
  readonly messages: Message[] = [];
  lastId = '';
  #rest = '';
  #data: string[] = [];
  #type = '';
  #id = '';

  take(text: string): void {
    const lines = (this.#rest + text).split(/\r\n|\r|\n/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (line === '') return this.#dispatch();
    const [, field, value = ''] = /^([^:]*)(?::[ ]?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') this.#data.push(value);
    if (field === 'event') this.#type = value;
    if (field === 'id') this.#id = value;
  }

  #dispatch(): void {
    this.lastId = this.#id;
    if (this.#data.length > 0)
      this.messages.push({
        id: this.#id,
        type: this.#type,
        data: JSON.parse(this.#data.join('\n')) as unknown,
      });
    this.#data = [];
    this.#type = '';
  }
}
