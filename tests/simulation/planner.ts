/**
 * Clients that plan, wait, and send the command with the mark of its plan: what is done must be what was shown.
 */
import {
  redactSecrets,
  type Admin,
  type AdminEvent,
  type AdminRequest,
  type Effect,
  type Json,
  type Snapshot,
} from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import { wholeOf } from '../support/closing.ts';
import type { Answer, Asked, Closed, Shown } from './answer.ts';
import { withQuery } from '../contract/endpoint.ts';
import { anyRequest, type Requesting } from './asking.ts';
import { anyCommand, maintenanceCommand, type ClientCommand } from './command.ts';
import type { Heard } from './life.ts';

/** A command in the process whose plan a client was shown. */
interface Planned {
  readonly command: ClientCommand;
  readonly plan: Shown;
  /** The sessions and connections that the plan covers. */
  readonly covered: ReadonlySet<string>;
}

/** What the gateway was asked to close for a client. */
interface Closing extends Closed {
  /** The last revision at which one of them has opened. */
  readonly newest: number;
}

/** What happens between a plan and its command, and between a decision and its effects. */
type Between = (typeof happenings)[number];

const happenings = ['client', 'client', 'connection', 'connection', 'end', 'disconnect', 'status'] as const;

/** Plans that wait to be carried out. */
export class Planner {
  readonly faults: string[] = [];
  readonly random: Random;
  /** Whether the interface can keep the password of a service. */
  readonly #seals: boolean;
  readonly #plans: Planned[] = [];
  /** Requests that were planned. */
  readonly #requests: (Requesting & { readonly plan: Shown })[] = [];
  /** What was closed, by client. */
  readonly #closings = new Map<string, Closing>();

  constructor(random: Random, seals: boolean) {
    this.random = random;
    this.#seals = seals;
  }

  /** A client plans a command, or sends one that was planned before, in whatever life. */
  next(admin: Admin, number: number): Asked | undefined {
    const { random } = this;
    if (random.chance(0.3)) {
      this.#planRequest(admin, number);
      return undefined;
    }
    if (random.chance(0.3)) return this.#sendRequest();
    if (this.#plans.length > 0 && random.chance(0.5)) return this.#send(admin);
    const command = random.chance(0.1) ? maintenanceCommand(random) : anyCommand(random, number);
    const made = admin.plan(command.step);
    const { epoch, revision } = admin.snapshot;
    const plan = { ...made, epoch, revisions: [revision, revision] as const };
    if (plan.outcome !== 'refused')
      this.#plans.push({ command, plan, covered: coveredBy(command, admin.snapshot) });
    return undefined;
  }

  /** What happens before the next command. */
  between(): Between | undefined {
    return this.random.chance(0.4) ? this.random.pick(happenings) : undefined;
  }

  /** The gateway is asked for an effect. */
  note(effect: Effect, commandId: string, admin: Admin): void {
    const { actor } = admin.commands().find(({ id }) => id === commandId) ?? {};
    if (actor === undefined) return;
    const { sessions, connections, newest } = this.#closings.get(actor) ?? nothing;
    const more = closingOf(effect, admin.snapshot);
    this.#closings.set(actor, {
      sessions: sessions + more.sessions,
      connections: connections + more.connections,
      newest: Math.max(newest, more.newest),
    });
  }

  /** A client is answered. */
  hear({ asked, actor, answer }: Pick<Heard, 'asked' | 'actor' | 'answer'>): void {
    // What a drain closes is closed by its deadline, a command of its own that may come before the answer.
    const closing = asked.kind.startsWith('drain ') ? undefined : this.#closings.get(actor);
    const { sessions, connections, newest } = closing ?? nothing;
    const say = (text: string): void => {
      this.faults.push(`${asked.kind} of ${actor} ${text}`);
    };
    const said = answer.closed;
    if (said !== undefined && (said.sessions !== sessions || said.connections !== connections))
      say(
        `says that ${JSON.stringify(said)} were closed, and not ${JSON.stringify({ sessions, connections })}`,
      );
    const [, , , revision] = asked.plan?.mark.split('.') ?? [];
    if (revision !== undefined && newest > Number(revision)) say('closes what has opened since its plan');
    if (asked.isForeign === true && answer.outcome === 'done')
      say('was done with the mark of another command');
  }

  #planRequest(admin: Admin, number: number): void {
    const asked = anyRequest(this.random, number, this.#seals);
    const { target, headers } = asked.request;
    const planning = {
      ...asked.request,
      target: withQuery(target, 'dry_run=true'),
      principal: { name: 'planner' },
    };
    const prefer = this.random.chance(0.5) ? { prefer: 'return=representation' } : {};
    const { epoch, revision } = admin.snapshot;
    const remember = (made: Shown): void => {
      const request: AdminRequest = { ...asked.request, headers: { ...headers, ...prefer } };
      const plan = { ...made, epoch, revisions: [revision, admin.snapshot.revision] as const };
      this.#requests.push({ ...asked, kind: `${asked.kind} with a mark`, request, plan });
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

  /** Sends a request with the mark of its plan, or of the plan of another request. */
  #sendRequest(): Asked | undefined {
    const asked = this.#requests.shift();
    if (asked === undefined) return undefined;
    // Sometimes the answer is lost, and it is sent again.
    if (this.random.chance(0.2)) this.#requests.push(asked);
    const { plan, request } = asked;
    const marked = (mark: string): AdminRequest => ({
      ...request,
      target: withQuery(request.target, `mark=${mark}`),
    });
    const other = this.random.chance(0.2) ? this.#requests[0] : undefined;
    if (other === undefined || isSame(other, asked)) return { ...asked, request: marked(plan.mark) };
    const { plan: _, ...command } = asked;
    return { ...command, request: marked(other.plan.mark), isForeign: true };
  }

  #send(admin: Admin): Asked {
    const at = this.random.below(this.#plans.length);
    // Sometimes it stays, and is sent again.
    const [planned] = this.random.chance(0.8) ? this.#plans.splice(at, 1) : [this.#plans[at]];
    if (planned === undefined) throw new RangeError('There is no such plan');
    const { command, plan } = planned;
    return {
      ...command,
      kind: `${command.kind} with a mark`,
      mark: plan.mark,
      plan,
      judge: ({ outcome }) => {
        this.#judge(planned, outcome, admin);
      },
    };
  }

  #judge({ command, plan, covered }: Planned, outcome: Answer['outcome'], admin: Admin): void {
    if (outcome !== 'accepted') return;
    const left = openIn(admin.snapshot);
    for (const each of covered)
      if (left.has(each))
        this.faults.push(
          `${command.kind} with the mark ${plan.mark}: ${each} was covered, and is still open`,
        );
  }
}

