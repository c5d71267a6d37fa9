/**
 * Mounting, for every adapter: its arguments, the base path of an interface, and the 404 for unknown paths.
 */
import { assertMembers } from '../core/member.ts';
import { secureHeaders } from '../http/message.ts';
import { assertText } from '../json/value.ts';
import { callHost, createErrorSink } from '../runtime/host/guard.ts';
import { wrongAnswer } from '../runtime/host/host-error.ts';
import { problem, type Admin, type AdminRequest, type AdminResponse, type Principal } from '../index.ts';

/**
 * Checks the arguments of an adapter.
 *
 * @param adapter - the name of the function, and the names of its options. All options are functions, except `basePath`
 * @throws TypeError for something that is no interface, for an unknown option, and for an option of a wrong type
 * @internal
 */
export function assertArguments(
  admin: Pick<Admin, 'handle'>,
  options: object,
  { name, optionNames }: { readonly name: string; readonly optionNames: readonly string[] },
): void {
  if (typeof (admin as Partial<Admin> | null | undefined)?.handle !== 'function')
    throw new TypeError(`${name} needs the interface that createAdmin or openAdmin has given`);
  assertMembers(options, optionNames, `option of ${name}`);
  for (const [option, value] of Object.entries(options)) {
    if (option !== 'basePath' && value !== undefined && typeof value !== 'function')
      throw new TypeError(`The option ${option} must be a function`);
  }
}

/**
 * Creates the function that removes the base path from a request target.
 *
 * Without a base path, the path `/` belongs to the host if the host answers other requests itself: the host may have a
 * home page there. A base path of `/` says that the path belongs to the interface.
 *
 * @param options - the options of the adapter; `basePath` is the path of the interface, such as `/admin`, and the root
 *   if left out. Slashes at the end are ignored
 * @returns a function that takes the path and query of a request, and the function of the host that answers other
 *   requests, if there is one. The function returns the part after the base path, or `undefined` if the request is the
 *   host's
 * @throws TypeError when the base path is not a string
 * @throws RangeError when the base path does not begin with a slash
 * @internal
 */
export function mountAt(options: {
  readonly basePath?: string;
}): (target: string, next?: unknown) => string | undefined {
  const { basePath = '' } = options;
  assertText(basePath, 'basePath');
  if (basePath !== '' && !basePath.startsWith('/'))
    throw new RangeError('The base path must begin with a slash, such as /admin');
  const base = basePath.replace(/\/+$/, '');
  return (target, next) => {
    const rest = target.slice(base.length);
    if (!target.startsWith(base) || !/^(?:$|[/?])/.test(rest)) return undefined;
    const own = rest.startsWith('/') ? rest : `/${rest}`;
    return basePath === '' && next !== undefined && /^\/(?:$|\?)/.test(own) ? undefined : own;
  };
}

/**
 * Creates the function that takes errors to `onError` of an adapter. The function never throws or rejects: if `onError`
 * fails, the console gets the error. Without `onError`, errors are ignored.
 *
 * @internal
 */
export function createSink(onError: ((error: unknown) => void) | undefined): (error: unknown) => void {
  return onError === undefined ? () => undefined : createErrorSink(onError);
}

type Awaitable<T> = T | Promise<T>;

/** The functions of a host that say who sends a request, and from where. @internal */
export interface Hooks<R> {
  readonly principalOf?: (request: R) => Awaitable<Principal | undefined>;
  readonly peerOf?: (request: R) => string | undefined;
}

/**
 * Gives the caller and the peer of a request. If a function of the host fails, the interface fails when it asks for the
 * caller, so that an attempt to change something leaves its audit record.
 *
 * @param tell - gets the error of a function of the host; never throws
 * @internal
 */
export function senderOf<R>(
  request: R,
  { principalOf, peerOf }: Hooks<R>,
  tell: (error: unknown) => void,
): Pick<AdminRequest, 'peer' | 'principal'> {
  const asked = async (ask: () => Awaitable<Principal | undefined>): Promise<Principal | null> => {
    try {
      return (await ask()) ?? null;
    } catch (error) {
      tell(error);
      throw error;
    }
  };
  try {
    const peer = callHost('peerOf', () => peerOf?.(request));
    if (peer !== undefined && typeof peer !== 'string')
      throw wrongAnswer('peerOf', peer, 'a string or undefined');
    return {
      ...(peer === undefined ? {} : { peer }),
      ...(principalOf === undefined ? {} : { principal: () => asked(() => principalOf(request)) }),
    };
  } catch (error) {
    const fail = (): never => {
      throw error;
    };
    return { principal: () => asked(fail) };
  }
}

/** The response to a request outside the interface, if the host has no routes of its own. @internal */
export const notFound: AdminResponse = Object.freeze({
  status: 404,
  headers: Object.freeze({
    ...secureHeaders,
    'content-type': 'application/problem+json',
  }),
  body: JSON.stringify(
    problem('route-not-found', 'There is nothing at this path of the administration interface.'),
  ),
});
