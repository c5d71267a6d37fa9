/**
 * The latest: what is in flight, what has become of the acts of this page, and the events as they come.
 */
import { sentencesOf, textOf, type Told } from 'gateway-admin-core/client';

import { actOn, type Act } from './act.ts';
import { rowFits } from './find.ts';
import { rowsOf, type SeenEvent } from './model.ts';
import { useNow } from './now.ts';
import { OutcomeText } from './outcomes.tsx';
import { usePage } from './page.ts';
import { partsIn } from './plan.ts';
import { PlaceLink, Shape } from './resource.tsx';
import { Sentences, tellingOf } from './sentence.tsx';
import { useStore } from './store.ts';
import { text } from './text.ts';
import { durationText, sinceInstant, whenText } from './time.ts';

/** The events of one command, or one event that no command has caused. */
type Happening = readonly [SeenEvent, ...(readonly SeenEvent[])];

export function Live() {
  const page = usePage();
  const { events } = useStore(page.model, 'events');
  const { find } = useStore(page.place);
  const outcomes = useStore(page.outcomes);
  const all = happeningsIn(events);
  const shown = all.filter((each) => each.some(({ event }) => rowFits(find, event)));
  const told = new Set<unknown>(all.map(([{ event }]) => event.command));
  // What an act has changed is told by its event.
  const others = outcomes.filter(({ kind, undo }) => kind !== 'done' || (undo && !told.has(undo.given[0])));
  return (
    <aside class="live" aria-label={text.events.title}>
      <div class="live-head">
        <h2>{text.events.title}</h2>
        <PlaceLink to={{ view: 'history', find: '' }}>{text.views.history}</PlaceLink>
      </div>
      <InFlight />
      <ol>
        {others.map((outcome) => (
          <li key={outcome.key} class={`told ${outcome.kind}`}>
            <OutcomeText outcome={outcome} />
          </li>
        ))}
        {shown.map((each) => (
          <HappeningLine
            key={each[0].id}
            happening={each}
            undo={outcomes.find(({ undo }) => undo && undo.given[0] === each[0].event.command)?.undo}
          />
        ))}
      </ol>
      {shown.length + others.length === 0 && <p class="none">{text.events.none}</p>}
    </aside>
  );
}

/** Events of one command follow each other. */
function happeningsIn(events: readonly SeenEvent[]): readonly Happening[] {
  const all: [SeenEvent, ...SeenEvent[]][] = [];
  for (const each of events) {
    const last = all.at(-1);
    const { command } = each.event;
    // The newest event stands first.
    if (last !== undefined && command !== undefined && last[0].event.command === command) last.unshift(each);
    else all.push([each]);
  }
  return all;
}

interface LineProps {
  readonly happening: Happening;
  /** The act that takes it back, after an act of this page. */
  readonly undo: Act | undefined;
}

function HappeningLine({ happening, undo }: LineProps) {
  const page = usePage();
  const events = happening.map(({ event }) => event as unknown as Told);
  const [{ event }] = happening;
  const { at, actor } = event;
  const changes = happening
    .flatMap(({ event: each }) => partsIn(each))
    .filter((each) => !each.startsWith('drain'));
  const isWrong = happening.some(({ event: each }) => isBad(each));
  const tense = actor === undefined ? 'was' : 'did';
  const title = sentencesOf(events, tellingOf(page, tense, actor))
    .map(textOf)
    .join('; ');
  return (
    <li>
      <time class="soft" dateTime={new Date(at).toISOString()}>
        {whenText(at)}
      </time>
      <p>
        {isWrong && <Shape tone="bad" />}
        <Sentences events={events} tense={tense} actor={actor} />
        {changes.length > 0 && <span class="soft"> {changes.join('; ')}</span>}
      </p>
      {undo !== undefined && (
        <button class="plain" onClick={() => page.ask(undo)}>
          {text.verbs.undo} <span class="hidden">“{title}”</span>
        </button>
      )}
    </li>
  );
}

function isBad(event: SeenEvent['event']): boolean {
  if (event.type === 'command.failed' || ('state' in event && event.state === 'failed')) return true;
  return event.type === 'server.reported' && event.status.length === 0;
}

/** What goes on now: everything, or what concerns one resource. */
export function InFlight({ link }: { readonly link?: string }) {
  const page = usePage();
  const { lists } = useStore(page.model, 'lists');
  useNow();
  const commands = rowsOf({ lists }, 'commands').filter(
    ({ resources }) => link === undefined || resources.includes(link),
  );
  if (commands.length === 0) return null;
  return (
    <ul class="in-flight" aria-label={text.top.inFlight(commands.length)}>
      {commands.map((command) => {
        const { id, actor, since, outcome, progress } = command;
        const told = [command as unknown as Told];
        const title = sentencesOf(told, tellingOf(page, 'being')).map(textOf).join('');
        return (
          <li key={id}>
            <Shape tone={outcome === 'unknown' ? 'bad' : 'warn'} />
            <Sentences events={told} tense="being" />{' '}
            <span class="soft">{text.top.forBy(durationText(sinceInstant(since)), actor)}</span>
            {progress !== undefined && (
              <>
                {' '}
                <progress value={progress.done} max={progress.of} aria-label={title} />{' '}
                {text.top.progress(progress.done, progress.of)}
              </>
            )}
            {outcome === 'unknown' && (
              <>
                <strong class="bad"> {text.top.unknown} </strong>
                <button
                  class="small"
                  onClick={() => page.ask(actOn('commands.abandon', text.verbs.abandon, id, `“${title}”`))}
                >
                  {text.verbs.abandon}
                </button>
              </>
            )}
          </li>
        );
      })}
    </ul>
  );
}
