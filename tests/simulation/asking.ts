/**
 * Clients that send requests: they read with tags, and name a tag that they have read in what they send later. One
 * whole tag stands for one body, in all lives.
 */
import {
  changePassword,
  closeServerConnections,
  closeServiceSessions,
  closeSession,
  closeSessions,
  deleteUser,
  flushLogs,
  patchService,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  type AdminRequest,
  type Problem,
  type Transition,
} from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import { wholeOf } from '../support/closing.ts';
import type { Asked, Reply, Tag } from './answer.ts';
import { inSequence, patchOf } from './command.ts';

const patchables = [
  ...['/services/Sales', '/services/Reports', '/servers/db-1', '/servers/db-2'],
  ...['/monitors/Watch', '/monitors/Probe', '/filters/Hint'],
] as const;

const readables = [
  ...patchables,
  ...['/services', '/servers', '/monitors', '/filters', '/users', '/services/Sales/listeners', '/'],
] as const;

/** The values that are patched, by collection. */
const fields: Readonly<
  Record<string, readonly [path: string, valueOf: (number: number) => number | string]>
> = {
  services: ['/max_connection', (number) => number],
  servers: ['/port', (number) => 1 + (number % 65_535)],
  monitors: ['/monitor_interval', (number) => number],
  filters: ['/parameters/match/value', String],
};

/** Waits for nothing, and changes nothing. */
const nothing: Transition = (snapshot, context) =>
  changePassword(snapshot, 'nobody', { sealed: '' }, context);

export class Clients {
  readonly faults: string[] = [];
  readonly #random: Random;
  /** The tags that clients have read. */
  readonly #tags: Tag[] = [];
  /** The bodies that were shown, by target and whole tag. */
  readonly #bodies = new Map<string, string>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** @param number - differs from command to command */
  next(number: number, seals: boolean): Asked {
    const random = this.#random;
    if (seals && random.chance(0.3)) return this.#password(number);
    const makers = [
      () => this.#reading(),
      () => this.#reading(),
      () => this.#patch(number),
      () => this.#patchTwice(number),
      () => this.#turn(),
      () => this.#deletion(),
    ];
    return random.pick(makers)();
  }

  /** A client reads an answer. */
  look({ method, target }: AdminRequest, { etag, body }: Reply): void {
    if (etag === undefined) return;
    this.#tags.push({ link: target, text: etag });
    const shown = method === 'GET' ? body : asRead(body);
    const key = `${target} ${etag}`;
    const before = this.#bodies.get(key) ?? shown;
    this.#bodies.set(key, shown);
    if (before !== shown) this.faults.push(`${key} is shown as ${shown}, and was ${before}`);
  }

  #reading(): Asked {
    const request = { method: 'GET', target: this.#random.pick(readables), headers: {} };
    return { kind: `GET ${request.target}`, step: nothing, changes: [], request };
  }

  #patch(number: number): Asked {
    const { link, ...asked } = anyPatch(this.#random, number);
    return this.#withTag(link, asked);
  }

  /** One request patches a resource twice. Both commands name the tag that was read before. */
  #patchTwice(number: number): Asked {
    const first = anyPatch(this.#random, number);
    const parts = [first, anyTurn(this.#random), patchAt(first.link, number + 100_000)];
    const tag = this.#tagOf(first.link);
    return { ...inOneRequest(parts, tag), ...(tag && { tag }) };
  }

  #password(number: number): Asked {
    const { link, ...asked } = anyPassword(this.#random, number);
    return this.#withTag(link, asked);
  }

  #turn(): Asked {
    const { link, ...asked } = anyTurn(this.#random);
    return this.#withTag(link, asked);
  }

  #deletion(): Asked {
    const name = this.#random.pick(['ada', 'grace']);
    return {
      kind: 'deleteUser',
      step: (snapshot, context) => deleteUser(snapshot, name, context),
      changes: [{ [`${name} password`]: undefined }],
      request: { method: 'DELETE', target: `/users/${name}`, headers: {} },
    };
  }

  #withTag(link: string, asked: Asked & { readonly request: AdminRequest }): Asked {
    const tag = this.#tagOf(link);
    if (tag === undefined) return asked;
    const headers = { ...asked.request.headers, 'if-match': tag.text };
    return { ...asked, request: { ...asked.request, headers }, tag };
  }

  /** A tag that was read, the newest one as a rule. */
  #tagOf(link: string): Tag | undefined {
    const tags = this.#tags.filter((each) => each.link === link);
    if (tags.length === 0 || this.#random.chance(0.2)) return undefined;
    return this.#random.chance(0.7) ? tags.at(-1) : this.#random.pick(tags);
  }
}

/** A request for a change of a resource. */
export interface Requesting extends Asked {
  readonly request: AdminRequest;
}

/** A request for a change of one resource. */
interface Changing extends Requesting {
  /** The link of the resource. */
  readonly link: string;
}

function anyPatch(random: Random, number: number): Changing {
  return patchAt(random.pick(patchables), number);
}

function patchAt(link: string, number: number): Changing {
  const [, collection = '', name = ''] = link.split('/');
  const [path, valueOf] = fields[collection] ?? ['', String];
  const operations = [{ op: 'replace', path, value: valueOf(number) }];
  return { link, ...patchOf(name, number), ...patching(link, operations) };
}

