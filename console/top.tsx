/**
 * The top line: which gateway, how it is, what is wrong, what is in flight, who looks, and whether all this is true
 * now.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { SmallButton } from './act-button.tsx';
import { wrongIn } from './health.ts';
import { loadLate } from './later.ts';
import { rowsOf, type Model, type Row } from './model.ts';
import { noticeMoves } from './moving.ts';
import { useNow, useWhen } from './now.ts';
import { usePage, type Page } from './page.ts';
import { zoneOwners } from './place.ts';
import { onlyWrong } from './order.ts';
import { Age, ResourceLink, Shape } from './resource.tsx';
import { useStore } from './store.ts';
import { text } from './text.ts';
import { durationText, sinceInstant, zones } from './time.ts';

/** What the top line shows. */
const shown = ['gateway', 'lists', 'stream', 'fault', 'asking', 'renewal'] as const;
type Shown = Pick<Model, (typeof shown)[number]>;

export function Top({ children }: { readonly children: ComponentChildren }) {
  const page = usePage();
  const model = useStore(page.model, ...shown);
  const hasOwnLogIn = useStore(page.hasOwnLogIn);
  const { gateway } = model;
  return (
    <header>
      <h1>
        <ResourceLink link="/" name={gateway?.name ?? 'Gateway'} />
        {gateway?.environment !== undefined && (
          <span class={`environment ${gateway.environment === 'production' ? 'production' : ''}`}>
            {gateway.environment}
          </span>
        )}
      </h1>
      {children}
      <Connection model={model} />
      <ReadOnly />
      <Zone />
      <span class="who">
        {gateway?.user === undefined
          ? text.top.anonymous
          : `${gateway.user}${gateway.role === undefined ? '' : `, ${gateway.role}`}`}
      </span>
      {hasOwnLogIn && gateway?.user !== undefined && <button onClick={page.logOut}>{text.top.logOut}</button>}
      <Lost model={model} />
      <Alerts model={model} />
    </header>
  );
}

/** The time zone of all times, and the choice of it. */
function Zone() {
  const page = usePage();
  const { zone } = useStore(page.place);
  return (
    <select
      aria-label={text.top.zone}
      value={zone}
      onChange={({ currentTarget: { value } }) => page.go({ zone: value as typeof zone }, 'replace')}
    >
      {zoneOwners.map((each) => (
        <option key={each} value={each}>
          {text.top.zoneOf(zones[each], each)}
        </option>
      ))}
    </select>
  );
}

/** That every change is refused, since when, by whom and why; nothing if changes are allowed. */
export function ReadOnly() {
  const page = usePage();
  const { gateway } = useStore(page.model, 'gateway');
  const whenOf = useWhen();
  if (gateway?.read_only !== true) return null;
  const { read_only_since: since, read_only_by: by, read_only_reason: reason } = gateway;
  const when = since === undefined ? '' : whenOf(Date.parse(since));
  return <span class="bad">{text.top.readOnly(when, by, reason)}</span>;
}

/** Whether what is shown is true now, in words. */
function Connection({ model }: { readonly model: Shown }) {
  const { stream, fault, asking, renewal } = model;
  const now = useNow();
  const since = (at: number): string => durationText(now - at);
  const current = isCurrent(model, now);
  const isSilent = asking !== undefined && now - asking > silenceMs;
  return (
    <span class={`connection ${current ? 'good' : 'bad'}`}>
      {/* A reader speaks when this changes, and not each second. */}
      <span class="hidden" role="status">
        {current ? text.connection.good : text.connection.bad}
      </span>
      <span>
        {!navigator.onLine
          ? text.connection.offline
          : isSilent
            ? text.connection.silent(since(asking))
            : stream.state === 'open'
              ? text.connection.open
              : text.connection[stream.state](since(stream.since))}
      </span>
      {fault !== undefined && `; ${text.connection.failed(since(fault.since), fault.detail)}`}
      {renewal !== undefined && now - renewal.at < 60_000 && (
        <span class="soft"> {text.connection[renewal.why](since(renewal.at))}</span>
      )}
    </span>
  );
}

