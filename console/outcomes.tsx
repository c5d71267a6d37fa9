/**
 * Outcomes: what became of each act, and the way back.
 */
import { usePage } from './page.ts';
import { useStore } from './store.ts';
import { text } from './text.ts';

export function Outcomes() {
  const { outcomes, ask } = usePage();
  const shown = useStore(outcomes);
  return (
    <div class="outcomes" role="status" aria-live="polite">
      {shown.map(({ key, kind, text: what, detail, undo }) => (
        <p key={key} class={`outcome ${kind}`}>
          <span>
            {what} {detail}
          </span>
          {undo !== undefined && <button onClick={() => ask(undo)}>{text.verbs.undo}</button>}
          <button onClick={() => outcomes.set(shown.filter((each) => each.key !== key))}>
            {text.done.dismiss}
          </button>
        </p>
      ))}
    </div>
  );
}
