/**
 * What is chosen in a list: how much it is, and what can be done with all of it at once.
 */
import type { Answer, Client } from 'gateway-admin-core/client';
import { linkTo, type May } from 'gateway-admin-core';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { changing, type Named } from './act.ts';
import { useAsking } from './asking.ts';
import type { SectionName } from './column.tsx';
import { useMeanings } from './meaning.ts';
import { rowsOf } from './model.ts';
import { OfferList, offersOn, type Offer, type Offered } from './offer.tsx';
import { usePage } from './page.ts';
import { useStore } from './store.ts';
import { foundRows, mostAtOnce, shownRows } from './tables.tsx';
import { text } from './text.ts';

interface BarProps {
  readonly count: number;
  /** How many there are. */
  readonly all: number;
  /** How many of them are found, and can be chosen at once. */
  readonly found: number;
  readonly most: number;
  readonly chooseAll: () => void;
  readonly children: ComponentChildren;
}

/** What is chosen, and what can be done with it. */
export function ChosenBar({ count, all, found, most, chooseAll, children }: BarProps) {
  const { go } = usePage();
  const next = Math.min(found, most);
  return (
    <div class="chosen">
      <b>{text.chosen.of(count, all)}</b>
      {count < next && (
        <button class="plain" onClick={chooseAll}>
          {text.chosen.all(next, found)}
        </button>
      )}
      <button class="plain" onClick={() => go({ chosen: undefined }, 'replace')}>
        {text.chosen.none}
      </button>
      <span class="soft">{text.chosen.range}</span>
      <div class="acts">{children}</div>
    </div>
  );
}

/** Of as many resources it is asked what the person may do. */
const mostAsked = 20;

/** The bar of the chosen resources; nothing if none is chosen. */
export function ChosenRows() {
  const page = usePage();
  const place = useStore(page.place);
  const model = useStore(page.model, 'lists', 'trails', 'gateway');
  const [[key] = ['']] = [...(place.chosen ?? [])];
  const [, collection = ''] = String(key).split('/');
  const list = collection as SectionName;
  const rows = (rowsOf(model, list) as readonly Named[]).filter(
    ({ name }) => place.chosen?.has(linkTo(collection, name)) === true,
  );
  const offers = useOffers(collection, rows);
  if (rows.length === 0) return null;
  const found = shownRows(list, foundRows(list, model, place), place).map(({ name }) =>
    linkTo(collection, name),
  );
  return (
    <ChosenBar
      count={rows.length}
      all={model.lists[list]?.total ?? 0}
      found={found.length}
      most={mostAtOnce}
      chooseAll={() =>
        page.go({ chosen: new Map(found.slice(0, mostAtOnce).map((link) => [link, ''])) }, 'replace')
      }
    >
      <OfferList offers={offers} of={text.eachOf(collection, rows.length)} />
    </ChosenBar>
  );
}

/** What can be done to all of some resources. What was done leaves none of them chosen. */
function useOffers(collection: string, rows: readonly Named[]): readonly Offer[] {
  const page = usePage();
  const client = useStore(page.client);
  const { events } = useStore(page.model, 'events');
  const { fields } = useMeanings();
  const [may, setMay] = useState<ReadonlyMap<string, readonly May[]>>(new Map());
  const names = rows.map(({ name }) => name);
  useAsking(
    client && (() => mayOnEach(client, collection, names.slice(0, mostAsked))),
    setMay,
    [client, names.join('/')],
    [events.find(({ event }) => event.command !== undefined)?.id],
  );
  const all = rows.map((resource): Offered => {
    const { name } = resource;
    const link = linkTo(collection, name);
    return { subject: { collection, link, name }, resource, may: may.get(link) };
  });
  const table = fields[collection];
  const change = table && rows.length > 1 ? changing(table, collection, rows) : undefined;
  const label = text.changeEach(text.eachOf(collection, rows.length));
  const offers = [
    ...offersOn(all),
    ...(change === undefined ? [] : [{ key: 'change', act: change, label, reason: undefined }]),
  ];
  const onDone = (): void => page.go({ chosen: undefined }, 'replace');
  return offers.map((each) => ({ ...each, act: { ...each.act, onDone } }));
}

/** What a person may do with each of some resources, by link. Left out are those of which that is not known. */
async function mayOnEach(
  client: Client,
  collection: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly May[]>> {
  const groups = client as unknown as Readonly<
    Record<string, { get(name: string, options: object): Promise<Answer<{ readonly may: readonly May[] }>> }>
  >;
  const found = new Map<string, readonly May[]>();
  for (const name of names) {
    const answer = await groups[collection]?.get(name, { may: true }).catch(() => undefined);
    if (answer?.ok === true) found.set(linkTo(collection, name), answer.value.may);
  }
  return found;
}
