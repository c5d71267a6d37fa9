/**
 * The calls that a check needs: of the port of an opened gateway, and of its clients. Each `expect…` throws if the
 * gateway behaves otherwise.
 */
import {
  nameKey,
  systemClock,
  type Effect,
  type EffectOf,
  type Listener,
  type Session,
  type Snapshot,
} from '../../index.ts';
import type { AuditedEffect } from './audited-effect.ts';
import {
  BrokenRuleError,
  eventually,
  expectReported,
  isSame,
  isShown,
  linkedServers,
  patienceMs,
  pauseMs,
  restMs,
  runs,
  timely,
  type AuditClient,
  type Clients,
  type OpenedGateway,
  type SessionIdentity,
} from './audited-gateway.ts';

/** The calls of the gateway that a check needs. @internal */
export interface Calls {
  /** Applies an effect, and lets the interface settle the effect. */
  readonly apply: (effect: Effect) => Promise<void>;
  /** The same, with looks at the gateway as soon as the call has begun. */
  readonly applyWatched: (effect: Effect, look: () => Promise<void>) => Promise<void>;
  /** The same; `false` if the gateway refuses the effect. */
  readonly applyIfTaken: (effect: Effect) => Promise<boolean>;
  /** Applies an effect, and aborts the signal during the call. */
  readonly applyAborted: (effect: Effect) => Promise<'done' | 'refused' | 'unclear'>;
  /** Applies an effect that is obstructed, and aborts the signal if the call takes long. */
  readonly applyObstructed: (effect: Effect) => Promise<'done' | 'refused' | 'unclear'>;
  /**
   * Obstructs the start of a service, at its last listener: a start opens the others first. Resolves to the function
   * that removes the obstacle.
   */
  readonly obstruct: (service: string) => Promise<() => Promise<void>>;
  /** Asks `inspect` until it answers; `undefined` if it rejects for too long. */
  readonly answerOf: (effect: Effect) => Promise<unknown>;
  /** Asks `inspect` once; `undefined` if it rejects. */
  readonly look: (effect: Effect) => Promise<unknown>;
  readonly expect: (effect: Effect, answer: 'in-place' | 'not-in-place', when: string) => Promise<void>;
  /** Applies an effect that must be refused, for a reason that ends the sentence of the message. */
  readonly expectRefusal: (effect: Effect, why: string) => Promise<void>;
  /** Expects that the clients of the given sessions are disconnected, and that all others are still connected. */
  readonly expectClients: (closed: readonly SessionIdentity[], when: string) => Promise<void>;
  /**
   * Expects that the gateway takes a client at each of the listeners exactly if the interface shows the listener, and
   * its service as started.
   */
  readonly expectEntries: (service: string, listeners: readonly Listener[], when: string) => Promise<void>;
  /**
   * Applies the stop of a service while clients connect to the service. Expects that no session of the service is
   * reported after `apply` has resolved.
   */
  readonly applyDuringArrivals: (effect: EffectOf<'service.stop'>) => Promise<void>;
  /** Connects clients to the started services that list a server. Expects that their sessions do not use the server. */
  readonly expectAvoided: (server: string, when: string) => Promise<void>;
  /** Expects that no status is reported of a server that this monitor alone looks at. */
  readonly expectSilence: (monitor: string, when: string) => Promise<void>;
  /** Applies the start of a monitor. Expects that the status of each of these servers is reported then. */
  readonly applyAndHear: (effect: Effect, servers: readonly string[]) => Promise<void>;
  /** Expects that no client was disconnected, and that the end of no session was reported. */
  readonly expectSessions: (when: string) => Promise<void>;
  /** The connections that the interface shows. */
  readonly connections: () => readonly OpenConnection[];
  /** Expects that the interface still shows some connections. */
  readonly expectConnections: (open: readonly OpenConnection[], when: string) => void;
  /** Expects that the ends of all that an effect has closed are reported. */
  readonly expectEnds: (effect: Effect) => Promise<void>;
  /** Expects that a service with as many sessions as its limit allows takes no client. */
  readonly expectLimit: (service: string, limit: number, when: string) => Promise<void>;
  /** Expects that a service that takes no client is shown as failed, and in the end as started. */
  readonly expectFailed: (service: string) => Promise<void>;
  readonly expectRecovered: (service: string) => Promise<void>;
}

/** A connection of a session, as the interface shows it. */
interface OpenConnection {
  readonly session: number;
  readonly connected: number;
  readonly id: number;
  readonly server: string;
}

/** The number of clients that are on their way to a service while the service stops. */
const arrivals = 3;

