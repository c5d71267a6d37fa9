/**
 * The law of links: what a snapshot links is there, so that another process can begin with its document.
 */
import { createSnapshot, nameKey, toDocument, type Snapshot } from 'gateway-admin-core';

type Lists = Readonly<Partial<Record<'servers' | 'filters', readonly string[]>>>;

/** The links of a snapshot that name nothing. */
export function unresolvedIn(snapshot: Snapshot): readonly string[] {
  const listing = [...snapshot.services, ...snapshot.monitors];
  return listing.flatMap(({ name, settings }) =>
    (['servers', 'filters'] as const).flatMap((collection) => {
      const { [collection]: links = [] } = settings as Lists;
      const lost = links.filter((link) => snapshot[collection].find(nameIn(link)) === undefined);
      return lost.map((link) => `${name} lists ${link}, which is not there`);
    }),
  );
}

/** What is wrong with the document of a snapshot: another process could not begin with it. */
export function brokenLinks(snapshot: Snapshot): readonly string[] {
  try {
    createSnapshot(toDocument(snapshot));
    return [];
  } catch (error) {
    return [String(error)];
  }
}

function nameIn(link: string): string {
  return nameKey(decodeURIComponent(link.split('/')[2] ?? ''));
}
