/**
 * The steps of scenarios: one row for each. A word in angle brackets stands for one of its kind, and what stands in
 * square brackets may be left out.
 */
import {
  createRoles,
  EffectRefusedError,
  type GatewayPort,
  type HostReport,
  type Json,
  type ServerStatusWord,
} from 'gateway-admin-core';
import type { ApplyWay, InspectWay } from 'gateway-admin-core/testing';

import { bringGateway } from '../fleet/simulation/bringing.ts';
import { setReadOnly } from '../support/read-only.ts';
import { storeWays, type StoreWay } from './store.ts';
import type { Place, Request, Stage } from './stage.ts';

/** The kinds of words. */
const kinds = {
  client: String.raw`[\w-]+`,
  duration: String.raw`\d+(?:ms|s|min|h)`,
  json: String.raw`[[{].*`,
  name: String.raw`[^\s,]+`,
  node: String.raw`[a-z]`,
  nodes: String.raw`[a-z]+`,
  side: 'ahead|behind',
  number: String.raw`\d+`,
  request: String.raw`[A-Z]+ /.*`,
  ways: String.raw`[^:]+`,
  words: String.raw`[\w ]*`,
} as const;

type Given = Readonly<Record<string, string | undefined>>;

interface Row {
  readonly form: string;
  /** What the step means. */
  readonly means: string;
  readonly perform: (stage: Stage, given: Given) => void | Promise<void>;
}

