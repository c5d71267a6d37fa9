/**
 * The form of a kind: what a gateway must have, in the words of its port, and whether it has that. Pure functions.
 */
import { applied, isStartOrStop, verbOf, type Change } from '../core/change.ts';
import { definitionIn, type Fields } from '../core/field.ts';
import { keyOf } from '../core/link.ts';
import { nameKey } from '../core/name.ts';
import { deepFreeze, sameJson, type Json, type JsonObject } from '../json/value.ts';
import { quoted } from '../problem.ts';
import { namedResources, type Effect } from '../resources/index.ts';
import { listenerFields } from '../resources/listener.ts';
import type { NamedResources } from '../resources/shared/kind.ts';
import { isUpdateInPlace } from '../resources/shared/update-in-place.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import { find } from '../snapshot/state.ts';
import type { Kind } from './options.ts';

/** A wanted resource of any kind. @internal */
export type AnyWanted = Readonly<Record<string, Json | undefined>>;

/** What a gateway says of a resource of any kind. @internal */
export type AnySeen = AnyWanted;

/** A definition, as events and documents have it. @internal */
export type Definition = JsonObject;

/** What a definition has besides the fields, by kind. */
const heads: Readonly<Record<Kind, readonly string[]>> = {
  service: ['name', 'router', 'state', 'listeners'],
  server: ['name', 'protocol', 'status'],
  monitor: ['name', 'module', 'state'],
  filter: ['name', 'module'],
};

/** What every listener has. */
const listenerHead = ['name', 'protocol', 'address', 'port'];

/** The kinds, in the order in which a gateway is brought to a snapshot: what is linked comes first. @internal */
export const kinds = ['server', 'filter', 'monitor', 'service'] as const satisfies readonly Kind[];

/** The effect that changes a resource. @internal */
export type ResourceEffect = Extract<Effect, { readonly type: `${Kind | 'listener'}.${string}` }>;

/** Whether an effect changes a resource. @internal */
export function isOfResource(effect: Effect): effect is ResourceEffect {
  return verbOf(effect) !== undefined;
}

/** The kind and the key of the resource that an effect changes. A listener is a part of its service. @internal */
export function placeOf(effect: ResourceEffect): { readonly kind: Kind; readonly key: string } {
  const [first] = effect.type.split('.');
  const kind = (first === 'listener' ? 'service' : first) as Kind;
  return { kind, key: (effect as unknown as Readonly<Record<Kind, string>>)[kind] };
}

/** What an effect does with its resource. @internal */
export function deedOf(effect: ResourceEffect): 'create' | 'delete' | 'update' | 'start' | 'stop' {
  if (!isStartOrStop(effect)) return verbOf(effect) ?? 'update';
  const { to } = effect as unknown as { readonly to: Definition };
  return to['state'] === 'started' ? 'start' : 'stop';
}

/** What a change makes of a definition; `undefined` for none. @internal */
export function changedBy(effect: ResourceEffect, present: Definition | undefined): Definition | undefined {
  if (effect.type !== 'listener.create' && effect.type !== 'listener.delete') {
    // A creation brings what is there to the new definition, too.
    const base = verbOf(effect) === 'create' ? undefined : present;
    return applied(base, { link: effect.resource, ...effect } as unknown as Change);
  }
  if (present === undefined) return undefined;
  const others = listenersIn(present).filter(({ key }) => key !== effect.listener);
  const listeners = effect.type === 'listener.create' ? [...others, effect.to] : others;
  return { ...present, listeners } as unknown as Definition;
}

/** How the resources of a kind are written. @internal */
export class KindForm {
  readonly kind: Kind;
  /** The names of the fields that the gateway uses. */
  readonly #used: readonly string[];
  /** The names of the fields of a listener that the gateway uses. */
  readonly #usedOfListener: readonly string[];
  readonly #named: NamedResources<Snapshot>;

  constructor(kind: Kind, used: readonly string[], usedOfListener: readonly string[] = []) {
    this.kind = kind;
    this.#used = used;
    this.#usedOfListener = [...listenerHead, ...usedOfListener];
    this.#named = namedOf(kind);
  }

  /** The names that `listenerFields` can have. */
  static get fieldsOfListener(): readonly string[] {
    return listenerFields.all.map(({ name }) => name).filter((name) => !listenerHead.includes(name));
  }

  /** The names that `fields` can have. */
  static fieldsOf(kind: Kind): readonly string[] {
    const { fields } = namedOf(kind);
    const settings = fields.all.filter(({ setting }) => setting !== undefined).map(({ name }) => name);
    return settings.map((name) => (name === 'status' ? 'maintenance' : name));
  }

