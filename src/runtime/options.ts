/**
 * Options: the table of the options of the host, their checks and their defaults.
 */
import { assertMembers } from '../core/member.ts';
import { parseShape, text } from '../core/shape.ts';
import { createTimeFormat } from '../core/time.ts';
import { createPbkdf2Hasher } from '../ports/pbkdf2-hasher.ts';
import type {
  AuditSink,
  Authenticate,
  Clock,
  ConfigurationStore,
  GatewayPort,
  Hasher,
  Logger,
  SecretSealer,
  Veto,
} from '../ports/port.ts';
import { createSecretSealer } from '../ports/secret-sealer.ts';
import { systemClock } from '../ports/system-clock.ts';
import { onlyInDocument } from '../resources/shared/document-difference.ts';
import { parseProblem, problem, quoted, type Problem } from '../problem.ts';
import { declareSecretParameters, InvalidDocumentError } from '../resources/document.ts';
import { creationOf } from '../resources/index.ts';
import { assertSnapshot } from '../resources/snapshot.ts';
import type { Telemetry } from '../resources/telemetry.ts';
import { assertSecretParameters } from '../snapshot/secret-parameter.ts';
import type { AdminOptions } from './admin.ts';
import type { AuditOptions } from './audit/sink-queue.ts';
import { abilities } from './command/support.ts';
import {
  assertEach,
  isBoolean,
  isFunction,
  isObject,
  isText,
  isTexts,
  isThenable,
  must,
  optional,
  type Check,
  type Checks,
  type Members,
} from './host/check.ts';
import { answerInTime, type HostDeadline } from './host/waiting.ts';
import { DifferingDocumentError } from './host/host-error.ts';
import {
  askHost,
  askSafely,
  awaitHost,
  createErrorSink,
  guardClock,
  guardRoleOf,
  onceEach,
} from './host/guard.ts';
import { originsFrom } from './handler/origin.ts';
import type { CompleteOptions, SealingPorts } from './ground.ts';
import { Instruments } from './instrumentation/instruments.ts';
import { guardLogger, levels } from './instrumentation/logger.ts';
import { guardMeasurement } from './instrumentation/measurement.ts';
import { limitsFrom } from './limits.ts';

const hook = optional(option(isFunction, 'a function'));
const word = optional(option(isText, 'a string'));
const words = optional(option(isTexts, 'a list of strings'));
// A missing flag would count as false, and a secret could be stored that nobody can open after a restart.
const durable = option(isBoolean, 'true or false');
const adoptions = ['nothing', 'additions', 'all'];

const groups: {
  readonly [Group in 'access' | 'observe']: Checks<Required<AdminOptions>[Group]>;
} = {
  access: {
    authenticate: hook,
    authorize: hook,
    allowedOrigins: words,
    allowedHosts: words,
    passwordPolicy: hook,
  },
  observe: {
    onError: hook,
    logger: optional(port<Logger>(levels)),
    onMeasurement: hook,
    audit: optional(
      group<AuditOptions>(
        { sink: port<AuditSink>(['append']), required: optional(option(isBoolean, 'true or false')) },
        'an object with a sink',
      ),
    ),
  },
};

/** The options of `createAdmin`. Some values, such as a time zone, are checked where they are used. */
const options: Checks<AdminOptions> = {
  snapshot: assertSnapshot,
  gateway: port<GatewayPort>(['apply', 'inspect'], {
    telemetry: optional(assertTelemetry),
    supports: optional(assertSupports),
    sessionsEnd: optional(option(isBoolean, 'true or false')),
    veto: hook,
    behind: hook,
  }),
  clock: optional(port<Clock>(['now', 'sleep'], { monotonic: hook })),
  timeZone: word,
  hasher: optional(port<Hasher>(['hash', 'verify'], { needsRehash: hook, knows: hook })),
  sealer: optional(port<SecretSealer>(['seal', 'open'], { durable })),
  secretParameters: assertSecretParameters,
  veto: hook,
  foresee: hook,
  name: word,
  environment: word,
  access: optional(group(groups.access)),
  observe: optional(group(groups.observe)),
  limits: limitsFrom,
};

/** The options of `openAdmin`. */
const openOptions: Checks<AdminOptions & Record<'store' | 'adopt', unknown>> = {
  ...options,
  store: port<ConfigurationStore>(['load', 'append', 'compact', Symbol.asyncDispose], { durable }),
  adopt: optional(
    option((value) => adoptions.some((each) => each === value), `one of ${adoptions.join(', ')}`),
  ),
};

/**
 * Checks the options of `createAdmin` or `openAdmin`.
 *
 * @throws TypeError for an unknown option, and for an option of a wrong type
 * @throws RangeError for a limit that is not a whole number from 1 on
 * @internal
 */
