/**
 * A random walk over the page: a walker presses what a person can press, while the world goes on. After each act the
 * laws hold.
 */
import type { AdminEvent } from 'gateway-admin-core';
import { createRandom, type Random } from 'gateway-admin-core/testing';
import type { Page } from 'playwright-core';

import { parsePlace } from '../../console/place.ts';
import { text } from '../../console/text.ts';
import type { Player } from '../scenario/play.ts';
import { performIn, type Row } from '../scenario/row.ts';
import type { Unit } from '../scenario/world.ts';
import { hostConsole, type Hosting, type Served } from './hosted-console.ts';
import { figureBreaches } from './walk-figures.ts';
import { mayCause, outcomeBreaches, pressBreaches, takesBack, type Press } from './walk-law.ts';
import { describePlace, look, readFigures, watchPresses, type Control, type Seen } from './walk-page.ts';
import { clientOf, World, worldRows } from './walk-world.ts';

interface WalkOptions {
  readonly seed: number;
  readonly acts: number;
  /** Gets a line now and then. */
  readonly tell?: (line: string) => void;
}

/** What a walk has come to. */
interface Walked {
  readonly acts: number;
  /** How often a button was pressed that does what a plan has shown. */
  readonly presses: number;
  /** The commands of the walker that have changed something. */
  readonly commands: number;
}

/** The actor of the commands of the page. */
const walkerName = 'walker';

/** How many acts lie between two looks at all figures, and at the address. */
const restEvery = 200;
const reloadEvery = 150;

/** How long a figure may lag behind: a counter is read every 4.6 s, and older than 5 s it says its age. */
const restMs = 6000;

/** How often the page is looked at in that time at least: a slow machine looks less often. */
const restLooks = 60;

/** How far the clock of a page goes forward at once. */
const jumpMs = 500;

/** A limit for what never comes. */
const hangMs = 180_000;

/** Walks over a page. Rejects with the seed, the last acts and the broken law. */
export async function walk(page: Page, { seed, acts, tell = () => undefined }: WalkOptions): Promise<Walked> {
  const random = createRandom(seed);
  const walker = await Walker.open(page);
  try {
    for (let act = 1; act <= acts; act += 1) {
      await walker.act(random);
      if (act % reloadEvery === 0) await walker.reload();
      if (act % restEvery === 0) await walker.stir(random);
      if (act % restEvery === 0 || act === acts) await walker.rest();
      if (act % 500 === 0) tell(`${String(act)} acts, ${String(walker.presses)} presses`);
      if (walker.faults.length > 0) break;
    }
    if (walker.faults.length === 0) return { acts, presses: walker.presses, commands: walker.commands };
    const last = walker.log.slice(-40).map((line) => `  ${line}`);
    throw new Error(
      [
        `Seed ${String(seed)}, act ${String(walker.log.length)}: ${walker.faults.join('\n')}`,
        'The last acts:',
        ...last,
      ].join('\n'),
    );
  } finally {
    await walker.close();
  }
}

/** The requests of the page. */
class Requests {
  /** How many are in flight that change something, and how many of any kind but the stream of events. */
  open = 0;
  busy = 0;
  readonly #came: string[] = [];
  readonly see: NonNullable<Hosting['inFront']> = ({ method, url = '' }, response) => {
    if (!url.startsWith('/events')) {
      this.busy += 1;
      response.once('close', () => (this.busy -= 1));
    }
    if (method === 'GET' || method === 'HEAD' || url.includes('dry_run=')) return 'goes on';
    this.open += 1;
    this.#came.push(`${method ?? ''} ${url}`);
    response.once('close', () => (this.open -= 1));
    return 'goes on';
  };
  take(): readonly string[] {
    return this.#came.splice(0);
  }
}

/** The page, its world, and what a person does there, as steps. */
export class Walker implements Player {
  readonly log: string[] = [];
  readonly faults: string[] = [];
  presses = 0;
  #page: Page;
  readonly #first: Page;
  readonly #served: Served;
  readonly #requests: Requests;
  readonly #world: World;
  /** Whether a step waits until the page has what it has asked for. */
  readonly #isPatient: boolean;
  readonly #pending: Press[] = [];
  /** The events of the walker's commands, by the id of the command. */
  readonly #events = new Map<string, AdminEvent[]>();
  /** The events of these commands that no press has got yet. */
  readonly #came: AdminEvent[] = [];
  #seen: Seen | undefined;
  /** Whether something has happened in the world since. */
  #isStale = false;
  #told: string[] = [];
  #created = 0;

