/**
 * Sealing a definition: every secret in a resource that a client defines is sealed, before a transition sees the
 * definition.
 *
 * Clients write a secret under the name that they know, such as `password`, and a secret parameter among the others.
 * The result is an entry of a gateway document.
 */
import * as z from 'zod/mini';

import { isArray, isObject, type Json, type JsonObject } from '../json/value.ts';
import { formatPointer } from '../json/pointer.ts';
import type { Fault, ProblemCode } from '../problem.ts';
import { asStored, isEntrySealed, objectOf, type Field, type Fields } from './field.ts';
import { notStorable } from './patch-seal.ts';
import { isSealed, passwordFault, unsealable, type Sealing, type SecretPorts } from './secret.ts';
import { mostMembers, type ObjectShape } from './shape.ts';

/**
 * Gives the shape of a definition from a client: configuration, with secrets in plain text, and what is ignored because
 * the gateway computes it.
 *
 * @internal
 */
export function definitionShape({ all }: Fields): ObjectShape {
  const defined = all.filter(
    (field) =>
      (field.derived !== true || field.accepts === undefined) &&
      field.seen !== true &&
      field.patched !== false,
  );
  return objectOf(
    defined,
    'name',
    ({
      shape,
      secretEntries,
      open = shape,
      accepts = shape,
      given = secretEntries === undefined ? accepts : open,
      wanted = given,
      secret,
      entries,
      derived,
      optional,
      default: empty,
    }) => {
      if (derived === true) return z.exactOptional(z.unknown());
      const written = secret === true ? z.string() : wanted;
      const value = entries === undefined ? written : z.array(definitionShape(entries));
      return optional === true || empty !== undefined ? z.exactOptional(value) : value;
    },
  );
}

/**
 * Seals the secrets in a definition from a client; see {@link sealEntry}. Members that have commands of their own are
 * faults too.
 *
 * @internal
 */
export async function sealDefinition(
  fields: Fields,
  definition: Json,
  secrets: SealingPorts,
): Promise<Sealing<Json>> {
  const { sealed, faults } = await sealEntry(fields, definition, secrets);
  if (!isObject(sealed)) return { sealed, faults };
  const own = fields.all.filter(({ patched, name }) => patched === false && Object.hasOwn(sealed, name));
  const detail = 'has commands of its own: leave the member out';
  return {
    sealed: withoutMembers(
      sealed,
      own.map(({ name }) => name),
    ),
    faults: [
      ...own.map(({ name }): Fault => ({ pointer: `/${name}`, code: 'field-not-modifiable', detail })),
      ...faults,
    ],
  };
}

type SealingPorts = Pick<SecretPorts, 'seal' | 'isSecretParameter'>;

function withoutMembers(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/**
 * Seals the secrets in an entry of a gateway document from a client. No text from a client passes for sealed text.
 *
 * @returns the entry as a document has it, with the faults `password-unacceptable` of a value that cannot be a secret,
 *   `secret-not-storable` of a secret that could not be read after a restart, and `validation-failed` of sealed text
 *   in any other place
 * @internal
 */
export async function sealEntry(
  fields: Pick<Fields, 'all'>,
  entry: Json,
  { seal, isSecretParameter }: SealingPorts,
): Promise<Sealing<Json>> {
  const faults: Fault[] = [];
  if (!isObject(entry)) return { sealed: entry, faults };
  const sealer: Sealer = {
    isSecretParameter,
    async seal(text, place) {
      const detail = isSealed(text) ? sealedByClient : passwordFault(text);
      if (detail !== undefined) {
        sealer.refuse(place, 'password-unacceptable', detail);
        return { sealed: unsealable };
      }
      const sealed = await seal(text as string);
      if (sealed === undefined) faults.push(notStorable(place));
      return { sealed: sealed ?? unsealable };
    },
    refuse(place, code, detail) {
      faults.push({ pointer: formatPointer(place), code, detail });
    },
  };
  return { sealed: await sealMembers(fields, entry, [], sealer), faults };
}

const sealedByClient = 'must not be sealed: write the value in plain text';

type Path = readonly string[];

interface Sealer extends Pick<SecretPorts, 'isSecretParameter'> {
  /** Gives the sealed form of a text, or refuses the value. */
  seal(this: void, text: Json, place: Path): Promise<Json>;
  refuse(this: void, place: Path, code: ProblemCode, detail: string): void;
}

async function sealMembers(
  fields: Pick<Fields, 'all'>,
  entry: JsonObject,
  path: Path,
  sealer: Sealer,
): Promise<JsonObject> {
  const members = new Map(Object.entries(entry));
  for (const field of fields.all) {
    const { name, entries, secret, secretEntries } = field;
    const place = [...path, name];
    const given = asStored(fields, name, members.get(name));
    if (given === undefined) continue;
    if (entries !== undefined && isArray(given))
      members.set(name, await sealList(entries, given, place, sealer));
    else if (secret === true) members.set(name, await sealer.seal(given, place));
    else if (secretEntries !== undefined)
      members.set(name, await sealMap(secretEntries, given, place, sealer));
  }
  return Object.fromEntries(members);
}

async function sealList(
  fields: Fields,
  list: readonly Json[],
  path: Path,
  sealer: Sealer,
): Promise<readonly Json[]> {
  const sealed: Json[] = [];
  for (const [at, each] of list.entries())
    sealed.push(isObject(each) ? await sealMembers(fields, each, [...path, String(at)], sealer) : each);
  return sealed;
}

/** Seals the secret entries of a map. A map that is too large is refused before anything is sealed. */
async function sealMap(
  member: NonNullable<Field['secretEntries']>,
  map: Json,
  path: Path,
  { seal, refuse, isSecretParameter }: Sealer,
): Promise<Json> {
  if (!isObject(map)) return map;
  const entries = Object.entries(map);
  if (entries.length > mostMembers) {
    refuse(path, 'validation-failed', `must have at most ${String(mostMembers)} members`);
    return {};
  }
  const sealed: [string, Json][] = [];
  for (const [name, entry] of entries) {
    const place = [...path, name];
    if (!isSecretParameter(name) && isEntrySealed(member, entry))
      refuse(place, 'validation-failed', sealedByClient);
    else if (!isSecretParameter(name)) sealed.push([name, entry]);
    else if (member === true) sealed.push([name, await seal(entry, place)]);
    else if (isObject(entry))
      sealed.push([name, { ...entry, [member]: await seal(entry[member] ?? null, place) }]);
    else {
      refuse(place, 'validation-failed', `must be an object, with the secret as ${member}`);
      sealed.push([name, { [member]: { sealed: unsealable } }]);
    }
  }
  return Object.fromEntries(sealed);
}
