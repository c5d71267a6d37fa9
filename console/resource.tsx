/**
 * Parts that show something of a resource: links, states, counts, drains.
 */
import { linkTo } from 'gateway-admin-core';
import type { ResultOf } from 'gateway-admin-core/client';

import { upOf } from './health.ts';
import { nameInLink } from './link.ts';
import type { Model, Row, Trail } from './model.ts';
import { useNow } from './now.ts';
import { usePage } from './page.ts';
import { useStore } from './store.ts';
import { text } from './text.ts';
import { durationText, sinceInstant, whenText } from './time.ts';

/** A link to a resource by its name. */
export function Link({ collection, name }: { readonly collection: string; readonly name: string }) {
  return <ResourceLink link={linkTo(collection, name)} name={name} />;
}

/** What has a drawer. */
const hasDrawer = /^\/(?:$|gateway$|(?:services|servers|monitors|filters|sessions)\/[^/]+$)/;

/** A link that opens the drawer of a resource; the name alone if the resource has no drawer. */
export function ResourceLink({ link, name }: { readonly link: string; readonly name: string }) {
  const page = usePage();
  const { open } = useStore(page.place);
  if (!hasDrawer.test(link)) return <>{name}</>;
  return (
    <button
      class="link"
      data-link={link}
      aria-expanded={open === link}
      onClick={() => page.go({ open: link, tab: 'state' })}
    >
      {name}
    </button>
  );
}

export function Links({ links = [] }: { readonly links?: readonly string[] | undefined }) {
  return (
    <>
      {links.map((link, at) => (
        <span key={link}>
          {at > 0 && ', '}
          <ResourceLink link={link} name={nameInLink(link)} />
        </span>
      ))}
    </>
  );
}

/** The servers of a service, and how many of them take new sessions. */
export function ServerLinks({
  links,
  model,
}: {
  readonly links: readonly string[];
  readonly model: Pick<Model, 'lists'>;
}) {
  const found = upOf(model, links);
  const tone = found?.up === 0 ? 'bad' : found !== undefined && found.up < found.of ? 'warn' : 'soft';
  return (
    <>
      <Links links={links} />
      {found !== undefined && <span class={tone}> {text.up(found.up, found.of)}</span>}
    </>
  );
}

/** How long ago an instant was. */
function Since({ since }: { readonly since?: string | undefined }) {
  useNow();
  if (since === undefined) return null;
  return (
    <time class="soft" dateTime={since} title={whenText(Date.parse(since))}>
      {' '}
      {durationText(sinceInstant(since))}
    </time>
  );
}

/** The state of a service or monitor, since when, and why. */
export function State({
  state,
  state_reason: reason,
  state_since: since,
  started,
}: Pick<Row<'services'>, 'state' | 'state_reason' | 'state_since' | 'started'>) {
  const tone = state === 'failed' ? 'bad' : state === 'started' ? 'good' : 'soft';
  return (
    <>
      <span class={tone}>{state}</span>
      <Since since={since ?? (state === 'started' ? started : undefined)} />
      {reason !== undefined && <span class="reason"> {reason}</span>}
    </>
  );
}

/** The words of a server, since when, and why. */
export function ServerState({ status, status_reason: reason, status_since: since }: Row<'servers'>) {
  const isDown = status.length === 0;
  const isHeld = status.includes('maintenance');
  return (
    <>
      <span class={isDown ? 'bad' : isHeld ? 'soft' : 'good'}>
        {isDown ? text.state.down : status.join(', ')}
      </span>
      {/* The time is that of the other words. */}
      {!isHeld && <Since since={since} />}
      {reason !== undefined && <span class="reason"> {reason}</span>}
    </>
  );
}

interface SessionCountProps {
  readonly row: Row<'services'>;
  readonly model: Pick<Model, 'lists' | 'trails'>;
}

/** The open sessions of a service: so far, now, and at most. */
export function SessionCount({ row, model }: SessionCountProps) {
  const page = usePage();
  const { name, current_connections: count, max_connection: limit = 0 } = row;
  return (
    <>
      <Spark trail={model.trails.get(name) ?? []} />
      <button
        class="link"
        aria-label={`${text.sessions.total(count)}, ${name}`}
        onClick={() => page.go({ view: 'sessions', search: { service: name }, open: '' })}
      >
        {count.toLocaleString('en')}
      </button>
      {text.limit(limit)}
      <Age at={model.lists.services?.at} />
    </>
  );
}

/** How old a number is, if it is older than five seconds. */
export function Age({ at }: { readonly at: number | undefined }) {
  const now = useNow();
  if (at === undefined || now - at <= 5000) return null;
  return <span class="soft"> {text.old(durationText(now - at))}</span>;
}

/** The last values of a counter, as a line. */
function Spark({ trail }: { readonly trail: Trail }) {
  if (trail.length < 2) return null;
  const most = Math.max(...trail, 1);
  const points = trail.map((value, at) => `${String(at)},${String(12 - (11 * value) / most)}`).join(' ');
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${String(trail.length - 1)} 12`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polyline points={points} />
    </svg>
  );
}

interface DrainProps {
  readonly drain?: ResultOf<'servers.get'>['drain'] | undefined;
  /** When the numbers were read; left out if they are read at once after a change. */
  readonly at?: number | undefined;
}

/** A drain, with what is left. */
export function DrainState({ drain, at }: DrainProps) {
  if (drain === undefined) return null;
  const { state, sessions, connections, until, then, reason } = drain;
  return (
    <>
      <strong>{state}</strong>: {text.drain.left(sessions, connections)}
      <Age at={at} />
      {until !== undefined && state === 'draining' && (
        <span class="soft"> {text.drain.until(whenText(Date.parse(until)), then ?? '')}</span>
      )}
      {reason !== undefined && <span class="reason"> {reason}</span>}
    </>
  );
}

/** Where the gateway of a node is not what the fleet has. */
export function Behind({ behind }: { readonly behind: Row<'fleet'>['behind'] }) {
  if (behind.length === 0) return null;
  return (
    <details>
      <summary class="bad">{text.node.behind(behind.length)}</summary>
      <ul>
        {behind.map(({ resource, since, detail }) => (
          <li key={resource}>
            <ResourceLink link={resource} name={resource} />
            <Since since={since} /> {detail}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** What drains, and what is left of it at a node. */
export function NodeDrains({ drains }: { readonly drains: Row<'fleet'>['drains'] }) {
  return (
    <>
      {drains.map(({ resource, sessions, connections }) => (
        <div key={resource}>
          <ResourceLink link={resource} name={nameInLink(resource)} />:{' '}
          {text.drain.left(sessions, connections)}
        </div>
      ))}
    </>
  );
}
