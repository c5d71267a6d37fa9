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
  withWordList,
  withWordMap,
  type Collection,
  type LiveGateway,
  type ScriptedConnection,
  type ScriptedThing,
} from './state.ts';
import { takeChange } from './setting-change.ts';

/** One row of the table of effects. */
interface EffectRow<F extends Effect> {
  /** Applies the effect, also if the effect is already in place. */
  readonly change: (this: void, gateway: LiveGateway, effect: F, commandId: string) => void;
  /** Whether the effect is in place. */
  readonly isSo: (this: void, gateway: LiveGateway, effect: F, commandId: string) => boolean;
}

type EffectRows = { readonly [T in Effect['type']]: EffectRow<EffectOf<T>> };

const rows: EffectRows = {
  'service.start': starting('services', ({ service }) => service),
  'service.stop': stopping('services', ({ service }) => service),
  'service.update': updated('services', ({ service }) => service),
  'monitor.start': starting('monitors', ({ monitor }) => monitor),
  'monitor.stop': stopping('monitors', ({ monitor }) => monitor),
  'monitor.update': updated('monitors', ({ monitor }) => monitor),
  'server.update': {
    change: ({ servers }, effect) => {
      const thing = get(servers, effect.server);
      servers.set(effect.server, withUpdate(thing, serverUpdate(effect)));
    },
    isSo: ({ servers }, effect) =>
      isUpdateInPlace(effect, withWordList(get(servers, effect.server).settings).settings),
  },
  'filter.update': updated('filters', ({ filter }) => filter),
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

/** The row of an effect in the table of effects. @internal */
export function rowOf(effect: Effect): EffectRow<Effect> {
  // The row takes effects of this type. The compiler cannot derive that from the index.
  return rows[effect.type] as EffectRow<Effect>;
}

/**
 * The row of an effect that starts. A service that was started and has failed since is still started for `inspect`,
 * because the gateway retries. A start of a failed service is in place only if the gateway has carried out that very
 * command, because a failed service may also recover on its own.
 */
function starting<F extends Effect & { readonly from: 'stopped' | 'failed' }>(
  collection: Collection,
  keyOf: (effect: F) => string,
): EffectRow<F> {
  return {
    change: ({ [collection]: things, starts }, effect, commandId) => {
      things.set(keyOf(effect), { ...get(things, keyOf(effect)), state: 'started' });
      starts.add(`${commandId} ${effect.resource}`);
    },
    isSo: ({ [collection]: things, starts }, effect, commandId) => {
      const isOn = get(things, keyOf(effect)).state !== 'stopped';
      return isOn && (effect.from === 'stopped' || starts.has(`${commandId} ${effect.resource}`));
    },
  };
}

/** The row of an effect that stops. A failed service or monitor is not stopped: the gateway retries. */
function stopping<F extends Effect>(collection: Collection, keyOf: (effect: F) => string): EffectRow<F> {
  return {
    change: ({ [collection]: things }, effect) => {
      things.set(keyOf(effect), { ...get(things, keyOf(effect)), state: 'stopped' });
    },
    isSo: ({ [collection]: things }, effect) => get(things, keyOf(effect)).state === 'stopped',
  };
}

/** The row of an effect that updates settings. Other settings of the resource may have changed in between. */
function updated<F extends Extract<Effect, Update<object>>>(
  collection: Collection,
  keyOf: (effect: F) => string,
): EffectRow<F> {
  return {
    change: ({ [collection]: things }, effect) => {
      things.set(keyOf(effect), withUpdate(get(things, keyOf(effect)), changeOf(effect)));
    },
    isSo: ({ [collection]: things }, effect) => isUpdateInPlace(effect, get(things, keyOf(effect)).settings),
  };
}

type Change = Pick<Update<ScriptedThing['settings']>, 'before' | 'after'>;

function changeOf({ before, after }: Update<object>): Change {
  return { before: before as Change['before'], after: after as Change['after'] };
}

function serverUpdate(effect: Update<object>): Change {
  const { before, after } = changeOf(effect);
  return { before: withWordMap(before), after: withWordMap(after) };
}

/** The names of the optional members of a type. */
type OptionalNames<T> = keyof { [K in keyof T as object extends Pick<T, K> ? K : never]: true };

/** The settings that are left out while they have no value. Every other setting always has a value. */
const optionalSettings: Readonly<
  Record<OptionalNames<ServiceSettings & ServerSettings & MonitorSettings>, true>
> = {
  ...{ user: true, passwordSealed: true, root_user: true, version_string: true, weightby: true },
  ...{ connection_timeout: true, max_connection: true, strip_db_esc: true, port: true },
};

function withUpdate(thing: ScriptedThing, { before, after }: Change): ScriptedThing {
  const unknown = Object.keys(after).find(
    (name) => !(name in thing.settings || Object.hasOwn(optionalSettings, name)),
  );
  if (unknown !== undefined) throw new EffectRefusedError(`The gateway has no setting "${unknown}" here.`);
  return { ...thing, settings: takeChange(thing.settings, before, after) };
}

function get(things: ReadonlyMap<string, ScriptedThing>, key: string): ScriptedThing {
  const thing = things.get(key);
  if (thing === undefined) throw new EffectRefusedError(`The gateway has no resource named "${key}".`);
  return thing;
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
