/**
 * Event streams: the answers to `GET /events`, as server-sent events.
 *
 * Each stream makes its next piece when the transport asks for the piece, so a slow client delays nobody.
 */
import { problem, type Problem } from '../../problem.ts';
import { nextTurn } from '../../ports/system-clock.ts';
import { redactSecrets, type AdminEvent } from '../../resources/index.ts';
import { onAbort } from '../host/waiting.ts';
import type { EventGap, EventId, EventLog, PublishedEvent } from '../read/event-log.ts';
import type { Ground } from '../ground.ts';

/** A piece ends after so many events, or when its text is this long. Each piece takes one turn of the event loop. */
const mostEvents = 100;
const mostCharacters = 65_536;

/** The texts of so many events are kept, for the streams that read them at almost the same time. */
const mostTexts = 1000;

/** The time after which a browser connects again, in milliseconds. */
const retryMs = 2000;

/** What a client has asked for. @internal */
export interface EventReading {
  /** Who reads: a text that is equal for the same user, or for the same peer if no user has logged in. */
  readonly reader: string;
  /** The last event that the client has; left out if the client reads from now on. */
  readonly after?: EventId;
  /** The first words of the wanted types; left out for all types. */
  readonly types?: ReadonlySet<string>;
  /** Aborts when the client leaves. */
  readonly signal?: AbortSignal;
  /** Why the client may not read the events any more; `undefined` if the client still may. */
  readonly refusal: () => Problem | undefined;
}

/** The event streams of an interface. @internal */
export class EventStreams {
  readonly #parts: Ground;
  /** The texts of the newest events: each is made once, for all streams that follow. */
  readonly #texts: EventTexts = new Map();
  /** The number of streams of each reader, and of all. */
  readonly #counts = new Map<string, number>();
  #count = 0;

  constructor(parts: Ground) {
    this.#parts = parts;
  }

  /**
   * Why a reader can open no further stream now; `undefined` if the reader can. The last quarter of the places is kept
   * for readers without a stream, so that one reader cannot take all.
   */
  refusal(reader: string): Problem | undefined {
    const { maxEventReaders: most } = this.#parts.limits;
    const own = this.#counts.get(reader) ?? 0;
    const kept = own === 0 ? 0 : Math.floor(most / 4);
    if (this.#count < most - kept) return undefined;
    const detail =
      this.#count < most
        ? `You have ${String(own)} of ${String(most)} places for readers of events, and the last ${String(kept)} places ` +
          'are kept for other readers. End a stream of yours, or raise the limit maxEventReaders.'
        : `The interface has its largest number of readers of events, which is ${String(most)}. Try again when ` +
          'another reader has left, or raise the limit maxEventReaders.';
    return problem('overloaded', detail);
  }

  /** Opens a stream. The stream is open until it ends, the caller ends it, or the signal aborts. */
  open(reading: EventReading): AsyncIterable<Uint8Array> {
    this.#changeCount(reading, 1);
    return new EventStream({ ...this.#parts, texts: this.#texts }, reading, () => {
      this.#changeCount(reading, -1);
    });
  }

  #changeCount({ reader }: EventReading, by: 1 | -1): void {
    const own = (this.#counts.get(reader) ?? 0) + by;
    if (own === 0) this.#counts.delete(reader);
    else this.#counts.set(reader, own);
    this.#count += by;
    this.#parts.instruments?.readers(this.#count);
  }
}

type EventTexts = Map<AdminEvent, string>;

/** The JSON text of an event, as clients get it. */
function textOf(event: AdminEvent, texts: EventTexts): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const text = JSON.stringify(redactSecrets(event));
  texts.set(event, text);
  const [oldest] = texts.size > mostTexts ? texts.keys() : [];
  if (oldest !== undefined) texts.delete(oldest);
  return text;
}

