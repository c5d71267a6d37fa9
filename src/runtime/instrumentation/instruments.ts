/**
 * The instruments of a running interface: the log lines and the measurements for the host.
 *
 * This file decides what is logged, at which level and with which fields. docs/observability.md has the table. Each
 * line comes after the fact, and no line fails or delays a command.
 */
import type { AdminRequest, Principal } from '../../http/message.ts';
import type { Clock } from '../../ports/port.ts';
import type { Problem } from '../../problem.ts';
import type { CommandInFlight } from '../../resources/command.ts';
import type { AdminEvent, Effect } from '../../resources/index.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { DifferingDocumentError, HostError, ReportError } from '../host/host-error.ts';
import type { Execution } from '../command/execution.ts';
import { hasLeft } from '../handler/request.ts';
import { isText } from '../host/check.ts';
import { isCreation, isDeletion } from '../journal/entry-event.ts';
import { longestName } from '../limits.ts';
import { libraryVersion } from '../version.ts';
import type { Log } from './logger.ts';
import type { Measure } from './measurement.ts';

/** The pause between two lines about throttled log-ins, in milliseconds: anybody can cause any number of them. */
const throttlePauseMs = 1000;

/** The methods of the routes; other methods are `other`, because a client can send any text. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The parts of {@link Instruments}, each guarded. @internal */
export interface InstrumentParts {
  readonly log: Log;
  readonly measure: Measure;
  readonly clock: Pick<Required<Clock>, 'monotonic'>;
}

/** The commands of an interface, by where they stand. @internal */
export interface CommandCounts {
  readonly waiting: number;
  readonly inFlight: number;
  /** Those in flight whose outcome is unknown. */
  readonly unknown: number;
}

/** A call to the store. @internal */
export type StoreCall = 'load' | 'append' | 'compact' | 'read';

/** The members of a command that a line shows. */
type Command = Pick<CommandInFlight, 'id' | 'type' | 'resource' | 'actor'>;

/** What is logged and measured. No function throws. @internal */
export class Instruments {
  readonly #log: Log;
  readonly #measure: Measure;
  readonly #clock: InstrumentParts['clock'];
  #throttled = 0;
  #throttleLoggedAt = -Infinity;

  constructor({ log, measure, clock }: InstrumentParts) {
    this.#log = log;
    this.#measure = measure;
    this.#clock = clock;
  }

  /** Begins to time something. The result gives the milliseconds since then, and never less than 0. */
  timer(): () => number {
    const begin = this.#clock.monotonic();
    return () => Math.max(0, this.#clock.monotonic() - begin);
  }

  /**
   * The interface is open. `recovered` are the commands of the last process; `unknown` those of them still in flight.
   */
  opened(
    { revision, services, servers, users }: Snapshot,
    commands: { recovered: number; unknown: number },
  ): void {
    const counts = { services: services.size, servers: servers.size, users: users.size };
    this.#log(
      commands.unknown > 0 ? 'warn' : 'info',
      () => ({ version: libraryVersion, revision, ...counts, ...commands }),
      'Interface opened',
    );
  }

  /** Warns that a durable store had no content: it is new, or its content was deleted. */
  storeEmpty(): void {
    this.#log('warn', () => ({}), 'The store was empty: the document is in use');
  }

  /** The given document differs from the configuration in use, and can be adopted. */
  differs({ differences, message }: DifferingDocumentError): void {
    this.#log('info', () => ({ places: differences.length, detail: message }), 'Document differs');
  }

  /** The given document was taken over at the start. What the document lacks is gone. */
  adopted(events: readonly AdminEvent[]): void {
    const created = new Set(events.filter(isCreation).map(({ resource }) => resource));
    for (const { resource } of events.filter(isDeletion))
      if (!created.has(resource)) this.#log('warn', () => ({ resource }), 'Document deleted a resource');
  }

  closed({ revision }: Snapshot): void {
    this.#log('info', () => ({ revision }), 'Interface closed');
  }

  /** An error goes to `onError`. */
  error(err: unknown): void {
    this.#measure('gateway_admin_errors_total', 1, { source: sourceOf(err) });
    this.#log('error', () => ({ err }), 'Error');
  }

  storeAnswers(): void {
    this.#log('info', () => ({}), 'Store answers again');
  }

