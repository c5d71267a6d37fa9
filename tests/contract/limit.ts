/**
 * Every limit of the library, in chapters: the table behind docs/limits.md.
 */
import type { Limit } from '../support/limit.ts';
import { answerLimits } from './limit/answer.ts';
import { commandLimits } from './limit/command.ts';
import { hostLimits } from './limit/host.ts';
import { logLimits } from './limit/log.ts';
import { logInLimits } from './limit/log-in.ts';
import { patchLimits, requestLimits } from './limit/request.ts';
import { valueLimits } from './limit/value.ts';

/** The limits, by chapter. */
export const limits: Readonly<Record<string, readonly Limit[]>> = {
  Requests: requestLimits,
  Patches: patchLimits,
  Values: valueLimits,
  'Log-ins': logInLimits,
  Commands: commandLimits,
  Answers: answerLimits,
  'Events and audit records': logLimits,
  'Programs that use the library': hostLimits,
};
