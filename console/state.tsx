/**
 * The state of a resource: each field with its meaning, and what belongs to the resource.
 */
import { useState } from 'preact/hooks';
import type { Answer } from 'gateway-admin-core/client';

import { deletingListener, type Subject } from './act.ts';
import { useAsking } from './asking.ts';
import { askToCreate } from './creation.ts';
import { HistoryList } from './history.tsx';
import { instantOnClocks } from './instant.ts';
import { useMeanings } from './meaning.ts';
import { useWhen } from './now.ts';
import { usePage } from './page.ts';
import { valueText } from './plan.ts';
import { DrainState, Links } from './resource.tsx';
import { useStore } from './store.ts';
import { text } from './text.ts';

interface Props {
  readonly subject: Subject;
  readonly resource: Readonly<Record<string, unknown>>;
}

export function StateFields({ subject, resource }: Props) {
  const { collection, link } = subject;
  const fields = useMeanings().fields[collection] ?? [];
  const names = Object.keys(resource).filter((name) => name !== 'may' && name !== 'name' && name !== 'links');
  return (
    <>
      <dl class="fields">
        {names.map((name) => {
          const field = fields.find((each) => each.name === name);
          return (
            <div key={name}>
              <dt>
                {name}
                <span class="soft meaning">{field?.does}</span>
              </dt>
              <dd>
                <Value name={name} value={resource[name]} />
                {field?.isSettable === true && <Why link={link} field={name} />}
              </dd>
            </div>
          );
        })}
      </dl>
      {collection === 'services' && <Listeners service={subject.name} />}
      {collection === 'servers' && <Connections server={subject.name} resource={resource} />}
    </>
  );
}

function Value({ name, value }: { readonly name: string; readonly value: unknown }) {
  const when = useWhen();
  // Of clients, the interface gives what the clocks of the gateway showed.
  if (name === 'connected') return <>{when(instantOnClocks(value as string))}</>;
  if (name === 'drain') return <DrainState drain={value as never} />;
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => typeof each === 'string' && each.startsWith('/'))
  )
    return <Links links={value as readonly string[]} />;
  return <>{valueText(value)}</>;
}

/** Who has set a value, when, and how it was before. */
function Why({ link, field }: { readonly link: string; readonly field: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {' '}
      <button class="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {text.drawer.why}
        <span class="hidden"> {field}</span>
      </button>
      {isOpen && <HistoryList resource={link} field={field} />}
    </>
  );
}

/** What a request gives, asked again after each event, and for another key. */
function useAnswer<T>(ask: (() => Promise<Answer<T>>) | undefined, key: unknown): T | undefined {
  const page = usePage();
  const client = useStore(page.client);
  const { events } = useStore(page.model, 'events');
  const [value, setValue] = useState<T>();
  useAsking(
    // What goes wrong here goes wrong with the whole drawer, which says so.
    ask && (() => ask().catch(() => undefined)),
    (answer) => {
      if (answer?.ok === true) setValue(answer.value);
    },
    [client],
    [key, events[0]?.id],
  );
  return value;
}

function Listeners({ service }: { readonly service: string }) {
  const page = usePage();
  const client = useStore(page.client);
  const listeners = useAnswer(client && (() => client.services.listeners(service)), service)?.elements;
  if (listeners === undefined) return null;
  return (
    <section aria-label={text.lists.listeners}>
      <h3>{text.lists.listeners}</h3>
      <ul>
        {listeners.map(({ name, protocol, address, port }) => (
          <li key={name}>
            {name} <span class="soft">{protocol}</span> {address}
            {port === undefined ? '' : `:${String(port)}`}{' '}
            <button class="small" onClick={() => page.ask(deletingListener(service, name))}>
              {text.verbs.delete} <span class="hidden">{name}</span>
            </button>
          </li>
        ))}
      </ul>
      <button class="small" onClick={() => void askToCreate(page, 'listeners', service)}>
        {text.add('listeners', service)}
      </button>
    </section>
  );
}

/** How many connections there are to a server, and the way to the sessions that have them. */
function Connections({ server, resource }: { readonly server: string; readonly resource: object }) {
  const page = usePage();
  const client = useStore(page.client);
  const total = useAnswer(
    client && (() => client.servers.connections(server, { range: [0, 0] })),
    // Counted anew with each reading of the server: no event tells of the connections that clients open.
    resource,
  )?.total;
  if (total === undefined) return null;
  return (
    <p>
      {text.connections(total)}{' '}
      <button class="link" onClick={() => page.go({ view: 'sessions', search: { server }, open: '' })}>
        {text.showSessions}
      </button>
    </p>
  );
}
