/**
 * The laws of reading, for everything that clients read at the nodes of a fleet: a tag stands for one body, no node goes
 * back, a revision is seen whole, and the history of a node amounts to what the node shows.
 */
import { foldFaults } from '../../model/judge.ts';

/** What a `GET` of a target has answered. */
export interface Reading {
  readonly target: string;
  readonly etag: string;
  readonly body: string;
}

/** A resource, as somebody sees it: a later change has a higher command number. */
export interface Sight {
  readonly link: string;
  readonly command: number;
}

/** What a command has changed at once, with one number. */
export interface Revision {
  readonly node: string;
  readonly command: string;
  readonly number: number;
  readonly links: readonly string[];
}

/** From here on, numbers are those of one node, and not those of the fleet. */
const firstOfNodes = 2 ** 52;

/** A whole tag stands for one body, at all nodes and in all their lives. */
export class TagLaw {
  readonly #bodies = new Map<string, string>();

  /** Says if a tag had another body before. */
  faultsOf({ target, etag, body }: Reading): readonly string[] {
    const key = `${target} ${etag}`;
    const before = this.#bodies.get(key) ?? body;
    this.#bodies.set(key, body);
    return before === body ? [] : [`shows ${key} as ${body}, and ${before} had that tag before`];
  }
}

/** What clients read in one life of a node, in the order of their reading, does not go back. */
export class OnwardLaw {
  readonly #last = new Map<string, number>();

  /** Says if a number of the tag was higher before: that of the last change by a command, or by anything. */
  faultsOf({ target, etag }: Reading): readonly string[] {
    const [, command, live] = /^"[^.]*\.(\d+)\.(\d+)/.exec(etag) ?? [];
    return command === undefined || live === undefined
      ? [`shows ${target} with the tag ${etag}, which has no numbers`]
      : [
          ...this.#onwardInFleet(`the command number of GET ${target}`, Number(command)),
          ...this.#onward(`the live number of GET ${target}`, Number(live)),
        ];
  }

  /** Says if a resource had a higher command number before. */
  faultsOfSight({ link, command }: Sight): readonly string[] {
    return this.#onwardInFleet(`the command number of ${link}`, command);
  }

  /** Says if the revision of the snapshot was higher before. */
  faultsOfRevision(revision: number): readonly string[] {
    return this.#onward('the revision', revision);
  }

  /** A number of what the node alone has says nothing of the numbers of the fleet. */
  #onwardInFleet(what: string, number: number): readonly string[] {
    return number < firstOfNodes ? this.#onward(what, number) : [];
  }

  #onward(what: string, number: number): readonly string[] {
    const before = this.#last.get(what) ?? number;
    this.#last.set(what, Math.max(number, before));
    return number < before ? [`goes back: ${what} is ${String(number)} after ${String(before)}`] : [];
  }
}

/**
 * Says if a reader sees a part of a revision.
 *
 * @param numberAt - the command number that a resource is seen with; `undefined` for a resource that is not there: that
 *   its number is higher cannot be seen
 */
export function partsSeen(
  { command, number, links }: Revision,
  numberAt: (link: string) => number | undefined,
): readonly string[] {
  const seen = links.flatMap((link) => {
    const at = numberAt(link);
    return at === undefined ? [] : [{ link, isDone: at >= number }];
  });
  const [done, missing] = [seen.find(({ isDone }) => isDone), seen.find(({ isDone }) => !isDone)];
  return done === undefined || missing === undefined
    ? []
    : [`shows the change of ${done.link} by ${command}, and not that of ${missing.link}`];
}

/** What a node shows at rest. */
export interface AtRest {
  /** The document that the node began with. */
  readonly beginning: object;
  /** What `GET /history` answers: the newest entry first. */
  readonly history: Parameters<typeof foldFaults>[1];
  readonly document: object;
}

/** Says in what the entries of a history do not amount to the document of the node. */
export function sumFaults({ beginning, history, document }: AtRest): readonly string[] {
  return foldFaults(beginning, history.toReversed(), document);
}
