/**
 * The text cache: keeps the JSON text of whole representations that were read. Most reads repeat: dashboards poll, and
 * little changes.
 */

/** The text of a representation, and the entity tag that stands for the text. */
interface Cached {
  readonly etag: string;
  readonly text: string;
}

/** What is read: a thing through a route. */
interface Reading {
  readonly route: { readonly path: string };
  /** What the route has found in the snapshot: the same object while it is unchanged. */
  readonly found: unknown;
  /** The strong entity tag: another text has another tag (RFC 9110 §8.8.3). Left out if there is none. */
  readonly etag: string | undefined;
  /** Whether nothing was left out: a part of a representation can have the tag of the whole. */
  readonly isWhole: boolean;
}

/** Keeps one text for each route and thing, as long as the thing lives. @internal */
export class TextCache {
  readonly #texts = new WeakMap<object, WeakMap<object, Cached>>();

  /** Gives the text of a representation. */
  textOf({ route, found, etag, isWhole }: Reading, represent: () => unknown): string {
    const thing = thingOf(route, found);
    if (etag === undefined || !isWhole || thing === undefined) return JSON.stringify(represent());
    const texts = this.#of(route);
    const cached = texts.get(thing);
    if (cached?.etag === etag) return cached.text;
    const text = JSON.stringify(represent());
    texts.set(thing, { etag, text });
    return text;
  }

  #of(route: object): WeakMap<object, Cached> {
    const known = this.#texts.get(route);
    if (known !== undefined) return known;
    const texts = new WeakMap<object, Cached>();
    this.#texts.set(route, texts);
    return texts;
  }
}

/** What a text is kept for: things of one route can have the same tag. A path without parameters leads to one thing. */
function thingOf(route: Reading['route'], found: unknown): object | undefined {
  if (typeof found === 'object' && found !== null) return found;
  return route.path.includes(':') ? undefined : route;
}
