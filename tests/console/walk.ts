/**
 * A random walk over the page: a walker presses what a person can press, while the world goes on. After each act the
 * laws hold.
 */
import type { AdminEvent } from 'gateway-admin-core';
import { createRandom, type Random } from 'gateway-admin-core/testing';
import type { Page } from 'playwright-core';

import { parsePlace } from '../../console/place.ts';
import { text } from '../../console/text.ts';
import { serveConsole, type Hosting, type Served } from './served-console.ts';
import { figureBreaches } from './walk-figures.ts';
import { mayCause, outcomeBreaches, pressBreaches, takesBack, type Press } from './walk-law.ts';
import { describePlace, look, readFigures, watchPresses, type Control, type Seen } from './walk-page.ts';
import { clientOf, World } from './walk-world.ts';

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

/** A limit for what never comes. */
const hangMs = 180_000;

/** Walks over a page. Rejects with the seed, the last acts and the broken law. */
export async function walk(page: Page, { seed, acts, tell = () => undefined }: WalkOptions): Promise<Walked> {
  const random = createRandom(seed);
  const requests = new Commands();
  const served = await serveConsole({
    principalOf: () => ({ name: walkerName }),
    // Errors of the gateway are wanted here.
    admin: { observe: { onError: () => undefined }, limits: { effectDeadlineMs: 700 } },
    inFront: requests.see,
  });
  const walker = new Walker(page, served, random, requests);
  try {
    await walker.open();
    for (let act = 1; act <= acts; act += 1) {
      await walker.act();
      if (act % reloadEvery === 0) await walker.reload();
      if (act % restEvery === 0) await walker.stir();
      if (act % restEvery === 0 || act === acts) await walker.rest();
      if (act % 500 === 0) tell(`${String(act)} acts, ${String(walker.presses)} presses`);
    }
    return { acts, presses: walker.presses, commands: walker.commands };
  } catch (error) {
    const last = walker.log.slice(-20).map((line) => `  ${line}`);
    throw new Error(
      [
        `Seed ${String(seed)}, act ${String(walker.log.length)}: ${(error as Error).message}`,
        'The last acts:',
        ...last,
      ].join('\n'),
      { cause: error },
    );
  }
}