/** Every step. */
export const vocabulary: readonly Row[] = [
  {
    form: 'document <json>',
    means: 'what the gateway and the interface begin with, in place of the usual document',
    perform: (stage, { json = '' }) => {
      stage.document = JSON.parse(json) as typeof stage.document;
    },
  },
  {
    form: 'options <json>',
    means: 'options of `openAdmin`, for the processes that start from now on',
    perform: (stage, { json = '' }) => {
      stage.options = JSON.parse(json) as typeof stage.options;
    },
  },
  {
    form: 'roles <json>',
    means: 'who may do what, as `createRoles` takes it, in the processes that start from now on',
    perform: (stage, { json = '' }) => {
      const authorize = createRoles(JSON.parse(json) as Parameters<typeof createRoles>[0]);
      stage.options = { ...stage.options, access: { ...stage.options.access, authorize } };
    },
  },
  {
    form: 'show audit',
    means: 'the audit records of the processes that start from now on are seen',
    perform: ({ shows }) => {
      shows.audit = true;
    },
  },
  {
    form: 'show log',
    means: 'the lines that the processes that start from now on log are seen',
    perform: ({ shows }) => {
      shows.log = true;
    },
  },
  {
    form: 'show texts',
    means:
      'from now on, errors, refusals and failures are seen with all of their text, and audit records with what was changed',
    perform: (stage) => {
      stage.showsTexts = true;
    },
  },
  {
    form: 'start[ <node>]',
    means: 'a process of the interface starts; the first request starts one by itself',
    perform: (stage, { node }) => stage.start(stage.place(node)),
  },
  {
    form: 'close[ <node>]',
    means: 'the process closes the interface, and ends',
    perform: (stage, { node }) => stage.clock.waitFor(closed(stage.place(node))),
  },
  {
    form: 'restart[ <node>]',
    means: 'the process closes the interface and ends, and another one starts',
    perform: async (stage, { node }) => {
      const place = stage.place(node);
      await stage.clock.waitFor(closed(place));
      await stage.start(place);
    },
  },
  {
    form: 'kill[ <node>]',
    means: 'the process dies at this moment; what it has asked for can still happen',
    perform: (stage, { node }) => {
      stage.place(node).process?.kill();
    },
  },
  {
    form: 'kill[ <node>] with its calls',
    means: 'the process dies at this moment, and what it has asked for, and has not got, never happens',
    perform: (stage, { node }) => {
      const { process, gateway } = stage.place(node);
      process?.kill();
      gateway.dropCalls();
    },
  },
  {
    form: 'pause[ <node>]',
    means: 'the process stands still at this moment: nothing wakes it, and it answers nobody',
    perform: (stage, { node }) => {
      stage.place(node).process?.pause();
    },
  },
  {
    form: 'go on[ <node>]',
    means: 'a process that stands still goes on where it stood',
    perform: (stage, { node }) => {
      stage.place(node).process?.goOn();
    },
  },
  {
    form: '[<node> ]clock is <duration> <side>',
    means: 'the clock of the process is so far `ahead` or `behind`; `0s ahead` for a right clock',
    perform: (stage, { node, duration, side }) => {
      stage.place(node).skewMs = millisecondsOf(duration) * (side === 'ahead' ? 1 : -1);
    },
  },
  {
    form: 'wait <duration>',
    means: 'time passes',
    perform: (stage, { duration }) => stage.clock.advance(millisecondsOf(duration)),
  },
  {
    form: 'wait until idle',
    means: 'time passes until nothing is left to do',
    perform: async (stage) => {
      if (!(await stage.clock.runUntilIdle())) stage.say('it does not come to rest');
    },
  },
  {
    form: '<client>[@<nodes>][ with <json>]: <request>',
    means:
      'a client sends a method, a target and a body if it has one; ` + ` makes one command of several; `, if unchanged` since the client read it last; `, as planned` by the last dry run of the client; `, waits 5s` for the other nodes; `@ab` asks node a, and node b at the same moment; `{ada}` is the id of the last command of ada; `with` gives headers; `nobody` is a client whom the host does not know',
    perform: async (stage, { client = '', nodes, json, request = '' }) => {
      const places = nodes === undefined ? [stage.place()] : Array.from(nodes, (node) => stage.place(node));
      const headers = json === undefined ? {} : (JSON.parse(json) as Record<string, string>);
      const sent = { ...readRequest(request), headers };
      await Promise.all(places.map((place) => stage.send(place, client, sent)));
    },
  },
  {
    form: '[<node> ]gateway: <ways>',
    means: 'what the gateway does with the next effects, in order',
    perform: (stage, { node, ways }) => {
      for (const way of listed(ways)) {
        const place = stage.place(node);
        if (way === 'hold it') stage.hold(place);
        else place.next.ways.push(applyWay(stage, way));
      }
    },
  },
  {
    form: '[<node> ]gateway always: <ways>',
    means: 'what the gateway does with all later effects',
    perform: (stage, { node, ways = '' }) => {
      stage.always(stage.place(node), { apply: applyWay(stage, ways) });
    },
  },
  {
    form: '[<node> ]gateway sees: <ways>',
    means: 'what the gateway says next when it is asked whether an effect is in place',
    perform: (stage, { node, ways }) => {
      stage.place(node).next.sights.push(...listed(ways).map((way) => inspectWay(stage, way)));
    },
  },
  {
    form: '[<node> ]gateway always sees: <ways>',
    means: 'what the gateway says from now on when it is asked whether an effect is in place',
    perform: (stage, { node, ways = '' }) => {
      stage.always(stage.place(node), { inspect: inspectWay(stage, ways) });
    },
  },
  {
    form: '[<node> ]gateway supports <ways>',
    means:
      'what the gateway supports in the processes that start from now on: `create`, `delete`, `drain` or `nothing`',
    perform: (stage, { node, ways }) => {
      stage.place(node).supports = (ways === 'nothing' ? [] : listed(ways)) as GatewayPort['supports'];
    },
  },
  {
    form: '[<node> ]gateway is well',
    means: 'the gateway does what it is asked, and says the truth',
    perform: (stage, { node }) => {
      const place = stage.place(node);
      place.next.ways.length = 0;
      place.next.sights.length = 0;
      stage.always(place, { apply: 'done', inspect: 'answer' });
    },
  },
  {
    form: '[<node> ]gateway does what it holds',
    means: 'the gateway does what it has held for the longest time, and answers',
    perform: (stage, { node }) => heldAt(stage.place(node)).done(),
  },
  {
    form: '[<node> ]gateway does all that it holds',
    means: 'the gateway does everything that it has held, in order, and answers',
    perform: async (stage, { node }) => {
      const place = stage.place(node);
      while (place.held.length > 0) {
        heldAt(place).done();
        await stage.clock.settle();
      }
    },
  },
  {
    form: '[<node> ]gateway fails what it holds',
    means: 'the gateway answers what it has held for the longest time with an error, and has not done it',
    perform: (stage, { node }) => heldAt(stage.place(node)).fail(new Error('The gateway failed.')),
  },
  {
    form: '[<node> ]gateway refuses what it holds',
    means: 'the gateway refuses what it has held for the longest time',
    perform: (stage, { node }) =>
      heldAt(stage.place(node)).fail(new EffectRefusedError('The port is taken.')),
  },
  {
    form: '[<node> ]gateway loses its calls',
    means: 'what the gateway was asked for, and has not done, never happens',
    perform: (stage, { node }) => {
      stage.place(node).gateway.dropCalls();
    },
  },
  {
    form: '[<node> ]gateway has <number> sessions of <name>',
    means: 'clients open so many sessions on a service',
    perform: (stage, { node, number, name = '' }) => {
      const place = stage.place(node);
      for (let left = Number(number); left > 0; left -= 1)
        stage.report(place, place.gateway.openSession(name));
    },
  },
  {
    form: '[<node> ]gateway connects session <number> to <name>',
    means: 'a session opens a connection to a server',
    perform: (stage, { node, number, name = '' }) => {
      const place = stage.place(node);
      stage.report(place, place.gateway.openConnection(Number(number), name));
    },
  },
  {
    form: '[<node> ]gateway ends session <number>',
    means: 'the client of a session disconnects',
    perform: (stage, { node, number }) => {
      const place = stage.place(node);
      stage.report(place, place.gateway.closeSession(Number(number)));
    },
  },
  {
    form: '[<node> ]gateway says that <name> has failed',
    means: 'a service or monitor that is started fails',
    perform: (stage, { node, name = '' }) => {
      const place = stage.place(node);
      const { gateway } = place;
      stage.report(place, (isMonitor(place, name) ? gateway.failMonitor : gateway.failService)(name));
    },
  },
  {
    form: '[<node> ]gateway says that <name> runs again',
    means: 'a service or monitor that has failed recovers',
    perform: (stage, { node, name = '' }) => {
      const place = stage.place(node);
      const { gateway } = place;
      stage.report(place, (isMonitor(place, name) ? gateway.recoverMonitor : gateway.recoverService)(name));
    },
  },
  {
    form: '[<node> ]gateway finds <name>[ <words>]',
    means: 'a monitor finds the status of a server',
    perform: (stage, { node, name = '', words = '' }) => {
      const place = stage.place(node);
      const status = words.split(' ').filter((word) => word !== '') as ServerStatusWord[];
      stage.report(place, place.gateway.findStatus(name, status));
    },
  },
  {
    form: '[<node> ]host reports <json>',
    means: 'the host reports what the gateway has not done',
    perform: (stage, { node, json = '' }) => {
      stage.report(stage.place(node), JSON.parse(json) as HostReport);
    },
  },
  {
    form: '[<node> ]host reports everything',
    means: 'the host reports the sessions and states that the gateway has, and that this is all',
    perform: (stage, { node }) => {
      const place = stage.place(node);
      const { gateway } = place;
      stage.report(place, [
        ...gateway.sessionReports(),
        ...gateway.statusReports(),
        { type: 'sessions.complete' },
      ]);
    },
  },
  {
    form: '[<node> ]host brings its gateway',
    means: 'the host gives the gateway what the interface shows, as after each start of a node',
    perform: (stage, { node }) => {
      const { gateway, process } = stage.place(node);
      if (process?.admin === undefined) return;
      process.isBrought = true;
      void bringGateway({ admin: process.admin, gateway, process, clock: stage.clock });
    },
  },
  {
    form: 'host gives a sink',
    means: 'the processes that start from now on have an audit sink; what it keeps is seen',
    perform: (stage) => {
      giveSink(stage, false);
    },
  },
  {
    form: 'host requires a sink',
    means: 'the same, and the sink is required',
    perform: (stage) => {
      giveSink(stage, true);
    },
  },
  {
    form: 'sink rejects',
    means: 'the sink rejects all later calls',
    perform: ({ sink }) => {
      sink.way = 'rejects';
    },
  },
  {
    form: 'sink is silent',
    means: 'the sink answers no later call',
    perform: ({ sink }) => {
      sink.way = 'is silent';
    },
  },
  {
    form: 'sink is well',
    means: 'the sink keeps what it is given',
    perform: ({ sink }) => {
      sink.way = 'works';
    },
  },
  {
    form: '[<node> ]host begins the read-only mode',
    means: 'the program executes `patchInterface`',
    perform: (stage, { node }) => {
      changeMode(stage.place(node), true);
    },
  },
  {
    form: '[<node> ]host ends the read-only mode',
    means: 'the program ends the mode',
    perform: (stage, { node }) => {
      changeMode(stage.place(node), false);
    },
  },
  {
    form: 'compare[ <node>]',
    means: 'where the gateway and the interface differ, at one node or at every node',
    perform: (stage, { node }) => {
      const places = node === undefined ? stage.places : [stage.place(node)];
      const differences = places.flatMap(differencesAt);
      stage.say(differences.length === 0 ? 'no difference' : differences.join('\n'));
    },
  },
  {
    form: 'start <node> as <name>',
    means: 'a process begins under the name of another node',
    perform: (stage, { node, name = '' }) => stage.start(stage.place(node), { node: name }),
  },
  {
    form: '[<node> ]store: <ways>',
    means: 'what becomes of the next calls that write into the store, in order; of all nodes, or of one',
    perform: ({ store }, { node, ways }) => {
      store.line(node).next.push(...listed(ways).map(storeWay));
    },
  },
  {
    form: '[<node> ]store always: <ways>',
    means: 'what becomes of all later calls that write into the store',
    perform: ({ store }, { node, ways = '' }) => {
      store.line(node).always = storeWay(ways);
    },
  },
  {
    form: '[<node> ]store is well',
    means: 'the store keeps what it is given',
    perform: ({ store }, { node }) => {
      const line = store.line(node);
      line.next.length = 0;
      line.always = 'works';
    },
  },
  {
    form: 'store gives no hints',
    means: 'a node learns what the others have done when it reads the log, once a second or for an answer',
    perform: ({ store }) => {
      store.givesHints = false;
    },
  },
  {
    form: 'store is backed up',
    means: 'the host takes a backup of the shared store',
    perform: ({ store }) => {
      store.backUp();
    },
  },
  {
    form: 'store is set back',
    means: 'the host restores the backup, while the nodes run',
    perform: ({ store }) => {
      store.setBack();
    },
  },
  {
    form: 'store is compacted',
    means: 'another node writes the state in place of the records of the log',
    perform: ({ store, snapshot }) => store.compact(snapshot),
  },
  {
    form: 'store gets <json>',
    means: 'a node that is not in the scenario appends a record to the log',
    perform: (stage, { json = '' }) => stage.store.take(JSON.parse(stage.drawn(json)) as Json),
  },
  {
    form: '<node> is cut off',
    means: 'a node does not reach the store',
    perform: ({ store }, { node }) => {
      store.line(node).isCut = true;
    },
  },
  {
    form: '<node> is back',
    means: 'a node reaches the store again',
    perform: ({ store }, { node }) => {
      store.line(node).isCut = false;
    },
  },
  {
    form: '<node> is mute',
    means: 'a node cannot announce itself to the others',
    perform: ({ store }, { node }) => {
      store.line(node).isMute = true;
    },
  },
  {
    form: '<node> is heard',
    means: 'a node can announce itself again',
    perform: ({ store }, { node }) => {
      store.line(node).isMute = false;
    },
  },
];

