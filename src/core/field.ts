/**
 * Kinds: what a file of `resources/` declares about its kind of resource, beside its routes.
 */
import type * as z from 'zod/mini';

import type { Entity } from './collection.ts';

/** Fields of a document entry that hold links, each with the collection its links must be of. */
type LinkFields = Readonly<Record<string, string>>;

/** How the things of one kind stand in a gateway document. @internal */
export interface DocumentPart<T extends Entity, D extends { readonly name: string }> {
  /** Shape of one entry. Derived members are accepted there and ignored by `load`. */
  readonly shape: z.core.$ZodType<D>;
  /** The fields with links. They are resolved before `load` sees the entry. */
  readonly links: LinkFields;
  /** Makes the thing of a checked entry whose links are canonical. */
  load(this: void, entry: D): T;
  /** Writes the entry that `load` makes the same thing of. */
  save(this: void, entity: T): object;
}
