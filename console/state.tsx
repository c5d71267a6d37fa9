/**
 * The state of a resource: how it is since when and by whom, and each field with its meaning.
 */
import { useRef, useState } from 'preact/hooks';
import type { ResultOf } from 'gateway-admin-core/client';

import { actsOnResource, type Subject } from './act.ts';
import { useAsking } from './asking.ts';
import { healthOf } from './health.ts';
import { HistoryList } from './history.tsx';
import { instantOnClocks } from './instant.ts';
import { useMeanings } from './meaning.ts';
import type { Collection, Row } from './model.ts';
import { useNow, useWhen } from './now.ts';
import { usePage } from './page.ts';
import { valueText } from './plan.ts';
import { DrainState, Links, State } from './resource.tsx';
import { useStore } from './store.ts';
import { text } from './text.ts';
import { durationText, sinceInstant, whenText } from './time.ts';

interface Props {
  readonly subject: Subject;
  readonly resource: Readonly<Record<string, unknown>>;
}

type Drain = NonNullable<ResultOf<'services.get'>['drain']>;

/** How a service, server or monitor is, since when and by whom. A drain has its progress, and can end now. */
export function StateLine({ subject, resource }: Props) {
  const page = usePage();
  const model = useStore(page.model, 'lists');
  const { collection, link } = subject;
  const { drain, state_since, status_since, started, state } = resource as Readonly<
    Record<string, string | undefined>
  > & { readonly drain?: Drain };
  const by = useActor(link, drain === undefined ? 'state' : 'drain');
  useNow();
  if (!('state' in resource || 'status' in resource) || collection === 'sessions') return null;
  const health = healthOf(model, collection as Collection, resource);
  const since = drain?.since ?? state_since ?? status_since ?? (state === 'started' ? started : undefined);
  return (
    <div class={`state-line ${health.tone}`}>
      <p>
        {drain === undefined ? (
          <State row={resource as unknown as Row<'services'>} health={health} model={model} />
        ) : (
          <b class="warn">{drain.state}</b>
        )}{' '}
        <span class="soft">
          {since !== undefined && (
            <time dateTime={since} title={whenText(Date.parse(since))}>
              {text.drawer.since(durationText(sinceInstant(since)))}
            </time>
          )}
          {/* What a monitor finds is nobody's. */}
          {by !== undefined && (drain !== undefined || collection !== 'servers') && ` ${text.drawer.by_(by)}`}
          {drain?.reason !== undefined && `: “${drain.reason}”`}
        </span>
      </p>
      {drain !== undefined && <DrainProgress drain={drain} subject={subject} resource={resource} />}
    </div>
  );
}

/** Who has last changed a field of a resource; `undefined` if that is not known. */
function useActor(resource: string, field: string): string | undefined {
  const page = usePage();
  const client = useStore(page.client);
  const { events } = useStore(page.model, 'events');
  const [actor, setActor] = useState<string>();
  useAsking(
    client && (() => client.history.list({ resource, field, range: [0, 0] }).catch(() => undefined)),
    (answer) => setActor(answer?.ok === true ? answer.value.elements[0]?.actor : undefined),
    [client, resource, field],
    [events.find(({ event }) => event.command !== undefined)?.id],
  );
  return actor;
}

/** What is left of a drain, when what becomes of it, and the way to end it now. */
function DrainProgress({ drain, subject, resource }: Props & { readonly drain: Drain }) {
  const page = usePage();
  const { sessions, connections, state, until, then } = drain;
  const left = Math.max(sessions, connections);
  // How many there were at first, the interface does not say.
  const most = useRef(left);
  most.current = Math.max(most.current, left);
  const id = subject.collection === 'services' ? 'services.closeSessions' : 'servers.closeConnections';
  const may = (resource['may'] as readonly { readonly id: string; readonly allowed: boolean }[]).find(
    (each) => each.id === id,
  );
  const act = actsOnResource.find((each) => each.id === id)?.act(subject, resource);
  return (
    <>
      <progress
        value={most.current - left}
        max={Math.max(most.current, 1)}
        aria-label={text.drain.left(sessions, connections)}
      />
      <p>
        <b>{text.drain.left(sessions, connections)}</b>{' '}
        {most.current > left && <span class="soft">{text.drain.seen(most.current)} </span>}
        <span class="soft">
          {state === 'draining' &&
            (until === undefined
              ? text.drain.noDeadline
              : text.drain.at(
                  whenText(Date.parse(until)),
                  durationText(-sinceInstant(until)),
                  then ?? 'close',
                ))}
        </span>
        {left > 0 && act !== undefined && may?.allowed === true && (
          <button class="small danger" onClick={() => page.ask(act)}>
            {text.drain.endNow}
          </button>
        )}
      </p>
    </>
  );
}

export function StateFields({ subject, resource }: Props) {
  const { collection, link } = subject;
  const fields = useMeanings().fields[collection] ?? [];
  const names = Object.keys(resource).filter((name) => name !== 'may' && name !== 'name' && name !== 'links');
  return (
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
      {isOpen && <HistoryList search={{ resource: link, field }} isPart />}
    </>
  );
}
