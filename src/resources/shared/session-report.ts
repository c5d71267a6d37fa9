/**
 * The look-ups of reports about sessions and connections. A miss is a contradiction or, for a session that has ended,
 * nothing new.
 */
import type { Contradiction } from '../../core/report.ts';
import { quoted } from '../../problem.ts';
import type { Session } from '../../snapshot/session-table.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import type { Server } from '../server.ts';

/**
 * Finds the session that a report is about. Ids are reused, and the connect time distinguishes the sessions with one
 * id.
 *
 * @param snapshot - the present snapshot
 * @param id - id of the session
 * @param connected - connect time of the session; `undefined` if the report does not have one
 * @returns the open session; `undefined` if the session of the report has ended; a contradiction if the report is about
 *   a later session that was never reported as opened
 * @internal
 */
export function reportedSession(
  snapshot: Snapshot,
  id: number,
  connected: number | undefined,
): Session | Contradiction | undefined {
  const session = snapshot.sessions.find(id);
  if (session === undefined || connected === undefined || connected === session.connected) return session;
  if (connected < session.connected) return undefined;
  return {
    contradiction:
      'has a later connect time than the open session with this id; report "session.opened" of the later session first',
  };
}

/** Finds the server of a connection in a report. @internal */
export function reportedServer(snapshot: Snapshot, name: string): Server | Contradiction {
  return (
    snapshot.servers.find(name) ?? {
      contradiction: `names the server ${quoted(name)}, which does not exist`,
    }
  );
}