/** How long the audits wait for a monitor that goes on, in milliseconds. */
const longestSilenceMs = 1000;

/** The longest pause before `inspect` is asked again because it has rejected. The pauses double. */
const longestPauseMs = 320;

/** Asks the gateway whether an effect is in place. */
type Ask = (effect: Effect) => Promise<unknown>;

/** The calls for the audit of one effect. @internal */
export function callsFor(audited: AuditedEffect, opened: OpenedGateway): Calls {
  const { gateway } = opened;
  // Async functions, so that an error thrown by the port becomes a rejection.
  const call: Call = async (effect, { signal }) =>
    gateway.apply(effect, { commandId: commandOf(audited, effect), signal });
  const inspect = async (effect: Effect): Promise<unknown> =>
    gateway.inspect(effect, { commandId: commandOf(audited, effect), signal: new AbortController().signal });
  const ask: Ask = (effect) => timely(inspect(effect), `inspect must answer for ${textOf(effect)}`);
  const applied = applier(audited, opened, call);
  return {
    ...applyCalls(applied),
    ...startCalls(applied, ask, opened),
    ...inspectCalls(ask),
    ...shownCalls(opened),
    ...monitorCalls(opened, applied),
    ...clientCalls(opened),
    ...arrivalCalls(call, opened),
  };
}

/** The calls of `apply`. */
function applyCalls(
  applied: Apply,
): Pick<Calls, 'apply' | 'applyWatched' | 'applyIfTaken' | 'applyAborted' | 'expectRefusal'> {
  const outcomeOf = (effect: Effect, manner?: Manner): Promise<Outcome> =>
    applied(effect, manner).then(() => 'done', outcomeBy);
  const applyDone = (effect: Effect, manner?: Manner): Promise<void> =>
    applied(effect, manner).catch((error: unknown) => {
      throw orBroken(error, `apply must resolve for ${textOf(effect)}, but failed`);
    });
  return {
    apply: (effect) => applyDone(effect),
    applyWatched: (effect, look) => applyDone(effect, { around: (done) => Promise.all([done, look()]) }),
    applyIfTaken: async (effect) => (await outcomeOf(effect)) === 'done',
    applyAborted: (effect) => outcomeOf(effect, { deadline: { afterMs: 0, patienceMs } }),
    async expectRefusal(effect, why) {
      const outcome = await outcomeOf(effect);
      if (outcome === 'refused') return;
      const instead = outcome === 'done' ? 'resolved' : 'rejected with another error';
      throw new Error(
        `apply must refuse ${textOf(effect)} with an EffectRefusedError ${why}, but ${instead}`,
      );
    },
  };
}

/** The calls for the audit of a start that is obstructed. */
function startCalls(
  applied: Apply,
  ask: Ask,
  { admin, obstruct }: OpenedGateway,
): Pick<Calls, 'applyObstructed' | 'obstruct'> {
  return {
    async applyObstructed(effect) {
      let outcome: Outcome = 'done';
      const deadline = { afterMs: patienceMs, patienceMs: 2 * patienceMs };
      const settle = async (error: unknown): Promise<void> => {
        outcome = outcomeBy(error);
        // Unless it is not in place, the gateway may go on trying, and report that to an interface that knows of it.
        if (outcome === 'refused' || (await answerOf(ask, effect)) === 'not-in-place') throw error;
      };
      await applied(effect, { deadline, around: (done) => done.catch(settle) }).catch(outcomeBy);
      return outcome;
    },
    async obstruct(service) {
      const found = admin.snapshot.services.find(service);
      if (found === undefined) throw new Error('There is nothing to obstruct');
      return obstruct({ ...found, listeners: found.listeners.slice(-1) });
    },
  };
}

/** The calls of `inspect`. */
function inspectCalls(ask: Ask): Pick<Calls, 'answerOf' | 'look' | 'expect'> {
  return {
    answerOf: (effect) => answerOf(ask, effect),
    look: (effect) =>
      ask(effect).catch((error: unknown) => {
        if (error instanceof BrokenRuleError) throw error;
      }),
    async expect(effect, answer, when) {
      const rule = `inspect must answer "${answer}" for ${textOf(effect)} ${when}`;
      const seen = await ask(effect).catch((error: unknown) => {
        throw orBroken(error, `${rule}, but rejected`);
      });
      if (seen !== answer) throw new Error(`${rule}, not "${String(seen)}"`);
    },
  };
}

/** When the signal of a call aborts, and how long the call may take in all. */
interface Deadline {
  readonly afterMs: number;
  readonly patienceMs: number;
}

