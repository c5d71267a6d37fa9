/**
 * Options: checks the options of the host and adds the defaults.
 */
import type { SecretPorts } from '../core/secret.ts';
import { createTimeFormat, type TimeFormat } from '../core/time.ts';
import { createBoundedQueue } from '../ports/bounded-queue.ts';
import { createPbkdf2Hasher } from '../ports/pbkdf2-hasher.ts';
import type { Authenticate, Clock, ConfigurationStore } from '../ports/port.ts';
import { createSecretSealer } from '../ports/secret-sealer.ts';
import { systemClock } from '../ports/system-clock.ts';
import type { AdminOptions } from './admin.ts';
import type { Authorize } from './handler/handler.ts';
import { limitsFrom, type Limits } from './limits.ts';

/** The options with all defaults filled in. @internal */
export interface CompleteOptions extends Pick<AdminOptions, 'snapshot' | 'gateway'> {
  readonly authenticate: Authenticate | undefined;
  readonly authorize: Authorize | undefined;
  readonly clock: Clock;
  readonly times: TimeFormat;
  readonly secrets: SecretPorts;
  readonly limits: Limits;
  /** Never throws. */
  readonly onError: (error: unknown) => void;
}

/** The options of an interface, with or without a store. */
type GivenOptions = AdminOptions & { readonly store?: ConfigurationStore };

/**
 * Checks options and adds the defaults.
 *
 * @throws RangeError if the time zone is unknown, or a limit is not a whole number from 1 on
 * @internal
 */
export function completeOptions(options: GivenOptions): CompleteOptions {
  const { snapshot, gateway, authenticate, authorize } = options;
  return {
    snapshot,
    gateway,
    authenticate,
    authorize,
    clock: withinYears(options.clock ?? systemClock),
    times: createTimeFormat(options.timeZone ?? 'UTC'),
    secrets: secretPortsOf(options),
    limits: limitsFrom(options.limits),
    onError: quietly(options.onError),
  };
}

/**
 * Wraps `onError` so that it never throws or rejects. A failing `onError` must not break the command or report that
 * called it.
 *
 * @internal
 */
export function quietly(onError: (error: unknown) => unknown = () => undefined): (error: unknown) => void {
  return (error) => {
    try {
      Promise.resolve(onError(error)).catch(() => undefined);
    } catch {
      // The error handler itself failed, so nobody can be told.
    }
  };
}

function secretPortsOf({
  hasher = createPbkdf2Hasher(),
  sealer = createSecretSealer(),
  passwordPolicy,
  store,
}: GivenOptions): SecretPorts {
  const storable = store?.durable !== true || sealer.durable;
  const hashing = createBoundedQueue({ maxInFlight: 2, maxQueued: 64 });
  return {
    hash: (password) => hashing(() => hasher.hash(password), undefined),
    // With a durable store, the key must be durable too. Otherwise the sealed text cannot be opened after a restart.
    seal: async (secret) => (storable ? sealer.seal(secret) : undefined),
    objection: (password) => passwordPolicy?.(password),
  };
}

/** The times that a gateway document can contain: years have four digits. */
const earliest = Date.parse('0000-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/** Limits the times of a clock. A time that a document cannot contain would make the journal unreadable. */
function withinYears(clock: Clock): Clock {
  const now = (): number => Math.min(Math.max(Math.trunc(clock.now()) || 0, earliest), latest);
  return { now, sleep: (...how) => clock.sleep(...how) };
}
