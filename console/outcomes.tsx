/**
 * Outcomes: what became of each act, and the way back. The newest one is a bar over the page until it fades into the
 * latest.
 */
import { useEffect, useRef, useState } from 'preact/hooks';

import { usePage, type Outcome } from './page.ts';
import { useStore } from './store.ts';
import { text } from './text.ts';

/** How long the outcome of what was done stands over the page, in milliseconds. */
const freshMs = 10_000;

export function Outcomes() {
  const { outcomes } = usePage();
  const [newest] = useStore(outcomes);
  const [faded, setFaded] = useState<number>();
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // What was not done waits until a person has seen it.
    if (newest?.kind !== 'done') return undefined;
    const fade = (): void => {
      if (bar.current?.matches(':hover, :focus-within') === true) timer = setTimeout(fade, 1000);
      else setFaded(newest.key);
    };
    let timer = setTimeout(fade, freshMs);
    return () => clearTimeout(timer);
  }, [newest]);
  return (
    <div class="outcomes" role="status" aria-live="polite" ref={bar}>
      {newest !== undefined && newest.key !== faded && (
        <p key={newest.key} class={`outcome ${newest.kind}`}>
          <OutcomeText outcome={newest} />
          <button onClick={() => setFaded(newest.key)}>{text.done.dismiss}</button>
        </p>
      )}
    </div>
  );
}

/** What became of an act, and the way back. */
export function OutcomeText({ outcome: { text: what, detail, undo } }: { readonly outcome: Outcome }) {
  const { ask } = usePage();
  return (
    <>
      <span>
        {what} {detail}
      </span>
      {undo !== undefined && <button onClick={() => ask(undo)}>{text.verbs.undo}</button>}
    </>
  );
}
