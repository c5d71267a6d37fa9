/**
 * Sealing a definition: every secret in a resource that a client defines is sealed, before a transition sees the
 * definition.
 *
 * Clients write a secret under the name that they know, such as `password`, and a secret parameter among the others.
 * The result is an entry of a gateway document.
 */
import * as z from 'zod/mini';

import { isArray, isObject, type Json, type JsonObject } from '../json/value.ts';
import { formatPointer, parsePointer } from '../json/pointer.ts';
import { problemOf, type Fault, type Problem, type ProblemCode } from '../problem.ts';
import { asStored, objectOf, type Field, type Fields } from './field.ts';
import { notStorable } from './patch-seal.ts';
import { passwordFault, unsealable, type Sealing, type SecretPorts } from './secret.ts';
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
      field.kept !== false &&
      field.patched !== false &&
      field.sealedEntriesOf === undefined,
  );
  return objectOf(
    defined,
    'name',
    ({
      shape,
      accepts = shape,
      defined: own = accepts,
      secret,
      entries,
      derived,
      optional,
      default: given,
    }) => {
      if (derived === true) return z.exactOptional(z.unknown());
      const plain = secret === undefined ? own : z.string();
      const value = entries === undefined ? plain : z.array(definitionShape(entries));
      return optional === true || given !== undefined ? z.exactOptional(value) : value;
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
 *   `secret-not-storable` of a secret that could not be read after a restart, and `field-unknown` of sealed text
 * @internal
 */
export async function sealEntry(
  fields: Fields,
  entry: Json,
  { seal, isSecretParameter }: SealingPorts,
): Promise<Sealing<Json>> {
  const faults: Fault[] = [];
  if (!isObject(entry)) return { sealed: entry, faults };
  const sealer: Sealer = {
    isSecretParameter,
    async seal(text, place) {
      const detail = passwordFault(text);
      if (typeof text !== 'string' || detail !== undefined) {
        sealer.refuse(place, 'password-unacceptable', detail ?? 'must be a string');
        return unsealable;
      }
      const sealed = await seal(text);
      if (sealed === undefined) faults.push(notStorable(place));
      return sealed ?? unsealable;
    },
    refuse(place, code, detail) {
      faults.push({ pointer: formatPointer(place), code, detail });
    },
  };
  return { sealed: await sealMembers(fields, entry, [], sealer), faults };
}

type Path = readonly string[];

interface Sealer extends Pick<SecretPorts, 'isSecretParameter'> {
  /** Gives the sealed form of a text, or refuses the value. */
  seal(this: void, text: Json, place: Path): Promise<Json>;
  refuse(this: void, place: Path, code: ProblemCode, detail: string): void;
}

async function sealMembers(
  fields: Fields,
  entry: JsonObject,
  path: Path,
  sealer: Sealer,
): Promise<JsonObject> {
  const members = new Map(Object.entries(entry));
  for (const field of fields.all) {
    // A secret is stored under `documentName`. Clients write it under `written`.
    const { name, documentName, entries, secret, sealedEntriesOf: written = name } = field;
    const place = [...path, written];
    if (secret !== undefined && members.delete(documentName)) {
      const detail = `is not known here: write the secret in plain text into ${written}`;
      sealer.refuse([...path, documentName], 'field-unknown', detail);
    }
    const given = asStored(fields, written, members.get(written));
    if (given === undefined) continue;
    if (entries !== undefined && isArray(given))
      members.set(name, await sealList(entries, given, place, sealer));
    else if (secret !== undefined && written === name) {
      members.delete(name);
      members.set(documentName, await sealer.seal(given, place));
    } else if (secret !== undefined) {
      const { open, sealed } = await sealMap(field, given, place, sealer);
      members.set(written, open);
      if (Object.keys(sealed).length > 0) members.set(documentName, sealed);
    }
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

/** Takes the secret entries out of a map. A map that is too large is refused before anything is sealed. */
async function sealMap(
  { secretMember }: Field,
  map: Json,
  path: Path,
  { seal, refuse, isSecretParameter }: Sealer,
): Promise<{ readonly open: Json; readonly sealed: JsonObject }> {
  if (!isObject(map)) return { open: map, sealed: {} };
  const entries = Object.entries(map);
  if (entries.length > mostMembers) {
    refuse(path, 'validation-failed', `must have at most ${String(mostMembers)} members`);
    return { open: {}, sealed: {} };
  }
  const secret = entries.filter(([name]) => isSecretParameter(name));
  const sealed: [string, Json][] = [];
  for (const [name, entry] of secret) {
    const place = [...path, name];
    if (secretMember === undefined) sealed.push([name, await seal(entry, place)]);
    else if (isObject(entry))
      sealed.push([name, { ...entry, [secretMember]: await seal(entry[secretMember] ?? null, place) }]);
    else {
      refuse(place, 'validation-failed', `must be an object, with the secret as ${secretMember}`);
      sealed.push([name, { [secretMember]: unsealable }]);
    }
  }
  const open = entries.filter((each) => !secret.includes(each));
  return { open: Object.fromEntries(open), sealed: Object.fromEntries(sealed) };
}

/** Gives a refusal with the pointers of a definition from a client, where a secret is in plain text. @internal */
export function withPointersOfClient(fields: Fields, reason: Problem): Problem {
  const { errors } = reason;
  if (errors === undefined) return reason;
  const place = (pointer: string): string => formatPointer(asWritten(fields, parsePointer(pointer) ?? []));
  return problemOf(errors.map((fault) => ({ ...fault, pointer: place(fault.pointer) })));
}

/** The place in the definition of a client for a place in the entry of a document. @internal */
export function asWritten({ all }: Fields, [token, ...inner]: Path): Path {
  const field = all.find(({ documentName }) => documentName === token);
  if (field === undefined) return token === undefined ? [] : [token, ...inner];
  const { name, sealedEntriesOf = name, entries } = field;
  const [at, ...rest] = inner;
  return [
    sealedEntriesOf,
    ...(entries === undefined || at === undefined ? inner : [at, ...asWritten(entries, rest)]),
  ];
}
