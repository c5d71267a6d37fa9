/**
 * The state machines of the page about the functions: diagrams of what the tables, the transitions and a running
 * interface do.
 *
 * No diagram is drawn by hand. Each is explored: from its first state, every input is tried in every state that is
 * found.
 */
import {
  applyReports,
  closeServerConnections,
  closeServiceSessions,
  closeSession,
  createSnapshot,
  EffectRefusedError,
  lifecycle,
  nextState,
  patchServer,
  startService,
  stopService,
  type Admin,
  type Decision,
  type Execution,
  type HostReport,
  type LifecycleState,
  type Problem,
  type Snapshot,
} from 'gateway-admin-core';
import { hold } from 'gateway-admin-core/testing';

import { read } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { shown as asShown } from '../support/shown.ts';

/** The page, whose chapters of machines stand between two headings. The rest of the page is written by hand. */
const page = 'docs/functions.md';
const firstHeading = '## Services and monitors\n';
const nextHeading = '## Decide a command\n';

/** What an input leads to: a state, or the present state and a remark. */
interface Cell {
  readonly to: string;
  readonly remark?: string;
}

/** A state machine that can be tried. */
interface Machine {
  readonly title: string;
  readonly text: string;
  readonly first: string;
  readonly inputs: readonly string[];
  /** Gives the cell for an input after a path of inputs; `undefined` if the input cannot come then. */
  readonly attempt: (path: readonly string[], input: string) => Cell | undefined | Promise<Cell | undefined>;
}

/** The rows of a machine: the cells of each state by input. */
type Rows = ReadonlyMap<string, ReadonlyMap<string, Cell>>;

/** Writes the chapters of the machines into the page. */
export async function functionsPage(): Promise<string> {
  const chapters = await Promise.all(
    machines.map(async (machine) => chapter(machine, await explore(machine))),
  );
  const text = read(page);
  const [from, to] = [text.indexOf(firstHeading), text.indexOf(nextHeading)];
  if (from < 0 || to < from) throw new Error(`${page} needs "${firstHeading}" before "${nextHeading}"`);
  return [text.slice(0, from), ...chapters, text.slice(to)].join('\n');
}

/** Tries every input in every state, beginning with the first state. */
async function explore({ first, inputs, attempt }: Machine): Promise<Rows> {
  const paths = new Map<string, readonly string[]>([[first, []]]);
  const rows = new Map<string, ReadonlyMap<string, Cell>>();
  // The loop also visits the states that it finds.
  for (const [state, path] of paths) {
    const cells = new Map<string, Cell>();
    for (const input of inputs) {
      const cell = await attempt(path, input);
      if (cell === undefined) continue;
      cells.set(input, cell);
      if (!paths.has(cell.to)) paths.set(cell.to, [...path, input]);
    }
    rows.set(state, cells);
  }
  return rows;
}

function chapter({ title, text, first, inputs }: Machine, rows: Rows): string {
  const lines = [
    ['State', ...inputs],
    ['State', ...inputs].map(() => '---'),
    ...[...rows].flatMap(([state, cells]) =>
      cells.size === 0 ? [] : [[state, ...inputs.map((input) => shown(state, cells.get(input)))]],
    ),
  ];
  return [
    `## ${title}\n\n${text}\n`,
    `\`\`\`mermaid\n${diagram(first, rows)}\n\`\`\`\n`,
    ...lines.map((line) => `| ${line.join(' | ')} |`),
    '',
  ].join('\n');
}

function shown(state: string, cell: Cell | undefined): string {
  if (cell === undefined) return '';
  const { to, remark } = cell;
  const next = to === state ? '–' : to;
  return remark === undefined ? next : `${next}, ${remark}`;
}

/** Writes the changes of a machine as Mermaid. An end is a state in which nothing can come. */
function diagram(first: string, rows: Rows): string {
  const states = [...rows.keys()];
  const named = states.filter((state) => idOf(state) !== state);
  const changes = [...rows].flatMap(([from, cells]) =>
    states
      .filter((to) => to !== from)
      .flatMap((to) => {
        const inputs = [...cells].filter(([, cell]) => cell.to === to).map(([input]) => input);
        return inputs.length === 0 ? [] : [`${idOf(from)} --> ${idOf(to)} : ${inputs.join(' / ')}`];
      }),
  );
  const ends = [...rows].filter(([, cells]) => cells.size === 0).map(([state]) => `${idOf(state)} --> [*]`);
  return [
    'stateDiagram-v2',
    ...[
      ...named.map((state) => `state "${state}" as ${idOf(state)}`),
      `[*] --> ${idOf(first)}`,
      ...changes,
      ...ends,
    ].map((line) => `  ${line}`),
  ].join('\n');
}

