/**
 * Sealing: the sealer of the host seals (encrypts) every secret that a client sends, in a patch or a definition, before
 * a transition sees it.
 *
 * Clients write a secret in plain text, in its own place. No text from a client passes for sealed text.
 */
import { deepFreeze, isArray, isObject, pick, type Json, type JsonObject } from '../json/value.ts';
import type { ParsedOperation } from '../json/patch.ts';
import { formatPointer } from '../json/pointer.ts';
import type { Fault, ProblemCode } from '../problem.ts';
import { asStored, type Field, type Fields } from './field.ts';
import type { SealedOperation } from './patch-rule.ts';
import { completeOperations, type PatchView } from './patch-view.ts';
import { isSealed, passwordFault, unsealable, type Sealing, type SecretPorts } from './secret.ts';
import { isTooLarge, tooManyMembers } from './shape.ts';

type SealingPorts = Pick<SecretPorts, 'seal' | 'isSecretParameter'>;

/** Seals the secrets in a patch from a client. The faults are those of {@link sealEntry}. @internal */
export async function sealOperations<T extends object>(
  view: PatchView<T>,
  operations: readonly ParsedOperation[],
  ports: SealingPorts,
): Promise<readonly SealedOperation[]> {
  const sealed: SealedOperation[] = [];
  for (const operation of completeOperations(view, operations)) {
    const { index, path, value } = operation;
    const [token = '', ...inner] = path;
    const field = view.field(token);
    if (value === undefined || field === undefined || !view.secretive.includes(field)) sealed.push(operation);
    else {
      const sealer = new Sealer(ports, index);
      const within = await sealer.within(field, value, path, inner);
      sealed.push(deepFreeze({ ...operation, value: within, faults: sealer.faults }));
    }
  }
  return sealed;
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
    sealed: pick(sealed, (name) => own.every((each) => each.name !== name)),
    faults: [
      ...own.map(({ name }): Fault => ({ pointer: `/${name}`, code: 'field-not-modifiable', detail })),
      ...faults,
    ],
  };
}

/**
 * Seals the secrets in an entry of a gateway document from a client.
 *
 * @returns the entry as a document has it, with the faults `password-unacceptable` of a value that cannot be a secret,
 *   `secret-not-storable` of a secret that could not be read after a restart, and `validation-failed` of sealed text
 *   in any other place
 * @internal
 */
export async function sealEntry(
  fields: Pick<Fields, 'all'>,
  entry: Json,
  ports: SealingPorts,
): Promise<Sealing<Json>> {
  const sealer = new Sealer(ports);
  return { sealed: isObject(entry) ? await sealer.members(fields, entry, []) : entry, faults: sealer.faults };
}

type Path = readonly string[];
type SealedField = Pick<Field, 'secret' | 'secretEntries' | 'entries' | 'accepts'>;

/** Seals one operation or one entry, and lists the faults in it. */
class Sealer {
  readonly faults: Fault[] = [];
  readonly #ports: SealingPorts;
  readonly #at: Pick<Fault, 'operation'>;

  constructor(ports: SealingPorts, operation?: number) {
    this.#ports = ports;
    this.#at = operation === undefined ? {} : { operation };
  }

  async members({ all }: Pick<Fields, 'all'>, entry: JsonObject, path: Path): Promise<JsonObject> {
    const members = new Map(Object.entries(entry));
    for (const field of all) {
      const [place, value] = [[...path, field.name], members.get(field.name)];
      if (value !== undefined) members.set(field.name, await this.within(field, value, place));
    }
    return Object.fromEntries(members);
  }

  /** @param inner - the place of the value in the field; empty for the whole field */
  async within(field: SealedField, value: Json, place: Path, [name, ...inner]: Path = []): Promise<Json> {
    const { secret, secretEntries: member, entries } = field;
    if (secret === true) return this.#text(value, place);
    if (entries !== undefined && isArray(value)) return this.#list(entries, value, place);
    if (member === undefined) return value;
    if (name === undefined) return this.#map(member, asStored(field, value), place);
    if (inner.length > 0) return this.#named(name, value, place);
    return this.#entry(member, name, value, place);
  }

  async #list(fields: Fields, list: readonly Json[], path: Path): Promise<readonly Json[]> {
    const sealed: Json[] = [];
    for (const [at, each] of list.entries())
      sealed.push(isObject(each) ? await this.members(fields, each, [...path, String(at)]) : each);
    return sealed;
  }

  /** A map that is too large is refused before anything is sealed. */
  async #map(member: true | string, map: Json, path: Path): Promise<Json> {
    if (!isObject(map)) return map;
    const entries = Object.entries(map);
    if (isTooLarge(entries, ([name]) => this.#ports.isSecretParameter(name))) {
      this.#refuse(path, 'validation-failed', tooManyMembers);
      return {};
    }
    const sealed: [string, Json][] = [];
    for (const [name, entry] of entries)
      sealed.push([name, await this.#entry(member, name, entry, [...path, name])]);
    return Object.fromEntries(sealed);
  }

  async #entry(member: true | string, name: string, entry: Json, place: Path): Promise<Json> {
    if (member === true) return this.#named(name, entry, place);
    const isSecret = this.#ports.isSecretParameter(name);
    if (isObject(entry) && (isSecret || Object.hasOwn(entry, member)))
      return { ...entry, [member]: await this.#named(name, entry[member] ?? null, place) };
    if (!isSecret) return entry;
    const detail = `must be an object, with the secret as ${member}`;
    return { [member]: { sealed: this.#refuse(place, 'validation-failed', detail) } };
  }

  /** The value of an entry, or a part of the entry: a secret if the name of the entry is secret. */
  async #named(name: string, value: Json, place: Path): Promise<Json> {
    if (this.#ports.isSecretParameter(name)) return this.#text(value, place);
    return isSealed(value) ? this.#refuse(place, 'validation-failed', sealedByClient) : value;
  }

  async #text(text: Json, place: Path): Promise<Json> {
    const detail = isSealed(text) ? sealedByClient : passwordFault(text);
    if (detail !== undefined) return { sealed: this.#refuse(place, 'password-unacceptable', detail) };
    const sealed = await this.#ports.seal(text as string);
    return { sealed: sealed ?? this.#refuse(place, 'secret-not-storable', notStorable) };
  }

  /** Gives a text for the place of the faulty value. */
  #refuse(place: Path, code: ProblemCode, detail: string): string {
    this.faults.push({ pointer: formatPointer(place), ...this.#at, code, detail });
    return unsealable;
  }
}

const sealedByClient = 'must not be sealed: write the value in plain text';
const notStorable =
  'cannot be stored: the configuration outlives the process, and the key that seals secrets does not. ' +
  'Configure a lasting key for the gateway first';
