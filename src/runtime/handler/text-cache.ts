/**
 * The text cache: keeps the JSON text of representations that were read. Most reads repeat: dashboards poll, and little
 * changes.
 */

/** What is read. @internal */
export interface Reading {
  /** What makes the representation: another maker makes another text of the same thing. */
  readonly by: object;
  /** What is shown: the same object while nothing of it changes but counters. Left out if no text is kept. */
  readonly thing: object | undefined;
  /** The revision of the last change of anything that the representation shows. Left out if that is not known. */
  readonly revision: number | undefined;
  /** The epoch of the revision, and what is shown of the thing. */
  readonly tagged: string;
  /** Whether all is shown. */
  readonly isWhole: boolean;
}

/** A text that was made, and what it was made for. */
interface Kept extends Pick<Reading, 'tagged'> {
  readonly revision: number;
  readonly text: string;
}

/** The texts by maker and thing. */
type Texts = WeakMap<object, WeakMap<object, Kept>>;

/**
 * Keeps two texts for each maker and thing, as long as the thing lives: of the whole, and of the last part.
 *
 * @internal
 */
export class TextCache {
  readonly #wholes: Texts = new WeakMap();
  readonly #parts: Texts = new WeakMap();

  /** Gives the text of a representation. */
  textOf({ by, thing, revision, tagged, isWhole }: Reading, write: () => string): string {
    if (thing === undefined || revision === undefined) return write();
    return textIn(this.#textsBy(by, isWhole), thing, revision, tagged, write);
  }

  /** Makes the function that gives the text of each of many things, by its revision. */
  each<T extends object>(
    { by, tagged, isWhole }: Omit<Reading, 'thing' | 'revision'>,
    write: (thing: T) => string,
  ): (thing: T, revision: number) => string {
    const texts = this.#textsBy(by, isWhole);
    return (thing, revision) => textIn(texts, thing, revision, tagged, write);
  }

  #textsBy(by: object, isWhole: boolean): WeakMap<object, Kept> {
    const all = isWhole ? this.#wholes : this.#parts;
    const known = all.get(by);
    if (known !== undefined) return known;
    const texts = new WeakMap<object, Kept>();
    all.set(by, texts);
    return texts;
  }
}

function textIn<T extends object>(
  texts: WeakMap<object, Kept>,
  thing: T,
  revision: number,
  tagged: string,
  write: (thing: T) => string,
): string {
  const kept = texts.get(thing);
  if (kept?.tagged === tagged && kept.revision === revision) return kept.text;
  const text = write(thing);
  texts.set(thing, { tagged, revision, text });
  return text;
}