function idOf(state: string): string {
  return state.replace(/\W+/g, '_');
}

type LifecycleInput = keyof (typeof lifecycle)[LifecycleState];

const inputNames: Readonly<Record<LifecycleInput, string>> = {
  start: 'start',
  stop: 'stop',
  'report-failed': 'report failed',
  'report-started': 'report started',
};

const services: Machine = {
  title: 'Services and monitors',
  text: `\`start\` and \`stop\` are commands. \`report failed\` and \`report started\` are reports of the gateway, which never lead into
\`stopped\` or out of it. See [When the service fails](runtime.md#when-the-service-fails).`,
  first: 'started',
  inputs: Object.values(inputNames),
  attempt(path, input) {
    const step = (state: LifecycleState, name: string): LifecycleState =>
      nextState(
        lifecycle,
        state,
        (Object.keys(inputNames) as LifecycleInput[]).find((each) => inputNames[each] === name) ?? 'start',
      );
    return { to: step(path.reduce(step, 'started'), input) };
  },
};

/** What an input does to a snapshot: a decision, or a report. */
type Input = (snapshot: Snapshot) => Decision | HostReport;

const context = { now: 0 };

/** A machine of snapshots. */
function snapshotMachine(
  about: Pick<Machine, 'title' | 'text'>,
  start: Snapshot,
  inputs: Readonly<Record<string, Input>>,
  stateOf: (snapshot: Snapshot) => string,
): Machine {
  const step = (snapshot: Snapshot, name: string): { readonly next: Snapshot; readonly remark?: string } => {
    const done = inputs[name]?.(snapshot);
    if (done === undefined) throw new RangeError(`There is no input ${name}`);
    if ('type' in done) {
      const { next, faults } = applyReports(snapshot, done, context);
      return { next, ...(faults.length === 0 ? {} : { remark: 'an error for `onError`' }) };
    }
    if (done.outcome !== 'refused') return { next: done.next };
    return { next: snapshot, remark: codeOf(done.problem) };
  };
  return {
    ...about,
    first: stateOf(start),
    inputs: Object.keys(inputs),
    attempt(path, input) {
      const { next, remark } = step(
        path.reduce((snapshot, each) => step(snapshot, each).next, start),
        input,
      );
      return { to: stateOf(next), ...(remark === undefined ? {} : { remark }) };
    },
  };
}

