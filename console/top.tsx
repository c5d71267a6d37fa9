/**
 * The top line: which gateway, how it is, what is wrong, what is in flight, who looks, and whether all this is true
 * now.
 */
import { useEffect } from 'preact/hooks';

import { actOn } from './act.ts';
import { wrongIn } from './health.ts';
import { rowsOf, type Model } from './model.ts';
import { useNow } from './now.ts';
import { usePage } from './page.ts';
import { Age, ResourceLink } from './resource.tsx';
import { useStore } from './store.ts';
import { text } from './text.ts';
import { durationText, sinceInstant, whenText } from './time.ts';

/** What the top line shows. */
const shown = ['gateway', 'lists', 'stream', 'fault', 'asking', 'renewal'] as const;
type Shown = Pick<Model, (typeof shown)[number]>;

export function Top() {
  const page = usePage();
  const model = useStore(page.model, ...shown);
  const hasOwnLogIn = useStore(page.hasOwnLogIn);
  const { gateway } = model;
  return (
    <header>
      <h1>
        <button class="link" onClick={() => page.go({ open: '/' })}>
          {gateway?.name ?? 'Gateway'}
        </button>
        {gateway?.environment !== undefined && <span class="environment">{gateway.environment}</span>}
      </h1>
      <Connection model={model} />
      <ReadOnly />
      <span class="who">
        {gateway?.user === undefined
          ? text.top.anonymous
          : `${gateway.user}${gateway.role === undefined ? '' : `, ${gateway.role}`}`}
      </span>
      {hasOwnLogIn && gateway?.user !== undefined && <button onClick={page.logOut}>{text.top.logOut}</button>}
      <Alerts model={model} />
      <InFlight model={model} />
    </header>
  );
}

/** That every change is refused, since when, by whom and why; nothing if changes are allowed. */
export function ReadOnly() {
  const page = usePage();
  const { gateway } = useStore(page.model, 'gateway');
  if (gateway?.read_only !== true) return null;
  const { read_only_since: since, read_only_by: by, read_only_reason: reason } = gateway;
  const when = since === undefined ? '' : whenText(Date.parse(since));
  return <span class="bad">{text.top.readOnly(when, by, reason)}</span>;
}

/** Whether what is shown is true now, in words. */
function Connection({ model }: { readonly model: Shown }) {
  const { stream, fault, asking, renewal } = model;
  const now = useNow();
  const since = (at: number): string => durationText(now - at);
  const current = isCurrent(model, now);
  const isSilent = asking !== undefined && now - asking > silenceMs;
  // What is shown may be wrong by now, and has no colour then. A short break is none.
  const isStale = !current && (stream.state === 'open' || now - stream.since > silenceMs);
  useEffect(() => void document.body.classList.toggle('stale', isStale), [isStale]);
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

/** For how long a reading may wait for its answer, in milliseconds. */
const silenceMs = 5000;

function isCurrent({ stream, fault, asking = Infinity }: Shown, now: number): boolean {
  const isAnswered = now - asking <= silenceMs;
  return stream.state === 'open' && fault === undefined && isAnswered && navigator.onLine;
}

function Alerts({ model }: { readonly model: Shown }) {
  const now = useNow();
  const alerts = rowsOf(model, 'alerts');
  const wrong = wrongIn(model);
  if (alerts.length === 0 && wrong > 0) return <p class="bad">{text.top.wrong(wrong)}</p>;
  if (alerts.length === 0)
    return (
      model.lists.alerts !== undefined &&
      isCurrent(model, now) && (
        <p class="good">
          {text.top.noAlerts}
          <Age at={model.lists.alerts.at} />
        </p>
      )
    );
  return (
    <>
      <ul class="alerts" aria-label={text.top.alerts(alerts.length)}>
        {alerts.map(({ code, resource, detail, since, level }) => (
          <li key={`${code} ${resource}`} class={level}>
            <ResourceLink link={resource} name={detail} />
            {since !== undefined && <span class="soft"> {durationText(sinceInstant(since))}</span>}
          </li>
        ))}
      </ul>
      <p class="when-stale">
        <Age at={model.lists.alerts?.at} />
      </p>
    </>
  );
}

function InFlight({ model }: { readonly model: Shown }) {
  const page = usePage();
  useNow();
  const commands = rowsOf(model, 'commands');
  if (commands.length === 0) return null;
  return (
    <ul class="in-flight" aria-label={text.top.inFlight(commands.length)}>
      {commands.map(({ id, type, resource, actor, since, outcome, progress }) => (
        <li key={id}>
          {type} {resource} <span class="soft">{actor}</span> {durationText(sinceInstant(since))}
          {progress !== undefined && ` ${text.top.progress(progress.done, progress.of)}`}
          {outcome === 'unknown' && <strong class="bad"> {text.top.unknown} </strong>}
          {outcome === 'unknown' && (
            <button
              onClick={() =>
                page.ask(actOn('commands.abandon', text.verbs.abandon, id, `${type} ${resource}`))
              }
            >
              {text.verbs.abandon}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
