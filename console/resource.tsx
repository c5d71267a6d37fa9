/**
 * Parts that show something of a resource: links, states, counts, drains.
 */
import { linkTo } from 'gateway-admin-core';
import type { ResultOf } from 'gateway-admin-core/client';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';

import { healthOf, isWrong, lostOf, serverOf, type Health, type Tone } from './health.ts';
import { nameAt } from './name.ts';
import type { Model, Row, Trail } from './model.ts';
import { useNow, useWhen } from './now.ts';
import { usePage } from './page.ts';
import { formatPlace, type Place } from './place.ts';
import { drainAtNodes } from './scope.ts';
import { useStore } from './store.ts';
import { text } from './text.ts';
import { durationText, sinceInstant } from './time.ts';

/** A link to a resource by its name. */
export function Link({ collection, name }: { readonly collection: string; readonly name: string }) {
  return <ResourceLink link={linkTo(collection, name)} name={name} />;
}

/** What has a drawer. */
const hasDrawer = /^\/(?:$|gateway$|(?:services|servers|monitors|filters|sessions)\/[^/]+$)/;

interface PlaceLinkProps {
  /** What is another than now in the place that the link leads to. */
  readonly to: Partial<Place>;
  readonly children: ComponentChildren;
  readonly link?: string;
  readonly label?: string;
}

/** A link to a place of the page: it can be opened in another tab, and copied. */
export function PlaceLink({ to, children, link, label }: PlaceLinkProps) {
  const page = usePage();
  const place = useStore(page.place);
  const href = useMemo(() => `#${formatPlace({ ...place, ...to })}`, [place, ...Object.entries(to).flat()]);
  return (
    <a
      class="link"
      href={href}
      data-link={link}
      aria-label={label}
      aria-expanded={link === undefined ? undefined : place.open === link}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        page.go(to);
      }}
    >
      {children}
    </a>
  );
}

/** A link that opens the drawer of a resource; the name alone if the resource has no drawer. */
export function ResourceLink({ link, name }: { readonly link: string; readonly name: string }) {
  if (!hasDrawer.test(link)) return <>{name}</>;
  return (
    <PlaceLink to={{ open: link }} link={link}>
      {name}
    </PlaceLink>
  );
}

export function Links({ links = [] }: { readonly links?: readonly string[] | undefined }) {
  const { model } = usePage();
  return (
    <>
      {links.map((link, at) => (
        <span key={link}>
          {at > 0 && <span class="comma">, </span>}
          <ResourceLink link={link} name={nameAt(model.get(), link)} />
        </span>
      ))}
    </>
  );
}

/** Links to servers. In a link to a server that takes no new sessions, the shape of its state stands first. */
export function ServerLinks({
  links,
  model,
}: {
  readonly links: readonly string[];
  readonly model: Pick<Model, 'lists'>;
}) {
  return (
    <>
      {links.map((link, at) => {
        const { tone, state } = serverAt(model, link);
        return (
          <span key={link} class={tone}>
            {at > 0 && <span class="comma">, </span>}
            {isWrong({ tone }) && <Shape tone={tone} />}
            <ResourceLink link={link} name={nameAt(model, link)} />
            {isWrong({ tone }) && <span class="hidden"> {text.state[state]}</span>}
          </span>
        );
      })}
    </>
  );
}

/** How the server at a link is. */
function serverAt(model: Pick<Model, 'lists'>, link: string): Health {
  const server = serverOf(model, link);
  return server === undefined ? { tone: 'none', state: 'none' } : healthOf(model, 'servers', server);
}

/** The shape of a state, in its colour. The words beside it say the same. */
export function Shape({ tone }: { readonly tone: Tone }) {
  return <i class={`shape ${tone}`} aria-hidden="true" />;
}

/** How many servers of a list take new sessions. */
export function Up({
  links,
  model,
}: {
  readonly links: readonly string[];
  readonly model: Pick<Model, 'lists'>;
}) {
  const lost = lostOf(model, links)?.length;
  if (lost === undefined) return null;
  const tone = lost === links.length ? 'bad' : lost > 0 ? 'warn' : 'ok';
  return (
    <span class={tone}>
      {links.length - lost}/{links.length}
      <span class="hidden"> {text.up}</span>
    </span>
  );
}

/** How long ago an instant was. */
export function Since({ since }: { readonly since?: string | undefined }) {
  useNow();
  const when = useWhen();
  if (since === undefined) return null;
  return (
    <time class="soft" dateTime={since} title={when(Date.parse(since))}>
      {durationText(sinceInstant(since))}
    </time>
  );
}

interface StateProps {
  readonly row: Row<'services'> | Row<'servers'> | Row<'monitors'>;
  readonly health: Health;
  readonly model: Pick<Model, 'lists'>;
  /** When the numbers of the drain were read. */
  readonly at?: number | undefined;
}

