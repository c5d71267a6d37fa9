/**
 * The stage of a scenario: a gateway for each node, a store, clients, and one clock. It speaks of what a client, an
 * operator, a host, a store and another node can see.
 */
import {
  createSnapshot,
  type AdminOptions,
  type AdminResponse,
  type Effect,
  type EventGap,
  type GatewayDocument,
  type GatewayPort,
  type HostReport,
  type Json,
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

import { jsonOf } from '../support/json-body.ts';
import { document as usual } from './document.ts';
import { Process } from './process.ts';
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
}

/** What is at one place: a gateway that outlives every process, and the present process. */
export interface Place {
  readonly node: string | undefined;
  readonly gateway: ScriptedGateway;
  /** The calls that the gateway holds, the oldest one first. */
  readonly held: HeldCall[];
  /** What the gateway says that it supports. */
  supports: GatewayPort['supports'];
  process: Process | undefined;
}

export class Stage {
  /** A turn of the event loop ends every promise job, and long lists are read over several turns. */
  readonly clock: VirtualClock = createVirtualClock(0, { turn: 'event-loop', turns: 8 });
  readonly store = new FailingStore();
  document: GatewayDocument = usual;
  options: Partial<AdminOptions> = {};
  /** Whether errors, refusals and failures are seen with all of their text. */
  showsTexts = false;
  readonly #places = new Map<string, Place>();
  #seen: string[] = [];
  /** The tags and marks that each client has read last, by client and target. */
  readonly #read = new Map<string, string>();

  /** What was seen since the last time. The same in a row is one line with a number. */
  takeSeen(): readonly string[] {
    const lines: { readonly text: string; times: number }[] = [];
    for (const text of this.#seen) {
      const last = lines.at(-1);
      if (last?.text === text) last.times += 1;
      else lines.push({ text, times: 1 });
    }
    this.#seen = [];
    return lines.map(({ text, times }) => (times === 1 ? text : `${text} (${String(times)} times)`));
  }

  say(text: string): void {
    this.#seen.push(...text.split('\n'));
  }

