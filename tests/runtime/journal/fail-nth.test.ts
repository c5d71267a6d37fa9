/**
 * Each command of a client, with each fault in each of its calls of the gateway and of the store: the laws of scenarios
 * hold, and what is shown at rest is what the client was told.
 */
import { describe, expect, it } from '@jest/globals';

import { faultsAtRest } from '../../scenario/law.ts';
import type { Step } from '../../scenario/scenario.ts';
import { Stage } from '../../scenario/stage.ts';
import { storeWays } from '../../scenario/store.ts';
import { perform } from '../../scenario/vocabulary.ts';
import { configuration } from '../../support/configuration.ts';

const entry = (more: object): string => JSON.stringify({ name: 'New', ...more });
const patch = (target: string, path: string, value: unknown): string =>
  `PATCH ${target} ${JSON.stringify([{ op: 'replace', path, value }])}`;
const listener = { protocol: 'pg', address: '::1', port: 4011 };

/** A command for each type of event, and what they make. */
const commands: Readonly<Record<string, string>> = {
  'service.started': 'PUT /services/Reports/start',
  'service.stopped': 'PUT /services/Sales/stop',
  'service.updated': patch('/services/Sales', '/max_connection', 7),
  'monitor.started': 'PUT /monitors/Probe/start',
  'monitor.stopped': 'PUT /monitors/Watch/stop',
  'monitor.updated': patch('/monitors/Watch', '/monitor_interval', 7),
  'server.updated': patch('/servers/db-1', '/port', 7),
  'filter.updated': patch('/filters/Hint', '/parameters/match/value', 'b'),
  'sessions.closed of one': 'DELETE /sessions/2',
  'sessions.closed': 'DELETE /services/Sales/sessions',
  'connections.closed': 'DELETE /servers/db-1/connections',
  'logs.flushed': 'POST /gateway/logs/flush',
  'server.created': `POST /servers ${entry({ address: '10.0.0.2', port: 1, protocol: 'pg' })}`,
  'service.created': `POST /services ${entry({ router: 'cli', servers: ['/servers/db-1'] })}`,
  'monitor.created': `POST /monitors ${entry({ module: 'pgmon' })}`,
  'filter.created': `POST /filters ${entry({ module: 'tee' })}`,
  'server.deleted': 'DELETE /servers/spare',
  'service.deleted': 'DELETE /services/Reports',
  'monitor.deleted': 'DELETE /monitors/Probe',
  'filter.deleted': 'DELETE /filters/Extra',
  'listener.created': `POST /services/Sales/listeners ${entry(listener)}`,
  'listener.deleted': 'DELETE /services/Sales/listeners/first',
  'user.created': `PUT /users ${entry({ password: 'plum pie' })}`,
  'user.updated': patch('/users/root', '/password', 'plum pie'),
  'user.deleted': 'DELETE /users/eve',
  'logs.flushed at last': [
    'PUT /services/Sales/stop',
    patch('/servers/db-1', '/port', 7),
    `PUT /users ${entry({ password: 'plum pie' })}`,
    'PUT /monitors/Probe/start',
    'DELETE /services/Sales/sessions',
  ].join(' + '),
};

const servers = ['db-1', 'spare'].map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' }));
const document = JSON.stringify({
  servers,
  services: [
    {
      ...{ name: 'Sales', router: 'readconnroute', servers: ['/servers/db-1'], max_connection: 5 },
      listeners: [{ name: 'first', protocol: 'pg', address: '::1', port: 4010 }],
    },
    { name: 'Reports', router: 'readconnroute', state: 'stopped' },
  ],
  monitors: [
    { name: 'Watch', module: 'pgmon', monitor_interval: 1000 },
    { name: 'Probe', module: 'pgmon', state: 'stopped', monitor_interval: 1000 },
  ],
  filters: [
    { name: 'Hint', module: 'hintfilter', parameters: { match: { value: 'a', configurable: true } } },
    { name: 'Extra', module: 'tee' },
  ],
  users: ['root', 'eve'].map((name) => ({ name, password: { sealed: 'hash of x' } })),
});
const beginning = [
  `document ${document}`,
  'start',
  'gateway has 3 sessions of Sales',
  ...[0, 1, 2].map((session) => `gateway connects session ${String(session)} to db-1`),
];

/** Performs steps, and gives them with what was seen. */
async function play(stage: Stage, texts: readonly string[]): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const text of texts) {
    await perform(stage, text);
    steps.push({ text, seen: stage.takeSeen() });
  }
  return steps;
}

/** What is configured. Times differ from run to run. */
function shownAt(stage: Stage): string {
  const snapshot = stage.place().process?.admin?.snapshot;
  if (snapshot === undefined) throw new Error('Nothing is open');
  return JSON.stringify(configuration(snapshot)).replace(
    /"(started|last_flushed)":"\d[^"]*"/g,
    '"$1":"then"',
  );
}

