/**
 * Keys: everything can be reached without a mouse.
 */
import { useEffect } from 'preact/hooks';

import type { Page } from './page.ts';
import type { View } from './place.ts';

/** After `g`, a letter leads to a view. */
const viewKeys: Readonly<Record<string, View>> = { g: 'gateway', s: 'sessions', h: 'history' };

/** How long after `g` the letter counts, in milliseconds. */
const chordMs = 1500;

export function useKeys({ go, place, asked }: Page): void {
  useEffect(() => {
    let begun = -Infinity;
    const press = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey } = event;
      // A dialog has its own keys, and a letter in a field is a letter.
      if (ctrlKey || metaKey || altKey || asked.get() !== undefined) return;
      if (key === 'Escape' && place.get().open !== '') return go({ open: '' });
      // From the field that finds, the keys lead to what was found.
      if ((event.target as HTMLElement).id === 'find' && (key === 'Enter' || key === 'ArrowDown'))
        return step(event, 1);
      if (isField(event.target)) return;
      const view = viewKeys[key];
      if (key === '/') {
        event.preventDefault();
        document.getElementById('find')?.focus();
      } else if (view !== undefined && performance.now() - begun < chordMs) {
        begun = -Infinity;
        go({ view, find: '' });
      } else if (key === 'g') begun = performance.now();
      else if (key === 'ArrowDown' || key === 'ArrowUp') step(event, key === 'ArrowDown' ? 1 : -1);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [go, place, asked]);
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
}

/** Moves the focus to the first control of the row above or below; from elsewhere, to the first row. */
function step(event: KeyboardEvent, by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = at === -1 ? rows[0] : rows[at + by];
  if (next === undefined) return;
  event.preventDefault();
  next.querySelector<HTMLElement>('a, button, input')?.focus();
}
