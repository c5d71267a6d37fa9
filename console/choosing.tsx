/**
 * Choosing: rows of a list by their boxes, one by one or in a range.
 */
import { useRef } from 'preact/hooks';

import { usePage } from './page.ts';
import { text } from './text.ts';

interface BoxProps {
  /** What the row is. */
  readonly of: string;
  readonly isChosen: boolean;
  readonly press: (isChosen: boolean, isRange: boolean) => void;
}

/** The box that chooses a row. With Shift, a press chooses everything from the last box on. */
export function ChooseBox({ of, isChosen, press }: BoxProps) {
  return (
    <input
      type="checkbox"
      checked={isChosen}
      aria-label={`${text.columns.choose} ${of}`}
      onClick={({ currentTarget, shiftKey }) => press(currentTarget.checked, shiftKey)}
    />
  );
}

type PressRow = (link: string, isChosen: boolean, isRange: boolean) => void;

/** Gives what a press on the box of a resource does; it stays the same function. Rows of one list alone are chosen. */
export function usePressRow(links: readonly string[]): PressRow {
  const { go, place } = usePage();
  const shown = useRef(links);
  shown.current = links;
  const last = useRef('');
  const press = useRef<PressRow>((link, isChosen, isRange) => {
    const [from, own] = [shown.current.indexOf(last.current), shown.current.indexOf(link)];
    last.current = link;
    const [, collection = ''] = link.split('/');
    const next = new Map(
      [...(place.get().chosen ?? [])].filter(([key]) => String(key).startsWith(`/${collection}/`)),
    );
    const isWhole = isRange && isChosen && from !== -1;
    const pressed = isWhole ? shown.current.slice(Math.min(from, own), Math.max(from, own) + 1) : [link];
    for (const each of pressed)
      if (isChosen) next.set(each, '');
      else next.delete(each);
    go({ chosen: next.size === 0 ? undefined : next }, 'replace');
  });
  return press.current;
}
