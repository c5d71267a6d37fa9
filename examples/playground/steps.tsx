/**
 * The steps: what has happened, what could be seen of it, and what is ahead.
 */
import { useEffect, useRef } from 'preact/hooks';

import { vocabulary } from '../../tests/scenario/vocabulary.ts';
import type { Props } from './panel.tsx';
import type { Shown } from './player.ts';

/** What has happened, and what is ahead. The end is in sight. */
export function Steps({ player, shown: { done, ahead } }: Props & { readonly shown: Shown }) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const now = list.current?.querySelector('.now');
    if (list.current && now instanceof HTMLElement)
      list.current.scrollTop = now.offsetTop + now.offsetHeight - list.current.clientHeight;
  }, [done, ahead]);
  return (
    <>
      <ol class="steps" ref={list} tabIndex={0} aria-label="Steps">
        {done.map((step, at) => (
          <li key={at} class={at === done.length - 1 ? 'now' : ''}>
            <code>{step.text}</code>
            {step.seen.map((line, each) => (
              <code class="soft" key={each}>
                {line}
              </code>
            ))}
          </li>
        ))}
        {ahead.map((text, at) => (
          <li key={`ahead ${String(at)}`} class="ahead">
            <code>{text}</code>
          </li>
        ))}
      </ol>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const field = event.currentTarget.elements.namedItem('step') as HTMLInputElement;
          if (field.value !== '') player.order({ order: 'perform', texts: [field.value] });
          field.value = '';
        }}
      >
        <input
          name="step"
          list="vocabulary"
          aria-label="Any step"
          placeholder="Any step, such as: wait 10s"
        />
        <datalist id="vocabulary">
          {vocabulary.map(({ form }) => (
            <option key={form}>{form}</option>
          ))}
        </datalist>
        <button>Do</button>
      </form>
    </>
  );
}
