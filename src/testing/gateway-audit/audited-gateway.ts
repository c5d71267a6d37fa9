/**
 * The gateway of an audit: an opened port with an interface and clients.
 */
import {
  createAdmin,
  EffectRefusedError,
  ReportError,
  resolveLink,
  systemClock,
  type Admin,
  type GatewayPort,
  type HostReport,
  type Server,
  type Service,
  type Session,
  type Snapshot,
  type Transition,
} from '../../index.ts';

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
   * Connects a client to a service of the opened gateway, at one of the listeners of the given service. The gateway
   * must report the session of the client with its connections, and has a second for each report. Rejects if the
   * gateway does not take the client, because the service is stopped, the listener is gone, or no server takes new
   * sessions.
   *
   * With this function the audits close the sessions and connections of real clients, and look at the clients and at
   * the reports of the gateway. Without it the audits close the sessions of the document, and know only what `inspect`
   * answers.
   */
  readonly connect?: (service: Service, gateway: Gateway) => Promise<AuditClient>;
  /**
   * Puts an obstacle in the way of the start of a stopped service, for example takes its port. The service has its last
   * listener alone, so that the start fails after it has opened the others. Resolves to the function that removes the
   * obstacle.
   *
   * With this function an audit looks whether a gateway that goes on trying answers `in-place`. A gateway that tries
   * again should do so several times a second.
   */
  readonly obstruct?: (service: Service, gateway: Gateway) => Promise<() => Promise<void>>;
  /**
   * Takes a server away from the gateway, for example closes its port. Resolves to the function that brings it back.
   *
   * With this function an audit looks whether the gateway reports that the server is gone, and that it is back, each
   * within an interval of the monitor and a second.
   */
  readonly interrupt?: (server: Server, gateway: Gateway) => Promise<() => Promise<void>>;
  /**
   * What `supports` of the gateway lists. The list of audits is made before a gateway is opened, and has no audit of
   * what the gateway cannot do. Nothing if left out, as in a port. An audit rejects if the gateway lists others.
   */
  readonly supports?: GatewayPort['supports'];
  /**
   * The member `veto` of the gateway. The list has no audit of an effect that `veto` refuses on the document, such as
   * the flush of log files that the gateway does not have. A port of `createGatewayPort` answers before it is opened.
   */
  readonly veto?: GatewayPort['veto'];
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
  /**
   * Executes a command on the interface while the audit calls the port, so that the interface shows the change when the
   * call is done. Drops the command if the call rejects, and rejects with the same error.
   */
  readonly during: (transition: Transition, call: () => Promise<void>) => Promise<void>;
  /** The reports that the interface has refused up to now, as errors. */
  readonly faults: readonly ReportError[];
  readonly gateway: GatewayPort;
  /** The time just before the gateway was opened. */
  readonly openedAt: number;
  /** Left out if the host connects no clients. */
  readonly clients?: Clients;
  /** All reports of the gateway up to now, in their order. */
  readonly reports: readonly HostReport[];
  /** Obstructs the start of a service. */
  readonly obstruct: (service: Service) => Promise<() => Promise<void>>;
  /** Takes a server away. */
  readonly interrupt: (server: Server) => Promise<() => Promise<void>>;
}

/** What tells a session from every other one. @internal */
export type SessionIdentity = Pick<Session, 'id' | 'connected'>;

/** A client with its session, as the gateway has reported the session. @internal */
export interface ConnectedClient extends SessionIdentity {
  readonly client: AuditClient;
  /** The service that the client has connected to. */
  readonly service: Service;
}

/** The clients of a gateway. @internal */
export interface Clients {
  readonly all: readonly ConnectedClient[];
  /** Connects one more client to a started service; waits a little if there is none as at the beginning. */
  readonly connectAnother: () => Promise<unknown>;
  /** Whether the gateway takes a client at a listener of a service. The client leaves again. */
  readonly isTaken: (service: Service) => Promise<boolean>;
  /** The same of a client that stays. Does not wait for the report of its session. */
  readonly enter: (service: Service) => Promise<boolean>;
}

