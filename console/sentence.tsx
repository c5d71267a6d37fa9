/**
 * Sentences about the gateway, with links in the place of names.
 */
import { sentencesOf, type Telling, type Told } from 'gateway-admin-core/client';

import { nameAt } from './name.ts';
import { usePage, type Page } from './page.ts';
import { ResourceLink } from './resource.tsx';

/** How this page tells: it knows names, and who looks at it. */
export function tellingOf({ model }: Page, tense: Telling['tense'], actor?: string): Telling {
  const { gateway } = model.get();
  const who = actor !== undefined && actor === gateway?.user ? 'You' : actor;
  return { tense, who, nameOf: (link) => nameAt(model.get(), link) };
}

interface Props {
  readonly events: readonly Told[];
  readonly tense: Telling['tense'];
  readonly actor?: string | undefined;
  /** After so many sentences, the rest is counted. */
  readonly most?: number;
}

/** What one command has done, does, or would do. */
export function Sentences({ events, tense, actor, most = 3 }: Props) {
  const page = usePage();
  const all = sentencesOf(events, tellingOf(page, tense, actor));
  return (
    <>
      {all.slice(0, most).map((parts, at) => (
        <span key={at}>
          {at > 0 && '; '}
          {parts.map((part) =>
            typeof part === 'string' ? (
              part
            ) : (
              <ResourceLink key={part.link} link={part.link} name={part.name} />
            ),
          )}
        </span>
      ))}
      {all.length > most && ` and ${(all.length - most).toLocaleString('en')} more`}
    </>
  );
}
