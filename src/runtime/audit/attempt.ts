/**
 * Attempts: collects what becomes known about one attempt to change something, and makes the audit record at its end.
 */
import { isTrusted } from '../../core/decision.ts';
import type { AdminRequest, Principal } from '../../http/message.ts';
import type { DecidedAction, Route } from '../../http/route.ts';
import type { Json } from '../../json/value.ts';
import type { HostAttempt, WriteRecord } from '../../ports/audit-record.ts';
import { cut, type Problem } from '../../problem.ts';
import type { AdminEvent } from '../../resources/index.ts';
import type { Execution } from '../command/execution.ts';
import type { Command } from '../command/flight.ts';
import type { Acceptance, CommandWatch } from '../command/turn.ts';
import { hasLeft } from '../handler/request.ts';
import { isText } from '../host/check.ts';
import { longestName } from '../limits.ts';
import { formatMark, type Mark } from '../plan/mark.ts';
import { askedChange, builtChange, decidedChange, toldChange } from './change.ts';
import { longestPath, type Place, type WriteEntry } from './record.ts';
import type { StrangerEntry } from './stranger.ts';

/** The members of an entry that are known before the outcome. */
type Fact = 'actor' | 'peer' | 'place' | 'call' | 'resources' | 'mark' | 'command' | 'change' | 'decided';
type Facts = { -readonly [F in Fact]?: WriteEntry[F] };

/** The end of an attempt. */
type Ending = Pick<WriteRecord, 'outcome' | 'code' | 'revision' | 'closed'>;

/** Takes the entries of attempts. @internal */
export interface AttemptLog {
  /** The revision of the current snapshot. */
  readonly revision: () => number;
  /** Records the entry. Resolves when the caller can be answered. */
  readonly write: (entry: WriteEntry) => Promise<void>;
  /** Counts an attempt that was refused before the caller was known; see `Strangers.note`. */
  readonly countStranger: (kind: string, entry: StrangerEntry) => void;
}

/** An action that was not refused. */
type DoneAction = Exclude<DecidedAction, { readonly outcome: 'refused' }>;

/** The endpoint of a request; has no parameters if a path segment has a broken escape. @internal */
export interface Target {
  readonly route: Route;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The largest number of resources in a record. */
const mostResources = 100;

/** One attempt to change something. @internal */
export class Attempt implements CommandWatch {
  readonly #log: AttemptLog;
  readonly #facts: Facts;
  readonly #request: AdminRequest | undefined;
  /** Whether the caller is known, or nobody has to log in. */
  #isIdentified = false;
  /** The body of the request, whose form was checked. */
  #body: Json = null;
  /** The outcome of an attempt without a problem and without a command. */
  #done: 'accepted' | 'unchanged' = 'accepted';
  /** The code of the problem that the caller gets. */
  #code: Problem['code'] | undefined;
  #execution: Execution | undefined;
  /** The outcome of a command that was `unknown` before. */
  #later: Execution | undefined;
  /** The end of an attempt at an endpoint of the host. */
  #told: Pick<Ending, 'outcome' | 'code'> | undefined;
  #hasEnded = false;

  /**
   * @param request - the request that makes the attempt; left out for a call of the host and a command of an earlier
   *   life
   */
  constructor(log: AttemptLog, request?: AdminRequest, target?: Target, mark?: Mark) {
    this.#log = log;
    this.#request = request;
    this.#facts = peerOf(request);
    if (target !== undefined) this.#facts.place = placeOf(target);
    if (mark !== undefined) this.#facts.mark = formatMark(mark);
  }

  /** Takes a call of the host. */
  call(call: 'execute' | 'abandon', actor: string | undefined): void {
    this.#facts.call = call;
    this.identify(actor === undefined ? undefined : { name: actor });
  }

  /** Takes the caller; `undefined` if nobody has to log in. */
  identify(principal: Principal | undefined): void {
    this.#isIdentified = true;
    if (principal !== undefined) this.#facts.actor = cut(principal.name, longestName);
  }

  /** Takes the body of the request, whose form was checked. */
  ask(body: Json): void {
    this.#body = body;
  }

  /** Takes an action that is done, with its operations. */
  act({ outcome, patch = [] }: Pick<DoneAction, 'outcome' | 'patch'>): void {
    this.#done = outcome;
    if (patch.length > 0) this.#facts.change = [{ operations: patch as unknown as Json }];
  }

  /** Takes the end of an attempt at an endpoint of the host, in the words of the host. */
  tell(
    { outcome, code, resources, change }: Omit<HostAttempt, 'request' | 'principal'>,
    isSecret: (name: string) => boolean,
  ): void {
    this.#told = { outcome, ...(code && { code: cut(code, longestName) as typeof code }) };
    if (resources !== undefined) this.decided(resources.map((link) => cut(link, longestPath)));
    if (change !== undefined) this.#facts.change = toldChange(change, isSecret);
  }

