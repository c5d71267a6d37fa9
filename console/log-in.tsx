/**
 * The log-in: a form of the page, or the way to the log-in page of the host.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from 'gateway-admin-core';

import { usePage } from './page.ts';
import { text } from './text.ts';

interface Props {
  /** Why the page is closed; left out if the person has not tried to log in. */
  readonly problem?: Problem | undefined;
}

export function LogIn({ problem }: Props) {
  const page = usePage();
  if (page.logInAddress === '') return <LogInForm problem={problem} />;
  return <WayToLogIn problem={problem} />;
}

/** The way to the log-in page of the host. */
function WayToLogIn({ problem }: Props) {
  const page = usePage();
  useEffect(() => {
    // A person who comes back from there may be logged in by now.
    const tryAgain = (): void => {
      if (!document.hidden) void page.logIn().catch(() => undefined);
    };
    document.addEventListener('visibilitychange', tryAgain);
    return () => document.removeEventListener('visibilitychange', tryAgain);
  }, [page]);
  return (
    <main class="log-in">
      <h1>{text.logIn.title}</h1>
      <p>{problem?.code === 'forbidden' ? problem.detail : text.logIn.elsewhere}</p>
      <a href={page.logInAddress}>{text.logIn.link}</a>
    </main>
  );
}

function LogInForm({ problem }: Props) {
  const page = usePage();
  const [isTrying, setTrying] = useState(false);
  const [fault, setFault] = useState(() => {
    if (problem === undefined) return '';
    return reasonOf(problem, page.hasOwnLogIn.get() ? text.logIn.over : text.logIn.elsewhere);
  });
  const name = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  // Before anybody can type: what is typed meanwhile would go on in another field.
  useLayoutEffect(() => name.current?.focus(), []);
  async function send(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    setTrying(true);
    setFault('');
    try {
      await page.logIn({ name: name.current?.value ?? '', password: password.current?.value ?? '' });
      const { access } = page.model.get();
      if (access.state === 'closed') setFault(reasonOf(access.problem, text.logIn.refused));
    } catch (error) {
      setFault((error as Error).message);
    }
    setTrying(false);
    // The button could not keep the focus. On the open page, the field is gone.
    password.current?.focus();
    password.current?.select();
  }
  return (
    <main class="log-in">
      <form onSubmit={(event) => void send(event)}>
        <h1>{text.logIn.title}</h1>
        <label>
          {text.logIn.name}
          <input name="name" autocomplete="username" required ref={name} />
        </label>
        <label>
          {text.logIn.password}
          <input name="password" type="password" autocomplete="current-password" required ref={password} />
        </label>
        {fault !== '' && <p role="alert">{fault}</p>}
        <button type="submit" class="primary" disabled={isTrying}>
          {text.logIn.title}
        </button>
      </form>
    </main>
  );
}

/** Why a person has to log in, or could not. */
function reasonOf(problem: Problem | undefined, otherwise: string): string {
  return problem?.code === 'forbidden' ? problem.detail : otherwise;
}
