/**
 * The command `open`: the address of a resource in the console, and the browser where there is one.
 */
import { spawn } from 'node:child_process';

import type { EndpointId } from '../client/index.ts';
import { valueOrEnd } from './answer.ts';
import { connectionOptions, refused, wrongUse, type Call, type Command } from './command.ts';
import { connect, consoleOf, methodOf } from './connection.ts';
import { kinds, resourceWith } from './kind.ts';
import { safeText } from './output.ts';

/** The views of the console. */
const views = ['gateway', 'sessions', 'history'];

/** The kinds of which the console opens a resource. */
const [kindWithDrawer, nameWithDrawer] = resourceWith('get');

/** The command `open`. */
export const open: Command = {
  does: 'Prints the address of a resource or a view in the console, and opens the page on a terminal with a display.',
  arguments: [
    { name: 'what', choices: [...kindWithDrawer.choices, ...views], optional: true },
    { ...nameWithDrawer, optional: true },
  ],
  options: connectionOptions,
  notes: ['The console is looked for at the address, at console below it, and at console beside it.'],
  examples: ['open service reports', 'open sessions', 'open'],
  async run(call) {
    const [what = 'gateway', name] = call.words;
    if ((name === undefined) !== views.includes(what))
      throw wrongUse(name === undefined ? `open ${what} needs a name.` : `open ${what} takes no name.`);
    const place = name === undefined ? what : await placeIn(call, what, name);
    const page = await consoleOf(call);
    if (page === undefined)
      throw refused(
        'No console is at this address, or beside it. Give the address of the console with --url.',
      );
    const url = new URL(place === 'gateway' ? '' : `#${place}`, page).href;
    if (call.output.isJson) call.output.json({ url });
    else call.output.lines(safeText(url));
    if (!call.output.isJson) openBrowser(call, url);
  },
};

/** The place of a resource in the address of the page. A name that does not exist ends the command. */
async function placeIn(call: Call, kind: string, name: string): Promise<string> {
  const { item, id = 'name' } = { id: undefined, ...kinds[kind as 'service'] };
  const client = await connect(call);
  const shown = valueOrEnd(await methodOf(client, item as EndpointId)(name, { fields: [id] }));
  const { linkTo } = await import('../index.ts');
  const { [id]: own } = shown as Readonly<Record<string, string | number>>;
  const link = linkTo(`${kind}s`, own ?? name);
  return `${kind === 'session' ? 'sessions' : ''}?${String(new URLSearchParams({ open: link }))}`.replaceAll(
    '%2F',
    '/',
  );
}

/** The program that opens a page, by the platform. */
const openers: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: 'open', win32: 'explorer' };

/** Opens a page in the browser, if a person sits at a terminal with a display. */
function openBrowser({ surroundings: { stdout, env } }: Call, url: string): void {
  const own = openers[process.platform];
  const hasDisplay = own !== undefined || [env['DISPLAY'], env['WAYLAND_DISPLAY']].some(Boolean);
  if (!stdout.isTTY || !hasDisplay) return;
  // The address is printed. So a machine without such a program needs no error.
  spawn(own ?? 'xdg-open', [url], { detached: true, stdio: 'ignore', env: { ...env } })
    .on('error', () => undefined)
    .unref();
}
