/**
 * Entity tags kept between requests, so that a command is refused if somebody else has changed the resource meanwhile.
 */
import type { Send } from './send.ts';

/**
 * Remembers the entity tag of each resource that is read whole or patched, and sends the tag with the next command on the
 * resource. If somebody else has changed the resource meanwhile, the command is refused with `precondition-failed`: read the
 * resource again. A resource is known by its name as you write it. A command with a tag of its own keeps that tag.
 *
 * @param send - carries the requests
 * @returns a function that carries the same requests, for `createClient`
 *
 * @public
 */
export function withEtags(send: Send): Send {
  if (typeof send !== 'function') throw new TypeError('send must be a function, such as sendTo(admin)');
  const tags = new Map<string, string>();
  return async (request) => {
    const resource = resourceOf(request.target);
    const isReading = request.method === 'GET';
    const tag = request.headers['if-match'] ?? (isReading ? undefined : tags.get(resource));
    const response = await send({ ...request, headers: { ...request.headers, 'if-match': tag } });
    const etag = response.headers['etag'];
    const isWhole = request.target === resource;
    if (response.status >= 300 || request.target.includes('dry_run=')) return response;
    if (etag !== undefined && (isWhole || !isReading)) tags.set(resource, etag);
    // A command that gives no tag has made the last one outdated.
    else if (!isReading) tags.delete(resource);
    return response;
  };
}

/** The link of the resource that a target is about: `/services/Sales` for `/service/Sales/stop`. */
function resourceOf(target: string): string {
  const [, collection = '', name = ''] = target.split(/[/?]/);
  return `/${collection.replace(/s?$/, 's')}/${name}`;
}
