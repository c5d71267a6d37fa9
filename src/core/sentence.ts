/**
 * Sentences: what an event says, in words. The command line, the console and the alerts take their words from here.
 */
import type { JsonObject } from '../json/value.ts';

/**
 * What a sentence tells: an event of the stream, of a plan or of the history, an effect of a plan, or a command in
 * flight.
 *
 * @beta
 */
export interface Told {
  /** The type, such as `service.stopped`, or that of an effect, such as `service.stop`. */
  readonly type: string;
  /** Link of the resource. */
  readonly resource: string;
  /** What else the event says. */
  readonly [member: string]: unknown;
}

/**
 * How a sentence tells: `did` what somebody has done, `was` what has become of a resource, `being` what goes on, `do`
 * what is to be done.
 *
 * @beta
 */
export type Tense = 'did' | 'was' | 'being' | 'do';

/**
 * The name of a resource in a sentence, with its link.
 *
 * @beta
 */
export interface NamedPart {
  /** Link of the resource. */
  readonly link: string;
  /** Its name as it was given. */
  readonly name: string;
}

/**
 * A part of a sentence: words, or the name of a resource.
 *
 * @beta
 */
export type SentencePart = string | NamedPart;

/**
 * What a sentence needs besides the event.
 *
 * @beta
 */
export interface Telling {
  /** How the sentence tells. */
  readonly tense: Tense;
  /** Who has done it, for `did`. Left out for a sentence that begins with the verb. */
  readonly who?: string | undefined;
  /** The name of the resource at a link, as it was given. Default: the name in the link. */
  readonly nameOf?: (link: string) => string | undefined;
}

/** A phrase in each tense. `{}` stands for the thing. */
type Phrase = Readonly<Record<Tense, string>>;

/** The phrase of a verb that is used with the thing alone. */
function verb(bare: string, past: string): Phrase {
  return { did: `${past} {}`, was: `{} was ${past}`, being: `{} is being ${past}`, do: `${bare} {}` };
}

/** The phrase of a verb that is used with a part of the thing. */
function of(bare: string, past: string, part: string): Phrase {
  const whole = `the ${part} of {}`;
  return {
    did: `${past} ${whole}`,
    was: `${whole} was ${past}`,
    being: `${whole} is being ${past}`,
    do: `${bare} ${whole}`,
  };
}

const phrases = {
  start: verb('start', 'started'),
  stop: verb('stop', 'stopped'),
  update: verb('change', 'changed'),
  create: verb('add', 'added'),
  delete: verb('delete', 'deleted'),
  open: verb('open', 'opened'),
  close: verb('close', 'closed'),
  flush: verb('flush', 'flushed'),
  drain: {
    did: 'began to drain {}',
    was: '{} began to drain',
    being: '{} is being drained',
    do: 'drain {}',
  },
  redrain: of('change', 'changed', 'drain'),
  resume: verb('resume', 'resumed'),
  maintain: {
    did: 'set maintenance on {}',
    was: '{} was set to maintenance',
    being: '{} is being set to maintenance',
    do: 'set maintenance on {}',
  },
  release: {
    did: 'cleared maintenance on {}',
    was: 'maintenance of {} was cleared',
    being: 'maintenance of {} is being cleared',
    do: 'clear maintenance on {}',
  },
  hold: {
    did: 'made {} read-only',
    was: '{} became read-only',
    being: '{} is being made read-only',
    do: 'make {} read-only',
  },
  unhold: {
    did: 'allowed changes again',
    was: 'changes were allowed again',
    being: 'changes are being allowed again',
    do: 'allow changes again',
  },
  password: of('change', 'changed', 'password'),
  rehash: of('renew', 'renewed', 'hash'),
  fail: { did: '{} failed', was: '{} failed', being: '{} fails', do: '{} fails' },
  run: { did: '{} runs again', was: '{} runs again', being: '{} runs', do: '{} runs' },
  found: { did: '{} is', was: '{} is', being: '{} is', do: '{} is' },
  down: { did: '{} is down', was: '{} is down', being: '{} is down', do: '{} is down' },
  empty: { did: '{} is drained', was: '{} is drained', being: '{} is drained', do: '{} is drained' },
  complete: {
    did: 'every open session is known',
    was: 'every open session is known',
    being: 'every open session is known',
    do: 'every open session is known',
  },
  undone: {
    did: 'a change of {} was not made',
    was: 'a change of {} was not made',
    being: 'a change of {} is not made',
    do: 'a change of {} is not made',
  },
} satisfies Readonly<Record<string, Phrase>>;

type Key = keyof typeof phrases;

/** The phrase of a type, by the word behind its dot, of an event or of an effect. */
const keys: Readonly<Record<string, Key>> = {
  started: 'start',
  stopped: 'stop',
  updated: 'update',
  created: 'create',
  deleted: 'delete',
  opened: 'open',
  closed: 'close',
  completed: 'complete',
  flushed: 'flush',
  drained: 'empty',
  failed: 'undone',
  rehashed: 'rehash',
};

