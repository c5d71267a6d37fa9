/**
 * Errors: the base of every error of the library, with a code for programs.
 */

/**
 * The codes of {@link AdminError}, one for each class.
 *
 * @internal
 */
export type AdminErrorCode =
  | 'document-differs'
  | 'document-invalid'
  | 'effect-refused'
  | 'host-failed'
  | 'report-invalid'
  | 'store-conflict'
  | 'store-damaged'
  | 'store-locked'
  | 'store-lost';

/**
 * An error of the library. The classes say more: {@link HostError}, {@link EffectRefusedError} and others.
 *
 * Compare `code` rather than the class where a program can have loaded the library twice.
 *
 * @public
 */
export class AdminError extends Error {
  /** Names the kind of error. A code never changes its meaning. */
  declare readonly code: AdminErrorCode;

  /**
   * @param code - the code of the class
   * @param message - what happened and what to do, in sentences for an operator
   * @param options - the cause
   */
  constructor(code: AdminErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether an error has a code. @internal */
export function hasCode(error: unknown, code: AdminErrorCode): boolean {
  return error instanceof Error && (error as Partial<AdminError>).code === code;
}
