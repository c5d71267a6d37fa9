/**
 * Entity tags kept between requests, so that a command is refused if another client has changed the resource meanwhile.
 */
import type { Send } from './send.ts';

/**
 * Remembers the entity tag of each resource that is read whole or changed, and sends the tag with the next command on
 * the resource. If another client has changed it meanwhile, the command is refused with `precondition-failed`:
 * read the resource again. A resource is known by its name as you write it; the users count as one resource. The tags
 * of sessions are not remembered, because sessions come and go without end. A command with a tag of its own keeps that
 * tag.
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
    const { target, headers } = request;
    const resource = resourceOf(target);
    const isReading = request.method === 'GET';
    const tag = headers['if-match'] ?? (isReading ? undefined : tags.get(resource));
    const response = await send({ ...request, headers: { ...headers, 'if-match': tag } });
    const { etag, location } = response.headers;
    // Relative to the target (RFC 9110 section 10.2.2).
    const place = location === undefined ? resource : new URL(location, new URL(target, 'http://x')).pathname;
    const showsNow = isReading ? target === resource : !target.includes('dry_run=');
    if (etag === undefined || response.status >= 300 || !showsNow) return response;
    // After a deletion the tag is that of the list, and so is the tag with which the next creation is compared.
    if (request.method === 'DELETE' && target.replace(/\?.*/, '') === resource) tags.delete(resource);
    else if (!/\/$|^\/sessions\//.test(place)) tags.set(place, etag);
    return response;
  };
}

/** The resource whose tag a command on the target compares: `/services/Sales` for `/service/Sales/stop`. */
function resourceOf(target: string): string {
  const [, collection = '', name = ''] = target.split(/[/?]/);
  if (collection === 'users') return '/users';
  return `/${collection === 'gateway' ? collection : collection.replace(/s?$/, 's')}/${name}`;
}