/** The time in which a client sees the end of its connection, and in which a gateway reports a change. @internal */
export const patienceMs = 1000;
/** The pause between two looks. @internal */
export const pauseMs = 10;

/** The time that a call of the host may take: less than the usual time limit of a test. */
const longestCallMs = 4000;

/** The time for a gateway to open or to end: less than the usual time limit of a test, too. */
const longestOpeningMs = 4500;

/**
 * The time in which a gateway does what it must not do, and in which clients see the end of their connections if no
 * other client can connect meanwhile.
 *
 * @internal
 */
export const restMs = 100;

/** The servers that the links of a setting name. @internal */
export function linkedServers(snapshot: Snapshot, links: readonly string[]): readonly Server[] {
  return links.flatMap((link) => {
    const found = resolveLink(snapshot, link);
    return found?.kind === 'server' ? [found.server] : [];
  });
}

/** Whether a service or monitor is started, and the gateway has not reported that it has failed. @internal */
export function runs({ state, seen }: Pick<Service, 'state' | 'seen'>): boolean {
  return state === 'started' && seen.state === undefined;
}

/** The services to which clients connect: twice to the first started service, once to the second. @internal */
export function clientServices({ services }: Snapshot): readonly Service[] {
  const [first, second = first] = [...services].filter(runs);
  return first === undefined || second === undefined ? [] : [first, first, second];
}

/** Opens a gateway with its clients, and disposes of the gateway after the check. @internal */
export async function withGateway<Gateway extends AuditedGateway>(
  { snapshot, open, connect, obstruct, interrupt, supports = [] }: Host<Gateway>,
  check: (opened: OpenedGateway) => unknown,
): Promise<void> {
  const reports: HostReport[] = [];
  const faults: ReportError[] = [];
  const openedAt = systemClock.now();
  const { admin, during } = createAuditAdmin(snapshot, faults);
  const inTime =
    <T>(
      gateway: Gateway,
      what: string,
      call: ((thing: T, gateway: Gateway) => Promise<() => Promise<void>>) | undefined,
    ) =>
    async (thing: T): Promise<() => Promise<void>> => {
      if (call === undefined) throw new TypeError(`There is no function ${what}`);
      const end = await timely(call(thing, gateway), `the option ${what} must resolve`);
      return () => timely(end(), `the function that ${what} has resolved to must resolve`);
    };
  try {
    await whileOpen(open(watched(admin, reports)), async (gateway) => {
      assertSupports(gateway, supports);
      await check({
        ...{ admin, during, gateway, openedAt, reports, faults },
        ...(connect === undefined ? {} : { clients: await connectClients(admin, gateway, connect, faults) }),
        obstruct: inTime(gateway, 'obstruct', obstruct),
        interrupt: inTime(gateway, 'interrupt', interrupt),
      });
    });
  } finally {
    await admin.close();
  }
}

/** Uses a gateway, and disposes of it, also of one that opens too late. Of several errors, the first one counts. */
async function whileOpen<Gateway extends AuditedGateway>(
  opening: Promise<Gateway>,
  use: (gateway: Gateway) => Promise<void>,
): Promise<void> {
  const end = async (gateway: Gateway): Promise<void> => {
    await gateway[Symbol.asyncDispose]?.();
  };
  const inTime = (ended: Promise<void>): Promise<void> =>
    timely(ended, 'Symbol.asyncDispose of the gateway must resolve', longestOpeningMs);
  let gateway;
  try {
    gateway = await timely(opening, 'the function that opens the gateway must resolve', longestOpeningMs);
    await use(gateway);
  } catch (error) {
    await inTime(gateway === undefined ? Promise.resolve() : end(gateway)).catch(() => undefined);
    if (gateway === undefined) opening.then(end).catch(() => undefined);
    throw error;
  }
  await inTime(end(gateway));
}

