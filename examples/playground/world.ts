/**
 * The world: a stage of the scenarios in a worker. Whatever happens there is a step: what a person does in the panel, what
 * the page asks for, and the time that passes.
 */
import type { Admin, AdminRequest, Handled } from 'gateway-admin-core';
import { serve } from 'gateway-admin-core/message-port';

import type { Process } from '../../tests/scenario/process.ts';
import type { Step } from '../../tests/scenario/scenario.ts';
import { Stage, type Place } from '../../tests/scenario/stage.ts';
import { perform } from '../../tests/scenario/vocabulary.ts';
import type { News, Order, ShownPlace } from './message.ts';
import { person, stepOf, withPlan, type Plan } from './request.ts';
import { seed } from './seed.ts';
import { durationOf, waitOf } from './wait.ts';

/** How often time passes in a world that runs, and how long a step is looked at that takes no time. In milliseconds. */
const [tickMs, lookMs] = [100, 600];

/** Where the news go. */
export type Tell = (news: News, transfer?: Transferable[]) => void;

/** A stage on which requests of the page are heard. */
class HeardStage extends Stage {
  onAsked: ((answer: Promise<Handled>) => void) | undefined;

  protected override ask(admin: Admin, request: AdminRequest): Promise<Handled> {
    const answer = super.ask(admin, request);
    this.onAsked?.(answer);
    return answer;
  }
}

export class World {
  #stage = new HeardStage();
  readonly #tell: Tell;
  #done: Step[] = [];
  #ahead: string[] = [];
  /** The first step that has changed since the page was told. */
  #changed = 0;
  /** Whether the last step is time that passes still. */
  #isWaiting = false;
  /** The dry runs whose plans the page may carry out, by their marks. */
  readonly #plans = new Map<string, Plan>();
  #speed = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #looksMs = 0;
  #isTicking = false;
  /** The node at which the page looks, the process there, and what ends the connection to it. */
  #node: string | undefined;
  #served: Process | undefined;
  #hangUp: (() => void) | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  /** Obeys one order after the other. */
  take(order: Order): void {
    void this.#inTurn(() => this.#obey(order));
  }

