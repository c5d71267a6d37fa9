/**
 * `status`: where one is, what there is, and what is wrong, on one screen.
 */
import type { Client } from '../client/index.ts';
import type { AlertRepresentation } from '../resources/alert.ts';
import { valueOf } from './answer.ts';
import { CommandError, connectionOptions, exitCodes, type Command } from './command.ts';
import { connect } from './connection.ts';
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
    const [state, counts] = [valueOf(await client.interface.get()), await countsOf(client)];
    const { elements: alerts } = valueOf(await client.alerts.list());
    const { links: _links, ...shown } = state;
    if (output.isJson) output.json({ interface: shown, counts, alerts });
    else {
      const { user, role, read_only: isHeld } = state;
      output.lines(
        ...columns([
          ['gateway', (await placeOf(call, client)).text],
          ...(user === undefined ? [] : [['user', userText(user, role)]]),
          ...Object.entries(counts).map(([kind, { all, up }]) => [kind, countText(all, up)]),
          ...(isHeld ? [['mode', 'read-only']] : []),
        ]),
        '',
      );
      if (alerts.length === 0) output.lines('Nothing is wrong.');
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
}

/** The numbers of each kind. Of the sessions, only the number is read. */
async function countsOf(client: Client): Promise<Readonly<Record<string, Count>>> {
  const { elements: services } = valueOf(await client.services.list({ fields: ['state'] }));
  const { elements: servers } = valueOf(await client.servers.list({ fields: ['status'] }));
  const { elements: monitors } = valueOf(await client.monitors.list({ fields: ['state'] }));
  const { total } = valueOf(await client.sessions.list({ range: [0, 0] }));
  const started = (things: readonly { readonly state: string }[]): Count => ({
    all: things.length,
    up: things.filter(({ state }) => state === 'started').length,
  });
  return {
    services: started(services),
    servers: {
      all: servers.length,
      up: servers.filter(({ status: words }) => words.includes('running')).length,
    },
    monitors: started(monitors),
    sessions: { all: total },
  };
}

function userText(user: string, role: string | undefined): string {
  return safeText(role === undefined ? user : `${user} (${role})`);
}

function countText(all: number, up: number | undefined): string {
  const shown = all.toLocaleString('en');
  return up === undefined || up === all ? shown : `${shown}, of which ${up.toLocaleString('en')} run`;
}

function cellsOf({ level, since, resource, detail }: AlertRepresentation): Cells {
  return [level, since === undefined ? '-' : timeText(since), safeText(resource), safeText(detail)];
}
