/**
 * The public API in use, as a host or a tool names it: whatever docs and examples leave out is here.
 */
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import {
  adoptDocument,
  applyReports,
  canTransition,
  createAdmin,
  createBasicAuthentication,
  createPbkdf2Hasher,
  createRoles,
  createSecretSealer,
  createSnapshot,
  createTimeFormat,
  createUser,
  defaultLimits,
  defineLifecycle,
  deleteUser,
  DifferingDocumentError,
  lifecycle,
  maxListedFaults,
  measurementTable,
  nextState,
  openAdmin,
  createMemoryStore,
  patchFilter,
  problemTable,
  routes,
  serverStatusWords,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  systemClock,
  teardownBatch,
  toDocument,
  closeServerConnections,
  closeSession,
  flushLogs,
  HostError,
  canRevert,
  contractVersion,
  evolve,
  nameKey,
  patchService,
  resolveLink,
  problem,
  ReportError,
  sequence,
  type Admin,
  type AdminEvent,
  type AdoptOptions,
  type AuditedRoute,
  type AuditGap,
  type AuditOptions,
  type AuditReadOptions,
  type AuditRecord,
  type AuditSink,
  type Authenticate,
  type Clock,
  type Context,
  type Hasher,
  type HostCall,
  type HostProblemCode,
  type Json,
  type Limits,
  type Monitor,
  type Operation,
  type Sealed,
  type Session,
  type SessionTable,
  type SleepOptions,
  type Snapshot,
  type AdminRequest,
  type AdminResponse,
  type AppliedReports,
  type Authorize,
  type BasicAuthenticationOptions,
  type Collection,
  type Connection,
  type ConnectionDocument,
  type ConnectionIdentity,
  type CommandRepresentation,
  type ConnectionRepresentation,
  type TaskRepresentation,
  type ConnectionStatistics,
  type Decision,
  type DocumentDifference,
  type DroppedRecord,
  type Effect,
  type Entity,
  type EventGap,
  type EventsOptions,
  type ExecuteOptions,
  type FailedLogInRecord,
  type Filter,
  type FilterDocument,
  type FilterParameter,
  type FilterRepresentation,
  type FilterSettings,
  type GatewayDocument,
  type Handled,
  type HostReport,
  type Instance,
  type InstanceRepresentation,
  type InterfaceRepresentation,
  type Lifecycle,
  type LifecycleState,
  type LinkedResource,
  type ListenerRepresentation,
  type Logs,
  type LogsRepresentation,
  type Module,
  type MonitorDocument,
  type MonitorRepresentation,
  type NewUser,
  type OpenAdminOptions,
  type PathParameters,
  type Pbkdf2HasherOptions,
  type Plan,
  type Principal,
  type Problem,
  type ProblemCode,
  type PublishedEvent,
  type Result,
  type Role,
  type RolesOptions,
  type Route,
  type SecretSealer,
  type SecretSealerOptions,
  type Server,
  type ServerDocument,
  type ServerRepresentation,
  type ServerSettings,
  type ServerStatusWord,
  type ServiceDocument,
  type ServiceRepresentation,
  type SessionDocument,
  type SessionIdentity,
  type SessionRepresentation,
  type StoredHistory,
  type Task,
  type Thread,
  type Threads,
  type TimeFormat,
  type Transition,
  type Update,
  type User,
  type UserRepresentation,
  type Version,
  type WriteRecord,
} from 'gateway-admin-core';
import {
  createSharedMemory,
  type SharedMemory,
  type SharedMemoryOptions,
  type LogStep,
  type SharedStore,
} from 'gateway-admin-core/fleet';

import { sampleDocument, sampleSnapshot, sampleZone } from '../support/document.ts';
import { thawedPlaces } from '../support/frozen.ts';
import { filesBelow, read, textFiles } from '../support/project.ts';

const gateway = {
  apply: async () => Promise.resolve(),
  inspect: async () => Promise.resolve('in-place' as const),
};

