/**
 * Keys: everything can be reached without a mouse.
 */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { Page } from './page.ts';
import type { View } from './place.ts';

/** After `g`, a letter leads to a view. */
const viewKeys: Readonly<Record<string, View>> = { g: 'gateway', s: 'sessions', h: 'history' };

/** How long after `g` the letter counts, in milliseconds. */
const chordMs = 1500;

export function useKeys({ go, place, asked, keys }: Page): void {
  useEffect(() => {
    let begun = -Infinity;
    const press = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey } = event;
      // A dialog has its own keys, and a letter in a field is a letter.
      if (ctrlKey || metaKey || altKey || asked.get() !== undefined || keys.get()) return;
      if (key === 'Escape' && place.get().open !== '') return go({ open: '' });
      // From the field that finds, the keys lead to what was found.
      const field = event.target as HTMLInputElement;
      if (field.id === 'find' && (key === 'Enter' || key === 'ArrowDown'))
        return step(event, 1, field.value.toLowerCase());
      if (isField(event.target)) return;
      if (key === 'Enter' && event.target instanceof HTMLInputElement) return openRow(event.target);
      const view = viewKeys[key];
      if (key === '/') {
        event.preventDefault();
        // In the sessions, criteria find.
        const field = place.get().view === 'sessions' ? '.criteria input' : '#find';
        document.querySelector<HTMLElement>(field)?.focus();
      } else if (view !== undefined && performance.now() - begun < chordMs) {
        begun = -Infinity;
        go({ view, find: '', open: '' });
      } else if (key === '?') keys.set(true);
      else if (key === 'g') begun = performance.now();
      else if (key === 'ArrowDown' || key === 'ArrowUp') step(event, key === 'ArrowDown' ? 1 : -1);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [go, place, asked, keys]);
}

/** Whether keys write into a target. */
function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input:not([type=checkbox]), select, textarea');
}

/** Opens the drawer of the row of a box that chooses. */
function openRow(box: HTMLElement): void {
  box.closest('[data-row]')?.querySelector<HTMLElement>('.link')?.click();
}

/**
 * Moves the focus to the first control of the row above or below. From elsewhere, moves it to the first row whose own
 * name contains the text; the names of other things in a row do not count.
 */
function step(event: KeyboardEvent, by: number, find = ''): void {
  const rows = [...document.querySelectorAll<HTMLElement>('.view [data-row]')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const own = rows.findIndex((row) =>
    row.querySelector('[data-link]')?.textContent.toLowerCase().includes(find),
  );
  const next = rows[at === -1 ? Math.max(own, 0) : at + by];
  if (next === undefined) return;
  event.preventDefault();
  next.querySelector<HTMLElement>('a, button, input')?.focus();
}

/** When a drawer closes, the focus returns to what has opened the drawer, or else to the row of the resource. */
export function useFocusReturn(open: string): void {
  const opener = useRef<HTMLElement | null>(null);
  const before = useRef('');
  if (open !== '' && before.current === '')
    opener.current = document.activeElement?.closest<HTMLElement>('a, button, input') ?? null;
  useEffect(() => {
    const closed = before.current;
    before.current = open;
    if (open !== '' || closed === '' || document.activeElement !== document.body) return;
    const row = document.querySelector<HTMLElement>(`.view [data-link="${CSS.escape(closed)}"]`);
    (opener.current?.isConnected === true ? opener.current : row)?.focus();
    findFocus();
  }, [open]);
}

/** Keeps the focus in a part of the page: when what has the focus goes, the part gets the focus as a whole. */
export function useFocusKept(part: RefObject<HTMLElement | null>): void {
  const had = part.current?.contains(document.activeElement) === true;
  useEffect(() => {
    if (had) findFocus();
  });
}

/** If nothing has the focus, gives it to the drawer, or to the view if no drawer is open. */
export function findFocus(): void {
  if (document.activeElement !== document.body) return;
  const place = document.getElementById('drawer-title') ?? document.querySelector<HTMLElement>('.view');
  place?.focus();
}
