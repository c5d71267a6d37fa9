/**
 * Copying: a value for another program. Where a page may not write to the clipboard, as without TLS, the value is
 * selected for the keys of the browser.
 */
import { useState } from 'preact/hooks';

import { text } from './text.ts';

interface Props {
  readonly value: string;
  readonly label?: string;
  /** What only a reader hears: what is copied. */
  readonly what?: string;
}

export function Copy({ value, label = text.copy.copy, what = value }: Props) {
  const [state, setState] = useState<'ready' | 'copied' | 'by hand'>('ready');
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(value);
      setState('copied');
    } catch {
      setState('by hand');
    }
  }
  if (state === 'by hand')
    return (
      <input
        class="copy"
        readOnly
        aria-label={text.copy.byHand}
        value={value}
        ref={(field) => {
          field?.focus();
          field?.select();
        }}
        onBlur={() => setState('ready')}
      />
    );
  return (
    <button
      class="plain copy"
      onClick={() => void copy()}
      onBlur={() => state === 'copied' && setState('ready')}
    >
      {state === 'copied' ? text.copy.copied : label} <span class="hidden">{what}</span>
    </button>
  );
}
