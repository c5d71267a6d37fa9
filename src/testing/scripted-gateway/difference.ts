/**
 * The differences between a snapshot and the state of a scripted gateway.
 */
import { redactSecrets, type Snapshot } from '../../index.ts';
import { formatPointer, type Json } from '../../json/index.ts';
import { gatewayOf, toState, type LiveGateway, type ScriptedState } from './state.ts';
import { isMap, isSame, keysOf, memberOf } from './setting-change.ts';

/** Lists the differences. Each is a sentence that begins with a JSON Pointer into the state. @internal */
export function differencesBetween(gateway: LiveGateway, snapshot: Snapshot): readonly string[] {
  return compare(stateOf(gateway), stateOf(gatewayOf(snapshot)), []);
}

/** The part of the state that a snapshot has too. */
function stateOf(gateway: LiveGateway): Json {
  const { flushes: _flushes, ...state }: ScriptedState = toState(gateway);
  return state as unknown as Json;
}

function compare(
  actual: Json | undefined,
  told: Json | undefined,
  path: readonly string[],
): readonly string[] {
  if (isMap(actual) && isMap(told) && !isSecret(actual) && !isSecret(told)) {
    return keysOf(actual, told).flatMap((key) =>
      compare(memberOf(actual, key), memberOf(told, key), [...path, key]),
    );
  }
  if (isSame(actual, told)) return [];
  const place = formatPointer(path);
  if (isSecret(actual) || isSecret(told))
    return [`${place}: the gateway and the snapshot have different sealed texts`];
  return [`${place}: the gateway has ${textOf(actual)}, the snapshot ${textOf(told)}`];
}

/** Whether a value is a secret, which nothing that is shown has. */
function isSecret(value: Json | undefined): boolean {
  return value !== undefined && isSame(redactSecrets({ secret: value }), {});
}

function textOf(value: Json | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(redactSecrets(value));
}
