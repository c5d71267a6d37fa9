/**
 * Lives that are long, or walked through as a whole.
 *
 * The walk is exhaustive: every order of commands, answers of the gateway, failures and reports about one service, up to
 * a depth. A state that was met before is not walked again. One service, because the states of two multiply: 329 states
 * at depth 6 become 5,039, each with twice the actions. The simulation has several services and monitors.
 */
import { expect, it } from '@jest/globals';
import {
  closeServiceSessions,
  createAdmin,
  createMemoryStore,
  createSnapshot,
  DifferingDocumentError,
  EffectRefusedError,
  openAdmin,
  startService,
  stopService,
  toDocument,
  type Admin,
  type HostReport,
  type Transition,
} from 'gateway-admin-core';
import {
  createRandom,
  createScriptedGateway,
  createVirtualClock,
  type ScriptedGateway,
  type VirtualClock,
} from 'gateway-admin-core/testing';

import { ask } from '../support/ask.ts';
import { configuration } from '../support/configuration.ts';
import { otherLife } from '../support/event-reader.ts';

const depth = 8;
const deadlineMs = 1000;
const initial = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute' }] }, { epoch: 'walk' });

const commands: Readonly<Record<'start' | 'stop' | 'closeAll', Transition>> = {
  start: (snapshot, context) => startService(snapshot, 'Sales', context),
  stop: (snapshot, context) => stopService(snapshot, 'Sales', context),
  closeAll: (snapshot, context) => closeServiceSessions(snapshot, 'Sales', context),
};

/** A call of the gateway that is not answered yet. */
interface Call {
  readonly isStart: boolean;
  perform: (() => void) | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

type Actions = Readonly<Record<string, () => unknown>>;

class World {
  readonly clock: VirtualClock = createVirtualClock(0);
  readonly gateway: ScriptedGateway = createScriptedGateway({ snapshot: initial, clock: this.clock });
  readonly admin: Admin;
  /** What the gateway has not reported yet. */
  #late: readonly HostReport[] = [];
  #call: Call | undefined;
  #inFlight = 0;
  #isUnknown = false;
  /** The last report since the command was sent: the interface may remember it until the command has ended. */
  #crossing: unknown;

  constructor() {
    const { gateway, clock } = this;
    gateway.otherwise({
      apply: ({ type }, _context, perform) =>
        new Promise<void>((resolve, reject) => {
          this.#call = { isStart: type === 'service.start', perform, resolve, reject };
        }),
    });
    const limits = { effectDeadlineMs: deadlineMs };
    const observe = { onError: () => undefined };
    this.admin = createAdmin({ snapshot: initial, gateway, clock, limits, observe });
  }

