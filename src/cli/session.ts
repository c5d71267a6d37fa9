/**
 * The options that choose sessions, for `list`, `watch` and `close`, and the command `close`, which closes sessions or
 * the connections to a server.
 */
import { closeEach, subjectOfSearch, type Client, type SessionSearch } from '../client/index.ts';
import { valueOrEnd } from './answer.ts';
import { changing } from './change.ts';
import { wrongUse, type Call, type Command, type CommandError } from './command.ts';
import { methodOf, type Method } from './connection.ts';
import { secondsIn } from './input.ts';
import { mostNamed, subjectOf } from './kind.ts';
import { counted } from './output.ts';
import { planIn, type AskedAct } from './plan.ts';

/** A criterion on the command line. */
interface Criterion {
  readonly option: string;
  readonly value: 'NAME' | 'TEXT' | 'NUMBER' | 'TIME';
  readonly does: string;
  /** What the sessions have in common, in words. */
  says(this: void, value: string): string;
}

const criteria: { readonly [N in keyof SessionSearch]-?: Criterion } = {
  service: {
    option: 'service',
    value: 'NAME',
    does: 'only sessions on this service',
    says: (name) => `of service ${name}`,
  },
  server: {
    option: 'server',
    value: 'NAME',
    does: 'only sessions with a connection to this server',
    says: (name) => `on server ${name}`,
  },
  user: {
    // The option --user is that of the log-in.
    option: 'client',
    value: 'TEXT',
    does: 'only sessions of this database user',
    says: (name) => `of client ${name}`,
  },
  address: {
    option: 'address',
    value: 'TEXT',
    does: 'only sessions from this address',
    says: (address) => `from ${address}`,
  },
  idle_over: {
    option: 'idle-over',
    value: 'NUMBER',
    does: 'only sessions that are idle for longer, as the column IDLE counts',
    says: (limit) => `idle over ${limit}`,
  },
  older_than: {
    option: 'older-than',
    value: 'TIME',
    does: 'only sessions that connected longer ago: seconds, or a time with s, m, h and d, such as 10m or 1h30m',
    says: (time) => `older than ${/\d$/.test(time) ? `${time} s` : time}`,
  },
};

/** The options that choose sessions. */
export const criteriaOptions: Command['options'] = Object.fromEntries(
  Object.values(criteria).map(({ option, value, does }) => [
    option,
    { value, does, ...(value === 'NAME' && { names: option }) },
  ]),
);

/** What a call chooses. */
interface Chosen {
  /** The options that were given. */
  readonly options: readonly string[];
  readonly search: SessionSearch;
  /** What the sessions have in common, in words. */
  readonly says: readonly string[];
}

/** The sessions that the options of a call choose. */
export function chosenBy({ valueOf: given }: Pick<Call, 'valueOf'>): Chosen {
  const found = Object.entries(criteria).flatMap(([parameter, criterion]) => {
    const value = given(criterion.option);
    if (value !== undefined) assertValue(criterion, value);
    return value === undefined ? [] : [{ parameter, criterion, value }];
  });
  return {
    options: found.map(({ criterion }) => criterion.option),
    search: Object.fromEntries(
      found.map(({ parameter, criterion, value }) => [
        parameter,
        criterion.value === 'TIME' ? String(secondsIn(value) ?? value) : value,
      ]),
    ),
    says: found.map(({ criterion, value }) => criterion.says(value)),
  };
}

function assertValue({ option, value: form }: Criterion, value: string): void {
  if (form === 'NAME' && /^\.{0,2}$/.test(value))
    throw wrongUse(`--${option} got "${value}", and no URL can name such a resource.`);
  const isNumber = /^\d{1,15}(?:\.\d{1,15})?$/.test(value);
  if (form === 'NUMBER' && !isNumber)
    throw wrongUse(`--${option} must be a number of at least 0, such as --${option} 600.`);
  if (form === 'TIME' && !isNumber && secondsIn(value) === undefined)
    throw wrongUse(`--${option} must be a number of at least 0, or a time such as --${option} 1h30m.`);
}

/** Ends the command if there is no service or server with the name that chooses sessions. */
export async function assertNamed(client: Client, { service, server }: SessionSearch): Promise<void> {
  const name = { fields: ['name'] } as const;
  if (service !== undefined) valueOrEnd(await client.services.get(service, name));
  if (server !== undefined) valueOrEnd(await client.servers.get(server, name));
}

const closings = {
  session: closingOfIds,
  sessions: closingOfSessions,
  connections: closingOfConnections,
};

