/**
 * The law of contents, which the first parts of entity tags are: equal definitions have equal contents, and others have
 * others, wherever and whenever they come up. What a definition is, is read from the gateway document.
 */
import { nameKey, toDocument, type Entity, type Snapshot } from 'gateway-admin-core';

import { listValidator, validatorOf } from './internal.ts';

/** The collections of which a document has all that commands change. Of a user, it has the hash and not the password. */
const collections = ['services', 'servers', 'monitors', 'filters'] as const;

/** What belongs to one life of the gateway, or is counted. */
const seen = [
  ...['started', 'total_connections', 'current_connections', 'state_reason', 'state_since'],
  ...['status_reason', 'status_since'],
];

export class ContentLaw {
  readonly faults: string[] = [];
  readonly #contents = new Map<string, string>();
  readonly #definitions = new Map<string, string>();

  /** Looks at everything in a snapshot. */
  look(snapshot: Snapshot): void {
    const document = toDocument(snapshot);
    for (const collection of collections) {
      const texts = (document[collection] ?? []).map((entry) => definitionIn(collection, entry));
      const entities: readonly Entity[] = [...snapshot[collection]];
      for (const [at, entity] of entities.entries())
        this.#note(collection, texts[at] ?? '', validatorOf(snapshot, { collection }, entity).content);
      const list = listValidator(snapshot, { collection }).content;
      this.#note(`the list of ${collection}`, texts.toSorted().join(), list);
    }
  }

  #note(what: string, definition: string, content: string): void {
    const [known, before] = [
      this.#contents.get(`${what} ${definition}`) ?? content,
      this.#definitions.get(`${what} ${content}`) ?? definition,
    ];
    this.#contents.set(`${what} ${definition}`, content);
    this.#definitions.set(`${what} ${content}`, definition);
    if (known !== content)
      this.faults.push(`${what}: ${definition} has the contents ${known} and ${content}`);
    if (before !== definition) this.faults.push(`${what}: ${content} stands for ${before} and ${definition}`);
  }
}

function definitionIn(collection: string, entry: object): string {
  const {
    state,
    status = [],
    listeners,
    ...rest
  } = entry as {
    readonly state?: string;
    readonly status?: readonly string[];
    readonly listeners?: readonly { readonly name: string }[];
  };
  const wanted = Object.entries(rest).filter(([name]) => !seen.includes(name));
  return canonical({
    ...Object.fromEntries(wanted),
    // What has failed is wanted.
    ...(collection !== 'servers' && state !== undefined && { state: state === 'failed' ? 'started' : state }),
    isOut: status.includes('maintenance'),
    ...(listeners && {
      listeners: listeners.toSorted((a, b) => (nameKey(a.name) < nameKey(b.name) ? -1 : 1)),
    }),
  });
}

function canonical(value: object): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
