/**
 * The history: settled commands, by whom, and the way back.
 */
import { useState } from 'preact/hooks';
import type { Client, ResultOf } from 'gateway-admin-core/client';

import { restoring, undoing } from './act.ts';
import { useAsking } from './asking.ts';
import { rowFits } from './find.ts';
import { useWhen } from './now.ts';
import { usePage } from './page.ts';
import { closedText, partsIn } from './plan.ts';
import { useStore } from './store.ts';
import { Links } from './resource.tsx';
import { text } from './text.ts';

type Entry = ResultOf<'history.list'>;
type HistorySearch = Parameters<Client['history']['list']>[0];

/** The number of entries that are read at first, and that a person adds. */
const entriesAtOnce = 200;

/** The entries of the history, of one resource, or of one of its fields; read anew after each event. */
export function HistoryList({ resource, field }: { readonly resource?: string; readonly field?: string }) {
  const page = usePage();
  const client = useStore(page.client);
  const { events } = useStore(page.model, 'events');
  const { find } = useStore(page.place);
  const [read, setRead] = useState<ReadEntries>();
  const [most, setMost] = useState(entriesAtOnce);
  const entries = read?.elements;
  const [fault, setFault] = useState('');
  const newest = events.find(({ event }) => event.command !== undefined)?.id;
  const search = {
    ...(resource === undefined ? {} : { resource }),
    ...(field === undefined ? {} : { field }),
  };
  useAsking(
    client && (() => readEntries(client, search, most)),
    (next) => {
      if (typeof next !== 'string') setRead(next);
      setFault(typeof next === 'string' ? next : '');
    },
    [client, resource, field, most],
    [newest],
  );
  const shown = entries?.filter((entry) => resource !== undefined || rowFits(find, entry)) ?? [];
  return (
    <section aria-label={text.views.history}>
      {fault !== '' && <p class="bad">{fault}</p>}
      {entries !== undefined && shown.length === 0 && <p class="none">{text.find.none}</p>}
      <ul class="history">
        {shown.map((entry) => (
          <EntryLine key={entry.id} entry={entry} />
        ))}
      </ul>
      {read !== undefined && read.elements.length < read.total && (
        <button onClick={() => setMost(most + entriesAtOnce)}>
          {text.history.more(read.elements.length, read.total)}
        </button>
      )}
    </section>
  );
}

/** Entries, and how many there are. */
interface ReadEntries {
  readonly elements: readonly Entry[];
  readonly total: number;
}

/** Reads the newest entries; gives why, if that is not possible. */
async function readEntries(
  client: Client,
  search: HistorySearch,
  most: number,
): Promise<ReadEntries | string> {
  try {
    const answer = await client.history.list({ ...search, range: [0, most - 1] });
    return answer.ok ? answer.value : answer.problem.detail;
  } catch (error) {
    return (error as Error).message;
  }
}

function EntryLine({ entry }: { readonly entry: Entry }) {
  const page = usePage();
  const { id, at, actor, resources, events, undo } = entry;
  const when = useWhen()(Date.parse(at));
  const what = whatOf(entry);
  return (
    <li data-row>
      <time class="soft" dateTime={at}>
        {when}
      </time>{' '}
      <strong>{what}</strong> <span class="soft">{actor}</span>
      <div>
        <Links links={resources.slice(0, 5)} />
        {events.flatMap(changesOf).map((change) => (
          <code key={change}>{change}</code>
        ))}
      </div>
      <div class="buttons">
        {undo === 'possible' ? (
          <button onClick={() => page.ask(undoing(id, what))}>
            {text.verbs.undo} <span class="hidden">{what}</span>
          </button>
        ) : (
          <span class="soft">{text.history.undo[undo]}</span>
        )}
        <button onClick={() => page.ask(restoring(id, when))}>
          {text.verbs.restore} <span class="hidden">{when}</span>
        </button>
      </div>
    </li>
  );
}

function whatOf({ events, resources }: Entry): string {
  const types = [...new Set(events.map(({ type }) => type))];
  return `${types.join(', ')} ${resources[0] ?? ''}`.trim();
}

/** What an event has changed, with the values before and after; or how much it has closed. */
function changesOf(event: Entry['events'][number]): readonly string[] {
  const { count, criteria } = event as Closed;
  return count === undefined ? partsIn(event) : [closedText(count, criteria)];
}

interface Closed {
  readonly count?: number;
  readonly criteria?: object;
}