const rules = vocabulary.map((row) => ({ ...row, pattern: patternOf(row.form) }));

/** Performs a step. */
export async function perform(stage: Stage, text: string): Promise<void> {
  const found = rules.flatMap(({ pattern, perform: act }) => {
    const match = pattern.exec(text);
    return match === null ? [] : [() => act(stage, match.groups ?? {})];
  });
  const [act, ...others] = found;
  if (act === undefined) throw new Error(`There is no step "${text}"`);
  if (others.length > 0) throw new Error(`"${text}" is more than one step`);
  await act();
  await stage.clock.settle();
}

/** A form as a pattern with a group for each word in angle brackets, and for each text that may be left out. */
function patternOf(form: string): RegExp {
  const source = form
    .replace(/[.@]/g, String.raw`\$&`)
    .replace(/\[([^\]]*)\]/g, '(?:$1)?')
    .replace(/(?<!\?)<(\w+)>/g, (_all, kind: keyof typeof kinds) => `(?<${kind}>${kinds[kind]})`);
  return new RegExp(`^${source}$`);
}

/** A request, or several that are one command. */
function readRequest(text: string): Request {
  const [, parts = '', how = ''] = /^(.*?)((?:, if unchanged|, as planned|, waits \d+s)*)$/.exec(text) ?? [];
  const commands = parts.split(' + ').map((part) => {
    const [, method = '', path = '', body] = /^(\S+) (\S+)(?: (.+))?$/.exec(part) ?? [];
    return { method, path, ...(body === undefined ? {} : { body: JSON.parse(body) as Json }) };
  });
  const [, seconds] = /waits (\d+)s/.exec(how) ?? [];
  const conditions = {
    isConditional: how.includes('if unchanged'),
    isPlanned: how.includes('as planned'),
    ...(seconds === undefined ? {} : { waitS: Number(seconds) }),
  };
  const [{ method, path, body } = { method: '', path: '' }, ...others] = commands;
  return others.length === 0
    ? { method, target: path, ...(body === undefined ? {} : { body }), ...conditions }
    : { method: 'POST', target: '/sequence', body: { commands }, ...conditions };
}

