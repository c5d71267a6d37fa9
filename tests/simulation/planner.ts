/**
 * Clients that plan, wait, and send the command with the mark of its plan: what is done must be what was shown.
 */
import type { Admin, AdminEvent, AdminRequest, Execution, Json, Snapshot } from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import type { Asked, Shown } from './answer.ts';
import { anySequence } from './asking.ts';
import { anyCommand, type ClientCommand } from './command.ts';

/** A plan that a client was shown. */
interface Planned {
  readonly command: ClientCommand;
  readonly plan: Shown;
  /** The life in which the plan was made. */
  readonly admin: Admin;
  /** The sessions and connections that the plan covers. */
  readonly covered: ReadonlySet<string>;
}

/** Plans that wait to be carried out. */
export class Planner {
  readonly faults: string[] = [];
  /** How often a marked command was carried out, was refused for its mark, or changed nothing. */
  readonly seen = { accepted: 0, refused: 0, unchanged: 0 };
  readonly #random: Random;
  readonly #plans: Planned[] = [];
  /** Sequences that were planned by requests. */
  readonly #sequences: Asked[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** A client plans a command, or sends one that was planned before, in whatever life. */
  next(admin: Admin, number: number): Asked | undefined {
    if (this.#random.chance(0.2)) {
      this.#planSequence(admin, number);
      return undefined;
    }
    if (this.#random.chance(0.2)) return this.#sequences.shift();
    if (this.#plans.length > 0 && this.#random.chance(0.5)) return this.#send(admin);
    const command = anyCommand(this.#random, number);
    const plan = admin.plan(command.step);
    if (plan.outcome !== 'refused')
      this.#plans.push({ command, plan, admin, covered: coveredBy(command, admin.snapshot) });
    return undefined;
  }

  /** The service of a client that logs in; `undefined` if none does. */
  nextClient(): string | undefined {
    return this.#random.chance(0.3) ? this.#random.pick(['Sales', 'Reports']) : undefined;
  }

  #planSequence(admin: Admin, number: number): void {
    const asked = anySequence(this.#random, number);
    const planning = { ...asked.request, target: '/sequence?dry_run=true', principal: { name: 'planner' } };
    const remember = (plan: Shown): void => {
      const request: AdminRequest = { ...asked.request, target: `/sequence?mark=${plan.mark}` };
      this.#sequences.push({ ...asked, kind: `${asked.kind} with a mark`, request, plan });
    };
    // An interface that has died does not answer.
    void admin.handle(planning).then(
      (handled) => {
        if (handled.matched && handled.response.status === 200)
          remember(JSON.parse(handled.response.body as string) as Shown);
      },
      () => undefined,
    );
  }

  #send(admin: Admin): Asked {
    const at = this.#random.below(this.#plans.length);
    // Sometimes it stays, and is sent again.
    const [planned] = this.#random.chance(0.8) ? this.#plans.splice(at, 1) : [this.#plans[at]];
    if (planned === undefined) throw new RangeError('There is no such plan');
    const { command, plan } = planned;
    return {
      ...command,
      kind: `${command.kind} with a mark`,
      mark: plan.mark,
      judge: (execution) => {
        this.#judge(planned, execution, admin);
      },
    };
  }

  #judge(planned: Planned, execution: Execution, admin: Admin): void {
    const say = (text: string): void => {
      this.faults.push(`${planned.command.kind} with the mark ${planned.plan.mark}: ${text}`);
    };
    if (execution.outcome === 'accepted' || execution.outcome === 'refused') {
      for (const event of execution.events) for (const text of this.#strays(planned, event, admin)) say(text);
    }
    if (execution.outcome === 'accepted') {
      this.seen.accepted += 1;
      const left = openIn(admin.snapshot);
      for (const each of planned.covered) if (left.has(each)) say(`${each} was covered, and is still open`);
    }
    if (execution.outcome === 'unchanged') this.seen.unchanged += 1;
    if (execution.outcome !== 'refused' || execution.problem.code !== 'precondition-failed') return;
    this.seen.refused += 1;
    if (execution.events.length > 0) say('it was refused, and has events');
  }

  /** What an event says beyond the plan. */
  #strays({ plan, admin: planning, covered }: Planned, event: AdminEvent, admin: Admin): readonly string[] {
    const { type, resource } = event;
    if (type === 'command.failed') return [];
    const closed = closedBy(event);
    if (closed.length > 0 && planning !== admin) return ['it closes what an earlier life has shown'];
    const shown = plan.events.some((each) => saidBy(each) === saidBy(event));
    return [
      ...(shown ? [] : [`${type} of ${resource} was not shown`]),
      ...closed.filter((each) => !covered.has(each)).map((each) => `${each} was closed, and not covered`),
    ];
  }
}

/** The sessions and connections that an event closes. */
function closedBy(event: AdminEvent): readonly string[] {
  if (event.type === 'sessions.closed') return event.sessions.map(textOfSession);
  if (event.type === 'connections.closed') return event.connections.map(textOfConnection);
  return [];
}

const textOfSession = ({ id, connected }: { readonly id: number; readonly connected: number }): string =>
  `session ${String(id)} since ${String(connected)}`;

interface ConnectionIdentity {
  readonly session: number;
  readonly connected: number;
  readonly id: number;
}

const textOfConnection = ({ session, connected, id }: ConnectionIdentity): string =>
  `connection ${String(id)} of session ${String(session)} since ${String(connected)}`;

/** All that is open. */
function openIn(snapshot: Snapshot): ReadonlySet<string> {
  return new Set(
    [...snapshot.sessions].flatMap((session) => [
      textOfSession(session),
      ...session.connections.map(({ id }) =>
        textOfConnection({ session: session.id, connected: session.connected, id }),
      ),
    ]),
  );
}

/** What the plan of a command closes, by a decision without a mark. */
function coveredBy({ step }: ClientCommand, snapshot: Snapshot): ReadonlySet<string> {
  const decision = step(snapshot, { now: 0 });
  return new Set(decision.outcome === 'accepted' ? decision.events.flatMap(closedBy) : []);
}

/** What an event says, without what differs each time it is decided, and without those whom it closes. */
export function saidBy(event: Json | AdminEvent): string {
  const { type, resource, before = {}, after = {} } = event as Readonly<Record<string, Settings>>;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return JSON.stringify([
    type,
    resource,
    names.map((name) => [name, before[name], after[name]]).filter(isChanged),
  ]);
}

type Settings = Readonly<Record<string, unknown>>;

function isChanged([, before, after]: readonly unknown[]): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}