type Outcome = 'done' | 'refused' | 'unclear';

/** How an effect is applied. */
interface Manner {
  readonly deadline?: Deadline;
  /** Gets the call, and gives what counts as the call: it may do more meanwhile, or decide about a failure. */
  readonly around?: (call: Promise<void>) => Promise<unknown>;
}

type Apply = (effect: Effect, manner?: Manner) => Promise<void>;

/** The first application of an effect is the command of the interface that settles the effect, if there is one. */
function applier({ settlements }: AuditedEffect, { during }: OpenedGateway, call: Call): Apply {
  const settled = new Set<Effect>();
  return async (effect, { deadline, around = (done: Promise<void>) => done }: Manner = {}) => {
    const work = async (): Promise<void> => {
      await around(calledBy(call, effect, deadline));
    };
    const transition = settled.has(effect) ? undefined : settlements?.get(effect);
    if (transition === undefined) return work();
    await during(transition, work);
    settled.add(effect);
  };
}

/** Calls `apply`, and waits no longer than that may take. */
async function calledBy(call: Call, effect: Effect, deadline: Deadline | undefined): Promise<void> {
  const controller = new AbortController();
  if (deadline === undefined)
    return timely(call(effect, controller), `apply must resolve or reject for ${textOf(effect)}`);
  const { afterMs, patienceMs: mostMs } = deadline;
  const [done, settled] = [call(effect, controller), new AbortController()];
  const abort = (): void => {
    controller.abort(new Error('The deadline for the effect has passed'));
  };
  if (afterMs === 0) abort();
  else void systemClock.sleep(afterMs, settled.signal).then(abort);
  const rule = `apply must settle when its signal aborts for ${textOf(effect)}`;
  try {
    await timely(done, rule, mostMs);
  } catch (error) {
    throw codeOf(error) === 'apply-unsettled' ? new BrokenRuleError(`${rule}, but has not`) : error;
  } finally {
    settled.abort();
  }
}

/** The error of a call that must not fail. */
function orBroken(error: unknown, rule: string): Error {
  return error instanceof BrokenRuleError ? error : new Error(`${rule}: ${String(error)}`, { cause: error });
}

/** @throws BrokenRuleError if that is the error */
function outcomeBy(error: unknown): 'refused' | 'unclear' {
  if (error instanceof BrokenRuleError) throw error;
  return codeOf(error) === 'effect-refused' ? 'refused' : 'unclear';
}

/** Asks until there is an answer; `undefined` after too many failures. */
async function answerOf(ask: Ask, effect: Effect): Promise<unknown> {
  for (let waitMs = pauseMs; waitMs <= longestPauseMs; waitMs *= 2) {
    try {
      return await ask(effect);
    } catch (error) {
      if (error instanceof BrokenRuleError) throw error;
      await systemClock.sleep(waitMs);
    }
  }
  return undefined;
}

/** The looks at what the interface shows. */
function shownCalls({
  admin,
}: OpenedGateway): Pick<Calls, 'connections' | 'expectConnections' | 'expectEnds' | 'expectRecovered'> {
  const isShownOn = (each: OpenConnection): boolean =>
    connectionsIn(admin.snapshot).some((other) => isSameConnection(each, other));
  return {
    connections: () => connectionsIn(admin.snapshot),
    expectConnections(open, when) {
      const gone = open.find((each) => !isShownOn(each));
      if (gone === undefined) return;
      throw new Error(
        `the gateway must not close connection ${String(gone.id)} of session ${String(gone.session)} to "${gone.server}" ${when}`,
      );
    },
    async expectEnds(effect) {
      const sessions = effect.type === 'sessions.close' ? effect.sessions : [];
      const connections =
        effect.type === 'connections.close'
          ? effect.connections.map((each) => ({ ...each, server: effect.server }))
          : [];
      const open = (): string | undefined => {
        const session = sessions.find((each) => isShown(admin.snapshot, each));
        if (session !== undefined) return `session ${String(session.id)}`;
        const connection = connections.find(isShownOn);
        return connection && `connection ${String(connection.id)} of session ${String(connection.session)}`;
      };
      if ((await eventually(() => (open() === undefined ? true : undefined))) !== undefined) return;
      throw new Error(
        `the gateway must report the end of ${String(open())} within a second after ${textOf(effect)}`,
      );
    },
    async expectRecovered(key) {
      const hasFailed = (): boolean => admin.snapshot.services.find(key)?.seen.state === 'failed';
      if ((await eventually(() => (hasFailed() ? undefined : true))) !== undefined) return;
      throw new Error(
        `the gateway must report service "${key}" as started within a second after it can start, because the gateway tries again`,
      );
    },
  };
}

