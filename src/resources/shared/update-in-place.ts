/**
 * Whether an update is in place: what `inspect` of a host answers about settings.
 */
import type { Update } from '../../core/update.ts';
import { assertObject, isObject, sameJson, type Json, type JsonObject } from '../../json/value.ts';

/**
 * Tells whether settings have what an update has changed. Use the function in `inspect`.
 *
 * Only the parts that differ between `from` and `to` count, because other settings may have changed since. Maps,
 * such as `parameters`, are compared entry by entry. The words of a status are compared one by one: a monitor may have
 * reported others since, so they count only in an update of these words alone, and their order never does.
 * `maintenance` always counts.
 *
 * @param effect - an effect such as `service.update`
 * @param settings - the present settings of the same kind, as a gateway document has them; `undefined` if there is no
 *   such resource
 * @returns true if the update is in place
 *
 * @example
 * ```ts
 * import { createSnapshot, isUpdateInPlace, patchService } from 'gateway-admin-core';
 *
 * const snapshot = createSnapshot({ services: [{ name: 'Sales', router: 'readconnroute', max_connection: 100 }] });
 * const operations = [{ op: 'replace', path: '/max_connection', value: 5 }] as const;
 * const decision = patchService(snapshot, 'Sales', operations, { now: 0 });
 * const [effect] = decision.outcome === 'accepted' ? decision.effects : [];
 * if (effect?.type !== 'service.update') throw new Error('The patch has changed nothing.');
 *
 * isUpdateInPlace(effect, effect.from); // => false
 * isUpdateInPlace(effect, { ...effect.to, connection_timeout: 60 }); // => true
 * ```
 *
 * @see docs/ports.md, "inspect".
 *
 * @public
 */
export function isUpdateInPlace<E extends Update<object> & { readonly type: `${string}.update` }>(
  effect: E,
  settings: Partial<E['to']> | undefined,
): boolean {
  assertObject(effect, 'effect');
  if (settings === undefined) return false;
  const [now, before, after] = [settings, effect.from, effect.to] as readonly Settings[];
  if (effect.type !== 'server.update') return hasChange(now, before, after);
  const holds = (settings: Settings, counted?: readonly string[]): boolean =>
    hasChange(withWords(settings, counted), withWords(before, counted), withWords(after, counted));
  return holds(before, administrators) ? holds(now) : holds(now, administrators);
}

/** The words of a status that belong to the administrator: no monitor finds or clears them. */
const administrators = ['maintenance'];

type Settings = JsonObject | undefined;

/** Whether a value has what differs between two others. */
function hasChange(now: Json | undefined, before: Json | undefined, after: Json | undefined): boolean {
  // Settings have no null.
  if (sameJson(before ?? null, after ?? null)) return true;
  if (!isObject(now) || !isObject(before) || !isObject(after)) return sameJson(now ?? null, after ?? null);
  // For a name such as `constructor`, maps without the member give the same inherited value.
  return Object.keys({ ...before, ...after }).every((name) =>
    hasChange(now[name], before[name], after[name]),
  );
}

/** The settings of a server, with a member for each word of its status; of the given words alone, if some are given. */
function withWords(settings: Settings, counted?: readonly string[]): Settings {
  const all = (settings?.['status'] ?? []) as readonly string[];
  const words = counted === undefined ? all : all.filter((word) => counted.includes(word));
  return settings && { ...settings, status: Object.fromEntries(words.map((word) => [word, true])) };
}
