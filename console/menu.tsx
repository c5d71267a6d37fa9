/**
 * Menus: what is rarely wanted, behind one button.
 */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

interface Props {
  readonly label: string;
  /** What only a reader hears: of what the menu is. */
  readonly of?: string;
  readonly children: ComponentChildren;
}

export function Menu({ label, of, children }: Props) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = (): void => menu.current?.removeAttribute('open');
  return (
    <details
      class="menu"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || menu.current?.open !== true) return;
        event.stopPropagation();
        close();
        menu.current.querySelector('summary')?.focus();
      }}
      onFocusOut={({ relatedTarget }) => {
        if (!(relatedTarget instanceof Node && menu.current?.contains(relatedTarget) === true)) close();
      }}
    >
      <summary>
        {label}
        {of !== undefined && <span class="hidden"> {of}</span>}
      </summary>
      <div onClick={close}>{children}</div>
    </details>
  );
}