function listed(ways = ''): readonly string[] {
  return ways.split(', ');
}

function isMonitor({ gateway }: Place, name: string): boolean {
  return name.toLowerCase() in gateway.state.monitors;
}

function giveSink(stage: Stage, required: boolean): void {
  stage.options = { ...stage.options, observe: { audit: { sink: stage.sink, required } } };
}

function changeMode({ process }: Place, isReadOnly: boolean): void {
  if (process?.admin !== undefined) void setReadOnly(process.admin, isReadOnly);
}

async function closed({ process }: Place): Promise<void> {
  await process?.close();
}

function differencesAt({ node, gateway, process }: Place): readonly string[] {
  const at = node === undefined ? '' : `${node}: `;
  const found =
    process?.admin === undefined ? ['nothing is open'] : gateway.differences(process.admin.snapshot);
  return found.map((difference) => at + difference);
}

function heldAt({ held }: Place): NonNullable<ReturnType<typeof held.shift>> {
  const oldest = held.shift();
  if (oldest === undefined) throw new Error('The gateway holds nothing');
  return oldest;
}

function storeWay(way: string): StoreWay {
  const known = storeWays.find((each) => each === way);
  if (known === undefined) throw new Error(`The store knows: ${storeWays.join(', ')}`);
  return known;
}

