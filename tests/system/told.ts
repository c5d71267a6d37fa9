/**
 * What clients were told: the judge of a gateway that is killed under their hands.
 */

/** What can be seen of one thing, such as `/services/First state`. */
export type Field = string;

/** Fields with their values; `undefined` is the same as nothing. */
export type Fields = Readonly<Record<Field, string | number | undefined>>;

/** How many commands came to what. */
export interface Figures {
  /** It was answered that it is so. */
  acknowledged: number;
  /** It was answered that nothing was done. */
  refused: number;
  /** The connection broke before there was an answer. */
  unanswered: number;
}

/** What clients were told of each field. Whoever changes one has an answer before it is changed again, or none ever. */
export class Told {
  readonly figures: Figures = { acknowledged: 0, refused: 0, unanswered: 0 };
  #told: Record<Field, string | number | undefined>;
  /** What was asked for last, and is not answered. */
  #asked: Record<Field, string | number | undefined> = {};

  /** @param shown - what is known to begin with */
  constructor(shown: Fields) {
    this.#told = { ...shown };
  }

  /**
   * Sends a command, and takes note of what came of it.
   *
   * @param changes - what is so once it is done
   * @param send - gives the status of the answer; rejects when there is none
   * @returns whether there was an answer
   */
  async tell(changes: Fields, send: () => Promise<number>): Promise<boolean> {
    Object.assign(this.#asked, changes);
    const status = await send().catch(() => undefined);
    if (status === undefined) {
      this.figures.unanswered += 1;
      return false;
    }
    if (status >= 500) throw new Error(`A command was answered with ${String(status)}`);
    const isDone = status === 200 || status === 204;
    this.figures[isDone ? 'acknowledged' : 'refused'] += 1;
    if (isDone) Object.assign(this.#told, changes);
    this.#asked = without(this.#asked, Object.keys(changes));
    return true;
  }

  /** What cannot be, given the answers. From then on, what is shown is what is known. */
  lies(shown: Fields): readonly string[] {
    const fields = Object.keys({ ...shown, ...this.#told, ...this.#asked });
    const lies = fields.flatMap((field) => {
      const possible = [this.#told[field], ...(field in this.#asked ? [this.#asked[field]] : [])];
      if (possible.includes(shown[field])) return [];
      return [
        `${field} is ${String(shown[field])} where it can be ${possible.map(String).join(' or ')} only`,
      ];
    });
    this.#told = { ...shown };
    this.#asked = {};
    return lies;
  }
}

function without(fields: Fields, names: readonly Field[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
