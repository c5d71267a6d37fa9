/**
 * The gateway of an audit: an opened port with an interface and clients, and the calls that a check needs.
 */
import {
  createAdmin,
  nameKey,
  resolveLink,
  systemClock,
  type Admin,
  type Effect,
  type EffectOf,
  type GatewayPort,
  type HostReport,
  type Listener,
  type Service,
  type Session,
  type Snapshot,
} from '../../index.ts';
import type { AuditedEffect } from './audited-effect.ts';

/**
 * A gateway that a host has opened for an audit. If it has `Symbol.asyncDispose`, it is disposed of at the end.
 *
 * @beta
 */
export type AuditedGateway = GatewayPort & Partial<AsyncDisposable>;

/**
 * A client of an audited gateway.
 *
 * @beta
 */
export interface AuditClient {
  /** Whether the client still has its connection to the gateway, as the client sees the connection. */
  isConnected(): boolean;
  /** Ends the connection, as a client that leaves. */
  disconnect(): void;
}

/**
 * The options of `gatewayAudits`.
 *
 * @beta
 */
export interface GatewayAuditOptions<Gateway extends AuditedGateway> {
  /**
   * Connects a client to a service of the opened gateway, at one of the listeners of the given service. The gateway must
   * report the session of the client with its connections, and has a second for each report. Rejects if the gateway does
   * not take the client, because the service is stopped, the listener is gone, or no server takes new sessions.
   *
   * With this function the audits close the sessions and connections of real clients, and look at the clients and at the
   * reports of the gateway. Without it the audits close the sessions of the document, and know only what `inspect`
   * answers.
   */
  readonly connect?: (service: Service, gateway: Gateway) => Promise<AuditClient>;
  /**
   * Puts an obstacle in the way of the start of a stopped service, for example takes its port. Resolves to the function that
   * removes the obstacle.
   *
   * With this function an audit looks whether a gateway that goes on trying answers `in-place`. A gateway that tries again
   * should do so several times a second.
   */
  readonly obstruct?: (service: Service, gateway: Gateway) => Promise<() => Promise<void>>;
}

/** How a host opens a gateway and connects clients. @internal */
export interface Host<Gateway extends AuditedGateway> extends GatewayAuditOptions<Gateway> {
  /** The initial state of the gateway. */
  readonly snapshot: Snapshot;
  readonly open: (admin: Admin) => Promise<Gateway>;
}

/** An opened gateway with its interface and its clients. @internal */
export interface OpenedGateway {
  readonly admin: Admin;
  readonly gateway: GatewayPort;
  /** Left out if the host connects no clients. */
  readonly clients?: Clients;
  /** All reports of the gateway up to now, in their order. */
  readonly reports: readonly HostReport[];
  /** Obstructs the start of a service; `undefined` if the host cannot. */
  readonly obstruct: ((service: Service) => Promise<() => Promise<void>>) | undefined;
}

/** What tells a session from every other one. */
type SessionIdentity = Pick<Session, 'id' | 'connected'>;

/** A client with its session, as the gateway has reported the session. @internal */
export interface ConnectedClient extends SessionIdentity {
  readonly client: AuditClient;
  /** The service that the client has connected to. */
  readonly service: Service;
}

/** The clients of a gateway. */
interface Clients {
  readonly all: readonly ConnectedClient[];
  /** Connects one more client to a started service; waits a little if there is none as at the beginning. */
  readonly connectAnother: () => Promise<unknown>;
  /** Whether the gateway takes a client at a listener of a service. The client leaves again. */
  readonly isTaken: (service: Service) => Promise<boolean>;
  /** The same of a client that stays. Does not wait for the report of its session. */
  readonly enter: (service: Service) => Promise<boolean>;
}

/** The calls of the gateway that a check needs. @internal */
export interface Calls {
  /** Applies an effect, and lets the interface settle the effect. */
  readonly apply: (effect: Effect) => Promise<void>;
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
   * Expects that the gateway takes a client at each of the listeners exactly if the interface shows the listener, and its service
   * as started.
   */
  readonly expectEntries: (service: string, listeners: readonly Listener[], when: string) => Promise<void>;
  /**
   * Applies the stop of a service while clients connect to the service. Expects that no session of the service is reported after
   * `apply` has resolved.
   */
  readonly applyDuringArrivals: (effect: EffectOf<'service.stop'>) => Promise<void>;
  /** Connects clients to the started services that list a server. Expects that their sessions do not use the server. */
  readonly expectAvoided: (server: string, when: string) => Promise<void>;
  /** Expects that no client was disconnected, and that the end of no session was reported. */
  readonly expectSessions: (when: string) => Promise<void>;
}

/** The time in which a client sees the end of its connection, and in which a gateway reports a change. */
const patienceMs = 1000;
const pauseMs = 10;

/**
 * The time in which a gateway does what it must not do, and in which clients see the end of their connections if no other client
 * can connect meanwhile.
 *
 * @internal
 */
export const restMs = 100;

/** The number of clients that are on their way to a service while the service stops. */
const arrivals = 3;

/** The longest pause before `inspect` is asked again because it has rejected. The pauses double. */
const longestPauseMs = 320;

/** The services to which clients connect: twice to the first started service, once to the second. @internal */
export function clientServices({ services }: Snapshot): readonly Service[] {
  const [first, second = first] = [...services].filter(({ state }) => state === 'started');
  return first === undefined || second === undefined ? [] : [first, first, second];
}

