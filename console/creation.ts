/**
 * Asking for something new: its form needs the fields, which may have to be loaded first.
 */
import { loadLate } from './later.ts';
import { loadMeanings } from './meaning.ts';
import type { Page } from './page.ts';
import { text } from './text.ts';

/** Opens the dialog that creates a resource of a collection, or a listener of a service. */
export async function askToCreate(page: Page, collection: string, service?: string): Promise<void> {
  try {
    const { creating, creatingUser } = await loadLate();
    if (collection === 'users') page.ask(creatingUser);
    else page.ask(creating((await loadMeanings()).fields[collection] ?? [], collection, service));
  } catch (error) {
    const { message } = error as Error;
    page.tell({ kind: 'refused', text: text.done.failed(text.add(collection, service)), detail: message });
  }
}