export function assertOptions(given: unknown, caller: 'createAdmin' | 'openAdmin'): void {
  if (!isObject(given)) throw new TypeError(`${caller} needs options: an object with snapshot and gateway`);
  if (caller === 'createAdmin' && Object.hasOwn(given, 'store'))
    throw new TypeError(
      'createAdmin keeps nothing, so it has no option store. Call openAdmin, which takes a store',
    );
  assertNoPromise(given, '');
  for (const [name, members] of Object.entries(groups)) {
    const misplaced = Object.keys(members).find((member) => Object.hasOwn(given, member));
    if (misplaced !== undefined)
      throw new TypeError(
        `${caller} has no option ${misplaced}: it is a member of ${name}, so write ${name}: { ${misplaced} }`,
      );
  }
  assertEach(given, caller === 'createAdmin' ? options : openOptions, `option of ${caller}`);
}

/** Makes the check of an option. */
function option(is: (value: unknown) => boolean, wanted: string): Check {
  return must(is, (place) => `The option ${place} must be ${wanted}`);
}

/** Makes the check of an option that is an object with options. */
function group<T>(checks: Checks<T>, wanted = 'an object'): Check {
  const check = option(isObject, wanted);
  return (value, place) => {
    check(value, place);
    assertNoPromise(value as Members, `${place}.`);
    assertEach(value as Members, checks, `option of ${place}`, `${place}.`);
  };
}

function assertNoPromise(given: Members, prefix: string): void {
  const name = Object.keys(given).find((each) => isThenable(given[each]));
  if (name === undefined) return;
  const place = prefix + name;
  throw new TypeError(`The option ${place} is a promise. Await it first: ${place}: await …`);
}

/** Makes the check of an object with functions, from their names and the checks of other members. */
function port<T>(functions: readonly (keyof T)[], members: Partial<Checks<T>> = {}): Check {
  const names = functions.map((name) =>
    name === Symbol.asyncDispose ? '[Symbol.asyncDispose]' : String(name),
  );
  const last = names.at(-1) ?? '';
  const list =
    names.length === 1 ? `function ${last}` : `functions ${names.slice(0, -1).join(', ')} and ${last}`;
  const check = option((value) => isObject(value) || isFunction(value), `an object with the ${list}`);
  return (value, place) => {
    check(value, place);
    const given = value as Members;
    const missing = functions.findIndex((name) => !isFunction(given[name]));
    if (missing !== -1)
      throw new TypeError(`The option ${place} must have the function ${String(names[missing])}`);
    for (const [name, checkMember] of Object.entries<Check>(members as Record<string, Check>))
      checkMember(given[name], `${place}.${name}`);
  };
}

const readers: Readonly<Record<keyof Telemetry, true>> = {
  threads: true,
  tasks: true,
  idle: true,
  statistics: true,
};

/** A member that is no function may be the host's own. A function of another name is a misspelt reader. */
function assertTelemetry(telemetry: unknown): void {
  if (!isObject(telemetry)) throw new TypeError('gateway.telemetry must be an object with functions');
  const functions = Object.entries(telemetry).filter(([, member]) => isFunction(member));
  assertMembers(Object.fromEntries(functions), Object.keys(readers), 'reader of gateway.telemetry');
}

/** @throws TypeError if a gateway says that it can do what no effect asks for, or what it could not undo */
function assertSupports(supports: unknown): void {
  const isKnown = (each: unknown): boolean => abilities.some((ability) => ability === each);
  if (!Array.isArray(supports) || !supports.every(isKnown))
    throw new TypeError(`gateway.supports must be a list with some of ${abilities.join(', ')}`);
  if (supports.includes('create') !== supports.includes('delete'))
    throw new TypeError('gateway.supports must list create and delete together: each undoes the other');
}

/** The options of an interface, with or without a store. */
type GivenOptions = AdminOptions & { readonly store?: Pick<ConfigurationStore, 'durable'> };

/**
 * Adds the defaults to options.
 *
 * @throws InvalidDocumentError if the snapshot has the plain text of a secret parameter
 * @throws RangeError if the time zone is unknown, or a limit is not a whole number from 1 on
 * @internal
 */
export function completeOptions(options: GivenOptions): CompleteOptions {
  const { gateway, access = {}, observe = {}, veto, foresee, timeZone = 'UTC' } = options;
  const { authenticate, authorize } = access;
  const { instruments, clock, onError, onDifferences } = watchersOf(observe, options.clock);
  const limits = limitsFrom(options.limits);
  return {
    given: declareSecretParameters(options.snapshot, options.secretParameters),
    gateway,
    authenticate,
    isOpenAt: opennessOf(authenticate, onError),
    authorize,
    roleOf: guardRoleOf(authorize, onError),
    veto:
      (gateway.veto ?? veto) &&
      ((...given) =>
        askSafely('veto', () => gateway.veto?.(...given) ?? veto?.(...given), onError, undecided)),
    foresee: (...given) => foresee && askSafely('foresee', () => foresee(...given), onError, undefined),
    place: placeOf(options),
    clock,
    timeZone,
    times: createTimeFormat(timeZone),
    hasher: options.hasher ?? createPbkdf2Hasher(),
    secrets: secretPortsOf(options, { clock, deadlineMs: limits.hashDeadlineMs }),
    origins: originsFrom(access),
    limits,
    auditing: observe.audit,
    instruments,
    onError,
    onDifferences,
  };
}

