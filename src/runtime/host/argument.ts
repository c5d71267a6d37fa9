/**
 * Arguments: checks what a host without types gives to the functions of a running interface. Each check throws a
 * TypeError with a sentence that names the argument.
 */
import { copyJson } from '../../json/copy.ts';
import { roles, type Role } from '../../http/route.ts';
import { quoted } from '../../problem.ts';
import type { HostAttempt, WriteRecord } from '../../ports/audit-record.ts';
import { assertTransition } from '../../resources/index.ts';
import type { ExecuteOptions } from '../admin.ts';
import {
  assertEach,
  isObject,
  isSignal,
  isText,
  isTexts,
  must,
  optional,
  type Check,
  type Checks,
} from './check.ts';
import { parseMark } from '../plan/mark.ts';

/** Makes the check of an argument. */
function argument(is: (value: unknown) => boolean, wanted: string, name?: string): Check {
  return must(is, (place) => `${name ?? place} must be ${wanted}`);
}

const signal = optional(argument(isSignal, 'an AbortSignal'));

/** @throws TypeError if an optional signal is not an AbortSignal @internal */
export function assertSignal(value: unknown): void {
  signal(value, 'signal');
}

const commandOptions: Checks<ExecuteOptions> = {
  actor: optional(argument(isText, 'a string', 'The actor')),
  ifMatch: optional(
    argument(
      (value) => isObject(value) && isText(value['link']) && isText(value['etag']),
      'an object with the strings link and etag',
    ),
  ),
  mark: optional(assertMark),
  signal,
};

/**
 * Checks the arguments of `execute` and `plan`.
 *
 * @throws TypeError for an argument of a wrong type
 * @internal
 */
export function assertCommand(transition: unknown, options: unknown): void {
  assertTransition(transition);
  if (!isObject(options)) throw new TypeError('The options of a command must be an object');
  assertEach(options, commandOptions, 'option of a command');
  // A mark that is undefined, such as that of a refused plan, must not leave the command without a bound.
  if (Object.hasOwn(options, 'mark') && options['mark'] === undefined) assertMark(undefined);
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

const attemptMembers: Checks<HostAttempt> = {
  request: (request) => {
    if (!(isObject(request) && isText(request['method']) && isText(request['target'])))
      throw new TypeError('request must be the request that guard got');
    optional(argument(isText, 'a string', 'The peer of request'))(request['peer'], 'peer');
  },
  principal: optional(argument((value) => isObject(value) && isText(value['name']), 'an object with a name')),
  outcome: argument((value) => outcomes.some((each) => each === value), `one of ${outcomes.join(', ')}`),
  code: optional(argument(isText, 'a string')),
  resources: optional(argument(isTexts, 'a list of strings')),
  change: optional(argument(isChange, 'a list of objects of plain JSON')),
};

function isChange(change: unknown): boolean {
  const copied = copyJson(change, { depth: 64 });
  return copied.ok && Array.isArray(copied.value) && copied.value.every(isObject);
}

/** @throws TypeError if a member of an attempt at an endpoint of the host has a wrong type @internal */
export function assertHostAttempt(attempt: unknown): void {
  if (!isObject(attempt))
    throw new TypeError('audit.record needs an attempt: an object with request and outcome');
  assertEach(attempt, attemptMembers, 'member of an attempt');
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
  const checks = { after: optional(argument(isText, String(wanted))), signal };
  assertEach(options, checks, `option of ${caller}`);
}
