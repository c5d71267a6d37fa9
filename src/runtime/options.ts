/**
 * Options: checks the options of the host and adds the defaults.
 */
import type { SecretPorts } from '../core/secret.ts';
import { parseShape, text } from '../core/shape.ts';
import { createTimeFormat, type TimeFormat } from '../core/time.ts';
import { createPbkdf2Hasher } from '../ports/pbkdf2-hasher.ts';
import type { Authenticate, Clock, ConfigurationStore, Hasher, Veto } from '../ports/port.ts';
import { createSecretSealer } from '../ports/secret-sealer.ts';
import { systemClock } from '../ports/system-clock.ts';
import { onlyInDocument, type DocumentDifference } from '../resources/shared/document-difference.ts';
import { quoted } from '../problem.ts';
import { declareSecretParameters } from '../resources/document.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { AdminOptions } from './admin.ts';
import type { AuditOptions } from './audit/sink-queue.ts';
import type { HostDeadline } from './host/deadline.ts';
import { DifferingDocumentError } from './host/differing-document-error.ts';
import {
  createErrorSink,
  guardClock,
  guardOpenness,
  guardForesee,
  type GuardedClock,
  type GuardedForesee,
  guardVeto,
  objectionOf,
  onceEach,
  sealWith,
} from './host/guard.ts';
import type { Authorize } from './handler/access.ts';
import { originsFrom, type Origins } from './handler/origin.ts';
import { Instruments } from './instrumentation/instruments.ts';
import { guardLogger } from './instrumentation/logger.ts';
import { guardMeasurement } from './instrumentation/measurement.ts';
import { limitsFrom, type Limits } from './limits.ts';

/** The options with all defaults filled in. @internal */
export interface CompleteOptions extends Pick<AdminOptions, 'gateway'> {
  /** The given snapshot, with the declared secret parameters. */
  readonly snapshot: Snapshot;
  readonly authenticate: Authenticate | undefined;
  /** Whether no caller has to log in at a state. Never throws. */
  readonly isOpenAt: (snapshot: Snapshot) => boolean;
  readonly authorize: Authorize | undefined;
  /** Never throws. */
  readonly veto: Veto | undefined;
  readonly foresee: GuardedForesee;
  /** Where the interface runs, as far as the host says so. */
  readonly place: { readonly name?: string; readonly environment?: string };
  readonly clock: GuardedClock;
  readonly timeZone: string;
  readonly times: TimeFormat;
  readonly hasher: Hasher;
  readonly secrets: Ports;
  readonly origins: Origins;
  readonly limits: Limits;
  readonly audit: AuditOptions | undefined;
  /** Left out if neither a logger nor a hook for measurements is given. */
  readonly instruments: Instruments | undefined;
  /** Never throws. */
  readonly onError: (error: unknown) => void;
  /** Reports where the given document differs from the configuration in use. */
  readonly onDifferences: (differences: readonly DocumentDifference[], advice?: string) => void;
}

/** The ports for secrets that need no running interface. */
type Ports = Pick<SecretPorts, 'seal' | 'objection'> & {
  /** Whether sealed text can be opened after a restart, as far as a restart matters. */
  readonly isStorable: boolean;
};

/** The options of an interface, with or without a store. */
type GivenOptions = AdminOptions & { readonly store?: Pick<ConfigurationStore, 'durable'> };

/**
 * Checks options and adds the defaults.
 *
 * @throws InvalidDocumentError if the snapshot has the plain text of a secret parameter
 * @throws RangeError if the time zone is unknown, or a limit is not a whole number from 1 on
 * @internal
 */
export function completeOptions(options: GivenOptions): CompleteOptions {
  const { gateway, access = {}, observe = {}, veto, foresee, timeZone = 'UTC' } = options;
  const { authenticate, authorize } = access;
  const snapshot = declareSecretParameters(options.snapshot, options.secretParameters);
  const { instruments, clock, onError, onDifferences } = watchersOf(observe, options.clock);
  const limits = limitsFrom(options.limits);
  return {
    snapshot,
    gateway,
    authenticate,
    isOpenAt: guardOpenness(authenticate, onError),
    authorize,
    veto: veto === undefined ? undefined : guardVeto(veto, onError),
    foresee: foresee === undefined ? () => undefined : guardForesee(foresee, onError),
    place: placeOf(options),
    clock,
    timeZone,
    times: createTimeFormat(timeZone),
    hasher: options.hasher ?? createPbkdf2Hasher(),
    secrets: secretPortsOf(options, { clock, deadlineMs: limits.hashDeadlineMs }),
    origins: originsFrom(access),
    limits,
    audit: observe.audit,
    instruments,
    onError,
    onDifferences,
  };
}

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
  const onDifferences: CompleteOptions['onDifferences'] = (differences, advice) => {
    if (differences.length === 0) return;
    const error = new DifferingDocumentError(differences, advice);
    // After a change over the interface, the two differ at every start. An error is only what no command can take over,
    // and what an operator has added to the document and does not find.
    const isUsual = differences.every(
      ({ obstacle, detail }) => obstacle === undefined && detail !== onlyInDocument,
    );
    if (isUsual && logger !== undefined) instruments?.differs(error);
    else onError(error);
  };
  return { clock, instruments, onError, onDifferences };
}

function secretPortsOf(
  { sealer = createSecretSealer(), access: { passwordPolicy } = {}, store }: GivenOptions,
  deadline: HostDeadline,
): Ports {
  // With a durable store, the key must be durable too. Otherwise the sealed text cannot be opened after a restart.
  const isStorable = store?.durable !== true || sealer.durable;
  return {
    isStorable,
    seal: async (secret) => (isStorable ? sealWith(sealer, secret, deadline) : undefined),
    objection: (password) => objectionOf(passwordPolicy, password),
  };
}
