/**
 * The beginning: finds the interface, and draws the page.
 */
import { render } from 'preact';

import { App } from './app.tsx';
import { addressOf, connect } from './connection.ts';
import { loadsLateBy } from './later.ts';
import { openPage } from './page.ts';

const settingOf = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

loadsLateBy(() => import('./late.tsx'));

const logInPath = settingOf('log-in-path');
const address = addressOf(location.href, settingOf('admin-path'));
openPage({
  address,
  connect: (logIn) => connect(address, logIn),
  logInAddress: logInPath === '' ? '' : addressOf(location.href, logInPath),
});

render(<App />, document.body);