function anyTurn(random: Random): Changing {
  const isService = random.chance(0.5);
  const name = random.pick(isService ? ['Sales', 'Reports'] : ['Watch', 'Probe']);
  const how = random.pick(['start', 'stop'] as const);
  const [start, stop] = isService ? [startService, stopService] : [startMonitor, stopMonitor];
  const turn = how === 'start' ? start : stop;
  const link = `/${isService ? 'services' : 'monitors'}/${name}`;
  return {
    link,
    kind: turn.name,
    step: (snapshot, context) => turn(snapshot, name, context),
    changes: [{ [`${name.toLowerCase()} state`]: how === 'start' ? 'started' : 'stopped' }],
    request: { method: 'PUT', target: `${link}/${how}`, headers: {} },
  };
}

function anyPassword(random: Random, number: number): Changing {
  const link = `/services/${random.pick(['Sales', 'Reports'])}`;
  const operations = [{ op: 'add', path: '/password', value: `secret ${String(number)}` }];
  const sealed = [{ op: 'add', path: '/password', value: `sealed ${String(number)}` }] as const;
  return {
    link,
    kind: 'password',
    step: (snapshot, context) => patchService(snapshot, link.slice('/services/'.length), sealed, context),
    changes: [],
    ...patching(link, operations),
    asksHostFirst: true,
  };
}

/** Closes sessions or connections, or flushes the logs. */
function anyClosing(random: Random): Requesting {
  const [service, server] = [random.pick(['Sales', 'Reports']), random.pick(['db-1', 'db-2'])];
  const id = random.below(10);
  const closings: readonly (readonly [Transition, method: string, target: string])[] = [
    [
      (...given) => closeServiceSessions(given[0], service, given[1]),
      'DELETE',
      `/services/${service}/sessions`,
    ],
    [
      (...given) => closeServerConnections(given[0], server, given[1]),
      'DELETE',
      `/servers/${server}/connections`,
    ],
    [(...given) => closeSession(given[0], id, given[1]), 'DELETE', `/sessions/${String(id)}`],
    [(...given) => closeSessions(given[0], { all: true }, given[1]), 'DELETE', '/sessions?all=true'],
    [
      (...given) => closeSessions(given[0], { service, server }, given[1]),
      'DELETE',
      `/sessions?service=${service}&server=${server}`,
    ],
    [flushLogs, 'POST', '/gateway/logs/flush'],
  ];
  const [step, method, target] = random.pick(closings);
  return { kind: `${method} ${target}`, step, changes: [], request: { method, target, headers: {} } };
}

/** A request for anything that can be planned. */
export function anyRequest(random: Random, number: number, seals: boolean): Requesting {
  const makers = [
    () => anySequence(random, number),
    () => anySequence(random, number),
    () => anyTurn(random),
    () => (seals ? anyPassword(random, number) : anyPatch(random, number)),
    () => anyClosing(random),
  ];
  return random.pick(makers)();
}

/** Several commands in one request: of what closes anything, one comes last. */
function anySequence(random: Random, number: number): Requesting {
  const parts = Array.from({ length: 1 + random.below(4) }, (_, part): Requesting =>
    random.chance(0.5) ? anyTurn(random) : anyPatch(random, number + part * 100_000),
  );
  const [last, first] = [anyClosing(random), anyClosing(random)];
  if (random.chance(0.3) && isTaken(last)) parts.push(last);
  if (random.chance(0.3) && isTaken(first)) parts.unshift(early(first));
  return inOneRequest(parts);
}

/** A sequence takes no command with a query. */
function isTaken({ request: { target } }: Requesting): boolean {
  return !target.includes('?');
}

/** Several commands in one request. Those of the resource of a tag name the tag. */
function inOneRequest(parts: readonly Requesting[], tag?: Tag): Requesting {
  const commands = parts.map(({ request: { method, target: path, body } }) => ({
    ...{ method, path },
    ...(typeof body === 'string' && { body: JSON.parse(body) as unknown }),
    ...(path === tag?.link && { if_match: tag.text }),
  }));
  const headers = { 'content-type': 'application/json' };
  const request = { method: 'POST', target: '/sequence', headers, body: JSON.stringify({ commands }) };
  return { ...inSequence(parts), request };
}

/** A closing that is not the last command of a sequence: there must be nothing to close. */
function early(closing: Requesting): Requesting {
  const step: Transition = (snapshot, context) => {
    const decision = closing.step(snapshot, context);
    if (decision.outcome !== 'accepted') return decision;
    const { resources } = decision;
    const { events } = wholeOf(decision, snapshot, context);
    // What its plan has covered may be closed by now.
    if (events.length === 0)
      return { outcome: 'unchanged', next: snapshot, resources, events: [], effects: [] };
    return { outcome: 'refused', next: snapshot, resources, problem: notLast };
  };
  return { ...closing, step };
}

const notLast: Problem = { type: '', title: '', status: 422, detail: '', code: 'op-not-allowed' };

function patching(target: string, operations: readonly object[]): { readonly request: AdminRequest } {
  const headers = { 'content-type': 'application/json-patch+json' };
  return { request: { method: 'PATCH', target, headers, body: JSON.stringify(operations) } };
}

/**
 * The answer to the patch of a server has the status under both of its names; reading has one (docs/spec-choices.md).
 */
function asRead(body: string): string {
  const answer = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const { state: _state, ...shown } = answer;
  return 'status' in answer ? JSON.stringify(shown) : body;
}
