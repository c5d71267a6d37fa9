/**
 * The tags of the OpenAPI document: the module comment of a kind describes its tag.
 */
import { routes } from 'gateway-admin-core';

import { exists, read } from '../support/project.ts';

/** The descriptions of the tags: the first sentence of the file of each kind. */
export function tagDescriptions(): Readonly<Record<string, string>> {
  const tags = [...new Set(routes.map(({ id }) => id.split('.')[0] ?? ''))];
  return Object.fromEntries(
    tags.map((tag) => {
      const path = [`src/resources/${tag}.ts`, `src/resources/${tag.replace(/s$/, '')}.ts`].find(exists);
      const [, comment = ''] = /^\/\*\*\n((?: \* .*\n)+)/.exec(read(path ?? '')) ?? [];
      const text = comment.replace(/^ \* /gm, '').replace(/\s+/g, ' ').trim();
      const [, rest = ''] = /^[^:]+: ([^.]+\.)/.exec(text) ?? [];
      return [tag, rest.charAt(0).toUpperCase() + rest.slice(1)];
    }),
  );
}
