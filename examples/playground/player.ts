/**
 * The player: what the page and the panel know of the world, and how they reach it.
 */
import { createClient, type Client, type Send } from 'gateway-admin-core/client';
import { connect } from 'gateway-admin-core/message-port';

import { usePage } from '../../console/page.ts';
import { formatPlace, keepInFragments } from '../../console/place.ts';
import { createStore, type Store } from '../../console/store.ts';
import { setGatewayNow } from '../../console/time.ts';
import { placedAt } from '../../tests/scenario/fleet-world.ts';
import {
  holdingPart,
  readScenarios,
  writeScenario,
  type Scenario,
  type Step,
} from '../../tests/scenario/scenario.ts';
import { formatLink, readLink, type Linked } from './link.ts';
import type { Charge, News, Order, ShownPlace, Verdict } from './message.ts';
import { beginning } from './trouble.ts';
import { durationOf } from './wait.ts';

/** What is shown of the world. */
export interface Shown {
  readonly seed: number;
  readonly done: readonly Step[];
  readonly ahead: readonly string[];
  readonly places: readonly ShownPlace[];
  readonly node: string | undefined;
  readonly speed: number;
  /** Why the last step was not done. */
  readonly impossible: string;
  /** How many of the steps the judge has judged, and what was wrong. */
  readonly judged: number;
  readonly faults: readonly string[];
}

const empty = {
  done: [],
  ahead: [],
  places: [],
  node: undefined,
  speed: 0,
  impossible: '',
  judged: 0,
  faults: [],
};

/** The least time between two writings of the address, and how often the page gets the time. In milliseconds. */
const [addressMs, clockMs] = [500, 250];

