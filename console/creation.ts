/**
 * Asking for something new, or for settings of several: the forms need the fields, which may have to be loaded first.
 */
import { linkTo } from 'gateway-admin-core';

import type { Act, Named } from './act.ts';
import { loadLate, type Late } from './later.ts';
import { loadMeanings, type Field } from './meaning.ts';
import { rowsOf, type Collection, type Row } from './model.ts';
import type { Page } from './page.ts';
import { text } from './text.ts';

/** Opens the dialog that creates a resource of a collection, or a listener of a service. */
export async function askToCreate(page: Page, collection: string, service?: string): Promise<void> {
  await askWith(
    page,
    text.add(collection, service),
    collection,
    async ({ creating, creatingUser }, fields) => {
      if (collection === 'users') return creatingUser;
      const others = await othersOf(page, collection, service);
      return creating(fields, collection, { service, others, lists: listsOfAll(page, collection, others) });
    },
  );
}

/** Opens the dialog that changes settings of several resources. */
export async function askToChange(page: Page, collection: string, rows: readonly Named[]): Promise<void> {
  await askWith(page, text.changeAll, collection, ({ changing }, fields) =>
    changing(fields, collection, rows),
  );
}

async function askWith(
  page: Page,
  title: string,
  collection: string,
  make: (late: Late, fields: readonly Field[]) => Act | Promise<Act>,
): Promise<void> {
  try {
    page.ask(await make(await loadLate(), (await loadMeanings()).fields[collection] ?? []));
  } catch (error) {
    const { message } = error as Error;
    page.tell({ kind: 'refused', text: text.done.failed(title), detail: message });
  }
}

/** What there is of the kind of something new. */
async function othersOf(page: Page, collection: string, service?: string): Promise<readonly Named[]> {
  if (service === undefined)
    return rowsOf(page.model.get(), collection as Collection) as readonly object[] as readonly Named[];
  const answer = await page.client.get()?.services.listeners(service);
  return answer?.ok === true ? (answer.value.elements as readonly object[] as readonly Named[]) : [];
}

/** The links of the services and the monitors that list every server. */
function listsOfAll(
  page: Page,
  collection: string,
  servers: readonly Named[],
): Readonly<Record<string, readonly string[]>> {
  if (collection !== 'servers' || servers.length === 0) return {};
  const links = servers.map(({ name }) => linkTo('servers', name));
  const listing = (list: 'services' | 'monitors'): readonly string[] =>
    (rowsOf(page.model.get(), list) as readonly Pick<Row<'services'>, 'name' | 'servers'>[])
      .filter((each) => links.every((link) => each.servers.includes(link)))
      .map(({ name }) => linkTo(list, name));
  return { services: listing('services'), monitors: listing('monitors') };
}