  async #obey(order: Order): Promise<void> {
    switch (order.order) {
      case 'begin':
        return this.#begin(order);
      case 'perform':
        for (const text of order.texts) if (!(await this.#perform(text))) return undefined;
        return undefined;
      case 'step':
        return this.#stepOn();
      case 'run':
        this.#run(order.speed);
        return undefined;
      case 'look':
        this.#node = order.node;
        this.#disconnect();
        return undefined;
    }
  }

  /** One after the other: a step ends before the next one begins. */
  #inTurn(act: () => void | Promise<void>): Promise<void> {
    const done = this.#turn.then(act).then(() => {
      this.#connect();
      this.#show();
    });
    this.#turn = done.catch((error: unknown) => {
      this.#run(0);
      this.#tell({ news: 'impossible', text: '', reason: String(error) });
    });
    return done;
  }

  async #begin({ seed: number, steps, done }: Extract<Order, { readonly order: 'begin' }>): Promise<void> {
    this.#disconnect();
    this.#run(0);
    seed(number);
    this.#stage = new HeardStage();
    [this.#done, this.#ahead, this.#changed, this.#isWaiting] = [[], [...steps], 0, false];
    this.#plans.clear();
    for (const text of this.#ahead.splice(0, done)) if (!(await this.#perform(text))) break;
  }

  /** Does a step that is a line of the scenario; `false` if it is not possible. */
  async #perform(text: string): Promise<boolean> {
    // A stream of events has a heartbeat, so that nothing would come to rest.
    if (text === 'wait until idle') this.#disconnect();
    try {
      await perform(this.#stage, text);
    } catch (error) {
      this.#run(0);
      this.#tell({ news: 'impossible', text, reason: (error as Error).message });
      return false;
    } finally {
      this.#isWaiting = false;
    }
    this.#note({ text, seen: this.#stage.takeSeen() });
    return true;
  }

  #note(step: Step, at = this.#done.length): void {
    this.#done.splice(at, 0, step);
    this.#changed = Math.min(this.#changed, at);
  }

  /** Lets time pass, which is one step until something else happens. */
  async #pass(milliseconds: number): Promise<void> {
    const last = this.#isWaiting ? this.#done.pop() : undefined;
    await this.#stage.clock.advance(milliseconds);
    const passed = (last === undefined ? 0 : (durationOf(last.text) ?? 0)) + milliseconds;
    this.#note({ text: waitOf(passed), seen: joined(last?.seen ?? [], this.#stage.takeSeen()) });
    this.#isWaiting = true;
  }

  async #stepOn(): Promise<void> {
    const [next] = this.#ahead.splice(0, 1);
    await this.#perform(next ?? 'wait 1s');
  }

  #run(speed: number): void {
    clearInterval(this.#timer);
    this.#speed = speed;
    this.#looksMs = 0;
    if (speed > 0) this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  #tick(): void {
    // A world that is slower than it should be runs as fast as it can.
    if (this.#isTicking) return;
    this.#isTicking = true;
    void this.#inTurn(() => this.#go(tickMs * this.#speed)).finally(() => {
      this.#isTicking = false;
    });
  }

  /** Goes on with what is ahead, or lets time pass. */
  async #go(milliseconds: number): Promise<void> {
    const [next] = this.#ahead;
    const left = next === undefined ? milliseconds : durationOf(next);
    if (left === undefined) {
      this.#looksMs -= tickMs * Math.max(1, this.#speed);
      if (this.#looksMs > 0) return;
      this.#looksMs = lookMs;
      return this.#stepOn();
    }
    const part = Math.min(left, milliseconds);
    if (next !== undefined) this.#ahead.splice(0, 1, ...(part < left ? [waitOf(left - part)] : []));
    await this.#pass(part);
    if (next !== undefined && part === left) this.#isWaiting = false;
  }

  /** Connects the page with the process at which it looks, as often as there is another one. */
  #connect(): void {
    const place = this.#place;
    const process = place?.process?.admin === undefined ? undefined : place.process;
    if (process === this.#served) return;
    this.#disconnect();
    if (place === undefined || process === undefined) return;
    const { port1, port2 } = new MessageChannel();
    const handle = (request: AdminRequest): Promise<Handled> => this.#handle(process, place, request);
    this.#hangUp = serve({ handle }, port1, { principalOf: () => ({ name: person }) });
    this.#served = process;
    this.#tell({ news: 'line', port: port2 }, [port2]);
  }

  #disconnect(): void {
    if (this.#hangUp === undefined) return;
    this.#hangUp();
    this.#tell({ news: 'line', port: undefined });
    this.#hangUp = undefined;
    this.#served = undefined;
  }

  get #place(): Place | undefined {
    const { places } = this.#stage;
    return places.find(({ node }) => node === this.#node) ?? places[0];
  }

  /** A request of the page. What only reads is no step. */
  async #handle(process: Process, place: Place, request: AdminRequest): Promise<Handled> {
    const { admin } = process;
    if (admin === undefined) throw new Error('Nobody answers.');
    if (request.method === 'GET') return process.whenAwake(() => admin.handle(request));
    const send = (): Promise<Handled> =>
      new Promise((resolve, reject) => {
        this.#inTurn(() => this.#send(place, request, resolve))
          .then(() => reject(new Error('Nobody answers.')))
          .catch(reject);
      });
    return process.whenAwake(send);
  }

  /** The command of the page, as a step of the scenario. */
  async #send(
    place: Place,
    request: AdminRequest,
    resolve: (answer: Promise<Handled>) => void,
  ): Promise<void> {
    const { text, isPlan, mark } = stepOf(request, place.node, (target) => this.#stage.written(target));
    const plan = mark === undefined ? undefined : this.#plans.get(mark);
    const answers: Promise<Handled>[] = [];
    const at = this.#done.length;
    const planned: Plan = { text, at, seen: [] };
    this.#stage.onAsked = (answer) => {
      answers.push(answer);
      resolve(answer);
      if (isPlan) void this.#keepPlan(planned, answer);
    };
    await this.#perform(plan === undefined ? text : withPlan(text));
    this.#stage.onAsked = undefined;
    for (const answer of answers) this.#runUntil(answer);
    if (isPlan) this.#forget(planned);
    else if (plan !== undefined && mark !== undefined) {
      this.#note({ text: plan.text, seen: plan.seen }, plan.at);
      this.#plans.delete(mark);
      for (const each of this.#plans.values()) if (each.at >= plan.at) each.at += 1;
    }
  }

  /** A dialog that waits for its answer is in front of the panel: time passes meanwhile. */
  #runUntil(answered: Promise<unknown>): void {
    if (this.#speed > 0) return;
    this.#run(1);
    void answered.finally(() => this.#run(0)).catch(() => undefined);
  }

  /** A dry run changes nothing, and is a step only if its plan is carried out. */
  #forget(plan: Plan): void {
    const { at } = plan;
    const { seen = [] } = this.#done.splice(at, 1)[0] ?? {};
    const [own, others] = [true, false].map((isOwn) =>
      seen.filter((line) => line.startsWith(person) === isOwn),
    ) as [string[], string[]];
    plan.seen = own;
    const last = this.#done[at - 1];
    if (others.length > 0 && last !== undefined)
      this.#done.splice(at - 1, 1, { ...last, seen: [...last.seen, ...others] });
    this.#changed = Math.min(this.#changed, Math.max(at - 1, 0));
  }

  async #keepPlan(plan: Plan, answer: Promise<Handled>): Promise<void> {
    const handled = await answer;
    const { body } = handled.matched ? handled.response : {};
    const { mark } = JSON.parse(body as string) as { readonly mark?: string };
    if (mark !== undefined) this.#plans.set(mark, plan);
  }

  #show(): void {
    const from = Math.min(this.#changed, this.#done.length);
    const places = this.#stage.places.map((place) => this.#shown(place));
    this.#tell({
      news: 'world',
      ...{ from, done: this.#done.slice(from), ahead: this.#ahead, places, speed: this.#speed },
      node: this.#place?.node,
    });
    this.#changed = this.#done.length;
  }

  #shown({ node, gateway, process, held, skewMs }: Place): ShownPlace {
    const { services, servers, sessions } = process?.admin?.snapshot ?? {};
    return {
      node,
      process: process?.admin === undefined ? 'dead' : process.isPaused ? 'paused' : 'running',
      services: Array.from(services ?? [], ({ name }) => name),
      servers: Array.from(servers ?? [], ({ name }) => name),
      sessions: sessions === undefined ? [] : Object.keys(gateway.state.sessions),
      held: held.length,
      now: this.#stage.clock.now() + skewMs,
    };
  }
}

/** What was seen, and what was seen then. The same in a row is one line with a number. */
function joined(seen: readonly string[], then: readonly string[]): readonly string[] {
  const [, last, times = '1'] = /^(.*?)(?: \((\d+) times\))?$/.exec(seen.at(-1) ?? '') ?? [];
  const [, next, more = '1'] = /^(.*?)(?: \((\d+) times\))?$/.exec(then[0] ?? '') ?? [];
  if (seen.length === 0 || then.length === 0 || last !== next) return [...seen, ...then];
  return [
    ...seen.slice(0, -1),
    `${String(last)} (${String(Number(times) + Number(more))} times)`,
    ...then.slice(1),
  ];
}
