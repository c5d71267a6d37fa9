/**
 * A disk that several nodes write to, and that fails in the ways that databases behind a network do. It keeps every
 * step that was ever taken, so that a judge can read them.
 */
import { StoreConflictError, type Json, type StoredHistory } from 'gateway-admin-core';
import type { LogStep, SharedStore } from 'gateway-admin-core/fleet';
import type { Random, VirtualClock } from 'gateway-admin-core/testing';

/** How often something goes wrong, from 0 to 1. */
export interface DiskFaults {
  /** A call rejects; what it was to keep is kept, or is not. */
  readonly reject: number;
  /** A call is never answered; what it was to keep is kept at some time, or never. */
  readonly never: number;
  /** A call takes up to seconds. */
  readonly slow: number;
  /** A hint is lost. */
  readonly lostHint: number;
}

/** The rules of a shared store. A world can switch off one of them, to see that the simulation finds that. */
export interface DiskRules {
  /** A position names the call that ended there. */
  readonly namesCall: boolean;
  /** `append` looks at the end of the log. */
  readonly isConditional: boolean;
}

export const allRules: DiskRules = { namesCall: true, isConditional: true };

/** A call that changed the content. */
export interface Step {
  readonly kind: 'append' | 'compact';
  /** The id of the call. */
  readonly id: string;
  /** The number of records and compactions up to here. */
  readonly count: number;
  /** The appended records, or the state. */
  readonly texts: readonly string[];
}

/** The line of one process to the disk. */
export interface Line {
  /** Whether the process has died. What it has sent can still arrive. */
  readonly isDead: () => boolean;
  readonly isCut: () => boolean;
}

export class SharedDisk {
  faults: DiskFaults = { reject: 0, never: 0, slow: 0, lostHint: 0 };
  steps: readonly Step[] = [];
  /** Called after each step. */
  onStep: (step: Step) => void = () => undefined;
  /** Called when a node has announced itself. */
  onAnnounced: (node: string, isThere: boolean) => void = () => undefined;
  readonly #random: Random;
  readonly #clock: VirtualClock;
  readonly #rules: DiskRules;
  readonly #keepsOld: boolean;
  readonly #watchers = new Set<() => void>();
  #announced: ReadonlyMap<string, string> = new Map();
  #failsUntil = -1;
  #calls = 0;
  /** The number of calls that may still change something. */
  #under = 0;

  constructor(random: Random, clock: VirtualClock, rules: DiskRules) {
    this.#random = random;
    this.#clock = clock;
    this.#rules = rules;
    // A store may keep the records before a compaction, for its history.
    this.#keepsOld = random.chance(0.3);
  }

  get position(): string {
    return this.#positionOf(this.steps.at(-1));
  }

  /** Whether no call is on its way. */
  get isQuiet(): boolean {
    return this.#under === 0;
  }

  get isOut(): boolean {
    return this.#clock.monotonic() < this.#failsUntil;
  }

  /** Every call rejects for a time. */
  fail(milliseconds: number): void {
    this.#failsUntil = this.#clock.monotonic() + milliseconds;
  }

  /** Everybody is forgotten who has announced something: that need not outlive a restart of the engine. */
  forgetAnnouncements(): void {
    this.#announced = new Map();
  }

  /** An operator restores a backup. Gives the steps that are lost. */
  setBack(to: number): readonly Step[] {
    const lost = this.steps.slice(to);
    this.steps = this.steps.slice(0, to);
    this.#tell();
    return lost;
  }

  /** The store that one process opens. */
  store(line: Line): SharedStore {
    let last = { text: '', id: '' };
    const idOf = (call: unknown): string => {
      const text = JSON.stringify(call);
      if (text !== last.text) last = { text, id: `c${String((this.#calls += 1))}` };
      return last.id;
    };
    return {
      durable: true,
      load: () => this.#call(line, () => this.#history()),
      append: (records, { expectedPosition }) => {
        const texts = records.map((record) => JSON.stringify(record));
        const id = idOf(['append', expectedPosition, texts]);
        return this.#call(line, () => this.#take('append', id, texts, expectedPosition));
      },
      compact: (state, { expectedPosition }) => {
        const texts = [JSON.stringify(state)];
        const id = idOf(['compact', expectedPosition, texts]);
        return this.#call(line, () => this.#take('compact', id, texts, expectedPosition));
      },
      read: (after) => this.#call(line, () => this.#read(after)),
      changed: (after, signal) => this.#changed(line, after, signal),
      announce: (node, status) => this.#call(line, () => this.#announce(node, status)),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  #positionOf(step: Step | undefined): string {
    if (step === undefined) return '0';
    return this.#rules.namesCall ? `${String(step.count)}.${step.id}` : String(step.count);
  }

  #history(): StoredHistory {
    const at = this.steps.findLastIndex(({ kind }) => kind === 'compact');
    const rest = { records: recordsOf(this.steps.slice(at + 1)), position: this.position };
    const [state] = this.steps[at]?.texts ?? [];
    return state === undefined ? rest : { state: valueOf(state), ...rest };
  }

