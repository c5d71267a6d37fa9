/**
 * Changes in audit records: what a command was to change, without secrets.
 *
 * A value is recorded only once a decision was accepted. Before that, a value can be a secret that somebody has typed
 * into the wrong field.
 */
import { verbOf } from '../../core/change.ts';
import { copyJson } from '../../json/copy.ts';
import { parsePointer } from '../../json/pointer.ts';
import { isArray, isObject, pick, sizeOf, type Json, type JsonObject } from '../../json/value.ts';
import { namesOfSecrets, redactSecrets, type AdminEvent } from '../../resources/index.ts';

/** Largest size of a change that is recorded as it is, in bytes. @internal */
export const mostBytes = 65_536;

/** The largest number of items that are recorded of a larger change. */
const mostItems = 100;

/**
 * Describes the events of an accepted decision. The items have secrets as events have them: hashed or sealed.
 *
 * @internal
 */
export function decidedChange(events: readonly AdminEvent[]): readonly JsonObject[] {
  return events.map((event) => described(event as unknown as JsonObject));
}

/**
 * Describes the events of a decision that the host has built. They can contain anything, secrets in plain text too.
 * Events that are no JSON are not described.
 *
 * @internal
 */
export function builtChange(events: readonly AdminEvent[]): readonly Json[] {
  const copied = copyJson(events, { depth: 64 });
  return copied.ok ? redacted(decidedChange(copied.value as unknown as readonly AdminEvent[])) : [];
}

/** Gives items as a record has them: without secrets, and not too many. @internal */
export function redacted(items: readonly JsonObject[]): readonly Json[] {
  return bounded(redactSecrets(items) as readonly JsonObject[]);
}

/**
 * Describes the body of a request whose form was checked: the operations of a patch without their values, the commands
 * of a sequence, or the name of what was to be created. A route without a body describes nothing.
 *
 * @internal
 */
export function askedChange(body: Json): readonly Json[] {
  if (isArray(body)) return bounded([{ operations: body.filter(isObject).map(withoutValue) }]);
  if (!isObject(body)) return [];
  const { commands } = body;
  if (commands !== undefined && isArray(commands))
    return bounded(commands.filter(isObject).map(askedCommand));
  // A misspelt member can be a secret.
  return bounded([pick(body, (name) => name === 'name' && typeof body[name] === 'string')]);
}

/**
 * Describes what was to be changed at an endpoint of the host, in the words of the host. The host can give a secret in
 * plain text, so a member with the name of a secret is left out at any depth, and so is the value of an operation on
 * one.
 *
 * @param isSecret - whether the name is the name of a declared secret parameter
 * @internal
 */
export function toldChange(
  change: readonly JsonObject[],
  isSecret: (name: string) => boolean,
): readonly Json[] {
  const isHidden = (name: string): boolean => namesOfSecrets.has(name) || isSecret(name);
  return redacted(without(change, isHidden) as readonly JsonObject[]);
}

/** A copy without the members that are hidden, at any depth, and without the values of operations on them. */
function without(value: Json, isHidden: (name: string) => boolean): Json {
  if (isArray(value)) return value.map((item) => without(item, isHidden));
  if (!isObject(value)) return value;
  const { path } = value;
  // What is no pointer can name a secret too.
  const tokens = typeof path === 'string' ? (parsePointer(path) ?? path.split('/')) : [];
  const isOnHidden = tokens.some(isHidden);
  const kept = pick(value, (name) => !isHidden(name) && !(isOnHidden && name === 'value'));
  return Object.fromEntries(Object.entries(kept).map(([name, member]) => [name, without(member, isHidden)]));
}

/** A command of a sequence. */
function askedCommand({ method = '', path = '', body = null }: JsonObject): JsonObject {
  const [asked] = askedChange(body);
  return { method, path, ...(asked as JsonObject | undefined) };
}

function described(event: JsonObject): JsonObject {
  // The record has these members elsewhere, or the type or `operations` say the same.
  const { at, actor, undoes, command, ...own } = event;
  const members = verbOf(own) === 'update' ? pick(own, (name) => name !== 'from' && name !== 'to') : own;
  const { sessions, connections, ...rest } = members;
  const closed = [sessions, connections].find((list) => list !== undefined && isArray(list));
  if (closed === undefined) return members;
  // The event of a closing has the number of all, if it is known, and no list.
  return closed.length === 0 ? rest : { ...rest, count: closed.length };
}

function withoutValue(operation: JsonObject): JsonObject {
  return pick(operation, (name) => ['op', 'path', 'from'].includes(name));
}

function bounded(items: readonly JsonObject[]): readonly Json[] {
  if (sizeOf(items, mostBytes) <= mostBytes) return items;
  return items
    .slice(0, mostItems)
    .map((item) => pick(item, (name) => name === 'type' || name === 'resource'));
}
