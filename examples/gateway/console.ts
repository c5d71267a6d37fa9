/** What the gateway says: one line for each step, each address and each event; coloured if a terminal shows colours. */
import { styleText } from 'node:util';

import type { Admin, AdminEvent, Service, Snapshot } from 'gateway-admin-core';

import { placeAt, placeOf, placeText } from './place.ts';

type Colour = 'green' | 'red' | 'yellow' | 'dim' | 'bold';

/** Colours a text for the standard output. `hasColors` honours NO_COLOR. */
export function paint(colour: Colour, text: string): string {
  return process.stdout.isTTY && process.stdout.hasColors() ? styleText(colour, text) : text;
}

/** Seconds with one digit, such as `2.4 s`. */
export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Does some work, and says how long it takes. */
export async function step<T>(what: string, isQuiet: boolean, work: () => Promise<T>): Promise<T> {
  if (isQuiet) return work();
  const begin = performance.now();
  process.stdout.write(`${what} ... `);
  let end = 'not done';
  try {
    const result = await work();
    end = seconds(performance.now() - begin);
    return result;
  } finally {
    process.stdout.write(`${end}\n`);
  }
}

/** Prints the addresses, and the services that have none. Then who may administer the gateway, and commands to try. */
export function greet({ services, users }: Snapshot, admin: string, isQuiet: boolean): void {
  const [user] = users;
  const lines = [...services].flatMap((service) => placesOf(service));
  lines.push(`admin ${paint('bold', admin)}`, `console ${paint('bold', `${admin}/console`)}`);
  if (!isQuiet) {
    if (user === undefined) lines.push(...openWarning(admin));
    lines.push('', 'To try in other terminals:');
    lines.push(...hints([...services], admin, user?.name).map((hint) => `  ${hint}`));
    // The time since the process has begun.
    lines.push('', `Ready after ${seconds(performance.now())}. Ctrl-C ends the gateway. Events:`);
  }
  console.log(lines.join('\n'));
}

/** The addresses of a service at a gateway of the machine, a line for each; or why the service has none. */
export function placesOf({ name, state, seen, listeners }: Service, gateway = 0): readonly string[] {
  const word = name.replace(/\s/g, '-');
  if (seen.state === 'failed')
    return [paint('red', `failed ${word}: ${seen.state_reason ?? 'for an unknown reason'}`)];
  if (state === 'stopped') return [paint('yellow', `stopped ${word}`)];
  return listeners.map((listener) => `listener ${word} ${placeText(placeAt(listener, gateway))}`);
}

/** What to do while there is no admin user. */
export function openWarning(admin: string): readonly string[] {
  const body = `'{"name":"ada","password":"choose one"}'`;
  return [
    '',
    paint('yellow', `There is no admin user: anybody who reaches ${admin} may administer this gateway.`),
    'Create the first user, and from then on a log-in is required:',
    `  curl -X PUT ${admin}/users -H 'content-type: application/json' -d ${body}`,
  ];
}

const login = '-U postgres -d postgres';

function hints(services: readonly Service[], admin: string, user: string | undefined): readonly string[] {
  // curl and gateway-admin ask for the password.
  const [curl, as] = user === undefined ? ['curl', ''] : [`curl -u ${user}`, ` --user ${user}`];
  return [
    ...services.flatMap(({ key, state, listeners }) => {
      const command = `${curl} -X PUT ${admin}/service/${encodeURIComponent(key)}`;
      if (state !== 'started') return [`${command}/start`];
      // psql chooses the name of a socket itself.
      const clients = listeners
        .map(placeOf)
        .flatMap((place) =>
          'path' in place ? [] : `psql -h ${place.host} -p ${String(place.port)} ${login}`,
        );
      return [...clients, `${command}/stop`];
    }),
    `${curl} ${admin}/sessions`,
    `${curl} -X DELETE ${admin}/sessions/1`,
    `npx gateway-admin list services --url ${admin}${as}`,
  ];
}

/**
 * Prints a line for each event, until the interface closes; for sessions at most one line a second. In a fleet, each
 * line begins with the name of the node, and listeners are where the gateway with its number opens them.
 */
export async function showEvents(
  admin: Admin,
  { node, number = 0 }: { readonly node?: string; readonly number?: number } = {},
): Promise<void> {
  const prefix = node === undefined ? '' : `${node} `;
  let before = countsIn(admin.snapshot);
  let timer: NodeJS.Timeout | undefined;
  const tally = (): void => {
    const now = countsIn(admin.snapshot);
    // A deleted service takes its total along, and a later one of the same name begins at 0.
    const opened = [...now.totals].reduce(
      (sum, [key, total]) => sum + total - (before.totals.get(key) ?? 0),
      0,
    );
    const counts = [
      `${String(opened)} opened`,
      `${String(before.size + opened - now.size)} closed`,
      `${String(now.size)} open`,
    ];
    console.log(`${prefix}${timeOf(Date.now())} sessions ${counts.join(', ')}`);
    [before, timer] = [now, undefined];
  };
  for await (const item of admin.events()) {
    if (item.gap === true || item.event.type.startsWith('connection.')) continue;
    if (item.event.type === 'service.deleted') before.totals.delete(item.event.service);
    if (item.event.type.startsWith('session.')) timer ??= setTimeout(tally, 1000).unref();
    else console.log(prefix + lineOf(item.event, number));
  }
}

/** How many sessions are open, and how many each service has ever had. */
function countsIn({ services, sessions }: Snapshot): { size: number; totals: Map<string, number> } {
  const totals = [...services].map(({ key }) => [key, sessions.totalOfService(key)] as const);
  return { size: sessions.size, totals: new Map(totals) };
}

function timeOf(at: number): string {
  return paint('dim', new Date(at).toTimeString().slice(0, 8));
}

function lineOf(event: AdminEvent, gateway: number): string {
  const { at, type, resource, actor, fleet } = event;
  const by = actor === undefined ? '' : ` by ${actor}`;
  const asked = fleet === undefined ? '' : ` at ${fleet.node}`;
  const details =
    event.type === 'listener.created' ? placeText(placeAt(event.to, gateway)) : detailsOf(event);
  const more = details === '' ? '' : `: ${details}`;
  return `${timeOf(at)} ${paint(colourOf(event), type)} ${resource}${by}${asked}${more}`;
}

/** What the line of an event says besides its type; empty for most events. */
function detailsOf(event: AdminEvent): string {
  switch (event.type) {
    case 'server.reported':
      return [event.status.join(', ') || 'down', event.reason]
        .filter((text) => text !== undefined)
        .join(': ');
    case 'service.reported':
    case 'monitor.reported':
      return [event.state, event.reason].filter((text) => text !== undefined).join(': ');
    case 'command.failed':
      return event.reason;
    default:
      return '';
  }
}

function colourOf(event: AdminEvent): Colour {
  if (event.type === 'command.failed' || /^(?:failed|down)\b/.test(detailsOf(event))) return 'red';
  if (/\.(?:started|opened|created)$/.test(event.type)) return 'green';
  return /\.(?:stopped|closed|deleted)$/.test(event.type) ? 'yellow' : 'bold';
}