  /** What may happen now. */
  get actions(): Actions {
    const { gateway } = this;
    const isOpen = Object.keys(gateway.state.sessions).length > 0;
    return {
      ...this.#commandActions(isOpen),
      ...this.#callActions(),
      fail: () => this.#report(gateway.failService('Sales')),
      recover: () => this.#report(gateway.recoverService('Sales')),
      failQuietly: () => (this.#late = [...this.#late, ...gateway.failService('Sales')]),
      ...(this.#late.length > 0 && { reportLate: () => this.#report([]) }),
      reportAll: () => {
        this.#late = [];
        this.#report(gateway.statusReports());
      },
      ...(isOpen
        ? { leave: () => this.#report(gateway.closeSession(0)), leaveAndOpen: () => this.#leaveAndOpen() }
        : { open: () => this.#report(gateway.openSession('Sales')) }),
    };
  }

  get isQuiet(): boolean {
    return this.#inFlight === 0 && this.#late.length === 0;
  }

  /** Everything that what happens next depends on. */
  get key(): string {
    const { services: [service] = [], sessions } = toDocument(this.admin.snapshot);
    const { state } = this.gateway;
    const call = this.#call && [this.#call.isStart, this.#call.perform === undefined];
    const flight = [this.#inFlight, this.#isUnknown, this.#inFlight === 0 ? undefined : this.#crossing];
    return JSON.stringify([
      service?.state,
      sessions,
      state.services,
      state.sessions,
      call,
      flight,
      this.#late,
    ]);
  }

  async do(action: string): Promise<void> {
    await this.actions[action]?.();
    await this.clock.settle();
  }

  /** Sends a command and lets the gateway carry it out. */
  async finish(command: 'start' | 'stop'): Promise<void> {
    for (const action of [command, 'act', 'answer']) await this.do(action);
  }

  #commandActions(isOpen: boolean): Actions {
    if (this.#inFlight > 0) return { wait: () => this.clock.advance(2 * deadlineMs) };
    const sent = Object.entries(commands).filter(([name]) => name !== 'closeAll' || isOpen);
    return Object.fromEntries(sent.map(([name, command]) => [name, () => this.#send(command)]));
  }

  #callActions(): Actions {
    const call = this.#call;
    if (call === undefined) return {};
    const { perform } = call;
    const end = (answer: () => void) => (): void => {
      this.#call = undefined;
      answer();
    };
    if (perform === undefined) return { answer: end(call.resolve) };
    return {
      act: () => {
        perform();
        call.perform = undefined;
        // A gateway that starts a service has forgotten the failure before.
        if (call.isStart) this.#late = [];
      },
      refuse: end(() => call.reject(new EffectRefusedError('No.'))),
    };
  }

  #send(command: Transition): void {
    this.#inFlight += 1;
    this.#crossing = undefined;
    const over = (): void => {
      this.#inFlight -= 1;
      this.#isUnknown = false;
    };
    // A command of unknown outcome ends with an event; the gateway may still answer the call.
    this.admin.execute(command).then((execution) => {
      if (execution.outcome !== 'unknown') return over();
      this.#isUnknown = true;
      return this.#waitFor(execution.commandId).then(over, over);
    }, over);
  }

  async #waitFor(commandId: string): Promise<void> {
    for await (const item of this.admin.events({ after: otherLife }))
      if ('event' in item && item.event.command === commandId) return;
  }

  /** The end of the session is not reported if the next session has its id. */
  #leaveAndOpen(): void {
    const left = this.gateway.closeSession(0);
    const opened = this.gateway.openSession('Sales').filter(({ type }) => type === 'session.opened');
    this.#report(opened.length > 0 ? opened : left);
  }

  #report(reports: readonly HostReport[]): void {
    const all = [...this.#late, ...reports];
    this.#late = [];
    this.admin.report(all);
    this.#crossing = all.findLast(({ type }) => type === 'service.reported') ?? this.#crossing;
  }
}

async function worldAfter(path: readonly string[]): Promise<World> {
  const world = new World();
  for (const action of path) await world.do(action);
  return world;
}

/** What is wrong with the state of a world, which is used up by that. */
async function faultsOf(world: World, path: readonly string[]): Promise<readonly string[]> {
  if (!world.isQuiet) return [];
  // A gateway that reports the whole state does so again and again: that heals what crossed.
  if (path.includes('reportAll')) await world.do('reportAll');
  const faults = [...world.gateway.differences(world.admin.snapshot)];
  for (const [command, state] of [
    ['stop', 'stopped'],
    ['start', 'started'],
  ] as const) {
    await world.finish(command);
    const shown = world.admin.snapshot.services.find('sales')?.state;
    if (shown !== state) faults.push(`${command} leads to ${String(shown)}`);
    faults.push(...world.gateway.differences(world.admin.snapshot));
  }
  return faults.map((fault) => `${path.join(' ')}: ${fault}`);
}

it(`a service is shown as the gateway has it, and can be stopped and started, after up to ${String(depth)} steps`, async () => {
  const met = new Set<string>();
  const faults: string[] = [];
  let paths: readonly (readonly string[])[] = [[]];
  for (let step = 0; step <= depth; step += 1) {
    const next: (readonly string[])[] = [];
    for (const path of paths) {
      const world = await worldAfter(path);
      if (met.has(world.key)) continue;
      met.add(world.key);
      for (const action of Object.keys(world.actions)) next.push([...path, action]);
      faults.push(...(await faultsOf(world, path)));
    }
    paths = next;
  }
  expect(faults.slice(0, 20)).toEqual([]);
  expect(met.size).toBeGreaterThan(500);
});

const count = 1000;
/** How long reports about what was deleted are no fault. */
const lateMs = 60_000;
const words = [[], ['running'], ['master', 'running']] as const;

it('1,000 servers are created, reported and deleted in random order with restarts', async () => {
  const [random, clock, store] = [createRandom(1), createVirtualClock(0), createMemoryStore()];
  const snapshot = createSnapshot({});
  const gateway = createScriptedGateway({ snapshot, clock });
  const errors: unknown[] = [];
  /** The servers that are there, by key, in the order of their creation; and when others were deleted. */
  const known = new Map<string, { readonly name: string; status: readonly string[] }>();
  const gone = new Map<string, number>();
  let created = 0;

  const open = (): Promise<Admin> => {
    const onError = (error: unknown): void => {
      // A start says that the given document has none of the servers.
      if (!(error instanceof DifferingDocumentError)) errors.push(error);
    };
    return openAdmin({ snapshot, gateway, store, clock, observe: { onError } });
  };
  const creation = (): object => {
    const isOld = gone.size > 0 && random.chance(0.05);
    const name = isOld ? random.pick([...gone.keys()]).toUpperCase() : `db-${String((created += 1))}`;
    known.set(name.toLowerCase(), { name, status: [] });
    gone.delete(name.toLowerCase());
    return { method: 'POST', path: '/servers', body: { name, address: 'a', port: 1, protocol: 'pg' } };
  };
  const deletion = (): object => {
    const key = random.pick([...known.keys()]);
    const path = `/servers/${known.get(key)?.name ?? ''}`;
    known.delete(key);
    gone.set(key, clock.now());
    return { method: 'DELETE', path };
  };
  /** Some of both as one command. Each of them gives the list another entity tag. */
  const comeAndGo = async (admin: Admin): Promise<void> => {
    const tagOf = async () => (await ask(admin, 'GET /servers?range=0-0')).headers['etag'];
    const tag = await tagOf();
    const commands = Array.from({ length: 1 + random.below(100) }, () =>
      random.chance(0.6) || known.size === 0 ? creation() : deletion(),
    );
    expect((await ask(admin, 'POST /sequence', { body: { commands } as never })).status).toBe(204);
    expect(await tagOf()).not.toBe(tag);
  };
  const report = (admin: Admin): void => {
    for (const key of Array.from({ length: 20 }, () => random.pick([...known.keys(), '']))) {
      const server = known.get(key);
      if (server === undefined) continue;
      server.status = random.pick(words);
      admin.report(gateway.findStatus(key, server.status as never));
    }
    const late = [...gone].flatMap(([key, at]) => (at + lateMs > clock.now() ? [key] : []));
    admin.report(late.map(aboutServer));
  };
  const restart = async (before: Admin): Promise<Admin> => {
    await before.close();
    const admin = await open();
    admin.report(gateway.statusReports());
    expect(configuration(admin.snapshot)).toEqual(configuration(before.snapshot));
    // The minute of late reports ends with a life.
    gone.clear();
    return admin;
  };

  let admin = await open();
  while (created < count) {
    await comeAndGo(admin);
    report(admin);
    await clock.advance(random.below(5000));
    if (created < count - 300 && random.chance(0.1)) admin = await restart(admin);
  }
  expect(errors).toEqual([]);
  expect((await ask(admin, 'GET /servers?fields=name,status')).body).toEqual([...known.values()]);
  expect(gone.size).toBeGreaterThan(100);
  await clock.advance(lateMs);
  for (const [at, key] of [...gone.keys()].entries()) {
    admin.report(aboutServer(key));
    expect(errors).toHaveLength(at + 1);
  }
  await (await restart(admin)).close();
});

function aboutServer(server: string): HostReport {
  return { type: 'server.reported', server, status: ['running'] };
}
