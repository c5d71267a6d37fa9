/**
 * Scenarios at random: what clients, the gateway, the store and the operator of the process could do next, as steps.
 */
import type { Random } from 'gateway-admin-core/testing';

/** What a client knows who has read along. */
export interface Known {
  /** The clients with a command whose id somebody was told. */
  readonly commands: readonly string[];
  /** How many clients have sent a request so far: each has a name of its own. */
  readonly clients: number;
  readonly theme: Theme;
}

/** What happens in one world: a world of few kinds of steps has more of what they do to each other. */
export interface Theme {
  readonly steps: readonly Draw[];
  readonly commands: readonly Command[];
}

/** Draws what can happen in a world. */
export function drawTheme(random: Random): Theme {
  const some = <T>(all: readonly T[], chance: number): readonly T[] => {
    const left = all.filter(() => random.chance(chance));
    return left.length === 0 ? all : left;
  };
  return random.chance(0.3)
    ? { steps: drawn, commands }
    : { steps: [...requests, ...some(drawn.slice(requests.length), 0.6)], commands: some(commands, 0.35) };
}

const services = ['Sales', 'Reports', 'New'] as const;
const servers = ['db-1', 'db-2', 'db-3'] as const;
const monitors = ['Watch', 'Probe'] as const;
const filters = ['Hint', 'Extra'] as const;
const places = [...services.map((name) => `/services/${name}`), ...servers.map((name) => `/servers/${name}`)];

/**
 * Draws what happens next: a step, or some that stay together. A number that differs from step to step makes changes that
 * can be told apart.
 */
export function drawSteps(random: Random, known: Known, number: number): readonly string[] {
  if (random.chance(0.07)) return random.pick(deaths);
  if (random.chance(0.05)) return conditional(random, known, number);
  if (random.chance(0.04)) return abandoned(random, known, number);
  if (random.chance(0.04)) return inBetween(random, known, number);
  if (random.chance(0.03)) return held(random, known, number);
  return [random.pick(known.theme.steps)(random, known, number)];
}

/** How each process begins: the host tells it what is open. */
export const beginning = ['start', 'host reports everything'] as const;

/** What the dead process had begun ends one way or the other before the next one starts. */
const deaths = ['close', 'kill', 'kill with its calls'].map((end) => [end, 'wait until idle', ...beginning]);

type Draw = (random: Random, known: Known, number: number) => string;
type Command = (random: Random, number: number) => string;

const request: Draw = (random, { clients, theme }, number) => {
  const asked = random.chance(0.15)
    ? drawParts(random, theme, number)
    : [random.pick(theme.commands)(random, number)];
  return `c${String(clients + 1)}: ${asked.join(' + ')}`;
};

/** Two or three commands that a sequence takes. */
function drawParts(random: Random, { commands: own }: Theme, number: number): readonly string[] {
  return Array.from({ length: 2 + random.below(2) }, (_, part) => {
    const asked = random.pick(own)(random, number + part * 100_000);
    return /\?| \/users/.test(asked) ? turn(random) : asked;
  });
}

const wayBack: Draw = (random, known, number) => {
  const { commands, clients } = known;
  if (commands.length === 0) return request(random, known, number);
  const how = random.pick(['undo', 'undo', 'restore'] as const);
  return `c${String(clients + 1)}: PUT /history/{${random.pick(commands)}}/${how}`;
};

const abandon: Draw = (random, known, number) => {
  const { commands, clients } = known;
  if (commands.length === 0) return request(random, known, number);
  return `c${String(clients + 1)}: DELETE /commands/{${random.pick(commands)}}`;
};

/** A client looks before it asks: at the resource, or at what its command would do. */
function conditional(random: Random, { clients, theme }: Known, number: number): readonly string[] {
  const client = `c${String(clients + 1)}`;
  const asked = random.pick(theme.commands)(random, number);
  const [method = '', path = '', ...body] = asked.split(' ');
  const isLong = path.includes('?');
  if (random.chance(0.5) && !isLong)
    return [
      `${client}: ${[method, `${path}?dry_run=true`, ...body].join(' ')}`,
      `${client}: ${asked}, as planned`,
    ];
  return [`${client}: GET ${path}`, `${client}: ${asked}, if unchanged`];
}

