/**
 * Sharing: one stream of events for all tabs of a browser. A browser has few connections to an address, and each
 * stream would take one of them.
 *
 * One tab holds the stream, and tells the others. The tabs find the holder by letters alone: a lock would outlive a tab
 * that hangs, and there are none over plain HTTP. A tab that nobody sees holds nothing, but hears.
 */
import type { Told } from './model.ts';
import type { Surroundings } from './reader.ts';

/** Opens the stream, and tells what it tells until a signal aborts. The stream goes on after the last known event. */
export type Hold = (tell: (told: Told) => void, last: string | undefined, signal: AbortSignal) => void;

type State = Extract<Told, { readonly type: 'stream' }>['state'];

/** What crosses the channel. */
interface Letter {
  /** The sender wants to hold the stream, holds it, or holds it no longer. */
  readonly kind: 'claim' | 'held' | 'left';
  /** When the sender claimed the stream, which no other tab did at the same time. */
  readonly from: number;
  readonly told: readonly Told[];
  /** How the stream was before this was told, and the id of the last event. */
  readonly state: State;
  readonly last: string | undefined;
}

/** How long a claim waits for the holder, and how often a holder says that it is there. In milliseconds. */
const [claimMs, beatMs] = [50, 1000];

/** After which silence a holder is one no longer, and for how long a hidden tab is one. In milliseconds. */
const [silentMs, hiddenMs] = [4000, 5000];

/** Where a tab hears what the stream tells, and how it opens the stream. */
interface Ways {
  hear(this: void, told: Told): void;
  readonly hold: Hold;
}

/**
 * Hears what the stream tells, together with all tabs that share the name, until a signal aborts.
 *
 * @param name - names the stream: tabs that may see the same have the same
 */
export function share(name: string, surroundings: Surroundings, signal: AbortSignal, ways: Ways): void {
  new SharingTab(name, surroundings, ways).begin(signal);
}

/** One of the tabs that share a stream. */
class SharingTab {
  readonly #channel: BroadcastChannel;
  readonly #surroundings: Surroundings;
  readonly #ways: Ways;
  #role: 'hearing' | 'claiming' | 'holding' = 'hearing';
  /** When this tab has claimed the stream, and when the holder has. */
  #own = 0;
  #holder = 0;
  #state: State = 'connecting';
  #last: string | undefined;
  /** What this tab has still to tell. */
  readonly #untold: Told[] = [];
  #holding = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(name: string, surroundings: Surroundings, ways: Ways) {
    this.#channel = new BroadcastChannel(name);
    this.#surroundings = surroundings;
    this.#ways = ways;
  }

  begin(signal: AbortSignal): void {
    const { isHidden, onChange, onLeave } = this.#surroundings;
    let hiding: ReturnType<typeof setTimeout> | undefined;
    this.#channel.onmessage = ({ data }: MessageEvent<Letter>) => this.#read(data);
    onChange(() => {
      clearTimeout(hiding);
      if (isHidden()) hiding = setTimeout(() => this.#leave(), hiddenMs);
      else this.#claim();
    }, signal);
    onLeave(() => this.#leave(), signal);
    signal.addEventListener('abort', () => {
      clearTimeout(hiding);
      this.#leave();
      this.#channel.close();
    });
    this.#claim();
  }

  #later(milliseconds: number, what: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(what, milliseconds);
  }

  #post(kind: Letter['kind'], told: readonly Told[] = []): void {
    const letter: Letter = { kind, from: this.#own, told, state: this.#state, last: this.#last };
    this.#channel.postMessage(letter);
  }

  #take(...told: readonly Told[]): void {
    for (const each of told) {
      if (each.type !== 'stream') this.#last = each.id;
      else if (each.state === this.#state) continue;
      else this.#state = each.state;
      this.#ways.hear(each);
    }
  }

  /** The stream is open no longer, or not yet. */
  #wait(): void {
    this.#take({ type: 'stream', state: 'waiting' });
  }

  /** Tells all tabs. Events that come at once are one letter. */
  #flush(): void {
    const told = this.#untold.splice(0);
    if (told.length > 0) this.#post('held', told);
    this.#take(...told);
  }

  #claim(): void {
    if (this.#surroundings.isHidden() || this.#role === 'holding') return;
    this.#role = 'claiming';
    this.#own = Date.now() + Math.random();
    this.#holder = 0;
    this.#post('claim');
    this.#later(claimMs, () => this.#hold());
  }

  #hold(): void {
    this.#role = 'holding';
    this.#holder = this.#own;
    this.#holding = new AbortController();
    this.#beat();
    const { signal } = this.#holding;
    const tell = (told: Told): void => {
      if (!signal.aborted && this.#untold.push(told) === 1) setTimeout(() => this.#flush());
    };
    this.#ways.hold(tell, this.#last, signal);
  }

  /** Says that this tab is there. */
  #beat(): void {
    this.#post('held');
    this.#later(beatMs, () => this.#beat());
  }

  /** Another tab holds the stream, or will. */
  #follow(): void {
    this.#role = 'hearing';
    this.#later(silentMs, () => this.#lose());
  }

  /** No tab holds the stream. */
  #lose(): void {
    this.#wait();
    this.#claim();
  }

  #leave(): void {
    const wasHolding = this.#role === 'holding';
    this.#role = 'hearing';
    clearTimeout(this.#timer);
    if (!wasHolding) return;
    this.#flush();
    this.#holding.abort();
    this.#post('left');
    this.#wait();
  }

  #read(letter: Letter): void {
    if (letter.kind === 'held') this.#readHeld(letter);
    else if (letter.kind === 'left') {
      if (letter.from === this.#holder) this.#lose();
    } else if (this.#role === 'holding') this.#beat();
    else if (this.#role === 'claiming') {
      // The first claim of several counts. The other tab may have missed it.
      if (this.#own < letter.from) this.#post('claim');
      else this.#follow();
    }
  }

  #readHeld({ from, told, state, last }: Letter): void {
    if (from < this.#holder) {
      // A tab that hung does not know that another one has taken over.
      if (this.#role === 'holding') this.#beat();
      return;
    }
    this.#holding.abort();
    // What this tab has heard last as the holder. The others have it from the new one.
    this.#take(...this.#untold.splice(0));
    this.#holder = from;
    this.#follow();
    const isWhole = last === this.#last;
    this.#last = last;
    this.#take({ type: 'stream', state });
    // What was missed is read.
    if (!isWhole && state === 'open') this.#ways.hear({ type: 'stream', state });
    this.#take(...told);
  }
}