export class Player {
  readonly shown: Store<Shown> = createStore<Shown>({ seed: 1, ...empty });
  readonly #world: Worker;
  readonly #judge: Worker;
  #isJudging = false;
  /** The steps that are judged, or were judged last. */
  #charged = '';
  #line: Send | undefined;
  #answer = (): void => undefined;
  readonly #answered = new Promise<void>((resolve) => {
    this.#answer = resolve;
  });
  readonly #ownLinks = new Set<string>();
  #isWriting = false;
  /** Whether the page is to read everything anew, because it looks at something else. */
  #isElsewhere = false;

  constructor(world: Worker, judge: Worker) {
    this.#world = world;
    this.#judge = judge;
    world.onmessage = ({ data }: MessageEvent<News>) => this.#hear(data);
    judge.onmessage = ({ data }: MessageEvent<Verdict>) => this.#hearVerdict(data);
    setInterval(() => this.#tellTime(), clockMs);
    addEventListener('hashchange', () => void this.#follow());
  }

  /** Begins with the world of the address, or with a usual one. */
  async begin(): Promise<void> {
    const linked = await readLink(location.hash);
    if (linked === undefined) this.beginNew(1, this.shown.get().seed);
    else this.load(linked);
  }

  /** Begins a world without trouble, which runs. */
  beginNew(nodes: number, seed: number): void {
    const steps = beginning(nodes);
    this.load({ seed, steps, done: steps.length });
    this.order({ order: 'run', speed: 1 });
  }

  load({ seed, steps, done }: Linked): void {
    this.shown.set({ seed, ...empty });
    this.#charged = '';
    this.#isElsewhere = true;
    this.order({ order: 'begin', seed, steps, done });
  }

  /** Loads a text of scenarios. All of it is ahead. */
  loadText(text: string, title?: string): void {
    const steps = stepsOf(text, title);
    this.load({ seed: this.shown.get().seed, steps, done: 0 });
  }

  order(order: Order): void {
    if (order.order === 'perform') this.#set({ impossible: '' });
    if (order.order === 'look') this.#isElsewhere = true;
    this.#world.postMessage(order);
  }

  /** Does steps at the place at which the page looks. */
  perform(...texts: readonly string[]): void {
    const { node } = this.shown.get();
    const placed = node === undefined ? texts : texts.map((text) => placedAt(node, text));
    this.order({ order: 'perform', texts: placed });
  }

  /** The world from its beginning: all of its steps are ahead. */
  rewind(): void {
    const { seed } = this.shown.get();
    this.load({ seed, steps: this.#steps, done: 0 });
  }

  /** The client of the page, once a process has answered. */
  async connect(): Promise<Client> {
    await this.#answered;
    const send: Send = (request) => {
      if (this.#line === undefined) return Promise.reject(new Error('No process answers here.'));
      return this.#line(request);
    };
    return createClient(send);
  }

  /** The scenario so far, as a text for `tests/scenarios/`. */
  get text(): string {
    const { done, ahead, seed } = this.shown.get();
    const lines = [...done, ...ahead.map((text) => ({ text, seen: [] }))];
    return writeScenario({ kind: 'scenario', title: `The world of seed ${String(seed)}.`, lines });
  }

  get #steps(): readonly string[] {
    const { done, ahead } = this.shown.get();
    return [...done.map(({ text }) => text), ...ahead];
  }

  #set(change: Partial<Shown>): void {
    this.shown.set({ ...this.shown.get(), ...change });
  }

  #hear(news: News): void {
    if (news.news === 'line') return this.#switchTo(news.port);
    if (news.news === 'impossible') {
      this.#set({ impossible: `${news.text === '' ? '' : `${news.text}: `}${news.reason}` });
      return;
    }
    const { from, done, ahead, places, speed, node } = news;
    this.#set({ done: [...this.shown.get().done.slice(0, from), ...done], ahead, places, speed, node });
    this.#tellTime();
    this.#charge();
    if (this.#isWriting) return;
    this.#isWriting = true;
    setTimeout(() => void this.#writeAddress(), addressMs);
  }

  #switchTo(port: MessagePort | undefined): void {
    this.#line = port && connect(port);
    if (port === undefined) return;
    this.#answer();
    const isOpen = usePage().client.get() !== undefined;
    if (this.#isElsewhere && isOpen) void usePage().logIn();
    this.#isElsewhere = false;
  }

  /** Lets the judge judge all steps but time that passes still. */
  #charge(): void {
    const { done, seed, speed, faults } = this.shown.get();
    const last = done.at(-1);
    const isPassing = speed > 0 && last !== undefined && durationOf(last.text) !== undefined;
    const steps = done.slice(0, isPassing ? -1 : undefined).map(({ text }) => text);
    const charged = steps.join('\n');
    if (this.#isJudging || faults.length > 0 || charged === this.#charged) return;
    this.#charged = charged;
    this.#isJudging = true;
    this.#judge.postMessage({ seed, steps } satisfies Charge);
  }

  #hearVerdict({ steps, faults }: Verdict): void {
    this.#isJudging = false;
    // Another world has begun meanwhile.
    if (steps.join('\n') !== this.#charged) return this.#charge();
    this.#set({ judged: steps.length, faults });
    if (faults.length > 0) this.order({ order: 'run', speed: 0 });
    this.#charge();
  }

  #tellTime(): void {
    const { places, node } = this.shown.get();
    const place = places.find((each) => each.node === node);
    if (place !== undefined) setGatewayNow(place.now);
  }

  async #writeAddress(): Promise<void> {
    // What happens from now on is written once more.
    this.#isWriting = false;
    const { seed, done } = this.shown.get();
    const link = await formatLink({ seed, steps: this.#steps, done: done.length });
    this.#ownLinks.add(link);
    keepInFragments([...new URLSearchParams(link)]);
    history.replaceState(history.state, '', `#${formatPlace(usePage().place.get())}`);
  }

  /** Another link was opened here. The back button leads to links of the same world, and leads back in the page alone. */
  async #follow(): Promise<void> {
    const [, link = ''] = /[?&](seed=.*)$/.exec(location.hash) ?? [];
    if (this.#ownLinks.has(link)) return this.#writeAddress();
    const linked = await readLink(location.hash);
    if (linked !== undefined) this.load(linked);
  }
}

/** The steps of a scenario of a text, with those of its beginnings. */
function stepsOf(text: string, title?: string): readonly string[] {
  const { scenarios } = readScenarios(/^(?:==|--) /m.test(text) ? text : `== A scenario.\n${text}`);
  const chosen = scenarios.find((each) => each.kind === 'scenario' && (title ?? each.title) === each.title);
  if (chosen === undefined) throw new Error('The text has no scenario');
  const expand = (scenario: Scenario): readonly string[] =>
    holdingPart(scenario).lines.flatMap((line) => {
      if (typeof line === 'string') return [];
      const step = line.text.replace(/^\((.+)\)$/, '$1');
      const [, name] = /^given (.+)$/.exec(step) ?? [];
      const begun = scenarios.find((each) => each.kind === 'beginning' && each.title === name);
      return begun === undefined ? [step] : expand(begun);
    });
  return expand(chosen);
}

/** The titles of the scenarios of a text. */
export function titlesOf(text: string): readonly string[] {
  return readScenarios(text).scenarios.flatMap(({ kind, title }) => (kind === 'scenario' ? [title] : []));
}
