/**
 * Live: the events as they come, the newest first.
 */
import { rowFits } from './find.ts';
import { closedText } from './plan.ts';
import type { SeenEvent } from './model.ts';
import { useWhen } from './now.ts';
import { usePage } from './page.ts';
import { ResourceLink } from './resource.tsx';
import { useStore } from './store.ts';
import { text } from './text.ts';

export function Live() {
  const page = usePage();
  const { events } = useStore(page.model, 'events');
  const { find } = useStore(page.place);
  const when = useWhen();
  const shown = events.filter(({ event }) => rowFits(find, event));
  return (
    <aside class="live" aria-label={text.events.title}>
      <h2>{text.events.title}</h2>
      <ol>
        {shown.map((each) => (
          <EventLine key={each.id} {...each} when={when} />
        ))}
      </ol>
      {shown.length === 0 && <p class="none">{text.find.none}</p>}
    </aside>
  );
}

function EventLine({ event, when }: SeenEvent & { readonly when: (at: number) => string }) {
  const { type, resource, at, actor } = event;
  const { sessions, connections: closed = sessions, criteria } = event as Closing;
  return (
    <li>
      <time class="soft">{when(at)}</time> <strong class={toneOf(event)}>{type}</strong>{' '}
      <ResourceLink link={resource} name={resource} />
      {actor !== undefined && <span class="soft"> {actor}</span>}
      {closed !== undefined && ` ${closedText(closed.length, criteria)}`}
      {'status' in event && ` ${event.status.join(', ') || text.state.down}`}
      {'reason' in event && <span class="soft"> {event.reason}</span>}
    </li>
  );
}

/** What an event has that tells of closed sessions or connections. */
interface Closing {
  readonly sessions?: readonly unknown[];
  readonly connections?: readonly unknown[];
  readonly criteria?: object;
}

function toneOf(event: SeenEvent['event']): string {
  if (event.type === 'command.failed' || ('state' in event && event.state === 'failed')) return 'bad';
  if (event.type === 'server.reported' && event.status.length === 0) return 'bad';
  return '';
}
