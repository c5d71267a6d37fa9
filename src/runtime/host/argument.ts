/**
 * Arguments: checks the options and arguments that a host without types can get wrong. Each check throws a TypeError
 * with a sentence that names the argument.
 */
import { assertMembers } from '../../core/member.ts';
import { copyJson } from '../../json/copy.ts';
import { roles, type Role } from '../../http/route.ts';
import { quoted } from '../../problem.ts';
import type { WriteRecord } from '../../ports/audit-record.ts';
import { assertSnapshot } from '../../resources/snapshot.ts';
import { assertSecretParameters } from '../../snapshot/secret-parameter.ts';
import { assertTransition } from '../../resources/index.ts';
import { abilities } from '../command/support.ts';
import type { Telemetry } from '../../resources/telemetry.ts';
import type { AdminOptions, ExecuteOptions } from '../admin.ts';
import type { AuditOptions } from '../audit/sink-queue.ts';
import {
  isBoolean,
  isFunction,
  isObject,
  isOptional,
  isSignal,
  isText,
  isTexts,
  type Members,
} from './check.ts';
import { isThenable } from './host-error.ts';
import { levels } from '../instrumentation/logger.ts';
import { parseMark } from '../plan/mark.ts';
import { defaultLimits } from '../limits.ts';

/** The functions that each port must have. */
const ports = {
  gateway: ['apply', 'inspect'],
  clock: ['now', 'sleep'],
  hasher: ['hash', 'verify'],
  sealer: ['seal', 'open'],
  store: ['load', 'append', 'compact', Symbol.asyncDispose],
  'observe.audit.sink': ['append'],
  'observe.logger': levels,
} as const satisfies Record<string, readonly PropertyKey[]>;

/** The functions that a port may have. */
const optional: Readonly<Partial<Record<keyof typeof ports, readonly string[]>>> = {
  clock: ['monotonic'],
  hasher: ['needsRehash', 'knows'],
};

/** The options of `openAdmin`. */
const openOptions = {
  snapshot: true,
  gateway: true,
  clock: true,
  timeZone: true,
  hasher: true,
  sealer: true,
  secretParameters: true,
  veto: true,
  foresee: true,
  name: true,
  environment: true,
  access: true,
  observe: true,
  limits: true,
  store: true,
  adopt: true,
} as const satisfies Record<keyof AdminOptions | 'store' | 'adopt', true>;

/** The options that only `openAdmin` has. */
const ofStore: readonly string[] = ['store', 'adopt'];

/** The options of each group. */
const groups = {
  access: {
    authenticate: true,
    authorize: true,
    allowedOrigins: true,
    allowedHosts: true,
    passwordPolicy: true,
  },
  observe: { onError: true, logger: true, onMeasurement: true, audit: true },
} as const satisfies {
  readonly [Group in 'access' | 'observe']: Record<keyof Required<AdminOptions>[Group], true>;
};

const auditOptions = ['sink', 'required'] as const satisfies readonly (keyof AuditOptions)[];

const executeOptions = [
  'actor',
  'ifMatch',
  'mark',
  'signal',
] as const satisfies readonly (keyof ExecuteOptions)[];

/**
 * Checks the options of `createAdmin`. Values, such as a limit or a time zone, are checked where they are used.
 *
 * @throws TypeError for an unknown option, and for an option of a wrong type
 * @internal
 */
export function assertOptions(options: unknown, caller: 'createAdmin' | 'openAdmin'): void {
  if (!isObject(options)) throw new TypeError(`${caller} needs options: an object with snapshot and gateway`);
  const known = Object.keys(openOptions).filter((name) => caller === 'openAdmin' || !ofStore.includes(name));
  if (caller === 'createAdmin' && Object.hasOwn(options, 'store'))
    throw new TypeError(
      'createAdmin keeps nothing, so it has no option store. Call openAdmin, which takes a store',
    );
  for (const [name, option] of Object.entries(options)) assertNoPromise(name, option);
  for (const [group, members] of Object.entries(groups)) {
    const misplaced = Object.keys(members).find((name) => Object.hasOwn(options, name));
    if (misplaced !== undefined)
      throw new TypeError(
        `${caller} has no option ${misplaced}: it is a member of ${group}, so write ${group}: { ${misplaced} }`,
      );
  }
  assertMembers(options, known, `option of ${caller}`);
  assertSnapshot(options['snapshot']);
  assertPort('gateway', options['gateway']);
  assertTelemetry(options['gateway']['telemetry']);
  assertSupports(options['gateway']['supports']);
  for (const name of ['clock', 'hasher', 'sealer'] as const) {
    if (options[name] !== undefined) assertPort(name, options[name]);
  }
  if (options['sealer'] !== undefined) assertDurable('sealer', options['sealer']);
  assertHooks(options, '', ['veto', 'foresee']);
  for (const text of ['timeZone', 'name', 'environment'])
    if (!isOptional(options[text], isText)) throw new TypeError(`The option ${text} must be a string`);
  assertSecretParameters(options['secretParameters']);
  assertAccess(groupOf(options, 'access'));
  assertObserve(groupOf(options, 'observe'));
  if (options['limits'] !== undefined) assertLimits(options['limits']);
}