  #take(kind: Step['kind'], id: string, texts: readonly string[], expected: string): string {
    const end = this.steps.at(-1);
    if (end?.id === id) return this.position;
    if (this.position !== expected && (this.#rules.isConditional || kind === 'compact'))
      throw new StoreConflictError(expected, this.position);
    const step = { kind, id, texts, count: (end?.count ?? 0) + texts.length };
    this.steps = [...this.steps, step];
    this.onStep(step);
    this.#tell();
    return this.position;
  }

  #read(after: string): readonly LogStep[] | 'gone' {
    const at = this.steps.findLastIndex((step) => this.#positionOf(step) === after);
    if (at === -1 && after !== '0') return 'gone';
    const behind = this.steps.slice(at + 1);
    const compacted = behind.findLastIndex(({ kind }) => kind === 'compact');
    if (compacted > 0 && !this.#keepsOld) return 'gone';
    return behind.map((step) => ({ records: recordsOf([step]), position: this.#positionOf(step) }));
  }

  async #changed(line: Line, after: string, signal: AbortSignal): Promise<void> {
    if (line.isCut() || signal.aborted) return;
    const random = this.#random;
    const hasHint = (): boolean => this.position !== after && !random.chance(this.faults.lostHint);
    if (hasHint()) return;
    let hint = (): void => undefined;
    const hinted = new Promise<void>((resolve) => (hint = resolve));
    const watch = (): void => {
      if (hasHint()) hint();
    };
    this.#watchers.add(watch);
    signal.addEventListener('abort', hint, { once: true });
    await hinted;
    this.#watchers.delete(watch);
    signal.removeEventListener('abort', hint);
    if (random.chance(0.3)) await this.#clock.sleep(random.below(1500), signal);
  }

  #announce(node: string, status: Json | null): ReadonlyMap<string, Json> {
    const others = [...this.#announced].filter(([name]) => name !== node);
    const own: typeof others = status === null ? [] : [[node, JSON.stringify(status)]];
    this.#announced = new Map([...others, ...own]);
    this.onAnnounced(node, status !== null);
    return new Map([...this.#announced].map(([name, text]) => [name, valueOf(text)]));
  }

  async #call<T>(line: Line, work: () => T): Promise<T> {
    this.#under += 1;
    const answer = this.#answer(line, work).finally(() => {
      this.#under -= 1;
    });
    return answer.then((given) => ('value' in given ? given.value : silent()));
  }

  /** A call on its way there and back; without an answer if it is never answered. */
  async #answer<T>(line: Line, work: () => T): Promise<{ readonly value: T } | Record<string, never>> {
    const [random, faults] = [this.#random, this.faults];
    if (random.chance(0.3)) await this.#clock.sleep(1 + random.below(20));
    if (random.chance(faults.slow)) await this.#clock.sleep(random.below(3000));
    // What a dead process has sent arrives, or does not.
    if (line.isDead() && random.chance(0.5)) return {};
    if (random.chance(faults.never)) return this.#hang(work);
    if (line.isCut() || this.isOut) throw new Error('The disk is out of reach');
    if (random.chance(faults.reject)) {
      if (random.chance(0.5)) work();
      throw new Error('The disk failed');
    }
    const value = work();
    if (random.chance(0.3)) await this.#clock.sleep(1 + random.below(20));
    return { value };
  }

  /** Never answers. What was to be kept may get there while the same call comes again, or long after that. */
  async #hang(work: () => unknown): Promise<Record<string, never>> {
    const isKept = this.#random.chance(0.5);
    await this.#clock.sleep(this.#random.below(8000));
    try {
      if (isKept) work();
    } catch {
      // Others have written there meanwhile.
    }
    return {};
  }

  #tell(): void {
    for (const watch of this.#watchers) watch();
  }
}

function silent(): Promise<never> {
  return new Promise(() => undefined);
}

function recordsOf(steps: readonly Step[]): readonly Json[] {
  return steps.flatMap(({ kind, texts }) => (kind === 'append' ? texts.map(valueOf) : []));
}

function valueOf(text: string): Json {
  return JSON.parse(text) as Json;
}
