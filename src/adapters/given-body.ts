/**
 * Bodies that were read before the adapter got the request, by a body parser or by the platform.
 */

/** Where body parsers and platforms leave a body. */
interface Given {
  /** The bytes or the text, beside what a parser has made of them. */
  readonly rawBody?: unknown;
  /** The bytes, the text, or the parsed JSON. */
  readonly body?: unknown;
}

/**
 * Finds the body that was read before. Parsed JSON is written as text again, so that the interface checks every body in
 * the same way.
 *
 * @param limit - the interface refuses a longer body
 * @throws Error if the request has no body
 * @internal
 */
export function givenBody(request: object, limit: number): Uint8Array {
  const { rawBody, body } = request as Given;
  const given = isRaw(rawBody) ? rawBody : body;
  if (given === undefined) throw bodyTaken('put the body at request.body');
  if (given instanceof Uint8Array) return given;
  if (!isParsed(given)) throw bodyTaken('put its bytes, its text or its JSON at request.body');
  return new TextEncoder().encode(typeof given === 'string' ? given : textOf(given, limit));
}

/** Whether a body parser can have made the value from JSON: not a stream, a map, or a function. */
function isParsed(value: unknown): boolean {
  if (typeof value !== 'object' || value === null)
    return ['string', 'number', 'boolean'].includes(typeof value) || value === null;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function isRaw(value: unknown): value is Uint8Array | string {
  return typeof value === 'string' || value instanceof Uint8Array;
}

function textOf(parsed: unknown, limit: number): string {
  try {
    return JSON.stringify(parsed, withEveryNumber);
  } catch (error) {
    // JSON that is nested too deeply to be written stays JSON that is nested too deeply.
    if (error instanceof RangeError) return '['.repeat(limit);
    throw error;
  }
}

/**
 * JSON has no number that is not finite, and `stringify` would write `null`. The interface refuses both numbers alike.
 */
function withEveryNumber(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? Number.MAX_VALUE : value;
}

/** Makes the error for a body that was read before and that no member of the request has. @internal */
export function bodyTaken(advice: string): Error {
  return new Error(
    'The body of a request was read before the interface got the request. Mount the interface before body parsers, or ' +
      `${advice}.`,
  );
}