/** What a gateway can do with an effect, in words. */
const applyWays: Readonly<Record<string, ApplyWay>> = {
  'do it': 'done',
  'refuse it': new EffectRefusedError('The port is taken.'),
  'fail before it': 'failBefore',
  'fail after it': 'failAfter',
  'be silent': 'silentBefore',
  'do it and be silent': (_effect, _context, act) => {
    act();
    return new Promise(() => undefined);
  },
  'do it twice': 'twice',
  throw: 'throwAtOnce',
};

/** Also: `do it after 12s`, `do it and answer after 12s`, `refuse it after 12s` and `fail after 12s`. */
function applyWay({ clock }: Stage, way: string): ApplyWay {
  const [, what = way, duration] = /^(.+) after (\d.*)$/.exec(way) ?? [];
  if (duration === undefined) {
    const known = applyWays[way];
    if (known === undefined)
      throw new Error(`The gateway cannot "${way}"; it can: ${Object.keys(applyWays).join(', ')}`);
    return known;
  }
  return async (_effect, _context, act) => {
    if (what === 'do it and answer') act();
    await clock.sleep(millisecondsOf(duration));
    if (what === 'do it') act();
    if (what === 'refuse it') throw new EffectRefusedError('The port is taken.');
    if (what === 'fail') throw new Error('The gateway failed.');
  };
}

const inspectWays: Readonly<Record<string, InspectWay>> = {
  'what is so': 'answer',
  'in place': 'in-place',
  'not in place': 'not-in-place',
  nothing: 'silent',
  'an error': 'fail',
};

/** Also: `not in place after 2s`: the gateway looks at once, and answers later. */
function inspectWay({ clock }: Stage, way: string): InspectWay {
  const [, what = '', duration] = /^(.+?)(?: after (\d.*))?$/.exec(way) ?? [];
  const known = inspectWays[what];
  if (known === undefined)
    throw new Error(`The gateway cannot see "${what}"; it can see: ${Object.keys(inspectWays).join(', ')}`);
  if (duration === undefined) return known;
  if (known !== 'in-place' && known !== 'not-in-place')
    throw new Error(`Only "in place" and "not in place" can come later`);
  return async () => {
    await clock.sleep(millisecondsOf(duration));
    return known;
  };
}

const units = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 } as const;

function millisecondsOf(duration = ''): number {
  const [, count, unit] = /^(\d+)(\D+)$/.exec(duration) ?? [];
  return Number(count) * units[unit as keyof typeof units];
}