/** The gateway does what an operator has abandoned, after its deadline or never. */
function abandoned(random: Random, { clients, theme }: Known, number: number): readonly string[] {
  const client = `c${String(clients + 1)}`;
  const asked = random.pick(theme.commands)(random, number);
  return [
    `gateway: ${random.pick(['do it after 12s', 'do it after 12s', 'be silent'])}`,
    `${client}: ${asked}`,
    'wait 11s',
    `c${String(clients + 2)}: DELETE /commands/{${client}}`,
    'wait 2s',
    // Another life begins with what the abandoned command has left, whether its call has answered or not.
    ...(/^POST|\/(?:drain|start)/.test(asked) ? ['close', 'wait until idle', ...beginning] : []),
  ];
}

/** Something happens while the gateway carries out the second effect of a sequence, or the first one. */
function inBetween(random: Random, { clients, theme }: Known, number: number): readonly string[] {
  const parts = drawParts(random, theme, number);
  const begun = random.pick([[], ['do it'], ['do it', 'do it']]);
  const ways = [...begun, random.pick(['do it after 3s', 'be silent']), random.pick(['do it', 'refuse it'])];
  return [
    `gateway: ${ways.join(', ')}`,
    `c${String(clients + 1)}: ${parts.join(' + ')}`,
    ...random.pick([...deaths, [report(random)], [report(random)]]),
    'wait 5s',
  ];
}

/** The interface is read-only for a while, or until somebody else ends that. */
function held(random: Random, { clients, theme }: Known, number: number): readonly string[] {
  const [first = '', second = '', third = ''] = [1, 2, 3].map((more) => `c${String(clients + more)}`);
  const mode = (value: boolean) => ({ op: 'replace', path: '/read_only', value });
  const why = random.chance(0.5) ? [{ op: 'add', path: '/read_only_reason', value: String(number) }] : [];
  const ends = [`PUT /history/{${first}}/undo`, `PATCH / ${JSON.stringify([mode(false)])}`];
  return [
    `${first}: PATCH / ${JSON.stringify([mode(true), ...why])}`,
    ...random.pick([[], [report(random)], ['wait 12s'], random.pick(deaths)]),
    `${second}: ${random.pick(theme.commands)(random, number)}`,
    `${third}: ${random.pick(ends)}`,
  ];
}

/**
 * Steps that stay together, in simpler forms: a death that leaves nothing behind, without a look before, and with fewer
 * commands in a sequence.
 */
export function simplerUnits(texts: readonly string[]): readonly (readonly string[])[] {
  const death = texts.indexOf('wait until idle') - 1;
  const dead = ['kill with its calls', 'start'];
  const deaths = death < 0 ? [] : [texts.toSpliced(death, 2 + beginning.length, ...dead)];
  return [...deaths, ...texts.flatMap((text, at) => simplerAt(texts, text, at))];
}

function simplerAt(texts: readonly string[], text: string, at: number): readonly (readonly string[])[] {
  const plain = text.replace(/, (?:as planned|if unchanged)$/, '');
  if (plain !== text) return [[plain]];
  const [, client = '', asked = ''] = /^(c\d+(?:@[a-z])?: )(.*)$/.exec(text) ?? [];
  const parts = asked.split(' + ');
  const fewer =
    parts.length === 1 ? [] : parts.map((_, part) => client + parts.toSpliced(part, 1).join(' + '));
  // What belongs to a death stays with it.
  const isLeft = texts.length > 1 && /^(?:gateway|host|c\d+|wait \d)/.test(text);
  return [...fewer.map((each) => texts.with(at, each)), ...(isLeft ? [texts.toSpliced(at, 1)] : [])];
}

const gatewayWays = [
  'do it',
  'refuse it',
  'fail before it',
  'fail after it',
  'be silent',
  'do it and be silent',
  'do it twice',
  'throw',
  'do it after 3s',
  'do it after 12s',
  'do it and answer after 12s',
  'refuse it after 12s',
  'fail after 12s',
];
const sights = ['what is so', 'nothing', 'an error'];
const storeWays = ['rejects', 'rejects what it keeps', 'is silent', 'is silent about what it keeps'];

