/**
 * The writer: holds the current snapshot, decides each command in its turn, and makes the flight of an accepted one.
 *
 * Every change of the snapshot goes through `#publish`: the settlements of commands, and the reports of the host.
 */
import { decidedOn, isTrusted, refused, type Context } from '../../core/decision.ts';
import {
  effectsOf,
  evolve,
  foldHostReports,
  type AdminEvent,
  type AppliedReports,
  type Decision,
  type Effect,
} from '../../resources/index.ts';
import { findCommand, objectionTo, type CommandInFlight } from '../../resources/command.ts';
import { drainedOf } from '../../resources/shared/drain.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import { assertCovered, misfitOf, ownCommand } from '../plan/mark.ts';
import { planChanged, planning, type Plan, type Planned, type PlanRefusal } from '../plan/plan.ts';
import { sameJson, type Json } from '../../json/value.ts';
import { problem, type Problem } from '../../problem.ts';
import { changedDrains } from '../../snapshot/state.ts';
import type { Ground } from '../ground.ts';
import { ReportError } from '../host/host-error.ts';
import { areEvents, type Intent, type OpenCommand } from '../journal/record.ts';
import type { UnsettledCommands } from '../journal/unsettled.ts';
import { Fenced, Overtaken } from '../journal/basis.ts';
import { unavailableIn } from '../journal/journal.ts';
import { evolving } from '../journal/log.ts';
import { NotKept } from '../journal/record-queue.ts';
import { perform, type Performed } from './command.ts';
import { Crossings } from './crossing.ts';
import { Departed } from './departed.ts';
import {
  ended,
  misfit,
  nothingClosed,
  refusal,
  type Closed,
  type Decided,
  type Execution,
  type Refusal,
  type Unaccepted,
} from './execution.ts';
import { commandOf, Flight, SearchEnded, NotJournaled, type Runtime } from './flight.ts';
import { Reconciliation, type Leftover } from './reconciliation.ts';
import { recover } from './recovery.ts';
import { refuseUnsupported } from './support.ts';
import { Turns, type Acceptance, type CommandRequest, type Waiting } from './turn.ts';

/** The steps of a plan. */
type Planning = Generator<undefined, Plan | PlanRefusal>;

/**
 * Decides and performs commands, and holds the current snapshot.
 *
 * @internal
 */
export class Writer {
  #snapshot: Snapshot;
  #commands = 0;
  readonly #ground: Ground;
  readonly #turns: Turns;
  readonly #runtime: Runtime;
  readonly #departed: Departed;
  /** Makes the resources of abandoned commands, and of calls that ended too late, as the snapshot shows them. */
  readonly reconciliation: Reconciliation;