  private constructor(page: Page, served: Served, requests: Requests, isPatient: boolean) {
    this.#page = page;
    this.#first = page;
    this.#served = served;
    this.#requests = requests;
    this.#isPatient = isPatient;
    this.#world = new World(served);
    void this.#follow();
  }

  /** Serves a console of its own, and opens it. */
  static async open(page: Page, isPatient = false): Promise<Walker> {
    const requests = new Requests();
    const served = await hostConsole({
      principalOf: () => ({ name: walkerName }),
      // Errors of the gateway are wanted here.
      admin: { observe: { onError: () => undefined }, limits: { effectDeadlineMs: 700 } },
      inFront: requests.see,
    });
    const walker = new Walker(page, served, requests, isPatient);
    await walker.#prepare(page);
    await page.goto(`${served.origin}/console`, { timeout: hangMs });
    await page.getByRole('button', { name: 'Add a service' }).waitFor({ timeout: hangMs });
    await walker.#look();
    return walker;
  }

  /** Closes the console. */
  close(): Promise<void> {
    return this.#served.close();
  }

  takeSeen(): readonly string[] {
    return this.#told.splice(0);
  }

  /** Performs a step of the world, or of the walker. */
  async perform(text: string): Promise<void> {
    this.log.push(text);
    this.#isStale ||= isOfWorld(text);
    if (isOfWorld(text)) return performIn(worldRows, this.#world, text);
    if (this.#isStale) await this.#look();
    try {
      await performIn(rows, this, text);
    } catch (error) {
      // The thing has gone meanwhile.
      if (
        !/Timeout|not attached|not visible|detached|outside of the viewport|There is no/.test(String(error))
      )
        throw error;
      this.#tell('(it has gone)');
    }
    await this.#drawn();
    if (this.#isPatient) await this.#untilQuiet();
    await this.#look();
  }

  /** What the walker does next. */
  draw(random: Random): Unit {
    const seen = this.#seen;
    if (seen === undefined) return [];
    return seen.dialog === undefined ? this.#wander(random, seen) : this.#answer(random, seen);
  }

  /** What happens next in the world, or nothing. */
  drawWorld(random: Random): Unit {
    return this.#world.draw(random);
  }

  #tell(line: string): void {
    this.log.push(`  ${line}`);
    this.#told.push(line);
  }

  get commands(): number {
    return [...this.#events.values()].filter((events) => events.some(({ actor }) => actor === walkerName))
      .length;
  }

  /** Something happens in the world, and the walker does one thing. */
  async act(random: Random): Promise<void> {
    for (const text of this.drawWorld(random)) await this.perform(text);
    if (this.#isStale) await this.#look();
    for (const text of this.draw(random)) await this.perform(text);
    if (this.#isVisiting() && random.chance(0.25)) await this.perform('close the second tab');
  }

  /** Opens something, and clients come and go: no event tells the page of them. */
  async stir(random: Random): Promise<void> {
    const { chance, pick } = random;
    if (chance(0.3)) return;
    await this.#leaveDialog();
    const view = (await this.#look()).controls.filter(
      ({ area, name }) => area === 'nav' && /^(?:Gateway|Sessions)$/.test(name),
    );
    if (view.length > 0) await this.perform(this.#using(random, pick(view)));
    const links = (await this.#look()).controls.filter(({ link }) => link !== '');
    const kindOf = ({ link }: Control): string => link.split('/')[1] ?? '';
    const kind = pick([...new Set(links.map(kindOf)), '']);
    const ofKind = links.filter((each) => kindOf(each) === kind);
    if (ofKind.length > 0) await this.perform(this.#using(random, pick(ofKind)));
    await this.#page.waitForTimeout(300);
    for (const text of this.#world.drawMoves(random, 20)) await this.perform(text);
  }

  /** While nothing happens, the figures become those of the interface, or say their age. */
  async rest(): Promise<void> {
    await this.perform('close the second tab');
    await this.#world.calm();
    const end = performance.now() + restMs;
    for (let looks = 1; ; looks += 1) {
      const seen = await this.#look();
      const figures = await this.#page.evaluate(readFigures);
      const client = clientOf(this.#served.admin, 'reader');
      const breaches = await figureBreaches(figures, parsePlace(seen.fragment), client);
      if (breaches.length === 0) return;
      const isOver = this.#isPatient
        ? looks * jumpMs > restMs
        : performance.now() > end && looks >= restLooks;
      if (isOver) {
        this.faults.push(...breaches);
        return;
      }
      await this.#pass();
    }
  }

  /** Time passes for the page. That of a patient walker has a clock of its own, so that nobody waits. */
  async #pass(): Promise<void> {
    if (!this.#isPatient) return this.#page.waitForTimeout(100);
    await this.#page.clock.fastForward(jumpMs);
    await this.#untilQuiet();
  }

  /** The address leads to the same place. */
  async reload(): Promise<void> {
    this.log.push('reload');
    await this.#leaveDialog();
    await this.#untilSettled();
    await this.#look();
    const before = await this.#page.evaluate(describePlace);
    await this.#page.reload({ timeout: hangMs });
    const end = performance.now() + hangMs;
    for (let looks = 1; ; looks += 1) {
      const after = await this.#page.evaluate(describePlace);
      if (after === before) return;
      if (this.#isPatient ? looks * jumpMs > restMs : performance.now() > end) {
        this.faults.push(`The address led to ${after}, not to ${before}`);
        return;
      }
      await this.#pass();
    }
  }

  async #prepare(page: Page): Promise<void> {
    if (this.#isPatient) await page.clock.install();
    page.setDefaultTimeout(1500);
    page.on('pageerror', (error) =>
      this.faults.push(`An error of the page: ${error.stack ?? error.message}`),
    );
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      // The browser tells of each answer that refuses. An unknown outcome is a 504, a gateway that fails a 502.
      if (
        /^Failed to load resource: the server responded with a status of (?:4\d\d|50[24])/.test(
          message.text(),
        )
      )
        return;
      this.faults.push(`In the console of the page: ${message.text()}`);
    });
    await page.addInitScript(watchPresses);
  }

  /** Looks at the page. What holds after each act is checked here. */
  async #look(): Promise<Seen> {
    const seen = await this.#page.evaluate(look);
    for (const name of seen.presses) this.#press(name);
    for (const request of this.#requests.take()) this.#expectPress(request);
    for (const outcome of seen.outcomes) this.#expectOutcome(outcome);
    this.#settle();
    if (seen.dialogs > 1) this.faults.push(`There are ${String(seen.dialogs)} dialogs`);
    if (seen.isBlank) this.faults.push('The page is blank');
    const place = parsePlace(seen.fragment);
    const shown = { view: text.views[place.view], find: place.find, isOpen: place.open !== '' };
    const { view, find, isOpen } = seen.place;
    if (JSON.stringify(shown) !== JSON.stringify({ view, find, isOpen }))
      this.faults.push(`${seen.fragment} shows ${JSON.stringify(seen.place)}`);
    this.#seen = seen;
    this.#isStale = false;
    return seen;
  }

  #press(name: string): void {
    this.presses += 1;
    this.#tell(`→ ${name}`);
    this.#pending.push({ text: name, at: performance.now(), events: [], isShared: false, isOver: false });
  }

  /** A request that changes something comes from a press. */
  #expectPress(request: string): void {
    this.#tell(`→ ${request}`);
    const press = this.#pending.findLast(({ isOver }) => !isOver);
    if (press === undefined) {
      this.faults.push(`Nothing was pressed, and the page sent ${request}`);
      return;
    }
    const [, id] = /^PUT \/history\/([^/?]+)\/undo/.exec(request) ?? [];
    if (id !== undefined) press.undone = this.#events.get(decodeURIComponent(id)) ?? [];
  }

  /** The events of the walker belong to what the walker has pressed. */
  async #follow(): Promise<void> {
    for await (const item of this.#served.admin.events()) {
      if (item.gap === true) continue;
      const { event } = item;
      const { actor, command = '' } = event;
      this.#events.set(command, [...(this.#events.get(command) ?? []), event]);
      if (actor === walkerName) this.#came.push(event);
    }
  }
  /** Gives each event to the press that caused it. Ends what is over. */
  #settle(): void {
    const open = this.#pending.filter(({ isOver }) => !isOver);
    for (const event of this.#came.splice(0)) {
      this.#tell(`event: ${event.type} ${event.resource}`);
      const causes = open.filter(
        (press) => mayCause(press, event) || press.events.some((before) => takesBack(event, before)),
      );
      const [cause = open.at(-1)] = causes;
      if (causes.length > 1) for (const press of causes) press.isShared = true;
      if (cause === undefined)
        this.faults.push(`Nothing was pressed, and ${event.type} ${event.resource} happened`);
      else {
        const taken = cause.events.findLastIndex((before) => takesBack(event, before));
        if (taken === -1) cause.events.push(event);
        else cause.events.splice(taken, 1);
      }
    }
    for (const press of open) if (!press.isShared) this.faults.push(...pressBreaches(press));
    const isInFlight = this.#served.admin.commands().some(({ actor }) => actor === walkerName);
    const isQuiet = this.#requests.open === 0 && !isInFlight;
    for (const press of open) if (isQuiet && performance.now() - press.at > 1000) press.isOver = true;
    if (this.#pending.length > 20) this.#pending.shift();
  }

  #expectOutcome({ kind, text: line }: Seen['outcomes'][number]): void {
    this.#tell(`page: ${line}`);
    this.#settle();
    const fitting = this.#pending.filter(({ text: name }) => line.includes(outcomeTitle(name)));
    const press = fitting.at(-1);
    if (press !== undefined && !press.isShared) this.faults.push(...outcomeBreaches(kind, line, press));
  }

  /** Something to do on the page, without a dialog. */
  #wander(random: Random, seen: Seen): Unit {
    const { chance, pick, below } = random;
    if (seen.canGoBack && chance(0.05)) return ['go back'];
    if (seen.canGoForward && chance(0.03)) return ['go forward'];
    if (chance(0.03))
      return [`key ${pick(['Escape', '/', 'g', 's', 'h', 'ArrowDown', 'ArrowUp', 'Enter', 'Tab'])}`];
    if (chance(0.02)) return [`resize to ${String(320 + below(1400))} × ${String(400 + below(800))}`];
    if (chance(0.005) && !this.#isVisiting()) return ['open a second tab'];
    const areas = [...new Set(seen.controls.map(({ area }) => area))];
    if (areas.length === 0) return [];
    const area = areas.includes('.acts') && chance(0.4) ? '.acts' : pick(areas);
    return [this.#using(random, pick(seen.controls.filter((each) => each.area === area)))];
  }

  /** Something to do in the dialog. */
  #answer(random: Random, { dialog, controls }: Seen): Unit {
    const { chance, pick } = random;
    const submit = controls.find(isSubmit);
    const fields = controls.filter(({ tag, type }) => !/^(?:a|button)$/.test(tag) && type !== 'checkbox');
    const [, wanted] = /^Type (.*) to go on$/s.exec(dialog?.label ?? '') ?? [];
    switch (dialog?.phase) {
      case 'planning':
        return ['wait while planning'];
      case 'working':
        if (chance(0.7)) return ['wait while working'];
        break;
      case 'planned': {
        const change = [
          ...(chance(0.25) ? this.#world.drawChange(random) : []),
          ...(chance(0.25) ? this.#world.drawComing(random, dialog.title) : []),
        ];
        if (wanted !== undefined && chance(0.7)) {
          const field = controls.find(({ name }) => name.startsWith('Type '));
          if (field !== undefined)
            return [...change, this.#writing(field, chance(0.9) ? wanted : wanted.toLowerCase())];
        }
        if (submit !== undefined && chance(0.7)) return [...change, this.#using(random, submit)];
        break;
      }
      default:
        if (fields.length > 0 && chance(0.6)) return this.#filling(random, fields);
    }
    if (chance(0.2)) return ['key Escape'];
    return controls.length === 0 ? [] : [this.#using(random, pick(controls))];
  }

  #using(random: Random, control: Control): string {
    const { tag, type } = control;
    if (tag === 'select') return `choose option ${String(1 + random.below(4))} of ${this.#nameOf(control)}`;
    if (tag === 'textarea' || (tag === 'input' && type !== 'checkbox'))
      return this.#writing(control, this.#words(random, control.name));
    // What this button says depends on the plan.
    return isSubmit(control) ? 'do it' : `press ${this.#nameOf(control)}`;
  }

  /** Fills the fields of a dialog so that a plan is possible. */
  #filling(random: Random, fields: readonly Control[]): Unit {
    return fields
      .slice(0, 4)
      .filter(({ tag }) => tag !== 'select')
      .flatMap((field) => [
        this.#writing(field, this.#words(random, field.name, 0.9)),
        ...(random.chance(0.15) ? ['key Enter'] : []),
      ]);
  }

  #writing(control: Control, words: string): string {
    return `write ${JSON.stringify(words)} into ${this.#nameOf(control)}`;
  }

  /** Names a control of the page as it is now. */
  #nameOf({ at, name, area }: Control): string {
    const alike = this.#alike(name, area);
    const place = alike.findIndex((each) => each.at === at);
    return `${name} in ${area}${place > 0 ? `, ${String(place + 1)}` : ''}`;
  }

  #alike(name: string, area: string): readonly Control[] {
    return (this.#seen?.controls ?? []).filter((each) => each.name === name && each.area === area);
  }

  /** The control with a name. */
  #named(text: string): Control {
    const [, name = '', area = '', place = '1'] = /^(.*) in (\S+?)(?:, (\d+))?$/s.exec(text) ?? [];
    const control = this.#alike(name, area)[Number(place) - 1];
    if (control === undefined) throw new Error(`There is no ${text}`);
    return control;
  }

  async press(text: string): Promise<void> {
    const control = this.#named(text);
    // Playwright waits until a button that is muted is so no longer; a person presses it all the same.
    await this.#at(control).click({ force: control.isMuted });
  }

  /** Presses the button that does what the dialog is about. */
  async submit(): Promise<void> {
    const control = this.#seen?.controls.find(isSubmit);
    if (control === undefined) throw new Error('There is no such button');
    await this.#at(control).click({ force: control.isMuted });
  }

  async choose(place: number, text: string): Promise<void> {
    const select = this.#at(this.#named(text));
    const count = await select.locator('option').count();
    await select.selectOption({ index: place % Math.max(1, count) });
  }

  async write(words: string, text: string): Promise<void> {
    await this.#at(this.#named(text)).fill(words);
  }

  async key(key: string): Promise<void> {
    await this.#page.keyboard.press(key);
  }

  async resize(width: number, height: number): Promise<void> {
    await this.#page.setViewportSize({ width, height });
  }

  async go(way: 'back' | 'forward'): Promise<void> {
    const { canGoBack = false, canGoForward = false } = this.#seen ?? {};
    if (!(way === 'back' ? canGoBack : canGoForward)) throw new Error(`There is no way ${way}`);
    await this.#page.evaluate((to) => {
      history[to]();
    }, way);
  }

  async untilPhaseEnds(phase: string): Promise<void> {
    await this.#page.locator(`dialog[data-phase="${phase}"]`).waitFor({ state: 'detached', timeout: hangMs });
  }

  async openTab(): Promise<void> {
    const url = this.#page.url();
    const second = await this.#page.context().newPage();
    await this.#prepare(second);
    await second.goto(url, { timeout: hangMs });
    await second.locator('.view').waitFor({ timeout: hangMs });
    this.#page = second;
  }

  /** Goes back to the first tab. */
  async closeTab(): Promise<void> {
    if (!this.#isVisiting()) return;
    const second = this.#page;
    await this.#leaveDialog();
    await this.#untilSettled();
    await this.#look();
    this.#page = this.#first;
    await second.close();
    await this.#first.bringToFront();
  }

  #isVisiting(): boolean {
    return this.#page !== this.#first;
  }

  #at({ at }: Control) {
    return this.#page.locator(`[data-walk="${String(at)}"]`);
  }

  /** Until the page has drawn what came of a step. */
  async #drawn(): Promise<void> {
    await this.#page.evaluate(
      () =>
        new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
    );
  }

  /** Until the page has what it has asked for. */
  async #untilQuiet(): Promise<void> {
    const end = performance.now() + hangMs;
    for (let quiet = 0; quiet < 2 && performance.now() < end;) {
      const isWaiting = (await this.#page.locator(waiting).count()) > 0;
      quiet = isWaiting || this.#requests.busy > 0 ? 0 : quiet + 1;
      await this.#drawn();
    }
  }

  /** Words for a field: often what the field wants. */
  #words({ chance, pick }: Random, name: string, sense = 0.6): string {
    // Into a field for a time, a browser lets nobody type anything else.
    if (!isTime.test(name) && !chance(sense))
      return pick([
        '',
        ' ',
        'x',
        '0',
        '-1',
        '1e9',
        'Ünï cödé ✓',
        '<b>&amp;"\'',
        'a/b?c#d',
        '..',
        'x,y',
        'A'.repeat(300),
      ]);
    const fits = wordsFor.find(([field]) => field.test(name))?.[1] ?? ['1', '10', 'Sales'];
    const word = pick(fits);
    return word === 'fresh' ? `Mine ${String((this.#created += 1))}` : word;
  }

  /** Until no command of the walker is in flight. */
  async #untilSettled(): Promise<void> {
    const end = performance.now() + hangMs;
    while (this.#requests.open > 0 && performance.now() < end) await this.#page.waitForTimeout(20);
    await this.#page.waitForTimeout(50);
  }

  async #leaveDialog(): Promise<void> {
    if ((await this.#page.locator('dialog').count()) > 0) await this.#page.keyboard.press('Escape');
  }
}