const requests: readonly Draw[] = Array.from({ length: 12 }, () => request);
const drawn: readonly Draw[] = [
  ...requests,
  wayBack,
  wayBack,
  abandon,
  (random) => `gateway: ${random.pick(gatewayWays)}`,
  (random) => `gateway: ${random.pick(gatewayWays)}`,
  (random) => `gateway sees: ${random.pick(sights)}`,
  (random) => `store: ${random.pick(storeWays)}`,
  (random) => `wait ${String(random.pick([1, 100, 1000, 5000, 10_000, 20_000]))}ms`,
  (random) => `wait ${String(random.pick([1, 10, 1000]))}ms`,
  (random) => `gateway connects session ${String(1 + random.below(4))} to ${random.pick(servers)}`,
  (random) => `gateway ends session ${String(1 + random.below(4))}`,
  (random) => `gateway has ${String(1 + random.below(3))} sessions of ${random.pick(['Sales', 'Reports'])}`,
  report,
];

/** The commands of clients, as method, path and body. */
const commands: readonly Command[] = [
  turn,
  turn,
  patch,
  patch,
  create,
  create,
  (random) =>
    `DELETE ${random.pick([...places, '/monitors/Probe', '/filters/Extra'])}${random.pick(['', '?detach=true'])}`,
  (random, number) =>
    `PUT ${random.pick(places)}/drain ${JSON.stringify(random.chance(0.5) ? { timeout: 1 + random.below(20), then: random.pick(['close', 'resume']), reason: String(number) } : { reason: String(number) })}`,
  (random) => `PUT ${random.pick(places)}/resume`,
  (random) => `DELETE ${random.pick(places.slice(0, 3))}/sessions`,
  (random) => `DELETE ${random.pick(places.slice(3))}/connections`,
  (random) => `${random.pick(['PUT', 'DELETE'])} ${random.pick(places.slice(3))}/maintenance`,
  (random, number) =>
    random.chance(0.5)
      ? `PUT /users ${JSON.stringify({ name: random.pick(['ada', 'eve']), password: `password ${String(number)}` })}`
      : `DELETE /users/${random.pick(['ada', 'eve'])}`,
  (random, number) =>
    `POST ${random.pick(places.slice(0, 3))}/listeners ${JSON.stringify({ name: random.pick(['In', 'Out']), protocol: 'pg', address: '::', port: 1 + (number % 65_000) })}`,
  (random) => `DELETE ${random.pick(places.slice(0, 3))}/listeners/${random.pick(['In', 'Out'])}`,
];

function report(random: Random): string {
  const name = random.pick(['Sales', 'Watch', 'New']);
  return `gateway says that ${name} ${random.pick(['has failed', 'runs again'])}`;
}

function turn(random: Random): string {
  const thing = random.pick([
    ...services.map((name) => `/services/${name}`),
    ...monitors.map((name) => `/monitors/${name}`),
  ]);
  return `PUT ${thing}/${random.pick(['start', 'stop'])}`;
}

function patch(random: Random, number: number): string {
  const link = (name: string): string => `/servers/${name}`;
  const some = servers.filter(() => random.chance(0.5)).map(link);
  const patches = [
    [random.pick(services), 'services', 'max_connection', number],
    [random.pick(services), 'services', 'servers', some],
    [
      random.pick(services),
      'services',
      'filters',
      filters.filter(() => random.chance(0.5)).map((name) => `/filters/${name}`),
    ],
    [random.pick(servers), 'servers', 'port', 1 + (number % 65_000)],
    [random.pick(monitors), 'monitors', 'monitor_interval', number],
    [random.pick(monitors), 'monitors', 'servers', some],
  ] as const;
  const [name, collection, field, value] = random.pick(patches);
  return `PATCH /${collection}/${name} ${JSON.stringify([{ op: 'replace', path: `/${field}`, value }])}`;
}

function create(random: Random, number: number): string {
  const kind = random.pick(['a', 'b']);
  const some = servers.filter(() => random.chance(0.4)).map((name) => `/servers/${name}`);
  const made = [
    ['servers', { name: 'db-3', address: kind, port: 1 + (number % 65_000), protocol: 'pg' }],
    [
      'services',
      {
        name: random.pick(['New', 'NEW']),
        router: kind,
        servers: some,
        max_connection: number,
        state: random.pick(['started', 'stopped']),
      },
    ],
    ['monitors', { name: 'Probe', module: kind, servers: some, state: random.pick(['started', 'stopped']) }],
    ['filters', { name: 'Extra', module: kind, parameters: {} }],
  ] as const;
  const [collection, definition] = random.pick(made);
  return `POST /${collection} ${JSON.stringify(definition)}`;
}