  constructor(ground: Ground) {
    this.#ground = ground;
    this.#snapshot = ground.first;
    this.#departed = new Departed(ground.clock);
    this.#runtime = {
      ...ground,
      crossings: new Crossings(),
      foldUnkept: ground.coordinator?.fold ?? evolving,
      present: () => this.#snapshot,
      publish: this.#publish,
      foldCrossing: this.#foldCrossing,
      onCallEnded: (id) => {
        this.reconciliation.callEnded(id);
      },
      hasLeftover: (effect, commandId) => this.reconciliation.hasLeftover(effect, commandId),
      onDoubtJustified: ({ left }) => {
        void left.then(() => {
          this.reconciliation.retry();
        });
      },
      onOutrun: (command, effect) => {
        void this.reconciliation.begin([{ command, effects: [effect], list: 'none' }]);
      },
      holdAsUnknown: (flight) => this.#turns.holdAsUnknown(flight),
    };
    const execute = (request: CommandRequest): Promise<Execution> => this.execute(request);
    this.reconciliation = new Reconciliation({ ground, present: this.#runtime.present, execute });
    this.#turns = new Turns(ground, { decide: this.#decide, ended: this.#ended, begin: this.#begin });
  }

  /** Decides the waiting commands again: others may have got out of their way. */
  retry(): void {
    this.#turns.retry();
  }

  /** Makes a change that no client can see as an event: of the order of lists, or of the names of secret parameters. */
  revise(revised: (snapshot: Snapshot, revision: number) => Snapshot): void {
    const next = revised(this.#snapshot, this.#snapshot.revision + 1);
    if (next !== this.#snapshot) this.#publish(next, []);
  }

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** The refusal of every command after {@link close}; `undefined` before. */
  refuseClosed(): Refusal | undefined {
    return this.#turns.refuseClosed();
  }

  /**
   * Decides a command on the current snapshot. With a mark, refused if the command would not do what that plan showed.
   * Changes nothing.
   *
   * @throws the error that the transition throws; TypeError if the transition returns no decision
   */
  readonly #decide = (request: CommandRequest): Decided => {
    const { mark, digits = () => ownCommand } = request.planned ?? {};
    if (mark === undefined) return this.#decideUnmarked(request);
    const { life } = this.#ground;
    const { instant } = mark;
    const snapshot = this.#snapshot;
    const openedUpTo = instant?.life === life ? instant.revision : undefined;
    const decision = this.#decideUnmarked(request, {
      ...this.#contextOf(request.actor),
      ...(instant?.life === life ? { openedUpTo: instant.revision, plannedAt: instant.at } : {}),
    });
    if (decision.outcome === 'refused') return decision;
    const changes = decision.outcome === 'accepted' ? decision : undefined;
    const why = misfitOf(mark, changes, { command: digits(), life, snapshot });
    if (why !== undefined)
      return { ...refused(snapshot, problem('precondition-failed', why), decision.resources), [misfit]: why };
    if (changes !== undefined && openedUpTo !== undefined) assertCovered(changes, snapshot, openedUpTo);
    return decision;
  };

  /**
   * Makes the plan of a command. Changes nothing. With a mark, refused if the command would not do what that plan
   * showed.
   */
  plan(request: CommandRequest & { readonly planned: Planned }): Plan | PlanRefusal {
    const steps = this.#planning(request);
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  }

  /** Makes the plan of a command on the present snapshot, and gives other work its turn between the steps. */
  planInSteps(request: CommandRequest & { readonly planned: Planned }): Promise<Plan | PlanRefusal> {
    return this.#inSteps(this.#planning(request), request.signal);
  }

  *#planning(request: CommandRequest & { readonly planned: Planned }): Planning {
    if (request.planned.mark === undefined) return yield* this.#planOf(request);
    const decision = this.#decide(request);
    if (decision.outcome !== 'refused') return yield* this.#planOf(request);
    return { outcome: 'refused', problem: yield* this.#problemOf(decision, request) };
  }