/** The interface of an audit. The audit calls the port itself; the port of the interface is that call. */
function createAuditAdmin(
  snapshot: Snapshot,
  faults: ReportError[],
): Pick<OpenedGateway, 'admin' | 'during'> {
  let apply = (): Promise<void> => Promise.resolve();
  const admin = createAdmin({
    snapshot,
    gateway: {
      supports: ['create', 'delete', 'drain'],
      apply: () => apply(),
      inspect: () => Promise.resolve('in-place'),
    },
    // The audit gives up long before.
    limits: { effectDeadlineMs: 3_600_000 },
    observe: {
      onError: (error) => {
        if (error instanceof ReportError) faults.push(error);
      },
    },
  });
  const during = async (transition: Transition, call: () => Promise<void>): Promise<void> => {
    let called: Promise<void> | undefined;
    apply = () => {
      apply = () => Promise.resolve();
      called = call();
      // Whatever the error, this ends the command without a change.
      return called.catch(() => Promise.reject(new EffectRefusedError('The call of the audit has failed.')));
    };
    const execution = await admin.execute(transition);
    apply = () => Promise.resolve();
    await (called ?? call());
    if (execution.outcome === 'refused')
      throw new Error(
        `the interface must take what the audit applies, but refused: ${execution.problem.detail}`,
      );
  };
  return { admin, during };
}

/** The audits were chosen before the gateway was opened. */
function assertSupports(
  { supports: listed = [] }: GatewayPort,
  expected: NonNullable<GatewayPort['supports']>,
): void {
  const [own, given] = [listed, expected].map((words) => JSON.stringify([...new Set(words)].toSorted()));
  if (own !== given)
    throw new Error(
      `supports of the gateway is ${String(own)}, but the audits were chosen for ${String(given)}. Give gatewayAudits the option supports: ${String(own)}`,
    );
}

/** The error of a call that has not settled in time. No outcome of the call. @internal */
export class BrokenRuleError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BrokenRuleError';
  }
}

/**
 * Waits for a promise of the host, and no longer than a time. Counts the pauses: on a busy machine, they take longer,
 * and so does the host.
 *
 * @throws BrokenRuleError with the rule if the promise has not settled by then
 * @internal
 */
export async function timely<T>(work: Promise<T>, rule: string, mostMs = longestCallMs): Promise<T> {
  const settled = new AbortController();
  const late = async (): Promise<never> => {
    for (let waited = 0; waited < mostMs; waited += restMs) await systemClock.sleep(restMs, settled.signal);
    throw new BrokenRuleError(`${rule}, but has not within ${String(mostMs)} ms`);
  };
  try {
    return await Promise.race([work, late()]);
  } finally {
    settled.abort();
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
  faults: readonly ReportError[],
): Promise<Clients> {
  const connectTo = async (service: Service): Promise<ConnectedClient> => {
    const before = [...admin.snapshot.sessions];
    const client = await timely(connect(service, gateway), 'the option connect must resolve or reject');
    const session = await eventually(() =>
      [...admin.snapshot.sessions].find((each) => !before.some((old) => isSame(old, each))),
    );
    if (session !== undefined) return { client, service, id: session.id, connected: session.connected };
    throw new Error(
      `the gateway must report the session of a client that connects to ${service.name} within a second${hintOf(faults)}`,
    );
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
  let outcome: boolean | undefined;
  void success
    .catch(() => false)
    .then((hasSucceeded) => {
      outcome = hasSucceeded;
    });
  return (await eventually(() => outcome)) ?? false;
}

/**
 * Looks until there is something to see; `undefined` if there is nothing for too long. Counts the looks: on a busy
 * machine, they take longer, and so does the gateway.
 *
 * @internal
 */
export async function eventually<T>(look: () => T | undefined, mostMs = patienceMs): Promise<T | undefined> {
  for (let waited = 0; waited < mostMs; waited += pauseMs) {
    const seen = look();
    if (seen !== undefined) return seen;
    await systemClock.sleep(pauseMs);
  }
  return look();
}

/** What the interface has refused, as the end of a message. @internal */
export function hintOf([fault]: readonly ReportError[]): string {
  return fault === undefined ? '' : ` (the interface has refused a report: ${fault.message})`;
}

/** Whether two sessions are the same one. @internal */
export function isSame(one: SessionIdentity, other: SessionIdentity): boolean {
  return one.id === other.id && one.connected === other.connected;
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
