/**
 * Plans: what a command would do, for a reader.
 */
import { formatEtag } from '../../http/etag.ts';
import type { Version } from '../../core/version.ts';
import type { Json } from '../../json/value.ts';
import type { Operation } from '../../json/patch.ts';
import { redactSecrets, type AdminEvent, type Decision, type Effect } from '../../resources/index.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';

/**
 * How much a command would close.
 *
 * @public
 */
export interface Closes {
  /** Sessions. */
  readonly sessions: number;
  /** Backend connections, those of the sessions included. */
  readonly connections: number;
}

/**
 * What a command would do: the answer to `?dry_run=true`.
 *
 * @public
 */
export interface Plan {
  /** Whether anything would change. */
  readonly outcome: 'accepted' | 'unchanged';
  /** The operations that would change the settings; left out when no settings would change. */
  readonly patch?: readonly Operation[];
  /** What would happen, without secrets. */
  readonly events: readonly Json[];
  /** What the host would be asked to do, without secrets. */
  readonly effects: readonly Json[];
  /** The entity tag that the resource would have; left out where its representation carries none. */
  readonly etag?: string;
  /** How many sessions and backend connections would be closed. */
  readonly closes: Closes;
}

/** Writes the plan of a decision. @internal */
export function toPlan(
  decision: Exclude<Decision, { readonly outcome: 'refused' }>,
  snapshot: Snapshot,
  versionOf: (snapshot: Snapshot) => Version | undefined,
): Plan {
  const { events, effects } = decision.outcome === 'accepted' ? decision : { events: [], effects: [] };
  const patch = events.flatMap((event: AdminEvent) => ('operations' in event ? event.operations : []));
  const version = versionOf(decision.next);
  return {
    outcome: decision.outcome,
    ...(patch.length === 0 ? {} : { patch: redactSecrets(patch) as unknown as readonly Operation[] }),
    events: events.map(redactSecrets),
    effects: effects.map(redactSecrets),
    ...(version === undefined ? {} : { etag: formatEtag(snapshot.epoch, version) }),
    closes: closesOf(decision, snapshot),
  };
}

/** Counts what a decision would close. @internal */
export function closesOf(decision: Decision, { sessions }: Snapshot): Closes {
  const effects: readonly Effect[] = decision.outcome === 'accepted' ? decision.effects : [];
  const closes = { sessions: 0, connections: 0 };
  for (const effect of effects) {
    if (effect.type === 'sessions.close') {
      closes.sessions += effect.sessions.length;
      closes.connections += effect.sessions.reduce(
        (count, { id }) => count + sessions.countConnections(id),
        0,
      );
    } else if (effect.type === 'connections.close') {
      closes.connections += effect.connections.length;
    }
  }
  return closes;
}
