/**
 * Errors of PostgreSQL, of the system and of the host, as sentences that contain no stored values.
 */

/**
 * The message of an error, without its other members: `detail` and `where` quote rows, with password hashes and sealed
 * secrets.
 *
 * @internal
 */
export function sentenceOf(error: unknown): string {
  // Not `instanceof`: an error of the system may come from another realm than this module.
  const { message, code, errors } = (error ?? {}) as Partial<AggregateError & { readonly code: unknown }>;
  if (!message && Array.isArray(errors)) return errors.map(sentenceOf).join(', ');
  return `${message ?? 'an unknown error'}${typeof code === 'string' ? ` (${code})` : ''}`;
}