function isOfWorld(text: string): boolean {
  return worldRows.some(([form]) => form.test(text));
}

function isSubmit({ tag, type, area }: Control): boolean {
  return tag === 'button' && type === 'submit' && area === 'dialog';
}

/** A dialog that waits for an answer. */
const waiting = 'dialog[data-phase="planning"], dialog[data-phase="working"]';

/** Every step of the walker. */
const rows: readonly Row<Walker>[] = [
  [/^press (.*)$/s, (walker, control = '') => walker.press(control)],
  [/^do it$/, (walker) => walker.submit()],
  [
    /^choose option (\d+) of (.*)$/s,
    (walker, place, control = '') => walker.choose(Number(place) - 1, control),
  ],
  [
    /^write ("(?:[^"\\]|\\.)*") into (.*)$/s,
    (walker, words = '', control = '') => walker.write(JSON.parse(words) as string, control),
  ],
  [/^key (.*)$/, (walker, key = '') => walker.key(key)],
  [/^resize to (\d+) × (\d+)$/, (walker, width, height) => walker.resize(Number(width), Number(height))],
  [/^go back$/, (walker) => walker.go('back')],
  [/^go forward$/, (walker) => walker.go('forward')],
  [/^wait while (.*)$/, (walker, phase = '') => walker.untilPhaseEnds(phase)],
  [/^rest$/, (walker) => walker.rest()],
  [/^open a second tab$/, (walker) => walker.openTab()],
  [/^close the second tab$/, (walker) => walker.closeTab()],
];

