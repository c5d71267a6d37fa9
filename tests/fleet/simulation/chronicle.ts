/**
 * The chronicle: what the log of a fleet has led to, moment by moment. A moment begins with each step of the log, and
 * with each set-back. Nothing is forgotten: a node may still show what a set-back has ended.
 */
import { nameKey, type Snapshot } from 'gateway-admin-core';

import { modesIn, readLedger, recordsIn, type Ledger, type LedgerReader, type LogRecord } from './ledger.ts';
import { isShared } from './judge.ts';
import type { Revision } from './reading-law.ts';
import type { Step } from './shared-disk.ts';
import { contentAt, contentOfAllIn, placeOf, shownIn } from './shown.ts';

export class Chronicle {
  /** What the log led to at each moment. */
  readonly moments: Snapshot[] = [];
  /** Whether the fleet was read-only at each moment. */
  readonly readOnly: boolean[] = [];
  /** The modes that were set at each moment. */
  readonly modes: (readonly boolean[])[] = [];
  /** The logs that a set-back has ended. */
  readonly lost: Ledger[] = [];
  /** The revisions with several resources, in order. */
  readonly revisions: Revision[] = [];
  #ledger: LedgerReader | undefined;
  /** All contents that a resource had since the last set-back, by link. */
  readonly #ever = new Map<string, Set<string>>();
  /** The moments of set-backs, each with the moment that it has brought back. */
  readonly #backTo = new Map<number, number>();
  /** The nodes with the links of the resources on which a command of theirs was ended. */
  readonly #fenced = new Set<string>();
  /**
   * The moments of the last events of the commands of actors. What acts for an actor at a deadline is another command.
   */
  readonly #actors = new Map<string, { readonly command: string; readonly moment: number }>();

  /** The log as it is now. */
  get ledger(): Ledger | undefined {
    return this.#ledger;
  }

  /** The number of the present moment. */
  get now(): number {
    return this.moments.length - 1;
  }

  take(step: Step): void {
    if (this.#ledger === undefined) this.#ledger = readLedger([step]);
    else for (const record of recordsIn(step)) this.#take(record, this.#ledger);
    this.#note(modesIn([step]));
    for (const record of recordsIn(step)) if (record.type === 'settlement') this.#noteEnd(record);
  }

  /** @param steps - what is left */
  setBack(steps: readonly Step[]): void {
    if (this.#ledger !== undefined) {
      this.lost.push(this.#ledger);
      // The nodes find that their commands have never begun.
      for (const intent of this.#ledger.open.values()) this.#noteFenced(intent);
    }
    this.#ledger = readLedger(steps);
    // What the set-back has ended is each node's own now, until it is taken back.
    this.#ever.clear();
    for (const { link, content } of shownIn(this.#ledger.snapshot)) add(this.#ever, link, content);
    this.#note(modesIn(steps).slice(-1));
    const content = contentOfAllIn(this.#ledger.snapshot);
    const before = this.moments.slice(0, -1).findLastIndex((moment) => contentOfAllIn(moment) === content);
    if (before !== -1) this.#backTo.set(this.now, before);
  }

  /** The moment that a set-back has brought back; any other moment is its own. */
  broughtBack(moment: number): number {
    return this.#backTo.get(moment) ?? moment;
  }

  /** The first moment from one on at which a resource had a content; `undefined` if it had not. */
  momentWith(link: string, content: string | undefined, from: number): number | undefined {
    const at = this.moments.findIndex(
      (moment, index) => index >= from && contentAt(moment, link) === content,
    );
    return at === -1 ? undefined : at;
  }

  /** The first moment from one on at which the log led to all that a snapshot shows; `undefined` if there is none. */
  momentOfAll(snapshot: Snapshot, from: number): number | undefined {
    const wanted = contentOfAllIn(snapshot);
    const at = this.moments.findIndex((moment, index) => index >= from && contentOfAllIn(moment) === wanted);
    return at === -1 ? undefined : at;
  }

  /** Whether a resource had a content at any time since the last set-back. */
  hadSince(link: string, content: string): boolean {
    return this.#ever.get(link)?.has(content) === true;
  }

  /** The moment at which the log got the last event of the command of an actor; `undefined` if no log ever had one. */
  momentOf(actor: string): number | undefined {
    return this.#actors.get(actor)?.moment;
  }

  /**
   * Whether a node has ever had to take back a command on a resource, because others have ended it or a set-back has.
   */
  hasFenced(node: string, link: string): boolean {
    return this.#fenced.has(`${node} ${nameKey(link)}`);
  }

  /** Whether a node has ever had to take back a command on a resource, or on a part of what a list shows. */
  hasFencedIn(node: string, link: string): boolean {
    const place = `${node} ${nameKey(link)}`;
    return [...this.#fenced].some((each) => each === place || each.startsWith(place.replace(/\/?$/, '/')));
  }

  #take(record: LogRecord, ledger: LedgerReader): void {
    const before = ledger.snapshot;
    ledger.take(record);
    const { node, command, events } = record;
    const places = new Set(events.filter(isShared).map(({ resource }) => placeOf(resource)));
    const changes = [...places].flatMap((link) => {
      const [from, to] = [contentAt(before, link), contentAt(ledger.snapshot, link)];
      return from === to ? [] : [{ link, from, to }];
    });
    if (record.type === 'settlement' && changes.length > 1)
      this.revisions.push({ node, command, changes, moment: this.moments.length });
  }

  #noteEnd(record: Extract<LogRecord, { readonly type: 'settlement' }>): void {
    const { command } = record;
    for (const { actor } of record.events)
      if (actor !== undefined && (this.#actors.get(actor)?.command ?? command) === command)
        this.#actors.set(actor, { command, moment: this.now });
    if (record.why !== undefined) this.#noteFenced(record);
  }

  #noteFenced({ node, resources }: LogRecord): void {
    for (const link of resources) this.#fenced.add(`${node} ${nameKey(link)}`);
  }

  #note(modes: readonly boolean[]): void {
    const snapshot = this.#ledger?.snapshot;
    if (snapshot === undefined) return;
    for (const { link, content } of shownIn(snapshot, this.moments.at(-1))) add(this.#ever, link, content);
    this.moments.push(snapshot);
    this.readOnly.push(snapshot.interface.settings.read_only);
    this.modes.push(modes);
  }
}

function add(sets: Map<string, Set<string>>, key: string, text: string): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([text]));
  else set.add(text);
}