  /** The problem of a refusal. That of a mark has the plan of now, and gives way to a refusal of the command itself. */
  *#problemOf(
    { problem, [misfit]: why }: Extract<Decided, { readonly outcome: 'refused' }>,
    request: CommandRequest,
  ): Generator<undefined, Problem> {
    if (why === undefined) return problem;
    const now = yield* this.#planOf(request);
    return now.outcome === 'refused' ? now.problem : planChanged(why, now);
  }

  /** Takes steps, and gives other work its turn between them. */
  async #inSteps<T>(steps: Generator<undefined, T>, signal: AbortSignal | undefined): Promise<T> {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      await this.#ground.clock.sleep(0);
      signal?.throwIfAborted();
    }
  }

  /** Makes a plan as if there was no mark. Refused if a command of unknown outcome or others hold a resource. */
  *#planOf({ planned = { digits: () => ownCommand }, ...request }: CommandRequest): Planning {
    // Read before the decision: a veto may report.
    const snapshot = this.#snapshot;
    const context = this.#contextOf(request.actor);
    const decision = this.#decideUnmarked(request, context);
    const { resources } = decision;
    const { life, foresee, coordinator } = this.#ground;
    const held =
      this.#turns.refuseUnknown(resources) ?? coordinator?.refusalFor(resources, request.restsOn ?? []);
    if (held !== undefined) return { outcome: 'refused', problem: held.problem };
    const where = coordinator === undefined ? '' : ' at this node';
    const sessionsEnd = this.#ground.gateway.sessionsEnd === true;
    return yield* planning(decision, planned, { snapshot, life, context, foresee, sessionsEnd, where });
  }

  /**
   * Decides a command as if there was no mark. The veto of the host sees an accepted decision, but for a command that
   * was decided elsewhere.
   */
  #decideUnmarked(request: CommandRequest, context: Context = this.#contextOf(request.actor)): Decision {
    const { transition } = request;
    const snapshot = this.#snapshot;
    const decision = transition(snapshot, context);
    assertDecision(decision);
    if (decision.outcome !== 'accepted') return decision;
    const { veto } = request.isDecided === true ? {} : this.#ground;
    const problem = refuseUnsupported(decision, this.#ground.gateway) ?? veto?.(decision, context);
    return problem === undefined ? decision : refused(snapshot, problem, decision.resources);
  }

  #contextOf(actor: string | undefined): Context {
    const { clock, times, authenticate, roleOf, telemetry } = this.#ground;
    return {
      now: clock.read(),
      times,
      authentication: authenticate === undefined ? 'none' : 'required',
      ...(roleOf === undefined ? {} : { isAdministrator: (name) => roleOf({ name }) === 'administrator' }),
      ...(telemetry === undefined ? {} : { idleOf: telemetry.idle }),
      ...(actor === undefined ? {} : { actor }),
    };
  }

  /** Executes a command when its turn comes. */
  execute(request: CommandRequest): Promise<Execution> {
    return this.#turns.wait(request);
  }

  readonly #ended = (decision: Unaccepted, request: CommandRequest): Execution | Promise<Execution> => {
    if (decision.outcome !== 'refused' || decision[misfit] === undefined) return ended(decision);
    const steps = this.#problemOf(decision, request);
    return this.#inSteps(steps, request.signal).then((problem) => ({
      outcome: 'refused',
      problem,
      events: [],
    }));
  };

  /** The commands in flight, in the order of their turns. */
  commands(): readonly CommandInFlight[] {
    return this.#turns.list();
  }

  /**
   * Abandons a command of unknown outcome. The journal keeps its intent until its resources are as they are shown.
   */
  async abandon(
    id: string,
    links: readonly string[] = [],
  ): Promise<Extract<Execution, { readonly outcome: 'accepted' | 'refused' }>> {
    const refused = this.refuseClosed() ?? this.#ground.refuseAll();
    if (refused !== undefined) return refused;
    const found = findCommand(this.commands(), id);
    if (!found.ok) return { outcome: 'refused', problem: found.problem, events: [] };
    const problem = objectionTo(found.value);
    if (problem !== undefined) return { outcome: 'refused', problem, events: [] };
    const record = { type: 'abandonment', command: id } as const;
    const { resources } = found.value;
    try {
      const basis = this.#ground.coordinator?.basisOf(links);
      await this.#ground.journal.keep({ record, resources, basis, use: 'before', then: () => undefined });
    } catch (error) {
      // If others have ended the command meanwhile, nothing holds its resources, as after an abandonment.
      if (!(error instanceof NotKept || error instanceof Fenced)) throw error;
      // If the store may get the record, the command is abandoned: the record stands before those of later commands.
      if (error instanceof NotKept && !error.isPossible) return unavailableIn(error.outage);
    }
    await this.#turns.abandon(id);
    this.#runtime.crossings.take(id);
    return { outcome: 'accepted', snapshot: this.#snapshot, events: [], closed: nothingClosed };
  }

  /** Folds reports of the host over the current snapshot, as one change. */
  report(given: unknown): void {
    const { faults } = this.#foldReports(given);
    if (faults.length > 0) this.#ground.onError(new ReportError(faults));
  }

  #foldReports(given: unknown): AppliedReports {
    const now = this.#ground.clock.now();
    const folded = foldHostReports(this.#snapshot, given, now, {
      hold: (report) => this.#runtime.crossings.hold(report),
      isLate: this.#departed.isEmpty ? undefined : (link, began) => this.#departed.has(link, began),
    });
    if (folded.events.length > 0) this.#publish(folded.next, folded.events);
    return folded;
  }

  /** Folds the reports that have crossed a command. A contradiction is no error: the effect can have ended later. */
  readonly #foldCrossing = (commandId: string): void => {
    const reports = this.#runtime.crossings.take(commandId);
    if (reports.length > 0) this.#foldReports(reports);
  };

  /**
   * Makes `next` the current snapshot, and publishes the events that led to it. Adds `service.drained` and
   * `server.drained`, which no journal has: they follow from the sessions and connections, which the host reports again
   * after a restart.
   */
  readonly #publish = (next: Snapshot, events: readonly AdminEvent[]): void => {
    const before = this.#snapshot;
    this.#snapshot = next;
    this.#departed.take(events);
    const drains = changedDrains(before, next);
    let published = events;
    if (drains.length > 0) {
      const drained = drainedOf(drains, before, next, this.#ground.clock.now());
      published = [...events, ...(drained as readonly AdminEvent[])];
    }
    this.#ground.log.append(next.revision, published);
    this.#ground.onChanged(drains);
  };

  /**
   * Finds out the outcomes of the commands of earlier lives. After that, makes the resources of the abandoned ones as
   * the snapshot shows them.
   *
   * @returns resolves when that is done, or when the host has not answered in time
   */
  async recover({ open, abandoned }: UnsettledCommands<Intent>): Promise<void> {
    await Promise.all(open.map((command) => this.#recoverOpen(command)));
    await this.reconciliation.begin(abandoned.map(leftoverOf));
  }

  /** Resolves when the outcome is known, or when the host has not answered in time. */
  #recoverOpen(open: OpenCommand): Promise<void> {
    const { command: id } = open.intent;
    // The host was called in the earlier life, so every report of this life is newer.
    for (const effect of effectsInFlight(open)) this.#runtime.crossings.begin(id, effect);
    return new Promise((resolve) => {
      // No client waits for the answer here: it lets the start go on, also before the outcome is known.
      const flight = this.#flightOf(open, resolve);
      // A client of the earlier life may have got a 504, and then needs an event either way.
      flight.outcome = 'unknown';
      const work = async (): Promise<void> => {
        try {
          this.#recovered(flight, this.#executionOf(await recover(open, flight), flight.closed));
        } catch (error) {
          // The next life recovers the command. A failure of the store has gone to `onError` already.
          if (error instanceof SearchEnded) this.#handOver(flight, error);
          else {
            this.#foldCrossing(id);
            if (!(error instanceof NotJournaled)) this.#ground.onError(error);
          }
        }
        resolve();
      };
      this.#turns.hold(flight, work);
    });
  }

  /** A command of an earlier life. */
  #flightOf(open: OpenCommand, resolve: () => void): Flight {
    const { command: id, resources, events } = open.intent;
    const command = commandOf(id, { resources, events });
    const { instruments, journal } = this.#ground;
    const span = instruments?.recovery(command);
    const options = { journal, span, resolve, effects: effectsInFlight(open), asksHost: true };
    return new Flight(command, options, this.#runtime);
  }

  /** The search for an outcome has ended. After an abandonment, the gateway is made as the interface shows it. */
  #handOver(flight: Flight, { why }: SearchEnded): void {
    if (why === 'abandoned') this.reconciliation.add(flight);
  }

  /** The outcome of a command of an earlier life is known. */
  #recovered({ command, span }: Flight, execution: Execution): void {
    span?.ended(execution);
    this.#ground.onRecovered(command, execution);
  }

  /** Refuses waiting commands and later ones. Resolves when every started command has ended. */
  async close(): Promise<void> {
    this.#ground.journal.stopRepeating();
    this.reconciliation.close();
    await this.#turns.close();
  }

  readonly #begin = (decision: Acceptance, waiting: Waiting): void => {
    const { request, resolve, reject } = waiting;
    const { coordinator } = this.#ground;
    const { trace = {}, journal = this.#ground.journal, restsOn: links = [] } = request;
    this.#commands += 1;
    const { effects, closing } = decision;
    const id = `${coordinator?.prefix ?? this.#snapshot.epoch}-${String(this.#commands)}`;
    const command = commandOf(id, decision);
    const span = this.#ground.instruments?.command(command);
    // The decision was made in this turn of the event loop.
    const basis = coordinator?.basisOf(links);
    const asksHost = closing !== undefined || effects.length > 0;
    const options = { journal, span, resolve, basis, asksHost };
    const flight = new Flight(command, options, this.#runtime);
    const work = async (): Promise<void> => {
      try {
        if (!isTrusted(decision)) this.#assertFolds(decision);
        trace.begun = { command, decision };
        const execution = await this.#perform(flight, decision, request);
        span?.ended(execution);
        if (flight.isUnknown) {
          trace.late = execution;
          trace.onLate?.(execution);
        }
        resolve(execution);
      } catch (error) {
        if (error instanceof Overtaken) this.#turns.putBack(waiting);
        // The caller got a 504 when the search began.
        else if (error instanceof SearchEnded) {
          span?.leftOpen(error.why);
          this.#handOver(flight, error);
        } else {
          span?.brokenOff(error);
          // The caller has a 504 already.
          if (flight.isUnknown) this.#ground.onError(error);
          reject(error);
        }
      }
    };
    this.#turns.hold(flight, work);
  };

  async #perform(flight: Flight, decision: Acceptance, request: CommandRequest): Promise<Execution> {
    try {
      const performed = await (request.perform?.(flight) ?? perform(decision, flight));
      return this.#executionOf(performed, flight.closed);
    } catch (error) {
      if (!(error instanceof NotJournaled)) throw error;
      this.#foldCrossing(flight.id);
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

  #executionOf({ events, refusal: reason, isPartlyDone }: Performed, closed: Closed): Execution {
    if (reason !== undefined)
      return refusal(isPartlyDone === true ? 'partly-done' : 'effect-refused', reason, events);
    return { outcome: 'accepted', snapshot: this.#snapshot, events, closed: Object.freeze({ ...closed }) };
  }
}

function leftoverOf(open: OpenCommand): Leftover {
  const { command: id, resources, events } = open.intent;
  return { command: commandOf(id, { resources, events }), effects: effectsInFlight(open), list: 'earlier' };
}

/** The effects of the part in flight. A part that has settled stays. */
function effectsInFlight({ intent: { part, events }, settled }: OpenCommand): readonly Effect[] {
  return settled === part ? effectsOf(events) : [];
}

/**
 * Checks the return value of a transition. A wrong value, such as the promise of an async function, must not block the
 * queue. An event of unknown type must not reach the journal, because the journal would be unreadable.
 */
function assertDecision(decision: unknown): asserts decision is Decision {
  const { outcome, resources } = (decision ?? {}) as Partial<Acceptance>;
  if (!Array.isArray(resources) || !['accepted', 'unchanged', 'refused'].includes(String(outcome))) {
    throw new TypeError('A transition must return a decision at once; it cannot be an async function');
  }
  if (outcome !== 'accepted' || isTrusted(decision as object)) return;
  const { events, effects, closing } = decision as Partial<Acceptance>;
  const isClosing = closing !== undefined && decidedOn(closing) !== undefined;
  const isWhole =
    areEvents(events) &&
    (isClosing || (closing === undefined && events.length > 0)) &&
    sameJson((effects ?? null) as Json, effectsOf(events) as unknown as Json);
  if (!isWhole)
    throw new TypeError(
      'An accepted decision must have at least one event, or a closing as the functions that close give it. The events ' +
        'must have known types, and the effects must be those of the events',
    );
}
