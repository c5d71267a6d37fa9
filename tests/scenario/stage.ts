/**
 * The stage of a scenario: a gateway for each node, a store, clients, and one clock. It speaks of what a client, an
 * operator, a host, a store and another node can see.
 */
import {
  createSnapshot,
  type Admin,
  type AdminOptions,
  type AdminRequest,
  type AdminResponse,
  type AuditRecord,
  type Effect,
  type EventGap,
  type GatewayDocument,
  type GatewayPort,
  type Handled,
  type HostReport,
  type Json,
  type Plan,
  type Problem,
  type PublishedEvent,
  type Snapshot,
} from 'gateway-admin-core';
import {
  createScriptedGateway,
  createVirtualClock,
  hold,
  type ApplyWay,
  type HeldCall,
  type InspectWay,
  type ScriptedGateway,
  type VirtualClock,
} from 'gateway-admin-core/testing';

import { Chronicle } from '../fleet/simulation/chronicle.ts';
import type { Step as LogStep } from '../fleet/simulation/shared-disk.ts';
import type { Command } from '../model/command.ts';
import { Ledger } from '../simulation/ledger.ts';
import { inShort } from '../support/audit-reader.ts';
import { wholeDocument } from '../support/configuration.ts';
import { jsonOf } from '../support/json-body.ts';
import type { Line } from '../support/taken-line.ts';
import { document as usual } from './document.ts';
import { Names } from './name.ts';
import { Process, type Surroundings } from './process.ts';
import { Sink } from './sink.ts';
import { FailingStore } from './store.ts';

/** What a client asks. */
export interface Request {
  readonly method: string;
  readonly target: string;
  readonly body?: Json;
  /** Whether the request holds only if the client has read the present state there. */
  readonly isConditional?: boolean;
  /** Whether the request does what the last plan of the client has shown, or nothing. */
  readonly isPlanned?: boolean;
  /** How long the client prefers to wait for the other nodes. */
  readonly waitS?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client whom the host does not know. */
const stranger = 'nobody';

/** What is at one place: a gateway that outlives every process, and the present process. */
export interface Place {
  /** The letter of the place in a fleet. */
  readonly node: string | undefined;
  readonly gateway: ScriptedGateway;
  /** What the gateway does with the next effects, and says when it is asked about them next. */
  readonly next: { readonly ways: ApplyWay[]; readonly sights: InspectWay[] };
  /** The calls that the gateway holds, the oldest one first. */
  readonly held: HeldCall[];
  /** What the gateway says that it supports. */
  supports: GatewayPort['supports'];
  /** What the gateway always does, and always sees. */
  always: Parameters<ScriptedGateway['otherwise']>[0];
  /** How far the clock there is ahead of that of the scenario, in milliseconds. */
  skewMs: number;
  process: Process | undefined;
}

/** How a process of a fleet starts that is out of the ordinary. */
export type Starting = Pick<Partial<Surroundings>, 'node'>;

/** What somebody saw, when, and at which node. */
interface Seen {
  readonly at: number;
  readonly node: string;
  readonly text: string;
}

/** What has passed between a process of the interface and others, for the laws. */
export type Passed =
  | {
      readonly what: 'request';
      readonly client: string;
      readonly at: number;
      readonly process: Process;
      readonly command: Command;
      /** The state, and whether no command was in flight. */
      readonly before: GatewayDocument;
      readonly isIdle: boolean;
      /** The moment of the log of the fleet. */
      readonly moment: number;
    }
  | { readonly what: 'report' }
  | {
      readonly what: 'answer';
      readonly client: string;
      readonly status: number;
      readonly after: GatewayDocument;
      /** The id of the command that a problem names. */
      readonly command: string | undefined;
      /** The code of the problem. */
      readonly code: string | undefined;
      /** The moment of the log of the fleet. */
      readonly moment: number;
    }
  | {
      readonly what: 'call';
      readonly type: Effect['type'];
      readonly resource: string;
      readonly command: string;
    }
  | { readonly what: 'event'; readonly type: string; readonly resource: string; readonly command: string };

export class Stage {
  /** A turn of the event loop ends every promise job, and long lists are read over several turns. */
  readonly clock: VirtualClock = createVirtualClock(0, { turn: 'event-loop', turns: 8 });
  readonly store = new FailingStore();
  /** What the log of a fleet has led to. */
  readonly chronicle = new Chronicle();
  /** What the commands of one node have led to. */
  ledger: Ledger | undefined;
  document: GatewayDocument = usual;
  options: Partial<AdminOptions> = {};
  /** Whether errors, refusals and failures are seen with all of their text. */
  showsTexts = false;
  /** Whether the audit records of the processes that start from now on are seen, and the lines of their log. */
  readonly shows = { audit: false, log: false };
  readonly sink = new Sink(
    (record) => {
      this.say(`sink: ${this.#textOfRecord(record)}`);
    },
    () => {
      this.say('sink: disposed of');
    },
  );
  /** Everything that has passed, in order. */
  readonly passed: Passed[] = [];
  readonly #places = new Map<string, Place>();
  #seen: Seen[] = [];
  readonly #names = new Names();
  /** The id of the last command of each client that somebody was told. */
  readonly #commandOf = new Map<string, string>();
  /** The tags and marks that each client has read last, by client and target. */
  readonly #read = new Map<string, string>();

