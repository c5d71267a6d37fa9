/**
 * The writer: holds the current snapshot, decides each command in its turn, and makes the flight of an accepted one.
 *
 * Every change of the snapshot goes through `record`: the settlements of commands, and the reports of the host.
 */
import { isTrusted, partsOf, refused, unchanged, type Changes, type Context } from '../../core/decision.ts';
import {
  evolve,
  foldHostReports,
  type AdminEvent,
  type AppliedReports,
  type Decision,
  type Effect,
  type Transition,
} from '../../resources/index.ts';
import { findCommand, objectionTo, type CommandInFlight } from '../../resources/command.ts';
import type { Veto } from '../../ports/port.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { Outage } from '../host/outbox.ts';
import { ReportError } from '../host/report-error.ts';
import { areConsistent, type Intent, type OpenCommand } from '../journal/record.ts';
import type { UnsettledCommands } from '../journal/unsettled.ts';
import { NotKept, unavailableIn, type Journal } from '../journal/journal.ts';
import { Fenced, Overtaken, type Placed } from '../journal/log.ts';
import { perform, type Performed } from './command.ts';
import { Crossings } from './crossing.ts';
import { refusal, type Execution, type Refusal } from './execution.ts';
import {
  commandOf,
  Flight,
  SearchEnded,
  NotSettled,
  type Command,
  type FlightOptions,
  type Runtime,
} from './flight.ts';
import { inspectAbandoned, recover } from './recovery.ts';
import {
  isFollowing,
  Turns,
  type Acceptance,
  type CommandRequest,
  type TurnOptions,
  type Waiting,
} from './turn.ts';

/** The options of {@link Writer}. @internal */
export interface WriterOptions
  extends
    Pick<Runtime, 'gateway' | 'clock' | 'deadlineMs' | 'instruments' | 'onError'>,
    Pick<TurnOptions, 'maxQueued' | 'maxInFlight'> {
  readonly snapshot: Snapshot;
  /** Begins the id of each command. */
  readonly prefix: string;
  readonly journal: Journal;
  readonly contextOf: (actor: string | undefined) => Context;
  /** The guarded rule of the host; left out if the host has none. */
  readonly veto: Veto | undefined;
  readonly publish: (revision: number, events: readonly AdminEvent[]) => void;
  /** The refusal of every command at this moment, for a reason outside the writer; `undefined` if commands are possible. */
  readonly refuseAll: () => Refusal | undefined;
  /** Gets the outcome of each command of an earlier life. */
  readonly onRecovered: (command: Command, execution: Execution) => void;
}

/** The result of an abandoned command. */
type Ending = Extract<Execution, { readonly outcome: 'accepted' | 'refused' }>;

/**
 * Decides and performs commands, and holds the current snapshot.
 *
 * @internal
 */