/** The members of a group; none if the group is left out. */
function groupOf(options: Members, name: keyof typeof groups): Members {
  const group = options[name] ?? {};
  if (!isObject(group)) throw new TypeError(`The option ${name} must be an object`);
  for (const [member, value] of Object.entries(group)) assertNoPromise(`${name}.${member}`, value);
  assertMembers(group, Object.keys(groups[name]), `option of ${name}`);
  return group;
}

function assertAccess(access: Members): void {
  assertHooks(access, 'access.', ['authenticate', 'authorize', 'passwordPolicy']);
  for (const name of ['allowedOrigins', 'allowedHosts'] as const) {
    if (!isOptional(access[name], isTexts))
      throw new TypeError(`The option access.${name} must be a list of strings`);
  }
}

function assertObserve(observe: Members): void {
  assertHooks(observe, 'observe.', ['onError', 'onMeasurement']);
  if (observe['logger'] !== undefined) assertPort('observe.logger', observe['logger']);
  if (observe['audit'] !== undefined) assertAudit(observe['audit']);
}

function assertHooks(
  options: Members,
  place: '' | `${keyof typeof groups}.`,
  names: readonly string[],
): void {
  const wrong = names.find((name) => !isOptional(options[name], isFunction));
  if (wrong !== undefined) throw new TypeError(`The option ${place}${wrong} must be a function`);
}

const readers = ['threads', 'tasks', 'idle', 'statistics'] as const satisfies readonly (keyof Telemetry)[];

/** @throws TypeError if a gateway says that it can do what no effect asks for, or what it could not undo */
function assertSupports(supports: unknown): void {
  const isKnown = (each: unknown): boolean => abilities.some((ability) => ability === each);
  if (supports === undefined) return;
  if (!Array.isArray(supports) || !supports.every(isKnown))
    throw new TypeError(`gateway.supports must be a list with some of ${abilities.join(', ')}`);
  if (supports.includes('create') !== supports.includes('delete'))
    throw new TypeError('gateway.supports must list create and delete together: each undoes the other');
}

/** A member that is no function may be the host's own. A function of another name is a misspelt reader. */
function assertTelemetry(telemetry: unknown): void {
  if (telemetry === undefined) return;
  if (!isObject(telemetry)) throw new TypeError('gateway.telemetry must be an object with functions');
  const functions = Object.entries(telemetry).filter(([, member]) => isFunction(member));
  assertMembers(Object.fromEntries(functions), readers, 'reader of gateway.telemetry');
}

/**
 * Checks the options of `openAdmin`.
 *
 * @throws TypeError for an option of a wrong type
 * @internal
 */
export function assertOpenOptions(options: unknown): void {
  assertOptions(options, 'openAdmin');
  const { store } = options as Members;
  assertPort('store', store);
  assertDurable('store', store);
  const { adopt } = options as Members;
  if (!isOptional(adopt, (value) => adoptions.some((each) => each === value)))
    throw new TypeError(`The option adopt must be one of ${adoptions.join(', ')}`);
}

const adoptions = ['nothing', 'additions', 'all'] as const;

function assertNoPromise(name: string, option: unknown): void {
  if (isThenable(option))
    throw new TypeError(`The option ${name} is a promise. Await it first: ${name}: await …`);
}

function assertPort(name: keyof typeof ports, port: unknown): asserts port is Members {
  const methods: readonly PropertyKey[] = ports[name];
  const names = methods.map(textOf);
  if (!isObject(port) && !isFunction(port)) {
    const last = names.at(-1) ?? '';
    const list =
      names.length === 1 ? `function ${last}` : `functions ${names.slice(0, -1).join(', ')} and ${last}`;
    throw new TypeError(`The option ${name} must be an object with the ${list}`);
  }
  const missing = methods.find((method) => !isFunction((port as Members)[method]));
  if (missing !== undefined)
    throw new TypeError(`The option ${name} must have the function ${textOf(missing)}`);
  const wrong = optional[name]?.find((method) => !isOptional((port as Members)[method], isFunction));
  if (wrong !== undefined) throw new TypeError(`The option ${name}.${wrong} must be a function`);
}

function assertDurable(name: keyof typeof ports, port: unknown): void {
  // A missing flag would count as false, and a secret could be stored that nobody can open after a restart.
  if (!isBoolean((port as Members)['durable']))
    throw new TypeError(`The option ${name}.durable must be true or false`);
}

function assertAudit(audit: unknown): void {
  if (!isObject(audit)) throw new TypeError('The option observe.audit must be an object with a sink');
  assertMembers(audit, auditOptions, 'option of observe.audit');
  assertNoPromise('observe.audit.sink', audit['sink']);
  assertPort('observe.audit.sink', audit['sink']);
  if (!isOptional(audit['required'], isBoolean))
    throw new TypeError('The option observe.audit.required must be true or false');
}

