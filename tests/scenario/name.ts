/**
 * Short names for the random texts that clients of a fleet see: the same in every run.
 */

/** The part of a command id that belongs to one life of a node. */
const life = /\b([a-z])-([0-9a-f]{12})\b/g;
/** A position in the log: the number of appends, and the id of the last one. */
const position = /\b(\d+)\.[0-9a-f]{24}\b/g;

/** The tag of a resource, and a revision: revisions of nodes are drawn. */
const tag = /\bs\.\d{14,}\.\d{14,}\b/g;
const revision = /(?<="revision":)\d{14,}/g;

export class Names {
  readonly #nameOf = new Map<string, string>();
  readonly #textOf = new Map<string, string>();

  /** A text with the short names: `a-1` is the first command of node a, and `a-1-1` that of its next process. */
  write(text: string): string {
    return text
      .replace(life, (drawn, node: string) => this.#named(drawn, node))
      .replace(position, '#$1')
      .replace(tag, 's.#')
      .replace(revision, '#');
  }

  /** A text with the random texts again. */
  read(text: string): string {
    return text.replace(/\b([a-z](?:-\d+)?)(?=-\d+\b)/g, (name: string) => this.#textOf.get(name) ?? name);
  }

  #named(drawn: string, node: string): string {
    const known = this.#nameOf.get(drawn);
    if (known !== undefined) return known;
    let [name, lives] = [node, 0];
    while (this.#textOf.has(name)) name = `${node}-${String((lives += 1))}`;
    this.#nameOf.set(drawn, name);
    this.#textOf.set(name, drawn);
    return name;
  }
}