/** The requests of the page that change something. */
class Commands {
  open = 0;
  readonly #came: string[] = [];
  readonly see: NonNullable<Hosting['inFront']> = ({ method, url = '' }, response) => {
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

class Walker {
  readonly log: string[] = [];
  presses = 0;
  #page: Page;
  readonly #served: Served;
  readonly #random: Random;
  readonly #requests: Commands;
  readonly #world: World;
  readonly #faults: string[] = [];
  readonly #pending: Press[] = [];
  /** The events of the walker's commands, by the id of the command. */
  readonly #events = new Map<string, AdminEvent[]>();
  /** The events of these commands that no press has got yet. */
  readonly #came: AdminEvent[] = [];
  #created = 0;

  constructor(page: Page, served: Served, random: Random, requests: Commands) {
    this.#page = page;
    this.#served = served;
    this.#random = random;
    this.#requests = requests;
    this.#world = new World(served, random);
    void this.#follow();
  }

  get commands(): number {
    return [...this.#events.values()].filter((events) => events.some(({ actor }) => actor === walkerName))
      .length;
  }

  async open(): Promise<void> {
    await this.#prepare(this.#page);
    await this.#page.goto(`${this.#served.origin}/console`);
    await this.#page.getByRole('button', { name: 'Add a service' }).waitFor();
  }

  /** Something happens in the world, and the walker does one thing. */
  async act(): Promise<void> {
    await this.#world.goOn();
    const seen = await this.#look();
    await (seen.dialog === undefined ? this.#wander(seen) : this.#answer(seen));
    await this.#look();
  }

  /** Opens something, and clients come and go: no event tells the page of them. */
  async stir(): Promise<void> {
    const { chance, pick } = this.#random;
    if (chance(0.3)) return;
    await this.#leaveDialog();
    const view = (await this.#look()).controls.filter(
      ({ area, name }) => area === 'nav' && /^(?:Gateway|Sessions)$/.test(name),
    );
    if (view.length > 0) await this.#use(pick(view));
    const links = (await this.#look()).controls.filter(({ link }) => link !== '');
    const kindOf = ({ link }: Control): string => link.split('/')[1] ?? '';
    const kind = pick([...new Set(links.map(kindOf)), '']);
    const ofKind = links.filter((each) => kindOf(each) === kind);
    if (ofKind.length > 0) await this.#use(pick(ofKind));
    await this.#page.waitForTimeout(300);
    this.#world.moveClients(20);
  }

  /** While nothing happens, the figures become those of the interface, or say their age. */
  async rest(): Promise<void> {
    this.log.push('rests');
    await this.#world.calm();
    const end = performance.now() + restMs;
    for (let looks = 1; ; looks += 1) {
      const seen = await this.#look();
      const figures = await this.#page.evaluate(readFigures);
      const client = clientOf(this.#served.admin, 'reader');
      const breaches = await figureBreaches(figures, parsePlace(seen.fragment), client);
      if (breaches.length === 0) return;
      if (performance.now() > end && looks >= restLooks) throw new Error(breaches.join('\n'));
      await this.#page.waitForTimeout(100);
    }
  }

  /** The address leads to the same place. */
  async reload(): Promise<void> {
    this.log.push('reloads');
    await this.#leaveDialog();
    await this.#untilSettled();
    await this.#look();
    const before = await this.#page.evaluate(describePlace);
    await this.#page.reload();
    const end = performance.now() + hangMs;
    for (;;) {
      const after = await this.#page.evaluate(describePlace);
      if (after === before) return;
      if (performance.now() > end) throw new Error(`The address led to ${after}, not to ${before}`);
      await this.#page.waitForTimeout(50);
    }
  }

  async #prepare(page: Page): Promise<void> {
    page.setDefaultTimeout(1500);
    page.on('pageerror', (error) =>
      this.#faults.push(`An error of the page: ${error.stack ?? error.message}`),
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
      this.#faults.push(`In the console of the page: ${message.text()}`);
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
    if (seen.dialogs > 1) this.#faults.push(`There are ${String(seen.dialogs)} dialogs`);
    if (seen.isBlank) this.#faults.push('The page is blank');
    const place = parsePlace(seen.fragment);
    const shown = { view: text.views[place.view], find: place.find, isOpen: place.open !== '' };
    const { view, find, isOpen } = seen.place;
    if (JSON.stringify(shown) !== JSON.stringify({ view, find, isOpen }))
      this.#faults.push(`${seen.fragment} shows ${JSON.stringify(seen.place)}`);
    if (this.#faults.length > 0) throw new Error(this.#faults.join('\n'));
    return seen;
  }

  #press(name: string): void {
    this.presses += 1;
    this.log.push(`  → ${name}`);
    this.#pending.push({ text: name, at: performance.now(), events: [], isShared: false, isOver: false });
  }

  /** A request that changes something comes from a press. */
  #expectPress(request: string): void {
    this.log.push(`  → ${request}`);
    const press = this.#pending.findLast(({ isOver }) => !isOver);
    if (press === undefined) {
      this.#faults.push(`Nothing was pressed, and the page sent ${request}`);
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
      this.log.push(`  → ${event.type} ${event.resource}`);
      const causes = open.filter(
        (press) => mayCause(press, event) || press.events.some((before) => takesBack(event, before)),
      );
      const [cause = open.at(-1)] = causes;
      if (causes.length > 1) for (const press of causes) press.isShared = true;
      if (cause === undefined)
        this.#faults.push(`Nothing was pressed, and ${event.type} ${event.resource} happened`);
      else {
        const taken = cause.events.findLastIndex((before) => takesBack(event, before));
        if (taken === -1) cause.events.push(event);
        else cause.events.splice(taken, 1);
      }
    }
    for (const press of open) if (!press.isShared) this.#faults.push(...pressBreaches(press));
    const isInFlight = this.#served.admin.commands().some(({ actor }) => actor === walkerName);
    const isQuiet = this.#requests.open === 0 && !isInFlight;
    for (const press of open) if (isQuiet && performance.now() - press.at > 1000) press.isOver = true;
    if (this.#pending.length > 20) this.#pending.shift();
  }

  #expectOutcome({ kind, text: line }: Seen['outcomes'][number]): void {
    this.log.push(`  ← ${line}`);
    this.#settle();
    const fitting = this.#pending.filter(({ text: name }) => line.includes(outcomeTitle(name)));
    const press = fitting.at(-1);
    if (press !== undefined && !press.isShared) this.#faults.push(...outcomeBreaches(kind, line, press));
  }

  /** Does something on the page, without a dialog. */
  async #wander(seen: Seen): Promise<void> {
    const { chance, pick, below } = this.#random;
    if (seen.canGoBack && chance(0.05))
      return this.#do('goes back', () => this.#page.evaluate(() => history.back()));
    if (seen.canGoForward && chance(0.03))
      return this.#do('goes forward', () => this.#page.evaluate(() => history.forward()));
    if (chance(0.03))
      return this.#key(pick(['Escape', '/', 'g', 's', 'h', 'ArrowDown', 'ArrowUp', 'Enter', 'Tab']));
    if (chance(0.02)) {
      const [width, height] = [320 + below(1400), 400 + below(800)];
      return this.#do(`resizes to ${String(width)} × ${String(height)}`, () =>
        this.#page.setViewportSize({ width, height }),
      );
    }
    if (chance(0.005)) return this.#visitSecondTab();
    const areas = [...new Set(seen.controls.map(({ area }) => area))];
    if (areas.length === 0) return;
    const area = areas.includes('.acts') && chance(0.4) ? '.acts' : pick(areas);
    await this.#use(pick(seen.controls.filter((each) => each.area === area)));
  }

  /** Does something in the dialog. */
  async #answer({ dialog, controls }: Seen): Promise<void> {
    const { chance, pick } = this.#random;
    const submit = controls.find(({ tag, type }) => tag === 'button' && type === 'submit');
    const fields = controls.filter(({ tag, type }) => !/^(?:a|button)$/.test(tag) && type !== 'checkbox');
    const [, wanted] = /^Type (.*) to go on$/s.exec(dialog?.label ?? '') ?? [];
    switch (dialog?.phase) {
      case 'planning':
        return this.#do('waits for the plan', () => this.#untilPhaseEnds('planning'));
      case 'working':
        if (chance(0.7)) return this.#do('waits for the gateway', () => this.#untilPhaseEnds('working'));
        break;
      case 'planned':
        if (chance(0.25)) await this.#world.interfere();
        if (wanted !== undefined && chance(0.7)) {
          const field = controls.find(({ name }) => name.startsWith('Type '));
          if (field !== undefined) return this.#write(field, chance(0.9) ? wanted : wanted.toLowerCase());
        }
        if (submit !== undefined && chance(0.7)) return this.#use(submit);
        break;
      default:
        if (fields.length > 0 && chance(0.6)) return this.#fillAll(fields);
    }
    if (chance(0.2)) return this.#key('Escape');
    if (controls.length > 0) await this.#use(pick(controls));
  }

  async #use(control: Control): Promise<void> {
    const { tag, type } = control;
    if (tag === 'select') {
      await this.#do(`chooses in ${control.name}`, () => this.#choose(control));
      return;
    }
    if (tag === 'textarea' || (tag === 'input' && type !== 'checkbox'))
      return this.#write(control, this.#words(control.name));
    await this.#do(`presses ${control.name} (${control.area})`, () =>
      // Playwright waits until a button that is muted is so no longer; a person presses it all the same.
      this.#at(control).click({ force: control.isMuted }),
    );
  }

