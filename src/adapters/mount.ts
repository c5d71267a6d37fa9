/**
 * Where an interface stands in the paths of a server: the part that every HTTP adapter needs.
 */
import { problem, type AdminResponse } from '../index.ts';

/**
 * Puts an interface at a base path.
 *
 * @param basePath - such as `/admin`; slashes at its end do not count. The root when left out
 * @returns a function from path and query of a request to those below the base path; it gives `undefined` for a request
 *   that is not of this interface
 * @throws RangeError when the base path does not begin with a slash
 * @internal
 */
export function mountAt(basePath = ''): (target: string) => string | undefined {
  if (basePath !== '' && !basePath.startsWith('/'))
    throw new RangeError('A base path begins with a slash, such as /admin');
  const base = basePath.replace(/\/+$/, '');
  return (target) => {
    const rest = target.slice(base.length);
    return target.startsWith(base) && /^(?:$|[/?])/.test(rest) ? rest : undefined;
  };
}

/** The answer to a request that nobody else answers: a 404 `route-not-found`. @internal */
export const notFound: AdminResponse = Object.freeze({
  status: 404,
  headers: Object.freeze({ 'content-type': 'application/problem+json' }),
  body: JSON.stringify(
    problem('route-not-found', 'There is nothing at this path of the administration interface.'),
  ),
});
