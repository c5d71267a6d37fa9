/**
 * The keys of the page, as `?` shows them.
 */
import { useEffect, useRef } from 'preact/hooks';

import { findFocus } from './key.ts';
import { usePage } from './page.ts';
import { useStore } from './store.ts';
import { text } from './text.ts';

export function Keys() {
  const { keys } = usePage();
  return useStore(keys) ? <OpenKeys close={() => keys.set(false)} /> : null;
}

function OpenKeys({ close }: { readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    return findFocus;
  }, []);
  return (
    <dialog ref={dialog} class="keys" onClose={close} aria-labelledby="keys-title">
      <h2 id="keys-title">{text.keys.title}</h2>
      <dl>
        {Object.entries(text.keys.all).map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((each) => (
                <kbd key={each}>{each}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button>{text.keys.close}</button>
      </form>
    </dialog>
  );
}