/** What a program gets that speaks to the interface in its own process. */
async function get<T>(admin: Admin, target: string): Promise<T> {
  const request: AdminRequest = { method: 'GET', target, headers: {} };
  const handled: Handled = await admin.handle(request);
  const response: AdminResponse | undefined = handled.matched ? handled.response : undefined;
  if (response?.status !== 200 || typeof response.body !== 'string')
    throw new Error(`${target} is not there`);
  return JSON.parse(response.body) as T;
}

describe('a program that reads the interface', () => {
  it('can name every representation', async () => {
    const admin = createAdmin({ snapshot: sampleSnapshot(), gateway, timeZone: sampleZone });
    const service = await get<ServiceRepresentation>(admin, '/services/My-Service');
    const server = await get<ServerRepresentation>(admin, '/servers/db-serv-1');
    const monitor = await get<MonitorRepresentation>(admin, '/monitors/Main-Monitor');
    const listeners = await get<readonly ListenerRepresentation[]>(admin, '/services/My-Service/listeners');
    expect(listeners.map(({ port }) => port)).toEqual([4006, 4007, undefined]);
    const [filter] = await get<readonly FilterRepresentation[]>(admin, '/filters');
    const [user] = await get<readonly UserRepresentation[]>(admin, '/users');
    const [session] = await get<readonly SessionRepresentation[]>(admin, '/sessions');
    const [connection] = await get<readonly ConnectionRepresentation[]>(
      admin,
      '/servers/db-serv-1/connections',
    );
    const instance = await get<InstanceRepresentation>(admin, '/gateway');
    const logs = await get<LogsRepresentation>(admin, '/gateway/logs');
    const commands = await get<readonly CommandRepresentation[]>(admin, '/commands');
    expect(commands).toEqual([]);
    const { ready } = await get<InterfaceRepresentation>(admin, '/');
    expect(ready).toBe(true);
    const { threads } = await get<Threads>(admin, '/gateway/threads');
    const [module] = await get<readonly Module[]>(admin, '/gateway/modules');
    const [task] = await get<readonly TaskRepresentation[]>(admin, '/gateway/tasks');
    expect(task?.next_due).toMatch(/2016$/);
    const state: LifecycleState = service.state;
    const words: readonly ServerStatusWord[] = server.status;
    const statistics: ConnectionStatistics | undefined = connection?.statistics;
    const thread: Thread | undefined = threads[0];
    expect([state, words, monitor.state, typeof statistics?.reads, thread?.id, module?.type]).toEqual([
      'started',
      ['master', 'running'],
      'started',
      'number',
      0,
      'Protocol',
    ]);
    expect([filter?.services, user?.name, session?.service, instance.started, logs.maxlog]).toEqual([
      expect.any(Array),
      expect.any(String),
      expect.stringContaining('/services/'),
      'Wed, 31 Aug 2016 23:29:26 +0300',
      true,
    ]);
    await admin.close();
  });

  it('can name what a snapshot is made of', () => {
    const snapshot = sampleSnapshot();
    const servers: Collection<Server> = snapshot.servers;
    const [first] = [...servers];
    const settings: ServerSettings | undefined = first?.settings;
    const entity: Entity | undefined = first;
    const version: Version | undefined = entity?.version;
    const filters: readonly Filter[] = [...snapshot.filters];
    const filterSettings: readonly FilterSettings[] = filters.map((filter) => filter.settings);
    const parameters: readonly FilterParameter[] = filterSettings.flatMap(({ parameters: map }) =>
      Object.values(map),
    );
    const linked: LinkedResource | undefined = resolveLink(snapshot, '/servers/db-serv-1');
    expect(linked?.kind === 'server' && linked.server).toBe(first);
    const users: readonly User[] = [...snapshot.users];
    const connections: readonly Connection[] = [...snapshot.sessions].flatMap(
      (session) => session.connections,
    );
    const instance: Instance = snapshot.gateway;
    const logs: Logs = snapshot.logs;
    const tasks: readonly Task[] = snapshot.tasks;
    expect([
      settings?.port,
      version,
      parameters.length > 0,
      users.length > 0,
      connections.length > 0,
    ]).toEqual([5432, { command: 0, live: 0 }, true, true, true]);
    expect([instance.started, logs.last_flushed, tasks.length]).toEqual([1472675366000, 1472675366000, 2]);
  });
});