  /** A place; the only one has no name. */
  place(node?: string): Place {
    const known = this.#places.get(node ?? '');
    if (known !== undefined) return known;
    const gateway = createScriptedGateway({ snapshot: this.#snapshot(), clock: this.clock });
    const place: Place = { node, gateway, held: [], supports: gateway.supports, process: undefined };
    this.#places.set(node ?? '', place);
    return place;
  }

  /** Starts the process at a place. */
  async start(place: Place): Promise<void> {
    const { node } = place;
    const at = node === undefined ? '' : `${node} `;
    const process = new Process({
      gateway: this.#heard(place),
      clock: this.clock,
      store: this.store.open(node),
      options: { snapshot: this.#snapshot(), ...this.options },
      onError: (error) => {
        this.say(`${at}host: ${this.#textOfError(error)}`);
      },
      onEvent: (event) => {
        this.say(`${at}event: ${this.#textOfEvent(event)}`);
      },
      ...(node === undefined ? {} : { node }),
    });
    place.process = process;
    try {
      await this.clock.waitFor(process.start());
    } catch (error) {
      this.say(`${at}host: not started, ${this.#textOfError(error)}`);
    }
  }

  /** A client sends a request, and hears the answer when it comes. */
  async send(place: Place, client: string, request: Request): Promise<void> {
    if (place.process === undefined) await this.start(place);
    const admin = place.process?.admin;
    if (admin === undefined) {
      this.say(`${client}: nobody answers`);
      return;
    }
    const { method, body, isConditional = false, isPlanned = false } = request;
    const [path = ''] = request.target.split('?');
    const tag = this.#read.get(`${client} tag ${path}`);
    const mark = this.#read.get(`${client} mark ${path}`);
    const target = isPlanned
      ? `${request.target}${request.target.includes('?') ? '&' : '?'}mark=${mark ?? ''}`
      : request.target;
    const headers = {
      ...(body === undefined ? {} : { 'content-type': typeOf(method, body) }),
      ...(isConditional ? { 'if-match': tag ?? '"never-read"' } : {}),
    };
    const given = { method, target, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const handled = admin.handle({ ...given, principal: { name: client } });
    const process = place.process;
    void handled.then(async (answer) => {
      if (process?.isDead === true) return;
      if (!answer.matched) this.say(`${client}: not matched`);
      else
        this.#hear(
          client,
          path,
          answer.response,
          answer.response.body === undefined ? undefined : await jsonOf(answer.response),
        );
    });
  }

  #hear(client: string, path: string, { status, headers }: AdminResponse, body: unknown): void {
    const { etag } = headers;
    if (etag !== undefined) this.#read.set(`${client} tag ${path}`, etag);
    const { mark } = (body ?? {}) as { readonly mark?: string };
    if (mark !== undefined) this.#read.set(`${client} mark ${path}`, mark);
    const again = headers['retry-after'];
    const told = [
      String(status),
      ...(body === undefined ? [] : [this.#textOfBody(status, body)]),
      ...(again === undefined ? [] : [`again after ${again} s`]),
    ];
    this.say(`${client}: ${told.join(' ')}`);
  }

  report(place: Place, reports: readonly HostReport[] | HostReport): void {
    place.process?.admin?.report(reports);
  }

  /** The gateway holds the next call until the scenario says what becomes of it. */
  hold(place: Place): void {
    const held = hold();
    place.held.push(held);
    place.gateway.will(held.apply);
  }

  will(place: Place, ways: readonly ApplyWay[]): void {
    place.gateway.will(...ways);
  }

  willSee(place: Place, ways: readonly InspectWay[]): void {
    place.gateway.willSee(...ways);
  }

  /** A gateway whose calls are seen. */
  #heard({ gateway, node, supports }: Place): GatewayPort {
    const at = node === undefined ? '' : `${node} `;
    return {
      ...gateway,
      ...(supports && { supports }),
      apply: (effect, context) => {
        this.say(`${at}gateway: ${textOfEffect(effect)}`);
        return gateway.apply(effect, context);
      },
      inspect: async (effect, context) => {
        this.say(`${at}gateway: is it so? ${textOfEffect(effect)}`);
        return gateway.inspect(effect, context);
      },
    };
  }

  #textOfBody(status: number, body: unknown): string {
    if (status < 400) return JSON.stringify(body);
    const { code, command, detail } = body as Problem;
    const told = command === undefined ? code : `${code} ${command}`;
    return this.showsTexts ? `${told}: ${detail}` : told;
  }

  /** An error with its first sentence: all of it would stand in many scenarios. */
  #textOfError(error: unknown): string {
    if (!(error instanceof Error)) return String(error);
    const [first = ''] = error.message.split(/(?<=[.:]) |\n/);
    return `${error.name}: ${this.showsTexts ? error.message : first}`;
  }

  #textOfEvent(item: PublishedEvent | EventGap): string {
    if (item.gap === true) return 'a gap';
    const { type, resource, actor, command, undoes, ...others } = item.event;
    return [
      `${type} ${nameIn(resource)}`,
      ...(actor === undefined ? [] : [`by ${actor}`]),
      ...(command === undefined ? [] : [`(${command})`]),
      ...(undoes === undefined ? [] : [`undoes ${undoes}`]),
      ...(this.showsTexts && 'reason' in others ? [`because: ${others.reason}`] : []),
    ].join(' ');
  }

  #snapshot(): Snapshot {
    return createSnapshot(this.document, { epoch: 's' });
  }
}

function typeOf(method: string, body: Json): string {
  if (method !== 'PATCH') return 'application/json';
  return Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json';
}

/** An effect by its type and the name of what it is about. */
function textOfEffect({ type, resource }: Effect): string {
  return `${type} ${nameIn(resource)}`;
}

/** The name in a link, with that of its service if it is a listener. */
function nameIn(link: string): string {
  const [, , ...parts] = decodeURI(link).split('/');
  return parts.join(' ') || link;
}
