/**
 * Bodies: read within the limits, and only where they matter.
 */
import { parseJson, type Json } from '../core/json.ts';
import { fail, type Result } from '../core/problem.ts';
import type { BodyRule } from '../core/route.ts';
import type { AdminRequest } from '../ports/port.ts';
import type { Limits } from './limits.ts';

/**
 * Reads the body of a command.
 *
 * @returns the JSON, or why not: media type, size, encoding, grammar
 * @internal
 */
export async function readBody(request: AdminRequest, rule: BodyRule, limits: Limits): Promise<Result<Json>> {
  const mediaType = mediaTypeOf(request.headers['content-type']);
  if (mediaType !== undefined && !rule.mediaTypes.includes(mediaType)) return unsupported(rule);
  if (Number(request.headers['content-length'] ?? 0) > limits.bodyBytes) return tooLarge(limits);
  const body = await bytesOf(request, limits.bodyBytes);
  if (body.length > limits.bodyBytes) return tooLarge(limits);
  if (mediaType === undefined && body.length > 0) return unsupported(rule);
  return parseJson(body, { depth: limits.depth });
}

async function bytesOf({ body }: AdminRequest, limit: number): Promise<Uint8Array> {
  if (body === undefined) return new Uint8Array();
  if (typeof body === 'string') return new TextEncoder().encode(body);
  return typeof body === 'function' ? body(limit) : body;
}

/** The media type without its parameters (RFC 9110 §8.3.1); `undefined` when none is given. */
function mediaTypeOf(header: string | undefined): string | undefined {
  const [type = ''] = (header ?? '').split(';');
  return type.trim().toLowerCase() || undefined;
}

function unsupported({ mediaTypes }: BodyRule): Result<never> {
  return fail(
    'unsupported-media-type',
    `Send the body as ${mediaTypes.join(' or ')} and say so in Content-Type.`,
  );
}

function tooLarge({ bodyBytes }: Limits): Result<never> {
  return fail('content-too-large', `The body may have at most ${String(bodyBytes)} bytes.`);
}