  /** Takes the id of a command that began before. */
  about(command: string): void {
    this.#facts.command = cut(command, longestName);
  }

  /** Takes the result of the command. */
  conclude(execution: Execution): void {
    this.#execution = execution;
  }

  /** Takes the problem that the caller gets. */
  fail(code: Problem['code']): void {
    this.#code = code;
  }

  /** Takes a command of an earlier life, whose outcome is known now. */
  recover({ id, actor, resources }: Command, execution: Execution): void {
    this.identify(actor === undefined ? undefined : { name: actor });
    this.decided(resources);
    this.about(id);
    this.conclude(execution);
  }

  decided(resources: readonly string[]): void {
    // A decision that the host has built can contain anything.
    this.#facts.resources = resources.filter(isText).slice(0, mostResources);
  }

  begun({ id }: Command, decision: Acceptance, first: readonly AdminEvent[]): void {
    this.#facts.command = id;
    // Only the library is known to leave no secret in plain text in its events.
    if (isTrusted(decision)) this.#facts.decided = decidedChange(decision, first);
    else this.#facts.change = builtChange(decision, first);
    this.#body = null;
  }

  settled(execution: Execution): void {
    this.#later = execution;
    this.#tellLater();
  }

  /**
   * Leaves the record of the attempt.
   *
   * @returns resolves when the caller can be answered; `undefined` if the caller can be answered at once
   */
  end(): Promise<void> | undefined {
    this.#hasEnded = true;
    if (!this.#isIdentified) {
      if (this.#code !== undefined) this.#endAsStranger(this.#code);
      return undefined;
    }
    const answerable = this.#log.write(this.#entry(this.#ending()));
    this.#tellLater();
    return answerable;
  }

  #endAsStranger(given: Problem['code']): void {
    // The log-in of a client that has disconnected need not have been verified.
    const code = hasLeft(this.#request) ? 'closed' : given;
    if (isFailedLogIn(code)) {
      this.#log.countStranger('log-in', failedLogIn(this.#request));
      return;
    }
    const entry = this.#entry({ outcome: 'refused', code, revision: this.#log.revision() });
    this.#log.countStranger(`${code} ${this.#facts.place?.id ?? ''}`, { ...entry, count: 1 });
  }

  /** Leaves the second record of a command whose outcome was unknown. */
  #tellLater(): void {
    const later = this.#later;
    if (!this.#hasEnded || later === undefined) return;
    this.#later = undefined;
    void this.#log.write(this.#entry(this.#endingOf(later)));
  }

  #ending(): Ending {
    if (this.#told !== undefined) return { ...this.#told, revision: this.#log.revision() };
    if (this.#execution !== undefined) return this.#endingOf(this.#execution);
    const [code, revision] = [this.#code, this.#log.revision()];
    if (code === undefined) return { outcome: this.#done, revision };
    // A command that has begun can have changed something, whatever has failed after that.
    return { outcome: this.#facts.command === undefined ? 'refused' : 'unknown', code, revision };
  }

  #endingOf(execution: Execution): Ending {
    const { outcome } = execution;
    if (outcome === 'accepted') {
      const { snapshot, closed } = execution;
      const isAny = closed.sessions + closed.connections > 0;
      return { outcome, revision: snapshot.revision, ...(isAny && { closed }) };
    }
    const revision = this.#log.revision();
    if (outcome === 'unchanged') return { outcome, revision };
    // The host can have built the decision, without a problem too.
    const code: unknown = (execution.problem as Partial<Problem> | undefined)?.code;
    return { outcome, code: isText(code) ? (code as Problem['code']) : 'internal', revision };
  }

  #entry(ending: Ending): WriteEntry {
    const { change = orNone(askedChange(this.#body)), ...before } = this.#facts;
    return { kind: 'write', ...before, ...ending, ...(change && { change }) };
  }
}

function orNone(change: readonly Json[]): readonly Json[] | undefined {
  return change.length === 0 ? undefined : change;
}

/** Whether a request was refused because its log-in failed. @internal */
export function isFailedLogIn(code: Problem['code']): boolean {
  return code === 'unauthenticated' || code === 'login-throttled';
}

/** The entry for one failed log-in. @internal */
export function failedLogIn(request: AdminRequest | undefined): StrangerEntry {
  return { kind: 'failed-log-in', ...peerOf(request), count: 1 };
}

function peerOf(request: AdminRequest | undefined): Pick<Facts, 'peer'> {
  return request?.peer === undefined ? {} : { peer: cut(request.peer, longestName) };
}

function placeOf({ route: { id, method, path }, parameters }: Target): Place {
  return { id, method, path, parameters };
}
