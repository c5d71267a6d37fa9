/**
 * The writer: holds the current snapshot, and takes each command through intent → effect → settlement.
 *
 * Every change of the snapshot goes through `record`: the settlements of commands, and the reports of the host.
 */
import { isTrusted, partsOf, refused, unchanged, type Changes, type Context } from '../../core/decision.ts';
import {
  eventTable,
  evolve,
  foldHostReports,
  type AdminEvent,
  type AppliedReports,
  type Decision,
  type Effect,
  type Transition,
} from '../../resources/index.ts';
import { findCommand, objectionTo, type CommandInFlight } from '../../resources/command.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import { perform, type CommandOptions, type Performed, type Place } from './command.ts';
import {
  changeLost,
  changePending,
  outcomeUnknown,
  refusal,
  resultLost,
  resultPending,
  storeUnavailable,
  type Execution,
  type Refusal,
} from './execution.ts';
import { SearchEnded } from './effect.ts';
import { areConsistent, type OpenCommand, type UnsettledCommands } from '../journal/history.ts';
import type { CommandSpan, Instruments } from '../instrumentation/instruments.ts';
import { NotKept, type Journal, type Outage } from '../journal/journal.ts';
import { Fenced, LogEnded, Overtaken, type Basis, type Placed } from '../journal/log.ts';
import { Crossings } from './crossing.ts';
import { inspectAbandoned, recover } from './recovery.ts';
import { isActing, type Group } from './stage.ts';
import { ReportError } from '../host/report-error.ts';
import {
  Turns,
  type Acceptance,
  type Command,
  type CommandRequest,
  type TurnOptions,
  isFollowing,
  type Waiting,
} from './turn.ts';
import type { Veto } from './veto.ts';

/** The options of {@link Writer}. @internal */
export interface WriterOptions
  extends
    Pick<CommandOptions, 'gateway' | 'clock' | 'deadlineMs'>,
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
  readonly instruments: Instruments;
  readonly onError: (error: unknown) => void;
}

/** A command that is performed, or recovered after a restart. */
interface Performing {
  readonly command: Command;
  readonly span: CommandSpan;
  /** Keeps the records of the command. */
  readonly journal: Journal;
  /**
   * Whether the command has effects. If it has, the gateway has made the change before the settlement. A command without
   * effects takes hold only once its events are journaled.
   */
  readonly asksHost: boolean;
  /** Answers the client. Only the first answer counts. */
  readonly answer: (execution: Execution) => void;
  /** The events that were settled so far. */
  readonly settled: AdminEvent[];
  /** What the decision rests on; left out for a command of an earlier life. */
  readonly basis?: Basis;
  /** Called when the decision was checked, before anything is done. */
  readonly onBegun?: () => void;
}

/** The result of an abandoned command. */
type Ending = Extract<Execution, { readonly outcome: 'accepted' | 'refused' }>;

/** The settlement of a command is not journaled, and the command ends with this answer. */
class Unsettled extends Error {
  readonly execution: Execution;

