/**
 * `status`: where one is, what there is, and what is wrong, on one screen.
 */
import type { Client } from '../client/index.ts';
import type { AlertRepresentation } from '../resources/alert.ts';
import type { DrainRepresentation } from '../index.ts';
import { valueOf } from './answer.ts';
import { CommandError, connectionOptions, exitCodes, type Command } from './command.ts';
import { connect } from './connection.ts';
import { isUnreported } from './draining.ts';
import { columns, counted, safeText, timeText, type Cells } from './output.ts';
import { placeOf } from './place.ts';

/** The command `status`. */
export const status: Command = {
  does: 'Shows what is wrong, since when and why, with the numbers of services, servers and sessions.',
  options: connectionOptions,
  notes: [`If an alert is an error, the command ends with exit code ${String(exitCodes.wrong)}.`],
  async run(call) {
    const { output } = call;
    const client = await connect(call);
    const state = valueOf(await client.interface.get());
    const { counts, drains } = await foundIn(client);
    const { elements: alerts } = valueOf(await client.alerts.list());
    const { links: _links, ...shown } = state;
    if (output.isJson) output.json({ interface: shown, counts, drains, alerts });
    else {
      const { user, role, read_only: isHeld } = state;
      output.lines(
        ...columns([
          ['gateway', (await placeOf(call, client)).text],
          ...(user === undefined ? [] : [['user', userText(user, role)]]),
          ...Object.entries(counts).map(([kind, count]) => [kind, countText(count)]),
          ...drainLines(drains).map((line, at) => [at === 0 ? 'drains' : '', line]),
          ...(isHeld ? [['mode', 'read-only']] : []),
        ]),
        '',
      );
      if (alerts.length === 0) output.lines(`Nothing is wrong${closingText(drains)}.`);
      else output.table(['level', 'since', 'resource', 'detail'], alerts.map(cellsOf));
    }
    const errors = alerts.filter(({ level }) => level === 'error').length;
    if (errors > 0) throw new CommandError(`${counted(errors, 'error')}.`, exitCodes.wrong);
  },
};

/** How many there are of a kind, and how many of them serve. */
interface Count {
  readonly all: number;
  readonly up?: number;
  readonly maintenance?: number;
  readonly draining?: number;
}

/** The drain of a service or server. */
interface Drain extends Omit<DrainRepresentation, 'from'> {
  readonly kind: 'service' | 'server';
  readonly name: string;
}

interface Found {
  readonly counts: Readonly<Record<string, Count>>;
  readonly drains: readonly Drain[];
}

/** The numbers of each kind, and what drains. Of the sessions, only the number is read. */
async function foundIn(client: Client): Promise<Found> {
  const { elements: services } = valueOf(await client.services.list({ fields: ['name', 'state', 'drain'] }));
  const { elements: servers } = valueOf(await client.servers.list({ fields: ['name', 'status', 'drain'] }));
  const { elements: monitors } = valueOf(await client.monitors.list({ fields: ['state'] }));
  const { total } = valueOf(await client.sessions.list({ range: [0, 0] }));
  const started = (things: readonly { readonly state: string }[]): Count => ({
    all: things.length,
    up: things.filter(({ state }) => state === 'started').length,
  });
  const [draining, drainingServers] = [drainsIn('service', services), drainsIn('server', servers)];
  const inMaintenance = servers.filter(({ status: words }) => words.includes('maintenance'));
  return {
    counts: {
      services: { ...started(services), draining: draining.length },
      servers: {
        all: servers.length,
        up: servers.filter(takesSessions).length,
        maintenance: inMaintenance.length,
        draining: drainingServers.length,
      },
      monitors: started(monitors),
      sessions: { all: total },
    },
    drains: [...draining, ...drainingServers],
  };
}

function takesSessions({
  status: words,
  drain,
}: {
  readonly status: readonly string[];
  readonly drain?: object;
}): boolean {
  return words.includes('running') && !words.includes('maintenance') && drain === undefined;
}

function drainsIn(
  kind: Drain['kind'],
  things: readonly { readonly name: string; readonly drain?: Omit<DrainRepresentation, 'from'> }[],
): readonly Drain[] {
  return things.flatMap(({ name, drain }) => (drain === undefined ? [] : [{ kind, name, ...drain }]));
}

function userText(user: string, role: string | undefined): string {
  return safeText(role === undefined ? user : `${user} (${role})`);
}

function countText({ all, up = all, maintenance = 0, draining = 0 }: Count): string {
  const words = [
    [up, 'run'],
    [maintenance, 'in maintenance'],
    [draining, 'draining'],
  ] as const;
  const shown = words.filter(([count], at) => at === 0 || count > 0);
  const parts = shown.map(([count, word]) => `${count.toLocaleString('en')} ${word}`);
  return [all.toLocaleString('en'), ...(up === all ? [] : [`of which ${parts.join(', ')}`])].join(', ');
}

/** The most drains that are shown. */
const mostDrains = 10;

function drainLines(drains: readonly Drain[]): readonly string[] {
  const more = drains.length - mostDrains;
  return [
    ...drains.slice(0, mostDrains).map((drain) => safeText(drainText(drain))),
    ...(more > 0 ? [`${more.toLocaleString('en')} more`] : []),
  ];
}

function drainText(drain: Drain): string {
  const { name, state, until, then } = drain;
  const left = isUnreported(drain) ? 'not reported yet' : `${leftOf(drain)} left`;
  const end = until === undefined ? '' : `, ${then === 'close' ? 'closes' : 'ends'} at ${timeText(until)}`;
  return `${name}: ${state === 'drained' ? 'drained' : left}${end}`;
}

/** What is left of a service or server. */
function leftOf({ kind, sessions, connections }: Drain): string {
  return kind === 'service' ? counted(sessions, 'session') : counted(connections, 'connection');
}

/** What deadlines will close; empty if nothing. */
function closingText(drains: readonly Drain[]): string {
  const closing = drains.filter(({ state, then }) => state === 'draining' && then === 'close').map(leftOf);
  return closing.length === 0 ? '' : ` now. Deadlines will close ${closing.join(' and ')}`;
}

function cellsOf({ level, since, resource, detail }: AlertRepresentation): Cells {
  return [level, since === undefined ? '-' : timeText(since), safeText(resource), safeText(detail)];
}