function connectionsIn({ sessions }: Snapshot): readonly OpenConnection[] {
  return [...sessions].flatMap(({ id: session, connected, connections }) =>
    connections.map(({ id, server }) => ({ session, connected, id, server })),
  );
}

function isSameConnection(one: OpenConnection, other: OpenConnection): boolean {
  const names = ['session', 'connected', 'id', 'server'] as const;
  return names.every((name) => one[name] === other[name]);
}

/** The looks at the reports about servers. */
function monitorCalls(
  { admin, reports }: OpenedGateway,
  applied: Apply,
): Pick<Calls, 'expectSilence' | 'applyAndHear'> {
  const reportOf = (servers: readonly string[], after: number): string | undefined => {
    const found = reports
      .slice(after)
      .find((each) => each.type === 'server.reported' && servers.includes(nameKey(each.server)));
    return found?.type === 'server.reported' ? found.server : undefined;
  };
  return {
    async expectSilence(monitor, when) {
      const looked = serversOf(admin.snapshot, monitor);
      const { length } = reports;
      await systemClock.sleep(Math.min(longestSilenceMs, looked.interval * 1.5 + restMs));
      const server = reportOf(looked.servers, length);
      if (server === undefined) return;
      throw new Error(
        `the gateway must report nothing of "${server}" ${when}, because no other monitor looks at it`,
      );
    },
    async applyAndHear(effect, servers) {
      const { length } = reports;
      await applied(effect);
      for (const server of servers) {
        if ((await eventually(() => reportOf([server], length))) !== undefined) continue;
        throw new Error(
          `the gateway must report the status of "${server}" within a second after ${textOf(effect)}`,
        );
      }
    },
  };
}

/** The calls for the audit of drains, which look at clients that arrive; nothing is expected without clients. */
function arrivalCalls(
  call: Call,
  { admin, clients }: OpenedGateway,
): Pick<Calls, 'applyDuringArrivals' | 'expectAvoided'> {
  const notAmong =
    (known: Iterable<Session>) =>
    (session: Session): boolean =>
      ![...known].some((each) => isSame(each, session));
  return {
    async applyDuringArrivals(effect) {
      const service = admin.snapshot.services.find(effect.service);
      if (clients === undefined || service === undefined) return;
      const inService = (): readonly Session[] =>
        [...admin.snapshot.sessions].filter((session) => session.service === service.key);
      const before = inService();
      const arriving = [clients.enter(service)];
      await arriving[0];
      // Of these, some have got further than others when the stop comes.
      for (let count = 0; count < arrivals; count += 1) {
        arriving.push(clients.enter(service));
        await systemClock.sleep(0);
      }
      await calledBy(call, effect, undefined);
      const reported = inService();
      const taken = (await Promise.all(arriving)).filter(Boolean).length;
      await eventually(() => (inService().length >= before.length + taken ? true : undefined));
      const late = inService().find(notAmong(reported));
      if (late === undefined) return;
      throw new Error(
        `the gateway must report session ${String(late.id)} before apply resolves for ${textOf(effect)}, not after that`,
      );
    },
    async expectAvoided(server, when) {
      for (const service of admin.snapshot.services) {
        const isUsed = linkedServers(admin.snapshot, service.settings.servers).some(
          ({ key }) => key === server,
        );
        if (clients === undefined || !runs(service) || !isUsed) continue;
        const isNew = notAmong([...admin.snapshot.sessions]);
        if (!(await clients.enter(service))) continue;
        const used = await eventually(() => {
          const connections = [...admin.snapshot.sessions].filter(isNew).flatMap((each) => each.connections);
          return connections.length === 0 ? undefined : connections;
        });
        if (used?.some((connection) => connection.server === server) !== true) continue;
        throw new Error(
          `the gateway must give no new session of ${service.name} to the server "${server}" ${when}, but did`,
        );
      }
    },
  };
}

/** The looks at the clients; nothing is expected without clients. */
function clientCalls({
  admin,
  clients,
}: OpenedGateway): Pick<
  Calls,
  'expectClients' | 'expectEntries' | 'expectSessions' | 'expectLimit' | 'expectFailed'