/** Opens a gateway with its clients, and disposes of the gateway after the check. @internal */
export async function withGateway<Gateway extends AuditedGateway>(
  { snapshot, open, connect, obstruct }: Host<Gateway>,
  check: (opened: OpenedGateway) => unknown,
): Promise<void> {
  // The audit calls the port itself. The interface only settles what the port has applied.
  const settled: GatewayPort = {
    supports: ['create', 'delete', 'drain'],
    apply: () => Promise.resolve(),
    inspect: () => Promise.resolve('in-place'),
  };
  const admin = createAdmin({ snapshot, gateway: settled });
  const reports: HostReport[] = [];
  const gateway = await open(watched(admin, reports));
  try {
    await check({
      admin,
      gateway,
      reports,
      ...(connect === undefined ? {} : { clients: await connectClients(admin, gateway, connect) }),
      obstruct: obstruct && ((service) => obstruct(service, gateway)),
    });
  } finally {
    await gateway[Symbol.asyncDispose]?.();
    await admin.close();
  }
}

/** The interface, which notes all reports. A report that changes nothing makes no event. */
function watched(admin: Admin, noted: HostReport[]): Admin {
  const report = admin.report.bind(admin);
  return Object.assign(admin, {
    report: (reports: Parameters<Admin['report']>[0]) => {
      noted.push(...[reports].flat());
      report(reports);
    },
  });
}

async function connectClients<Gateway extends AuditedGateway>(
  admin: Admin,
  gateway: Gateway,
  connect: NonNullable<GatewayAuditOptions<Gateway>['connect']>,
): Promise<Clients> {
  const connectTo = async (service: Service): Promise<ConnectedClient> => {
    const before = [...admin.snapshot.sessions];
    const client = await connect(service, gateway);
    const session = await eventually(() =>
      [...admin.snapshot.sessions].find((each) => !before.some((old) => isSame(old, each))),
    );
    if (session !== undefined) return { client, service, id: session.id, connected: session.connected };
    throw new Error(`the gateway must report the session of a client that connects to ${service.name}`);
  };
  const all: ConnectedClient[] = [];
  for (const service of clientServices(admin.snapshot)) all.push(await connectTo(service));
  const connectAnother = (): Promise<unknown> => {
    const service = clientServices(admin.snapshot).find(({ key, listeners }) =>
      all.some((one) => one.service.key === key && one.service.listeners === listeners),
    );
    return service === undefined ? systemClock.sleep(restMs) : connectTo(service);
  };
  const isTaken = async (service: Service): Promise<boolean> => {
    const client = await connect(service, gateway);
    client.disconnect();
    return true;
  };
  return {
    all,
    connectAnother,
    isTaken: (service) => within(isTaken(service)),
    enter: (service) => within(connect(service, gateway).then(() => true)),
  };
}

/** Whether something succeeds before the patience ends. */
async function within(success: Promise<boolean>): Promise<boolean> {
  const over = new AbortController();
  const late = systemClock.sleep(patienceMs, over.signal).then(() => false);
  return Promise.race([success.catch(() => false), late]).finally(() => {
    over.abort();
  });
}

/** Looks until there is something to see; `undefined` if there is nothing for too long. @internal */
export async function eventually<T>(look: () => T | undefined, mostMs = patienceMs): Promise<T | undefined> {
  for (let waited = 0; waited < mostMs; waited += pauseMs) {
    const seen = look();
    if (seen !== undefined) return seen;
    await systemClock.sleep(pauseMs);
  }
  return look();
}

/** Whether two sessions are the same one. @internal */
export function isSame(one: SessionIdentity, other: SessionIdentity): boolean {
  return one.id === other.id && one.connected === other.connected;
}

/** The calls for the audit of one effect. @internal */
export function callsFor(
  audited: AuditedEffect,
  { admin, gateway, clients, obstruct }: OpenedGateway,
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
    async applyAborted(effect) {
      const deadline = new AbortController();
      const done = call(effect, deadline);
      deadline.abort(new Error('The deadline for the effect has passed'));
      const outcome = await done.then(() => 'done' as const, outcomeOf);
      if (outcome === 'done') await settleOnce(effect);
      return outcome;
    },
    ...startCalls(call, { admin, obstruct }),
    async answerOf(effect) {
      for (let waitMs = pauseMs; waitMs <= longestPauseMs; waitMs *= 2) {
        try {
          return await inspect(effect);
        } catch {
          await systemClock.sleep(waitMs);
        }
      }
      return undefined;
    },
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
        if (clients === undefined || service.state !== 'started' || !isUsed) continue;
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
        const expected = isThere && service.state === 'started' ? 'taken' : 'refused';
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
      return call(effect, deadline)
        .then(() => 'done' as const, outcomeOf)
        .finally(() => {
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
  return error instanceof Error && 'code' in error && error.code === 'effect-refused' ? 'refused' : 'unclear';
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
  await connectAnother();
  for (const { client, ...session } of all) {
    if (!isClosed(session) && !client.isConnected())
      throw new Error(`the client of session ${String(session.id)} must stay connected ${when}`);
  }
}

/** Waits until a client is disconnected; `false` if it stays connected. */
async function isGone(client: AuditClient): Promise<boolean> {
  return (await eventually(() => (client.isConnected() ? undefined : true))) === true;
}

/** Expects that the sessions of connected clients are shown. @internal */
export function expectReported({ snapshot }: Admin, clients: readonly ConnectedClient[]): void {
  const gone = clients.find((each) => !isShown(snapshot, each));
  if (gone === undefined) return;
  throw new Error(
    `the gateway must not report the end of session ${String(gone.id)}, whose client is connected`,
  );
}

/** Whether a snapshot has a session. @internal */
export function isShown({ sessions }: Snapshot, { id, connected }: SessionIdentity): boolean {
  return sessions.find(id)?.connected === connected;
}

/** What an effect is about, for messages. @internal */
export function textOf({ type, resource }: Effect): string {
  return `${type} of ${resource}`;
}
