/**
 * Effects on a scripted gateway: how each effect changes the gateway, and when each effect is in place.
 */
import {
  EffectRefusedError,
  isUpdateInPlace,
  type Effect,
  type EffectOf,
  type MonitorSettings,
  type ServerSettings,
  type ServiceSettings,
  type Update,
} from '../../index.ts';
import {
  isAdministrators,
  withWordList,
  thingFrom,
  withWordMap,
  type Collection,
  type LiveGateway,
  type ScriptedConnection,
  type ScriptedThing,
} from './state.ts';
import { isMap, isSame, memberOf, takeChange } from './setting-change.ts';
import { sameJson, type Json } from '../../json/index.ts';

/** One row of the table of effects. */
interface EffectRow<F extends Effect> {
  /** Applies the effect, also if the effect is already in place. */
  readonly change: (this: void, gateway: LiveGateway, effect: F, commandId: string) => void;
  /** Whether the effect is in place. */
  readonly isSo: (this: void, gateway: LiveGateway, effect: F, commandId: string) => boolean;
}

/** The effects with a row of their own. */
type Own = Extract<Effect['type'], `listener.${string}`>;

/** The name of a row: what the effects of every kind have in common, or else the type of an effect. */
type RowName<T extends string> = T extends Own
  ? T
  : T extends `${string}.${infer Verb extends 'create' | 'delete' | 'start' | 'stop' | 'update'}`
    ? Verb
    : T;

type EffectRows = {
  readonly [N in RowName<Effect['type']>]: EffectRow<
    EffectOf<Exclude<Extract<Effect['type'], N | `${string}.${N}`>, Exclude<Own, N>>>
  >;
};

const rows: EffectRows = {
  create: {
    change: (gateway, effect) => {
      put(gateway, effect, thingFrom(effect.to, placeOf(effect)));
    },
    // As defined: another creation of the name may have come in between. What runs was created stopped.
    isSo(gateway, effect) {
      const [there, defined] = [foundAt(gateway, effect), thingFrom(effect.to, placeOf(effect))];
      return there !== undefined && sameJson(configurationOf(there), configurationOf(defined));
    },
  },
  delete: {
    change(gateway, effect) {
      const [collection, key] = placeOf(effect);
      // A client may have come since the decision.
      if (isInUse(gateway, collection, key)) throw new EffectRefusedError('Clients use it.');
      gateway[collection].delete(key);
    },
    isSo(gateway, effect) {
      const [collection, key] = placeOf(effect);
      return !gateway[collection].has(key);
    },
  },
  'listener.create': {
    change(gateway, { service, listener, to }) {
      const thing = serviceOf(gateway, service);
      const listeners = { ...thing.listeners, [listener]: { ...to } };
      gateway.services.set(service, { ...thing, listeners });
    },
    isSo: ({ services }, { service, listener, to }) =>
      isSame(memberOf(services.get(service)?.listeners ?? {}, listener), { ...to }),
  },
  'listener.delete': {
    change(gateway, { service, listener }) {
      const thing = serviceOf(gateway, service);
      const rest = Object.entries(thing.listeners ?? {}).filter(([key]) => key !== listener);
      gateway.services.set(service, { ...thing, listeners: Object.fromEntries(rest) });
    },
    isSo: ({ services }, { service, listener }) =>
      !Object.hasOwn(services.get(service)?.listeners ?? {}, listener),
  },
  // A service that was started and has failed since is still started for `inspect`, because the gateway retries. A
  // start of a failed service is in place only if the gateway has carried out that very command, because a failed
  // service may also recover on its own.
  start: {
    change(gateway, effect, commandId) {
      put(gateway, effect, { ...thingOf(gateway, effect), state: 'started' });
      gateway.starts.add(`${commandId} ${effect.resource}`);
    },
    isSo(gateway, effect, commandId) {
      const thing = foundAt(gateway, effect);
      const isAsked =
        effect.from.state === 'stopped' || gateway.starts.has(`${commandId} ${effect.resource}`);
      return thing !== undefined && thing.state !== 'stopped' && isAsked;
    },
  },
  // A failed service or monitor is not stopped: the gateway retries.
  stop: {
    change(gateway, effect) {
      put(gateway, effect, { ...thingOf(gateway, effect), state: 'stopped' });
    },
    isSo: (gateway, effect) => foundAt(gateway, effect)?.state === 'stopped',
  },
  // Other settings of the resource may have changed in between.
  update: {
    change(gateway, effect) {
      put(gateway, effect, withUpdate(thingOf(gateway, effect), effect));
    },
    isSo(gateway, effect) {
      const thing = foundAt(gateway, effect);
      return thing !== undefined && isUpdateInPlace(effect, withWordList(thing.settings));
    },
  },
  'sessions.close': {
    change({ sessions }, effect) {
      for (const { id, connected } of effect.sessions)
        if (sessions.get(id)?.connected === connected) sessions.delete(id);
    },
    isSo: ({ sessions }, effect) =>
      effect.sessions.every(({ id, connected }) => sessions.get(id)?.connected !== connected),
  },
  'connections.close': {
    change(gateway, effect) {
      for (const each of effect.connections)
        if (isOn(gateway, effect.server, each)) connectionsOf(gateway, each)?.delete(each.id);
    },
    isSo: (gateway, effect) => !effect.connections.some((each) => isOn(gateway, effect.server, each)),
  },
  'logs.flush': {
    change: ({ flushes }, _effect, commandId) => void flushes.push(commandId),
    isSo: ({ flushes }, _effect, commandId) => flushes.includes(commandId),
  },
};

