/**
 * Request bodies: reads the body of a command, within the limits.
 */
import { parseJson, parsingJson } from '../../json/parse.ts';
import type { Json } from '../../json/value.ts';
import { fail, ok, type Result } from '../../problem.ts';
import type { Route, WholeRoute } from '../../http/route.ts';
import type { AdminRequest } from '../../http/message.ts';
import { onAbort, beforeDeadline, inPieces, late } from '../host/waiting.ts';
import type { Ground } from '../ground.ts';
import type { Limits } from '../limits.ts';
import { bytesOf, readBytes } from './request.ts';

/**
 * Reads the body of a command.
 *
 * @returns the JSON, or a problem with the media type, the size, the encoding or the JSON grammar
 * @internal
 */
export async function readBody(
  request: AdminRequest,
  rule: Pick<Route, 'mediaTypes' | 'mayLackBody'> & Partial<Pick<WholeRoute, 'takes'>>,
  { limits, clock, closing }: Ground,
): Promise<Result<Json>> {
  const { bytes: most, values } = boundsOf(rule, limits);
  const coding = request.headers['content-encoding'] ?? 'identity';
  if (!/^\s*(?:identity\s*)?$/i.test(coding)) return encoded;
  const mediaType = mediaTypeOf(request.headers['content-type']);
  const isAccepted = rule.mediaTypes.includes(mediaType ?? '');
  // The type of a body that may be missing counts if there is a body: `curl -d ''` names one.
  if (mediaType !== undefined && !isAccepted && !rule.mayLackBody) return unsupported(rule);
  if (Number(request.headers['content-length'] ?? 0) > most) return tooLarge(most);
  const given = request.body;
  const body =
    typeof given === 'function'
      ? await beforeDeadline(clock, limits.bodyDeadlineMs, () =>
          unlessClosing(() => readBytes(given, most), closing),
        )
      : bytesOf(given);
  if (body === late) return tooLate(limits);
  if (body === 'closed') return interfaceCloses;
  if (body.length > most) return tooLarge(most);
  if (body.length === 0 && rule.mayLackBody) return ok({});
  if (!isAccepted && body.length > 0) return unsupported(rule);
  const text = decodeUtf8(body);
  if (text === undefined) return fail('body-encoding-invalid', 'The body is not UTF-8. Send JSON as UTF-8.');
  const parseLimits = { depth: limits.maxBodyDepth, values };
  return rule.takes === 'document' ? inPieces(parsingJson(text, parseLimits)) : parseJson(text, parseLimits);
}

/** The largest body that a route takes, in bytes and in values. */
function boundsOf(
  { takes }: Partial<Pick<WholeRoute, 'takes'>>,
  { maxBodyBytes, maxBodyValues, maxDocumentBytes, maxDocumentValues }: Limits,
): { readonly bytes: number; readonly values: number } {
  return takes === 'document'
    ? { bytes: maxDocumentBytes, values: maxDocumentValues }
    : { bytes: maxBodyBytes, values: maxBodyValues };
}

/** Reads until the interface closes. */
async function unlessClosing<T>(read: () => Promise<T>, closing: AbortSignal): Promise<T | 'closed'> {
  if (closing.aborted) return 'closed';
  let stopListening = (): void => undefined;
  const closed = new Promise<'closed'>((resolve) => {
    stopListening = onAbort(closing, () => {
      resolve('closed');
    });
  });
  return Promise.race([read(), closed]).finally(stopListening);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes bytes to text; `undefined` if the bytes are not UTF-8. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  // A JSON text starts with an ASCII character, so a NUL this early means UTF-16 or UTF-32.
  if (bytes[0] === 0 || bytes[1] === 0) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The media type without its parameters (RFC 9110 §8.3.1); `undefined` if the header is missing or empty. */
function mediaTypeOf(header: string | undefined): string | undefined {
  const [type = ''] = (header ?? '').split(';');
  return type.trim().toLowerCase() || undefined;
}

function unsupported({ mediaTypes }: Pick<Route, 'mediaTypes'>): Result<never> {
  return fail(
    'unsupported-media-type',
    `The media type of the body is missing or not supported here. Send Content-Type: ${mediaTypes.join(' or ')}.`,
  );
}

const encoded = fail(
  'unsupported-media-type',
  'The body has a Content-Encoding, which is not supported. Send the body as it is, without compression.',
);

const interfaceCloses = fail(
  'closed',
  'The administration interface closed before the body had arrived. Nothing was changed. Send the request again when the ' +
    'interface is running again.',
);

function tooLate({ bodyDeadlineMs }: Limits): Result<never> {
  const seconds = String(bodyDeadlineMs / 1000);
  return fail(
    'body-timeout',
    `The body did not arrive within ${seconds} seconds. Nothing was changed. Send the request again.`,
  );
}

function tooLarge(most: number): Result<never> {
  return fail('content-too-large', `The body may have at most ${String(most)} bytes. Send a smaller one.`);
}
