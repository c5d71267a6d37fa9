/**
 * The laws of reading, for everything that clients read at the nodes of a fleet: a tag stands for one body, no node goes
 * back, a revision is seen whole, and the history of a node amounts to what the node shows.
 */
import { foldFaults } from '../../model/judge.ts';
import type { Shown } from './shown.ts';

/** What a `GET` of a target has answered. */
export interface Reading {
  readonly target: string;
  readonly etag: string;
  readonly body: string;
}

/** What a command has changed at once. */
export interface Revision {
  readonly node: string;
  readonly command: string;
  readonly changes: readonly Changed[];
  /** The moment that begins with the change. */
  readonly moment: number;
}

/** A resource before and after a change; `undefined` where it is not there. */
interface Changed {
  readonly link: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** The first part of a tag stands for one content, and a content has one, wherever and whenever it is shown. */
export class ContentLaw {
  readonly #contents = new Map<string, string>();
  readonly #tags = new Map<string, string>();

  faultsOf({ link, tag, content }: Shown): readonly string[] {
    const [byTag, byContent] = [`${link} ${tag}`, `${link} ${content}`];
    const [known, before] = [this.#contents.get(byTag) ?? content, this.#tags.get(byContent) ?? tag];
    this.#contents.set(byTag, content);
    this.#tags.set(byContent, tag);
    return [
      ...(known === content ? [] : [`shows ${byTag} as ${content}, and ${known} had that tag before`]),
      ...(before === tag ? [] : [`shows ${byContent} with ${tag}, and it had ${before} before`]),
    ];
  }
}

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

  /** Says if the revision of the tag was higher before. */
  faultsOf({ target, etag }: Reading): readonly string[] {
    const [, revision] = /^"[^.]*\.[^.]*-(\d+)[;"]/.exec(etag) ?? [];
    return revision === undefined
      ? [`shows ${target} with the tag ${etag}, which has no revision`]
      : this.#onward(`the revision of GET ${target}`, Number(revision));
  }

  /** Says if the revision of the snapshot was higher before. */
  faultsOfRevision(revision: number): readonly string[] {
    return this.#onward('the revision', revision);
  }

  /**
   * Says if a resource was seen as at a later moment before.
   *
   * @param momentFrom - gives the first moment, from one on, at which the log had what is seen; `undefined` if none
   */
  faultsOfSight(link: string, momentFrom: (from: number) => number | undefined): readonly string[] {
    const before = this.#last.get(link) ?? 0;
    const moment = momentFrom(before);
    if (moment === undefined) return [`goes back: ${link} is as it was before moment ${String(before)}`];
    return this.#onward(link, moment);
  }

  #onward(what: string, number: number): readonly string[] {
    const before = this.#last.get(what) ?? number;
    this.#last.set(what, Math.max(number, before));
    return number < before ? [`goes back: ${what} is ${String(number)} after ${String(before)}`] : [];
  }
}

/**
 * Says if a reader sees a part of a change, which is the last one of its resources.
 *
 * @param contentAt - what a resource is seen as; `undefined` if it is not there
 */
export function partsSeen(
  { command, changes }: Revision,
  contentAt: (link: string) => string | undefined,
): readonly string[] {
  const done = changes.find(({ link, to }) => contentAt(link) === to);
  const missing = changes.find(({ link, from }) => contentAt(link) === from);
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
