/**
 * How a host brings its gateway to what the interface shows, as after every start: it was not there, or was out of reach,
 * while others have changed something.
 */
import { nameKey, toDocument, type Admin, type Clock, type Effect, type Snapshot } from 'gateway-admin-core';
import type { ScriptedGateway } from 'gateway-admin-core/testing';

/** A gateway, and the interface that has begun there. */
interface Begun {
  readonly admin: Admin;
  readonly gateway: ScriptedGateway;
  readonly process: { readonly isDead: boolean };
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Resolves once every resource was brought that no command holds. */
export function bringGateway(begun: Begun): Promise<unknown> {
  const { state } = begun.gateway;
  const links = new Set([
    ...targetsIn(begun.admin.snapshot).map(linkKeyOf),
    ...collections.flatMap((collection) =>
      Object.keys(state[collection]).map((key) => linkKeyOf({ collection, key })),
    ),
  ]);
  return Promise.all(Array.from(links, (link) => bring(begun, link)));
}

/** Brings one resource of the gateway to what the interface shows, once no command holds it. */
async function bring({ admin, gateway, process, clock }: Begun, link: string): Promise<void> {
  while (admin.commands().some(({ resources }) => resources.some((each) => nameKey(each) === link)))
    await clock.sleep(20);
  if (process.isDead) return;
  const wanted = targetAt(admin.snapshot, link);
  const [, collection = '', key = ''] = link.split('/');
  const place = { collection: collection as Target['collection'], key };
  const actual = gateway.state[place.collection][key];
  if (wanted === undefined) {
    if (actual !== undefined) takeOut(gateway, place);
    return;
  }
  if (actual === undefined) put(gateway, creationOf(admin.snapshot, wanted));
  for (const effect of effectsOf(actualIn(gateway, wanted), wanted)) put(gateway, effect);
  if (collection === 'services') listen(gateway, admin.snapshot, key);
}

function listen(gateway: ScriptedGateway, { services }: Snapshot, service: string): void {
  const { listeners = [] } = services.find(service) ?? {};
  const wanted = new Map(listeners.map((each) => [nameKey(each.name), each]));
  const actual = Object.keys(gateway.state.services[service]?.listeners ?? {});
  const effectOf = (verb: string, listener: string, definition = {}): Effect =>
    ({
      type: `listener.${verb}`,
      resource: `/services/${service}/listeners/${listener}`,
      ...{ service, listener, from: definition, to: definition },
    }) as unknown as Effect;
  for (const listener of actual) put(gateway, effectOf('delete', listener));
  for (const [listener, definition] of wanted) put(gateway, effectOf('create', listener, definition));
}

/** What goes takes its sessions and connections with it. */
function takeOut(gateway: ScriptedGateway, { collection, key }: Pick<Target, 'collection' | 'key'>): void {
  for (const [id, { service, connections }] of Object.entries(gateway.state.sessions)) {
    if (collection === 'services' && service === key) gateway.closeSession(Number(id));
    else if (collection === 'servers')
      for (const [connection, { server }] of Object.entries(connections))
        if (server === key) gateway.closeConnection(Number(id), Number(connection));
  }
  const kind = kinds[collection];
  const resource = `/${collection}/${key}`;
  put(gateway, { type: `${kind}.delete`, resource, [kind]: key, from: {} } as unknown as Effect);
}

function actualIn({ state: present }: ScriptedGateway, target: Target): Target {
  const { state, settings } = present[target.collection][target.key] ?? {};
  return { ...target, settings: settings ?? {}, ...(state === undefined ? {} : { state }) };
}

function put(gateway: ScriptedGateway, effect: Effect): void {
  gateway.will('done');
  void gateway.apply(effect, { commandId: 'host', signal: new AbortController().signal });
}

/** What a gateway is to have of a resource. */
interface Target {
  readonly collection: 'services' | 'monitors' | 'servers' | 'filters';
  readonly kind: string;
  readonly key: string;
  readonly link: string;
  readonly state?: string;
  readonly settings: object;
}

const kinds = { services: 'service', monitors: 'monitor', servers: 'server', filters: 'filter' } as const;

const collections = Object.keys(kinds) as (keyof typeof kinds)[];

function linkKeyOf({ collection, key }: Pick<Target, 'collection' | 'key'>): string {
  return `/${collection}/${key}`;
}

/** The effect with which a gateway gets what it does not have. */
function creationOf(snapshot: Snapshot, { collection, kind, key, link }: Target): Effect {
  const all: readonly { readonly name: string }[] = toDocument(snapshot)[collection] ?? [];
  const { state: _state, ...entry } = all.find(({ name }) => nameKey(name) === key) as object & {
    readonly state?: unknown;
  };
  const definition = ['service', 'monitor'].includes(kind) ? { ...entry, state: 'stopped' } : entry;
  return { type: `${kind}.create`, resource: link, [kind]: key, to: definition } as unknown as Effect;
}

function targetsIn(snapshot: Snapshot): readonly Target[] {
  return collections.flatMap((collection) =>
    [...snapshot[collection]].map((entity): Target => {
      const { key, name, settings } = entity;
      const state = 'state' in entity ? { state: entity.state } : {};
      return { collection, kind: kinds[collection], key, link: `/${collection}/${name}`, settings, ...state };
    }),
  );
}

function targetAt(snapshot: Snapshot, link: string): Target | undefined {
  return targetsIn(snapshot).find((target) => linkKeyOf(target) === link);
}

function effectsOf(before: Target, after: Target): readonly Effect[] {
  const { kind, key, link } = after;
  const head = { resource: link, [kind]: key };
  const status = {
    from: withWords(before.settings, before.settings),
    to: withWords(after.settings, before.settings),
  };
  const update = { type: `${kind}.update`, ...head, ...status };
  const isMoved = before.state !== after.state && !(before.state === 'failed' && after.state === 'started');
  const verb = after.state === 'started' ? 'start' : 'stop';
  const from = { state: verb === 'start' ? 'stopped' : 'started' };
  const turn = { type: `${kind}.${verb}`, ...head, from, to: { state: after.state } };
  return [update, ...(isMoved ? [turn] : [])] as unknown as readonly Effect[];
}

/** Settings with the word of the administrator, and the other words of the gateway. */
function withWords(settings: object, gateway: object): object {
  type Words = Readonly<Partial<Record<'state' | 'status', readonly string[]>>>;
  // A snapshot calls the status `state`.
  const { state, status: wanted = state, ...others } = settings as Words;
  const { status: found = [] } = gateway as Words;
  if (wanted === undefined) return settings;
  const words = found.filter((word) => word !== 'maintenance');
  return { ...others, status: wanted.includes('maintenance') ? ['maintenance', ...words] : words };
}