  request(): RequestSpan {
    return new RequestSpan(this.#log, this.#measure, this.timer());
  }

  /** A command has begun. */
  command(command: Command): CommandSpan {
    return new CommandSpan(this.#log, this.#measure, command, this.timer());
  }

  /** A command of an earlier life is looked into. */
  recovery(command: Command): CommandSpan {
    return new CommandSpan(this.#log, this.#measure, command, undefined);
  }

  /** The host is asked for an effect. The result takes the outcome. */
  effect({ type }: Effect): (outcome: 'applied' | 'refused' | 'unknown') => void {
    const elapsedMs = this.timer();
    return (outcome) => {
      this.#measure('gateway_admin_effect_duration_seconds', elapsedMs() / 1000, { type, outcome });
    };
  }

  /** Makes a call to the store. */
  async storeCall<T>(call: StoreCall, make: () => Promise<T>): Promise<T> {
    const elapsedMs = this.timer();
    let outcome = 'failed';
    try {
      const answer = await make();
      outcome = 'done';
      return answer;
    } finally {
      this.#measure('gateway_admin_store_duration_seconds', elapsedMs() / 1000, { call, outcome });
    }
  }

  appended(bytes: number): void {
    this.#measure('gateway_admin_store_bytes_total', bytes, {});
  }

  commands({ waiting, inFlight, unknown }: CommandCounts): void {
    this.#measure('gateway_admin_commands_waiting', waiting, {});
    this.#measure('gateway_admin_commands_in_flight', inFlight, {});
    this.#measure('gateway_admin_commands_unknown', unknown, {});
  }

  /** The resources at which the gateway of a node has not followed the fleet. */
  behind(count: number): void {
    this.#measure('gateway_admin_fleet_behind', count, {});
  }

  /** The gateway has followed a change of another node after all. */
  followed(resource: string): void {
    this.#log('info', () => ({ resource }), 'Change followed');
  }

  readers(count: number): void {
    this.#measure('gateway_admin_event_readers', count, {});
  }

  /** A password was checked for a log-in. */
  logIn(result: Principal | 'throttled' | 'overloaded' | undefined, { peer }: AdminRequest): void {
    const checked = result === undefined ? 'refused' : 'accepted';
    const outcome = typeof result === 'string' ? result : checked;
    this.#measure('gateway_admin_logins_total', 1, { outcome });
    if (outcome !== 'throttled') return;
    this.#throttled += 1;
    const now = this.#clock.monotonic();
    if (now - this.#throttleLoggedAt < throttlePauseMs) return;
    this.#log('warn', () => ({ count: this.#throttled, ...peerOf(peer) }), 'Log-ins throttled');
    this.#throttled = 0;
    this.#throttleLoggedAt = now;
  }
}

/** One request, from its arrival to its response. @internal */
export class RequestSpan {
  readonly #log: Log;
  readonly #measure: Measure;
  readonly #elapsedMs: () => number;
  #request: AdminRequest | undefined;
  #route = 'none';

  constructor(log: Log, measure: Measure, elapsedMs: () => number) {
    this.#log = log;
    this.#measure = measure;
    this.#elapsedMs = elapsedMs;
  }

  /** The form of the request was checked. */
  received(request: AdminRequest): void {
    this.#request = request;
  }

  /** The request has a route. */
  routed(id: string): void {
    this.#route = id;
  }

  ended(status: number, problem: Problem | undefined): void {
    const elapsedMs = this.#elapsedMs();
    const { method = '', peer } = this.#request ?? {};
    // The answer to a client that has left is a 503, which nobody gets and which is no fault of the interface.
    const isGone = problem?.code === 'closed' && hasLeft(this.#request);
    const route = this.#route;
    const label = methods.has(method) ? method : 'other';
    this.#measure('gateway_admin_request_duration_seconds', elapsedMs / 1000, {
      route,
      method: label,
      status: isGone ? 'disconnected' : String(status),
    });
    if (problem === undefined || isGone || status < 500 || problem.code === 'method-unknown') return;
    const { code } = problem;
    const fields = (): object => ({
      ...{ route, method: label, status, code },
      ...durationOf(elapsedMs),
      ...peerOf(peer),
    });
    this.#log(status === 500 ? 'error' : 'warn', fields, 'Request failed');
  }
}

/** One command, from its turn to its outcome. @internal */
export class CommandSpan {
  readonly #log: Log;
  readonly #measure: Measure;
  readonly #command: Command;
  /** `undefined` for a command that an earlier life began. */
  readonly #elapsedMs: (() => number) | undefined;
  #isUnknown = false;

  constructor(log: Log, measure: Measure, command: Command, elapsedMs: (() => number) | undefined) {
    this.#log = log;
    this.#measure = measure;
    this.#command = command;
    this.#elapsedMs = elapsedMs;
    if (elapsedMs !== undefined) log('debug', () => this.#fields(), 'Command begun');
  }

  /** The outcome is known, or is known to be unknown. The latter leaves one line. */
  ended(execution: Execution): void {
    const { outcome } = execution;
    if (outcome === 'unknown' && this.#isUnknown) return;
    this.#isUnknown = outcome === 'unknown';
    const elapsedMs = this.#elapsedMs?.();
    if (elapsedMs !== undefined)
      this.#measure('gateway_admin_command_duration_seconds', elapsedMs / 1000, {
        type: this.#command.type,
        outcome,
      });
    const fields = (): object => ({
      ...this.#fields(),
      outcome,
      ...('problem' in execution ? { code: execution.problem.code, detail: execution.problem.detail } : {}),
      ...(elapsedMs === undefined ? {} : durationOf(elapsedMs)),
    });
    this.#log(outcome === 'accepted' ? 'info' : 'warn', fields, `Command ${outcome}`);
  }

  /** The interface closes, or the command is abandoned, before the outcome is known. */
  leftOpen(why: 'closed' | 'abandoned'): void {
    this.#log('warn', () => ({ ...this.#fields(), outcome: 'unknown', why }), 'Command left open');
  }

  /** An error ended the command. */
  brokenOff(err: unknown): void {
    this.#log('error', () => ({ ...this.#fields(), outcome: 'unknown', err }), 'Command broken off');
  }

  #fields(): object {
    const { id, type, resource, actor } = this.#command;
    return {
      command: id,
      type,
      resource,
      // A decision that the host has built can have anything as its actor.
      ...(isText(actor) ? { actor: actor.slice(0, longestName) } : {}),
      ...(this.#elapsedMs === undefined ? { recovered: true } : {}),
    };
  }
}

/** The source of an error: one of a fixed number of words, because a host can throw errors of any name. */
function sourceOf(error: unknown): string {
  if (error instanceof HostError) return error.call;
  if (error instanceof ReportError) return 'report';
  return error instanceof DifferingDocumentError ? 'document' : 'other';
}

function peerOf(peer: string | undefined): { readonly peer?: string } {
  return peer === undefined ? {} : { peer: peer.slice(0, longestName) };
}

/** The duration to the microsecond: more digits are noise. */
function durationOf(elapsedMs: number): { readonly durationMs: number } {
  return { durationMs: Math.round(elapsedMs * 1000) / 1000 };
}
