/**
 * Limits: how the table of them is written, and how a limit is tried.
 */
import {
  createAdmin,
  InvalidDocumentError,
  type Admin,
  type AdminOptions,
  type Limits,
  type ProblemCode,
  type Result,
} from 'gateway-admin-core';
import type { PatchRules } from 'gateway-admin-core/json';

import type { Input } from './input.ts';
import { runAdmin, sampleClock } from './running-admin.ts';
import { transports } from './transport.ts';

/** What a limit is counted in. A time is over once it has passed; anything else is too large from one more on. */
export type Unit = 'bytes' | 'characters' | 'milliseconds' | 'instant' | 'power of two' | 'number';

/** Tries a size. Gives `accepted`, or the answer. */
export type Trial = (size: number) => Promise<string>;

/** One limit. */
export interface Limit {
  /** The option of the interface that sets the limit. Without an option and a rule, the limit is fixed. */
  readonly option?: keyof Limits;
  /** The rule of `applyPatch` that sets the limit. In requests such a limit is fixed. */
  readonly rule?: keyof PatchRules;
  readonly value: number;
  readonly unit?: Unit;
  readonly bounds: string;
  /** The answer beyond the limit, as the trial gives it. */
  readonly beyond: string;
  /** What the page says besides the answer. */
  readonly note?: string;
  readonly trial: Trial;
}

/** What a trial gives for a size that is within the limit. */
export const accepted = 'accepted';

/** The answer of an interface to a request, in short. */
export async function answerOf(admin: Admin, request: Omit<Input, 'what'>): Promise<string> {
  const { method, target, ...sent } = request;
  const { send } = await transports.core(admin);
  const { status, body } = await send(method, target, sent as Parameters<typeof send>[2]);
  return status < 400 ? accepted : `${String(status)} ${(body as { readonly code: string }).code}`;
}

/** Sends a request of a size to the sample interface. */
export function sends(
  requestOf: (size: number) => Omit<Input, 'what'>,
  optionsOf: (size: number) => Parameters<typeof runAdmin>[0] = () => ({}),
): Trial {
  return (size) => answerOf(runAdmin(optionsOf(size)).admin, requestOf(size));
}

/** Calls a function with a size, which throws beyond the limit. */
export function calls(call: (size: number) => unknown): Trial {
  return async (size) => {
    try {
      await call(size);
      return accepted;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return error instanceof InvalidDocumentError ? 'InvalidDocumentError' : error.name;
    }
  };
}

/** Calls a function with a size, which gives a problem beyond the limit. */
export function gives(call: (size: number) => Result<unknown>): Trial {
  return (size) => {
    const result = call(size);
    return Promise.resolve(
      result.ok ? accepted : `${String(result.problem.status)} ${result.problem.code satisfies ProblemCode}`,
    );
  };
}

/** Counts how much is left of a size. Beyond the limit, exactly the limit is left. */
export function keeps(
  limit: number,
  beyond: string,
  count: (size: number) => number | Promise<number>,
): Pick<Limit, 'value' | 'beyond' | 'trial'> {
  return {
    value: limit,
    beyond,
    async trial(size) {
      const kept = await count(size);
      if (kept === size) return accepted;
      return kept === limit ? beyond : `${String(kept)} are left`;
    },
  };
}

/** The length of a text, without the mark that says that it was cut. */
export function lengthOf(text: string | undefined): number {
  return (text ?? '').replace(/…$/, '').length;
}

/** An interface of its own host, with the virtual clock. */
export function runHost(options: Pick<AdminOptions, 'gateway' | 'snapshot'> & Partial<AdminOptions>) {
  const clock = sampleClock();
  const errors: unknown[] = [];
  return {
    clock,
    errors,
    admin: createAdmin({ clock, observe: { onError: (error) => errors.push(error) }, ...options }),
  };
}