/** The state of a service, server or monitor, and why: what is wrong is bold. */
export function State({ row, health, model, at }: StateProps) {
  const { tone, state, lost } = health;
  const word = 'status' in row ? row.status.join(', ') || text.state.down : row.state;
  const drain = 'drain' in row ? row.drain : undefined;
  const cause = lost && causeOf(model, lost);
  const reason = cause ?? ('status' in row ? row.status_reason : row.state_reason) ?? '';
  const part = state === 'half' ? reason : state === 'dark' || state === 'full' ? text.state[state] : '';
  const isWhole = part === '' && drain === undefined && isWrong(health);
  // A service that drains is stopped for it.
  const plain = isWhole || (drain !== undefined && 'state' in row) ? '' : word;
  return (
    <span title={reason}>
      {plain}
      {plain !== '' && (part !== '' || drain !== undefined) && ', '}
      <b class={tone}>{isWhole ? word : part}</b>
      <DrainState
        drain={drain}
        at={at}
        nodes={
          'name' in row
            ? drainAtNodes(model, linkTo('status' in row ? 'servers' : 'services', row.name))
            : undefined
        }
      />
      {reason !== '' && reason !== part && (
        <>
          : <span class="reason">{reason}</span>
        </>
      )}
    </span>
  );
}

/** Which servers take no new sessions, and why. */
function causeOf(model: Pick<Model, 'lists'>, lost: readonly string[]): string {
  const states = new Set(lost.map((link) => serverAt(model, link).state));
  const [state = 'none'] = states;
  return text.lost(
    lost.map((link) => nameAt(model, link)),
    states.size === 1 ? text.state[state] : text.notUp,
  );
}

interface SessionCountProps {
  readonly row: Row<'services'>;
  readonly model: Pick<Model, 'lists' | 'trails'>;
}

/** The open sessions of a service: now, at most, and so far. */
export function SessionCount({ row, model }: SessionCountProps) {
  const { name, current_connections: count, max_connection: limit = 0 } = row;
  return (
    <Count
      after={
        <>
          <Age at={model.lists.services?.at} />
          <Spark trail={model.trails.get(name) ?? []} most={mostIn(model.trails)} />
        </>
      }
      limit={text.limit(limit)}
    >
      <PlaceLink
        label={`${text.sessions.total(count)}, ${name}`}
        to={{ view: 'sessions', search: { service: name }, open: '', chosen: undefined }}
      >
        {count.toLocaleString('en')}
      </PlaceLink>
    </Count>
  );
}

interface CountProps {
  readonly children: ComponentChildren;
  readonly limit?: string;
  readonly after?: ComponentChildren;
}

/** A number with its limit. The numbers of all tables end at one line. */
export function Count({ children, limit, after }: CountProps) {
  return (
    <div class="count">
      <span>{children}</span>
      <span class="soft">{limit}</span>
      {after}
    </div>
  );
}

/** How old a number is, if it is older than five seconds. */
export function Age({ at }: { readonly at: number | undefined }) {
  const now = useNow();
  if (at === undefined || now - at <= 5000) return null;
  return <span class="soft"> {text.old(durationText(now - at))}</span>;
}

/** The largest number of all lines: lines of one scale can be compared. */
const mosts = new WeakMap<ReadonlyMap<string, Trail>, number>();

function mostIn(trails: ReadonlyMap<string, Trail>): number {
  const most =
    mosts.get(trails) ?? [...trails.values()].flat().reduce((one, other) => Math.max(one, other), 1);
  mosts.set(trails, most);
  return most;
}

/** The last values of a counter, as a line. */
function Spark({ trail, most }: { readonly trail: Trail; readonly most: number }) {
  if (trail.length < 2) return null;
  const points = trail.map((value, at) => `${String(at)},${String(13 - (12 * value) / most)}`).join(' ');
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${String(trail.length - 1)} 14`}
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
  /** What is left at all nodes of a fleet. */
  readonly nodes?: string | undefined;
}

/** A drain, with what is left. */
export function DrainState({ drain, at, nodes }: DrainProps) {
  const when = useWhen();
  if (drain === undefined) return null;
  const { state, sessions, connections, until, then, reason } = drain;
  return (
    <>
      <b class="warn">{state}</b>: {nodes ?? text.drain.left(sessions, connections)}
      <Age at={at} />
      {until !== undefined && state === 'draining' && (
        <span class="soft"> {text.drain.until(when(Date.parse(until)), then ?? '')}</span>
      )}
      {reason !== undefined && <span class="reason">: “{reason}”</span>}
    </>
  );
}

/** Where the gateway of a node is not what the fleet has. */
export function Behind({ behind }: { readonly behind: Row<'fleet'>['behind'] }) {
  const { model } = usePage();
  if (behind.length === 0) return null;
  return (
    <details>
      <summary class="warn">{text.behind(behind.length)}</summary>
      <ul>
        {behind.map(({ resource, since, detail }) => (
          <li key={resource}>
            <ResourceLink link={resource} name={nameAt(model.get(), resource)} /> <Since since={since} />{' '}
            {detail}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** What drains, and what is left of it at a node. */
export function NodeDrains({ drains }: { readonly drains: Row<'fleet'>['drains'] }) {
  const { model } = usePage();
  return (
    <>
      {drains.map(({ resource, sessions, connections }) => (
        <div key={resource}>
          <ResourceLink link={resource} name={nameAt(model.get(), resource)} />:{' '}
          {text.drain.left(sessions, connections)}
        </div>
      ))}
    </>
  );
}