> {
  return {
    async expectLimit(key, limit, when) {
      const { services, sessions } = admin.snapshot;
      const service = services.find(key);
      const count = sessions.countOfService(key);
      if (clients === undefined || service === undefined || !runs(service) || count < limit) return;
      const why = `${when}, because ${String(count)} are connected and max_connection is ${String(limit)}`;
      if (await clients.isTaken(service))
        throw new Error(`the gateway must take no client of ${service.name} ${why}`);
      for (const { service: other } of clients.all) {
        const { max_connection: most = 0 } = other.settings;
        const isFull = most > 0 && sessions.countOfService(other.key) >= most;
        if (other.key === key || isFull || (await clients.isTaken(other))) continue;
        throw new Error(
          `the gateway must take a client of ${other.name} ${when}: the limit is that of ${service.name} alone`,
        );
      }
    },
    async expectFailed(key) {
      const service = admin.snapshot.services.find(key);
      if (clients === undefined || service === undefined) return;
      const hasFailed = (): boolean => admin.snapshot.services.find(key)?.seen.state === 'failed';
      const [last] = service.listeners.slice(-1);
      const isOpen = async (): Promise<boolean> =>
        last === undefined || clients.isTaken({ ...service, listeners: [last] });
      if (hasFailed() || (await isOpen()) || (await eventually(() => hasFailed() || undefined)) === true)
        return;
      throw new Error(
        `the gateway must report service "${key}" as failed within a second, because apply has resolved and the service takes no client`,
      );
    },
    async expectEntries(key, listeners, when) {
      const service = admin.snapshot.services.find(key);
      if (clients === undefined || service === undefined) return;
      for (const listener of listeners) {
        const isThere = service.listeners.some(({ name }) => nameKey(name) === nameKey(listener.name));
        const expected = isThere && runs(service) ? 'taken' : 'refused';
        const seen = (await clients.isTaken({ ...service, listeners: [listener] })) ? 'taken' : 'refused';
        if (seen === expected) continue;
        const where = `the listener "${listener.name}" of ${service.name}`;
        throw new Error(`a client that connects to ${where} must be ${expected} ${when}, but was ${seen}`);
      }
    },
    async expectClients(closed, when) {
      if (clients !== undefined) await expectClients(clients, closed, when);
    },
    async expectSessions(when) {
      if (clients === undefined) return;
      await expectClients(clients, [], when);
      expectReported(admin, clients.all);
    },
  };
}

/** Calls `apply`. */
type Call = (effect: Effect, deadline: AbortController) => Promise<void>;

/** The id of the command of an effect. An effect and its inverse share a command; every other effect has its own. */
function commandOf({ effect, inverse }: AuditedEffect, asked: Effect): string {
  const own = asked === inverse ? effect : asked;
  // Changes of two settings are two commands.
  return `audit of ${textOf(own)}, ${settingOf(own)}`;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The servers at which a monitor looks, and no other started one; and how often it looks, in milliseconds. */
function serversOf(
  snapshot: Snapshot,
  key: string,
): { readonly servers: readonly string[]; readonly interval: number } {
  const own = snapshot.monitors.find(key);
  const others = [...snapshot.monitors].filter((each) => each.key !== own?.key && each.state === 'started');
  const links = others.flatMap(({ settings }) => settings.servers);
  const watched = new Set(linkedServers(snapshot, links).map(({ key }) => key));
  const { servers = [], monitor_interval: interval = 0 } = own?.settings ?? {};
  const keys = linkedServers(snapshot, servers).map(({ key }) => key);
  return { servers: keys.filter((each) => !watched.has(each)), interval };
}

async function expectClients(
  { all, connectAnother }: Clients,
  closed: readonly SessionIdentity[],
  when: string,
): Promise<void> {
  const isClosed = (session: SessionIdentity): boolean => closed.some((each) => isSame(each, session));
  for (const { client, id } of all.filter(isClosed)) {
    if (!(await isGone(client)))
      throw new Error(`the client of session ${String(id)} must be disconnected ${when}`);
  }
  // A client sees the end of its connection later than the gateway. When another client is connected, all have seen it.
  await connectAnother().catch(() => systemClock.sleep(restMs));
  for (const { client, ...session } of all) {
    if (!isClosed(session) && !client.isConnected())
      throw new Error(`the client of session ${String(session.id)} must stay connected ${when}`);
  }
}

/** Waits until a client is disconnected; `false` if it stays connected. */
async function isGone(client: AuditClient): Promise<boolean> {
  return (await eventually(() => (client.isConnected() ? undefined : true))) === true;
}

/** What an effect is about, for messages. @internal */
export function textOf({ type, resource }: Effect): string {
  return `${type} of ${resource}`;
}

/** The settings that an update changes, in a sentence. @internal */
export function settingOf(effect: Effect): string {
  return 'operations' in effect ? Object.keys(effect.to).join(', ') : 'setting';
}
