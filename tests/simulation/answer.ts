/**
 * What a client asks, in the process or with a request, and what the client is answered.
 */
import type { AdminRequest, Execution, Handled, Plan } from 'gateway-admin-core';

import type { ClientCommand } from './command.ts';

/** A command that a client sends, or a reading. */
export interface Asked extends ClientCommand {
  /** The request with the meaning of the step; left out for a command that is executed in the process. */
  readonly request?: AdminRequest;
  /** The tag that the request names in `If-Match`. */
  readonly tag?: Tag;
  /** The plan whose mark the request names. */
  readonly plan?: Shown;
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
export type Shown = Extract<Plan, { readonly mark: string }>;

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
    ...('problem' in execution ? { code: execution.problem.code } : {}),
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
      ...(text === '' ? {} : { reply: { etag: headers['etag'], body: text } }),
    };
  const { code, command, detail } = JSON.parse(text) as {
    readonly code: string;
    readonly command?: string;
    readonly detail: string;
  };
  // The store can fail between two parts.
  const hasEvents = code === 'partly-done' || /parts are done/.test(detail);
  if (code !== 'outcome-unknown' || command === undefined)
    return { ...common, outcome: 'refused', code, hasEvents };
  return { ...common, outcome: 'unknown', code, commandId: command };
}
