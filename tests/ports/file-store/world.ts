/**
 * Worlds of a file store: processes append, compact, close and die, and the machine loses its power, at any call of the
 * disk. What was confirmed stays.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ConfigurationStore } from 'gateway-admin-core';
import { DamagedStoreError, openFileStore, StoreLockedError } from 'gateway-admin-core/file-store';
import type { Random } from 'gateway-admin-core/testing';

import type { Player } from '../../scenario/play.ts';
import { performIn, type Row } from '../../scenario/row.ts';
import { simulateWorld, type Unit } from '../../scenario/world.ts';
import { DiskLog, survivals, type Survival } from '../../support/disk-log.ts';
import { historyIn, Ledger, numbersIn, openStoreWith } from '../../support/store-life.ts';

export function simulate(seed: number): Promise<readonly string[]> {
  return simulateWorld(
    {
      open: DiskStage.open,
      close: (stage) => stage.remove(),
      draw,
      isOver: ({ faults }) => faults.length > 0,
      simpler,
      faults: faultsAtRest,
    },
    seed,
  );
}

const length = 30;

/** Which changes of names are there after a power failure. */
const namings: Readonly<Record<string, (index: number, count: number) => boolean>> = {
  'every name': () => true,
  'no new name': () => false,
  'the first new name': (index) => index === 0,
  'the last new name': (index, count) => index === count - 1,
};

/** A directory on a disk, the process that has it open, and what the store there has confirmed. */
class DiskStage implements Player {
  readonly faults: string[] = [];
  readonly directory: string;
  readonly ledger = new Ledger();
  readonly #log: DiskLog;
  #process: { readonly store: ConfigurationStore; position: string } | undefined;
  #seen: string[] = [];
  /** How many changes of the disk the process still lives to see, and whether it is dead. */
  #livesFor = Infinity;
  #isDead = false;
  #failsSync = false;

