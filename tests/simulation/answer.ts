/**
 * What a client asks, in the process or with a request, and what the client is answered.
 */
import type { AdminRequest, Execution, Handled, Plan, Problem } from 'gateway-admin-core';

import type { ClientCommand } from './command.ts';

/** A command that a client sends, or a reading. */
export interface Asked extends ClientCommand {
  /** The request with the meaning of the step; left out for a command that is executed in the process. */
  readonly request?: AdminRequest;
  /** The tag that the request names in `If-Match`. */
  readonly tag?: Tag;
  /** The plan whose mark the command names. */
  readonly plan?: Shown;
  /** Whether the mark is that of another command. */
  readonly isForeign?: true;
  /** The mark of the plan that the command in the process must carry out. */
  readonly mark?: string;
  /** The most effects that the request can have, if that is more than other commands have. */
  readonly mostEffects?: number;
  /** Gets what the command in the process has come to. */
  readonly judge?: (execution: Execution) => void;
  /** Whether the host is asked for something before the command waits for its turn: to seal a password. */
  readonly asksHostFirst?: boolean;
}

/** A plan that a client was shown. */
export type Shown = Plan & {
  /** The epoch of the life in which it was shown. */
  readonly epoch: string;
  /** The revisions of what was shown when the client asked for the plan, and when it was answered. */
  readonly revisions: readonly [asked: number, answered: number];
};

/** An entity tag, as a client has read it. */
export interface Tag {
  readonly link: string;
  readonly text: string;
}

/** The answer to a command. */
export interface Answer {
  /** `done`: a request was answered with a success, which does not tell whether anything has changed. */
  readonly outcome: 'accepted' | 'unchanged' | 'done' | 'refused' | 'unknown';
  readonly status: number;
  /** The problem of a refusal. */
  readonly code?: string;
  /** The command whose outcome is unknown. */
  readonly commandId?: string;
  /** Whether something has changed although the command was refused. */
  readonly hasEvents: boolean;
  /** Whether the client is told when to try again. */
  readonly hasRetryAfter: boolean;
  /** The time at which the command was settled. */
  readonly settledAt?: number;
  readonly reply?: Reply;
  /** The plan of now, in the refusal of a mark. */
  readonly now?: Plan;
  /** What was closed, if the answer says so. */
  readonly closed?: Closed;
}

/** How many sessions and connections a command has closed. */
export interface Closed {
  readonly sessions: number;
  readonly connections: number;
}

/** What a response shows. */
export interface Reply {
  readonly etag: string | undefined;
  readonly body: string;
}

/** The answer to a command in the process. */
export function answerOf(execution: Execution): Answer {
  const { outcome } = execution;
  const events = 'events' in execution ? execution.events : [];
  const settledAt = events.at(-1)?.at;
  return {
    outcome,
    status: 'problem' in execution ? execution.problem.status : 200,
    hasEvents: events.length > 0,
    hasRetryAfter: outcome === 'refused' && execution.retryAfterMs !== undefined,
    ...('problem' in execution ? told(execution.problem) : {}),
    ...(outcome === 'accepted' ? { closed: execution.closed } : {}),
    ...(outcome === 'unknown' ? { commandId: execution.commandId } : {}),
    ...(settledAt === undefined ? {} : { settledAt }),
  };
}

/** The answer to a request. */
export function answerTo(handled: Handled): Answer {
  if (!handled.matched) throw new Error('The interface does not know the path of the request');
  const { status, headers, body } = handled.response;
  const text = typeof body === 'string' ? body : '';
  const common = { status, hasEvents: false, hasRetryAfter: headers['retry-after'] !== undefined };
  if (status < 400)
    return {
      ...common,
      outcome: 'done',
      ...(text === '' ? {} : saidIn(headers, text)),
    };
  const problem = JSON.parse(text) as Problem & { readonly plan?: Plan };
  const { code, command, detail } = problem;
  // The store can fail between two parts.
  const hasEvents = code === 'partly-done' || detail.includes('parts are done');
  if (code !== 'outcome-unknown' || command === undefined)
    return { ...common, outcome: 'refused', ...told(problem), hasEvents };
  return { ...common, outcome: 'unknown', code, commandId: command };
}

function told({ code, plan }: Problem & { readonly plan?: unknown }): Pick<Answer, 'code' | 'now'> {
  return { code, ...(plan === undefined ? {} : { now: plan as Plan }) };
}

/** What a body says: what was done, or what is shown. */
function saidIn(headers: Readonly<Record<string, string>>, body: string): Pick<Answer, 'closed' | 'reply'> {
  if (headers['preference-applied'] === undefined) return { reply: { etag: headers['etag'], body } };
  const { closed } = JSON.parse(body) as { readonly closed: Closed };
  return { closed };
}
