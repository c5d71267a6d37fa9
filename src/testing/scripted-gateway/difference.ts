/**
 * Where a snapshot and a scripted gateway disagree.
 */
import { redactSecrets, type Snapshot } from '../../index.ts';
import { formatPointer, type Json } from '../../json/index.ts';
import { gatewayOf, toState, type LiveGateway, type ScriptedState } from './state.ts';
import { isMap, isSame, keysOf, memberOf } from './setting-change.ts';

/** Tells where they disagree: a sentence for each place, which begins with its pointer into the state. @internal */
export function differencesBetween(gateway: LiveGateway, snapshot: Snapshot): readonly string[] {
  return compare(stateOf(gateway), stateOf(gatewayOf(snapshot)), []);
}

/** What both of them know. */
function stateOf(gateway: LiveGateway): Json {
  const { flushes: _flushes, ...state }: ScriptedState = toState(gateway);
  return state as unknown as Json;
}

function compare(
  actual: Json | undefined,
  told: Json | undefined,
  path: readonly string[],
): readonly string[] {
  if (isMap(actual) && isMap(told)) {
    return keysOf(actual, told).flatMap((key) =>
      compare(memberOf(actual, key), memberOf(told, key), [...path, key]),
    );
  }
  if (isSame(actual, told) || areStill(actual, told, path)) return [];
  const place = formatPointer(path);
  if (isSecret(path.at(-1))) return [`${place}: the gateway and the snapshot have different texts`];
  return [`${place}: the gateway has ${textOf(actual)}, the snapshot ${textOf(told)}`];
}

/** Neither of them runs. What has failed, was started, and is stopped when that is taken back, was failed before. */
function areStill(actual: Json | undefined, told: Json | undefined, path: readonly string[]): boolean {
  const [collection, , member] = path;
  if (collection === 'sessions' || member !== 'state' || path.length !== 3) return false;
  return [actual, told].every((state) => state === 'stopped' || state === 'failed');
}

/** Whether a secret is stored under a name. */
function isSecret(name = ''): boolean {
  return isSame(redactSecrets({ [name]: '' }), {});
}

function textOf(value: Json | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(redactSecrets(value));
}
