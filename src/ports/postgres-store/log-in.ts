/**
 * The log-in at a PostgreSQL server. The host can give each part as a function, which is asked anew for each new
 * connection: a role, a password or a certificate can then change while the store is open.
 */
import type { ConnectionOptions } from 'node:tls';

import type { ClientConfig } from 'pg';

import { isContainer, isText, type Json } from '../../json/value.ts';

/** How to log in. @internal */
export interface LogInOptions {
  readonly user?: string | (() => string | Promise<string>) | undefined;
  readonly password?: string | ((user: string) => string | Promise<string>) | undefined;
  readonly ssl?: TlsOptions | (() => TlsOptions | Promise<TlsOptions>) | undefined;
  readonly connectTimeoutMs: number;
}

type TlsOptions = boolean | ConnectionOptions;

/** A part of the log-in: whether a value is right, and what it must be. */
interface LogInValue {
  readonly isRight: (value: unknown) => boolean;
  readonly wanted: string;
}

/** The parts of the log-in, by the names of their options. @internal */
export const logInParts = {
  user: { isRight: isText, wanted: 'a string' },
  password: { isRight: isText, wanted: 'a string' },
  ssl: {
    isRight: (value) => typeof value === 'boolean' || isContainer(value as Json),
    wanted: 'true, false, or the options of tls.connect',
  },
} as const satisfies Readonly<Record<string, LogInValue>>;

type PartName = keyof typeof logInParts;

/**
 * Asks the host with which user and which TLS options a new connection is made.
 *
 * @throws Error if a function of the host fails, gives something else, or does not answer in time
 * @internal
 */
export async function logInOf({
  user,
  ssl,
  connectTimeoutMs,
}: LogInOptions): Promise<Pick<ClientConfig, 'user' | 'ssl'>> {
  const [name, tls] = await Promise.all([
    typeof user === 'function' ? inTime('user', ask('user', user), connectTimeoutMs) : user,
    typeof ssl === 'function' ? inTime('ssl', ask('ssl', ssl), connectTimeoutMs) : ssl,
  ]);
  // pg hides the key of the object that it gets, so it gets one of its own.
  return { user: name, ssl: typeof tls === 'object' ? { ...tls } : tls };
}

/**
 * Asks the host for a part of the log-in.
 *
 * @throws Error with a sentence: for a rejection without a reason, pg would wait without end, and a value of another
 *   type would end the process
 * @internal
 */
export async function ask<T>(part: PartName, give: () => T | Promise<T>): Promise<T> {
  const given = await (async () => give())().catch((error: unknown) => {
    const isSaid = error !== undefined && error !== null;
    // Without the error itself, which can contain a secret.
    throw new Error(
      `the function ${part} failed${isSaid ? `: ${sentenceOf(error)}` : ', and did not say why'}`,
    );
  });
  const { isRight, wanted } = logInParts[part];
  if (!isRight(given)) throw new Error(`the function ${part} must give ${wanted}`);
  return given;
}

async function inTime<T>(part: PartName, answer: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new Error(`the function ${part} did not answer within ${String(milliseconds)} ms`);
    timer = setTimeout(reject, milliseconds, error);
  });
  return Promise.race([answer, late]).finally(() => {
    clearTimeout(timer);
  });
}

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
