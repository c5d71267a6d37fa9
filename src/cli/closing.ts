/**
 * `close`: closes sessions, or the connections to a server.
 */
import { closeEach, subjectOfSearch, type Client } from '../client/index.ts';
import { valueOf } from './answer.ts';
import { changing } from './change.ts';
import { CommandError, wrongUse, type Call } from './command.ts';
import { methodOf, type Method } from './connection.ts';
import { chosenBy, criteriaOptions } from './criteria.ts';
import { mostNamed, subjectOf } from './kind.ts';
import { counted } from './output.ts';
import { acceptedPlan, type Change } from './plan.ts';

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

function closingOfConnections(call: Call): Change {
  assertNoChoice(call);
  const [, name, another] = call.words;
  if (name === undefined || another !== undefined)
    throw wrong('close connections needs the name of one server.');
  return {
    title: `close the connections to ${name}`,
    subject: subjectOf('server', name),
    act: 'servers.closeConnections',
    given: [name],
    left: async (client) => valueOf(await client.servers.connections(name, { range: [0, 0] })).total,
  };
}

function closingOfSessions(call: Call): Change {
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
    given: [],
    options: isAll ? { all: true } : wanted,
    left: async (client) => valueOf(await client.sessions.list({ ...wanted, range: [0, 0] })).total,
  };
}

function closingOfService(service: string): Change {
  return {
    title: `close the sessions of ${service}`,
    subject: subjectOf('service', service),
    act: 'services.closeSessions',
    given: [service],
    left: async (client) =>
      valueOf(await client.services.get(service, { fields: ['current_connections'] })).current_connections,
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

function closingOfIds(call: Call): (client: Client) => Promise<Change> {
  assertNoChoice(call);
  const ids = [...new Set(call.words.slice(1))];
  if (ids.length === 0) throw wrong('close session needs an id.');
  return (client) => changeOfIds(client, ids);
}

async function changeOfIds(client: Client, ids: readonly string[]): Promise<Change> {
  const named: Named[] = [];
  for (const id of ids) named.push(await namedBy(client, id));
  const method = closeEach(client, named) as unknown as Method;
  return {
    title: titleOf(named),
    subject: subjectOf('session', ...ids),
    act: 'sessions.close',
    method,
    given: [],
    async anew() {
      const change = await changeOfIds(client, ids);
      return { change, plan: acceptedPlan(valueOf(await (change.method ?? method).plan())) };
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
