/**
 * What a command leads to, decided anew over plain maps: the second judge of each decision.
 */
import {
  keyOf,
  sameJson,
  started,
  type Configuration,
  type Fields,
  type Operation,
} from './configuration.ts';

/** A command of a client. */
export interface Command {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** Who asks, and when. */
export interface Asking {
  readonly actor: string;
  /** In milliseconds since 1970. */
  readonly now: number;
}

/** The configuration after a command, or the code of the refusal. */
export type Decided =
  { readonly next: Configuration; readonly code?: never } | { readonly code: string; readonly next?: never };

/** Decides a command; `undefined` for a command that the model does not know. */
export function decide(before: Configuration, command: Command, asking: Asking): Decided | undefined {
  const [path = '', query = ''] = command.path.split('?');
  const isHeld = before.get('/')?.['read_only'] === true && command.method !== 'GET';
  // What changes no configuration, and what may end the mode, goes on.
  if (isHeld && !/^\/(?:$|commands\/|history\/.*\/undo$)/.test(path)) return { code: 'read-only' };
  if (command.method === 'POST' && path === '/sequence') return decideAll(before, command.body, asking);
  const [, collection = '', name, action, part] = path.split('/');
  const decider =
    deciders[
      `${command.method} ${[collection, name && ':name', action, part && ':part'].filter(Boolean).join('/')}`
    ];
  if (decider === undefined) return undefined;
  const link = name === undefined ? `/${collection}` : `/${collection}/${decodeURIComponent(name)}`;
  const fields = before.get(link);
  if (name !== undefined && fields === undefined) return { code: `${collection.slice(0, -1)}-not-found` };
  const { body } = command;
  return decider({ before, link, fields: fields ?? {}, part, query, body, asking });
}

/** A command about a resource that is there, or about a collection. */
interface Given {
  readonly before: Configuration;
  readonly link: string;
  readonly fields: Fields;
  readonly part: string | undefined;
  readonly query: string;
  readonly body: unknown;
  readonly asking: Asking;
}

type Decider = (given: Given) => Decided;

const turns = { start, stop };
const named = ['servers', 'services', 'monitors', 'filters', 'users'];

const deciders: Readonly<Record<string, Decider>> = {
  ...Object.fromEntries(
    ['services', 'monitors'].flatMap((kind) =>
      Object.entries(turns).map(([verb, decider]) => [`PUT ${kind}/:name/${verb}`, decider]),
    ),
  ),
  ...Object.fromEntries(named.slice(0, 4).map((kind) => [`POST ${kind}`, create])),
  'PUT users': create,
  ...Object.fromEntries(named.map((kind) => [`DELETE ${kind}/:name`, remove])),
  ...Object.fromEntries(named.slice(0, 4).map((kind) => [`PATCH ${kind}/:name`, patch])),
  ...Object.fromEntries(['services', 'servers'].map((kind) => [`PUT ${kind}/:name/drain`, drain])),
  ...Object.fromEntries(['services', 'servers'].map((kind) => [`PUT ${kind}/:name/resume`, resume])),
  'POST services/:name/listeners': createListener,
  'DELETE services/:name/listeners/:part': removeListener,
  'PUT servers/:name/maintenance': ({ before, link, fields }) => ({
    next: before.with(link, { ...fields, status: ['maintenance'] }),
  }),
  'DELETE servers/:name/maintenance': ({ before, link, fields }) => ({
    next: before.with(link, { ...fields, status: [] }),
  }),
  // The reason goes with the mode.
  'PATCH ': (given) => {
    const next = patch(given).next ?? given.before;
    const isHeld = next.get('/')?.['read_only'] === true;
    return { next: isHeld ? next : next.with('/', { read_only: false }) };
  },
  // Sessions and connections are no configuration.
  'DELETE services/:name/sessions': ({ before }) => ({ next: before }),
  'DELETE servers/:name/connections': ({ before }) => ({ next: before }),
};

/** Several commands as one: all, or none and the refusal of the first that is refused. */
function decideAll(before: Configuration, body: unknown, asking: Asking): Decided | undefined {
  const { commands } = body as { readonly commands: readonly Command[] };
  let next = before;
  for (const command of commands) {
    const decided = decide(next, command, asking);
    if (decided?.next === undefined) return decided;
    ({ next } = decided);
  }
  return { next };
}

function start({ before, link, fields }: Given): Decided {
  return { next: before.with(link, started(fields)) };
}

/** A service that drains is stopped, and stays so when the drain ends. */
function stop({ before, link, fields }: Given): Decided {
  const drain = fields['drain'] as object | undefined;
  const kept = drain === undefined ? {} : { drain: { ...drain, from: 'stopped' } };
  return { next: before.with(link, { ...fields, ...kept, state: 'stopped' }) };
}

function drain({ before, link, fields, body, asking }: Given): Decided {
  const { timeout, then, reason } = (body ?? {}) as { timeout?: number; then?: string; reason?: string };
  const present = fields['drain'] as Fields | undefined;
  const from = present?.['from'] ?? fields['state'];
  const next = {
    since: present?.['since'] ?? instant(asking.now),
    ...(timeout === undefined ? {} : { timeout, until: instant(asking.now + timeout * 1000), then }),
    ...(reason === undefined ? {} : { reason }),
    by: asking.actor,
    ...(link.startsWith('/services') ? { from } : {}),
  };
  // Who has asked for the same again has changed nothing.
  if (present !== undefined && sameJson({ ...present, by: '' }, { ...next, by: '' })) return { next: before };
  const stopped = link.startsWith('/services') ? { state: 'stopped' } : {};
  return { next: before.with(link, { ...fields, ...stopped, drain: next }) };
}

function resume({ before, link, fields }: Given): Decided {
  const { drain: present, ...rest } = fields;
  if (present === undefined) return { next: before };
  const { from } = present as { readonly from?: string };
  return { next: before.with(link, { ...rest, ...(from === 'started' ? { state: 'started' } : {}) }) };
}

function patch({ before, link, body }: Given): Decided {
  const operations = body as readonly Operation[];
  for (const { value } of operations)
    if (Array.isArray(value) && value.some((each) => before.get(String(each)) === undefined))
      return { code: 'link-unresolved' };
  return { next: before.after({ type: 'x.updated', resource: link, operations }) };
}

function create({ before, link: collection, body }: Given): Decided {
  const { password: _secret, ...definition } = body as Fields;
  const link = `${collection}/${String(definition['name'])}`;
  const lists = Object.values(definition).filter(Array.isArray).flat();
  if (lists.some((each) => before.get(String(each)) === undefined)) return { code: 'link-unresolved' };
  const present = before.get(link);
  const next = before.without(link).created(link, definition);
  if (present === undefined) return { next };
  if (collection === '/users') return { code: 'user-exists' };
  const wanted = next.get(link);
  const isEqual = sameJson({ ...present, name: '' }, { ...wanted, name: '' });
  return isEqual ? { next: before } : { code: 'resource-exists' };
}

function remove({ before, link, fields, query }: Given): Decided {
  const isListed = (list: unknown): boolean =>
    Array.isArray(list) && list.some((each) => keyOf(String(each)) === keyOf(link));
  const lists = ['/services', '/monitors']
    .flatMap((collection) => before.list(collection))
    .flatMap(([owner, each]) => ['servers', 'filters'].map((field) => [owner, field, each[field]] as const))
    .filter(([, , list]) => isListed(list));
  const detaches = query.includes('detach=true');
  const isInUse =
    ('state' in fields && fields['state'] !== 'stopped') ||
    before.openOn(link) > 0 ||
    (lists.length > 0 && !detaches);
  if (isInUse) return { code: 'resource-in-use' };
  const detached = lists.reduce((next, [owner, field, list]) => {
    const left = (list as readonly unknown[]).filter((each) => keyOf(String(each)) !== keyOf(link));
    return next.with(owner, { ...next.get(owner), [field]: left });
  }, before);
  return { next: detached.without(link) };
}

function createListener({ before, link: service, body }: Given): Decided {
  const definition = body as Fields;
  const link = `${service}/listeners/${String(definition['name'])}`;
  const present = before.get(link);
  if (present === undefined) return { next: before.with(link, definition) };
  const isEqual = sameJson({ ...present, name: '' }, { ...definition, name: '' });
  return isEqual ? { next: before } : { code: 'resource-exists' };
}

function removeListener({ before, link: service, part = '' }: Given): Decided {
  const link = `${service}/listeners/${decodeURIComponent(part)}`;
  return before.get(link) === undefined ? { code: 'listener-not-found' } : { next: before.without(link) };
}

/** ISO 8601 with a numeric offset. */
function instant(at: number): string {
  return new Date(at).toISOString().replace(/(?:\.000)?Z$/, '+00:00');
}
