/**
 * Small buttons: in rows, in headings and on cards.
 */
import type { Act } from './act.ts';
import { usePage } from './page.ts';

/** A button that opens the plan of an act. */
export function ActButton({ act }: { readonly act: Act }) {
  const page = usePage();
  const isDestructive = /[.](?:delete|forget|close)/.test(act.id);
  return <SmallButton title={act.title} tone={isDestructive ? 'danger' : ''} press={() => page.ask(act)} />;
}

interface SmallButtonProps {
  readonly title: string;
  readonly press: () => void;
  readonly tone?: string;
  /** Why the button does nothing; left out if it does. */
  readonly reason?: string | undefined;
}

export function SmallButton({ title, press, reason, tone = '' }: SmallButtonProps) {
  return (
    <button
      class={`plain ${tone}`}
      title={reason}
      aria-disabled={reason !== undefined}
      onClick={() => reason === undefined && press()}
    >
      {title}
      {reason !== undefined && <span class="hidden">: {reason}</span>}
    </button>
  );
}
