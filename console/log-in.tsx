/**
 * The log-in: a form of the page, or the way to the log-in page of the host.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from 'gateway-admin-core';

import { usePage } from './page.ts';
import { text } from './text.ts';

export function LogInForm({ problem }: { readonly problem: Problem }) {
  const page = usePage();
  const [isTrying, setTrying] = useState(false);
  const [fault, setFault] = useState('');
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  if (page.logInAddress !== '')
    return (
      <main class="log-in">
        <p>{problem.code === 'unauthenticated' ? text.logIn.elsewhere : problem.detail}</p>
        <a href={page.logInAddress}>{text.logIn.link}</a>
      </main>
    );
  async function send(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    setTrying(true);
    setFault('');
    try {
      await page.logIn({ name: textOf(given, 'name'), password: textOf(given, 'password') });
      const { access } = page.model.get();
      if (access.state === 'closed') setFault(access.problem.detail);
    } catch (error) {
      setFault((error as Error).message);
    }
    setTrying(false);
  }
  return (
    <main class="log-in">
      <form onSubmit={(event) => void send(event)}>
        <h1>{text.logIn.title}</h1>
        {problem.code !== 'unauthenticated' && fault === '' && <p role="alert">{problem.detail}</p>}
        <label>
          {text.logIn.name}
          <input name="name" autocomplete="username" required ref={first} />
        </label>
        <label>
          {text.logIn.password}
          <input name="password" type="password" autocomplete="current-password" required />
        </label>
        {fault !== '' && <p role="alert">{fault}</p>}
        <button type="submit" class="primary" disabled={isTrying}>
          {isTrying ? text.logIn.wait : text.logIn.button}
        </button>
      </form>
    </main>
  );
}

function textOf(given: FormData, name: string): string {
  const value = given.get(name);
  return typeof value === 'string' ? value : '';
}