/** That what is shown may be wrong by now. It has no colour then. */
function Lost({ model }: { readonly model: Shown }) {
  const { stream } = model;
  const now = useNow();
  // A short break is none.
  const isLost = !isCurrent(model, now) && (stream.state === 'open' || now - stream.since > silenceMs);
  useEffect(() => void document.body.classList.toggle('stale', isLost), [isLost]);
  return isLost ? <p class="lost">{text.connection.lost}</p> : null;
}

/** For how long a reading may wait for its answer, in milliseconds. */
const silenceMs = 5000;

function isCurrent({ stream, fault, asking = Infinity }: Shown, now: number): boolean {
  const isAnswered = now - asking <= silenceMs;
  return stream.state === 'open' && fault === undefined && isAnswered && navigator.onLine;
}

/** How many cards are shown until a person asks for all. */
const mostCards = 4;

function Alerts({ model }: { readonly model: Shown }) {
  const page = usePage();
  const now = useNow();
  const [isWhole, setWhole] = useState(false);
  const alerts = rowsOf(model, 'alerts');
  const wrong = wrongIn(model);
  if (alerts.length === 0 && wrong > 0)
    return (
      <div class="strip">
        <p class="sum bad">{text.top.wrong(wrong)}</p>
      </div>
    );
  if (alerts.length === 0)
    return (
      model.lists.alerts !== undefined &&
      isCurrent(model, now) && (
        <p class="calm">
          <Shape tone="ok" />
          {text.top.noAlerts}
          <Age at={model.lists.alerts.at} />
        </p>
      )
    );
  const errors = alerts.filter(({ level }) => level === 'error').length;
  return (
    <div class="strip">
      <button
        class={`sum ${errors > 0 ? 'bad' : 'warn'}`}
        onClick={() => page.go({ view: 'gateway', find: '', only: onlyWrong })}
      >
        {errors > 0 && <b>{text.top.faults(errors)}</b>}
        {alerts.length > errors && <span>{text.top.warnings(alerts.length - errors)}</span>}
        <span class="when-stale">
          <Age at={model.lists.alerts?.at} />
        </span>
      </button>
      <ul ref={noticeMoves} class="alerts" aria-label={text.top.alerts(alerts.length)}>
        {alerts.slice(0, isWhole ? undefined : mostCards).map((alert) => (
          <Card key={`${alert.code} ${alert.resource}`} alert={alert} />
        ))}
      </ul>
      {alerts.length > mostCards && (
        <button class="plain" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? text.top.fewer : text.top.showAll(alerts.length)}
        </button>
      )}
    </div>
  );
}

/** Opens the plan of what an alert says to do. */
async function askFor(page: Page, act: NonNullable<Row<'alerts'>['acts']>[number]): Promise<void> {
  const { actOfAlert } = await loadLate();
  page.ask(actOfAlert(act, page.model.get()));
}

/** What is wrong, since when, why, and what to do. The sentence before the colon is the title. */
function Card({ alert }: { readonly alert: Row<'alerts'> }) {
  const page = usePage();
  const { resource, detail, since, level, acts = [] } = alert;
  const [, title = detail, why = ''] = /^(.{1,120}?): (.*)$/s.exec(detail) ?? [];
  const tone = level === 'error' ? 'bad' : 'warn';
  return (
    <li class={tone}>
      <p class="what">
        <Shape tone={tone} />
        <span class="title">
          <ResourceLink link={resource} name={title} />
        </span>
        {since !== undefined && <time class="soft">{durationText(sinceInstant(since))}</time>}
      </p>
      {why !== '' && <p class="why">{why}</p>}
      {acts.length > 0 && (
        <p class="do">
          {acts.map((act) => (
            <SmallButton key={act.text} title={act.text} press={() => void askFor(page, act)} />
          ))}
        </p>
      )}
    </li>
  );
}
