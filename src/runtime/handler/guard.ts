/**
 * The guard: lets an endpoint of the host use the log-in and the roles of the interface, and leave audit records.
 */
import type { AdminRequest, AdminResponse, Principal } from '../../http/message.ts';
import { hostRoute, type Role } from '../../http/route.ts';
import { admit, isOpen } from './access.ts';
import { complete, failureReply, retryAfter, withoutProblem, type HandlerOptions } from './handler.ts';
import { originProblem } from './origin.ts';
import { checkRequest } from './request.ts';
import { empty, refusal, type Reply } from './respond.ts';

/** The decision about a request to an endpoint of the host. @internal */
export type Guarded =
  | { readonly admitted: true; readonly principal: Principal | undefined }
  | { readonly admitted: false; readonly response: AdminResponse };

/** Makes the `guard` function of an interface. @internal */
export function createGuard(
  options: HandlerOptions,
): (request: AdminRequest, role: Role) => Promise<Guarded> {
  return async (given, role) => {
    const attempt = options.audit.attempt();
    let asked: AdminRequest | undefined;
    const decided = async (): Promise<Reply | Guarded> => {
      const { request, problem: fault } = checkRequest(given);
      asked = request;
      const preflight = request.headers['access-control-request-method'];
      // A preflight has no credentials (Fetch Standard, CORS protocol). The actual request is guarded.
      if (request.method === 'OPTIONS' && preflight !== undefined) return empty(204, { allow: preflight });
      const route = hostRoute(request, role);
      const isWriting = route.kind === 'command';
      attempt.receive(request, isWriting ? { route, parameters: {} } : undefined);
      const asking = { isWriting, isOpen: isOpen(options, request, options.snapshot()) };
      const foreign = fault ?? originProblem(request, asking, options.origins);
      if (foreign !== undefined) return refusal(foreign);
      const caller = await admit(options, request, { route, parameters: {} }, (principal) => {
        attempt.identify(principal);
      });
      if (!caller.ok) return refusal(caller.problem);
      const closed = isWriting ? (options.refuseClosed() ?? options.refuseAll()) : undefined;
      if (closed !== undefined) return refusal(closed.problem, retryAfter(closed));
      return { admitted: true, principal: caller.value.principal };
    };
    const result = await decided().catch((error: unknown) => failureReply(options, given, error));
    // The host records the attempt, because only the host knows how it ends.
    if ('admitted' in result) return result;
    if (result.problem !== undefined) attempt.fail(result.problem.code);
    await attempt.end();
    const reply = asked === undefined ? result : complete(options, asked, result);
    return { admitted: false, response: withoutProblem(reply) };
  };
}