  private constructor(directory: string) {
    this.directory = directory;
    this.#log = new DiskLog(directory, () => {
      this.#livesFor -= 1;
      if (this.#livesFor > 0) return;
      this.#isDead = true;
      throw new Error('the process is dead');
    });
    this.#log.isGone = () => this.#isDead;
    this.#log.failsSync = (method) => method === 'datasync' && this.#failsSync && !(this.#failsSync = false);
  }

  static async open(this: void): Promise<DiskStage> {
    return new DiskStage(join(await mkdtemp(join(tmpdir(), 'gateway-store-')), 'store'));
  }

  async remove(): Promise<void> {
    await this.close();
    await rm(join(this.directory, '..'), { recursive: true });
  }

  perform(text: string): void | Promise<void> {
    return performIn(rows, this, text);
  }

  takeSeen(): readonly string[] {
    return this.#seen.splice(0);
  }

  /** The process lives for so many changes of the disk that its next call makes. */
  dieAt(change: number): void {
    this.#livesFor = change;
  }

  failSync(): void {
    this.#failsSync = true;
  }

  /** Nothing fails any more. */
  calm(): void {
    this.#livesFor = Infinity;
    this.#failsSync = false;
  }

  /** A process opens the store, and finds what was confirmed. */
  async start(): Promise<void> {
    if (this.#process !== undefined) throw new Error('a process has the store open');
    // A process that fails at its start ends, and is no fault of the store.
    this.#failsSync = false;
    await this.#call(async () => {
      const store = await openStoreWith(this.directory, this.#log.files);
      try {
        const history = await store.load();
        this.#expectConfirmed(history);
        this.ledger.settle(history);
        this.#process = { store, position: history.position };
        this.#seen.push(`store: has ${numbered(numbersIn(history))}`);
      } finally {
        if (this.#process === undefined) await store[Symbol.asyncDispose]();
      }
    });
  }

  #expectConfirmed(history: Parameters<Ledger['allows']>[0]): void {
    const { kept, pending } = this.ledger;
    if (this.ledger.allows(history)) return;
    const [has, confirmed, asked] = [numbersIn(history), kept, pending].map(({ length }) => String(length));
    this.faults.push(
      `the store has ${String(has)} records; it has confirmed ${String(confirmed)}, and was asked for ${String(asked)} more`,
    );
  }

  append(count: number, characters: number): Promise<void> {
    return this.#write((store, position) => this.ledger.append(store, position, count, characters));
  }

  compact(): Promise<void> {
    return this.#write((store, position) => this.ledger.compact(store, position));
  }

  /** A call that failed is made again, as the library does. */
  async #write(call: (store: ConfigurationStore, position: string) => Promise<string>): Promise<void> {
    const process = this.#process;
    if (process === undefined) throw new Error('no process has the store open');
    const make = async (): Promise<void> => {
      process.position = await call(process.store, process.position);
      this.#seen.push(`store: confirms ${process.position}`);
    };
    await this.#call(() =>
      make().catch((error: unknown) => (this.#isDead ? Promise.reject(error as Error) : make())),
    );
  }

  /** Makes a call during which the process may die. */
  async #call(call: () => Promise<void>): Promise<void> {
    await call().catch((error: unknown) => {
      if (!this.#isDead)
        this.faults.push(`the store fails: ${sentenceOf(error).replaceAll(this.directory, '')}`);
    });
    if (this.#isDead) {
      this.#seen.push('process: has died');
      await this.close();
    }
    this.#isDead = false;
    this.calm();
  }

  /** The process ends, whether or not it is dead. */
  async close(): Promise<void> {
    await this.#process?.store[Symbol.asyncDispose]();
    this.#process = undefined;
  }

  async loseNewest(survival: string, names: string): Promise<void> {
    await this.close();
    const [, keepsName = () => true] = Object.entries(namings).find(([name]) => name === names) ?? [];
    await this.#log.restore(this.directory, this.#log.left(survival as Survival, keepsName));
  }

  /** Nobody but the process can open the store. */
  async openTwice(): Promise<void> {
    if (this.#process === undefined) throw new Error('no process has the store open');
    const other = await openFileStore(this.directory).catch((error: unknown) => {
      if (!(error instanceof StoreLockedError)) throw error;
    });
    if (other === undefined) return;
    this.faults.push('two processes have the store open');
    await other[Symbol.asyncDispose]();
  }

  /** A bit of a file flips while no process has the store open. That is noticed, and flips back. */
  async flip(name: string, place: number): Promise<void> {
    if (this.#process !== undefined) throw new Error('a process has the store open');
    const path = join(this.directory, name === 'snapshot' ? name : await this.#journal());
    const bytes = await readFile(path);
    const flipped = Buffer.from(bytes);
    const index = place % bytes.length;
    flipped.writeUInt8(bytes.readUInt8(index) ^ (1 << (place % 8)), index);
    await writeFile(path, flipped);
    await historyIn(this.directory).then(
      () => this.faults.push(`nothing was said of a flipped bit of the ${name}`),
      (error: unknown) => {
        if (!(error instanceof DamagedStoreError)) throw error;
      },
    );
    await writeFile(path, bytes);
  }

  async #journal(): Promise<string> {
    const names = await this.#log.files.readdir(this.directory);
    const found = names.filter((name) => /^journal-\d+$/.test(name));
    const [journal] = found;
    if (journal === undefined || found.length > 1) throw new Error('there is not one journal');
    return journal;
  }
}

/** What an error says, without what to do. */
function sentenceOf(error: unknown): string {
  return (error as Error).message.replace(/\. [A-Z].*$/s, '.');
}

function numbered(numbers: readonly number[]): string {
  return numbers.length === 0 ? 'nothing' : `records ${numbers.join(', ')}`;
}

/** Every step. */
const rows: readonly Row<DiskStage>[] = [
  [/^start$/, (stage) => stage.start()],
  [/^close$/, (stage) => stage.close()],
  [/^kill$/, (stage) => stage.close()],
  [/^append (\d+) records? of (\d+) characters$/, (stage, ...found) => stage.append(...numbersOf(found))],
  [/^compact$/, (stage) => stage.compact()],
  [
    /^the process dies at change (\d+) of the disk in the next call$/,
    (stage, change) => {
      stage.dieAt(Number(change));
    },
  ],
  [
    /^the next sync of content fails$/,
    (stage) => {
      stage.failSync();
    },
  ],
  [
    /^power fails; of what was not synced stays: (.*); (.*)$/,
    (stage, survival = '', names = '') => stage.loseNewest(survival, names),
  ],
  [/^another process opens the store$/, (stage) => stage.openTwice()],
  [
    /^a bit of the (journal|snapshot) flips: (\d+)$/,
    (stage, name = '', place = '') => stage.flip(name, Number(place)),
  ],
];

function numbersOf([count, characters]: readonly string[]): [count: number, characters: number] {
  return [Number(count), Number(characters)];
}

function* draw(random: Random): Generator<Unit> {
  yield ['start'];
  for (let number = 0; number < length; number += 1) yield drawUnit(random);
}

function drawUnit(random: Random): Unit {
  const { chance, pick, below } = random;
  const call = chance(0.3) ? 'compact' : drawAppend(random);
  const power = `power fails; of what was not synced stays: ${pick(survivals)}; ${pick(Object.keys(namings))}`;
  const dying = `the process dies at change ${String(1 + below(12))} of the disk in the next call`;
  if (chance(0.06))
    return ['close', `a bit of the ${pick(['journal', 'snapshot'])} flips: ${String(below(4000))}`, 'start'];
  if (chance(0.15)) return [dying, call, ...(chance(0.7) ? [power] : []), ...startings(random, dying, power)];
  if (chance(0.08)) return [...(chance(0.7) ? [power] : [pick(['close', 'kill'])]), 'start'];
  if (chance(0.08)) return ['the next sync of content fails', ...(chance(0.4) ? [dying] : []), call];
  if (chance(0.003)) return ['another process opens the store'];
  return [call];
}

/** The next process may die while it repairs what the dead one has left. */
function startings({ chance }: Random, dying: string, power: string): Unit {
  return chance(0.3) ? [dying, 'start', ...(chance(0.5) ? [power] : []), 'start'] : ['start'];
}

function drawAppend({ pick, below }: Random): string {
  const count = 1 + below(3);
  return `append ${String(count)} record${count === 1 ? '' : 's'} of ${String(pick([3, 40, 300, 1200]))} characters`;
}

/** Fewer parts, and simpler ones. */
function simpler(texts: Unit): readonly Unit[] {
  return texts.flatMap((text, at) => [
    ...(texts.length > 1 ? [texts.toSpliced(at, 1)] : []),
    ...simplerTexts(text).map((each) => texts.with(at, each)),
  ]);
}

function simplerTexts(text: string): readonly string[] {
  if (text.startsWith('append ')) return text === smallest ? [] : [smallest];
  const [, before = '', names] = /^(power fails.*: .*; )(.*)$/.exec(text) ?? [];
  return names === undefined || names === 'every name' ? [] : [`${before}every name`];
}

const smallest = 'append 1 record of 3 characters';

/** The store has what it has confirmed, and goes on, at the end of every world. */
async function faultsAtRest(stage: DiskStage): Promise<readonly string[]> {
  stage.calm();
  for (let again = 0; again < 2 && stage.faults.length === 0; again += 1) {
    await stage.close();
    await stage.start();
    if (stage.faults.length === 0) await stage.append(1, 3);
  }
  return stage.faults;
}
