/**
 * Options: checks the options of the host and adds the defaults.
 */
import type { SecretPorts } from '../core/secret.ts';
import { createTimeFormat, type TimeFormat } from '../core/time.ts';
import { createPbkdf2Hasher } from '../ports/pbkdf2-hasher.ts';
import type { Authenticate, Clock, ConfigurationStore, Hasher } from '../ports/port.ts';
import { createSecretSealer } from '../ports/secret-sealer.ts';
import { systemClock } from '../ports/system-clock.ts';
import type { AdminOptions } from './admin.ts';
import type { AuditOptions } from './audit/sink-queue.ts';
import { createErrorSink } from './error-sink.ts';
import { guardClock } from './guarded-clock.ts';
import { sealWith } from './guarded-secret.ts';
import type { Authorize } from './handler/access.ts';
import { originsFrom, type Origins } from './handler/origin.ts';
import { limitsFrom, type Limits } from './limits.ts';
import { guardVeto, type Veto } from './veto.ts';

/** The options with all defaults filled in. @internal */
export interface CompleteOptions extends Pick<AdminOptions, 'snapshot' | 'gateway'> {
  readonly authenticate: Authenticate | undefined;
  readonly authorize: Authorize | undefined;
  /** Never throws. */
  readonly veto: Veto | undefined;
  readonly clock: Clock;
  readonly times: TimeFormat;
  readonly hasher: Hasher;
  readonly secrets: Ports;
  readonly origins: Origins;
  readonly limits: Limits;
  readonly audit: AuditOptions | undefined;
  /** Never throws. */
  readonly onError: (error: unknown) => void;
}

/** The ports for secrets that need no running interface. */
type Ports = Pick<SecretPorts, 'seal' | 'objection'>;

/** The options of an interface, with or without a store. */
type GivenOptions = AdminOptions & { readonly store?: ConfigurationStore };

/**
 * Checks options and adds the defaults.
 *
 * @throws RangeError if the time zone is unknown, or a limit is not a whole number from 1 on
 * @internal
 */
export function completeOptions(options: GivenOptions): CompleteOptions {
  const { snapshot, gateway, authenticate, authorize, veto } = options;
  const onError = createErrorSink(options.onError);
  return {
    snapshot,
    gateway,
    authenticate,
    authorize,
    veto: veto === undefined ? undefined : guardVeto(veto, onError),
    clock: guardClock(options.clock ?? systemClock, onError),
    times: createTimeFormat(options.timeZone ?? 'UTC'),
    hasher: options.hasher ?? createPbkdf2Hasher(),
    secrets: secretPortsOf(options),
    origins: originsFrom(options),
    limits: limitsFrom(options.limits),
    audit: options.audit,
    onError,
  };
}

function secretPortsOf({ sealer = createSecretSealer(), passwordPolicy, store }: GivenOptions): Ports {
  const storable = store?.durable !== true || sealer.durable;
  return {
    // With a durable store, the key must be durable too. Otherwise the sealed text cannot be opened after a restart.
    seal: async (secret) => (storable ? sealWith(sealer, secret) : undefined),
    objection: (password) => passwordPolicy?.(password),
  };
}