  #choose(control: Control): Promise<unknown> {
    return this.#at(control)
      .locator('option')
      .count()
      .then((count) => this.#at(control).selectOption({ index: this.#random.below(Math.max(1, count)) }));
  }

  /** Fills the fields of a dialog so that a plan is possible. */
  async #fillAll(fields: readonly Control[]): Promise<void> {
    for (const field of fields.slice(0, 4))
      if (field.tag !== 'select') await this.#write(field, this.#words(field.name, 0.9));
  }

  async #write(control: Control, words: string): Promise<void> {
    await this.#do(`writes ${JSON.stringify(words.slice(0, 60))} into ${control.name}`, () =>
      this.#at(control).fill(words),
    );
    if (this.#random.chance(0.15)) await this.#key('Enter');
  }

  async #key(key: string): Promise<void> {
    await this.#do(`presses the key ${key}`, () => this.#page.keyboard.press(key));
  }

  #at({ at }: Control) {
    return this.#page.locator(`[data-walk="${String(at)}"]`);
  }

  /** What the walker did that could not be done: the thing has gone meanwhile. */
  async #do(what: string, act: () => Promise<unknown>): Promise<void> {
    this.log.push(what);
    try {
      await act();
    } catch (error) {
      if (!/Timeout|not attached|not visible|detached|outside of the viewport/.test(String(error)))
        throw error;
      this.log.push('  (it has gone)');
    }
    // Until the page has drawn what came of it.
    await this.#page.evaluate(
      () =>
        new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
    );
  }

  /** Words for a field: often what the field wants. */
  #words(name: string, sense = 0.6): string {
    const { chance, pick } = this.#random;
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

  async #untilPhaseEnds(phase: string): Promise<void> {
    await this.#page.locator(`dialog[data-phase="${phase}"]`).waitFor({ state: 'detached', timeout: hangMs });
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

  async #visitSecondTab(): Promise<void> {
    const first = this.#page;
    const second = await first.context().newPage();
    this.log.push('opens a second tab');
    await this.#prepare(second);
    await second.goto(first.url());
    await second.locator('.view').waitFor();
    this.#page = second;
    for (let act = 0; act < 4; act += 1) await this.act();
    await this.#leaveDialog();
    await this.#untilSettled();
    await this.#look();
    this.#page = first;
    await second.close();
    this.log.push('closes the second tab');
    await first.bringToFront();
  }
}

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
