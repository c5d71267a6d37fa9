/**
 * The page as a whole.
 */
import { useEffect, useState } from 'preact/hooks';

import { useFocusReturn, useKeys } from './key.ts';
import { useLate } from './later.ts';
import { LogIn } from './log-in.tsx';
import { Outcomes } from './outcomes.tsx';
import { isOld } from './meaning.ts';
import { useNow } from './now.ts';
import { usePage } from './page.ts';
import { views } from './place.ts';
import { useStore } from './store.ts';
import { Tables } from './tables.tsx';
import { text } from './text.ts';
import { durationText } from './time.ts';
import { Top } from './top.tsx';

export function App() {
  const page = usePage();
  const { access, gateway, lists } = useStore(page.model, 'access', 'gateway', 'lists');
  const asked = useStore(page.asked);
  // What is open can be acted on before the lists have come.
  const late = useLate(lists.services !== undefined || asked !== undefined);
  const old = useStore(isOld);
  const [fault, setFault] = useState('');
  useEffect(() => {
    void open();
    /** Tries until the interface answers. */
    async function open(): Promise<void> {
      try {
        await page.logIn();
        setFault('');
      } catch (error) {
        setFault((error as Error).message);
        setTimeout(() => void open(), 2000);
      }
    }
  }, [page]);
  useEffect(() => {
    const { name = 'Gateway', environment } = gateway ?? {};
    document.title = environment === undefined ? name : `${name} · ${environment}`;
  }, [gateway]);
  if (access.state === 'opening') return fault === '' ? <Waiting /> : <p class="opening">{fault}</p>;
  return (
    <>
      {access.state === 'closed' ? <LogIn problem={access.problem} /> : <OpenPage late={late} />}
      {old && (
        <p class="bad" role="alert">
          {text.newVersion}
        </p>
      )}
      <Outcomes />
      {late !== undefined && (
        <>
          <late.ActDialog />
          <late.Keys />
        </>
      )}
    </>
  );
}

function OpenPage({ late: loaded }: { readonly late: ReturnType<typeof useLate> }) {
  const page = usePage();
  const { view, open } = useStore(page.place);
  const { lists } = useStore(page.model, 'lists');
  const late = useLate(view !== 'gateway' || open !== '') ?? loaded;
  const hasLive = view === 'gateway' && open === '';
  useKeys(page);
  useFocusReturn(open);
  return (
    <div class="page">
      <Top>
        <nav aria-label="Views">
          {views.map((each) => (
            <button
              key={each}
              aria-current={each === view ? 'page' : undefined}
              onClick={() => page.go({ view: each, find: '', open: '' })}
            >
              {text.views[each]}
            </button>
          ))}
        </nav>
        <Find />
      </Top>
      <div class={`columns ${hasLive ? 'two' : ''}`}>
        <main>
          <div class={`view view-${view}`} tabIndex={-1}>
            {view === 'gateway' && <Tables />}
            {view === 'gateway' && late !== undefined && <late.ChosenRows />}
            {lists.services === undefined && <Waiting />}
            {view === 'sessions' && late !== undefined && <late.Sessions />}
            {view === 'history' && late !== undefined && <late.History />}
          </div>
          {open !== '' && late !== undefined && <late.Drawer link={open} key={open} />}
        </main>
        {hasLive && late !== undefined && <late.Live />}
      </div>
    </div>
  );
}

/** A word while nothing has come yet: how long the page is open. */
function Waiting() {
  return <p class="opening">{text.connection.opening(durationText(useNow()))}</p>;
}

function Find() {
  const page = usePage();
  const { find, view } = useStore(page.place);
  return (
    <label class="find">
      <span class="hidden">{text.find.label}</span>
      <input
        id="find"
        type="search"
        placeholder={text.find.hint}
        value={find}
        onInput={({ currentTarget: { value } }) =>
          // Sessions are found by their own form.
          page.go({ find: value, view: view === 'sessions' ? 'gateway' : view }, 'replace')
        }
      />
    </label>
  );
}