export class Writer {
  #snapshot: Snapshot;
  #commands = 0;
  readonly #options: WriterOptions;
  readonly #turns: Turns;
  readonly #runtime: Runtime;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#snapshot = options.snapshot;
    this.#runtime = {
      ...options,
      crossings: new Crossings(),
      snapshot: () => this.#snapshot,
      now: () => options.contextOf(undefined).now,
      record: (next, events) => {
        this.#record(next, events);
      },
      foldReports: (reports) => void this.#foldReports(reports),
      becameUnknown: (flight) => this.#turns.setUnknown(flight),
    };
    this.#turns = new Turns({
      maxQueued: options.maxQueued,
      maxInFlight: options.maxInFlight,
      decide: (request) => this.decide(request),
      refuseAll: (request) =>
        isFollowing(request) ? undefined : (options.refuseAll() ?? unavailable(options.journal)),
      obstacleTo: ({ journal = options.journal, restsOn = [] }, resources) =>
        journal.obstacleTo(resources, restsOn),
      readOn: (request) => (isFollowing(request) ? undefined : this.#news()),
      obstacleDeadlineMs: options.deadlineMs,
      sleep: (milliseconds, signal) => options.clock.sleep(milliseconds, signal),
      instruments: options.instruments,
      begin: (decision, waiting) => {
        this.#begin(decision, waiting);
      },
    });
  }

  /** See {@link TurnOptions.readOn}. */
  #news(): ReturnType<TurnOptions['readOn']> {
    const { journal } = this.#options;
    const { moment } = journal;
    return journal.readOn()?.then((outage) => {
      if (outage !== undefined) return this.#cutOff(outage);
      return journal.moment === moment ? undefined : 'news';
    });
  }

  /** The refusal of a command for which the log could not be read. */
  #cutOff(outage: Outage): Refusal {
    return this.refuseClosed() ?? unavailableIn(outage);
  }

  /** Gives the commands that wait another chance: what was in their way may be gone. */
  retry(): void {
    this.#turns.retry();
  }

  /** Makes a change that no client can see as an event: of versions, or of the names of secret parameters. */
  revise(revised: Placed['align']): void {
    const next = revised(this.#snapshot, this.#snapshot.revision + 1);
    if (next !== this.#snapshot) this.#record(next, []);
  }

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** The refusal of every command after {@link close}; `undefined` before. */
  refuseClosed(): Refusal | undefined {
    return this.#turns.refuseClosed();
  }

  /**
   * Decides a command on the current snapshot, and shows an accepted decision to the veto of the host. Changes nothing. The
   * veto is not asked again about what another node has decided.
   *
   * @throws the error that the transition throws; TypeError if the transition returns no decision
   */
  decide(request: CommandRequest): Decision {
    const { transition, actor } = request;
    const snapshot = this.#snapshot;
    const context = this.#options.contextOf(actor);
    const decision = transition(snapshot, context);
    assertDecision(decision);
    if (decision.outcome !== 'accepted' || isFollowing(request)) return decision;
    const problem = this.#options.veto?.(decision, context);
    return problem === undefined ? decision : refused(snapshot, problem, decision.resources);
  }

  /** Decides as {@link decide}, and refuses what a command of unknown outcome holds. Changes nothing. */
  preview(request: CommandRequest): Decision {
    const decision = this.decide(request);
    const { journal } = this.#options;
    const { restsOn = [] } = request;
    const held =
      this.#turns.refuseUnknown(decision.resources) ?? journal.obstacleTo(decision.resources, restsOn);
    return held === undefined ? decision : refused(this.#snapshot, held.problem, decision.resources);
  }

  /** Executes a command when its turn comes. */
  execute(request: CommandRequest): Promise<Execution> {
    return this.#turns.wait(request);
  }

  /**
   * Takes in what other nodes have changed up to now.
   *
   * @param links - what this node must have followed before the promise resolves
   * @returns the refusal of a command if the store does not answer, or this node cannot follow
   */
  async readOn(links: readonly string[] = []): Promise<Refusal | undefined> {
    const { journal } = this.#options;
    const outage = await journal.readOn();
    if (outage !== undefined) return this.#cutOff(outage);
    if (journal.obstacleTo([], links) === undefined) return undefined;
    const execution = await this.#turns.wait({ transition: nothing, restsOn: links });
    return execution.outcome === 'refused' ? execution : undefined;
  }

  /** The commands in flight, in the order of their turns. */
  commands(): readonly CommandInFlight[] {
    return this.#turns.list();
  }

  /** Abandons a command of unknown outcome. The journal keeps its intent, and the next life inspects the command once. */
  async abandon(id: string, links: readonly string[] = []): Promise<Ending> {
    const refused = this.refuseClosed() ?? this.#options.refuseAll();
    if (refused !== undefined) return refused;
    const found = findCommand(this.commands(), id);
    if (!found.ok) return { outcome: 'refused', problem: found.problem, events: [] };
    const problem = objectionTo(found.value);
    if (problem !== undefined) return { outcome: 'refused', problem, events: [] };
    const record = { type: 'abandonment', command: id, revision: this.#snapshot.revision } as const;
    const { resources } = found.value;
    try {
      const basis = { since: this.#options.journal.moment, links };
      await this.#options.journal.keep({ record, resources, basis, use: 'intent', then: () => undefined });
    } catch (error) {
      // If others have ended the command meanwhile, nothing holds its resources, as after an abandonment.
      if (!(error instanceof NotKept || error instanceof Fenced)) throw error;
      // If the store may get the record, the command is abandoned: the record stands before those of later commands.
      if (error instanceof NotKept && !error.isPossible) return unavailableIn(error.outage);
    }
    await this.#turns.abandon(id);
    this.#runtime.crossings.take(id);
    return { outcome: 'accepted', snapshot: this.#snapshot, events: [] };
  }

  /** Folds reports of the host over the current snapshot, as one change. */
  report(given: unknown): void {
    const { faults } = this.#foldReports(given);
    if (faults.length > 0) this.#options.onError(new ReportError(faults));
  }

  #foldReports(given: unknown): AppliedReports {
    const { now } = this.#options.contextOf(undefined);
    const folded = foldHostReports(this.#snapshot, given, now, (crossing) =>
      this.#runtime.crossings.note(crossing),
    );
    if (folded.events.length > 0) this.#record(folded.next, folded.events);
    return folded;
  }

  /** Makes `next` the current snapshot, and publishes the events that led to it. */
  #record(next: Snapshot, events: readonly AdminEvent[]): void {
    this.#snapshot = next;
    this.#options.journal.mark(next.revision);
    this.#options.publish(next.revision, events);
  }

  /**
   * Finds out the outcomes of the commands of earlier lives. An open command can still undo its effects, so the host is asked
   * about an abandoned command only when no open one holds its resources.
   *
   * @returns resolves when the outcomes are known, or when the host has not answered in time
   */
  async recover({ open, abandoned }: UnsettledCommands<Intent>): Promise<void> {
    await Promise.all(open.map((command) => this.#recoverOpen(command)));
    await Promise.all(abandoned.map((command) => this.#settleAbandoned(command)));
  }

  /** Resolves when the outcome is known, or when the host has not answered in time. */
  #recoverOpen(open: OpenCommand): Promise<void> {
    const { command: id, effects } = open.intent;
    // The host was called in the earlier life, so every report of this life is newer.
    for (const effect of effects) this.#runtime.crossings.begin(id, effect);
    return new Promise((resolve) => {
      // `unknown` from the start: a client of the earlier life may have got a 504, and then needs an event either way.
      const flight = this.#flightOf(open, { outcome: 'unknown', answer: () => resolve() });
      this.#turns.hold(flight, async () => {
        try {
          this.#recovered(flight, this.#executionOf(await recover(open, flight)));
        } catch (error) {
          // The next life recovers the command. A failure of the store has gone to `onError` already.
          if (!(error instanceof SearchEnded || error instanceof NotSettled)) this.#options.onError(error);
        }
        resolve();
      });
    });
  }

  /** A command of an earlier life. */
  #flightOf(
    { intent: { command: id, resources, events } }: OpenCommand,
    how: Pick<FlightOptions, 'outcome' | 'answer'>,
  ): Flight {
    const command = commandOf(id, { resources, events });
    const { instruments, journal } = this.#options;
    const options = { ...how, journal, span: instruments?.recovery(command), asksHost: true };
    return new Flight(command, options, this.#runtime);
  }

  /** Asks the host once about a command that an earlier life abandoned, and settles the effects that are in place. */
  async #settleAbandoned(open: OpenCommand): Promise<void> {
    const flight = this.#flightOf(open, { outcome: 'pending', answer: () => undefined });
    const holder = this.#turns.refuseUnknown(flight.command.resources)?.problem.command;
    if (holder !== undefined) {
      this.#options.onError(new Error(notAsked(flight.command, holder)));
      return;
    }
    const events = await inspectAbandoned(open, flight);
    if (events === undefined) {
      this.#options.onError(new Error(stillUnknown(flight.command)));
      return;
    }
    const isShown = evolve(this.#snapshot, events) === this.#snapshot;
    try {
      await flight.settle(isShown ? [] : events, { at: 'end' });
      const refusal = events.length > 0 ? {} : { refusal: 'No effect of the abandoned command is in place.' };
      this.#recovered(flight, this.#executionOf({ events, ...refusal }));
    } catch (error) {
      // A failure of the store has gone to `onError` already.
      if (!(error instanceof NotSettled)) throw error;
    }
  }

  /** The outcome is known of a command of an earlier life. */
  #recovered({ command, span }: Flight, execution: Execution): void {
    span?.ended(execution);
    this.#options.onRecovered(command, execution);
  }

  /** Refuses waiting commands and later ones. Resolves when every started command has ended. */
  async close(): Promise<void> {
    this.#options.journal.stopRepeating();
    await this.#turns.close();
  }

  #begin(decision: Acceptance, waiting: Waiting): void {
    const { request, answer, fail } = waiting;
    const { watch, journal = this.#options.journal, restsOn: links = [] } = request;
    this.#commands += 1;
    const { resources } = decision;
    const { events, effects } = firstOf(decision);
    const id = `${this.#options.prefix}-${String(this.#commands)}`;
    const command = commandOf(id, { resources, events });
    const span = this.#options.instruments?.command(command);
    // The decision was made in this turn of the event loop.
    const basis = { since: journal.moment, links };
    const options = {
      journal,
      span,
      answer,
      basis,
      asksHost: effects.length > 0,
      outcome: 'pending',
    } as const;
    const flight = new Flight(command, options, this.#runtime);
    this.#turns.hold(flight, async () => {
      try {
        if (!isTrusted(decision)) this.#assertFolds(decision);
        watch?.begun(command, decision, events);
        const execution = await this.#perform(flight, decision);
        span?.ended(execution);
        if (flight.isUnknown) watch?.settled(execution);
        answer(execution);
      } catch (error) {
        if (error instanceof Overtaken) this.#turns.putBack(waiting);
        // The caller got a 504 when the search began.
        else if (error instanceof SearchEnded) span?.leftOpen(error.why);
        else {
          span?.brokenOff(error);
          // The caller has a 504 already.
          if (flight.isUnknown) this.#options.onError(error);
          fail(error);
        }
      }
    });
  }

  async #perform(flight: Flight, decision: Acceptance): Promise<Execution> {
    try {
      return this.#executionOf(await perform(decision, flight));
    } catch (error) {
      if (!(error instanceof NotSettled)) throw error;
      return error.execution;
    }
  }

  /** Checks a decision that the host has built. An event that does not fold would make the journal unreadable. */
  #assertFolds({ events }: Acceptance): void {
    try {
      evolve(this.#snapshot, events);
    } catch (cause) {
      const message = 'A transition must return events that can be folded over the snapshot; see the cause';
      throw new TypeError(message, { cause });
    }
  }

  #executionOf({ events, refusal: reason, isPart }: Performed): Execution {
    if (reason !== undefined)
      return refusal(isPart === true ? 'partly-done' : 'effect-refused', reason, events);
    return { outcome: 'accepted', snapshot: this.#snapshot, events };
  }
}

/** Changes nothing, and waits for what its request rests on. */
const nothing: Transition = (snapshot) => unchanged(snapshot, []);

/** The refusal of every command while a store does not answer; `undefined` while the store answers. */
function unavailable({ outage }: Journal): Refusal | undefined {
  return outage === undefined ? undefined : unavailableIn(outage);
}

/** The first part of a decision: the rest of a long teardown is not made yet. */
function firstOf(decision: Acceptance): Changes<AdminEvent, Effect> {
  const [first = decision] = partsOf<AdminEvent, Effect>(decision).make();
  return first;
}

function stillUnknown({ id, resource }: Command): string {
  return (
    `The gateway did not say what became of the abandoned command ${id} on ${resource}. Check that the gateway and ` +
    'the interface agree on this resource. The gateway is asked again at the next start.'
  );
}

function notAsked({ id, resource }: Command, holder: string): string {
  return (
    `The gateway was not asked what became of the abandoned command ${id} on ${resource}, because the outcome of the later ` +
    `command ${holder} on the same resource is not known yet. The gateway is asked at the next start.`
  );
}

/**
 * Checks the return value of a transition. A wrong value, such as the promise of an async function, must not block the
 * queue. An event of unknown type must not reach the journal, because the journal would be unreadable.
 */
function assertDecision(decision: unknown): asserts decision is Decision {
  // The events of a trusted decision are not read: to read them would make all parts of a long teardown.
  const { outcome, resources } = (decision ?? {}) as Partial<Acceptance>;
  if (!Array.isArray(resources) || !['accepted', 'unchanged', 'refused'].includes(String(outcome))) {
    throw new TypeError('A transition must return a decision at once; it cannot be an async function');
  }
  if (outcome !== 'accepted' || isTrusted(decision as object)) return;
  const { events, effects } = decision as Partial<Acceptance>;
  if (!areConsistent(events, effects))
    throw new TypeError(
      'An accepted decision must have at least one event. The events and effects must have known types, with an effect ' +
        'for each event that needs one',
    );
}