/**
 * Says in a sentence what has happened, what goes on, or what is to be done.
 *
 * @param told - the event, the effect or the command in flight
 * @param telling - the tense, who has done it, and how resources are named
 * @returns the parts of the sentence, without a full stop
 *
 * @example
 * ```ts
 * import { sentenceOf, textOf } from 'gateway-admin-core/client';
 *
 * const event = { type: 'service.stopped', resource: '/services/My-Sales' };
 * const nameOf = () => 'My Sales';
 * textOf(sentenceOf(event, { tense: 'did', who: 'ada', nameOf })); // => 'ada stopped My Sales'
 * textOf(sentenceOf(event, { tense: 'being', nameOf })); // => 'My Sales is being stopped'
 * ```
 *
 * @beta
 */
export function sentenceOf(told: Told, { tense, who, nameOf }: Telling): readonly SentencePart[] {
  const key = keyOf(told);
  const { did, was, being, do: bare } = phrases[key];
  const isOwn = did === was;
  const template = { did: isOwn || who === undefined ? did : `${who} ${did}`, was, being, do: bare }[tense];
  const thing = thingOf(told, key, nameOf);
  const isMany = thing.isMany && (tense === 'was' || tense === 'being');
  const agreed = isMany ? template.replace(/\bwas\b/, 'were').replace(/\bis\b/, 'are') : template;
  const [before = '', after = ''] = agreed.split('{}');
  const whole = [before, ...(agreed.includes('{}') ? thing.parts : []), after + detailOf(told, key)];
  return joined(tense === 'do' || who !== undefined ? whole : capital(whole));
}

/**
 * Says in sentences what a command has done: a drain and its end are one sentence each.
 *
 * @param events - the events of the command, of its plan or of its entry in the history
 * @param telling - as `sentenceOf` takes it
 * @returns the sentences
 *
 * @example
 * ```ts
 * import { sentencesOf } from 'gateway-admin-core/client';
 *
 * const drain = { since: '2016-08-29T12:52:31+03:00' };
 * const events = [
 *   { type: 'service.stopped', resource: '/services/Sales' },
 *   { type: 'service.updated', resource: '/services/Sales', from: {}, to: { drain } },
 * ];
 * sentencesOf(events, { tense: 'did' }).length; // => 1
 * ```
 *
 * @beta
 */
export function sentencesOf(events: readonly Told[], telling: Telling): readonly (readonly SentencePart[])[] {
  const drained = new Set(
    events.filter((event) => isOneOf(keyOf(event), drains)).map(({ resource }) => resource),
  );
  return events
    .filter((event) => !(drained.has(event.resource) && isOneOf(keyOf(event), ['start', 'stop'])))
    .map((event) => sentenceOf(event, telling));
}

/**
 * Gives a sentence as text.
 *
 * @param parts - the parts of the sentence
 * @returns the text, with names in the place of links
 *
 * @example
 * ```ts
 * import { sentenceOf, textOf } from 'gateway-admin-core/client';
 *
 * textOf(sentenceOf({ type: 'logs.flushed', resource: '/gateway/logs' }, { tense: 'did' })); // => 'Flushed the logs'
 * ```
 *
 * @beta
 */
export function textOf(parts: readonly SentencePart[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.name)).join('');
}

/** A criterion of a search for sessions, in words. */
const criteria: Readonly<Record<string, (value: string) => string>> = {
  service: (value) => `of ${value}`,
  server: (value) => `on ${value}`,
  user: (value) => `of user ${value}`,
  address: (value) => `from ${value}`,
  idle_over: (value) => `idle longer than ${value} s`,
  older_than: (value) => `connected longer than ${value} s`,
};

/**
 * Says which sessions a search finds.
 *
 * @param search - the criteria of the search
 * @returns the words; empty for all sessions
 *
 * @example
 * ```ts
 * import { searchText } from 'gateway-admin-core/client';
 *
 * searchText({ service: 'Sales', idle_over: 600 }); // => 'of Sales, idle longer than 600 s'
 * ```
 *
 * @beta
 */
export function searchText(search: object): string {
  const values = search as Readonly<Record<string, unknown>>;
  // A search has the same words in whatever order its criteria come.
  return Array.from(new Set([...Object.keys(criteria), ...Object.keys(search)]))
    .filter((name) => values[name] !== undefined)
    .map((name) => criteria[name]?.(String(values[name])) ?? `${name} ${String(values[name])}`)
    .join(', ');
}

/** What an update has in its members. */
interface Changed {
  readonly from?: JsonObject & { readonly read_only?: boolean };
  readonly to?: JsonObject & { readonly read_only?: boolean };
}

/** The phrases of a drain. */
const drains = ['drain', 'redrain', 'resume'] as const;

function isOneOf(key: Key, some: readonly Key[]): boolean {
  return some.includes(key);
}