const nothing: Closing = { sessions: 0, connections: 0, newest: 0 };

/** Whether two requests ask for the same. A mark binds no password. */
function isSame({ kind, request }: Requesting, other: Requesting): boolean {
  const [one, another] = [request, other.request];
  if (one.method !== another.method || one.target !== another.target) return false;
  return one.body === another.body || (kind.startsWith('password') && other.kind.startsWith('password'));
}

/** What is open of what an effect closes. */
function closingOf(effect: Effect, { sessions: table }: Snapshot): Closing {
  if (effect.type === 'sessions.close') {
    const open = effect.sessions.flatMap(({ id, connected }) => {
      const session = table.find(id);
      return session?.connected === connected ? [session] : [];
    });
    return {
      sessions: open.length,
      connections: open.reduce((sum, { connections }) => sum + connections.length, 0),
      newest: Math.max(0, ...open.map(({ opened }) => opened)),
    };
  }
  if (effect.type !== 'connections.close') return nothing;
  const open = effect.connections.flatMap(({ session: id, connected, id: own }) => {
    const session = table.find(id);
    if (session?.connected !== connected) return [];
    // On another server, it is another connection: a host may use the id again.
    return session.connections.filter((each) => each.id === own && each.server === effect.server);
  });
  return {
    ...{ sessions: 0, connections: open.length },
    newest: Math.max(0, ...open.map(({ opened }) => opened)),
  };
}

/** The sessions and connections that an event closes. */
function closedBy(event: AdminEvent): readonly string[] {
  if (event.type === 'sessions.closed') return event.sessions.map(textOfSession);
  if (event.type === 'connections.closed')
    return event.connections.map((each) => textOfConnection({ ...each, server: event.server }));
  return [];
}

const textOfSession = ({ id, connected }: { readonly id: number; readonly connected: number }): string =>
  `session ${String(id)} since ${String(connected)}`;

interface ConnectionIdentity {
  readonly session: number;
  readonly connected: number;
  readonly id: number;
  /** An id is used once for each server. */
  readonly server: string;
}

const textOfConnection = ({ session, connected, id, server }: ConnectionIdentity): string =>
  `connection ${String(id)} to ${server} of session ${String(session)} since ${String(connected)}`;

/** All that is open. */
function openIn(snapshot: Snapshot): ReadonlySet<string> {
  return new Set(
    [...snapshot.sessions].flatMap((session) => [
      textOfSession(session),
      ...session.connections.map(({ id, server }) =>
        textOfConnection({ session: session.id, connected: session.connected, id, server }),
      ),
    ]),
  );
}

/** What the plan of a command closes, by a decision without a mark. */
function coveredBy({ step }: ClientCommand, snapshot: Snapshot): ReadonlySet<string> {
  return new Set(wholeOf(step(snapshot, { now: 0 }), snapshot).events.flatMap(closedBy));
}

/** What an event says, without what differs each time it is decided, and without those whom it closes. */
export function saidBy(event: Json | AdminEvent): string {
  const said = redactSecrets(event);
  const { type, resource, ...update } = said as Readonly<Record<string, Settings>>;
  const [before, after] = [update['from'] ?? {}, update['to'] ?? {}].map(withDrainInParts);
  // In one order: an undo puts a member of a drain back behind the others.
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].toSorted();
  return JSON.stringify([
    type,
    resource,
    names.map((name) => [name, ...between(before?.[name], after?.[name])]).filter(isChanged),
  ]);
}

/** A plan shows how long a drain takes, not the instants, and of a drain what changes. */
function withDrainInParts({ drain, ...settings }: Settings): Settings {
  const { since: _since, until: _until, by: _by, ...parts } = (drain ?? {}) as Settings;
  return {
    ...settings,
    ...Object.fromEntries(Object.entries(parts).map(([name, value]) => [`drain ${name}`, value])),
  };
}

type Settings = Readonly<Record<string, unknown>>;

/** Both values; of the words of a status, those that go and those that come. */
function between(before: unknown, after: unknown): readonly unknown[] {
  if (!isStatus(before) || !isStatus(after)) return [before, after];
  return [before.filter((word) => !after.includes(word)), after.filter((word) => !before.includes(word))];
}

function isStatus(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => /^[a-z]+$/.test(String(word)));
}

function isChanged([, before, after]: readonly unknown[]): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}