function assertLimits(limits: unknown): void {
  if (!isObject(limits)) throw new TypeError('The option limits must be an object');
  assertMembers(limits, Object.keys(defaultLimits), 'limit');
}

/**
 * Checks the arguments of `execute` and `plan`.
 *
 * @throws TypeError for an argument of a wrong type
 * @internal
 */
export function assertCommand(transition: unknown, options: unknown): void {
  assertTransition(transition);
  if (!isObject(options)) throw new TypeError('The options of a command must be an object');
  assertMembers(options, executeOptions, 'option of a command');
  const { actor, ifMatch, mark, signal } = options;
  if (!isOptional(actor, isText)) throw new TypeError('The actor must be a string');
  if (ifMatch !== undefined && !(isObject(ifMatch) && isText(ifMatch['link']) && isText(ifMatch['etag'])))
    throw new TypeError('ifMatch must be an object with the strings link and etag');
  // A mark that is undefined, such as that of a refused plan, must not leave the command without a bound.
  if (Object.hasOwn(options, 'mark')) assertMark(mark);
  assertSignal(signal);
}

function assertMark(mark: unknown): void {
  if (!isText(mark)) throw new TypeError('mark must be a string: the mark of a plan');
  if (parseMark(mark) === undefined)
    throw new RangeError(`mark must be the mark of a plan; ${quoted(mark)} is not one`);
}

/** @throws TypeError if the id of a command is not a string @internal */
export function assertCommandId(id: unknown): void {
  if (!isText(id))
    throw new TypeError('The id of a command must be a string, such as the command of a problem');
}

/** @throws TypeError if the mode of the interface is not true or false @internal */
export function assertReadOnly(readOnly: unknown): void {
  if (typeof readOnly !== 'boolean') throw new TypeError('readOnly must be true or false');
}

/** @throws TypeError if a role is unknown @internal */
export function assertRole(role: unknown): void {
  if (!roles.includes(role as Role)) throw new TypeError(`role must be one of ${roles.join(', ')}`);
}

const outcomes = [
  'accepted',
  'unchanged',
  'refused',
  'unknown',
] as const satisfies readonly WriteRecord['outcome'][];
const attemptMembers = ['request', 'principal', 'outcome', 'code', 'resources', 'change'] as const;

/** @throws TypeError if a member of an attempt at an endpoint of the host has a wrong type @internal */
export function assertHostAttempt(attempt: unknown): void {
  if (!isObject(attempt))
    throw new TypeError('audit.record needs an attempt: an object with request and outcome');
  assertMembers(attempt, attemptMembers, 'member of an attempt');
  const { request, principal, outcome, code, resources, change } = attempt;
  if (!(isObject(request) && isText(request['method']) && isText(request['target'])))
    throw new TypeError('request must be the request that guard got');
  if (!isOptional(principal, (value) => isObject(value) && isText(value['name'])))
    throw new TypeError('principal must be an object with a name');
  if (!outcomes.some((each) => each === outcome))
    throw new TypeError(`outcome must be one of ${outcomes.join(', ')}`);
  if (!isOptional(code, isText)) throw new TypeError('code must be a string');
  if (!isOptional(resources, isTexts)) throw new TypeError('resources must be a list of strings');
  if (!isOptional(request['peer'], isText)) throw new TypeError('The peer of request must be a string');
  if (change === undefined) return;
  const copied = copyJson(change, { depth: 64 });
  if (!copied.ok || !Array.isArray(copied.value) || !copied.value.every(isObject))
    throw new TypeError('change must be a list of objects of plain JSON');
}

/** What `after` must be, by the function that takes it. */
const ids: Readonly<Record<string, string>> = {
  events: 'an event id, which is a string such as 5f0c8e21a9b3.7.0',
  audit: 'the id of an audit record, which is a string such as 5f0c.7',
};

/**
 * Checks the options of a function that reads on after an item, such as `events` and `audit`.
 *
 * @throws TypeError for an option of a wrong type
 * @internal
 */
export function assertReaderOptions(options: unknown, caller: string, wanted = ids[caller]): void {
  if (!isObject(options)) throw new TypeError(`The options of ${caller} must be an object`);
  assertMembers(options, ['after', 'signal'], `option of ${caller}`);
  if (!isOptional(options['after'], isText)) throw new TypeError(`after must be ${String(wanted)}`);
  assertSignal(options['signal']);
}

/** @throws TypeError if an optional signal is not an AbortSignal @internal */
export function assertSignal(signal: unknown): void {
  if (!isOptional(signal, isSignal)) throw new TypeError('signal must be an AbortSignal');
}

/** Writes the name of a method as code does. */
function textOf(name: PropertyKey): string {
  return name === Symbol.asyncDispose ? '[Symbol.asyncDispose]' : String(name);
}