/** One open stream: the pieces of a response. */
class EventStream implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #parts: Ground & { readonly texts: EventTexts };
  readonly #reading: EventReading;
  readonly #cursor: ReturnType<EventLog['cursor']>;
  readonly #pieces: AsyncGenerator<Uint8Array, undefined>;
  readonly #encoder = new TextEncoder();
  /** Aborts at the end of the stream. */
  readonly #end = new AbortController();
  /** Ends the wait for an event; left out before the first wait. */
  #wake: (() => void) | undefined;
  /** Whether the stream has ended: to ask the signal takes longer. */
  #isOver = false;
  #isHeartbeatDue = false;
  /** The last id that the client has not got, because the client has not asked for that type. */
  #passed: string | undefined;

  constructor(parts: Ground & { readonly texts: EventTexts }, reading: EventReading, onEnd: () => void) {
    this.#parts = parts;
    this.#reading = reading;
    // Here, and not at the first piece: a stream has every event since the request.
    this.#cursor = parts.log.cursor(reading.after);
    if (reading.after === undefined) this.#passed = parts.log.newest;
    this.#pieces = this.#makePieces();
    const leave = reading.signal === undefined ? undefined : onAbort(reading.signal, () => this.#stop());
    this.#end.signal.addEventListener('abort', () => {
      leave?.();
      parts.log.waiting.delete(this.#look);
      this.#wake?.();
      onEnd();
    });
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return this.#pieces.next();
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    // Otherwise `return` would wait for the next piece, which may never come.
    this.#stop();
    return this.#pieces.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #stop(): void {
    this.#isOver = true;
    // A string as the reason, because the default reason is an error, which records a stack each time.
    this.#end.abort('ended');
  }

  async *#makePieces(): AsyncGenerator<Uint8Array, undefined> {
    try {
      void this.#beat();
      // The id lets a client resume that loses its connection before the first event. The comment says how long silence
      // can be.
      const { heartbeatMs } = this.#parts.limits;
      yield this.#encoder.encode(
        `retry: ${String(retryMs)}\n: heartbeat: ${String(heartbeatMs)}\n${this.#passedId()}\n`,
      );
      while (this.#mayContinue()) {
        const frames = this.#takeFrames();
        const text = frames === undefined || frames === '' ? this.#heartbeat() : frames;
        if (text !== '') yield this.#encoder.encode(text);
        else if (frames === undefined && !this.#cursor.isWaiting) return;
        await (frames === undefined && text === '' ? this.#arrival() : nextTurn());
      }
    } finally {
      this.#stop();
    }
  }

  /** Whether the stream goes on: the client is there, and still may read the events. */
  #mayContinue(): boolean {
    if (this.#isOver) return false;
    try {
      return this.#reading.refusal() === undefined;
    } catch (error) {
      this.#parts.onError(error);
      return false;
    }
  }

  /**
   * Makes a heartbeat due again and again. A client that may not read any more loses its stream, even if it reads
   * nothing.
   */
  async #beat(): Promise<void> {
    const { clock, limits } = this.#parts;
    while (!this.#isOver) {
      await clock.sleep(limits.heartbeatMs, this.#end.signal, { keepAlive: false });
      if (!this.#mayContinue()) this.#stop();
      this.#isHeartbeatDue = true;
      this.#wake?.();
    }
  }

  /** Waits for an event, a heartbeat or the end. */
  #arrival(): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#parts.log.waiting.add(this.#look);
    });
  }

  /** Looks at what is new. Events that the client has not asked for wake nobody. Gives whether the wait goes on. */
  readonly #look = (): boolean => {
    this.#cursor.skip(mostEvents, (item) => item.gap !== true && this.#passes(item));
    if (this.#cursor.isWaiting) return true;
    this.#wake?.();
    return false;
  };

  /**
   * The heartbeat, if one is due. Has the id of the last event that the client has not asked for, so that no gap
   * follows.
   */
  #heartbeat(): string {
    if (!this.#isHeartbeatDue) return '';
    this.#isHeartbeatDue = false;
    return `:\n${this.#passedId()}\n`;
  }

  #passedId(): string {
    const id = this.#passed;
    this.#passed = undefined;
    return id === undefined ? '' : `id: ${id}\n`;
  }

  /**
   * The next events that are there; empty if the client has asked for none of them, `undefined` if there are none yet.
   */
  #takeFrames(): string | undefined {
    let text = '';
    for (let taken = 0; taken < mostEvents && text.length < mostCharacters; taken += 1) {
      const item = this.#cursor.take();
      if (item === undefined) return taken === 0 ? undefined : text;
      text += this.#frame(item);
    }
    return text;
  }

  #frame(item: PublishedEvent | EventGap): string {
    if (item.gap === true) return gapFrame(item);
    const { id, event } = item;
    if (this.#passes(item)) return '';
    return `id: ${id}\nevent: ${event.type}\ndata: ${textOf(event, this.#parts.texts)}\n\n`;
  }

  /** Passes over an event whose type the client has not asked for. Gives whether it is one. */
  #passes({ id, event: { type } }: PublishedEvent): boolean {
    const { types } = this.#reading;
    const isUnwanted = types?.has(type) === false && !types.has(type.slice(0, type.indexOf('.')));
    this.#passed = isUnwanted ? id : undefined;
    return isUnwanted;
  }
}

/** A gap. Its id lets a client that resumes go on after the gap, without a second one. */
function gapFrame({ id, next, missed }: EventGap): string {
  return `id: ${id}\nevent: gap\ndata: ${JSON.stringify({ next, missed })}\n\n`;
}
