/**
 * The types of the client: what is right compiles, and what is wrong does not. Nothing here runs. `npm run test:types`
 * compiles this file under each version of TypeScript that the package supports.
 */
import { createClient, type Client } from 'gateway-admin-core/client';
import { connect } from 'gateway-admin-core/message-port';

/** Takes a value of a type. */
declare function take<T>(value: T): void;

/** What compiles. */
export async function right(client: Client): Promise<void> {
  const whole = await client.services.get('Sales');
  if (whole.ok) take<'started' | 'stopped' | 'failed'>(whole.value.state);
  else take<string>(whole.problem.code);
  const part = await client.services.get('Sales', { fields: ['name', 'state'] });
  if (part.ok) take<string>(part.value.name);
  const acts = await client.services.get('Sales', { may: true });
  if (acts.ok) take<string[]>(acts.value.may.map((act) => (act.allowed ? act.id : act.detail)));
  if (acts.ok) take<'started' | 'stopped' | 'failed'>(acts.value.state);
  const self = await client.interface.get({ may: true });
  if (self.ok) take<boolean | undefined>(self.value.may[0]?.allowed);
  const sessions = await client.sessions.list({ range: [0, 99], user: 'ada', fields: ['id'] });
  if (sessions.ok) take<number | undefined>(sessions.value.elements[0]?.id);
  const links = await client.services.sessions('Sales');
  if (links.ok) take<readonly string[]>(links.value.elements);
  await client.services.patch('Sales', [{ op: 'replace', path: '/user', value: 'app' }], { ifMatch: '"1"' });
  const plan = await client.services.stop.plan('Sales');
  if (plan.ok) take<'accepted' | 'unchanged' | 'refused'>(plan.value.outcome);
  await client.sessions.close(7);
  await client.commands.abandon('c1');
  await client.fleet.forget('paris');
  await client.users.create({ name: 'ada', password: 'engine' });
  await client.gateway.flushLogs();
  const server = { name: 'db-3', address: '10.0.0.3', port: 5432, protocol: 'pg' } as const;
  const created = await client.servers.create({ ...server, parameters: { password: 'engine' } });
  if (created.ok) take<readonly string[]>(created.value.status);
  await client.services.create(
    { name: 'Sales', router: 'cli', password: 'engine', servers: [] },
    { mark: 'm' },
  );
  await client.servers.delete('db-3', { detach: true, ifMatch: '"1"' });
  const gone = await client.servers.delete('db-3', { detach: true, prefer: 'representation' });
  if (gone.ok) take<number>(gone.value.closed.sessions);
  await client.servers.delete.plan('db-3', { detach: true });
  const changes = await client.history.list({ resource: '/services/Sales', field: 'user', range: [0, 0] });
  if (changes.ok) take<string | undefined>(changes.value.elements[0]?.actor);
  await client.history.undo('c1', { ifMatch: '"1"' });
  await client.history.restore.plan('c1');
  const stop = { method: 'PUT', path: '/services/Sales/stop' } as const;
  await client.sequence.send({ commands: [stop, { ...stop, if_match: '"1"' }] }, { mark: 'm' });
  for await (const item of client.events({ types: ['service', 'session.closed'] }))
    if ('event' in item) take<string>(item.event.type);
}

/** The ports of browsers. */
export function ports(worker: Worker, port: MessagePort): readonly Client[] {
  return [createClient(connect(worker)), createClient(connect(port))];
}

/** What does not. */
export async function wrong(client: Client): Promise<void> {
  // @ts-expect-error: no name is given
  await client.services.get();
  // @ts-expect-error: a number for a name
  await client.services.get(7);
  // @ts-expect-error: a text for a session id
  await client.sessions.get('7');
  // @ts-expect-error: no such field
  await client.services.get('Sales', { fields: ['nmae'] });
  // @ts-expect-error: some fields, and what the caller may do
  await client.services.get('Sales', { fields: ['name'], may: true });
  // @ts-expect-error: of a list, nothing says what the caller may do
  await client.services.list({ may: true });
  // @ts-expect-error: a range of one thing
  await client.services.get('Sales', { range: [0, 1] });
  // @ts-expect-error: this list has no range
  await client.gateway.tasks({ range: [0, 1] });
  // @ts-expect-error: this list finds nothing by user
  await client.services.list({ user: 'ada' });
  // @ts-expect-error: the history has no such search
  await client.history.list({ user: 'ada' });
  // @ts-expect-error: a number for the id of an entry
  await client.history.undo(7);
  // @ts-expect-error: a body where none is
  await client.services.stop('Sales', [{ op: 'remove', path: '/user' }]);
  // @ts-expect-error: no operations
  await client.services.patch('Sales');
  // @ts-expect-error: no such operation
  await client.services.patch('Sales', [{ op: 'change', path: '/user' }]);
  // @ts-expect-error: a plan of reading
  await client.services.get.plan('Sales');
  // @ts-expect-error: no address
  await client.servers.create({ name: 'db-3', protocol: 'pg' });
  // @ts-expect-error: sealed text from a client
  await client.services.create({ name: 'Sales', router: 'cli', password: { sealed: 'v1' } });
  // @ts-expect-error: this deletion detaches nothing
  await client.users.delete('ada', { detach: true });
  // @ts-expect-error: no password
  await client.users.create({ name: 'ada' });
  // @ts-expect-error: a reading in a sequence
  await client.sequence.send({ commands: [{ method: 'GET', path: '/services' }] });
  // @ts-expect-error: no event has this type
  client.events({ types: ['servcie'] });
  // @ts-expect-error: no such endpoint
  await client.users.stop('ada');
  const answer = await client.services.get('Sales', { fields: ['state'] });
  // @ts-expect-error: no problem in a success
  if (answer.ok) take(answer.problem);
  // @ts-expect-error: this field was not asked for
  if (answer.ok) take(answer.value.router);
  // @ts-expect-error: an address is no way to send
  createClient('http://127.0.0.1');
}