/**
 * Asks the gateway about the given configuration, as about a command that creates all of it. A store must not keep what
 * the gateway cannot have.
 *
 * @throws InvalidDocumentError if the gateway refuses it
 * @internal
 */
export function assertUsable({ gateway, given, clock }: CompleteOptions): void {
  if (gateway.veto === undefined) return;
  const context = { now: clock.now() };
  const { detail } = refusalOf(gateway, creationOf(given, context), context) ?? {};
  if (detail !== undefined)
    throw new InvalidDocumentError([{ pointer: '', code: 'validation-failed', detail }]);
}

/**
 * Why a gateway cannot have what a decision at the start leads to.
 *
 * @throws TypeError if the gateway answers wrongly: nobody has sent a command that could be refused
 * @internal
 */
export function refusalOf({ veto }: GatewayPort, ...decided: Parameters<Veto>): Problem | undefined {
  const answer: unknown = veto?.(...decided);
  if (answer === undefined) return undefined;
  // A promise must not end the process.
  Promise.resolve(answer).catch(() => undefined);
  const refusal = isThenable(answer) ? undefined : parseProblem(answer);
  if (refusal !== undefined) return refusal;
  throw new TypeError('The veto of the gateway must answer undefined or a problem, and at once');
}

/** Whether no caller must log in. Each request asks, so `onError` gets the first failure alone. */
function opennessOf(
  authenticate: Authenticate | undefined,
  onError: (error: unknown) => void,
): CompleteOptions['isOpenAt'] {
  if (authenticate?.isOpen === undefined) return () => authenticate === undefined;
  const failed = onceEach(onError);
  return (snapshot) => askSafely('authenticate.isOpen', () => authenticate.isOpen?.(snapshot), failed, false);
}

const undecided = problem(
  'internal',
  'The gateway failed to say whether this command is allowed, so the command was refused. Nothing was changed. The error ' +
    'was reported to the gateway.',
);

const label = text(255);

/** @throws RangeError if a text has control characters, or is too long */
function placeOf({ name, environment }: GivenOptions): CompleteOptions['place'] {
  for (const [option, value] of Object.entries({ name, environment })) {
    if (value === undefined) continue;
    // A name is typed where something is closed in production.
    const isTypable = value !== '' && value === value.trim() && !/\p{Cf}/u.test(value);
    if (isTypable && parseShape(label, value).ok) continue;
    throw new RangeError(
      `The option ${option} must be one line of 1 to 255 visible characters; ${quoted(value)} is not`,
    );
  }
  return { ...(name === undefined ? {} : { name }), ...(environment === undefined ? {} : { environment }) };
}

/**
 * Connects `onError`, the logger and the measurements. An error goes to all three. With a logger and without `onError`,
 * the console gets only the errors of the logger itself.
 *
 * @internal
 */
export function watchersOf(
  { logger, onError: hook, onMeasurement }: NonNullable<AdminOptions['observe']>,
  given: Clock = systemClock,
): Pick<CompleteOptions, 'clock' | 'instruments' | 'onError' | 'onDifferences'> {
  const sink = createErrorSink(hook);
  const onError = (error: unknown): void => {
    instruments?.error(error);
    if (hook !== undefined || logger === undefined) sink(error);
  };
  const clock = guardClock(given, onError);
  const isWatched = logger !== undefined || onMeasurement !== undefined;
  const instruments: Instruments | undefined = isWatched
    ? new Instruments({
        log: guardLogger(logger, onceEach(sink)),
        measure: guardMeasurement(onMeasurement, onceEach(onError)),
        clock,
      })
    : undefined;
  const onDifferences: CompleteOptions['onDifferences'] = (differences, how) => {
    const error = new DifferingDocumentError(differences, how);
    // After a change over the interface, the two differ at every start. An error is only what no command can take over,
    // and what an operator has added to the document and does not find.
    const isUsual =
      how?.refusal === undefined &&
      differences.every(({ obstacle, detail }) => obstacle === undefined && detail !== onlyInDocument);
    if (isUsual && logger !== undefined) instruments?.differs(error);
    else onError(error);
  };
  return { clock, instruments, onError, onDifferences };
}

function secretPortsOf(
  { sealer = createSecretSealer(), access: { passwordPolicy } = {}, store }: GivenOptions,
  deadline: HostDeadline,
): SealingPorts {
  // With a durable store, the key must be durable too. Otherwise the sealed text cannot be opened after a restart.
  const isStorable = store?.durable !== true || sealer.durable;
  const seal = (secret: string): Promise<string> =>
    answerInTime('sealer.seal', deadline, () => sealer.seal(secret));
  return {
    isStorable,
    seal: async (secret) => (isStorable ? awaitHost('sealer.seal', () => seal(secret)) : undefined),
    objection: (password) => askHost('passwordPolicy', () => passwordPolicy?.(password)),
  };
}
