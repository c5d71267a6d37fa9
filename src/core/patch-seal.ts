/**
 * Sealing a patch: the sealer of the host seals (encrypts) every secret in a patch from a client, before a transition
 * sees the patch.
 */
import { deepFreeze, isObject, type Json, type JsonObject } from '../json/value.ts';
import type { ParsedOperation } from '../json/patch.ts';
import { formatPointer } from '../json/pointer.ts';
import type { Fault } from '../problem.ts';
import type { PatchField } from './patch-rule.ts';
import { completeOperations, type PatchView } from './patch-view.ts';
import { passwordFault, unsealable, type Sealing, type SecretPorts } from './secret.ts';
import { mostMembers } from './shape.ts';

/**
 * Seals the secrets in a patch from a client. A value that cannot be a secret becomes `null`, which the rules of
 * patches refuse. Therefore no value from a client passes for sealed text, and no plain secret goes on.
 *
 * @returns the operations, with the fault `secret-not-storable` of each secret that could not be read after a restart
 * @internal
 */
export async function sealOperations<T extends object>(
  view: PatchView<T>,
  operations: readonly ParsedOperation[],
  { seal }: Pick<SecretPorts, 'seal'>,
): Promise<Sealing<readonly ParsedOperation[]>> {
  const faults: Fault[] = [];
  const sealing = completeOperations(view, operations).map(async (operation) => {
    const sealText: SealText = async (text, place) => {
      if (typeof text !== 'string' || passwordFault(text) !== undefined) return null;
      const sealed = await seal(text);
      // The rules of patches refuse a `test` of a secret anyway.
      if (sealed === undefined && operation.op !== 'test') faults.push(notStorable(place, operation.index));
      return { sealed: sealed ?? unsealable };
    };
    return sealOperation(view, operation, sealText);
  });
  return { sealed: await Promise.all(sealing), faults };
}

/** The fault of a secret that could not be read after a restart. @internal */
export function notStorable(place: readonly string[], operation?: number): Fault {
  const detail =
    'cannot be stored: the configuration outlives the process, and the key that seals secrets does not. ' +
    'Configure a lasting key for the gateway first';
  const at = operation === undefined ? {} : { operation };
  return { pointer: formatPointer(place), ...at, code: 'secret-not-storable', detail };
}

/** Gives the sealed form of the text for a place; `null` for a value that cannot be a secret. */
type SealText = (text: Json | undefined, place: readonly string[]) => Promise<Json>;

async function sealOperation<T extends object>(
  { field, isSecretEntry }: PatchView<T>,
  operation: ParsedOperation,
  sealText: SealText,
): Promise<ParsedOperation> {
  const { path, value } = operation;
  if (value === undefined) return operation;
  const [token = '', name, ...inner] = path;
  const { secret, secretEntries } = field(token) ?? {};
  if (secret === true) return { ...operation, value: await sealText(value, path) };
  if (secretEntries === undefined) return operation;
  if (name === undefined) {
    if (!isObject(value)) return operation;
    const names = Object.keys(value);
    // The rules of patches refuse a map with more entries, so its names are not worth the work.
    if (names.length > mostMembers) return { ...operation, value: deepFreeze(withoutValues(names)) };
    const secrets = names.filter(isSecretEntry);
    return { ...operation, value: await sealMap(secretEntries, path, value, secrets, sealText) };
  }
  if (!isSecretEntry(name)) return operation;
  const isWhole = inner.length === 0;
  const sealed = isWhole ? sealMapEntry(secretEntries, path, value, sealText) : sealText(value, path);
  return { ...operation, value: await sealed };
}

/** The member of an entry that is sealed; `true` for the whole entry. */
type SealedMember = NonNullable<PatchField['secretEntries']>;

/** Seals the entries with these names in a map. */
async function sealMap(
  member: SealedMember,
  path: readonly string[],
  map: JsonObject,
  names: readonly string[],
  sealText: SealText,
): Promise<Json> {
  const sealing = names.map(async (name) => {
    return [name, await sealMapEntry(member, [...path, name], map[name] ?? null, sealText)] as const;
  });
  return deepFreeze({ ...map, ...Object.fromEntries(await Promise.all(sealing)) });
}

function withoutValues(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, null]));
}

async function sealMapEntry(
  member: SealedMember,
  place: readonly string[],
  entry: Json,
  sealText: SealText,
): Promise<Json> {
  if (member === true) return sealText(entry, place);
  return isObject(entry) ? deepFreeze({ ...entry, [member]: await sealText(entry[member], place) }) : null;
}