  constructor() {
    this.store.onStep = (step, isShared) => {
      if (isShared) this.chronicle.take(step);
      else this.#enter(step);
    };
    this.store.onSetBack = (steps) => {
      this.chronicle.setBack(steps);
    };
  }

  /** What a process that is no node of a fleet has stored. */
  #enter({ kind, texts }: LogStep): void {
    this.ledger ??= new Ledger(this.snapshot);
    if (kind === 'append') for (const text of texts) this.ledger.take(JSON.parse(text) as Json);
  }

  /**
   * What was seen since the last time. What is seen at several nodes at the same moment stands in the order of the
   * nodes. The same in a row is one line with a number.
   */
  takeSeen(): readonly string[] {
    const lines: { readonly text: string; times: number }[] = [];
    const seen = this.#seen.toSorted((one, other) => one.at - other.at || one.node.localeCompare(other.node));
    for (const { text } of seen) {
      const last = lines.at(-1);
      if (last?.text === text) last.times += 1;
      else lines.push({ text, times: 1 });
    }
    this.#seen = [];
    return lines.map(({ text, times }) => (times === 1 ? text : `${text} (${String(times)} times)`));
  }

  say(text: string, node = ''): void {
    const at = this.clock.now();
    this.#seen.push(
      ...text.split('\n').map((line) => ({ at, node, text: node === '' ? line : this.#names.write(line) })),
    );
  }

  /** A text of the scenario with the random ids in place of the short ones. */
  drawn(text: string): string {
    return this.#names.read(text);
  }

  /** A text with the short ids in place of the random ones, as a step names them. */
  written(text: string): string {
    return this.#names.write(text);
  }

  /** Every place, in the order in which the scenario names them. */
  get places(): readonly Place[] {
    return [...this.#places.values()];
  }

  /** A place; the only one has no name. */
  place(node?: string): Place {
    const known = this.#places.get(node ?? '');
    if (known !== undefined) return known;
    const gateway = createScriptedGateway({ snapshot: this.snapshot, clock: this.clock });
    const { supports } = gateway;
    const next = { ways: [], sights: [] };
    const begun = { always: {}, skewMs: 0, process: undefined };
    const place: Place = { node, gateway, next, held: [], supports, ...begun };
    this.#places.set(node ?? '', place);
    return place;
  }

  /** Starts the process at a place, under the name of the place or of another one. */
  async start(place: Place, how: Starting = {}): Promise<void> {
    const { node } = place;
    const at = node === undefined ? '' : `${node} `;
    const process = new Process({
      gateway: this.#heard(place),
      clock: this.clock,
      skewMs: () => place.skewMs,
      store: this.store.open(node),
      options: { snapshot: this.snapshot, ...this.options },
      ...(this.shows.log && {
        onLine: ([level, message, fields]: Line) => {
          this.say(`${at}log: ${level} ${message} ${this.#textOfFields(fields)}`, node);
        },
      }),
      ...(this.shows.audit && {
        onRecord: (record: AuditRecord) => {
          this.say(`${at}audit: ${this.#textOfRecord(record)}`, node);
        },
      }),
      onError: (error) => {
        this.say(`${at}host: ${this.#textOfError(error)}`, node);
      },
      onEvent: (event) => {
        const { actor, command, type = '', resource = '' } = 'event' in event ? event.event : {};
        this.passed.push(
          command === undefined ? { what: 'report' } : { what: 'event', type, resource, command },
        );
        if (actor !== undefined && command !== undefined) this.#commandOf.set(actor, command);
        this.say(`${at}event: ${this.#textOfEvent(event)}`, node);
      },
      ...(node === undefined ? {} : { node }),
      ...how,
    });
    place.process = process;
    try {
      await this.clock.waitFor(process.start());
    } catch (error) {
      this.say(`${at}host: not started, ${this.#textOfError(error)}`, node);
    }
  }

  /** A client sends a request, and hears the answer when it comes. */
  async send(place: Place, who: string, request: Request): Promise<void> {
    const { node } = place;
    const client = node === undefined ? who : `${who}@${node}`;
    if (place.process === undefined) await this.start(place);
    const { process } = place;
    const admin = process?.admin;
    if (process === undefined || admin === undefined) {
      this.say(`${client}: nobody answers`, node);
      return;
    }
    const { method, body, isConditional = false, isPlanned = false, waitS } = request;
    const named = request.target.replace(
      /\{([\w-]+)\}/g,
      (_all, name: string) => this.#commandOf.get(name) ?? name,
    );
    const given = this.drawn(named);
    const [path = ''] = given.split('?');
    const tag = this.#read.get(`${who} tag ${path}`);
    const mark = this.#read.get(`${who} mark ${path}`);
    const target = isPlanned ? `${given}${given.includes('?') ? '&' : '?'}mark=${mark ?? ''}` : given;
    const headers = {
      ...(body === undefined ? {} : { 'content-type': typeOf(method, body) }),
      ...(isConditional ? { 'if-match': tag ?? '"never-read"' } : {}),
      ...(waitS === undefined ? {} : { prefer: `wait=${String(waitS)}` }),
      ...request.headers,
    };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const principal = who === stranger ? null : { name: who };
    const before = wholeDocument(admin.snapshot);
    const isIdle = admin.commands().length === 0;
    const handled = process.whenAwake(() =>
      this.ask(admin, { method, target, headers, ...content, principal }),
    );
    const command = { method, path: target, body };
    const moment = this.chronicle.now;
    this.passed.push({
      what: 'request',
      client,
      at: this.clock.now() + place.skewMs,
      process,
      command,
      before,
      isIdle,
      moment,
    });
    void handled.then(async (answer) => {
      if (process.isDead) return;
      if (!answer.matched) {
        this.say(`${client}: no endpoint has this method and path: see docs/http.md`, node);
        return;
      }
      const { response } = answer;
      const content = response.body === undefined ? undefined : await jsonOf(response);
      this.#note(who, path, response, content);
      const { command, code } = (content ?? {}) as Partial<Problem>;
      const after = wholeDocument(admin.snapshot);
      const { status } = response;
      const moment = this.chronicle.now;
      this.passed.push({ what: 'answer', client, status, after, command, code, moment });
      const shown = response.status === 200 && path === given ? patched(request, content) : content;
      this.say(`${client}: ${this.#textOfAnswer(response, shown)}`, node);
    });
  }

  /** Lets the interface handle a request. */
  protected ask(admin: Admin, request: AdminRequest): Promise<Handled> {
    return admin.handle(request);
  }

  /** Notes the tag and the mark that a client has read, and the id of a command whose outcome is unknown. */
  #note(who: string, path: string, { status, headers }: AdminResponse, body: unknown): void {
    const { etag } = headers;
    const { command } = (body ?? {}) as Partial<Problem>;
    if (status === 504 && command !== undefined) this.#commandOf.set(who, command);
    if (etag !== undefined) this.#read.set(`${who} tag ${path}`, etag);
    // A refusal because of the mark has the plan of now.
    const { plan, mark = plan?.mark } = (body ?? {}) as { mark?: string; plan?: { readonly mark: string } };
    if (mark !== undefined) this.#read.set(`${who} mark ${path}`, mark);
  }

  #textOfAnswer({ status, headers }: AdminResponse, body: unknown): string {
    const again = headers['retry-after'];
    const nodes = ['applied', 'behind', 'waiting'].flatMap((outcome) => {
      const names = headers[`fleet-${outcome}`];
      return names === undefined ? [] : [`(${outcome}: ${names})`];
    });
    return [
      String(status),
      ...(body === undefined ? [] : [this.#textOfBody(status, body)]),
      ...(again === undefined ? [] : [`again after ${again} s`]),
      ...nodes,
    ].join(' ');
  }

  report({ process }: Place, reports: readonly HostReport[] | HostReport): void {
    if (process?.isPaused === true)
      void process.whenAwake(() => Promise.resolve(process.admin?.report(reports)));
    else process?.admin?.report(reports);
  }

  /** The gateway holds the next call until the scenario says what becomes of it. */
  hold(place: Place): void {
    const held = hold();
    place.held.push(held);
    place.next.ways.push(held.apply);
  }

  /** What the gateway does or sees from now on; what is left out stays. */
  always(place: Place, ways: Place['always']): void {
    place.always = { ...place.always, ...ways };
    place.gateway.otherwise(place.always);
  }

  /** A gateway whose calls are seen. */
  #heard({ gateway, node, next, supports }: Place): GatewayPort {
    const at = node === undefined ? '' : `${node} `;
    return {
      ...gateway,
      ...(supports && { supports }),
      apply: (effect, context) => {
        this.say(`${at}gateway: ${textOfEffect(effect)}`, node);
        const { type, resource } = effect;
        this.passed.push({ what: 'call', type, resource, command: context.commandId });
        return gateway.will(...next.ways.splice(0, 1)).apply(effect, context);
      },
      inspect: async (effect, context) => {
        this.say(`${at}gateway: is it so? ${textOfEffect(effect)}`, node);
        return gateway.willSee(...next.sights.splice(0, 1)).inspect(effect, context);
      },
    };
  }

  #textOfBody(status: number, body: unknown): string {
    if (isPlan(body)) return this.#textOfPlan(body);
    if (status < 400) return JSON.stringify(body);
    const { code, command, detail } = body as Problem;
    const told = command === undefined ? code : `${code} ${command}`;
    return this.showsTexts ? `${told}: ${detail}` : told;
  }

  /** A plan by its events, by what it counts if there is anything, and by its notes. The mark is for `as planned`. */
  #textOfPlan({ outcome, events, closes, stays, notes = [] }: Plan): string {
    const told = [
      (events as unknown as Parameters<typeof textOfEffect>).map(textOfEffect).join(', '),
      closes.sessions === 0 ? '' : `closes ${String(closes.sessions)} sessions`,
      closes.connections === 0 ? '' : `closes ${String(closes.connections)} connections`,
      stays.sessions === 0 ? '' : `${String(stays.sessions)} sessions stay`,
      ...notes.map(({ code, resource = '', count, detail }) =>
        [code, nameIn(resource), count ?? '', this.showsTexts ? detail : ''].filter(Boolean).join(' '),
      ),
    ];
    return [outcome, ...told.filter((text) => text !== '')].join('; ');
  }

