/**
 * The calls that a check needs: of the port of an opened gateway, and of its clients. Each `expect…` throws if the
 * gateway behaves otherwise.
 */
import {
  nameKey,
  resolveLink,
  systemClock,
  type Admin,
  type Effect,
  type EffectOf,
  type Listener,
  type Session,
  type Snapshot,
} from '../../index.ts';
import type { AuditedEffect } from './audited-effect.ts';
import {
  eventually,
  expectReported,
  isSame,
  patienceMs,
  pauseMs,
  restMs,
  runs,
  type AuditClient,
  type Clients,
  type OpenedGateway,
  type SessionIdentity,
} from './audited-gateway.ts';

/** The calls of the gateway that a check needs. @internal */
export interface Calls {
  /** Applies an effect, and lets the interface settle the effect. */
  readonly apply: (effect: Effect) => Promise<void>;
  /** The same; `false` if the gateway refuses the effect. */
  readonly applyIfTaken: (effect: Effect) => Promise<boolean>;
  /** Applies an effect, and aborts the signal during the call. */
  readonly applyAborted: (effect: Effect) => Promise<'done' | 'refused' | 'unclear'>;
  /** Applies an effect that is obstructed, and aborts the signal if the call takes long. */
  readonly applyObstructed: (effect: Effect) => Promise<'done' | 'refused' | 'unclear'>;
  /** Obstructs the start of a service. Resolves to the function that removes the obstacle. */
  readonly obstruct: (service: string) => Promise<() => Promise<void>>;
  /** Asks `inspect` until it answers; `undefined` if it rejects for too long. */
  readonly answerOf: (effect: Effect) => Promise<unknown>;
  readonly expect: (effect: Effect, answer: 'in-place' | 'not-in-place', when: string) => Promise<void>;
  /** Applies an effect that must be refused, because the gateway does not have the setting. */
  readonly expectRefusal: (effect: Effect, setting: string) => Promise<void>;
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
  /** The listeners of a service. */
  readonly listenersOf: (service: string) => readonly Listener[];
  /** Expects that no status is reported of a server that this monitor alone looks at. */
  readonly expectSilence: (monitor: string, when: string) => Promise<void>;
  /** Expects that no client was disconnected, and that the end of no session was reported. */
  readonly expectSessions: (when: string) => Promise<void>;
}

/** The number of clients that are on their way to a service while the service stops. */
const arrivals = 3;

/** How long the audits wait for a monitor that goes on, in milliseconds. */
const longestSilenceMs = 1000;

/** The longest pause before `inspect` is asked again because it has rejected. The pauses double. */
const longestPauseMs = 320;

/** The calls for the audit of one effect. @internal */
export function callsFor(
  audited: AuditedEffect,
  { admin, gateway, clients, obstruct, reports }: OpenedGateway,
): Calls {
  // An async function, so that an error thrown by the port becomes a rejection.
  const call: Call = async (effect, { signal }) =>
    gateway.apply(effect, { commandId: commandOf(audited, effect), signal });
  const inspect = async (effect: Effect): Promise<unknown> =>
    gateway.inspect(effect, { commandId: commandOf(audited, effect), signal: new AbortController().signal });
  const settled = new Set<Effect>();
  const settleOnce = async (effect: Effect): Promise<void> => {
    if (!settled.has(effect)) await settle(admin, audited, effect);
    settled.add(effect);
  };
  return {
    async apply(effect) {
      await call(effect, new AbortController()).catch((error: unknown) => {
        throw new Error(`apply must resolve for ${textOf(effect)}, but failed: ${String(error)}`, {
          cause: error,
        });
      });
      await settleOnce(effect);
    },
    async applyIfTaken(effect) {
      const outcome = await call(effect, new AbortController()).then(() => 'done' as const, outcomeOf);
      if (outcome === 'done') await settleOnce(effect);
      return outcome === 'done';
    },
    ...shownCalls({ admin, reports }),
    async applyAborted(effect) {
      const deadline = new AbortController();
      const done = call(effect, deadline);
      deadline.abort(new Error('The deadline for the effect has passed'));
      const outcome = await settledBy(done, effect);
      if (outcome === 'done') await settleOnce(effect);
      return outcome;
    },
    ...startCalls(call, { admin, obstruct }),
    answerOf: (effect) => answerOf(() => inspect(effect)),
    async expect(effect, answer, when) {
      const seen = await inspect(effect);
      if (seen === answer) return;
      throw new Error(`inspect must answer "${answer}" for ${textOf(effect)} ${when}, not "${String(seen)}"`);
    },
    async expectRefusal(effect, setting) {
      const outcome = await call(effect, new AbortController()).then(() => 'done' as const, outcomeOf);
      if (outcome === 'refused') return;
      const instead = outcome === 'done' ? 'resolved' : 'rejected with another error';
      throw new Error(
        `apply must refuse ${textOf(effect)} with the unknown setting "${setting}", but ${instead}`,
      );
    },
    ...clientCalls({ admin, clients }),
    ...arrivalCalls(call, { admin, clients }),
  };
}

/** Asks until there is an answer; `undefined` after too many failures. */
async function answerOf(ask: () => Promise<unknown>): Promise<unknown> {
  for (let waitMs = pauseMs; waitMs <= longestPauseMs; waitMs *= 2) {
    try {
      return await ask();
    } catch {
      await systemClock.sleep(waitMs);
    }
  }
  return undefined;
}