const isTime = /^(?:From|To)$/;

/** What a field wants, by its name. `fresh` stands for a name that nothing has. */
const wordsFor: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^Find/, ['sales', 'db', 'started', 'nothing at all', '']],
  [/^(?:name|Name)$/, ['fresh', 'fresh', 'fresh', 'Sales']],
  [/^router$/, ['readconnroute', 'readwritesplit']],
  [isTime, ['2016-08-29T11:00', '2100-01-01T00:00', '']],
  [
    /^Document$/,
    ['{}', '{"services":[', '{"services":[{"name":"Sales","router":"readconnroute","max_connection":9}]}'],
  ],
  [/^module$/, ['pgmon', 'qlafilter']],
  [/^protocol$/, ['pgbackend', 'pgclient']],
  [/^address$/, ['10.0.0.9', '0.0.0.0']],
  [/^port$/, ['5432', '4010']],
  [/^servers$/, ['db-1', 'db-1, db-2', '']],
  [/^filters$/, ['Query Log', '']],
  [/assword/, ['correct horse 9']],
  [/^Deadline/, ['', '', '600']],
  [/^Service$/, ['Sales', 'Reports', '']],
  [/^Server$/, ['db-1', 'db-2', '']],
  [/^User$/, ['alice', 'bob']],
];

/** What the line of an outcome has of a button: the title of the act, which a number on the button may replace. */
function outcomeTitle(button: string): string {
  const title = button.replace(
    / and close (?:[\d,]+ sessions?)?(?: and )?(?:[\d,]+ backend connections?)?$/,
    '',
  );
  const [, sessionsOf] = /^Close [\d,]+ sessions? of (.+)$/s.exec(title) ?? [];
  if (sessionsOf !== undefined) return ` of ${sessionsOf}`;
  const [, connectionsTo] = /^Close [\d,]+ connections? to (.+)$/s.exec(title) ?? [];
  if (connectionsTo !== undefined) return `Close the connections to ${connectionsTo}`;
  return /^Close [\d,]+ sessions?$/.test(title) ? 'Close ' : `: ${title}.`;
}
