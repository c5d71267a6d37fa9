/**
 * Plans: what a command would do, for a reader.
 */
import type { Version } from '../../core/version.ts';
import { formatEtag } from '../../http/etag.ts';
import type { Operation } from '../../json/patch.ts';
import type { Json } from '../../json/value.ts';
import type { Problem } from '../../problem.ts';
import { redactSecrets, type AdminEvent, type Decision, type Effect } from '../../resources/index.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';

/**
 * What a command would do at this moment: what `admin.plan` returns, and the body of an answer to `?dry_run=true`. Over
 * HTTP a refusal is the answer that the request itself would get, so a plan there is never `refused`.
 *
 * @public
 */
export type Plan =
  | {
      /** Whether anything would change. */
      readonly outcome: 'accepted' | 'unchanged';
      /** The operations that would change the settings; left out when no settings would change. */
      readonly patch?: readonly Operation[];
      /** What would happen, without secrets. */
      readonly events: readonly Json[];
      /** What the host would be asked to do, without secrets. */
      readonly effects: readonly Json[];
      /**
       * The entity tag that the resource would have. Left out where its representation carries none, and where nothing
       * says which resource that is: `admin.plan` without `ifMatch`.
       */
      readonly etag?: string;
      /** What would be closed. */
      readonly closes: {
        /** How many sessions. */
        readonly sessions: number;
        /** How many backend connections, those of the sessions included. */
        readonly connections: number;
      };
      /** What would go on although a part of what it uses is gone. */
      readonly stays: {
        /**
         * How many sessions go on without the service or the connections that they have now: the open sessions of a service
         * that is stopped, and the sessions whose connections to a server are closed. A session that would be closed
         * does not count. 0 for a command that stops no service and closes no connections of a server.
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
 * Writes the plan of a decision.
 *
 * @param versionOf - when the resource that the command is about last changed; left out when nothing says which that is
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

/** Counts the sessions and connections that effects close, and the sessions that go on. */
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
  const isStopped = (id: number): boolean => stopped.has(sessions.get(id)?.service ?? '');
  // From the counters, because a service may have a million sessions.
  let stays = 0;
  for (const service of stopped) stays += sessions.countOfService(service);
  for (const id of closed) if (isStopped(id)) stays -= 1;
  for (const id of cut) if (!closed.has(id) && !isStopped(id)) stays += 1;
  return { closes: { sessions: closed.size, connections }, stays: { sessions: stays } };
}