/** The command `close`. */
export const close = changing({
  does: 'Closes sessions, or the connections to a server. Asks first.',
  arguments: [
    { name: 'what', choices: Object.keys(closings) },
    {
      name: 'name',
      names: { session: 'session', sessions: 'service', connections: 'server' },
      optional: true,
      multiple: true,
    },
  ],
  options: { ...criteriaOptions, all: { does: 'all sessions of the gateway; stands alone' } },
  notes: [
    'close session takes ids, close sessions the name of a service, close connections that of a server.',
    'With options that choose, close sessions closes the sessions that meet all of them.',
  ],
  examples: [
    'close session 28 29',
    'close sessions sales',
    'close sessions --client bi --idle-over 600',
    'close connections db-1',
  ],
  change: (call) => closings[call.words[0] as keyof typeof closings](call),
});

function wrong(message: string): CommandError {
  return wrongUse(message, 'help close');
}

/** Ends the command if its options choose sessions. */
function assertNoChoice(call: Call): void {
  const options = [...chosenBy(call).options, ...(call.has('all') ? ['all'] : [])];
  const [what = ''] = call.words;
  if (options.length > 0) throw wrong(`close ${what} takes no option --${options.join(', --')}.`);
}

function closingOfConnections(call: Call): AskedAct {
  assertNoChoice(call);
  const [, name, another] = call.words;
  if (name === undefined || another !== undefined)
    throw wrong('close connections needs the name of one server.');
  return {
    title: `close the connections to ${name}`,
    subject: subjectOf('server', name),
    act: 'servers.closeConnections',
    given: [name],
    left: async (client) => valueOrEnd(await client.servers.connections(name, { range: [0, 0] })).total,
  };
}

function closingOfSessions(call: Call): AskedAct {
  const { options, search, says } = chosenBy(call);
  const [, name, another] = call.words;
  if (another !== undefined)
    throw wrong('close sessions takes the name of one service. The ids of sessions: close session ID …');
  const isAll = call.has('all');
  if (isAll && (name !== undefined || options.length > 0)) throw wrong('--all stands alone.');
  if (!isAll && name === undefined && options.length === 0)
    throw wrong(
      'close sessions needs the name of a service, options that choose, such as --client, or --all.',
    );
  if (name !== undefined && search.service !== undefined)
    throw wrong('close sessions takes the name of a service or --service, not both.');
  if (name !== undefined && options.length === 0) return closingOfService(name);
  const wanted = name === undefined ? search : { service: name, ...search };
  const words = name === undefined ? says : [`of service ${name}`, ...says];
  const subject = subjectOfSearch(wanted);
  return {
    title: isAll ? 'close all sessions' : `close the sessions ${words.join(', ')}`,
    ...(subject !== undefined && { subject: { name: subject, look: 'list sessions' } }),
    act: 'sessions.closeMany',
    options: isAll ? { all: true } : wanted,
    left: async (client) => valueOrEnd(await client.sessions.list({ ...wanted, range: [0, 0] })).total,
  };
}

function closingOfService(service: string): AskedAct {
  return {
    title: `close the sessions of ${service}`,
    subject: subjectOf('service', service),
    act: 'services.closeSessions',
    given: [service],
    left: async (client) =>
      valueOrEnd(await client.services.get(service, { fields: ['current_connections'] })).current_connections,
  };
}

/** A session that a user has named. */
interface Named {
  readonly id: string;
  /** Whose session this is, in words; left out if the interface does not show the session. */
  readonly whose?: string;
  /** The entity tag, which no later session with the id has. */
  readonly etag?: string | undefined;
}

function closingOfIds(call: Call): (client: Client) => Promise<AskedAct> {
  assertNoChoice(call);
  const ids = [...new Set(call.words.slice(1))];
  if (ids.length === 0) throw wrong('close session needs an id.');
  return (client) => changeOfIds(client, ids);
}

async function changeOfIds(client: Client, ids: readonly string[]): Promise<AskedAct> {
  const named: Named[] = [];
  for (const id of ids) named.push(await namedBy(client, id));
  const method = closeEach(client, named) as unknown as Method;
  return {
    title: titleOf(named),
    subject: subjectOf('session', ...ids),
    act: 'sessions.close',
    method,
    async anew() {
      const change = await changeOfIds(client, ids);
      return { change, plan: planIn(valueOrEnd(await (change.method ?? method).plan())) };
    },
  };
}

async function namedBy(client: Client, id: string): Promise<Named> {
  const fields = ['user', 'address', 'service'];
  const answer = await methodOf(client, 'sessions.get')(id, { fields });
  if (!answer.ok) return { id };
  const { user, address, service } = answer.value as Readonly<Record<string, string>>;
  const name = decodeURIComponent(String(service).replace(/^.*\//, ''));
  return { id, etag: answer.etag, whose: `of ${String(user)} from ${String(address)} (service ${name})` };
}

function titleOf(named: readonly Named[]): string {
  if (named.length > mostNamed) return `close ${counted(named.length, 'session')}`;
  const list = named.map(({ id, whose }) => (whose === undefined ? id : `${id} ${whose}`));
  return `close ${named.length === 1 ? 'session' : 'sessions'} ${list.join(', ')}`;
}