  constructor(execution: Execution) {
    super('The settlement was not journaled');
    this.execution = execution;
  }
}

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
  readonly #crossings = new Crossings();

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#snapshot = options.snapshot;
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
    this.#crossings.take(id);
    return { outcome: 'accepted', snapshot: this.#snapshot, events: [] };
  }

  /** Folds reports of the host over the current snapshot, as one change. */
  report(given: unknown): void {
    const { faults } = this.#foldReports(given);
    if (faults.length > 0) this.#options.onError(new ReportError(faults));
  }

  #foldReports(given: unknown): AppliedReports {
    const { now } = this.#options.contextOf(undefined);
    const folded = foldHostReports(this.#snapshot, given, now, (crossing) => this.#crossings.note(crossing));
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
  async recover({ open, abandoned }: UnsettledCommands): Promise<void> {
    await Promise.all(open.map((command) => this.#recoverOpen(command)));
    await Promise.all(abandoned.map((command) => this.#settleAbandoned(command)));
  }

  /** Resolves when the outcome is known, or when the host has not answered in time. */
  #recoverOpen(open: OpenCommand): Promise<void> {
    const { command: id } = open.intent;
    const { journal } = this.#options;
    const command = commandIn(open, this.#options.clock.now());
    // The host was called in the earlier life, so every report of this life is newer.
    for (const effect of open.intent.effects) this.#crossings.begin(id, effect);
    return new Promise((resolve) => {
      // `unknown` from the start: a client of the earlier life may have got a 504, and then needs an event either way.
      this.#turns.hold(command, 'unknown', async () => {
        const span = this.#options.instruments.recovery(command);
        try {
          const performed = await recover(
            open,
            this.#optionsOf({ command, span, journal, asksHost: true, answer: () => resolve(), settled: [] }),
          );
          this.#recovered({ command, span }, this.#executionOf(performed));
        } catch (error) {
          // The next life recovers the command. A failure of the store has gone to `onError` already.
          if (!(error instanceof SearchEnded || error instanceof Unsettled)) this.#options.onError(error);
        }
        resolve();
      });
    });
  }

  /** Asks the host once about a command that an earlier life abandoned, and settles the effects that are in place. */
  async #settleAbandoned(open: OpenCommand): Promise<void> {
    const command = commandIn(open, this.#options.clock.now());
    const holder = this.#turns.refuseUnknown(command.resources)?.problem.command;
    if (holder !== undefined) {
      this.#options.onError(new Error(notAsked(command, holder)));
      return;
    }
    const span = this.#options.instruments.recovery(command);
    const { journal } = this.#options;
    const performing = { command, span, journal, asksHost: true, answer: () => undefined, settled: [] };
    const events = await inspectAbandoned(open, this.#optionsOf(performing));
    if (events === undefined) {
      this.#options.onError(new Error(stillUnknown(command)));
      return;
    }
    const isShown = evolve(this.#snapshot, events) === this.#snapshot;
    try {
      await this.#settle(performing, isShown ? [] : events, { at: 'end' });
      const refusal = events.length > 0 ? {} : { refusal: 'No effect of the abandoned command is in place.' };
      this.#recovered(performing, this.#executionOf({ events, ...refusal }));
    } catch (error) {
      // A failure of the store has gone to `onError` already.
      if (!(error instanceof Unsettled)) throw error;
    }
  }

  /** The outcome is known of a command of an earlier life. */
  #recovered({ command, span }: Pick<Performing, 'command' | 'span'>, execution: Execution): void {
    span.ended(execution);
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
    // The decision was made in this turn of the event loop.
    const basis = { since: journal.moment, links };
    this.#commands += 1;
    const id = `${this.#options.prefix}-${String(this.#commands)}`;
    const { events, effects } = firstOf(decision);
    const { resources } = decision;
    const command = commandOf(id, { resources, events }, this.#options.clock.now());
    this.#turns.hold(command, 'pending', async () => {
      const span = this.#options.instruments.command(command);
      try {
        const asksHost = effects.length > 0;
        const onBegun = (): void => watch?.begun(command, decision, events);
        const performing = { command, span, journal, asksHost, answer, settled: [], basis, onBegun };
        const execution = await this.#perform(performing, decision);
        span.ended(execution);
        if (this.#turns.isUnknown(id)) watch?.settled(execution);
        answer(execution);
      } catch (error) {
        if (error instanceof Overtaken) this.#turns.putBack(waiting);
        // The caller got a 504 when the search began.
        else if (error instanceof SearchEnded) span.leftOpen(error.why);
        else {
          span.brokenOff(error);
          fail(error);
        }
      }
    });
  }

  async #perform(performing: Performing, decision: Acceptance): Promise<Execution> {
    if (!isTrusted(decision)) this.#assertFolds(decision);
    performing.onBegun?.();
    try {
      return this.#executionOf(await perform(decision, this.#optionsOf(performing)));
    } catch (error) {
      if (!(error instanceof Unsettled)) throw error;
      return error.execution;
    }
  }

  /** Ends a command in the journal that the gateway was not asked about: the store may still get the intent. */
  #withdraw({ command: { id, resources }, journal }: Performing): void {
    const { revision } = this.#snapshot;
    const record = { type: 'settlement', command: id, revision, events: [], last: true } as const;
    journal.keep({ record, resources, use: 'refusal', then: () => undefined }).catch(() => undefined);
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

  #optionsOf(performing: Performing): CommandOptions {
    const { gateway, clock, deadlineMs, instruments, onError } = this.#options;
    return {
      gateway,
      clock,
      deadlineMs,
      instruments,
      onError,
      commandId: performing.command.id,
      crossings: this.#crossings,
      present: () => this.#snapshot,
      isUnknown: () => this.#turns.isUnknown(performing.command.id),
      intend: (group, part, of) => this.#intend(performing, group, part, of),
      settle: (events, place) => this.#settle(performing, events, place),
      onUnknown: () => this.#answerUnknown(performing, outcomeUnknown(performing.command.id)),
      throwIfAbandoned: () => {
        this.#turns.throwIfAbandoned(performing.command.id);
      },
    };
  }

  async #intend(performing: Performing, group: Group, part: number, of: number): Promise<void> {
    const effects = group.filter(isActing).map(({ effect }) => effect);
    if (effects.length === 0) return;
    const { id: command, resources } = performing.command;
    const events = group.map(({ event }) => event);
    const record = { type: 'intent', command, resources, part, of, events, effects } as const;
    const keeping = { record, resources, use: 'intent', then: () => undefined } as const;
    try {
      // A later part follows an earlier one, whatever has changed since.
      await performing.journal.keep({ ...keeping, ...(part === 0 ? basisOf(performing) : {}) });
    } catch (error) {
      if (!(error instanceof NotKept)) throw error;
      if (error.isPossible || part > 0) this.#withdraw(performing);
      const held = part === 0 ? undefined : heldBy({ at: 'part', done: part, of });
      const refused = unavailableIn(error.outage, held);
      throw new Unsettled(part === 0 ? refused : { ...refused, events: performing.settled });
    }
  }

  /** Gives the signal that ends the search for the outcome. */
  #answerUnknown({ command, span, answer }: Performing, execution: Execution): AbortSignal {
    span.ended(execution);
    answer(execution);
    return this.#turns.setUnknown(command.id);
  }

  async #settle(
    performing: Performing,
    settled: readonly AdminEvent[],
    place: Place,
  ): Promise<readonly AdminEvent[]> {
    const events = this.#recorded(performing, settled, place);
    const { command, journal, asksHost } = performing;
    const { id, resources } = command;
    const { revision } = this.#snapshot;
    const last = place.at === 'end';
    const isRefused = last && place.refusal !== undefined && events.length === 0;
    const use = !asksHost ? 'change' : isRefused ? 'refusal' : 'result';
    try {
      return await journal.keep({
        record: { type: 'settlement', command: id, revision, events, last },
        resources,
        ...(use === 'change' ? basisOf(performing) : {}),
        use,
        then: (placed) => this.#apply(performing, events, placed),
        onLate: () => {
          this.#answerUnknown(performing, asksHost ? resultPending(id, heldBy(place)) : changePending(id));
        },
      });
    } catch (error) {
      if (error instanceof Fenced) {
        this.#apply(performing, events, journal.present);
        this.#withdraw(performing);
        throw new Unsettled(error.answerTo(id));
      }
      if (!(error instanceof NotKept)) throw error;
      if (use === 'refusal') return this.#apply(performing, events, journal.present);
      // The store is lost, or the interface closes: the snapshot must show what the host did, even if the journal does not.
      if (asksHost) this.#apply(performing, events, journal.present);
      throw new Unsettled(this.#unsettled(performing, place, error));
    }
  }

  /** The answer to a command whose settlement will not be journaled in this life. */
  #unsettled(
    { command: { id }, asksHost }: Performing,
    place: Place,
    { isPossible, outage }: NotKept,
  ): Execution {
    if (asksHost) return resultLost(id, heldBy(place));
    return isPossible ? changeLost(id) : unavailableIn(outage);
  }

  /**
   * Gives events the time of the settlement and the id of the command. Adds `command.failed` if the host refused after
   * the client was told that the outcome is unknown.
   */
  #recorded(performing: Performing, settled: readonly AdminEvent[], place: Place): readonly AdminEvent[] {
    const stamp = { at: this.#options.contextOf(undefined).now, command: performing.command.id };
    const events: AdminEvent[] = settled.map((event) => Object.freeze({ ...event, ...stamp }));
    const isRefused = place.at === 'end' && place.refusal !== undefined;
    if (isRefused && this.#turns.isUnknown(performing.command.id))
      events.push(failure(performing.command, place.refusal, stamp));
    return Object.freeze(events);
  }

  /** Folds events over the current snapshot, which reports may have changed since the decision. */
  #apply(
    { command, settled }: Performing,
    recorded: readonly AdminEvent[],
    placed: Placed,
  ): readonly AdminEvent[] {
    const events = placedEvents(recorded, placed);
    this.#foldSettled(events, placed);
    settled.push(...events);
    const crossing = this.#crossings.take(command.id);
    // A contradiction is no error: the report may be older than the end of the effect.
    if (crossing.length > 0) this.#foldReports(crossing);
    return events;
  }

  #foldSettled(events: readonly AdminEvent[], { align }: Placed): void {
    if (events.length === 0) return;
    const before = this.#snapshot;
    const folded = evolve(before, events);
    const next = align(folded, folded.revision);
    // The events of a command need a revision of their own, even if reports of the host have made the change already.
    this.#record(
      next === before ? Object.freeze({ ...before, revision: before.revision + 1 }) : next,
      events,
    );
  }

  #executionOf({ events, refusal: reason, isPart }: Performed): Execution {
    if (reason !== undefined)
      return refusal(isPart === true ? 'partly-done' : 'effect-refused', reason, events);
    return { outcome: 'accepted', snapshot: this.#snapshot, events };
  }
}