/** What the administrator configures. */
function configurationOf({ settings, listeners }: ScriptedThing): Json {
  const { status, ...rest } = settings;
  const words = isMap(status) ? Object.keys(status).filter(isAdministrators) : [];
  return { ...rest, words, listeners: listeners ?? {} };
}

/** The row of an effect in the table of effects. @internal */
export function rowOf({ type }: Effect): EffectRow<Effect> {
  const [, verb = ''] = type.split('.');
  const name = Object.hasOwn(rows, type) ? type : verb;
  // The row takes effects of this type. The compiler cannot derive that from the name.
  return Object.hasOwn(rows, name) ? (rows[name as keyof EffectRows] as EffectRow<Effect>) : unknownRow;
}

/** A later version of the library can have further types. */
const unknownRow: EffectRow<Effect> = {
  change(_gateway, { type }) {
    throw new EffectRefusedError(`The gateway cannot do ${type}.`);
  },
  isSo: () => false,
};

/** Where the resource of an effect is: the effect `service.stop` has the key of the service as `service`. */
function placeOf(effect: Effect): readonly [collection: Collection, key: string] {
  const [kind = ''] = effect.type.split('.');
  return [`${kind}s` as Collection, (effect as unknown as Readonly<Record<string, string>>)[kind] ?? ''];
}

function foundAt(gateway: LiveGateway, effect: Effect): ScriptedThing | undefined {
  const [collection, key] = placeOf(effect);
  return gateway[collection].get(key);
}

function thingOf(gateway: LiveGateway, effect: Effect): ScriptedThing {
  const [, key] = placeOf(effect);
  const thing = foundAt(gateway, effect);
  if (thing === undefined) throw new EffectRefusedError(`The gateway has no resource named "${key}".`);
  return thing;
}

function serviceOf({ services }: LiveGateway, key: string): ScriptedThing {
  const thing = services.get(key);
  if (thing === undefined) throw new EffectRefusedError(`The gateway has no service named "${key}".`);
  return thing;
}

function put(gateway: LiveGateway, effect: Effect, thing: ScriptedThing): void {
  const [collection, key] = placeOf(effect);
  gateway[collection].set(key, thing);
}

/** The names of the optional members of a type. */
type OptionalNames<T> = keyof { [K in keyof T as object extends Pick<T, K> ? K : never]: true };

/**
 * The settings that are left out while they have no value. Every other setting always has a value. A list, because the
 * kit imports the public entry of the library alone, which has no tables of fields. A missing setting does not compile.
 */
const optionalSettings: Readonly<
  Record<OptionalNames<ServiceSettings & ServerSettings & MonitorSettings>, true>
> = {
  ...{ user: true, password: true, root_user: true, version_string: true, weightby: true },
  ...{ connection_timeout: true, max_connection: true, strip_db_esc: true, port: true, drain: true },
};

function withUpdate(thing: ScriptedThing, { from, to }: Update<object>): ScriptedThing {
  const unknown = Object.keys(to).find(
    (name) => !(name in thing.settings || Object.hasOwn(optionalSettings, name)),
  );
  if (unknown !== undefined) throw new EffectRefusedError(`The gateway has no setting "${unknown}" here.`);
  return { ...thing, settings: takeChange(thing.settings, withWordMap(from), withWordMap(to)) };
}

/** Whether a service has sessions, or a server connections. */
function isInUse({ sessions }: LiveGateway, collection: Collection, key: string): boolean {
  const all = [...sessions.values()];
  if (collection === 'services') return all.some(({ service }) => service === key);
  return (
    collection === 'servers' &&
    all.some(({ connections }) => [...connections.values()].some(({ server }) => server === key))
  );
}

/** Whether a connection is open, and on the server. */
function isOn(
  gateway: LiveGateway,
  server: string,
  each: { readonly session: number; readonly connected: number; readonly id: number },
): boolean {
  return connectionsOf(gateway, each)?.get(each.id)?.server === server;
}

/** The connections of a session; `undefined` if the session is closed, also if a later session has its id. */
function connectionsOf(
  { sessions }: LiveGateway,
  { session: id, connected }: { readonly session: number; readonly connected: number },
): Map<number, ScriptedConnection> | undefined {
  const session = sessions.get(id);
  return session?.connected === connected ? session.connections : undefined;
}