/** The looks at what the interface shows, and at the reports. */
function shownCalls({
  admin,
  reports,
}: Pick<OpenedGateway, 'admin' | 'reports'>): Pick<Calls, 'listenersOf' | 'expectSilence'> {
  return {
    listenersOf: (service) => admin.snapshot.services.find(service)?.listeners ?? [],
    async expectSilence(monitor, when) {
      const looked = serversOf(admin.snapshot, monitor);
      const { length } = reports;
      await systemClock.sleep(Math.min(longestSilenceMs, looked.interval * 1.5 + restMs));
      const later = reports
        .slice(length)
        .find((each) => each.type === 'server.reported' && looked.servers.includes(nameKey(each.server)));
      if (later?.type !== 'server.reported') return;
      throw new Error(
        `the gateway must report nothing of "${later.server}" ${when}, because no other monitor looks at it`,
      );
    },
  };
}

/** The calls for the audit of drains, which look at clients that arrive; nothing is expected without clients. */
function arrivalCalls(
  call: Call,
  { admin, clients }: ClientsOf,
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
      await call(effect, new AbortController());
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
        const isUsed = service.settings.servers.some((link) => isLinkOf(admin.snapshot, link, server));
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

function isLinkOf(snapshot: Snapshot, link: string, server: string): boolean {
  const found = resolveLink(snapshot, link);
  return found?.kind === 'server' && found.server.key === server;
}

/** An interface, and its clients if there are some. */
interface ClientsOf extends Pick<OpenedGateway, 'admin'> {
  readonly clients: Clients | undefined;
}

/** The looks at the clients; nothing is expected without clients. */
function clientCalls({
  admin,
  clients,
}: ClientsOf): Pick<Calls, 'expectClients' | 'expectEntries' | 'expectSessions'> {
  return {
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

/** The calls for the audit of a start that is obstructed. */
function startCalls(
  call: Call,
  { admin, obstruct }: Pick<OpenedGateway, 'admin' | 'obstruct'>,
): Pick<Calls, 'applyObstructed' | 'obstruct'> {
  return {
    async applyObstructed(effect) {
      const [deadline, answered] = [new AbortController(), new AbortController()];
      void systemClock.sleep(patienceMs, answered.signal).then(() => {
        deadline.abort(new Error('The deadline for the effect has passed'));
      });
      return settledBy(call(effect, deadline), effect, 2 * patienceMs).finally(() => {
        answered.abort();
      });
    },
    async obstruct(service) {
      const found = admin.snapshot.services.find(service);
      if (found === undefined || obstruct === undefined) throw new Error('There is nothing to obstruct');
      return obstruct(found);
    },
  };
}

/** The id of the command of an effect. An effect and its inverse share a command; every other effect has its own. */
function commandOf({ effect, inverse }: AuditedEffect, asked: Effect): string {
  return `audit of ${textOf(asked === inverse ? effect : asked)}`;
}

function outcomeOf(error: unknown): 'refused' | 'unclear' {
  return codeOf(error) === 'effect-refused' ? 'refused' : 'unclear';
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The outcome of an `apply` whose signal aborts, or has aborted. */
async function settledBy(
  done: Promise<void>,
  effect: Effect,
  mostMs = patienceMs,
): Promise<'done' | 'refused' | 'unclear'> {
  const settled = new AbortController();
  const outcome = done.then(
    () => 'done' as const,
    (error: unknown) => (codeOf(error) === 'apply-unsettled' ? 'unsettled' : outcomeOf(error)),
  );
  const late = systemClock.sleep(mostMs, settled.signal).then(() => 'unsettled' as const);
  const first = await Promise.race([outcome, late]);
  settled.abort();
  if (first !== 'unsettled') return first;
  throw new Error(`apply must settle when its signal aborts, but has not for ${textOf(effect)}`);
}

/** The servers at which a monitor looks, and no other started one; and how often it looks, in milliseconds. */
function serversOf(
  snapshot: Snapshot,
  key: string,
): { readonly servers: readonly string[]; readonly interval: number } {
  const keysOf = (links: readonly string[]): readonly string[] =>
    links.flatMap((link) => {
      const found = resolveLink(snapshot, link);
      return found?.kind === 'server' ? [found.server.key] : [];
    });
  const own = snapshot.monitors.find(key);
  const others = [...snapshot.monitors].filter((each) => each.key !== own?.key && each.state === 'started');
  const watched = new Set(others.flatMap(({ settings }) => keysOf(settings.servers)));
  const { servers = [], monitor_interval: interval = 0 } = own?.settings ?? {};
  return { servers: keysOf(servers).filter((each) => !watched.has(each)), interval };
}

/** Lets the interface settle an effect that the port has applied. */
async function settle(admin: Admin, { settlements }: AuditedEffect, effect: Effect): Promise<void> {
  const transition = settlements?.get(effect);
  if (transition === undefined) return;
  const execution = await admin.execute(transition);
  if (execution.outcome !== 'refused') return;
  throw new Error(`the interface must settle ${textOf(effect)}, but refused: ${execution.problem.detail}`);
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