function keyOf(told: Told): Key {
  const [kind, word = ''] = told.type.split('.');
  if (word === 'reported') return reportKey(told);
  const key = keys[word] ?? (word in phrases ? (word as Key) : 'update');
  if (key !== 'update') return key;
  const { from = {}, to = {} } = told as Changed;
  if (kind === 'user') return 'password';
  if (kind === 'interface' && 'read_only' in to) return to.read_only ? 'hold' : 'unhold';
  if ('drain' in to) return 'drain' in from ? 'redrain' : 'drain';
  if ('drain' in from) return 'resume';
  const [had, has] = [from, to].map(({ status }) => isInMaintenance(status));
  return had === has ? 'update' : has ? 'maintain' : 'release';
}

function isInMaintenance(status: unknown): boolean {
  // The history has the words of a status as members.
  return Array.isArray(status)
    ? status.includes('maintenance')
    : typeof status === 'object' && status !== null && 'maintenance' in status;
}

function reportKey({ state, status }: Told): Key {
  if (Array.isArray(status)) return status.length === 0 ? 'down' : 'found';
  return state === 'failed' ? 'fail' : 'run';
}

/** What a sentence is about. */
interface Thing {
  readonly parts: readonly SentencePart[];
  readonly isMany?: boolean;
}

function thingOf(told: Told, key: Key, nameOf: Telling['nameOf']): Thing {
  const { type, resource } = told;
  const [, collection = '', , part, own] = resource.split('/');
  const named = (link: string): NamedPart => ({ link, name: nameOf?.(link) ?? nameIn(link) });
  const [kind = ''] = type.split('.');
  if (kind === 'sessions' || kind === 'connections') return closedThing(told, named);
  if (resource === '/') return { parts: ['the gateway'] };
  if (collection === 'gateway') return { parts: ['the logs'], isMany: true };
  const shown = ownName(told);
  if (part === 'listeners' && own !== undefined)
    return {
      parts: [`listener ${shown ?? nameIn(resource)} of `, named(resource.split('/').slice(0, 3).join('/'))],
    };
  if (collection === 'users') return { parts: [`user ${shown ?? nameIn(resource)}`] };
  if (collection === 'sessions')
    return { parts: [kind === 'connection' ? 'a connection of session ' : 'session ', named(resource)] };
  const self = shown === undefined ? named(resource) : namedPart(resource, shown);
  // What is new or gone is not known by its name alone.
  return { parts: key === 'create' || key === 'delete' ? [`${kind} `, self] : [self] };
}

/** The name that an event of a creation or deletion has. */
function ownName({ name, from, to }: Told): string | undefined {
  const given = [name, ...[to, from].map((each) => (each as { readonly name?: unknown } | undefined)?.name)];
  return given.find((each): each is string => typeof each === 'string');
}

/** The sessions or connections that are closed. */
function closedThing(told: Told, named: (link: string) => NamedPart): Thing {
  const { type, resource, criteria: search, count } = told;
  const [kind = ''] = type.split('.');
  const listed = told[kind];
  const number = typeof count === 'number' ? count : Array.isArray(listed) ? listed.length : undefined;
  const [, collection, id] = resource.split('/');
  if (collection === 'sessions' && id !== undefined) return { parts: ['session ', namedPart(resource, id)] };
  const isMany = number !== 1;
  const thing = isMany ? kind : kind.slice(0, -1);
  const counted = number === undefined ? thing : `${number.toLocaleString('en')} ${thing}`;
  if (collection === 'sessions') {
    const words = typeof search === 'object' && search !== null ? searchText(search) : '';
    return { parts: [words === '' ? counted : `${counted} ${words}`], isMany };
  }
  return { parts: [`${counted} ${kind === 'connections' ? 'to' : 'of'} `, named(resource)], isMany };
}

/** What stands behind the sentence: a reason, or the words of a status. */
function detailOf(told: Told, key: Key): string {
  const { reason, status, to } = told;
  const words = key === 'found' && Array.isArray(status) ? ` ${status.join(', ')}` : '';
  if (typeof reason === 'string' && reason !== '') return `${words}: ${reason}`;
  if (words !== '') return words;
  const { drain, read_only_reason: held } = (to ?? {}) as Readonly<Record<string, unknown>>;
  const { reason: why = held } = (drain ?? {}) as { readonly reason?: unknown };
  return (key === 'drain' || key === 'redrain' || key === 'hold') && typeof why === 'string' && why !== ''
    ? `: “${why}”`
    : '';
}

function namedPart(link: string, name: string): NamedPart {
  return { link, name };
}

function nameIn(link: string): string {
  const name = link.slice(link.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** A sentence begins with a capital letter, and a name with its own. */
function capital(parts: readonly SentencePart[]): readonly SentencePart[] {
  const at = parts.findIndex((part) => part !== '');
  return parts.map((part, position) =>
    position === at && typeof part === 'string' ? part.slice(0, 1).toUpperCase() + part.slice(1) : part,
  );
}

/** The parts without empty ones, and with texts that follow each other in one. */
function joined(parts: readonly SentencePart[]): readonly SentencePart[] {
  const whole: SentencePart[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (part === '') continue;
    if (typeof part === 'string' && typeof last === 'string') whole[whole.length - 1] = last + part;
    else whole.push(part);
  }
  return whole;
}