const server = { name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pgbackend' };
const wordsOf = (snapshot: Snapshot): readonly string[] =>
  asShown(snapshot.servers.find('db'))?.settings.state ?? [];
const patchWords = (snapshot: Snapshot, words: readonly string[]): Decision =>
  patchServer(snapshot, 'db', [{ op: 'replace', path: '/state', value: words }], context);

const servers = snapshotMachine(
  {
    title: 'The status of a server',
    text: `The status is a list of [words](spec-choices.md#9-words-of-a-status). Commands set and remove \`maintenance\`. A report of the
gateway replaces all other words. The diagram has \`running\` alone for them; \`master\`, \`slave\` and \`synced\` behave like it.`,
  },
  createSnapshot({ servers: [server] }),
  {
    'add maintenance': (snapshot) =>
      patchWords(snapshot, [...new Set(['maintenance', ...wordsOf(snapshot)])]),
    'remove maintenance': (snapshot) =>
      patchWords(
        snapshot,
        wordsOf(snapshot).filter((word) => word !== 'maintenance'),
      ),
    'report running': () => ({ type: 'server.reported', server: 'db', status: ['running'] }),
    'report nothing': () => ({ type: 'server.reported', server: 'db', status: [] }),
  },
  (snapshot) => wordsOf(snapshot).join(' and ') || 'down',
);

const sessions = snapshotMachine(
  {
    title: 'Sessions and connections',
    text: `A session is one client of a service, with a backend connection or more. The \`state\` of a session or connection is a text of
the gateway for people, and not a state of this machine.`,
  },
  createSnapshot({
    servers: [server],
    services: [{ name: 'Sales', router: 'readconnroute', servers: ['/servers/db'] }],
  }),
  {
    'session.opened': () => ({
      type: 'session.opened',
      id: 1,
      state: 'ready',
      user: 'bob',
      address: '10.0.0.9',
      service: 'Sales',
      connected: 0,
    }),
    'connection.opened': () => ({
      type: 'connection.opened',
      session: 1,
      id: 1,
      state: 'in use',
      role: 'master',
      server: 'db',
    }),
    'connection.closed': () => ({ type: 'connection.closed', session: 1, id: 1 }),
    'session.closed': () => ({ type: 'session.closed', id: 1, connected: 0 }),
    'close the session': (snapshot) => closeSession(snapshot, 1, context),
    'close the sessions of the service': (snapshot) => closeServiceSessions(snapshot, 'Sales', context),
    'close the connections of the server': (snapshot) => closeServerConnections(snapshot, 'db', context),
  },
  (snapshot) => {
    const session = snapshot.sessions.find(1);
    if (session === undefined) return 'no session';
    return session.connections.length === 0 ? 'session' : 'session with a connection';
  },
);

const commandInputs = {
  turn: 'the earlier command ends',
  blocked: 'the outcome of the earlier command is unknown',
  done: 'the gateway makes the change',
  refused: 'the gateway refuses',
  late: 'no answer in time',
  abandoned: 'abandon',
  left: 'the client disconnects',
} as const;

const commands: Machine = {
  title: 'Commands',
  text: `A command waits while an earlier command on the same resource is in flight, and is then in flight itself: \`pending\`, or
\`unknown\` after a 504. \`done\` is a 200 or 204, and \`failed\` the event \`command.failed\`. See
[How a command runs](runtime.md#how-a-command-runs) and [Every outcome](runtime.md#every-outcome).`,
  first: 'waiting',
  inputs: Object.values(commandInputs),
  async attempt(path, input) {
    const present = await runCommand(path);
    const inputs: readonly string[] = possible[present.to] ?? [];
    return inputs.includes(input) ? runCommand([...path, input]) : undefined;
  },
};

const { turn, blocked, done, refused, late, abandoned, left } = commandInputs;

/** What can happen to a command. A command that waits has not reached the gateway, and has no id yet. */
const possible: Readonly<Record<string, readonly string[]>> = {
  waiting: [turn, blocked, left],
  pending: [done, refused, late, abandoned, left],
  unknown: [done, refused, late, abandoned, left],
};

/** Runs a command through some inputs, behind an earlier command on the same service, and tells its state. */
async function runCommand(path: readonly string[]): Promise<Cell> {
  const { admin, gateway, clock } = runAdmin();
  const [earlier, held, client] = [hold(), hold(), new AbortController()];
  gateway.will(earlier.apply, held.apply);
  const types = typesOf(admin);
  void admin.execute((snapshot, given) => stopService(snapshot, 'My Service', given));
  await earlier.begun;
  let answer: Execution | 'cancelled' | undefined;
  void admin
    .execute((snapshot, given) => startService(snapshot, 'My Service', given), { signal: client.signal })
    .then(
      (execution) => (answer = execution),
      () => (answer = 'cancelled'),
    );
  let freed: Execution | undefined;
  const inputs: Readonly<Record<string, () => unknown>> = {
    [turn]: earlier.done,
    [blocked]: () => clock.advance(admin.limits.effectDeadlineMs),
    [done]: held.done,
    [refused]: () => held.fail(new EffectRefusedError('The port is in use.')),
    [late]: () => clock.advance(admin.limits.effectDeadlineMs),
    [abandoned]: async () => (freed = await admin.abandon(admin.commands()[0]?.id ?? '')),
    [left]: () => client.abort(),
  };
  for (const input of path) {
    freed = undefined;
    await inputs[input]?.();
    // Shorter than the deadline of an effect; after a 504, longer than the pause between two calls of `inspect`.
    await clock.advance(answer === undefined ? 1000 : 6000);
  }
  const to = stateOfCommand(admin, answer, types);
  const remark = remarkOf(path.at(-1) === abandoned ? freed : answer);
  return { to, ...(remark === undefined ? {} : { remark }) };
}

/** The types of the events of an interface, as they happen. */
function typesOf(admin: Admin): ReadonlySet<string> {
  const types = new Set<string>();
  const read = async (): Promise<void> => {
    for await (const event of admin.events()) if ('event' in event) types.add(event.event.type);
  };
  void read();
  return types;
}

function stateOfCommand(
  admin: Admin,
  answer: Execution | 'cancelled' | undefined,
  types: ReadonlySet<string>,
): string {
  const inFlight = admin.commands().find(({ type }) => type === 'service.started');
  if (inFlight !== undefined) return inFlight.outcome;
  if (answer === undefined) return 'waiting';
  if (answer === 'cancelled') return 'cancelled';
  if (answer.outcome === 'refused') return 'refused';
  if (types.has('service.started')) return 'done';
  return types.has('command.failed') ? 'failed' : 'abandoned';
}

function remarkOf(answer: Execution | 'cancelled' | undefined): string | undefined {
  if (answer === undefined || answer === 'cancelled' || answer.outcome !== 'refused') return undefined;
  return codeOf(answer.problem);
}

function codeOf({ status, code }: Problem): string {
  return `${String(status)} \`${code}\``;
}

const machines: readonly Machine[] = [services, servers, sessions, commands];