/** Changes nothing, and waits for what its request rests on. */
const nothing: Transition = (snapshot) => unchanged(snapshot, []);

function basisOf({ basis }: Performing): { readonly basis?: Basis } {
  return basis === undefined ? {} : { basis };
}

/** Gives the events that other nodes share their place in the log. */
function placedEvents(events: readonly AdminEvent[], { fleet }: Placed): readonly AdminEvent[] {
  if (fleet === undefined) return events;
  return Object.freeze(
    events.map((event) =>
      eventTable[event.type].scope === 'node' ? event : Object.freeze({ ...event, fleet }),
    ),
  );
}

/** The refusal of every command while a store does not answer; `undefined` while the store answers. */
function unavailable({ outage }: Journal): Refusal | undefined {
  return outage === undefined ? undefined : unavailableIn(outage);
}

function unavailableIn({ error, retryAfterMs }: Outage, held?: string): Refusal {
  return isLogEnded(error) ? error.refusal(held) : storeUnavailable(retryAfterMs, held);
}

/** Whether the log has ended for a reason of its own. The error of a host can throw when it is read. */
function isLogEnded(error: unknown): error is LogEnded {
  try {
    return error instanceof LogEnded;
  } catch {
    return false;
  }
}

/** The first part of a decision: the rest of a long teardown is not made yet. */
function firstOf(decision: Acceptance): Changes<AdminEvent, Effect> {
  const [first = decision] = partsOf<AdminEvent, Effect>(decision).make();
  return first;
}

