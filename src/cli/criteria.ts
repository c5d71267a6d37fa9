/**
 * Criteria: the options that choose sessions, for `list`, `watch` and `close`.
 */
import type { Client, SessionSearch } from '../client/index.ts';
import { valueOf } from './answer.ts';
import { wrongUse, type Call, type Command } from './command.ts';
import { secondsIn } from './span.ts';

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
  Object.values(criteria).map(({ option, value, does }) => [option, { value, does }]),
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
  if (service !== undefined) valueOf(await client.services.get(service, name));
  if (server !== undefined) valueOf(await client.servers.get(server, name));
}
