/**
 * The guard: lets an endpoint of the host use the log-in and the roles of the interface, and leave audit records.
 */
import type { AdminRequest, AdminResponse, HostRequest, Principal } from '../../http/message.ts';
import { hostRoute, type HostRoute, type Role } from '../../http/route.ts';
import { arrive } from './arrival.ts';
import type { Running } from '../running.ts';
import { run } from './handler.ts';
import { empty } from './respond.ts';
import { hostWays } from './step.ts';

/** The decision about a request to an endpoint of the host. @internal */
export type Guarded =
  | { readonly admitted: true; readonly principal: Principal | undefined }
  | { readonly admitted: false; readonly response: AdminResponse };

/** Makes the `guard` function of an interface. @internal */
export function createGuard(running: Running): (request: HostRequest, role: Role) => Promise<Guarded> {
  return async (asked, role) => {
    // A list among the headers is refused as any other value that is no text.
    const given = asked as AdminRequest;
    const ended = await run<HostRoute, never>(running, given, hostWays, ({ request, problem: fault }) => {
      const preflight = request.headers['access-control-request-method'];
      // A preflight has no credentials (Fetch Standard, CORS protocol). The actual request is guarded.
      if (request.method === 'OPTIONS' && preflight !== undefined) return empty(204, { allow: preflight });
      return arrive({ request, route: hostRoute(request, role), parameters: {}, fault });
    });
    // The host records the attempt, because only the host knows how it ends.
    if (ended.outcome === 'admitted') return { admitted: true, principal: ended.arrival.caller.principal };
    return { admitted: false, response: ended.response };
  };
}
