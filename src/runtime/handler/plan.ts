/**
 * Plans: the description of what a command would do.
 */
import type { Version } from '../../core/version.ts';
import { formatEtag } from '../../http/etag.ts';
import type { Operation } from '../../json/patch.ts';
import type { Json } from '../../json/value.ts';
import type { Problem } from '../../problem.ts';
import { redactSecrets, type AdminEvent, type Decision, type Effect } from '../../resources/index.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';

/**
 * What a command would do now: the result of `admin.plan`, and the body of the response to `?dry_run=true`.
 *
 * Over HTTP, a refused dry run gets the error response of the command itself, so the body is never a `refused` plan.
 *
 * @public
 */
export type Plan =
  | {
      /** Whether anything would change. */
      readonly outcome: 'accepted' | 'unchanged';
      /** The JSON Patch operations on the settings, with secrets redacted; left out if no settings would change. */
      readonly patch?: readonly Operation[];
      /** The events that would happen, with secrets redacted. */
      readonly events: readonly Json[];
      /** The effects that the host would be asked for, with secrets redacted. */
      readonly effects: readonly Json[];
      /**
       * The entity tag that the resource would get. Left out if the representation has no entity tag, or if `admin.plan`
       * is called without `ifMatch` and therefore does not know the resource.
       */
      readonly etag?: string;
      /** The sessions and connections that would close. */
      readonly closes: {
        /** Number of sessions. */
        readonly sessions: number;
        /** Number of backend connections, including the connections of the closed sessions. */
        readonly connections: number;
      };
      /** The sessions that would continue without their service, or without some of their connections. */
      readonly stays: {
        /**
         * Number of sessions: the open sessions of a stopped service, and the sessions that lose connections to a server.
         * A session that would close does not count. 0 for a command that stops no service and closes no connections of
         * a server.
         */
        readonly sessions: number;
      };
    }
  | {
      /** The command would be refused. */
      readonly outcome: 'refused';
      /** Why. */
      readonly problem: Problem;
    };

/**
 * Makes the plan of a decision.
 *
 * @param decision - the decision
 * @param snapshot - the snapshot on which the decision was made
 * @param versionOf - gives the version of the resource in a snapshot; left out if no resource is known
 * @internal
 */
export function toPlan(
  decision: Decision,
  snapshot: Snapshot,
  versionOf?: (snapshot: Snapshot) => Version | undefined,
): Plan {
  const { outcome } = decision;
  if (outcome === 'refused') return { outcome, problem: decision.problem };
  const { events, effects } = outcome === 'accepted' ? decision : { events: [], effects: [] };
  const patch = events.flatMap((event: AdminEvent) => ('operations' in event ? event.operations : []));
  const version = versionOf?.(decision.next);
  return {
    outcome,
    ...(patch.length === 0 ? {} : { patch: redactSecrets(patch) as unknown as readonly Operation[] }),
    events: events.map(redactSecrets),
    effects: effects.map(redactSecrets),
    ...(version === undefined ? {} : { etag: formatEtag(snapshot.epoch, version) }),
    ...footprintOf(effects, snapshot),
  };
}

/** Counts the sessions and connections that effects close, and the sessions that continue. */
function footprintOf(
  effects: readonly Effect[],
  { sessions }: Snapshot,
): Pick<Extract<Plan, { readonly closes: unknown }>, 'closes' | 'stays'> {
  const stopped = new Set<string>();
  const closed = new Set<number>();
  const cut = new Set<number>();
  let connections = 0;
  for (const effect of effects) {
    if (effect.type === 'service.stop') stopped.add(effect.service);
    if (effect.type === 'sessions.close') for (const { id } of effect.sessions) closed.add(id);
    if (effect.type !== 'connections.close') continue;
    connections += effect.connections.length;
    for (const { session } of effect.connections) cut.add(session);
  }
  for (const id of closed) connections += sessions.countConnections(id);
  const isStopped = (id: number): boolean => stopped.has(sessions.find(id)?.service ?? '');
  // Counters, not loops, because a service may have a million sessions.
  let stays = 0;
  for (const service of stopped) stays += sessions.countOfService(service);
  for (const id of closed) if (isStopped(id)) stays -= 1;
  for (const id of cut) if (!closed.has(id) && !isStopped(id)) stays += 1;
  return { closes: { sessions: closed.size, connections }, stays: { sessions: stays } };
}