function commandOf(
  id: string,
  { resources, events }: Pick<Acceptance, 'resources' | 'events'>,
  since: number,
): Command {
  const [first] = events;
  if (first === undefined) throw new TypeError('A command must have at least one event');
  const { type, resource, actor } = first;
  // A copy, because the resources are free again only under the same links.
  const command = { id, type, resource, resources: Object.freeze([...resources]), since };
  return actor === undefined ? command : { ...command, actor };
}

/** The command of an earlier life. */
function commandIn({ intent: { command, resources, events } }: OpenCommand, now: number): Command {
  return commandOf(command, { resources, events }, events[0]?.at ?? now);
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

/** A sentence about the part of a command that the host did, for a command whose settlement is not journaled. */
function heldBy(place: Place): string {
  if (place.at === 'part') {
    const { done, of } = place;
    return `Only ${String(done)} of ${String(of)} parts are done.`;
  }
  return place.refusal ?? 'The gateway made the change.';
}

/** The event for a command whose outcome was unknown and that turned out to have failed. */
function failure(
  { resource, actor }: Command,
  reason: string,
  stamp: { readonly at: number; readonly command: string },
): AdminEvent {
  const head = actor === undefined ? { resource } : { actor, resource };
  return Object.freeze({ type: 'command.failed' as const, ...head, ...stamp, reason });
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