describe('a program that writes documents', () => {
  it('can name every entry', () => {
    const server: ServerDocument = { name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg' };
    const service: ServiceDocument = { name: 'Sales', router: 'readconnroute', servers: ['/servers/db-1'] };
    const monitor: MonitorDocument = { name: 'Watch', module: 'pgmon' };
    const filter: FilterDocument = { name: 'Hint', module: 'regex', parameters: {} };
    const user: NewUser = { name: 'ada', passwordHash: 'opaque' };
    const connection: ConnectionDocument = { state: 'In use', role: 'Slave', server: '/servers/db-1' };
    const session: SessionDocument = {
      id: 7,
      state: 'Session ready for routing',
      user: 'app',
      address: '10.0.0.9',
      service: '/services/Sales',
      connected: '2016-09-09T14:12:37+03:00',
      connections: [connection],
    };
    const document: GatewayDocument = {
      servers: [server],
      services: [service],
      monitors: [monitor],
      filters: [filter],
      users: [user],
      sessions: [session],
    };
    const snapshot = createSnapshot(document);
    expect(createSnapshot(toDocument(snapshot)).sessions.size).toBe(1);
  });
});

describe('a program that decides without running anything', () => {
  const context = { now: 0, actor: 'ada' };

  it('gets one kind of decision from every transition', () => {
    const snapshot = createSnapshot(sampleDocument);
    const operations: readonly Operation[] = [{ op: 'add', path: '/parameters/new/value', value: 'x' }];
    const decisions: readonly Decision[] = [
      stopService(snapshot, 'My Service', context),
      startService(snapshot, 'Bare Service', context),
      stopMonitor(snapshot, 'Main Monitor', context),
      patchFilter(snapshot, 'Hint', operations, context),
      flushLogs(snapshot, context),
      closeSession(snapshot, 9, context),
      closeServerConnections(snapshot, 'db-serv-1', context),
      createUser(snapshot, { name: 'newcomer', passwordHash: 'opaque' }, context),
    ];
    expect(decisions.map(({ outcome }) => outcome)).toEqual(decisions.map(() => 'accepted'));
    expect(startMonitor(snapshot, 'Main Monitor', context).outcome).toBe('unchanged');
    const refused: Decision = deleteUser(snapshot, 'nobody', context);
    expect(refused.outcome).toBe('refused');
    const problem: Problem | undefined = refused.outcome === 'refused' ? refused.problem : undefined;
    const code: ProblemCode | HostProblemCode | undefined = problem?.code;
    expect(code).toBe('user-not-found' satisfies ProblemCode);
    expect(problemTable['user-not-found'].status).toBe(404);
  });

  it('can read what an effect asks for', () => {
    const decision = closeSession(sampleSnapshot(), 9, context);
    const effects: readonly Effect[] = decision.outcome === 'accepted' ? decision.effects : [];
    const [effect] = effects;
    const sessions: readonly SessionIdentity[] = effect?.type === 'sessions.close' ? effect.sessions : [];
    expect(sessions.map(({ id }) => id)).toEqual([9]);
    expect(sessions.length).toBeLessThanOrEqual(teardownBatch);
    const torn = closeServerConnections(sampleSnapshot(), 'db-serv-1', context);
    const close = torn.outcome === 'accepted' ? torn.effects[0] : undefined;
    const closed: readonly ConnectionIdentity[] =
      close?.type === 'connections.close' ? close.connections : [];
    expect(closed.every(({ session }) => Number.isSafeInteger(session))).toBe(true);
    const patched = patchFilter(sampleSnapshot(), 'Hint', [{ op: 'remove', path: '/parameters' }], context);
    const update: Update<FilterSettings> | undefined =
      patched.outcome === 'accepted' && patched.effects[0]?.type === 'filter.update'
        ? patched.effects[0]
        : undefined;
    expect(update?.after.parameters ?? {}).toEqual({});
  });

  it('folds reports, and learns which are faulty', () => {
    const reports: readonly HostReport[] = [
      { type: 'server.reported', server: 'db-serv-3', status: ['running'] },
      { type: 'server.reported', server: 'no such server', status: [] },
    ];
    const { next, events, faults }: AppliedReports = applyReports(sampleSnapshot(), reports, { now: 0 });
    expect([next.revision, events.length, faults.length]).toEqual([1, 1, 1]);
    expect(faults.length).toBeLessThanOrEqual(maxListedFaults);
    expect(serverStatusWords).toContain('running');
  });

  it('can use the lifecycle, and declare one of its own', () => {
    const door = defineLifecycle<'open' | 'shut', 'push'>({
      open: { push: 'open' },
      shut: { push: 'open' },
    });
    const table: Lifecycle<'open' | 'shut', 'push'> = door;
    expect([nextState(table, 'shut', 'push'), canTransition(table, 'open', 'push')]).toEqual(['open', false]);
    expect(nextState(lifecycle, 'failed', 'start')).toBe('started');
  });
});

describe('a host', () => {
  it('can name what it gives and gets', async () => {
    const hasherOptions: Pbkdf2HasherOptions = { rounds: 1 };
    const hasher = createPbkdf2Hasher(hasherOptions);
    const logIn: BasicAuthenticationOptions = { realm: 'admin' };
    const sealerOptions: SecretSealerOptions = { key: new Uint8Array(32) };
    const sealer: SecretSealer = createSecretSealer(sealerOptions);
    const seen: [Principal | undefined, Route, PathParameters][] = [];
    const authorize: Authorize = (principal, route, parameters) => {
      seen.push([principal, route, parameters]);
      return route.kind !== 'command';
    };
    const history: Partial<StoredHistory> = {};
    const options: OpenAdminOptions = {
      snapshot: createSnapshot({
        ...sampleDocument,
        users: [{ name: 'ada', passwordHash: await hasher.hash('pw') }],
      }),
      gateway,
      clock: systemClock,
      hasher,
      sealer,
      authenticate: createBasicAuthentication(logIn),
      authorize,
      limits: { maxQueued: defaultLimits.maxQueued },
      store: createMemoryStore(history),
    };
    const admin: Admin = await openAdmin(options);
    const headers = { authorization: `Basic ${btoa('ada:pw')}` };
    const read = await admin.handle({ method: 'GET', target: '/services/My-Service', headers });
    const stop = await admin.handle({ method: 'PUT', target: '/service/My-Service/stop', headers });
    expect([read, stop].map((handled) => handled.matched && handled.response.status)).toEqual([200, 403]);
    expect(seen.map(([principal, { id }, parameters]) => [principal?.name, id, parameters])).toEqual([
      ['ada', 'services.get', { name: 'my-service' }],
      ['ada', 'services.stop', { name: 'my-service' }],
    ]);
    await admin.close();
  });

  it('can name what it executes and reads', async () => {
    const admin = createAdmin({ snapshot: sampleSnapshot(), gateway });
    const where: EventsOptions = { signal: new AbortController().signal };
    const events: AsyncIterableIterator<PublishedEvent | EventGap> = admin.events(where);
    const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
    const how: ExecuteOptions = { actor: 'ada' };
    const handled = await admin.handle({
      method: 'PUT',
      target: '/service/My-Service/stop?dry_run=true',
      headers: {},
    });
    const body = handled.matched && typeof handled.response.body === 'string' ? handled.response.body : '{}';
    const plan = JSON.parse(body) as Plan;
    expect(plan.outcome).toBe('accepted');
    expect((await admin.execute(stop, how)).outcome).toBe('accepted');
    const { value } = (await events.next()) as IteratorYieldResult<PublishedEvent | EventGap>;
    expect('event' in value && value.event.type).toBe('service.stopped');
    await admin.close();
  });

  it('can follow the audit records', async () => {
    const kept: AuditRecord[] = [];
    const sink: AuditSink = { append: (records) => Promise.resolve(void kept.push(...records)) };
    const audit: AuditOptions = { sink, required: true };
    const admin = createAdmin({ snapshot: createSnapshot({}), gateway, audit });
    const where: AuditReadOptions = { signal: new AbortController().signal };
    const records: AsyncIterableIterator<AuditRecord | AuditGap> = admin.audit(where);
    const request = { headers: { authorization: 'x' }, peer: 'p', principal: null };
    await admin.handle({ ...request, method: 'GET', target: '/services' });
    await admin.handle({ ...request, method: 'PUT', target: '/service/S/stop', principal: { name: 'ada' } });
    await admin.close();
    const endpoints: (AuditedRoute | undefined)[] = [];
    const write = (record: WriteRecord): unknown => endpoints.push(record.route);
    const logIn = ({ count }: FailedLogInRecord | DroppedRecord): unknown => expect(count).toBe(1);
    for await (const record of records) {
      if (record.kind === 'write') write(record);
      else if (record.kind !== 'gap') logIn(record);
    }
    expect(kept).toHaveLength(2);
    expect(endpoints).toMatchObject([{ id: 'services.stop' }]);
  });

  it('can name the store of several nodes', async () => {
    const options: SharedMemoryOptions = { losesHint: () => true };
    const memory: SharedMemory = createSharedMemory(options);
    const store: SharedStore = memory.open();
    const { position } = await store.load();
    const end = await store.append(['first'], { expectedPosition: position });
    const steps: readonly LogStep[] | 'gone' = await store.read(position);
    expect(steps).toEqual([{ records: ['first'], position: end }]);
  });

  it('can look at each difference of its document, and adopt some of them', async () => {
    const store = createMemoryStore();
    const first = await openAdmin({ snapshot: createSnapshot({}), gateway, store });
    await first.execute((state, context) => createUser(state, { name: 'ada', passwordHash: 'x' }, context));
    await first.close();
    const differences: DocumentDifference[] = [];
    const admin = await openAdmin({
      snapshot: createSnapshot({ users: [{ name: 'ada', passwordHash: 'y' }] }),
      gateway,
      store,
      onError(error) {
        if (error instanceof DifferingDocumentError) differences.push(...error.differences);
      },
    });
    expect(differences.map(({ resource, obstacle }) => [resource, typeof obstacle])).toEqual([
      ['/users/ada', 'string'],
    ]);
    const options: AdoptOptions = { only: [] };
    const decision = adoptDocument(admin.snapshot, createSnapshot({}), { now: 0 }, options);
    expect(decision.outcome).toBe('unchanged');
    await admin.close();
  });

  it('can write a transition of its own, and say why it is refused', async () => {
    const clock: Clock = systemClock;
    const idle: SleepOptions = { keepAlive: false };
    await clock.sleep(0, undefined, idle);
    const limits: Partial<Limits> = { maxInFlight: 1 };
    const hasher: Hasher = {
      hash: async (password) => Promise.resolve(password),
      verify: async () => Promise.resolve(false),
    };
    const authenticate: Authenticate = async () => Promise.resolve({ name: 'ada' });
    const errors: unknown[] = [];
    const admin = createAdmin({
      snapshot: sampleSnapshot(),
      gateway,
      clock,
      limits,
      hasher,
      authenticate,
      onError: (error) => errors.push(error),
    });
    const callOf = (error: unknown): HostCall | undefined =>
      error instanceof HostError ? error.call : undefined;
    const never: Transition = (snapshot: Snapshot, context: Context) => ({
      outcome: 'refused',
      next: snapshot,
      resources: [],
      problem: problem('forbidden', `${context.actor ?? 'Nobody'} may not do this.`),
    });
    const drain = sequence((snapshot, context) => stopService(snapshot, 'My Service', context), never);
    expect(await admin.execute(drain, { actor: 'ada' })).toMatchObject({ outcome: 'refused' });
    admin.report({ type: 'server.reported', server: 'nobody', status: [] });
    expect(errors).toEqual([expect.any(ReportError)]);
    expect(errors.map(callOf)).toEqual([undefined]);
    await admin.close();
  });

  it('can replay what happened, and look at sessions', () => {
    const snapshot = sampleSnapshot();
    const stopped = stopService(snapshot, 'My Service', { now: 1 });
    const events: readonly AdminEvent[] = stopped.outcome === 'accepted' ? stopped.events : [];
    expect(evolve(snapshot, events).services.find('my service')?.state).toBe('stopped');
    expect(events.map(canRevert)).toEqual([true]);
    const sessions: SessionTable = snapshot.sessions;
    const [session]: readonly Session[] = sessions.range(0, 1);
    const [monitor]: readonly Monitor[] = [...snapshot.monitors];
    expect([session?.id, monitor?.key, nameKey('My Service')]).toEqual([0, 'main-monitor', 'my-service']);
  });

  it('gives a secret to a transition in sealed form', () => {
    const value: Sealed & Json = { sealed: 'v1.sealed' };
    const operation: Operation = { op: 'add', path: '/password', value };
    const decision = patchService(sampleSnapshot(), 'My Service', [operation], { now: 0 });
    expect(decision.next.services.find('my-service')?.settings.passwordSealed).toBe('v1.sealed');
  });

  it('knows which version of the interface is served', () => {
    expect(contractVersion).toMatch(/^\d+\.\d+$/);
  });

  it('can write times as the interface does', () => {
    const times: TimeFormat = createTimeFormat('+03:00');
    const shown: Result<string> = { ok: true, value: times.iso8601(0) };
    expect(shown.value).toBe('1970-01-01T03:00:00+03:00');
  });

  it('shows tables that nobody can change', () => {
    const shown = routes.map(({ aliases, query, search, fields, mediaTypes }) =>
      [aliases, query, search, fields, mediaTypes].every((list) => Object.isFrozen(list)),
    );
    expect(new Set([...shown, ...routes.map((route) => Object.isFrozen(route))])).toEqual(new Set([true]));
    expect(thawedPlaces({ problemTable, defaultLimits, measurementTable })).toEqual(['(the whole)']);
  });

  it('can tell which role a user needs', () => {
    const people: RolesOptions = { administrators: ['ada'], readers: ['eve'] };
    const authorize: Authorize = createRoles(people);
    const needed: readonly Role[] = routes
      .filter((route) => !authorize({ name: 'eve' }, route, {}))
      .map(({ role }) => role);
    expect(needed).not.toContain('reader');
  });

  it('can list the endpoints', () => {
    const lines = routes.map(({ method, path }: Route) => `${method} ${path}`);
    expect(lines).toContain('PUT /service/:name/stop');
  });
});

/** The names that the main entry exports. */
function publicNames(): readonly string[] {
  const source = ts.createSourceFile('index.ts', read('src/index.ts'), ts.ScriptTarget.ES2023, true);
  return source.statements.flatMap((statement) => {
    const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined;
    return clause !== undefined && ts.isNamedExports(clause)
      ? clause.elements.map(({ name }) => name.text)
      : [];
  });
}

/** What a text imports from the main entry: in code, and in the code blocks of a page. */
function importedIn(text: string): readonly string[] {
  return [...text.matchAll(/import\s+(?:type\s+)?\{([^}]*)\}\s+from 'gateway-admin-core'/g)].flatMap(
    ([, list = '']) =>
      list.split(',').map((item) =>
        item
          .replace(/^\s*(?:type\s+)?/, '')
          .replace(/ as .*$/, '')
          .trim(),
      ),
  );
}

describe('the main entry', () => {
  it('exports no name that no page, example or test of the public API uses', () => {
    const pages = textFiles().filter((path) => /^(?:README\.md|docs\/.*\.md|examples\/.*\.ts)$/.test(path));
    expect(pages).toContain('README.md');
    const used = new Set(
      [...pages, ...filesBelow('tests/package', '.test.ts')].flatMap((path) => importedIn(read(path))),
    );
    expect(publicNames().filter((name) => !used.has(name))).toEqual([]);
  });

  it('hides no names in a namespace', () => {
    expect(read('src/index.ts')).not.toMatch(/export \* as|export \*/);
  });
});
