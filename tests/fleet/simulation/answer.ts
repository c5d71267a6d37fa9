/**
 * What a client asks a node of a fleet, and what the client is answered: in the process, or with a request.
 */
import type { AdminEvent, AdminRequest, Execution, Handled, Snapshot } from 'gateway-admin-core';
import type { FleetOutcome } from 'gateway-admin-core/fleet';

import type { ClientCommand } from '../../simulation/command.ts';

/** A command of a client, as a transition and perhaps as a request. */
export interface FleetCommand extends ClientCommand {
  /** The request with the same meaning; left out for a command that is executed in the process. */
  readonly request?: AdminRequest;
  /** The read-only mode that the request asks for. */
  readonly mode?: boolean;
  /** Looks at the answer in the process. */
  readonly judge?: (execution: Execution) => void;
}

/** A user, as a node has known the user. */
export interface Principal {
  readonly name: string;
  /** The command that has set the password; empty for a user of the document. */
  readonly password: string;
  /** The moment of the log with the last change of the user that was acknowledged to anybody. */
  readonly changedAt: number;
}

/** The command of a client, and its answer. */
export interface Sent {
  readonly actor: string;
  readonly command: FleetCommand;
  readonly node: string;
  /** The tag that the client names. */
  readonly tag?: Tag;
  /**
   * How long the client waits for the other nodes at most, in milliseconds; left out if it waits for its node alone.
   */
  readonly waitMs?: number;
  /** The user who asks; left out for a client who is no user of the interface. */
  readonly as?: Principal;
  /**
   * Whether somebody was told that the fleet is read-only, and the fleet was from then on until the client has asked.
   */
  readonly isReadOnly?: boolean;
  /** The moment of the log at which the client has asked. */
  readonly askedAt: number;
  answer?: Answer;
}

/** An entity tag, as a client has read it. */
export interface Tag {
  readonly link: string;
  readonly text: string;
  /** The content that it was shown with. */
  readonly content: string | undefined;
}

/** The answer to a command. */
export interface Answer {
  /** `done`: a request was answered with a success, which tells not whether anything has changed. */
  readonly outcome: 'accepted' | 'unchanged' | 'done' | 'refused' | 'unknown';
  /** The problem of a refusal. */
  readonly code?: string;
  /** Whether the reason says that a part was done, and stays. */
  readonly isPart?: boolean;
  /** Whether what is open at this node is a reason of the refusal. */
  readonly rests?: boolean;
  /** What the client is told that has happened. */
  readonly events: readonly AdminEvent[];
  /** The nodes that have followed, if the client has waited. */
  readonly applied: readonly string[];
  /** What the answer shows. */
  readonly snapshot?: Snapshot;
  readonly reply?: Reply;
}

/** What a response shows. */
interface Reply {
  /** The path of what is shown, if it is not that of the request. */
  readonly place: string | undefined;
  readonly etag: string | undefined;
  readonly body: string;
}

/** The answer to a command in the process. */
export function answerOf(execution: Execution & { readonly nodes?: readonly FleetOutcome[] }): Answer {
  const { outcome, nodes = [] } = execution;
  return {
    outcome,
    events: 'events' in execution ? execution.events : [],
    applied: nodes.flatMap((each) => (each.outcome === 'applied' ? [each.node] : [])),
    ...('problem' in execution ? reasonIn(execution.problem) : {}),
    ...('snapshot' in execution ? { snapshot: execution.snapshot } : {}),
  };
}

/** The answer to a request. */
export function answerTo(handled: Handled): Answer {
  if (!handled.matched) throw new Error('The interface does not know the path of the request');
  const { status, headers, body } = handled.response;
  const text = typeof body === 'string' ? body : '';
  if (status >= 400) {
    const reason = reasonIn(JSON.parse(text) as Reason);
    const outcome = reason.code === 'outcome-unknown' ? 'unknown' : 'refused';
    return { outcome, ...reason, events: [], applied: [] };
  }
  const named = headers['fleet-applied'];
  return {
    outcome: 'done',
    events: [],
    applied: named === undefined ? [] : named.split(', '),
    ...(text === '' ? {} : { reply: { etag: headers['etag'], body: text, place: headers['location'] } }),
  };
}

interface Reason {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly pointer: string }[];
}

function reasonIn({ code, detail, errors = [] }: Reason): Pick<Answer, 'code' | 'isPart' | 'rests'> {
  const isPart = code === 'partly-done' || /[1-9]\d* of \d+ parts|Earlier parts/.test(detail);
  const rests = errors.some(({ pointer }) => /\/(?:sessions|connections)$/.test(pointer));
  return { code, isPart, rests };
}
