/**
 * Attempts: what becomes known on the way of one attempt to change something, and the entry that is made of it at the
 * end of the way.
 */
import { decidedOn, isTrusted } from '../../core/decision.ts';
import type { HostRequest, Principal } from '../../http/message.ts';
import type { Route } from '../../http/route.ts';
import type { Json } from '../../json/value.ts';
import type { HostAttempt, WriteRecord } from '../../ports/audit-record.ts';
import { cut, type Problem } from '../../problem.ts';
import { closings, type AdminEvent } from '../../resources/index.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { Execution } from '../command/execution.ts';
import type { Acceptance, Trace } from '../command/turn.ts';
import { isText } from '../host/check.ts';
import { longestName } from '../limits.ts';
import { formatMark, type Mark } from '../plan/mark.ts';
import { askedChange, builtChange, decidedChange, toldChange } from './change.ts';
import { longestPath, type Place, type WriteEntry } from './record.ts';
import type { StrangerEntry } from './stranger.ts';

/** The endpoint of a request; has no parameters if a path segment has a broken escape. */
interface Target {
  readonly route: Route;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** What is known of one attempt to change something. Who makes it a step further adds a member. @internal */
export interface Attempt {
  /** The request; left out for a call of the host and a command of an earlier life. */
  readonly request?: HostRequest;
  readonly target?: Target;
  readonly mark?: Mark | undefined;
  /** The function that the host has called. */
  readonly call?: 'execute' | 'abandon';
  /** The id of a command that began before. */
  readonly about?: string;
  /** The caller, once the caller is known; without a principal if nobody has to log in. */
  caller?: { readonly principal: Principal | undefined };
  /** The body of the request, once its form was checked. */
  body?: Json;
  /** What has become of the command. */
  readonly trace: Trace;
  /** What has become of an action that was not refused. */
  acted?: 'accepted' | 'unchanged';
  /** The result of the command. */
  execution?: Execution;
  /** The end of an attempt at an endpoint of the host, in the words of the host. */
  readonly told?: Omit<HostAttempt, 'request' | 'principal'>;
  /** The code of the problem that the caller gets. */
  code?: Problem['code'];
}

/** The end of an attempt. @internal */
export type Ending = Pick<WriteRecord, 'outcome' | 'code' | 'revision' | 'closed'>;

/** The largest number of resources in a record. */
const mostResources = 100;

/**
 * Gives the entry of an attempt.
 *
 * @param isSecret - whether the name is the name of a declared secret parameter
 * @internal
 */
export function entryOf(attempt: Attempt, ending: Ending, isSecret: (name: string) => boolean): WriteEntry {
  const { request, target, mark, call, caller, trace, told } = attempt;
  const resources = told?.resources?.map((link) => cut(link, longestPath)) ?? trace.resources;
  const command = commandOf(attempt);
  return {
    kind: 'write',
    ...peerOf(request),
    ...(target && { place: placeOf(target) }),
    ...(mark && { mark: formatMark(mark) }),
    ...(call && { call }),
    ...(caller?.principal && { actor: cut(caller.principal.name, longestName) }),
    // A decision that the host has built can contain anything.
    ...(resources && { resources: resources.filter(isText).slice(0, mostResources) }),
    ...(command !== undefined && { command }),
    ...ending,
    ...changeOf(attempt, isSecret),
  };
}

function commandOf({ about, trace }: Attempt): string | undefined {
  return about === undefined ? trace.begun?.command.id : cut(about, longestName);
}

/** What the attempt was to change. Only the library is known to leave no secret in plain text in its events. */
function changeOf(
  { told, trace, body = null }: Attempt,
  isSecret: (name: string) => boolean,
): Pick<WriteEntry, 'change' | 'decided'> {
  if (told?.change !== undefined) return { change: toldChange(told.change, isSecret) };
  const { begun } = trace;
  if (begun !== undefined) {
    const events = eventsOf(begun.decision);
    return isTrusted(begun.decision) ? { decided: decidedChange(events) } : { change: builtChange(events) };
  }
  const asked = askedChange(body);
  return asked.length === 0 ? {} : { change: asked };
}

/** The events of a decision, and that of its closing, with the number of all if it is known. */
function eventsOf({ events, closing }: Acceptance): readonly AdminEvent[] {
  if (closing === undefined) return events;
  const { headOf, extentOf } = closings[closing.what];
  const { count } = extentOf(closing, decidedOn(closing) as Snapshot);
  return [...events, { ...headOf(closing), ...(count !== undefined && { count }) }];
}

/**
 * Gives how an attempt has ended.
 *
 * @param revision - the revision of the present snapshot
 * @internal
 */
export function endingOf(attempt: Attempt, revision: number): Ending {
  const { told, execution, acted, code } = attempt;
  if (told !== undefined) {
    const { outcome } = told;
    return { outcome, ...(told.code && { code: cut(told.code, longestName) as Problem['code'] }), revision };
  }
  if (execution !== undefined) return endingBy(execution, revision);
  if (code === undefined) return { outcome: acted ?? 'accepted', revision };
  // A command that has begun can have changed something, whatever has failed after that.
  return { outcome: commandOf(attempt) === undefined ? 'refused' : 'unknown', code, revision };
}

/** Gives how a command has ended. @internal */
export function endingBy(execution: Execution, present: number): Ending {
  const { outcome } = execution;
  if (outcome === 'accepted') {
    const { snapshot, closed } = execution;
    const isAny = closed.sessions + closed.connections > 0;
    return { outcome, revision: snapshot.revision, ...(isAny && { closed }) };
  }
  if (outcome === 'unchanged') return { outcome, revision: present };
  // The host can have built the decision, without a problem too.
  const code: unknown = (execution.problem as Partial<Problem> | undefined)?.code;
  return { outcome, code: isText(code) ? (code as Problem['code']) : 'internal', revision: present };
}

/** Whether a request was refused because its log-in failed. @internal */
export function isFailedLogIn(code: Problem['code']): boolean {
  return code === 'unauthenticated' || code === 'login-throttled';
}

/** The entry for one failed log-in. @internal */
export function failedLogIn(request: HostRequest | undefined): StrangerEntry {
  return { kind: 'failed-log-in', ...peerOf(request), count: 1 };
}

function peerOf(request: HostRequest | undefined): Pick<WriteEntry, 'peer'> {
  return request?.peer === undefined ? {} : { peer: cut(request.peer, longestName) };
}

function placeOf({ route: { id, method, path }, parameters }: Target): Place {
  return { id, method, path, parameters };
}
