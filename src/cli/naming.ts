/**
 * Naming: the names of resources as they were given. A link has hyphens where a name has spaces.
 */
import type { Answer, Client, Elements, EndpointId } from '../client/index.ts';
import { methodOf } from './connection.ts';
import { configured } from './kind.ts';

/** The name of the resource at a link; `undefined` for one that is not known. */
export type NameOf = (link: string) => string | undefined;

/** Reads the names of resources, of each collection once, and again for a link that is new. */
export class Names {
  readonly #client: Client;
  readonly #known = new Map<string, string | undefined>();

  constructor(client: Client) {
    this.#client = client;
  }

  readonly nameOf: NameOf = (link) => this.#known.get(link);

  /** Reads what is needed to name the resources at some links. */
  async read(links: Iterable<string>): Promise<void> {
    const owners = [...links].map((link) => link.split('/').slice(0, 3).join('/'));
    // Only a hyphen can stand for something else.
    const unknown = owners.filter((link) => link.includes('-') && !this.#known.has(link));
    for (const link of unknown) this.#known.set(link, undefined);
    for (const collection of configured)
      if (unknown.some((link) => link.startsWith(`/${collection}/`))) await this.#readCollection(collection);
  }

  async #readCollection(collection: (typeof configured)[number]): Promise<void> {
    const list = methodOf(this.#client, `${collection}.list` as EndpointId);
    const answer = (await list({ fields: ['name'] })) as Answer<Elements<{ readonly name: string }>>;
    // Without the names, those in the links are shown.
    if (!answer.ok) return;
    // The whole library takes longer to load than everything else that the program does.
    const { linkTo } = await import('../index.ts');
    for (const { name } of answer.value.elements) this.#known.set(linkTo(collection, name), name);
  }
}
