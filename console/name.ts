/**
 * Names: of the resource at a link, as it was given. A link has hyphens where a name has spaces.
 */
import { linkTo } from 'gateway-admin-core';

import { nameInLink } from './link.ts';
import { rowsOf, type Collection, type Model } from './model.ts';

/** The names of each reading by link: made once, and asked by each link. */
const known = new WeakMap<readonly object[], ReadonlyMap<string, string>>();

/** The name of the resource at a link; that in the link for one that the page does not know. */
export function nameAt(model: Pick<Model, 'lists'>, link: string): string {
  const [, collection = ''] = link.split('/');
  const rows = rowsOf(model, collection as Collection) as readonly { readonly name: string }[];
  const names = known.get(rows) ?? new Map(rows.map(({ name }) => [linkTo(collection, name), name]));
  known.set(rows, names);
  return names.get(link) ?? nameInLink(link);
}