  /** An error with its first sentence: all of it would stand in many scenarios. */
  #textOfError(error: unknown): string {
    if (!(error instanceof Error)) return String(error);
    const [first = ''] = error.message.split(/(?<=[.:]) |\n/);
    return `${error.name}: ${this.showsTexts ? error.message : first}`;
  }

  #textOfRecord(record: AuditRecord): string {
    const [short = ''] = inShort([record]);
    if (record.kind !== 'write') return short;
    const { command, resources, change, count } = record;
    const told = [
      ...(resources === undefined ? [] : [resources.join()]),
      ...(change === undefined ? [] : [JSON.stringify(change)]),
    ];
    return [
      short,
      ...(command === undefined ? [] : [`(${command})`]),
      ...(count === undefined ? [] : [`${String(count)} times`]),
      ...(this.showsTexts ? told : []),
    ].join(' ');
  }

  /** The fields of a line of the log; of errors, only the sentences. The version of the library changes. */
  #textOfFields({ err, version: _version, ...fields }: Line[2]): string {
    const told = err === undefined ? fields : { ...fields, err: this.#textOfError(err) };
    return JSON.stringify(told);
  }

  #textOfEvent(item: PublishedEvent | EventGap): string {
    if (item.gap === true) return 'a gap';
    const { type, resource, actor, command, undoes, ...others } = item.event;
    return [
      `${type} ${nameIn(resource)}`,
      // Where nobody has asked, as at a node that follows, nobody needs the id.
      ...(actor === undefined || command === undefined ? [] : [`by ${actor} (${command})`]),
      ...(undoes === undefined ? [] : [`undoes ${undoes}`]),
      ...(this.showsTexts && 'reason' in others ? [`because: ${others.reason}`] : []),
    ].join(' ');
  }

  get snapshot(): Snapshot {
    return createSnapshot(this.document, { epoch: 's' });
  }
}

function isPlan(body: unknown): body is Plan {
  return typeof body === 'object' && body !== null && 'mark' in body && 'closes' in body;
}

/** Of the answer to a patch, the members that the patch names. */
function patched({ method, body }: Request, content: unknown): unknown {
  if (method !== 'PATCH' || !Array.isArray(body)) return content;
  const names = body.map((operation) => (operation as { readonly path: string }).path.split('/')[1]);
  return Object.fromEntries(Object.entries(content as object).filter(([name]) => names.includes(name)));
}

function typeOf(method: string, body: Json): string {
  if (method !== 'PATCH') return 'application/json';
  return Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json';
}

/** An effect or an event by its type and the name of what it is about. */
function textOfEffect({ type, resource }: { readonly type: string; readonly resource: string }): string {
  return `${type} ${nameIn(resource)}`;
}

/** The name in a link, with that of its service if it is a listener. */
function nameIn(link: string): string {
  const [, , ...parts] = decodeURI(link).split('/');
  return parts.join(' ') || link;
}