/** The steps, what the client was told, and what is shown, after the command and at rest. */
async function run(command: string, before: readonly string[], after: readonly string[] = []) {
  const stage = new Stage();
  const begun = await play(stage, beginning);
  const first = shownAt(stage);
  const calls = stage.passed.length;
  const steps = [...begun, ...(await play(stage, [...before, `c1: ${command}`, 'wait 1min', ...after]))];
  const texts = steps.flatMap(({ seen }) => seen);
  const [status = 0] = texts.flatMap((text) => /^c1: (\d+)/.exec(text)?.slice(1).map(Number) ?? []);
  const applies = stage.passed.slice(calls).filter(({ what }) => what === 'call').length;
  const left = stage.store.line().next.length + stage.place().next.ways.length;
  const faults = await faultsAtRest(stage, steps);
  const { command: id } = stage.passed.find((each) => each.what === 'answer') ?? {};
  const told = stage.passed.flatMap((each) =>
    each.what === 'event' && each.command === (id ?? 's-1') ? [each.type] : [],
  );
  return { status, told, applies, left, faults, first, last: shownAt(stage) };
}

/** Whether a run is right that ends with one of the answers. */
function expectTruth(
  { status, faults, first, last, told }: Awaited<ReturnType<typeof run>>,
  done: string,
  what: string,
): void {
  const isCreating = what.includes('POST /') || what.includes(' + ');
  expect([what, faults]).toEqual([what, []]);
  expect([what, status]).toEqual([what, expect.any(Number)]);
  if (status < 300) expect([what, last]).toEqual([what, done]);
  else if (status !== 504 && !isCreating) expect([what, last]).toEqual([what, first]);
  else if (!isCreating) expect([first, done]).toContain(last);
  // What becomes of a 504 is told by an event, unless nothing was kept of it before the interface closed.
  if (status === 504 && !what.includes('up to the end')) expect([what, told.length]).not.toEqual([what, 0]);
}

const applyWays = [
  ...['refuse it', 'fail before it', 'fail after it', 'throw', 'be silent', 'do it and be silent'],
  ...['do it twice', 'do it after 12s'],
];
/** Calls after which the gateway is asked, with what it says twice. */
const lookedAt = [
  ['fail before it', 'not in place after 12s'],
  ['fail after it', 'nothing'],
  ['fail after it', 'in place after 12s'],
  ['do it and be silent', 'an error'],
] as const;
/** How often the store fails, and what follows: once, for long, and up to the end of the process. */
const outages = [
  [1, ['compare'], 'once'],
  [12, ['wait 10min'], 'for long'],
  [99, ['close', 'store is well', 'start'], 'up to the end'],
] as const;
const storeFaults = storeWays.filter((way) => /^(?:rejects|is silent)/.test(way));

it('has a command for each type of event', async () => {
  for (const [type, command] of Object.entries(commands)) {
    const { status, told } = await run(command, []);
    expect([command, status < 300]).toEqual([command, true]);
    if (!type.includes(' ')) expect(told).toContain(type);
  }
});

/** These go all ways that commands go: with an effect, with none, with several, with one in parts, and back. */
const whole = [
  'service.stopped',
  'user.created',
  'service.created',
  'sessions.closed',
  'logs.flushed at last',
];

describe.each(Object.entries(commands).map((entry, at) => [...entry, at] as const))(
  '%s',
  (type, command, at) => {
    /** Every other command gets each fourth fault in each call, beginning with another one. */
    const isWhole = whole.includes(type) || process.env['PROPERTY_RUNS'] === 'many';
    const dealt = <T>(faults: readonly T[], from = 0): readonly T[] =>
      faults.filter((_fault, index) => isWhole || (index + from + at) % 4 === 0);

    // Promise: failed-apply
    // Promise: failed-inspect
    it('tells the truth after each fault in each call of the gateway', async () => {
      const { applies, last } = await run(command, []);
      for (let good = 0; good < applies; good += 1) {
        const well = Array<string>(good).fill('do it');
        const gateways = [
          ...applyWays.map((way) => [`gateway: ${[...well, way].join(', ')}`]),
          ...lookedAt.map(([way, sight]) => [
            `gateway: ${[...well, way].join(', ')}`,
            `gateway sees: ${sight}, ${sight}`,
          ]),
        ];
        for (const before of dealt(gateways))
          expectTruth(await run(command, before), last, `${before.join()} ${command}`);
      }
    });

    // Promise: store-call
    // Promise: store-recovers
    it('tells the truth after each fault in each call of the store', async () => {
      const { last, left } = await run(command, [`store: ${Array<string>(99).fill('works').join(', ')}`]);
      for (const [from, way] of storeFaults.entries())
        for (let good = 0; good < 99 - left; good += 1)
          for (const [times, after, what] of dealt(outages, from)) {
            const ways = [...Array<string>(good).fill('works'), ...Array<string>(times).fill(way)];
            const outage = `store: ${ways.join(', ')}`;
            expectTruth(await run(command, [outage], after), last, `${what} ${outage} ${command}`);
          }
    });
  },
);