  get #fields(): Fields {
    return this.#named.fields;
  }

  /** The keys of the resources. */
  keysIn(snapshot: Snapshot): readonly string[] {
    const { collection } = this.#named;
    return Array.from(snapshot[collection as 'services'], ({ key }) => key);
  }

  /** The definition of a resource in a snapshot; `undefined` if there is no such resource. */
  definitionIn(snapshot: Snapshot, key: string): Definition | undefined {
    const thing = find(snapshot, this.#named, key);
    return thing && definitionIn(this.#fields, thing);
  }

  /** A definition in the words of the port. */
  wantedOf(definition: Definition, snapshot: Snapshot): AnyWanted {
    const { kind } = this;
    const head = Object.fromEntries(heads[kind].map((name) => [name, definition[name]]));
    const fields = this.#used.map((name) => [name, this.#valueOf(name, definition)] as const);
    const known = {
      ...head,
      ...(kind === 'server' && { status: statusIn(snapshot, definition) }),
      ...(kind === 'service' && { listeners: listenersIn(definition) }),
      // What starts is created first.
      ...('state' in head && { state: definition['state'] ?? 'stopped' }),
      ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
    };
    return deepFreeze(known as unknown as JsonObject);
  }

  #valueOf(name: string, definition: Definition): Json | undefined {
    if (name === 'maintenance') return isInMaintenance(definition);
    return this.#inKeys(name, definition[name]);
  }

  /** A value, with keys in place of links. */
  #inKeys(name: string, value: Json | undefined): Json | undefined {
    if (this.#fields.links[name] === undefined || !Array.isArray(value)) return value;
    return (value as readonly string[]).map(keyOf);
  }

  /** What `read` answers if the gateway has what is wanted. */
  seenOf(wanted: AnyWanted): AnySeen {
    const { state } = wanted;
    const listening = state === 'started' ? listenersIn(wanted).map(({ key }) => key) : [];
    return {
      ...(this.kind === 'service' && { listening }),
      ...(state !== undefined && { state }),
      ...Object.fromEntries(this.#read.map((name) => [name, wanted[name]])),
    };
  }

  /** The fields of which a gateway can say what it has. A drain is what the administrator wants, and nothing else. */
  get #read(): readonly string[] {
    return this.#used.filter((name) => name !== 'drain');
  }

  /** How what the gateway has is not what is wanted, in a sentence; `undefined` if it is. */
  differenceOf(wanted: AnyWanted | undefined, seen: AnySeen | undefined): string | undefined {
    if (wanted === undefined || seen === undefined)
      return wanted === seen ? undefined : `there is ${wanted === undefined ? 'one still' : 'none'}`;
    const expected = this.seenOf(wanted);
    const name = Object.keys(expected).find((each) => !isSame(each, expected[each], seen[each]));
    if (name === undefined) return undefined;
    return this.#isSecret(name)
      ? `${name} is another`
      : `${name} is ${textOf(seen[name])}, not ${textOf(expected[name])}`;
  }

  #isSecret(name: string): boolean {
    const { secret, secretEntries } = this.#fields.byName.get(name) ?? {};
    return secret === true || secretEntries !== undefined;
  }

  /** Whether an effect is in place. */
  isInPlace(effect: ResourceEffect, known: AnyWanted | undefined, seen: AnySeen | undefined): boolean {
    if (effect.type === 'listener.create' || effect.type === 'listener.delete')
      return isListenerInPlace(effect, known, seen);
    const deed = deedOf(effect);
    if (deed === 'delete') return seen === undefined;
    if (seen === undefined) return false;
    if (deed === 'stop') return seen['state'] === 'stopped' && isSame('', seen['listening'] ?? [], []);
    if (deed === 'start') return known !== undefined && this.#isStarted({ ...known, state: 'started' }, seen);
    return deed === 'create' ? this.#isDefined(effect, known, seen) : this.#isUpdated(effect, known, seen);
  }

  #isStarted(wanted: AnyWanted, seen: AnySeen): boolean {
    const { state, listening } = this.seenOf(wanted);
    return seen['state'] === state && isSame('listening', listening, seen['listening']);
  }

  /** Whether the gateway has a resource as it was defined. It may have started since. */
  #isDefined(effect: ResourceEffect, known: AnyWanted | undefined, seen: AnySeen): boolean {
    const { to } = effect as unknown as { readonly to: Definition };
    return (
      this.#read.every((name) => isSame(name, this.#valueOf(name, to), seen[name])) &&
      isSame('', inOrder(listenersIn(to)), inOrder(listenersIn(known ?? {})))
    );
  }

  #isUpdated(effect: ResourceEffect, known: AnyWanted | undefined, seen: AnySeen): boolean {
    const { from, to, ...rest } = effect as unknown as Parameters<typeof isUpdateInPlace>[0];
    const settings = {
      ...seen,
      drain: known?.['drain'],
      status: seen['maintenance'] === true ? maintained : [],
    };
    const inWords = (members: object): Definition => this.#inWords(members as Definition);
    return isUpdateInPlace(
      { ...rest, from: inWords(from), to: inWords(to) },
      withoutLimits(settings as Definition),
    );
  }

  #inWords(members: Definition): Definition {
    const entries = Object.entries(members).map(
      ([name, value]) => [name, this.#inKeys(name, value)] as const,
    );
    const status = 'status' in members && { status: isInMaintenance(members) ? maintained : [] };
    return withoutLimits({ ...Object.fromEntries(entries), ...status });
  }

  /**
   * Which members of a definition the gateway does not use, in a sentence; `undefined` if it uses all.
   *
   * @param base - what the definition changes: what is the same there does not count
   */
  unusedIn(definition: Definition, base: Definition | undefined): string | undefined {
    const { byName } = this.#fields;
    const own = Object.entries(definition)
      .filter(([name, value]) => {
        // A drain can always be ended: a document or a store can have one that the gateway does not know.
        if (this.#isUsed(name) || name === 'drain') return false;
        return !isSame(name, value, byName.get(name)?.default) && !isSame(name, value, base?.[name]);
      })
      .map(([name]) => byName.get(name)?.patchName ?? name);
    const isMaintained =
      !this.#isUsed('maintenance') && isInMaintenance(definition) && !isInMaintenance(base ?? {});
    const texts = [
      unusedText([...own, ...(isMaintained ? ['maintenance'] : [])], `a ${this.kind}`, this.#used),
      unusedText(this.#unusedOfListeners(definition, base), 'a listener', this.#usedOfListener),
    ].filter((text) => text !== undefined);
    return texts.length === 0 ? undefined : texts.join(' ');
  }

  #isUsed(name: string): boolean {
    return heads[this.kind].includes(name) || this.#used.includes(name);
  }

  #unusedOfListeners(definition: Definition, base: Definition | undefined): readonly string[] {
    const others = listenersIn(base ?? {});
    const names = listenersIn(definition)
      .filter((each) => !others.some((other) => isSame('', each, other)))
      .flatMap((each) => Object.keys(each));
    return [...new Set(names)].filter((name) => name !== 'key' && !this.#usedOfListener.includes(name));
  }
}

function unusedText(names: readonly string[], what: string, used: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const uses = used.length === 0 ? 'nothing' : used.join(', ');
  return `This gateway does not use ${names.join(', ')} of ${what}. It uses ${uses}.`;
}

/** The names of the members in which two wanted resources differ; all of them without the first. @internal */
export function membersBetween(
  before: AnyWanted | undefined,
  wanted: AnyWanted | undefined,
): ReadonlySet<string> {
  // What monitors find is no reason for a call.
  const names = Object.keys({ ...before, ...wanted }).filter((name) => name !== 'status');
  if (before === undefined || wanted === undefined) return new Set(names);
  return new Set(names.filter((name) => !isSame(name, before[name], wanted[name])));
}

/** The listeners of a definition, or of a wanted service, each with its key. */
function listenersIn({
  listeners = [],
}: AnyWanted): readonly { readonly name: string; readonly key: string }[] {
  const all = listeners as unknown as readonly { readonly name: string }[];
  return all.map((listener) => ({ ...listener, key: nameKey(listener.name) }));
}

/** Listeners in one order, which is no content. */
function inOrder(listeners: ReturnType<typeof listenersIn>): ReturnType<typeof listenersIn> {
  return listeners.toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

/** Whether the gateway knows a listener as it is defined, and has it open if the service is started. */
function isListenerInPlace(
  effect: Extract<ResourceEffect, { readonly type: `listener.${string}` }>,
  known: AnyWanted | undefined,
  seen: AnySeen | undefined,
): boolean {
  if (seen === undefined || known === undefined) return effect.type === 'listener.delete';
  const isOpen = (seen['listening'] as readonly string[]).includes(effect.listener);
  const own = listenersIn(known).find(({ key }) => key === effect.listener);
  if (effect.type === 'listener.delete') return !isOpen && own === undefined;
  const [wanted] = listenersIn({ listeners: [effect.to] as unknown as Json });
  return isSame('', wanted, own) && isOpen === (known['state'] === 'started');
}

const maintained = ['maintenance'];

function isInMaintenance({ status = [] }: Definition): boolean {
  return (status as readonly string[]).includes('maintenance');
}

function statusIn({ servers }: Snapshot, { name }: Definition): Json {
  return [...(servers.find(name as string)?.seen.status ?? [])];
}

/** The fields of which 0 is no limit, as if they were left out. */
const limits = ['max_connection', 'connection_timeout'];

function withoutLimits(settings: Definition): Definition {
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => !(limits.includes(name) && value === 0)),
  );
}

/** Whether two values of a member are the same. The members of an object have no order, and neither has `listening`. */
function isSame(name: string, one: unknown, other: unknown): boolean {
  const [left, right] = [one, other].map((value) => {
    if (limits.includes(name) && value === 0) return undefined;
    return name === 'listening' && Array.isArray(value) ? value.toSorted() : value;
  });
  return left === right || sameJson((left ?? null) as Json, (right ?? null) as Json);
}

/** The longest text of a value in a sentence. */
const longestText = 200;

function textOf(value: unknown): string {
  return value === undefined ? 'not set' : JSON.stringify(value).slice(0, longestText);
}

function namedOf(kind: Kind): NamedResources<Snapshot> {
  const named = namedResources.find(({ singular }) => singular === kind);
  if (named === undefined) throw new TypeError(`There is no kind ${quoted(kind)}`);
  return named;
}
