/**
 * The guard of the logger of the host.
 */
import type { Logger } from '../../ports/port.ts';
import { callGuarded } from '../host/guard.ts';
import type { HostError } from '../host/host-error.ts';

/** The functions that a logger must have. @internal */
export const levels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly (keyof Logger)[];

/** Writes one line. Without a logger, the fields are not made. @internal */
export type Log = (level: keyof Logger, fields: () => object, message: string) => void;

/**
 * Guards a logger: the result never throws or rejects, and does nothing without a logger.
 *
 * @param onFailure - gets the error of a function of the logger
 * @internal
 */
export function guardLogger(logger: Logger | undefined, onFailure: (error: HostError) => void): Log {
  if (logger === undefined) return () => undefined;
  return (level, fields, message) => {
    callGuarded(`logger.${level}`, () => logger[level](fields(), message), onFailure);
  };
}
